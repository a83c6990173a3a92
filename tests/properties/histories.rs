//! Histories of migrations: the order of the files on disk decides nothing, the versions in their names do.

use leaselint::facts::migration::{OrderKey, SqlFileRole};
use leaselint::facts::sql::{Dialect, Section, SqlText, TableName};
use leaselint::facts::{FileId, TextMap};
use leaselint::locks::schema::{Schema, SchemaStep, replay};
use leaselint::locks::statement::StatementText;
use leaselint::sql::{migration::classify, parse};
use proptest::prelude::*;

use crate::cases;

/// How tools name the files of a history.
#[derive(Debug, Clone, Copy)]
enum Style {
    Plain,
    Padded,
    Reversible,
    Versioned,
    Diesel,
}

fn path(style: Style, version: &[u16; 2], name: &str) -> String {
    let [major, minor] = version;
    let number = u32::from(*major) * 100_000 + u32::from(*minor);
    match style {
        Style::Plain => format!("app/migrations/{number}_{name}.sql"),
        Style::Padded => format!("migrations/{number:014}-{name}.sql"),
        Style::Reversible => format!("db/{number}_{name}.up.sql"),
        Style::Versioned => format!("db/migration/V{major}_{minor}__{name}.sql"),
        Style::Diesel => format!("migrations/{major:05}-{minor:05}_{name}/up.sql"),
    }
}

#[derive(Debug, Clone)]
struct File {
    version: [u16; 2],
    path: String,
    text: String,
}

/// Files in the order of their versions, each of which renames the column that the one before left; and two orders in
/// which they may be read.
fn histories() -> impl Strategy<Value = (Vec<File>, [Vec<usize>; 2])> {
    let styles = vec![Style::Plain, Style::Padded, Style::Reversible, Style::Versioned, Style::Diesel];
    let versions = prop::collection::btree_set([0_u16..30_000, 0_u16..30_000], 1..8);
    // Versions that are close to each other, so that 9 and 10 meet.
    let near = prop::collection::btree_set([0_u16..3, 5_u16..13], 1..8);
    let names = prop::collection::vec("[a-z]{1,3}(_[a-z]{1,3}){0,2}", 8);
    (prop::sample::select(styles), prop_oneof![versions, near], names).prop_flat_map(
        |(style, versions, names)| {
            let files: Vec<File> = versions
                .into_iter()
                .zip(names)
                .enumerate()
                .map(|(at, (version, name))| {
                    let text = match at {
                        0 => "CREATE TABLE t (id BIGINT PRIMARY KEY, c0 BIGINT NOT NULL);".to_owned(),
                        _ => format!(
                            "ALTER TABLE t RENAME COLUMN c{} TO c{at}; ALTER TABLE t ADD COLUMN d{at} INT;",
                            at - 1
                        ),
                    };
                    File { version, path: path(style, &version, &name), text }
                })
                .collect();
            let order = || Just((0..files.len()).collect::<Vec<_>>()).prop_shuffle();
            let orders = [order(), order()];
            (Just(files), orders)
        },
    )
}

fn order_key(file: &File) -> (String, OrderKey) {
    match classify(&file.path, &file.text) {
        SqlFileRole::Migration { root, order, section: Section::Up, .. } => (root, order),
        other => panic!("{} is a migration, not {other:?}", file.path),
    }
}

/// The schema when the files are read in this order. Their numbers are those of their names, as in a run.
fn schema(files: &[File], order: &[usize], turned: bool) -> Schema {
    let read: Vec<(SqlText, (String, OrderKey), StatementText)> = order
        .iter()
        .map(|at| {
            let number = files.iter().filter(|other| other.path < files[*at].path).count() as u32;
            let place = StatementText { file: FileId(number), map: TextMap::verbatim(0) };
            (parse(&files[*at].text, Dialect::Postgres), order_key(&files[*at]), place)
        })
        .collect();
    let mut steps: Vec<SchemaStep<'_>> = Vec::new();
    for (text, (root, order), at) in &read {
        steps.extend(text.statements.iter().map(|statement| SchemaStep {
            statement,
            at,
            dialect: Dialect::Postgres,
            package: None,
            root,
            order: Some(order),
            snapshot: false,
            is_context: false,
        }));
    }
    if turned {
        steps.reverse();
    }
    replay(steps)
}

proptest! {
    #![proptest_config(cases(150))]

    #[test]
    fn versions_ascend((files, [order, _]) in histories()) {
        let mut sorted: Vec<&File> = order.iter().map(|at| &files[*at]).collect();
        sorted.sort_by_key(|file| order_key(file));
        let paths: Vec<&str> = sorted.iter().map(|file| file.path.as_str()).collect();
        let wanted: Vec<&str> = files.iter().map(|file| file.path.as_str()).collect();
        prop_assert_eq!(paths, wanted);
        prop_assert!(sorted.windows(2).all(|pair| pair[0].version < pair[1].version));
    }

    #[test]
    fn any_order_of_the_files_makes_one_schema((files, [one, other]) in histories(), turned in any::<bool>()) {
        let wanted = schema(&files, &one, false);
        prop_assert_eq!(&schema(&files, &other, turned), &wanted);
        let name = TableName { schema: None, name: "t".into() };
        let table = wanted.table(None, Dialect::Postgres, &name).unwrap();
        let mut columns: Vec<String> = table.columns.iter().map(|column| column.name.clone()).collect();
        columns.sort();
        let last = files.len() - 1;
        let mut expected = vec!["id".to_owned(), format!("c{last}")];
        expected.extend((1..files.len()).map(|at| format!("d{at}")));
        expected.sort();
        prop_assert_eq!(columns, expected, "each rename finds what the file before has left");
    }
}

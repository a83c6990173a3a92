//! The schema that the files of each migration tool lead to, by the tool's own layout and marks.

use super::*;
use crate::facts::sql::{SqlText, TableName};
use crate::sql::{guess_dialect, migration, parse};

struct Read {
    facts: SqlText,
    role: SqlFileRole,
    dialect: Dialect,
    is_test: bool,
}

fn read(files: &[(&str, &str)]) -> Vec<Read> {
    let one = |(path, text): &(&str, &str)| {
        let by_path = migration::dialect_of_path(path);
        let dialect = by_path.or_else(|| guess_dialect(text)).unwrap_or(Dialect::Postgres);
        let role = migration::classify(path, text);
        Read { facts: parse(text, dialect), role, dialect, is_test: path.starts_with("tests/") }
    };
    files.iter().map(one).collect()
}

fn lead_to(files: &[(&str, &str)]) -> Schema {
    let read = read(files);
    let units: Vec<SqlUnit<'_>> = read
        .iter()
        .enumerate()
        .map(|(at, read)| SqlUnit {
            file: FileId(u32::try_from(at).unwrap()),
            facts: &read.facts,
            dialect: read.dialect,
            preferred: None,
            role: read.role.clone(),
            package: None,
            is_test: read.is_test,
            named: false,
        })
        .collect();
    schema(&units, &[], &[])
}

/// The columns of `t`, those that may be NULL with a question mark.
fn columns(files: &[(&str, &str)]) -> Vec<String> {
    columns_of(&lead_to(files), Dialect::Postgres)
}

fn columns_of(schema: &Schema, dialect: Dialect) -> Vec<String> {
    let name = TableName { schema: None, name: "t".into() };
    let table = schema.table(None, dialect, &name);
    let written =
        |c: &crate::locks::schema::Column| format!("{}{}", c.name, if c.not_null { "" } else { "?" });
    table.map(|t| t.columns.iter().map(written).collect()).unwrap_or_default()
}

const CREATE: &str = "CREATE TABLE t (id BIGINT PRIMARY KEY);";
const ADD: &str = "ALTER TABLE t ADD COLUMN fence BIGINT;";
const FIRM: &str = "ALTER TABLE t ALTER COLUMN fence SET NOT NULL;";
const UNDO: &str = "ALTER TABLE t DROP COLUMN fence;";
const WHOLE: [&str; 2] = ["id", "fence"];

#[test]
fn sqlx_simple_and_reversible() {
    let simple = [("migrations/10_c.sql", FIRM), ("migrations/9_b.sql", ADD), ("migrations/1_a.sql", CREATE)];
    assert_eq!(columns(&simple), WHOLE);
    let reversible = [
        ("migrations/20240101000000_a.up.sql", CREATE),
        ("migrations/20240102000000_b.up.sql", ADD),
        ("migrations/20240102000000_b.down.sql", UNDO),
        ("migrations/20240103000000_c.up.sql", FIRM),
    ];
    assert_eq!(columns(&reversible), WHOLE);
}

#[test]
fn diesel_folders_dated_with_and_without_dashes() {
    let files = [
        ("migrations/2024-01-03-000000_c/up.sql", FIRM),
        ("migrations/20240102000000_b/up.sql", ADD),
        ("migrations/20240102000000_b/down.sql", UNDO),
        ("migrations/00000000000000_a/up.sql", CREATE),
        ("migrations/00000000000000_a/down.sql", "DROP TABLE t;"),
    ];
    assert_eq!(columns(&files), WHOLE);
}

#[test]
fn refinery_has_no_undo() {
    let files =
        [("migrations/V1__a.sql", CREATE), ("migrations/U2__b.sql", ADD), ("migrations/V3__c.sql", FIRM)];
    assert_eq!(columns(&files), WHOLE);
}

#[test]
fn flyway_versions_undo_and_repeatable() {
    let files = [
        ("db/migration/R__last.sql", FIRM),
        ("db/migration/V1_10__b.sql", ADD),
        ("db/migration/V1.2__a.sql", CREATE),
        ("db/migration/U1_10__b.sql", UNDO),
        ("sql/V1__x.sql", "CREATE TABLE u (id INT);"),
    ];
    assert_eq!(columns(&files), WHOLE);
    let beside = [("sql/V1__a.sql", CREATE), ("sql/V2__b.sql", ADD), ("sql/U2__b.sql", UNDO)];
    assert_eq!(columns(&beside), ["id", "fence?"]);
}

#[test]
fn goose_dbmate_sql_migrate_and_rambler_keep_both_directions_in_a_file() {
    for (up, down) in [
        ("-- +goose Up", "-- +goose Down"),
        ("-- migrate:up", "-- migrate:down"),
        ("-- +migrate Up", "-- +migrate Down"),
        ("-- rambler up", "-- rambler down"),
    ] {
        let first = format!("{up}\n{CREATE}\n{down}\nDROP TABLE t;");
        let second = format!("{up}\n{ADD}\n{FIRM}\n{down}\n{UNDO}");
        let files =
            [("db/versions/00002_b.sql", second.as_str()), ("db/versions/00001_a.sql", first.as_str())];
        assert_eq!(columns(&files), WHOLE, "{up}");
    }
}

#[test]
fn golang_migrate_and_popx_with_a_file_for_each_database() {
    let files = [
        ("migrations/000001_a.up.sql", CREATE),
        ("migrations/000001_a.down.sql", "DROP TABLE t;"),
        ("migrations/000002_b.postgres.up.sql", ADD),
        ("migrations/000002_b.mysql.up.sql", "ALTER TABLE t ADD COLUMN fence INT NOT NULL;"),
        ("migrations/000002_b.down.sql", UNDO),
    ];
    assert_eq!(columns(&files), ["id", "fence?"]);
}

#[test]
fn prisma_atlas_and_plain_folders() {
    let prisma = [
        (
            "prisma/migrations/20240102000000_b/migration.sql",
            "ALTER TABLE \"t\" ADD COLUMN \"fence\" BIGINT NOT NULL DEFAULT 0;",
        ),
        (
            "prisma/migrations/20240101000000_a/migration.sql",
            "CREATE TABLE \"t\" (\"id\" BIGINT NOT NULL, CONSTRAINT \"t_pkey\" PRIMARY KEY (\"id\"));",
        ),
    ];
    assert_eq!(columns(&prisma), WHOLE);
    let atlas = [("migrations/20240101000000.sql", CREATE), ("migrations/20240102000000_b.sql", ADD)];
    assert_eq!(columns(&atlas), ["id", "fence?"]);
    let plain = [("sql/001_a.sql", CREATE), ("sql/002_b.sql", ADD), ("sql/010_c.sql", FIRM)];
    assert_eq!(columns(&plain), WHOLE);
}

#[test]
fn liquibase_keeps_rollbacks_in_comments() {
    let text = format!(
        "--liquibase formatted sql\n--changeset a:1\n{CREATE}\n--rollback DROP TABLE t;\n--changeset a:2\n{ADD}\n--rollback {UNDO}\n"
    );
    assert_eq!(columns(&[("changelog/001.sql", &text)]), ["id", "fence?"]);
}

#[test]
fn versions_in_folders() {
    let synapse = [
        ("schema/main/delta/9/02_b.sql", ADD),
        ("schema/main/delta/10/01_c.sql", FIRM),
        ("schema/main/delta/9/01_a.sql", CREATE),
    ];
    assert_eq!(columns(&synapse), WHOLE);
    let temporal = [
        ("schema/versioned/v1.10/c.sql", FIRM),
        ("schema/versioned/v1.2/b.sql", ADD),
        ("schema/versioned/v0.1/base.sql", CREATE),
    ];
    assert_eq!(columns(&temporal), WHOLE);
}

#[test]
fn what_no_tool_applies_changes_nothing() {
    let files = [
        ("migrations/1_a.sql", CREATE),
        ("migrations/2_b.sql", ADD),
        ("migrations/notes.sql", UNDO),
        ("tests/migrations/3_c.sql", UNDO),
        ("scripts/undo.sql", UNDO),
    ];
    assert_eq!(columns(&files), ["id", "fence?"]);
}

#[test]
fn each_database_of_a_package_is_one_of_its_own() {
    let files = [
        ("migrations/postgres/1_a.sql", "CREATE TABLE t (id BIGINT PRIMARY KEY, fence BIGINT NOT NULL);"),
        ("migrations/mysql/1_a.sql", "CREATE TABLE t (id BIGINT PRIMARY KEY, epoch BIGINT);"),
        ("migrations/sqlite/1_a.sql", "CREATE TABLE t (id INTEGER PRIMARY KEY);"),
    ];
    let schema = lead_to(&files);
    assert_eq!(columns_of(&schema, Dialect::Postgres), WHOLE);
    assert_eq!(columns_of(&schema, Dialect::MySql), ["id", "epoch?"]);
    assert_eq!(columns_of(&schema, Dialect::Sqlite), ["id"]);
}

#[test]
fn two_migrations_of_one_version_run_in_the_order_of_their_names() {
    let files = [("migrations/1_b.sql", ADD), ("migrations/1_a.sql", CREATE)];
    assert_eq!(columns(&files), ["id", "fence?"]);
}

#[test]
fn half_a_migration_leaves_the_rest_standing() {
    let files = [
        ("migrations/1_a.sql", CREATE),
        (
            "migrations/2_b.sql",
            "ALTER TABLE t ADD COLUMN (; ALTER TABLE t ADD COLUMN fence BIGINT; CREATE TABLE u (",
        ),
    ];
    assert_eq!(columns(&files), ["id", "fence?"]);
}

#[test]
fn blocks_partitions_and_copies() {
    let files = [
        (
            "migrations/1_a.sql",
            "CREATE TABLE base (id BIGINT PRIMARY KEY, fence BIGINT NOT NULL); CREATE TABLE t (LIKE base INCLUDING ALL);",
        ),
        (
            "migrations/2_b.sql",
            "DO $$ BEGIN IF true THEN ALTER TABLE t ADD COLUMN note TEXT; END IF; END $$;",
        ),
    ];
    assert_eq!(columns(&files), ["id", "fence", "note?"]);
    let partition = [(
        "migrations/1_a.sql",
        "CREATE TABLE base (id BIGINT, fence BIGINT NOT NULL, PRIMARY KEY (id)) PARTITION BY HASH (id); CREATE TABLE t PARTITION OF base FOR VALUES WITH (MODULUS 2, REMAINDER 0);",
    )];
    assert_eq!(columns(&partition), WHOLE);
}

#[test]
fn ways_to_say_not_null() {
    for firm in [
        "ALTER TABLE t ALTER COLUMN fence SET NOT NULL;",
        "ALTER TABLE t ADD CONSTRAINT c CHECK (fence IS NOT NULL) NOT VALID;",
        "ALTER TABLE t MODIFY COLUMN fence BIGINT NOT NULL;",
        "ALTER TABLE t CHANGE fence fence BIGINT NOT NULL;",
        "ALTER TABLE t ADD CONSTRAINT c NOT NULL fence;",
        "ALTER TABLE t ADD PRIMARY KEY (fence);",
    ] {
        assert_eq!(
            columns(&[
                ("migrations/1_a.sql", CREATE),
                ("migrations/2_b.sql", ADD),
                ("migrations/3_c.sql", firm)
            ]),
            WHOLE,
            "{firm}"
        );
    }
}

#[test]
fn keys_are_dropped_by_their_names() {
    let unique = |statements: &str| {
        let text = format!("CREATE TABLE t (id BIGINT, name TEXT UNIQUE); {statements}");
        let schema = lead_to(&[("migrations/1_a.sql", &text)]);
        let name = TableName { schema: None, name: "t".into() };
        schema.table(None, Dialect::Postgres, &name).unwrap().unique.len()
    };
    assert_eq!(unique(""), 1);
    assert_eq!(unique("ALTER TABLE t DROP CONSTRAINT t_name_key;"), 0);
    assert_eq!(unique("CREATE UNIQUE INDEX i ON t (id); DROP INDEX i;"), 1);
    assert_eq!(unique("ALTER TABLE t ADD CONSTRAINT k UNIQUE (id); ALTER TABLE t DROP CONSTRAINT other;"), 2);
}

//! What a `.sql` file is for: a migration of some framework, a schema dump, or a query.
//!
//! Judged by its path and its marks alone, so that a file can be classified without its neighbours.

use crate::facts::sql::{Dialect, Section};

pub use crate::facts::migration::{OrderKey, SqlFileRole};

pub fn classify(path: &str, text: &str) -> SqlFileRole {
    let path = path.replace('\\', "/");
    let parts: Vec<&str> = path.split('/').filter(|p| !p.is_empty()).collect();
    let Some((file, folders)) = parts.split_last() else {
        return SqlFileRole::Unknown;
    };
    let path = Path { file: file.to_ascii_lowercase(), written: file, folders };
    by_marks(&path, text)
        .or_else(|| by_shape(&path))
        .or_else(|| by_name(&path))
        .or_else(|| by_folder(&path, text))
        .unwrap_or(SqlFileRole::Unknown)
}

/// As [`classify`], for a file below a folder of which the project says that it is a history.
pub fn classify_in_history(path: &str, text: &str, root: &str) -> SqlFileRole {
    let role = classify(path, text);
    if matches!(role, SqlFileRole::Migration { .. }) {
        return role;
    }
    let path = path.replace('\\', "/");
    let (folders, file) = path.rsplit_once('/').unwrap_or(("", &path));
    let folders: Vec<&str> = folders.split('/').collect();
    let path = Path { file: file.to_ascii_lowercase(), written: file, folders: &folders };
    let order = numbered(&path).unwrap_or_else(|| by_written_name(&path));
    let dialect = path.dialect();
    SqlFileRole::Migration { root: root.to_owned(), order, section: Section::Up, dialect, marked: false }
}

struct Path<'a> {
    file: String,
    written: &'a str,
    folders: &'a [&'a str],
}

impl Path<'_> {
    fn folder(&self, from_end: usize) -> &str {
        self.folders.len().checked_sub(from_end).and_then(|i| self.folders.get(i)).copied().unwrap_or("")
    }

    fn root(&self, above: usize) -> String {
        self.folders[..self.folders.len().saturating_sub(above)].join("/")
    }

    fn migration(&self, above: usize, order: OrderKey, section: Section) -> SqlFileRole {
        let dialect = self.dialect();
        SqlFileRole::Migration { root: self.root(above), order, section, dialect, marked: false }
    }

    /// The `mysql` of `20240102_x.mysql.up.sql`.
    fn dialect(&self) -> Option<Dialect> {
        let mut parts = self.file.split('.').rev().skip(1);
        parts.find_map(dialect_of_word)
    }

    fn has_folder(&self, test: impl Fn(&str) -> bool) -> bool {
        self.folders.iter().any(|f| test(&f.to_ascii_lowercase()))
    }
}

/// Marks that only one family of tools writes.
fn by_marks(path: &Path<'_>, text: &str) -> Option<SqlFileRole> {
    let marks = [
        "-- +goose up",
        "-- +goose down",
        "-- +migrate up",
        "-- migrate:up",
        "--liquibase formatted",
        "-- liquibase formatted",
        "-- rambler up",
    ];
    let found = text.lines().take(200).any(|line| {
        let line = line.trim_start_matches('\u{feff}').to_ascii_lowercase();
        marks.iter().any(|m| line.starts_with(m))
    });
    let role = || path.migration(0, numbered(path).unwrap_or_else(|| by_written_name(path)), Section::Up);
    found.then(role).map(|role| match role {
        SqlFileRole::Migration { root, order, section, dialect, .. } => {
            SqlFileRole::Migration { root, order, section, dialect, marked: true }
        }
        other => other,
    })
}

/// File names and folders that one framework prescribes.
fn by_shape(path: &Path<'_>) -> Option<SqlFileRole> {
    let folder = path.folder(1);
    let dated = folder.starts_with(|c: char| c.is_ascii_digit());
    match path.file.as_str() {
        // diesel (`2024-01-02-123456_x/up.sql`) and prisma (`20240102123456_x/migration.sql`)
        "up.sql" if dated => return Some(path.migration(1, folder_order(folder), Section::Up)),
        "down.sql" if dated => return Some(path.migration(1, folder_order(folder), Section::Down)),
        "migration.sql" if dated => {
            return Some(path.migration(1, folder_order(folder), Section::Up));
        }
        _ => {}
    }
    versioned(path).or_else(|| in_version_folder(path))
}

/// `delta/72/01_x.sql` of synapse, `versioned/v1.2/x.sql` of temporal and cadence: the folder is the version.
fn in_version_folder(path: &Path<'_>) -> Option<SqlFileRole> {
    if !["delta", "versioned"].contains(&path.folder(2).to_ascii_lowercase().as_str()) {
        return None;
    }
    let folder = path.folder(1).trim_start_matches('v');
    let mut version = folder.split('.').map(|n| n.parse().ok()).collect::<Option<Vec<u128>>>()?;
    version.extend(numbered(path).into_iter().flat_map(|order| order.version));
    let order = OrderKey { repeatable: false, version, name: path.written.to_owned() };
    Some(path.migration(1, order, Section::Up))
}

/// `V1.2__x.sql`, `U3__x.sql`, `R__x.sql` of refinery and flyway.
fn versioned(path: &Path<'_>) -> Option<SqlFileRole> {
    let (head, _) = path.written.split_once("__")?;
    let mut chars = head.chars();
    let kind = chars.next()?;
    let version = chars.as_str();
    let numbers: Vec<u128> = version.split(['.', '_']).filter_map(|n| n.parse().ok()).collect();
    let wordless = version.chars().all(|c| c.is_ascii_digit() || c == '.' || c == '_');
    let order = OrderKey { repeatable: kind == 'R', version: numbers, name: path.written.to_owned() };
    match kind {
        // In flyway `U` undoes; in refinery it is a step like any other.
        'U' if wordless && path.has_folder(|f| f == "db") => Some(path.migration(0, order, Section::Down)),
        'V' | 'U' | 'B' if wordless && !order.version.is_empty() => {
            Some(path.migration(0, order, Section::Up))
        }
        'R' if version.is_empty() => Some(path.migration(0, order, Section::Up)),
        _ => None,
    }
}

/// `<number>_x.up.sql` and its like, wherever they stand; `<number>_x.sql` where the folder says so.
fn by_name(path: &Path<'_>) -> Option<SqlFileRole> {
    let stem = path.file.strip_suffix(".sql")?;
    let suffixes: Vec<&str> = stem.split('.').skip(1).collect();
    let down = suffixes.contains(&"down");
    let reversible = down || suffixes.contains(&"up");
    let order = numbered(path);
    if reversible {
        let section = if down { Section::Down } else { Section::Up };
        return Some(path.migration(0, order.unwrap_or_else(|| by_written_name(path)), section));
    }
    let speaks = path.has_folder(|f| {
        f.contains("migrat")
            || f == "delta"
            || f == "versioned"
            || f == "drizzle"
            || f == "migrate"
            || f == "upgrades"
    });
    let order = order.filter(|_| speaks || !path.has_folder(is_query_folder))?;
    // A number alone says little: `01_report.sql` may be anything outside a migration folder.
    let plain = path.folders.is_empty()
        || path.has_folder(|f| ["db", "schema", "sql", "ddl", "initdb", "init"].contains(&f));
    (speaks || plain).then(|| path.migration(0, order, Section::Up))
}

fn is_query_folder(folder: &str) -> bool {
    folder.starts_with("quer")
}

fn by_folder(path: &Path<'_>, text: &str) -> Option<SqlFileRole> {
    if path.has_folder(is_query_folder) || is_generated_query(text) {
        return Some(SqlFileRole::Query);
    }
    let stem = path.file.split('.').next().unwrap_or_default();
    let dumps = [
        "schema",
        "structure",
        "dbinit",
        "full",
        "init",
        "tables",
        "create_tables",
        "initdb",
        "setup",
        "ddl",
    ];
    if dumps.contains(&stem) {
        return Some(SqlFileRole::Snapshot);
    }
    let in_migrations = path.folder(1).to_ascii_lowercase().contains("migrat");
    in_migrations.then(|| path.migration(0, by_written_name(path), Section::Up))
}

/// sqlc's `-- name: X :one`, cornucopia's `--! name`.
fn is_generated_query(text: &str) -> bool {
    text.lines().take(50).any(|l| l.starts_with("-- name:") || l.starts_with("--! "))
}

/// The database that a path names, in a folder or in the file's name.
pub fn dialect_of_path(path: &str) -> Option<Dialect> {
    let mut parts: Vec<&str> = path.split('/').collect();
    let file = parts.pop().unwrap_or_default().to_ascii_lowercase();
    let in_name = file.split(['.', '_', '-']).find_map(dialect_of_word);
    in_name.or_else(|| {
        let words = parts.iter().rev().flat_map(|folder| folder.split(['_', '-', '.']));
        words.filter_map(|word| dialect_of_word(&word.to_ascii_lowercase())).next()
    })
}

fn dialect_of_word(word: &str) -> Option<Dialect> {
    match word {
        "postgres" | "postgresql" | "pg" | "psql" | "cockroach" | "crdb" | "cockroachdb" => {
            Some(Dialect::Postgres)
        }
        "mysql" | "mariadb" => Some(Dialect::MySql),
        "sqlite" | "sqlite3" => Some(Dialect::Sqlite),
        _ => None,
    }
}

/// The order key of `20240102_x.sql`, `001-x.sql`, `3.sql`.
fn numbered(path: &Path<'_>) -> Option<OrderKey> {
    let digits: String = path.file.chars().take_while(char::is_ascii_digit).collect();
    let next = path.file[digits.len()..].chars().next();
    let version = digits.parse().ok()?;
    matches!(next, Some('_' | '-' | '.')).then(|| OrderKey {
        repeatable: false,
        version: vec![version],
        name: path.written.to_owned(),
    })
}

fn by_written_name(path: &Path<'_>) -> OrderKey {
    OrderKey { repeatable: false, version: Vec::new(), name: path.written.to_owned() }
}

/// diesel compares the digits of the folder's first part, dashes left out.
fn folder_order(folder: &str) -> OrderKey {
    let digits: String =
        folder.split('_').next().unwrap_or("").chars().filter(char::is_ascii_digit).collect();
    OrderKey { repeatable: false, version: digits.parse().into_iter().collect(), name: folder.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn role(path: &str) -> SqlFileRole {
        classify(path, "SELECT 1;")
    }

    fn step(path: &str) -> (String, Vec<u128>, Section) {
        match role(path) {
            SqlFileRole::Migration { root, order, section, .. } => (root, order.version, section),
            other => panic!("{path}: {other:?}"),
        }
    }

    #[test]
    fn frameworks_are_told_by_their_file_names() {
        use Section::{Down, Up};
        for (path, root, version, section) in [
            ("migrations/0001_init.sql", "migrations", vec![1], Up),
            ("a/migrations/20240102_x.up.sql", "a/migrations", vec![20240102], Up),
            ("a/migrations/20240102_x.down.sql", "a/migrations", vec![20240102], Down),
            ("m/2024-01-02-123456_x/up.sql", "m", vec![20240102123456], Up),
            ("m/2024-01-02-123456_x/down.sql", "m", vec![20240102123456], Down),
            (
                "prisma/migrations/20240102123456_x/migration.sql",
                "prisma/migrations",
                vec![20240102123456],
                Up,
            ),
            ("migrations/V1__a.sql", "migrations", vec![1], Up),
            ("db/migration/V1_2__a.sql", "db/migration", vec![1, 2], Up),
            ("migrations/U3__a.sql", "migrations", vec![3], Up),
            ("db/migration/U3__a.sql", "db/migration", vec![3], Down),
            ("drizzle/0000_x.sql", "drizzle", vec![0], Up),
            ("migrations/10.sql", "migrations", vec![10], Up),
            ("db/migrate/20240102_x.mysql.up.sql", "db/migrate", vec![20240102], Up),
            ("schema/main/delta/72/01_x.sql", "schema/main/delta", vec![72, 1], Up),
            (
                "schema/mysql/v8/temporal/versioned/v1.2/x.sql",
                "schema/mysql/v8/temporal/versioned",
                vec![1, 2],
                Up,
            ),
        ] {
            assert_eq!(step(path), (root.to_owned(), version, section), "{path}");
        }
    }

    #[test]
    fn a_path_names_its_database() {
        for (path, dialect) in [
            ("migrations/mysql/1_a.sql", Some(Dialect::MySql)),
            ("migrations_sqlite/1_a.sql", Some(Dialect::Sqlite)),
            ("db/20240102_x.postgres.up.sql", Some(Dialect::Postgres)),
            ("mysql/fallback/pg/1_a.sql", Some(Dialect::Postgres)),
            ("migrations/1_pages.sql", None),
        ] {
            assert_eq!(dialect_of_path(path), dialect, "{path}");
        }
    }

    #[test]
    fn marks_outweigh_names() {
        let found = classify("db/things/x.sql", "-- +goose Up\nSELECT 1;");
        assert!(matches!(found, SqlFileRole::Migration { .. }));
        assert_eq!(classify("a/b.sql", "-- name: Get :one\nSELECT 1"), SqlFileRole::Query);
    }

    #[test]
    fn the_rest_is_dump_query_or_unknown() {
        assert_eq!(role("db/schema.sql"), SqlFileRole::Snapshot);
        assert_eq!(role("src/queries/01_ack.sql"), SqlFileRole::Query);
        assert_eq!(role("queries_postgres/a.sql"), SqlFileRole::Query);
        assert_eq!(role("src/report.sql"), SqlFileRole::Unknown);
        assert_eq!(role(""), SqlFileRole::Unknown);
    }

    #[test]
    fn a_project_names_its_own_histories() {
        let SqlFileRole::Migration { root, order, .. } =
            classify_in_history("store/steps/2-seats.sql", "SELECT 1;", "store/steps")
        else {
            panic!("it is a migration")
        };
        assert_eq!((root.as_str(), order.version), ("store/steps", vec![2]));
        let SqlFileRole::Migration { root, .. } =
            classify_in_history("store/migrations/0001_init.sql", "SELECT 1;", "store")
        else {
            panic!("it is a migration")
        };
        assert_eq!(root, "store/migrations", "what a framework's form says is kept");
    }

    #[test]
    fn ten_comes_after_nine() {
        let order = |path: &str| match role(path) {
            SqlFileRole::Migration { order, .. } => order,
            other => panic!("{other:?}"),
        };
        assert!(order("migrations/9_a.sql") < order("migrations/10_a.sql"));
        assert!(order("db/migration/V1_10__a.sql") > order("db/migration/V1_9__a.sql"));
        assert!(order("db/migration/R__a.sql") > order("db/migration/V99__a.sql"));
    }
}

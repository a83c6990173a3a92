//! What SQLite says of the tables that fencing relies on, and how it changes them.

use rusqlite::{Connection, Error};

use super::{SCHEMA, UPGRADE};
use crate::fence::RowFence;
use crate::fence::schema::{Column, Dialect, FENCE_TABLE, SchemaError, count_nulls};

const COLUMNS: &str = "SELECT name, type, \"notnull\" = 0 FROM pragma_table_info(?1)";

/// Of a database that was attached, by its name there.
const COLUMNS_ELSEWHERE: &str = "SELECT name, type, \"notnull\" = 0 FROM pragma_table_info(?1, ?2)";

/// By its primary key, or by an index of its own.
const IS_KEY: &str = "\
SELECT (SELECT count(*) = 1 AND max(name) = 'resource' FROM pragma_table_info('leasehold_fence') WHERE pk > 0)
    OR EXISTS (
        SELECT 1 FROM pragma_index_list('leasehold_fence') AS list WHERE list.\"unique\" AND NOT list.partial
            AND (SELECT count(*) = 1 AND max(name) = 'resource' FROM pragma_index_info(list.name))
    )";

const DIALECT: Dialect = Dialect {
    schema: SCHEMA,
    upgrade: UPGRADE,
    // Its own rule for which columns turn what looks like a number into one.
    keeps_tokens: |type_name| type_name.to_ascii_uppercase().contains("INT"),
    make_bigint: anew,
    make_not_null: anew,
    make_key: |table, column| format!("CREATE UNIQUE INDEX {table}_{column} ON {table} ({column})"),
};

/// SQLite cannot change a column. A new one takes its place and its values.
fn anew(table: &str, column: &str) -> String {
    format!(
        "ALTER TABLE {table} RENAME COLUMN {column} TO {column}_before; \
         ALTER TABLE {table} ADD COLUMN {column} BIGINT NOT NULL DEFAULT 0; \
         UPDATE {table} SET {column} = CAST({column}_before AS INTEGER) WHERE {column}_before IS NOT NULL; \
         ALTER TABLE {table} DROP COLUMN {column}_before"
    )
}

/// Looks at the table of fence rows, and at those of `rows`.
pub(super) fn verify(connection: &Connection, rows: &[RowFence]) -> Result<(), SchemaError> {
    let found = columns(connection, FENCE_TABLE)?;
    DIALECT.judge_fence(&found, &["resource", "last_token", "holder", "writes"])?;
    if !connection.query_row(IS_KEY, [], |row| row.get(0)).map_err(unread)? {
        return Err(DIALECT.not_unique());
    }
    let counts = |column: &&Column| matches!(column.name.as_str(), "last_token" | "writes");
    for column in found.iter().filter(counts).filter(|column| column.nullable) {
        no_nulls(connection, FENCE_TABLE, column)?;
    }
    for rows in rows {
        let found = columns(connection, rows.table())?;
        let token = DIALECT.judge_rows(&found, rows)?;
        if token.nullable {
            no_nulls(connection, rows.table(), token)?;
        }
    }
    Ok(())
}

fn columns(connection: &Connection, table: &str) -> Result<Vec<Column>, SchemaError> {
    let column = |row: &rusqlite::Row<'_>| {
        Ok(Column { name: row.get(0)?, type_name: row.get(1)?, nullable: row.get(2)? })
    };
    let ask = || -> rusqlite::Result<Vec<Column>> {
        match table.split_once('.') {
            Some((database, table)) => {
                connection.prepare(COLUMNS_ELSEWHERE)?.query_map([table, database], column)?.collect()
            }
            None => connection.prepare(COLUMNS)?.query_map([table], column)?.collect(),
        }
    };
    ask().map_err(unread)
}

/// The complaint about a column that may be `NULL`.
fn no_nulls(connection: &Connection, table: &str, column: &Column) -> Result<(), SchemaError> {
    let count = connection.query_row(&count_nulls(table, column), [], |row| row.get(0)).map_err(unread)?;
    Err(DIALECT.nullable(table, column, count))
}

fn unread(error: Error) -> SchemaError {
    SchemaError::Database { cause: super::failure::failure("a look at its tables", error).into() }
}

//! What MySQL and MariaDB say of the tables that fencing relies on, and how they change them.

use mysql_async::{Error, FromRowError, Params, Row};

use super::{SCHEMA, UPGRADE};
use crate::fence::RowFence;
use crate::fence::schema::{Column, Dialect, FENCE_TABLE, SchemaError, count_nulls};
use crate::mysql_desk::Desk;

/// Of the database that the connection uses, unless another one is named.
const COLUMNS: &str = "\
SELECT column_name, column_type, is_nullable = 'YES' FROM information_schema.columns
WHERE table_schema = COALESCE(?, DATABASE()) AND table_name = ?";

const IS_KEY: &str = "\
SELECT index_name FROM information_schema.statistics
WHERE table_schema = DATABASE() AND table_name = 'leasehold_fence'
GROUP BY index_name HAVING MAX(non_unique) = 0 AND COUNT(*) = 1 AND MAX(column_name) = 'resource'";

/// Engines that roll back: InnoDB, and what a cluster puts in its place.
const WITHOUT_TRANSACTIONS: &str = "\
SELECT engine FROM information_schema.tables
WHERE table_schema = COALESCE(?, DATABASE()) AND table_name = ?
    AND engine IN (SELECT engine FROM information_schema.engines WHERE transactions <> 'YES')";

const DIALECT: Dialect = Dialect {
    schema: SCHEMA,
    upgrade: UPGRADE,
    // Before 8.0.17 with a width in brackets.
    keeps_tokens: |type_name| type_name.to_ascii_lowercase().starts_with("bigint"),
    make_bigint: |table, column| format!("ALTER TABLE {table} MODIFY {column} BIGINT NOT NULL DEFAULT 0"),
    make_not_null: |table, column| format!("ALTER TABLE {table} MODIFY {column} BIGINT NOT NULL DEFAULT 0"),
    make_key: |table, column| format!("ALTER TABLE {table} ADD PRIMARY KEY ({column})"),
};

/// Looks at the table of fence rows, and at those of `rows`.
pub(super) async fn verify(desk: &Desk, rows: &[RowFence]) -> Result<(), SchemaError> {
    let found = columns(desk, FENCE_TABLE).await?;
    DIALECT.judge_fence(&found, &["resource", "last_token", "holder", "writes", "recent"])?;
    has_transactions(desk, FENCE_TABLE).await?;
    let counts = |column: &&Column| matches!(column.name.as_str(), "last_token" | "writes");
    for column in found.iter().filter(counts).filter(|column| column.nullable) {
        no_nulls(desk, FENCE_TABLE, column).await?;
    }
    if desk.ask(IS_KEY, ()).await.map_err(unread)?.rows.is_empty() {
        return Err(DIALECT.not_unique());
    }
    for rows in rows {
        let found = columns(desk, rows.table()).await?;
        let token = DIALECT.judge_rows(&found, rows)?;
        has_transactions(desk, rows.table()).await?;
        if token.nullable {
            no_nulls(desk, rows.table(), token).await?;
        }
    }
    Ok(())
}

/// The table's name as the server looks it up: that of its database, if it has one in front, and its own.
fn parts(table: &str) -> Params {
    let (database, table) = table.split_once('.').map_or((None, table), |(first, rest)| (Some(first), rest));
    (database, table).into()
}

async fn columns(desk: &Desk, table: &str) -> Result<Vec<Column>, SchemaError> {
    let answer = desk.ask(COLUMNS, parts(table)).await.map_err(unread)?;
    let column = |row: Row| {
        let (name, type_name, nullable): (String, String, bool) = mysql_async::from_row_opt(row)?;
        Ok(Column { name, type_name, nullable })
    };
    let all = answer.rows.into_iter().map(column).collect::<Result<_, FromRowError>>();
    all.map_err(|error| SchemaError::Database { cause: error.into() })
}

async fn has_transactions(desk: &Desk, table: &str) -> Result<(), SchemaError> {
    let answer = desk.ask(WITHOUT_TRANSACTIONS, parts(table)).await.map_err(unread)?;
    let Some(row) = answer.rows.first() else { return Ok(()) };
    Err(SchemaError::NotTransactional {
        table: table.to_owned(),
        engine: row.get::<Option<String>, _>(0).flatten().unwrap_or_default(),
        migration: format!("ALTER TABLE {table} ENGINE = InnoDB"),
    })
}

/// The complaint about a column that may be `NULL`.
async fn no_nulls(desk: &Desk, table: &str, column: &Column) -> Result<(), SchemaError> {
    let answer = desk.ask(count_nulls(table, column), ()).await.map_err(unread)?;
    let count = answer.rows.first().and_then(|row| row.get::<Option<i64>, _>(0).flatten());
    Err(DIALECT.nullable(table, column, count.unwrap_or(0)))
}

fn unread(error: Error) -> SchemaError {
    SchemaError::Database { cause: super::failure::failure("a look at its tables", error).into() }
}

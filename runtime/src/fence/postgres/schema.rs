//! What PostgreSQL says of the tables that fencing relies on, and how it changes them.

use tokio_postgres::{Client, Error};

use super::{SCHEMA, UPGRADE};
use crate::fence::RowFence;
use crate::fence::schema::{Column, Dialect, FENCE_TABLE, SchemaError, count_nulls};

/// Nothing when there is no such table on the search path.
const COLUMNS: &str = "\
SELECT attname::text, format_type(atttypid, NULL), NOT attnotnull FROM pg_attribute
WHERE attrelid = to_regclass($1::text) AND attnum > 0 AND NOT attisdropped";

const IS_KEY: &str = "\
SELECT 1 FROM pg_index JOIN pg_attribute ON attrelid = indrelid AND attnum = indkey[0]
WHERE indrelid = to_regclass($1::text) AND indisunique AND indisvalid AND indpred IS NULL
    AND indnkeyatts = 1 AND attname = 'resource'";

const DIALECT: Dialect = Dialect {
    schema: SCHEMA,
    upgrade: UPGRADE,
    keeps_tokens: |type_name| type_name == "bigint",
    make_bigint: |table, column| format!("ALTER TABLE {table} ALTER COLUMN {column} TYPE BIGINT"),
    make_not_null: |table, column| {
        format!("ALTER TABLE {table} ALTER COLUMN {column} SET DEFAULT 0, ALTER COLUMN {column} SET NOT NULL")
    },
    make_key: |table, column| format!("ALTER TABLE {table} ADD PRIMARY KEY ({column})"),
};

/// Looks at the table of fence rows, and at those of `rows`.
pub(super) async fn verify(client: &Client, rows: &[RowFence]) -> Result<(), SchemaError> {
    let found = columns(client, FENCE_TABLE).await?;
    DIALECT.judge_fence(&found, &["resource", "last_token", "holder", "writes", "recent"])?;
    for column in found.iter().filter(|column| column.nullable) {
        no_nulls(client, FENCE_TABLE, column).await?;
    }
    if client.query_opt(IS_KEY, &[&FENCE_TABLE]).await.map_err(unread)?.is_none() {
        return Err(DIALECT.not_unique());
    }
    for rows in rows {
        let found = columns(client, rows.table()).await?;
        let token = DIALECT.judge_rows(&found, rows)?;
        if token.nullable {
            no_nulls(client, rows.table(), token).await?;
        }
    }
    Ok(())
}

async fn columns(client: &Client, table: &str) -> Result<Vec<Column>, SchemaError> {
    let found = client.query(COLUMNS, &[&table]).await.map_err(unread)?;
    let column = |row: &tokio_postgres::Row| {
        Ok(Column { name: row.try_get(0)?, type_name: row.try_get(1)?, nullable: row.try_get(2)? })
    };
    found.iter().map(column).collect::<Result<_, Error>>().map_err(unread)
}

/// The complaint about a column that may be `NULL`.
async fn no_nulls(client: &Client, table: &str, column: &Column) -> Result<(), SchemaError> {
    let counted = client.query_one(&count_nulls(table, column), &[]).await.map_err(unread)?;
    Err(DIALECT.nullable(table, column, counted.try_get(0).map_err(unread)?))
}

fn unread(error: Error) -> SchemaError {
    SchemaError::Database { cause: super::failure::failure("a look at its tables", error).into() }
}

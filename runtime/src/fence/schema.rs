//! Whether the tables that fencing relies on are as they must be, and what to put into a migration if they are not.
//! Judges what a database says of its tables, and knows the words of none: each says how it changes a table.

use thiserror::Error;

use super::RowFence;
use crate::store::Cause;

/// The name of the table of fence rows.
pub(crate) const FENCE_TABLE: &str = "leasehold_fence";

/// A table or column by which stale writes would not be refused, or not by every statement. Nothing was changed.
///
/// All but the last say with [`migration`](SchemaError::migration) what makes it right.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum SchemaError {
    /// There is no such table, or this user may not see it.
    #[error("there is no table {table} that this user can see; {}", advice(migration.as_deref()))]
    MissingTable {
        /// Its name.
        table: String,
        /// What creates it, if it is the table of fence rows.
        migration: Option<String>,
    },
    /// The table has no such column.
    #[error("the table {table} has no column {column}; {}", advice(Some(migration)))]
    MissingColumn {
        /// The table's name.
        table: String,
        /// The column's name.
        column: String,
        /// What adds it.
        migration: String,
    },
    /// The column cannot hold every token, or compares tokens as something other than numbers.
    #[error(
        "the column {column} of {table} is of the type {found}, which does not keep and compare every token; {}",
        advice(Some(migration))
    )]
    WrongType {
        /// The table's name.
        table: String,
        /// The column's name.
        column: String,
        /// What type it has.
        found: String,
        /// What makes it a `BIGINT`.
        migration: String,
    },
    /// The column may be `NULL`, which is neither older nor newer than any token; no row is yet.
    #[error(
        "the column {column} of {table} may be NULL, which no token is newer than; {}",
        advice(Some(migration))
    )]
    Nullable {
        /// The table's name.
        table: String,
        /// The column's name.
        column: String,
        /// What makes it `NOT NULL`.
        migration: String,
    },
    /// Rows whose token is `NULL`. Nobody can write them: `NULL` is neither older nor newer than any token.
    #[error(
        "in {rows} rows of {table} the token {column} is NULL, and nobody can write them; {}",
        advice(Some(migration))
    )]
    NullTokens {
        /// The table's name.
        table: String,
        /// The column's name.
        column: String,
        /// How many rows.
        rows: i64,
        /// What sets them to 0, below every token, and makes the column `NOT NULL`.
        migration: String,
    },
    /// The same resource could have several fence rows.
    #[error("the column {column} of {table} is no key by itself; {}", advice(Some(migration)))]
    NotUnique {
        /// The table's name.
        table: String,
        /// The column's name.
        column: String,
        /// What makes it one. It fails while there are doubles, of which the one with the highest token must stay.
        migration: String,
    },
    /// The table's engine has no transactions, so nothing in it can be rolled back.
    #[error("the table {table} is kept by {engine}, which has no transactions; {}", advice(Some(migration)))]
    NotTransactional {
        /// The table's name.
        table: String,
        /// What keeps it.
        engine: String,
        /// What gives it to another one.
        migration: String,
    },
    /// The database could not be asked.
    #[error("the tables could not be looked at: {cause}")]
    Database {
        /// What the database said, and what to do about it.
        #[source]
        cause: Cause,
    },
}

impl SchemaError {
    /// Statements that make it right, to be put into a migration and to be read before. None for a table that is
    /// not ours and is missing, and for a database that could not be asked.
    #[must_use]
    pub fn migration(&self) -> Option<&str> {
        match self {
            Self::MissingTable { migration, .. } => migration.as_deref(),
            Self::MissingColumn { migration, .. }
            | Self::WrongType { migration, .. }
            | Self::Nullable { migration, .. }
            | Self::NullTokens { migration, .. }
            | Self::NotUnique { migration, .. }
            | Self::NotTransactional { migration, .. } => Some(migration),
            Self::Database { .. } => None,
        }
    }
}

fn advice(migration: Option<&str>) -> String {
    match migration {
        Some(migration) => format!("put this into a migration: {}", migration.trim_end()),
        None => "create it, or name it with its schema".to_owned(),
    }
}

/// A column as the database tells of it.
#[derive(Debug, Clone)]
pub(crate) struct Column {
    pub(crate) name: String,
    pub(crate) type_name: String,
    pub(crate) nullable: bool,
}

/// How a database changes its tables. Of each, the table first and the column next.
pub(crate) struct Dialect {
    /// The whole table of fence rows.
    pub(crate) schema: &'static str,
    /// The columns that an older table of fence rows lacks.
    pub(crate) upgrade: &'static str,
    /// Whether a type keeps every token and compares it as a number.
    pub(crate) keeps_tokens: fn(&str) -> bool,
    pub(crate) make_bigint: fn(&str, &str) -> String,
    /// For a column in which no `NULL` is left.
    pub(crate) make_not_null: fn(&str, &str) -> String,
    pub(crate) make_key: fn(&str, &str) -> String,
}

impl Dialect {
    /// Judges the table of fence rows by its columns, of which there are none when there is no table. `columns` are
    /// those that it must have. Which of them are keys, and whether some are `NULL`, is asked elsewhere.
    pub(crate) fn judge_fence(&self, found: &[Column], columns: &[&str]) -> Result<(), SchemaError> {
        let table = FENCE_TABLE.to_owned();
        if found.is_empty() {
            return Err(SchemaError::MissingTable { table, migration: Some(self.schema.to_owned()) });
        }
        for column in columns {
            if !found.iter().any(|one| one.name.eq_ignore_ascii_case(column)) {
                let migration = self.missing_in_fence(column);
                return Err(SchemaError::MissingColumn { table, column: (*column).to_owned(), migration });
            }
        }
        let counts = found.iter().filter(|one| matches!(one.name.as_str(), "last_token" | "writes"));
        for column in counts {
            self.judge_type(FENCE_TABLE, column)?;
        }
        Ok(())
    }

    fn missing_in_fence(&self, column: &str) -> String {
        match column {
            "holder" | "recent" => self.upgrade.to_owned(),
            _ => format!("ALTER TABLE {FENCE_TABLE} ADD COLUMN {column} BIGINT NOT NULL DEFAULT 0"),
        }
    }

    /// Judges the table of a row fence; gives its token column, whose rows may have to be looked at.
    pub(crate) fn judge_rows<'a>(
        &self,
        found: &'a [Column],
        rows: &RowFence,
    ) -> Result<&'a Column, SchemaError> {
        let table = rows.table().to_owned();
        if found.is_empty() {
            return Err(SchemaError::MissingTable { table, migration: None });
        }
        let token = found.iter().find(|one| one.name.eq_ignore_ascii_case(rows.token()));
        let Some(token) = token else {
            let (column, migration) = (rows.token().to_owned(), rows.add_column());
            return Err(SchemaError::MissingColumn { table, column, migration });
        };
        self.judge_type(rows.table(), token)?;
        Ok(token)
    }

    fn judge_type(&self, table: &str, column: &Column) -> Result<(), SchemaError> {
        if (self.keeps_tokens)(&column.type_name) {
            return Ok(());
        }
        Err(SchemaError::WrongType {
            table: table.to_owned(),
            column: column.name.clone(),
            found: column.type_name.clone(),
            migration: (self.make_bigint)(table, &column.name),
        })
    }

    /// For a column that may be `NULL`, and is in so many rows.
    pub(crate) fn nullable(&self, table: &str, column: &Column, rows: i64) -> SchemaError {
        let (name, constraint) = (&column.name, (self.make_not_null)(table, &column.name));
        let (table, column) = (table.to_owned(), name.clone());
        if rows == 0 {
            return SchemaError::Nullable { table, column, migration: constraint };
        }
        let migration = format!("UPDATE {table} SET {name} = 0 WHERE {name} IS NULL; {constraint}");
        SchemaError::NullTokens { table, column, rows, migration }
    }

    /// For a table of fence rows in which `resource` is no key.
    pub(crate) fn not_unique(&self) -> SchemaError {
        SchemaError::NotUnique {
            table: FENCE_TABLE.to_owned(),
            column: "resource".to_owned(),
            migration: (self.make_key)(FENCE_TABLE, "resource"),
        }
    }
}

/// Counts the rows in which a column is `NULL`.
pub(crate) fn count_nulls(table: &str, column: &Column) -> String {
    format!("SELECT count(*) FROM {table} WHERE {} IS NULL", column.name)
}

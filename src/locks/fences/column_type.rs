//! Whether a column's type can hold tokens for as long as locks are taken, and keeps their order.

use crate::facts::sql::Dialect;
use crate::locks::schema::Database;

/// What is wrong with a type for a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Weakness {
    /// 32 bits or fewer.
    Narrow,
    /// `'10'` is less than `'9'`.
    Text,
    /// Beyond 2^53, or 2^24, neighbours are one value.
    Float,
    /// A clock, which may stand still or go back.
    Time,
}

/// `None` for types that are wide enough, and for those that we do not know.
pub fn weakness(data_type: &str, dialect: Dialect, wide_integers: bool) -> Option<Weakness> {
    let words: Vec<&str> =
        data_type.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').filter(|w| !w.is_empty()).collect();
    let first = *words.first()?;
    match first {
        "smallint" | "int2" | "smallserial" | "serial2" | "tinyint" => narrow(dialect, wide_integers),
        "mediumint" => Some(Weakness::Narrow),
        "int" | "integer" | "int4" | "serial" | "serial4" => {
            narrow(dialect, wide_integers && first != "int4")
        }
        "numeric" | "decimal" | "dec" => {
            let digits: Option<u32> = words.get(1).and_then(|n| n.parse().ok());
            digits.filter(|digits| *digits <= 9).map(|_| Weakness::Narrow)
        }
        "real" | "float" | "float4" | "float8" | "double" => Some(Weakness::Float),
        "text" | "varchar" | "char" | "character" | "citext" | "string" | "nvarchar" | "tinytext"
        | "mediumtext" | "longtext" | "bpchar" | "name" => Some(Weakness::Text),
        "timestamp" | "timestamptz" | "datetime" | "date" | "time" | "timetz" => Some(Weakness::Time),
        _ => None,
    }
}

/// SQLite's integers have 64 bits, whatever they are called.
fn narrow(dialect: Dialect, wide_integers: bool) -> Option<Weakness> {
    (dialect != Dialect::Sqlite && !wide_integers).then_some(Weakness::Narrow)
}

/// CockroachDB speaks PostgreSQL's dialect, and its INT has 64 bits.
pub(super) fn is_cockroach(database: &Database) -> bool {
    let named = |part: &str| {
        let part = part.to_ascii_lowercase();
        part.contains("cockroach") || part == "crdb"
    };
    let own_type = |data_type: &str| matches!(data_type, "string" | "bytes");
    let mut columns = database.tables.values().flatten().flat_map(|table| &table.columns);
    database.root.split('/').any(named)
        || columns.any(|c| own_type(&c.data_type) || c.default.as_ref().is_some_and(|d| d.contains(":::")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn width_and_order_of_types() {
        let of = |ty: &str, dialect| weakness(ty, dialect, false);
        for ty in ["bigint", "int8", "bigserial", "bigint unsigned", "numeric(20,0)", "numeric", "xid8"] {
            assert_eq!(of(ty, Dialect::Postgres), None, "{ty}");
        }
        for ty in ["int", "integer", "smallint", "int unsigned", "int(10) unsigned", "serial", "numeric(9)"] {
            assert_eq!(of(ty, Dialect::MySql), Some(Weakness::Narrow), "{ty}");
        }
        assert_eq!(of("varchar(20)", Dialect::Postgres), Some(Weakness::Text));
        assert_eq!(of("character varying(20)", Dialect::Postgres), Some(Weakness::Text));
        assert_eq!(of("double precision", Dialect::Postgres), Some(Weakness::Float));
        assert_eq!(of("timestamp(6) with time zone", Dialect::Postgres), Some(Weakness::Time));
        assert_eq!(of("integer", Dialect::Sqlite), None);
        assert_eq!(weakness("int", Dialect::Postgres, true), None);
        assert_eq!(of("", Dialect::Postgres), None);
    }
}

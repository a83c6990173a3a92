//! What a statement reads by itself: values that cannot be stale, because the same statement has just found
//! them in rows.

use crate::facts::sql::{Cte, CteBody, Expr, ExprKind, Select, SourceKind, Write};
use crate::locks::tables::own_compares;

/// Whether a column is the row's own, or one of a source whose rows the statement picks without comparing
/// that very column with a value from outside.
pub(super) fn reads_rows(write: &Write, outer_ctes: &[Cte], qualifier: &str, column: &str) -> bool {
    if write.alias.as_deref().unwrap_or(&write.table.name).eq_ignore_ascii_case(qualifier) {
        return true;
    }
    let source = write.sources.iter().find(|source| {
        let name = match &source.kind {
            SourceKind::Table(table) => Some(table.name.as_str()),
            _ => None,
        };
        source.alias.as_deref().or(name).is_some_and(|name| name.eq_ignore_ascii_case(qualifier))
    });
    match source.map(|source| &source.kind) {
        Some(SourceKind::Query(select)) => finds(select, column),
        Some(SourceKind::Table(table)) => {
            let mut ctes = write.ctes.iter().chain(outer_ctes);
            match ctes.find(|cte| cte.name.eq_ignore_ascii_case(&table.name)).map(|cte| &cte.body) {
                Some(CteBody::Select(select)) => finds(select, column),
                Some(_) => false,
                None => true,
            }
        }
        _ => false,
    }
}

/// Whether a query takes the column from rows of tables, whatever value the caller holds.
fn finds(select: &Select, column: &str) -> bool {
    let of_tables = select.sources.iter().all(|source| matches!(source.kind, SourceKind::Table(_)));
    let brought = own_compares(select.predicate.as_ref())
        .iter()
        .any(|(name, _, other)| name.eq_ignore_ascii_case(column) && is_brought(other));
    of_tables && !select.sources.is_empty() && !brought
}

fn is_brought(e: &Expr) -> bool {
    matches!(e.kind, ExprKind::Bind(_) | ExprKind::Hole) || e.kind.parts().into_iter().any(is_brought)
}

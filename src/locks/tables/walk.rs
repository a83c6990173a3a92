//! Ways through a statement: its writes, its queries, the comparisons in a condition.

use crate::facts::sql::{
    Comparison, Cte, CteBody, Expr, ExprKind, Select, SourceKind, StatementKind, TableName, Write,
};
use crate::locks::statement::SqlSite;

/// Every table that a statement names, CTEs left out.
pub(super) fn each_table(site: &SqlSite, found: &mut dyn FnMut(&TableName)) {
    for write in writes(&site.statement.kind) {
        found(&write.write.table);
    }
    for select in selects(&site.statement.kind) {
        for source in &select.sources {
            if let SourceKind::Table(table) = &source.kind {
                found(table);
            }
        }
    }
}

/// A write of a statement, with the CTEs around it.
#[derive(Debug, Clone, Copy)]
pub struct NestedWrite<'a> {
    pub write: &'a Write,
    pub outer_ctes: &'a [Cte],
}

/// The writes of a statement: its own, and those in its CTEs.
pub fn writes(kind: &StatementKind) -> Vec<NestedWrite<'_>> {
    let mut found = Vec::new();
    match kind {
        StatementKind::Write(write) => {
            found.push(NestedWrite { write, outer_ctes: &[] });
            in_ctes(&write.ctes, &mut found, 0);
        }
        StatementKind::Select(select) => in_ctes(&select.ctes, &mut found, 0),
        _ => {}
    }
    found
}

fn in_ctes<'a>(ctes: &'a [Cte], found: &mut Vec<NestedWrite<'a>>, depth: usize) {
    if depth > 8 {
        return;
    }
    for cte in ctes {
        match &cte.body {
            CteBody::Write(write) => {
                found.push(NestedWrite { write, outer_ctes: ctes });
                in_ctes(&write.ctes, found, depth + 1);
            }
            CteBody::Select(select) => in_ctes(&select.ctes, found, depth + 1),
            CteBody::Other => {}
        }
    }
}

/// All queries of a statement: itself, CTEs, sources and subqueries of predicates.
pub fn selects(kind: &StatementKind) -> Vec<&Select> {
    let mut found = Vec::new();
    match kind {
        StatementKind::Write(write) => selects_of_write(write, &mut found, 0),
        StatementKind::Select(select) => selects_of(select, &mut found, 0),
        _ => {}
    }
    found
}

/// Comparisons of columns anywhere in a condition, read as `column OP other`.
pub(in crate::locks) fn own_compares(e: Option<&Expr>) -> Vec<(&str, Comparison, &Expr)> {
    let mut found = Vec::new();
    if let Some(e) = e {
        collect(e, &mut found);
    }
    found
}

/// The columns that a condition compares, with how.
pub fn compared_columns(e: Option<&Expr>) -> impl Iterator<Item = (&str, Comparison)> {
    own_compares(e).into_iter().map(|(column, comparison, _)| (column, comparison))
}

fn collect<'e>(e: &'e Expr, found: &mut Vec<(&'e str, Comparison, &'e Expr)>) {
    if let ExprKind::Compare { operator, left, right } = &e.kind {
        if let Some(name) = column(left) {
            found.push((name, *operator, right));
        }
        if let Some(name) = column(right) {
            found.push((name, operator.mirrored(), left));
        }
        if let Some(name) = aged_column(left) {
            found.push((name, operator.mirrored(), right));
        }
    }
    if let ExprKind::InList { operand, list, negated: false } = &e.kind
        && let Some(name) = column(operand)
    {
        found.extend(list.iter().map(|value| (name, Comparison::Equal, value)));
    }
    for part in e.kind.parts() {
        collect(part, found);
    }
}

fn column(e: &Expr) -> Option<&str> {
    match &e.kind {
        ExprKind::Column { name, .. } => Some(name),
        ExprKind::Cast { operand, .. } => column(operand),
        ExprKind::Call { name, args } if name == "coalesce" || name == "ifnull" => {
            args.first().and_then(column)
        }
        ExprKind::Arithmetic { left, .. } => column(left),
        _ => None,
    }
}

/// The column whose age an expression is: `now() - last_ping`. More age is an earlier time.
fn aged_column(e: &Expr) -> Option<&str> {
    match &e.kind {
        ExprKind::Arithmetic { operator: '-', left, right } if is_clock(left) => column(right),
        ExprKind::Call { name, args } if name == "age" || name == "timestampdiff" => {
            let [.., older, newer] = args.as_slice() else { return None };
            let (older, newer) = if name == "age" { (newer, older) } else { (older, newer) };
            column(older).filter(|_| is_clock(newer))
        }
        ExprKind::Call { name, args } if name == "extract" || name == "date_part" => {
            args.iter().find_map(aged_column)
        }
        ExprKind::Cast { operand, .. } => aged_column(operand),
        _ => None,
    }
}

/// A call such as `now()`, or something made of one.
fn is_clock(e: &Expr) -> bool {
    match &e.kind {
        ExprKind::Call { .. } => true,
        ExprKind::Cast { operand, .. } => is_clock(operand),
        _ => false,
    }
}

/// "Older than": the row's time lies before something.
pub(in crate::locks) fn is_before(operator: Comparison) -> bool {
    matches!(operator, Comparison::Less | Comparison::LessOrEqual)
}

/// The constant that an operand is, in SQL or bound by the program.
pub(in crate::locks) fn literal(site: &SqlSite, e: &Expr) -> Option<String> {
    match &e.kind {
        ExprKind::Text(text) => Some(text.clone()),
        ExprKind::Number(text) => Some(text.clone()),
        ExprKind::Cast { operand, .. } => literal(site, operand),
        ExprKind::Bind(bind) => site.bound(bind)?.constant.clone(),
        _ => None,
    }
}

/// No value, as `NULL` or as an empty text.
pub(in crate::locks) fn is_null(e: &Expr) -> bool {
    match &e.kind {
        ExprKind::Null => true,
        ExprKind::Text(text) => text.is_empty(),
        ExprKind::Cast { operand, .. } => is_null(operand),
        _ => false,
    }
}

/// Whether a query reads the rows of this table by its name.
pub(in crate::locks) fn reads(select: &Select, table: &TableName) -> bool {
    select.sources.iter().any(|source| match &source.kind {
        SourceKind::Table(read) => read.name.eq_ignore_ascii_case(&table.name),
        _ => false,
    })
}

/// Queries that choose the rows of a write.
pub(in crate::locks) fn inner_selects(write: &Write) -> Vec<&Select> {
    let mut found = Vec::new();
    selects_of_write(write, &mut found, 0);
    found.retain(|select| reads(select, &write.table));
    found
}

fn selects_of_write<'a>(write: &'a Write, found: &mut Vec<&'a Select>, depth: usize) {
    if depth > 8 {
        return;
    }
    for cte in &write.ctes {
        match &cte.body {
            CteBody::Select(select) => selects_of(select, found, depth + 1),
            CteBody::Write(write) => selects_of_write(write, found, depth + 1),
            CteBody::Other => {}
        }
    }
    for source in &write.sources {
        if let SourceKind::Query(select) = &source.kind {
            selects_of(select, found, depth + 1);
        }
    }
    let values = write.assignments.iter().map(|a| &a.value);
    for e in write.predicate.iter().chain(&write.join_conditions).chain(values) {
        selects_in(e, found, depth + 1);
    }
}

fn selects_of<'a>(select: &'a Select, found: &mut Vec<&'a Select>, depth: usize) {
    if depth > 8 {
        return;
    }
    found.push(select);
    for cte in &select.ctes {
        match &cte.body {
            CteBody::Select(inner) => selects_of(inner, found, depth + 1),
            CteBody::Write(write) => selects_of_write(write, found, depth + 1),
            CteBody::Other => {}
        }
    }
    for source in &select.sources {
        if let SourceKind::Query(inner) = &source.kind {
            selects_of(inner, found, depth + 1);
        }
    }
    for e in select.predicate.iter().chain(&select.join_conditions).chain(&select.projection) {
        selects_in(e, found, depth + 1);
    }
}

fn selects_in<'a>(e: &'a Expr, found: &mut Vec<&'a Select>, depth: usize) {
    match &e.kind {
        ExprKind::InQuery { query, .. } | ExprKind::Exists { query, .. } | ExprKind::Query(query) => {
            selects_of(query, found, depth);
        }
        _ => {}
    }
    for part in e.kind.parts() {
        selects_in(part, found, depth);
    }
}

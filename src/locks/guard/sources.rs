//! Guards that stand in a query beside the row: subqueries, CTEs, joined sources.

use super::operand::{Side, side};
use super::predicate::Frame;
use super::{Guard, GuardKind, LooseReason, Question, Verdict, and, judge as judge_write, loose};
use crate::facts::Span;
use crate::facts::sql::{
    Clauses, Comparison, Cte, CteBody, Dialect, Expr, ExprKind, Select, Source, SourceKind, TableName, Write,
};
use crate::locks::naming;

/// What the statement's other sources add: a CTE that locks the row, a CTE that checked another row.
pub(super) fn judge(frame: &Frame<'_>) -> Verdict {
    let write = frame.question.write;
    let mut verdict = Verdict::Absent;
    for source in &write.sources {
        let found = match &source.kind {
            SourceKind::Table(table) => match cte(frame, table) {
                Some(body) => of_body(frame, body, source.alias.as_deref().unwrap_or(&table.name), false),
                None => Verdict::Absent,
            },
            SourceKind::Query(query) => {
                let name = source.alias.as_deref().unwrap_or("");
                of_select(frame, query, joined(frame, name), query.locks_rows, write.table_span)
            }
            SourceKind::Other => Verdict::Absent,
        };
        verdict = and(verdict, found);
    }
    verdict
}

fn cte<'a>(frame: &Frame<'a>, table: &TableName) -> Option<&'a CteBody> {
    if table.schema.is_some() {
        return None;
    }
    let question = &frame.question;
    let named = |c: &&Cte| c.name.eq_ignore_ascii_case(&table.name);
    question.write.ctes.iter().chain(question.outer_ctes).find(named).map(|c| &c.body)
}

fn of_body(frame: &Frame<'_>, body: &CteBody, name: &str, correlated: bool) -> Verdict {
    let span = frame.question.write.table_span;
    match body {
        CteBody::Select(select) => {
            of_select(frame, select, correlated || joined(frame, name), select.locks_rows, span)
        }
        CteBody::Write(write) => of_write(frame, write),
        CteBody::Other => Verdict::Absent,
    }
}

/// A write beside ours that is itself fenced proves the token for both: one transaction, one row lock.
fn of_write(frame: &Frame<'_>, write: &Write) -> Verdict {
    if std::ptr::eq(write, frame.question.write) || frame.is_too_deep() {
        return Verdict::Absent;
    }
    let mut columns: Vec<&str> = write.assignments.iter().map(|a| a.column.as_str()).collect();
    collect_columns(write.predicate.as_ref(), &mut columns);
    for column in columns.into_iter().filter(|c| proves(c)) {
        let question = Question { write, column, ..frame.question };
        if let Verdict::Guarded(guard) = judge_write(question) {
            return Verdict::Guarded(Guard { how: GuardKind::OtherRow, span: guard.span });
        }
    }
    Verdict::Absent
}

/// A column whose comparison proves that the holder holds.
fn proves(column: &str) -> bool {
    naming::may_be_token(column) || naming::is_owner(column) || naming::is_weak_owner(column)
}

fn collect_columns<'e>(e: Option<&'e Expr>, found: &mut Vec<&'e str>) {
    let Some(e) = e else { return };
    if let ExprKind::Column { name, .. } = &e.kind {
        found.push(name);
    }
    for part in e.kind.parts() {
        collect_columns(Some(part), found);
    }
}

/// A subquery in the predicate: `id IN (…)`, `id = (…)`, `EXISTS (…)`.
pub(super) fn query(frame: &Frame<'_>, select: &Select, operand: Option<&Expr>, span: Span) -> Verdict {
    if frame.is_too_deep() {
        return Verdict::Absent;
    }
    let by_operand = operand.is_some_and(|o| matches!(side(frame, o), Side::OwnRow | Side::Token(_)));
    of_select(frame, select, by_operand, select.locks_rows, span)
}

/// A row that was read is still so when the write happens: SQLite has one writer at a time, and InnoDB locks
/// what an UPDATE or DELETE reads (at its default level, REPEATABLE READ). PostgreSQL looks again at the
/// condition on the written row only, and never at a subquery (`EvalPlanQual`).
fn reads_lock(dialect: Dialect) -> bool {
    matches!(dialect, Dialect::Sqlite | Dialect::MySql)
}

/// A scalar subquery compared with what the holder brings: `(SELECT token FROM fences …) <= $2`.
pub(super) fn scalar(
    frame: &Frame<'_>,
    select: &Select,
    operator: Comparison,
    value: &Expr,
    span: Span,
) -> Verdict {
    if picks_no_row(select) && is_stored(frame, value) && operator != Comparison::Equal {
        return loose(LooseReason::Uncorrelated, span);
    }
    let accepts = matches!(operator, Comparison::Equal | Comparison::Less | Comparison::LessOrEqual);
    let [Expr { kind: ExprKind::Column { name, .. }, .. }] = &select.projection[..] else {
        return Verdict::Absent;
    };
    let brought = matches!(value.kind, ExprKind::Bind(_) | ExprKind::Hole);
    let elsewhere = select.sources.iter().all(|s| match &s.kind {
        SourceKind::Table(table) => !same_table(table, &frame.question.write.table),
        _ => false,
    });
    if !accepts || !brought || !elsewhere || !proves(name) {
        return Verdict::Absent;
    }
    of_other_row(frame, select, span, span)
}

/// `(SELECT MIN(token) FROM fences)`: it says something of all rows, and nothing of the one that is written.
fn picks_no_row(select: &Select) -> bool {
    let of_tables = select.sources.iter().all(|source| matches!(source.kind, SourceKind::Table(_)));
    !select.sources.is_empty() && of_tables && select.predicate.is_none() && select.join_conditions.is_empty()
}

/// Whether the statement stores this value as the token in question.
fn is_stored(frame: &Frame<'_>, value: &Expr) -> bool {
    let question = &frame.question;
    let given = matches!(value.kind, ExprKind::Bind(_));
    given
        && question
            .write
            .assignments
            .iter()
            .any(|a| a.column.eq_ignore_ascii_case(question.column) && a.value.kind == value.kind)
}

fn of_other_row(frame: &Frame<'_>, select: &Select, comparison: Span, whole: Span) -> Verdict {
    if select.locks_rows || select.shares_rows || reads_lock(frame.question.dialect) {
        Verdict::Guarded(Guard { how: GuardKind::OtherRow, span: comparison })
    } else {
        loose(LooseReason::UnlockedOther, whole)
    }
}

fn of_select(frame: &Frame<'_>, select: &Select, correlated: bool, locked: bool, span: Span) -> Verdict {
    let mut verdict = Verdict::Absent;
    for source in &select.sources {
        let SourceKind::Table(table) = &source.kind else { continue };
        let name = source.alias.as_deref().unwrap_or(&table.name);
        let inner_cte =
            select.ctes.iter().find(|c| c.name.eq_ignore_ascii_case(&table.name)).map(|c| &c.body);
        let found = match inner_cte.or_else(|| cte(frame, table)) {
            Some(body) if !frame.is_too_deep() => {
                of_body(&frame.within(name), body, name, correlated || names_row(frame, select))
            }
            Some(_) => Verdict::Absent,
            None if same_table(table, &frame.question.write.table) => {
                let own = conditions(&frame.within(name), select);
                let correlated = correlated || names_row(frame, select) || shares_key(frame, select);
                check(own, correlated, locked || reads_lock(frame.question.dialect), span)
            }
            None => other_table(frame, select, source, table, span),
        };
        verdict = and(verdict, found);
    }
    verdict
}

fn conditions(frame: &Frame<'_>, select: &Select) -> Verdict {
    let all = select.predicate.iter().chain(&select.join_conditions);
    all.fold(Verdict::Absent, |found, c| and(found, frame.judge(c, false)))
}

fn check(own: Verdict, correlated: bool, locked: bool, span: Span) -> Verdict {
    match own {
        Verdict::Guarded(_) if !correlated => loose(LooseReason::Uncorrelated, span),
        Verdict::Guarded(_) if !locked => loose(LooseReason::Unlocked, span),
        other => other,
    }
}

/// A fence row or lease row of another table, checked by its token or holder.
fn other_table(
    frame: &Frame<'_>,
    select: &Select,
    source: &Source,
    table: &TableName,
    span: Span,
) -> Verdict {
    let mut columns = Vec::new();
    collect_columns(select.predicate.as_ref(), &mut columns);
    for condition in &select.join_conditions {
        collect_columns(Some(condition), &mut columns);
    }
    let name = source.alias.as_deref().unwrap_or(&table.name);
    for column in columns.into_iter().filter(|c| proves(c)) {
        let probe =
            Write { table: table.clone(), alias: source.alias.clone(), sources: Vec::new(), ..blank(frame) };
        let question = Question { write: &probe, column, ..frame.question };
        let inner = Frame::top(question);
        if let Verdict::Guarded(guard) = conditions(&inner.within(name), select) {
            return of_other_row(frame, select, guard.span, span);
        }
    }
    Verdict::Absent
}

/// A statement of the same shape without content, to ask about another table's columns.
fn blank(frame: &Frame<'_>) -> Write {
    let write = frame.question.write;
    Write {
        verb: write.verb,
        table: write.table.clone(),
        alias: None,
        table_span: write.table_span,
        assignments: Vec::new(),
        insert_columns: Vec::new(),
        insert_values: Vec::new(),
        skips_conflicts: false,
        predicate: None,
        conflict_predicate: None,
        sources: Vec::new(),
        join_conditions: Vec::new(),
        ctes: Vec::new(),
        returning: None,
        clauses: Clauses::default(),
    }
}

fn same_table(a: &TableName, b: &TableName) -> bool {
    a.name.eq_ignore_ascii_case(&b.name)
}

/// Whether the statement ties the source of this name to the row it writes.
fn joined(frame: &Frame<'_>, name: &str) -> bool {
    let write = frame.question.write;
    let all = write.predicate.iter().chain(&write.join_conditions);
    all.flat_map(equalities).any(|(l, r)| {
        let named = |e: &Expr| matches!(&e.kind, ExprKind::Column { qualifier: Some(q), .. } if q.eq_ignore_ascii_case(name));
        let own = |e: &Expr| matches!(side(frame, e), Side::OwnRow | Side::Token(_)) && !named(e);
        (named(l) && own(r)) || (named(r) && own(l))
    })
}

/// Whether the query names the outer row: `b.id = a.id`.
fn names_row(frame: &Frame<'_>, select: &Select) -> bool {
    let target = frame.question.write;
    let outer = super::row_name(target);
    let shadowed = select.sources.iter().any(|s| match (&s.alias, &s.kind) {
        (Some(alias), _) => alias.eq_ignore_ascii_case(outer),
        (None, SourceKind::Table(table)) => table.name.eq_ignore_ascii_case(outer),
        _ => false,
    });
    let is_outer = |e: &Expr| matches!(&e.kind, ExprKind::Column { qualifier: Some(q), .. } if q.eq_ignore_ascii_case(outer));
    !shadowed && select.predicate.iter().flat_map(equalities).any(|(l, r)| is_outer(l) != is_outer(r))
}

/// Whether query and statement pick their row by the same bound value.
fn shares_key(frame: &Frame<'_>, select: &Select) -> bool {
    let bound = |e: Option<&Expr>| -> Vec<(String, Expr)> {
        let pairs = e.map(equalities).unwrap_or_default();
        pairs
            .into_iter()
            .flat_map(|(l, r)| [(l, r), (r, l)])
            .filter_map(|(column, value)| match (&column.kind, &value.kind) {
                (ExprKind::Column { name, .. }, ExprKind::Bind(_)) => {
                    Some((name.to_lowercase(), value.clone()))
                }
                _ => None,
            })
            .collect()
    };
    let outer = bound(frame.question.write.predicate.as_ref());
    bound(select.predicate.as_ref())
        .iter()
        .any(|(column, value)| outer.iter().any(|(c, v)| c == column && v.kind == value.kind))
}

/// The equalities that must hold.
fn equalities(e: &Expr) -> Vec<(&Expr, &Expr)> {
    match &e.kind {
        ExprKind::And(list) => list.iter().flat_map(equalities).collect(),
        ExprKind::Compare { operator: Comparison::Equal, left, right } => vec![(left, right)],
        _ => Vec::new(),
    }
}

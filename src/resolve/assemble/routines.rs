//! The statements of stored functions, procedures and triggers. A migration brings them, but they run
//! when programs call them, and all of one body in one transaction.

use super::noted_rows::note_rows;
use crate::facts::sql::{Expr, ExprKind, Statement, StatementKind};
use crate::locks::{CountUse, Executor, SqlSite, StatementOrigin, TransactionScope};

/// The statements in the bodies of the routines that these statements create.
pub fn routine_statements(statements: &[SqlSite]) -> Vec<SqlSite> {
    statements.iter().flat_map(routine_sites).collect()
}

/// The body of one routine, in order.
pub(super) fn routine_sites(creator: &SqlSite) -> Vec<SqlSite> {
    let (name, body, origin) = match &creator.statement.kind {
        StatementKind::CreateFunction(routine) if routine.is_trigger => {
            (&routine.name, &routine.body, StatementOrigin::Trigger)
        }
        StatementKind::CreateFunction(routine) => (&routine.name, &routine.body, StatementOrigin::Routine),
        StatementKind::CreateTrigger(trigger) => (&trigger.name, &trigger.body, StatementOrigin::Trigger),
        _ => return Vec::new(),
    };
    let mut scope = TransactionScope { open: true, ..TransactionScope::default() };
    let mut sites = Vec::new();
    for statement in body {
        sites.push(site(creator, statement, origin, name, &scope));
        note_rows(&mut scope, &statement.kind);
        if let StatementKind::Select(select) = &statement.kind {
            scope.advisory_lock |= select.projection.iter().any(takes_lock);
        }
    }
    sites
}

fn takes_lock(e: &Expr) -> bool {
    match &e.kind {
        ExprKind::Call { name, .. } => {
            ["pg_advisory_lock", "pg_advisory_xact_lock", "get_lock"].contains(&name.as_str())
        }
        _ => e.kind.parts().into_iter().any(takes_lock),
    }
}

fn site(
    creator: &SqlSite,
    statement: &Statement,
    origin: StatementOrigin,
    name: &str,
    scope: &TransactionScope,
) -> SqlSite {
    SqlSite {
        statement: statement.clone(),
        origin,
        call: None,
        complete: creator.complete,
        count: CountUse::Unknown,
        count_dropped_by: None,
        reply_dropped: false,
        session_lock: None,
        executor: Executor::Unknown,
        transaction: scope.clone(),
        function: Some(name.to_owned()),
        compared_reads: Vec::new(),
        is_timed: false,
        binds: Vec::new(),
        ..creator.clone()
    }
}

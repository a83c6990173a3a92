//! Functions whose whole result every caller throws away, errors included: nobody takes what they do for
//! done. Calls are told by name, as far as the files of the run show them.

use std::collections::BTreeSet;

use crate::facts::Span;
use crate::facts::rust::{Block, Expr, ExprKind, Pattern, PatternKind, Statement};
use crate::facts::walk::{each_block, each_expr};
use crate::locks::{CountUse, SqlSite};

use super::super::program::Program;

/// Marks the statements whose count is dropped in a function of that kind.
pub fn mark_best_effort(program: &Program<'_>, sites: &mut [SqlSite]) {
    let wanted: BTreeSet<String> = sites.iter().filter(|site| may_be(site)).filter_map(name).collect();
    let best_effort = always_dropped(program, wanted);
    for site in sites.iter_mut().filter(|site| may_be(site)) {
        site.is_best_effort = name(site).is_some_and(|name| best_effort.contains(&name));
    }
}

fn may_be(site: &SqlSite) -> bool {
    site.count == CountUse::Ignored && !site.is_test
}

/// The name of the function that runs a statement, without its type.
fn name(site: &SqlSite) -> Option<String> {
    let function = site.function.as_deref()?;
    function.rsplit("::").next().map(str::to_owned)
}

fn always_dropped(program: &Program<'_>, wanted: BTreeSet<String>) -> BTreeSet<String> {
    let mut dropped = BTreeSet::new();
    let mut used = BTreeSet::new();
    if wanted.is_empty() {
        return dropped;
    }
    for (index, entry) in program.functions.iter().enumerate() {
        let Some(body) = entry.function.body.as_ref().filter(|_| !program.is_test(index)) else { continue };
        let thrown_away = thrown_away(body);
        each_expr(body, &mut |expr| {
            let Some(callee) = callee(expr).filter(|callee| wanted.contains(*callee)) else { return };
            // A wrapper of the same name hands the result on.
            if callee == entry.function.name {
                return;
            }
            if thrown_away.contains(&expr.span) {
                dropped.insert(callee.to_owned());
            } else {
                used.insert(callee.to_owned());
            }
        });
    }
    dropped.difference(&used).cloned().collect()
}

fn callee(expr: &Expr) -> Option<&str> {
    match &expr.kind {
        ExprKind::MethodCall { method, .. } => Some(method),
        ExprKind::Call { callee, .. } => match &callee.kind {
            ExprKind::Path(path) => path.last().map(String::as_str),
            _ => None,
        },
        _ => None,
    }
}

/// The calls in `let _ = call(…).await;`.
fn thrown_away(body: &Block) -> BTreeSet<Span> {
    let mut found = BTreeSet::new();
    each_block(body, &mut |block| {
        for statement in &block.statements {
            if let Statement::Let {
                pattern: Pattern { kind: PatternKind::Wildcard, .. },
                value: Some(value),
                ..
            } = statement
            {
                let call = match &value.kind {
                    ExprKind::Await(inner) => inner,
                    _ => value,
                };
                found.insert(call.span);
            }
        }
    });
    found
}

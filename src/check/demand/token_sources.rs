//! The functions that give a body its fencing tokens: a clock may be behind them.

use std::collections::BTreeSet;

use crate::facts::rust::{Expr, ExprKind, Function, PatternKind, Statement};
use crate::facts::walk::each_expr;
use crate::locks::naming::may_be_token;

/// The functions whose results a body puts into fields with the name of a token.
pub(super) fn sources_of_tokens(function: &Function) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    let mut add = |value: &Expr| {
        if let ExprKind::Call { callee, .. } = &value.kind
            && let ExprKind::Path(path) = &callee.kind
        {
            names.extend(path.last().cloned());
        }
    };
    let Some(body) = &function.body else { return names };
    for statement in &body.statements {
        if let Statement::Let { pattern, value: Some(value), .. } = statement
            && let PatternKind::Name { name, .. } = &pattern.kind
            && may_be_token(name)
        {
            add(value);
        }
    }
    each_expr(body, &mut |expr| {
        let ExprKind::Struct { fields, .. } = &expr.kind else { return };
        fields.iter().filter(|(name, _)| may_be_token(name)).for_each(|(_, value)| add(value));
    });
    names
}

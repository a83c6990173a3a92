//! Walks over the expressions of a Rust body, outer ones first. Iterative over nesting, so that depth costs
//! no stack.

use super::rust::{Block, Expr, ExprKind, Statement};

/// Calls `visit` with every expression directly inside; blocks inside are walked statement by statement.
fn each_child<'f>(expr: &'f Expr, visit: &mut dyn FnMut(&'f Expr)) {
    let block = |block: &'f Block, visit: &mut dyn FnMut(&'f Expr)| each_in_block(block, visit);
    match &expr.kind {
        ExprKind::Call { callee, args } => {
            visit(callee);
            args.iter().for_each(visit);
        }
        ExprKind::MethodCall { receiver, args, .. } => {
            visit(receiver);
            args.iter().for_each(visit);
        }
        ExprKind::Field { base: inner, .. }
        | ExprKind::Not(inner)
        | ExprKind::Negative(inner)
        | ExprKind::Borrow(inner)
        | ExprKind::Try(inner)
        | ExprKind::Await(inner)
        | ExprKind::Cast { value: inner, .. }
        | ExprKind::LetCondition { value: inner, .. }
        | ExprKind::Closure { body: inner, .. } => visit(inner),
        ExprKind::Index { base, index } => {
            visit(base);
            visit(index);
        }
        ExprKind::Binary { left, right, .. } => {
            visit(left);
            visit(right);
        }
        ExprKind::Assign { target, value, .. } => {
            visit(target);
            visit(value);
        }
        ExprKind::If { condition, then, otherwise } => {
            visit(condition);
            block(then, visit);
            otherwise.iter().for_each(|otherwise| visit(otherwise));
        }
        ExprKind::Match { value, arms } => {
            visit(value);
            for arm in arms {
                arm.guard.iter().for_each(&mut *visit);
                visit(&arm.body);
            }
        }
        ExprKind::Loop { body } | ExprKind::Block(body) | ExprKind::Async(body) => block(body, visit),
        ExprKind::While { condition, body } => {
            visit(condition);
            block(body, visit);
        }
        ExprKind::For { iterable, body, .. } => {
            visit(iterable);
            block(body, visit);
        }
        ExprKind::Return(value) | ExprKind::Break(value) => value.iter().for_each(|value| visit(value)),
        ExprKind::Macro(call) => {
            call.args.iter().for_each(&mut *visit);
            call.named.iter().for_each(|(_, arg)| visit(arg));
        }
        ExprKind::Select(arms) => {
            for arm in arms {
                visit(&arm.future);
                arm.guard.iter().for_each(&mut *visit);
                visit(&arm.handler);
            }
        }
        ExprKind::Tuple(parts) | ExprKind::Array(parts) | ExprKind::Other(parts) => {
            parts.iter().for_each(visit)
        }
        ExprKind::Struct { fields, rest, .. } => {
            fields.iter().for_each(|(_, field)| visit(field));
            rest.iter().for_each(|rest| visit(rest));
        }
        ExprKind::Text(_)
        | ExprKind::Bytes(_)
        | ExprKind::Int(_)
        | ExprKind::Float(_)
        | ExprKind::Bool(_)
        | ExprKind::Char(_)
        | ExprKind::Path(_)
        | ExprKind::Continue => {}
    }
}

/// Calls `visit` with every expression of a body, outer ones first.
pub fn each_expr<'f>(body: &'f Block, visit: &mut dyn FnMut(&'f Expr)) {
    let mut waiting: Vec<&'f Expr> = Vec::new();
    each_in_block(body, &mut |expr| waiting.push(expr));
    waiting.reverse();
    each_waiting(waiting, visit);
}

/// Calls `visit` with a block and every block in it that statements, branches, loops, closures and async
/// blocks have.
pub fn each_block<'f>(body: &'f Block, visit: &mut dyn FnMut(&'f Block)) {
    visit(body);
    each_expr(body, &mut |expr| match &expr.kind {
        ExprKind::If { then: block, .. }
        | ExprKind::Loop { body: block }
        | ExprKind::While { body: block, .. }
        | ExprKind::For { body: block, .. }
        | ExprKind::Block(block)
        | ExprKind::Async(block) => visit(block),
        _ => {}
    });
}

/// Calls `visit` with an expression and every expression in it, outer ones first.
pub fn each_part<'f>(expr: &'f Expr, visit: &mut dyn FnMut(&'f Expr)) {
    each_waiting(vec![expr], visit);
}

fn each_waiting<'f>(mut waiting: Vec<&'f Expr>, visit: &mut dyn FnMut(&'f Expr)) {
    while let Some(expr) = waiting.pop() {
        visit(expr);
        let from = waiting.len();
        each_child(expr, &mut |child| waiting.push(child));
        waiting[from..].reverse();
    }
}

fn each_in_block<'f>(block: &'f Block, visit: &mut dyn FnMut(&'f Expr)) {
    for statement in &block.statements {
        match statement {
            Statement::Let { value, otherwise, .. } => {
                value.iter().for_each(&mut *visit);
                otherwise.iter().for_each(|block| each_in_block(block, visit));
            }
            Statement::Expr { expr, .. } => visit(expr),
        }
    }
}

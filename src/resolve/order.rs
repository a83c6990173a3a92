//! The order of evaluation: callees before callers, by the names that bodies mention. Iterative, so that a
//! chain of ten thousand functions costs no stack.

use crate::facts::rust::{Block, Expr, ExprKind, Statement};

use super::program::Program;

/// More namesakes than this say nothing about who is called.
const MAX_NAMESAKES: usize = 12;

/// All functions, each behind the functions it may call, as far as that has no cycles.
pub fn callees_first(program: &Program<'_>) -> Vec<usize> {
    let callees: Vec<Vec<usize>> =
        (0..program.functions.len()).map(|function| candidates(program, function)).collect();
    let mut order = Vec::with_capacity(callees.len());
    let mut seen = vec![false; callees.len()];
    for start in 0..callees.len() {
        if seen[start] {
            continue;
        }
        seen[start] = true;
        let mut stack = vec![(start, 0)];
        while let Some((function, next)) = stack.pop() {
            match callees[function].get(next) {
                Some(&callee) => {
                    stack.push((function, next + 1));
                    if !seen[callee] {
                        seen[callee] = true;
                        stack.push((callee, 0));
                    }
                }
                None => order.push(function),
            }
        }
    }
    order
}

fn candidates(program: &Program<'_>, function: usize) -> Vec<usize> {
    let Some(body) = &program.functions[function].function.body else { return Vec::new() };
    let mut names = Vec::new();
    names_in_block(body, &mut names);
    names.sort_unstable();
    names.dedup();
    let mut all: Vec<usize> = names
        .into_iter()
        .map(|name| program.named(name))
        .filter(|namesakes| namesakes.len() <= MAX_NAMESAKES)
        .flatten()
        .copied()
        .collect();
    all.sort_unstable();
    all
}

fn names_in_block<'f>(block: &'f Block, names: &mut Vec<&'f str>) {
    for statement in &block.statements {
        match statement {
            Statement::Let { value, otherwise, .. } => {
                value.iter().for_each(|value| names_in(value, names));
                otherwise.iter().for_each(|block| names_in_block(block, names));
            }
            Statement::Expr { expr, .. } => names_in(expr, names),
        }
    }
}

fn names_in<'f>(expr: &'f Expr, names: &mut Vec<&'f str>) {
    match &expr.kind {
        ExprKind::Path(path) => names.extend(path.last().map(String::as_str)),
        ExprKind::MethodCall { method, .. } => names.push(method),
        _ => {}
    }
    each_child(expr, &mut |child| names_in(child, names), &mut |_| {});
}

/// Calls `visit` with every expression directly inside; blocks inside are walked statement by statement.
pub fn each_child<'f>(
    expr: &'f Expr,
    visit: &mut dyn FnMut(&'f Expr),
    visit_pattern: &mut dyn FnMut(&'f crate::facts::rust::Pattern),
) {
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
        | ExprKind::Closure { body: inner, .. } => visit(inner),
        ExprKind::LetCondition { pattern, value } => {
            visit_pattern(pattern);
            visit(value);
        }
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
                visit_pattern(&arm.pattern);
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

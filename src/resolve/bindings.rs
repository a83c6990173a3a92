//! The names that a function's body gives to values, and where each can be used. It says less rather than
//! more: a name that is given twice counts as unknown.

use crate::facts::Span;
use crate::facts::rust::{Block, Expr, ExprKind, Function, Pattern, PatternKind, Statement};
use crate::facts::walk::{each_block, each_expr};

/// One name and where it was given.
pub struct Binding<'f> {
    pub name: &'f str,
    /// Where it can be used; `None` for names of closures, loops and patterns, which are not followed.
    pub scope: Option<Span>,
    pub origin: Origin<'f>,
}

/// What a name stands for.
#[derive(Clone, Copy)]
pub enum Origin<'f> {
    Param { by_reference: bool },
    Value(&'f Expr),
    Other,
}

/// All names that a function gives.
pub struct Bindings<'f> {
    all: Vec<Binding<'f>>,
    has_self: bool,
}

impl<'f> Bindings<'f> {
    pub fn of(function: &'f Function) -> Self {
        let mut all = Vec::new();
        let Some(body) = &function.body else { return Self { all, has_self: function.has_self } };
        for param in &function.params {
            let origin = Origin::Param { by_reference: param.by_reference };
            add(&param.pattern, Some(body.span), origin, &mut all);
        }
        each_block(body, &mut |block| lets(block, &mut all));
        each_expr(body, &mut |expr| inner_patterns(expr, &mut all));
        Self { all, has_self: function.has_self }
    }

    /// What a name stands for, when it is given once.
    pub fn find(&self, name: &str) -> Option<&Binding<'f>> {
        let mut found = self.all.iter().filter(|binding| binding.name == name);
        let first = found.next()?;
        found.next().is_none().then_some(first)
    }

    /// From where on an expression means the same as at `at`: the last of the places where its names are
    /// given. Nothing when it does more than to look at them.
    pub fn known_from(&self, expr: &Expr, at: u32) -> Option<u32> {
        match &expr.kind {
            ExprKind::Int(_) | ExprKind::Text(_) => Some(0),
            ExprKind::Path(path) => match path.as_slice() {
                [name] if name == "self" => self.has_self.then_some(0),
                [name] if name.starts_with(char::is_uppercase) => Some(0),
                [name] => {
                    let scope = self.find(name)?.scope?;
                    (scope.start <= at && at < scope.end).then_some(scope.start)
                }
                _ => Some(0),
            },
            ExprKind::Field { base, .. } => self.known_from(base, at),
            ExprKind::Borrow(inner) => self.known_from(inner, at),
            ExprKind::MethodCall { receiver, method, args, .. }
                if args.is_empty() && LOOKS.contains(&method.as_str()) =>
            {
                self.known_from(receiver, at)
            }
            _ => None,
        }
    }
}

/// Methods that give the same text.
pub const LOOKS: &[&str] =
    &["as_str", "as_ref", "as_deref", "clone", "cloned", "to_owned", "to_string", "unwrap_or_default"];

fn lets<'f>(block: &'f Block, all: &mut Vec<Binding<'f>>) {
    for statement in &block.statements {
        if let Statement::Let { pattern, value, span, .. } = statement {
            let origin = value.as_ref().map_or(Origin::Other, Origin::Value);
            add(pattern, Some(Span::new(span.end, block.span.end)), origin, all);
        }
    }
}

fn inner_patterns<'f>(expr: &'f Expr, all: &mut Vec<Binding<'f>>) {
    match &expr.kind {
        ExprKind::LetCondition { pattern, .. } | ExprKind::For { pattern, .. } => {
            add(pattern, None, Origin::Other, all);
        }
        ExprKind::Match { arms, .. } => {
            arms.iter().for_each(|arm| add(&arm.pattern, None, Origin::Other, all));
        }
        ExprKind::Select(arms) => arms.iter().for_each(|arm| add(&arm.pattern, None, Origin::Other, all)),
        ExprKind::Closure { params, .. } => {
            params.iter().for_each(|param| add(&param.pattern, None, Origin::Other, all));
        }
        _ => {}
    }
}

fn add<'f>(pattern: &'f Pattern, scope: Option<Span>, origin: Origin<'f>, all: &mut Vec<Binding<'f>>) {
    let mut waiting = vec![pattern];
    while let Some(pattern) = waiting.pop() {
        let is_whole = waiting.is_empty() && matches!(pattern.kind, PatternKind::Name { .. });
        match &pattern.kind {
            PatternKind::Name { name, inner } => {
                let origin = if is_whole { origin } else { Origin::Other };
                all.push(Binding { name, scope, origin });
                waiting.extend(inner.as_deref());
            }
            PatternKind::Variant { elements, .. }
            | PatternKind::Tuple(elements)
            | PatternKind::Or(elements) => waiting.extend(elements),
            PatternKind::Struct { fields, .. } => waiting.extend(fields.iter().map(|(_, pattern)| pattern)),
            PatternKind::Wildcard | PatternKind::Value(_) | PatternKind::Other => {}
        }
    }
}

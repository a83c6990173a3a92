//! A round over nodes: the loop or chain of calls that asks each of them, the variables that its answers are
//! kept in, and the expressions that count them.

use std::collections::BTreeSet;

use crate::facts::Span;
use crate::facts::rust::{BinaryOperator, Block, Expr, ExprKind, PatternKind, Statement};
use crate::facts::walk::{each_block, each_expr, each_part};

/// Longer chains of calls are not followed to their beginning.
const LONGEST: usize = 16;

/// Rounds of looking for variables that hold answers: each may be made of the one before.
const PASSES: usize = 3;

/// Calls that put an answer, or a task that waits for it, into a collection.
const KEEPING: &[&str] = &["push", "push_back", "insert", "extend", "spawn"];

/// Calls that leave out the answers which are a no.
const CHOOSING: &[&str] = &["filter", "filter_map", "flatten", "flat_map"];

/// Words of variables that count the answers which are a no.
const REFUSED: &[&str] =
    &["failed", "failures", "failure", "errors", "errs", "refused", "denied", "lost", "missing", "rejected"];

pub(super) struct Round<'f> {
    /// The collection, by its last name.
    pub(super) nodes: &'f str,
    /// The loop, or the chain of calls up to the one that asks.
    span: Span,
    /// Variables that hold answers.
    answers: BTreeSet<&'f str>,
    /// Variables that are counted up for answers.
    counters: BTreeSet<&'f str>,
    /// Collections that answers are put into where they are looked at.
    chosen: BTreeSet<&'f str>,
}

impl<'f> Round<'f> {
    /// The innermost one around a call that is made on its item.
    pub(super) fn around(body: &'f Block, call: Span) -> Option<Self> {
        let mut found = None;
        each_expr(body, &mut |expr| {
            let Some((iterable, names, asked)) = iteration(expr) else { return };
            if !is_on_item(asked, &names, call) {
                return;
            }
            if let Some(nodes) = collection(iterable) {
                found = Some((nodes, expr.span));
            }
        });
        let (nodes, span) = found?;
        let (answers, counters, chosen) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
        let mut round = Round { nodes, span, answers, counters, chosen };
        for _ in 0..PASSES {
            round.follow(body);
        }
        round.answers.remove(nodes);
        Some(round)
    }

    /// Whether an expression gives the number of nodes that said yes.
    pub(super) fn counts(&self, expr: &Expr) -> bool {
        match &expr.kind {
            ExprKind::Path(path) => {
                matches!(path.as_slice(), [name] if self.counters.contains(name.as_str()))
            }
            ExprKind::MethodCall { receiver, method, .. } => match method.as_str() {
                "count" | "sum" | "fold" => self.holds_answers(receiver),
                "len" => root(receiver).is_some_and(|name| self.chosen.contains(name)),
                _ => false,
            },
            _ => false,
        }
    }

    /// Whether answers flow into a value.
    fn holds_answers(&self, value: &Expr) -> bool {
        let mut holds = false;
        each_part(value, &mut |part| {
            holds |= part.span == self.span
                || matches!(&part.kind, ExprKind::Path(path) if matches!(path.as_slice(), [name] if self.answers.contains(name.as_str())));
        });
        holds
    }

    /// Follows the answers one step further.
    fn follow(&mut self, body: &'f Block) {
        each_block(body, &mut |block| {
            for statement in &block.statements {
                if let Statement::Let { pattern, value: Some(value), .. } = statement
                    && self.holds_answers(value)
                    && !self.has_count(value)
                {
                    self.answers.extend(pattern_names(&pattern.kind));
                    if is_chosen(value) {
                        self.chosen.extend(pattern_names(&pattern.kind));
                    }
                }
            }
        });
        each_expr(body, &mut |expr| {
            let (pattern, of, inner) = match &expr.kind {
                ExprKind::For { pattern, iterable, body } => (pattern, iterable, body),
                // `while let Some(answer) = answers.next().await`.
                ExprKind::While { condition, body } => match &condition.kind {
                    ExprKind::LetCondition { pattern, value } => (pattern, value, body),
                    _ => return,
                },
                _ => return,
            };
            let is_later = self.holds_answers(of);
            if is_later || expr.span == self.span {
                self.look_into(inner);
            }
            if is_later {
                self.answers.extend(pattern_names(&pattern.kind));
            }
        });
    }

    /// Whether the answers of a value have been counted already.
    fn has_count(&self, value: &Expr) -> bool {
        let mut counted = false;
        each_part(value, &mut |part| counted |= self.counts(part));
        counted
    }

    /// What a loop over nodes or answers counts up and collects.
    fn look_into(&mut self, body: &'f Block) {
        each_expr(body, &mut |expr| match &expr.kind {
            ExprKind::Assign { operator: Some(BinaryOperator::Add), target, .. } => {
                if let ExprKind::Path(path) = &target.kind
                    && let [name] = path.as_slice()
                    && !name.split('_').any(|word| REFUSED.contains(&word))
                {
                    self.counters.insert(name);
                }
            }
            ExprKind::MethodCall { receiver, method, .. } if KEEPING.contains(&method.as_str()) => {
                if let ExprKind::Path(path) = &receiver.kind
                    && let [name] = path.as_slice()
                {
                    self.answers.insert(name);
                    self.chosen.insert(name);
                }
            }
            _ => {}
        });
    }
}

/// What is gone through, the names of its items, and what is done with each: a `for`, or a call such as
/// `nodes.iter().map(|node| …)`.
fn iteration(expr: &Expr) -> Option<(&Expr, Vec<&str>, Asked<'_>)> {
    match &expr.kind {
        ExprKind::For { pattern, iterable, body } => {
            Some((iterable, pattern_names(&pattern.kind), Asked::Block(body)))
        }
        ExprKind::MethodCall { receiver, args, .. } => args.iter().find_map(|arg| match &arg.kind {
            ExprKind::Closure { params, body } => {
                let names = params.iter().flat_map(|param| pattern_names(&param.pattern.kind)).collect();
                Some((receiver.as_ref(), names, Asked::Expr(body)))
            }
            _ => None,
        }),
        _ => None,
    }
}

enum Asked<'f> {
    Block(&'f Block),
    Expr(&'f Expr),
}

/// Whether a call is made here on an item.
fn is_on_item(asked: Asked<'_>, names: &[&str], call: Span) -> bool {
    let mut found = false;
    let mut visit = |part: &Expr| {
        if part.span.end == call.end && part.span.start <= call.start {
            found |= names_any(part, names);
        }
    };
    match asked {
        Asked::Block(body) => each_expr(body, &mut visit),
        Asked::Expr(body) => each_part(body, &mut visit),
    }
    found
}

/// Only answers of one kind are left.
fn is_chosen(value: &Expr) -> bool {
    let mut chosen = false;
    each_part(value, &mut |part| {
        chosen |=
            matches!(&part.kind, ExprKind::MethodCall { method, .. } if CHOOSING.contains(&method.as_str()));
    });
    chosen
}

pub(super) fn pattern_names(pattern: &PatternKind) -> Vec<&str> {
    match pattern {
        PatternKind::Name { name, .. } => vec![name],
        PatternKind::Tuple(parts) => parts.iter().flat_map(|part| pattern_names(&part.kind)).collect(),
        _ => Vec::new(),
    }
}

fn names_any(expr: &Expr, names: &[&str]) -> bool {
    let mut found = false;
    each_part(expr, &mut |part| {
        if let ExprKind::Path(path) = &part.kind
            && let [name] = path.as_slice()
        {
            found |= names.contains(&name.as_str());
        }
    });
    found
}

/// `self.nodes`, `nodes.iter()`, `&mut self.nodes`.
pub(super) fn collection(mut iterable: &Expr) -> Option<&str> {
    for _ in 0..LONGEST {
        match &iterable.kind {
            ExprKind::Borrow(inner) => iterable = inner,
            ExprKind::MethodCall { receiver, method, .. }
                if matches!(
                    method.as_str(),
                    "iter" | "iter_mut" | "into_iter" | "enumerate" | "clone" | "cloned" | "par_iter"
                ) =>
            {
                iterable = receiver;
            }
            ExprKind::Call { args, callee } => match (&callee.kind, args.as_slice()) {
                (ExprKind::Path(path), [only]) if path.last().is_some_and(|name| name == "iter") => {
                    iterable = only;
                }
                _ => return None,
            },
            ExprKind::Field { name, .. } => return Some(name),
            ExprKind::Path(path) => return path.last().map(String::as_str),
            _ => return None,
        }
    }
    None
}

/// The variable that a chain of calls begins with.
fn root(mut expr: &Expr) -> Option<&str> {
    for _ in 0..LONGEST {
        match &expr.kind {
            ExprKind::Borrow(inner) | ExprKind::MethodCall { receiver: inner, .. } => expr = inner,
            ExprKind::Path(path) => return path.first().map(String::as_str),
            _ => return None,
        }
    }
    None
}

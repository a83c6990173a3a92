//! Locks on several independent nodes: a loop that takes one key on each of them, counts, and compares the
//! count with a quorum. How many nodes the quorum asks for is worked out for small numbers of nodes.

use std::collections::BTreeMap;

use crate::facts::rust::{BinaryOperator, Block, Expr, ExprKind, Function, PatternKind, Statement};
use crate::facts::walk::{each_block, each_expr, each_part};
use crate::facts::{Location, Span};
use crate::locks::{Action, Key, Quorum, Sequence};

use super::super::evaluate::Evaluator;

/// The numbers of nodes that a quorum is tried with.
const NODES: std::ops::RangeInclusive<i128> = 2..=9;

/// Expressions nested deeper than this are not worked out.
const DEEPEST: usize = 16;

/// Words for what is taken off a validity beside the time that the acquire took.
const DRIFT: &[&str] = &["drift", "margin", "skew", "slack", "tolerance", "safety"];

/// Words of calls that free a lock.
const FREEING: &[&str] = &["unlock", "release", "undo", "free", "rollback", "cleanup"];

/// Every acquire on several nodes, with what its function does about the count and the time.
pub fn quorums(evaluator: &Evaluator<'_>, keys: &[Key], sequences: &[Sequence]) -> Vec<Quorum> {
    let program = evaluator.program;
    let mut found: BTreeMap<Location, Quorum> = BTreeMap::new();
    for sequence in sequences {
        let Some(entry) = program.functions.get(sequence.number) else { continue };
        let file = program.units[entry.unit].file;
        let Some(body) = &entry.function.body else { continue };
        for acquire in sequence.operations.iter().filter(|operation| operation.action.is_acquire()) {
            let place = acquire.place();
            if !keys[acquire.key].is_lock() || acquire.is_test || place.file != file {
                continue;
            }
            let Some(round) = round(body, place.span) else { continue };
            let Some((compared, least)) = round.threshold(body) else { continue };
            let frees = sequence.operations.iter().any(|operation| {
                operation.key == acquire.key && matches!(operation.action, Action::Delete { .. })
            });
            let location = Location { file, span: compared };
            found.entry(location).or_insert(Quorum {
                location,
                acquired_at: place,
                lock: keys[acquire.key].name.clone(),
                too_few_of: NODES
                    .clone()
                    .find(|nodes| least.get(nodes).is_some_and(|least| *least <= nodes / 2)),
                leaves_minority: !frees && !mentions(entry.function, FREEING),
                asks_elapsed: mentions(entry.function, &["elapsed", "since"]),
                asks_drift: mentions(entry.function, DRIFT) || subtracts_twice(body),
            });
        }
    }
    found.into_values().collect()
}

/// A loop over nodes.
struct Round<'f> {
    /// The collection, by its last name.
    nodes: &'f str,
    body: &'f Block,
}

/// The innermost `for` around a call that is made on its item.
fn round(body: &Block, call: Span) -> Option<Round<'_>> {
    let mut found = None;
    each_expr(body, &mut |expr| {
        let ExprKind::For { pattern, iterable, body } = &expr.kind else { return };
        let mut is_on_item = false;
        each_expr(body, &mut |part| {
            if part.span.end == call.end && part.span.start <= call.start {
                is_on_item |= names_any(part, &pattern_names(&pattern.kind));
            }
        });
        if let (true, Some(nodes)) = (is_on_item, collection(iterable)) {
            found = Some(Round { nodes, body });
        }
    });
    found
}

fn pattern_names(pattern: &PatternKind) -> Vec<&str> {
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
fn collection(mut iterable: &Expr) -> Option<&str> {
    for _ in 0..DEEPEST {
        match &iterable.kind {
            ExprKind::Borrow(inner) => iterable = inner,
            ExprKind::MethodCall { receiver, method, .. }
                if matches!(method.as_str(), "iter" | "iter_mut" | "into_iter" | "enumerate" | "clone") =>
            {
                iterable = receiver;
            }
            ExprKind::Field { name, .. } => return Some(name),
            ExprKind::Path(path) => return path.last().map(String::as_str),
            _ => return None,
        }
    }
    None
}

impl Round<'_> {
    /// The comparison of the count, and the least count that it accepts for each number of nodes.
    fn threshold(&self, body: &Block) -> Option<(Span, BTreeMap<i128, i128>)> {
        let counters = self.counters();
        let mut found = None;
        each_expr(body, &mut |expr| {
            let ExprKind::Binary { operator, left, right } = &expr.kind else { return };
            let counts = |side: &Expr| matches!(&side.kind, ExprKind::Path(path) if path.last().is_some_and(|name| counters.contains(&name.as_str())));
            let (operator, other) = match (counts(left), counts(right)) {
                (true, false) => (*operator, right),
                (false, true) => (mirrored(*operator), left),
                _ => return,
            };
            // `n < q` refuses what `n >= q` accepts.
            let above = match operator {
                BinaryOperator::GreaterOrEqual | BinaryOperator::Less => 0,
                BinaryOperator::Greater | BinaryOperator::LessOrEqual => 1,
                _ => return,
            };
            let least: Option<BTreeMap<i128, i128>> = NODES
                .map(|nodes| {
                    let count = Count { nodes, collection: self.nodes, body };
                    Some((nodes, count.of(other, 0)?.checked_add(above)?))
                })
                .collect();
            if let (None, Some(least)) = (&found, least) {
                found = Some((expr.span, least));
            }
        });
        found
    }

    /// Variables that the loop counts up.
    fn counters(&self) -> Vec<&str> {
        let mut names = Vec::new();
        each_expr(self.body, &mut |expr| {
            if let ExprKind::Assign { operator: Some(BinaryOperator::Add), target, .. } = &expr.kind
                && let ExprKind::Path(path) = &target.kind
                && let [name] = path.as_slice()
            {
                names.push(name.as_str());
            }
        });
        names
    }
}

fn mirrored(operator: BinaryOperator) -> BinaryOperator {
    match operator {
        BinaryOperator::Less => BinaryOperator::Greater,
        BinaryOperator::LessOrEqual => BinaryOperator::GreaterOrEqual,
        BinaryOperator::Greater => BinaryOperator::Less,
        BinaryOperator::GreaterOrEqual => BinaryOperator::LessOrEqual,
        same => same,
    }
}

/// What an expression gives for a number of nodes.
struct Count<'f> {
    nodes: i128,
    collection: &'f str,
    body: &'f Block,
}

impl Count<'_> {
    fn of(&self, expr: &Expr, depth: usize) -> Option<i128> {
        if depth > DEEPEST {
            return None;
        }
        let next = |expr: &Expr| self.of(expr, depth + 1);
        match &expr.kind {
            ExprKind::Int(number) => Some(*number),
            ExprKind::Cast { value: inner, .. } | ExprKind::Borrow(inner) => next(inner),
            ExprKind::MethodCall { receiver, method, args, .. } => match (method.as_str(), args.as_slice()) {
                ("len", []) => (collection(receiver)? == self.collection).then_some(self.nodes),
                ("div_ceil", [by]) => {
                    let by = next(by).filter(|by| *by > 0)?;
                    next(receiver)?.checked_add(by - 1)?.checked_div(by)
                }
                _ => None,
            },
            ExprKind::Binary { operator, left, right } => {
                let (left, right) = (next(left)?, next(right)?);
                match operator {
                    BinaryOperator::Add => left.checked_add(right),
                    BinaryOperator::Subtract => left.checked_sub(right),
                    BinaryOperator::Multiply => left.checked_mul(right),
                    BinaryOperator::Divide => left.checked_div(right),
                    _ => None,
                }
            }
            ExprKind::Path(path) => match path.as_slice() {
                [name] => next(self.bound(name)?),
                _ => None,
            },
            _ => None,
        }
    }

    /// What the function binds a name to, where it does so once.
    fn bound(&self, wanted: &str) -> Option<&Expr> {
        let mut values = Vec::new();
        each_block(self.body, &mut |block| {
            for statement in &block.statements {
                if let Statement::Let { pattern, value: Some(value), .. } = statement
                    && matches!(&pattern.kind, PatternKind::Name { name, .. } if name == wanted)
                {
                    values.push(value);
                }
            }
        });
        match values.as_slice() {
            [only] => Some(only),
            _ => None,
        }
    }
}

/// Whether a name in a body has one of these words.
fn mentions(function: &Function, wanted: &[&str]) -> bool {
    let mut found = false;
    let has =
        |name: &str| name.split('_').any(|word| wanted.iter().any(|known| word.eq_ignore_ascii_case(known)));
    if let Some(body) = &function.body {
        each_expr(body, &mut |expr| match &expr.kind {
            ExprKind::Path(path) => found |= path.iter().any(|name| has(name)),
            ExprKind::MethodCall { method: name, .. } | ExprKind::Field { name, .. } => found |= has(name),
            _ => {}
        });
    }
    found
}

/// `ttl - elapsed - ttl / 100`.
fn subtracts_twice(body: &Block) -> bool {
    let takes = |expr: &Expr| match &expr.kind {
        ExprKind::Binary { operator, .. } => *operator == BinaryOperator::Subtract,
        ExprKind::MethodCall { method, .. } => method.ends_with("_sub"),
        _ => false,
    };
    let mut found = false;
    each_expr(body, &mut |expr| {
        let inner = match &expr.kind {
            ExprKind::Binary { left, .. } => left,
            ExprKind::MethodCall { receiver, .. } => receiver,
            _ => return,
        };
        if takes(expr) {
            each_part(inner, &mut |part| found |= takes(part));
        }
    });
    found
}

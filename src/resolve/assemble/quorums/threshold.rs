//! The comparison of a count of nodes with a quorum: what it makes of each count, tried with small numbers
//! of nodes. A quorum may be worked out in place, by a method or a function, or when the nodes were put together.

use std::collections::BTreeMap;

use crate::facts::Span;
use crate::facts::rust::{BinaryOperator, Block, Expr, ExprKind, PatternKind, Statement};
use crate::facts::walk::{each_block, each_expr, each_part};
use crate::resolve::program::Program;

use super::round::{Round, collection, pattern_names};

/// The numbers of nodes that a quorum is tried with.
const NODES: std::ops::RangeInclusive<i128> = 2..=9;

/// Expressions nested deeper than this are not worked out.
const DEEPEST: usize = 16;

/// A comparison that tells enough nodes from too few.
pub(super) struct Comparison {
    pub(super) span: Span,
    /// It holds where there are enough.
    pub(super) accepts: bool,
}

pub(super) struct Threshold {
    pub(super) compared: Comparison,
    /// The least count that is enough, for each number of nodes.
    pub(super) least: BTreeMap<i128, i128>,
}

/// The first comparison in a body that depends on the count of a round.
pub(super) fn threshold(
    program: &Program<'_>,
    function: usize,
    body: &Block,
    round: &Round<'_>,
) -> Option<Threshold> {
    let mut found = None;
    each_expr(body, &mut |expr| {
        let ExprKind::Binary { operator, left, right } = &expr.kind else { return };
        if found.is_some() || !is_order(*operator) {
            return;
        }
        let holds = |nodes: i128, count: i128| {
            let scope = Scope {
                program,
                function,
                body,
                nodes,
                collections: vec![round.nodes],
                counted: Some((round, count)),
                given: Vec::new(),
            };
            compare(*operator, scope.value(left, 0)?, scope.value(right, 0)?)
        };
        let Some(accepts) = holds(9, 9) else { return };
        let least: BTreeMap<i128, i128> = NODES
            .filter(|nodes| holds(*nodes, 0) == Some(!accepts) && holds(*nodes, *nodes) == Some(accepts))
            .filter_map(|nodes| Some((nodes, (0..=nodes).find(|n| holds(nodes, *n) == Some(accepts))?)))
            .collect();
        if !least.is_empty() {
            found = Some(Threshold { compared: Comparison { span: expr.span, accepts }, least });
        }
    });
    found
}

fn is_order(operator: BinaryOperator) -> bool {
    use BinaryOperator::{Greater, GreaterOrEqual, Less, LessOrEqual};
    matches!(operator, Less | LessOrEqual | Greater | GreaterOrEqual)
}

fn compare(operator: BinaryOperator, left: i128, right: i128) -> Option<bool> {
    Some(match operator {
        BinaryOperator::Less => left < right,
        BinaryOperator::LessOrEqual => left <= right,
        BinaryOperator::Greater => left > right,
        BinaryOperator::GreaterOrEqual => left >= right,
        _ => return None,
    })
}

/// Where an expression stands, and what is taken as given there.
struct Scope<'s, 'a> {
    program: &'s Program<'a>,
    function: usize,
    body: &'s Block,
    nodes: i128,
    /// Names that the nodes are kept under.
    collections: Vec<&'s str>,
    /// The round whose count is tried with this number.
    counted: Option<(&'s Round<'s>, i128)>,
    /// Parameters with known numbers.
    given: Vec<(&'s str, i128)>,
}

impl<'s> Scope<'s, '_> {
    /// What an expression gives.
    fn value(&self, expr: &'s Expr, depth: usize) -> Option<i128> {
        if depth > DEEPEST {
            return None;
        }
        if let Some((round, count)) = self.counted
            && round.counts(expr)
        {
            return Some(count);
        }
        let next = |expr: &'s Expr| self.value(expr, depth + 1);
        match &expr.kind {
            ExprKind::Int(number) => Some(*number),
            ExprKind::Cast { value: inner, .. } | ExprKind::Borrow(inner) => next(inner),
            ExprKind::MethodCall { receiver, method, args, .. } => match (method.as_str(), args.as_slice()) {
                ("len" | "count", []) => {
                    self.collections.contains(&collection(receiver)?).then_some(self.nodes)
                }
                ("div_ceil", [by]) => {
                    let by = next(by).filter(|by| *by > 0)?;
                    next(receiver)?.checked_add(by - 1)?.checked_div(by)
                }
                (_, args) if is_self(receiver) => self.called(method, args, depth),
                _ => None,
            },
            ExprKind::Call { callee, args } => match &callee.kind {
                ExprKind::Path(path) => self.called(path.last()?, args, depth),
                _ => None,
            },
            ExprKind::Binary { operator, left, right } => arithmetic(*operator, next(left)?, next(right)?),
            ExprKind::Path(path) => match path.as_slice() {
                [name] => self.named(name, depth),
                _ => None,
            },
            ExprKind::Field { base, name } if is_self(base) => self.kept(name, depth),
            _ => None,
        }
    }

    fn named(&self, name: &str, depth: usize) -> Option<i128> {
        let given = self.given.iter().find(|(known, _)| *known == name).map(|(_, number)| *number);
        given.or_else(|| self.value(bound(self.body, name)?, depth + 1))
    }

    /// What a function gives that is one expression, such as `fn quorum(&self) -> usize`.
    fn called(&self, name: &str, args: &'s [Expr], depth: usize) -> Option<i128> {
        let here = &self.program.functions[self.function];
        let entries = self.program.functions.iter().enumerate();
        let mut named = entries.filter(|(_, entry)| entry.unit == here.unit && entry.function.name == name);
        let (number, entry) = named.next().filter(|_| named.next().is_none())?;
        let body = entry.function.body.as_ref()?;
        let names = entry.function.params.iter().flat_map(|param| pattern_names(&param.pattern.kind));
        let numbers = args.iter().map(|arg| self.value(arg, depth + 1));
        let names = names.filter(|name| *name != "self");
        let given = names.zip(numbers).filter_map(|(name, number)| Some((name, number?))).collect();
        let scope = Scope {
            program: self.program,
            function: number,
            body,
            nodes: self.nodes,
            collections: self.collections.clone(),
            counted: None,
            given,
        };
        scope.value(tail(body)?, depth + 1)
    }

    /// What the constructor puts into a field beside the nodes.
    fn kept(&self, field: &str, depth: usize) -> Option<i128> {
        let here = &self.program.functions[self.function];
        let owner = here.function.owner.as_deref()?;
        let entries = self.program.functions.iter().enumerate();
        let siblings = entries
            .filter(|(_, entry)| entry.unit == here.unit && entry.function.owner.as_deref() == Some(owner));
        siblings.filter_map(|(number, entry)| Some((number, entry.function.body.as_ref()?))).find_map(
            |(function, body)| {
                let fields = made(body, owner, field)?;
                let value = |name: &str| fields.iter().find(|(known, _)| known == name).map(|(_, v)| v);
                let nodes = self.collections.iter().filter_map(|name| value(name));
                let made_of = nodes.flat_map(|nodes| names_behind(body, nodes));
                let scope = Scope {
                    program: self.program,
                    function,
                    body,
                    nodes: self.nodes,
                    collections: made_of.chain(self.collections.iter().copied()).collect(),
                    counted: None,
                    given: Vec::new(),
                };
                scope.value(value(field)?, depth + 1)
            },
        )
    }
}

fn arithmetic(operator: BinaryOperator, left: i128, right: i128) -> Option<i128> {
    match operator {
        BinaryOperator::Add => left.checked_add(right),
        BinaryOperator::Subtract => left.checked_sub(right),
        BinaryOperator::Multiply => left.checked_mul(right),
        BinaryOperator::Divide => left.checked_div(right),
        _ => None,
    }
}

fn is_self(expr: &Expr) -> bool {
    matches!(&expr.kind, ExprKind::Path(path) if matches!(path.as_slice(), [name] if name == "self"))
}

/// What the function binds a name to, where it does so once.
fn bound<'f>(body: &'f Block, wanted: &str) -> Option<&'f Expr> {
    let mut values = Vec::new();
    each_block(body, &mut |block| {
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

/// The value of a body.
fn tail(body: &Block) -> Option<&Expr> {
    match body.statements.last()? {
        Statement::Expr { expr, tail: true } => Some(expr),
        _ => None,
    }
}

/// The fields of a new value of a type, where this one is among them.
fn made<'f>(body: &'f Block, ty: &str, field: &str) -> Option<&'f [(String, Expr)]> {
    let mut found = None;
    each_expr(body, &mut |expr| {
        if let ExprKind::Struct { path, fields, .. } = &expr.kind
            && path.last().is_some_and(|name| name == ty || name == "Self")
            && fields.iter().any(|(name, _)| name == field)
        {
            found = Some(fields.as_slice());
        }
    });
    found
}

/// The variables that a value is made of, and those that these are made of.
fn names_behind<'f>(body: &'f Block, value: &'f Expr) -> Vec<&'f str> {
    let mut names = Vec::new();
    let mut note = |value: &'f Expr| {
        each_part(value, &mut |part| {
            if let ExprKind::Path(path) = &part.kind
                && let [name] = path.as_slice()
            {
                names.push(name.as_str());
            }
        });
    };
    note(value);
    if let ExprKind::Path(path) = &value.kind
        && let [name] = path.as_slice()
        && let Some(behind) = bound(body, name)
    {
        note(behind);
    }
    names
}

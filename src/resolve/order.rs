//! The order of evaluation: callees before callers, by the names that bodies mention. Iterative, so that a
//! chain of ten thousand functions costs no stack.

use crate::facts::rust::ExprKind;
use crate::facts::walk::each_expr;

use super::models::Models;
use super::program::{FunctionEntry, Program};

/// More namesakes than this say nothing about who is called.
const MAX_NAMESAKES: usize = 12;

/// How many calls below a function of interest its helpers are followed.
const HELPER_DEPTH: usize = 6;

/// The functions that have to do with stores, each behind the functions it may call, as far as that has
/// no cycles.
pub fn callees_first(program: &Program<'_>, models: &Models) -> Vec<usize> {
    let bodies: Vec<Mentions> =
        (0..program.functions.len()).map(|f| Mentions::of(program, models, f)).collect();
    let wanted = of_interest(program, &bodies);
    let mut order = Vec::new();
    let mut seen: Vec<bool> = wanted.iter().map(|wanted| !wanted).collect();
    for start in 0..bodies.len() {
        if seen[start] {
            continue;
        }
        seen[start] = true;
        let mut stack = vec![(start, 0)];
        while let Some((function, next)) = stack.pop() {
            match bodies[function].callees.get(next) {
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

/// What a body mentions.
#[derive(Default)]
struct Mentions {
    callees: Vec<usize>,
    /// Something that may be an operation on a store, or a reading of a clock.
    operation: bool,
}

/// Functions that may act on a store, the other functions of their files (constructors, deadlines), all
/// their callers, and the helpers of all these.
fn of_interest(program: &Program<'_>, bodies: &[Mentions]) -> Vec<bool> {
    let mut wanted = vec![false; bodies.len()];
    let mut units = vec![false; program.units.len()];
    for (function, mentions) in bodies.iter().enumerate() {
        units[program.functions[function].unit] |= mentions.operation;
    }
    let mut callers: Vec<Vec<usize>> = vec![Vec::new(); bodies.len()];
    let mut waiting = Vec::new();
    for (function, mentions) in bodies.iter().enumerate() {
        mentions.callees.iter().for_each(|&callee| callers[callee].push(function));
        wanted[function] = units[program.functions[function].unit];
        if mentions.operation {
            waiting.push(function);
        }
    }
    let mut climbed = vec![false; bodies.len()];
    while let Some(function) = waiting.pop() {
        if std::mem::replace(&mut climbed[function], true) {
            continue;
        }
        wanted[function] = true;
        waiting.extend(callers[function].iter().copied().filter(|&caller| !climbed[caller]));
    }
    let mut level: Vec<usize> = (0..bodies.len()).filter(|&function| wanted[function]).collect();
    for _ in 0..HELPER_DEPTH {
        let callees = level.iter().flat_map(|&function| bodies[function].callees.iter().copied());
        let fresh: Vec<usize> =
            callees.filter(|&callee| !std::mem::replace(&mut wanted[callee], true)).collect();
        level = fresh;
    }
    wanted
}

impl Mentions {
    fn of(program: &Program<'_>, models: &Models, function: usize) -> Self {
        let FunctionEntry { unit, function } = program.functions[function];
        let Some(body) = &function.body else { return Self::default() };
        let imports_client =
            program.units[unit].facts.uses.iter().any(|import| models.is_client_path(&import.path));
        let mut names: Vec<&str> = Vec::new();
        let mut operation = false;
        each_expr(body, &mut |expr| match &expr.kind {
            ExprKind::Path(path) => {
                names.extend(path.last().map(String::as_str));
                operation |= models.may_start_operation(path);
            }
            ExprKind::MethodCall { method, args, .. } => {
                names.push(method.as_str());
                operation |= models.may_be_operation(method, args.len(), imports_client);
            }
            ExprKind::Macro(call) => {
                operation |= call.path.last().is_some_and(|name| models.query(name).is_some())
            }
            _ => {}
        });
        names.sort_unstable();
        names.dedup();
        let mut callees: Vec<usize> = names
            .into_iter()
            .map(|name| program.named(unit, name).take(MAX_NAMESAKES + 1).collect::<Vec<_>>())
            .filter(|namesakes| namesakes.len() <= MAX_NAMESAKES)
            .flatten()
            .collect();
        callees.sort_unstable();
        Self { callees, operation }
    }
}

//! How the commands of an inventory are written: finds the call of an operation in its function's body, and
//! says where its parts stand. Only calls of the `redis` crate are known; everything else has no parts.

use crate::facts::rust::{Block, Expr, ExprKind, Function, PatternKind, Statement, Type, Use};
use crate::facts::walk::{each_block, each_expr};
use crate::facts::{FileId, Location, Span};
use crate::locks::written::{CommandWords, Connection, Word, WrittenCommand, WrittenLifetime};

use super::super::bindings::{Bindings, Origin};
use super::super::evaluate::Evaluator;
use super::super::trace;
use super::written_owner::owner;

/// Methods that send a command and give its reply.
const SENDING: &[&str] = &["query", "query_async"];

/// Methods of connections, with the position of the lifetime among their arguments.
const METHODS: &[(&str, usize, Option<usize>)] = &[
    ("set_nx", 2, None),
    ("del", 1, None),
    ("unlink", 1, None),
    ("expire", 2, Some(1)),
    ("pexpire", 2, Some(1)),
    ("set_ex", 3, Some(2)),
    ("pset_ex", 3, Some(2)),
];

/// The call of an operation that the function makes itself.
pub fn written(evaluator: &Evaluator<'_>, operation: &trace::Operation) -> Option<WrittenCommand> {
    let is_own = operation.via.is_empty() && operation.pipeline.is_none();
    let entry = evaluator.program.functions.get(operation.function)?;
    let unit = evaluator.program.units.get(entry.unit)?;
    if !is_own || unit.file != operation.location.file {
        return None;
    }
    let body = entry.function.body.as_ref()?;
    let view = View { function: entry.function, body, uses: &unit.facts.uses, file: unit.file };
    view.command(operation.location.span)
}

struct View<'f> {
    function: &'f Function,
    body: &'f Block,
    uses: &'f [Use],
    file: FileId,
}

impl<'f> View<'f> {
    fn command(&self, span: Span) -> Option<WrittenCommand> {
        let call = self.call(span)?;
        let bindings = Bindings::of(self.function);
        let ExprKind::MethodCall { receiver, method, method_span, turbofish, args } = &call.kind else {
            return None;
        };
        if !turbofish.is_empty() {
            return None;
        }
        let is_awaited = self.is_awaited(call);
        let (library, words, connection, lifetime) = if SENDING.contains(&method.as_str()) {
            let [connection] = args.as_slice() else { return None };
            let (words, path) = list(receiver)?;
            let library = if path.is_empty() { self.library()? } else { path.join("::") };
            let lifetime = lifetime_word(&words);
            let words = words.iter().map(|word| Word { place: self.at(word.span), text: text_of(word) });
            let connection = Connection { place: self.at(connection.span), is_owned: false };
            (library, CommandWords::List(words.collect()), connection, lifetime)
        } else {
            let known = METHODS.iter().find(|(name, count, _)| name == method && *count == args.len())?;
            // Blocking and other connections need other code, and those with typed replies another type.
            let by_trait = if is_awaited { "AsyncCommands" } else { "Commands" };
            if !self.uses.iter().any(|import| import.path.last().is_some_and(|last| last == by_trait)) {
                return None;
            }
            let connection = self.connection(receiver, &bindings)?;
            let name_place = self.at(*method_span);
            let places = args.iter().map(|arg| self.at(arg.span)).collect();
            let words = CommandWords::Method { name: method.clone(), name_place, args: places };
            (self.library()?, words, connection, known.2.and_then(|at| args.get(at)))
        };
        Some(WrittenCommand {
            call: self.at(call.span),
            is_passed_on: self.is_passed_on(&library),
            library,
            is_awaited,
            words,
            connection,
            is_bool: self.is_bool(call),
            statement: self.statement(call).map(|span| self.at(span)),
            lifetime: lifetime.map(|value| self.lifetime(value, &bindings, call.span.start)),
            owner: owner(self.body, &bindings, call.span, self.file),
        })
    }

    fn at(&self, span: Span) -> Location {
        Location { file: self.file, span }
    }

    /// The method call that ends where the operation's place ends.
    fn call(&self, span: Span) -> Option<&'f Expr> {
        let mut found: Option<&'f Expr> = None;
        each_expr(self.body, &mut |expr| {
            let is_call = matches!(expr.kind, ExprKind::MethodCall { .. })
                && expr.span.end == span.end
                && expr.span.start <= span.start;
            if is_call {
                found = Some(expr);
            }
        });
        found
    }

    /// The path under which the file knows the crate.
    fn library(&self) -> Option<String> {
        let other = |import: &Use| import.path.first().is_some_and(|first| first == "fred" || first == "bb8");
        if self.uses.iter().any(other) {
            return None;
        }
        let own = self.uses.iter().find(|import| import.name == "redis").map(|_| "redis".to_owned());
        let path = |import: &Use| {
            let at = import.path.iter().position(|segment| segment == "redis")?;
            Some(import.path.get(..=at)?.join("::"))
        };
        own.or_else(|| self.uses.iter().find_map(path))
    }

    fn is_passed_on(&self, library: &str) -> bool {
        let inside = |import: &Use| import.path.iter().skip(1).any(|segment| segment == "redis");
        library != "redis" || self.uses.iter().any(inside)
    }

    /// How a receiver becomes an argument.
    fn connection(&self, receiver: &Expr, bindings: &Bindings<'f>) -> Option<Connection> {
        let is_owned = match &receiver.kind {
            ExprKind::Path(path) => {
                let [name] = path.as_slice() else { return None };
                match bindings.find(name)?.origin {
                    Origin::Param { by_reference } => !by_reference,
                    Origin::Value(value) => !matches!(value.kind, ExprKind::Borrow(_)),
                    Origin::Other => return None,
                }
            }
            ExprKind::Field { .. } | ExprKind::MethodCall { .. } | ExprKind::Try(_) => true,
            _ => return None,
        };
        Some(Connection { place: self.at(receiver.span), is_owned })
    }

    fn is_awaited(&self, call: &Expr) -> bool {
        let mut found = false;
        each_expr(self.body, &mut |expr| {
            found |= matches!(&expr.kind, ExprKind::Await(inner) if inner.span == call.span);
        });
        found
    }

    /// Whether the reply goes into a variable that is declared as a `bool`, or decides an `if` by itself.
    fn is_bool(&self, call: &Expr) -> bool {
        let mut found = false;
        each_block(self.body, &mut |block| {
            found |= block.statements.iter().any(|statement| {
                matches!(statement, Statement::Let { ty: Some(ty), value: Some(value), .. }
                    if is_bool(ty) && core(value).span == call.span)
            });
        });
        each_expr(self.body, &mut |expr| {
            if let ExprKind::If { condition, .. } = &expr.kind {
                let asked = if let ExprKind::Not(inner) = &condition.kind { inner } else { condition };
                found |= core(asked).span == call.span;
            }
        });
        found
    }

    /// The statement of a call whose value nobody uses, or the `if` that holds that statement alone.
    fn statement(&self, call: &Expr) -> Option<Span> {
        let mut found = None;
        each_block(self.body, &mut |block| {
            for statement in &block.statements {
                let span = match statement {
                    Statement::Let { pattern, value: Some(value), otherwise: None, span, .. } => {
                        let is_unused = match &pattern.kind {
                            PatternKind::Wildcard => true,
                            PatternKind::Name { name, inner: None } => name.starts_with('_'),
                            _ => false,
                        };
                        (is_unused && core(value).span == call.span).then_some(*span)
                    }
                    Statement::Expr { expr, tail: false } if core(expr).span == call.span => Some(expr.span),
                    _ => None,
                };
                found = found.or(span.map(|span| (span, block.statements.len() == 1)));
            }
        });
        let (span, is_alone) = found?;
        Some(if is_alone { self.lone_condition(span).unwrap_or(span) } else { span })
    }

    /// The `if` around a statement that has nothing else in it, and a condition that only looks.
    fn lone_condition(&self, statement: Span) -> Option<Span> {
        let mut found = None;
        each_block(self.body, &mut |block| {
            for outer in &block.statements {
                let Statement::Expr { expr, .. } = outer else { continue };
                if let ExprKind::If { condition, then, otherwise: None } = &expr.kind
                    && only_looks(condition)
                    && then.span.start < statement.start
                    && statement.end < then.span.end
                    && then.statements.len() == 1
                {
                    found = Some(expr.span);
                }
            }
        });
        found
    }

    fn lifetime(&self, value: &Expr, bindings: &Bindings<'f>, at: u32) -> WrittenLifetime {
        let (inner, is_converted) = match &value.kind {
            ExprKind::Cast { value, .. } => (&**value, true),
            _ => (value, false),
        };
        let seconds_method = match &inner.kind {
            ExprKind::MethodCall { method, method_span, args, .. }
                if method == "as_secs" && args.is_empty() =>
            {
                Some(self.at(*method_span))
            }
            _ => None,
        };
        // A value without a type of its own would get another one elsewhere.
        let known_from =
            bindings.known_from(inner, at).filter(|_| !matches!(inner.kind, ExprKind::MethodCall { .. }));
        WrittenLifetime { place: self.at(value.span), known_from, seconds_method, is_converted }
    }
}

/// The words of a command that is put together by calls, and the path in front of `cmd`.
fn list(built: &Expr) -> Option<(Vec<&Expr>, &[String])> {
    let mut words = Vec::new();
    let mut at = built;
    loop {
        match &at.kind {
            ExprKind::MethodCall { receiver, method, args, .. } if method == "arg" => {
                words.push(args.first().filter(|_| args.len() == 1)?);
                at = receiver;
            }
            ExprKind::Call { callee, args } => {
                let ExprKind::Path(path) = &callee.kind else { return None };
                let (last, before) = path.split_last()?;
                words.push(args.first().filter(|_| args.len() == 1 && last == "cmd")?);
                words.reverse();
                return Some((words, before));
            }
            _ => return None,
        }
    }
}

/// The word behind EX or PX, or the last one of a command that takes nothing but a lifetime.
fn lifetime_word<'f>(words: &[&'f Expr]) -> Option<&'f Expr> {
    let is = |word: &Expr, name: &str| text_of(word).is_some_and(|text| text.eq_ignore_ascii_case(name));
    let name = words.first()?;
    if is(name, "EXPIRE") || is(name, "PEXPIRE") {
        return words.get(2).copied();
    }
    let unit = words.iter().skip(3).position(|word| is(word, "EX") || is(word, "PX"))?;
    words.get(unit + 4).copied()
}

fn text_of(word: &Expr) -> Option<String> {
    match &word.kind {
        ExprKind::Text(literal) => Some(literal.value.clone()),
        _ => None,
    }
}

fn is_bool(ty: &Type) -> bool {
    ty.name() == "bool"
}

/// Without `?` and `.await`.
fn core(mut expr: &Expr) -> &Expr {
    while let ExprKind::Try(inner) | ExprKind::Await(inner) = &expr.kind {
        expr = inner;
    }
    expr
}

fn only_looks(condition: &Expr) -> bool {
    let is_plain =
        |expr: &Expr| matches!(expr.kind, ExprKind::Path(_) | ExprKind::Int(_) | ExprKind::Bool(_));
    match &condition.kind {
        ExprKind::Not(inner) => is_plain(inner),
        ExprKind::Binary { left, right, .. } => is_plain(left) && is_plain(right),
        _ => is_plain(condition),
    }
}

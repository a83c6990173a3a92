//! Evaluates expressions: names, indices, comparisons and calls, the store's commands among them.

use std::rc::Rc;

use super::command;
use super::compare::{equal, ordered};
use super::tree::{Expr, ExprKind, Operator};
use super::value::{Builtin, Condition, Fact, TableKey, Value, identifies, joined};
use super::walk::Walker;
use crate::facts::Span;
use crate::facts::lua::{Operand, OwnerGuard};

impl Walker<'_> {
    /// The values of a list of expressions, the last of which may give several; at least `wanted`.
    pub(super) fn values(&mut self, exprs: &[Expr], wanted: usize) -> Vec<Value> {
        let mut out = Vec::new();
        for (at, expr) in exprs.iter().enumerate() {
            match self.eval(expr) {
                Value::Several(all) if at + 1 == exprs.len() => out.extend(all),
                value => out.push(value.first()),
            }
        }
        let missing = match exprs.last().map(|e| &e.kind) {
            // A call may give more values than the text shows.
            Some(ExprKind::Call { .. } | ExprKind::Method { .. } | ExprKind::Unknown) => Value::UNKNOWN,
            _ => Value::Nil,
        };
        while out.len() < wanted {
            out.push(missing.clone());
        }
        out
    }

    pub(super) fn eval(&mut self, expr: &Expr) -> Value {
        if !self.spend(1) {
            return Value::UNKNOWN;
        }
        match &expr.kind {
            ExprKind::Nil => Value::Nil,
            ExprKind::Boolean(value) => Value::Boolean(Condition::constant(*value)),
            ExprKind::Number(n) => Value::Operand(Operand::Number(*n)),
            ExprKind::Text(text) => Value::Operand(Operand::Text(text.clone())),
            ExprKind::Name(name) => self.lookup(name).unwrap_or_else(|| global(name)),
            ExprKind::Index { base, index } => {
                let base = self.eval(base).first();
                let key = self.eval(index).first();
                self.indexed(&base, &key, index.span)
            }
            ExprKind::Call { callee, args } => {
                let callee = self.eval(callee).first();
                let args = self.values(args, 0);
                self.called(&callee, args, expr.span)
            }
            ExprKind::Method { receiver, name, args } => {
                let receiver = self.eval(receiver).first();
                let mut all = vec![receiver.clone()];
                all.extend(self.values(args, 0));
                let callee = match &receiver {
                    Value::Table(_) => self.indexed(&receiver, &text(name), expr.span),
                    _ => member("string", name),
                };
                self.called(&callee, all, expr.span)
            }
            ExprKind::Binary { operator, left, right } => self.binary(*operator, left, right, expr.span),
            ExprKind::Not(inner) => Value::Boolean(self.eval(inner).truth().negated()),
            ExprKind::Derived(inner) => {
                self.eval(inner);
                Value::UNKNOWN
            }
            ExprKind::Function(function) => self.closure(function),
            ExprKind::Table(fields) => self.table(fields),
            ExprKind::Unknown => Value::UNKNOWN,
        }
    }

    fn binary(&mut self, operator: Operator, left: &Expr, right: &Expr, span: Span) -> Value {
        let first = self.eval(left).first();
        match operator {
            Operator::And | Operator::Or => return self.chained(operator, first, right),
            _ => {}
        }
        let second = self.eval(right).first();
        match operator {
            Operator::Equal => Value::Boolean(equal(&first, &second, span)),
            Operator::NotEqual => Value::Boolean(equal(&first, &second, span).negated()),
            Operator::Concat => Value::Operand(joined([first.operand(), second.operand()])),
            Operator::Arithmetic => Value::UNKNOWN,
            _ => Value::Boolean(ordered(operator, &first, &second)),
        }
    }

    /// `a and b`, `a or b`: the second runs only where the first was true or was false.
    fn chained(&mut self, operator: Operator, first: Value, right: &Expr) -> Value {
        let test = first.truth();
        let is_test = |value: &Value| matches!(value, Value::Boolean(_) | Value::Reply(_) | Value::Choice(_));
        if operator == Operator::And {
            let second = self.eval_where(&test.yes, right).first();
            if is_test(&first) || is_test(&second) {
                if let (Value::Reply(_), Value::Operand(_)) = (&first, &second) {
                    return Value::choice(vec![(test.yes, second), (test.no, Value::Nil)]);
                }
                return Value::Boolean(test.and(&second.truth()));
            }
            return Value::choice(vec![(test.yes, second), (test.no, first)]);
        }
        let second = self.eval_where(&test.no, right).first();
        match (&first, &second) {
            // `redis.call('GET', key) or ''`: still the stored value.
            (Value::Reply(_), Value::Operand(_)) => first,
            _ if is_test(&first) => Value::Boolean(test.or(&second.truth())),
            _ => Value::choice(vec![(test.yes, first), (test.no, second)]),
        }
    }

    fn indexed(&mut self, base: &Value, key: &Value, written: Span) -> Value {
        match (base, key) {
            (Value::Keys, Value::Operand(Operand::Number(n))) => numbered(Operand::Key, *n),
            (Value::Args, Value::Operand(Operand::Number(n))) => numbered(Operand::Arg, *n),
            (Value::Keys, _) => self.element("KEYS", key, written),
            (Value::Args, _) => self.element("ARGV", key, written),
            (Value::Module(module), Value::Operand(Operand::Text(name))) => member(module, name),
            // A field of a decoded value, or an element of a reply of several values.
            (Value::Reply(reply), _) => {
                let mut part = reply.clone();
                part.name = None;
                Value::Reply(part)
            }
            (Value::Operand(operand @ Operand::Arg(_)), _) => Value::Operand(operand.clone()),
            (Value::Table(fields), Value::Operand(key)) => {
                let found = fields.iter().rev().find(|(k, _)| match (k, key) {
                    (TableKey::Number(a), Operand::Number(b)) => a == b,
                    (TableKey::Text(a), Operand::Text(b)) => a == b,
                    _ => false,
                });
                found.map_or(Value::UNKNOWN, |(_, value)| value.clone())
            }
            _ => Value::UNKNOWN,
        }
    }

    /// An element of `KEYS` or `ARGV` whose number the text does not show.
    fn element(&self, table: &str, key: &Value, written: Span) -> Value {
        let index = match key.operand() {
            Operand::Local(name) => name,
            _ => self.text.get(written.start as usize..written.end as usize).unwrap_or("?").to_owned(),
        };
        Value::Operand(Operand::Local(format!("{table}[{index}]")))
    }

    fn table(&mut self, fields: &[(Option<Expr>, Expr)]) -> Value {
        let mut out = Vec::new();
        let mut position = 0;
        for (key, value) in fields {
            let key = match key {
                None => {
                    position += 1;
                    Some(TableKey::Number(position))
                }
                Some(key) => match self.eval(key) {
                    Value::Operand(Operand::Number(n)) => Some(TableKey::Number(n)),
                    Value::Operand(Operand::Text(text)) => Some(TableKey::Text(text)),
                    _ => None,
                },
            };
            let value = self.eval(value).first();
            out.extend(key.map(|key| (key, value)));
        }
        Value::Table(Rc::new(out))
    }

    fn called(&mut self, callee: &Value, mut args: Vec<Value>, span: Span) -> Value {
        match callee {
            Value::Function(closure) => self.call(closure, args),
            Value::Builtin(Builtin::Send) => self.sent(&args, span),
            Value::Builtin(Builtin::ProtectedCall) if !args.is_empty() => {
                let inner = args.remove(0);
                let before = self.facts.clone();
                let result = self.called(&inner, args, span);
                // The call may have failed half way, so that nothing is proved by its return.
                self.facts = before;
                Value::Several(vec![Value::UNKNOWN, result.first()])
            }
            Value::Builtin(builtin) => self.builtin(*builtin, args, span),
            _ => Value::UNKNOWN,
        }
    }

    fn builtin(&mut self, builtin: Builtin, args: Vec<Value>, span: Span) -> Value {
        let first = args.first().cloned().unwrap_or(Value::Nil);
        match builtin {
            Builtin::Same | Builtin::Each => first,
            Builtin::Made => Value::Operand(joined(args.iter().map(Value::operand))),
            Builtin::Find => found(&first, args.get(1), span),
            Builtin::Error => {
                self.facts = super::value::Facts::Never;
                Value::Nil
            }
            Builtin::Assert => {
                self.assume(&first.truth());
                first
            }
            Builtin::Unpack => match first {
                Value::Keys => Value::Operand(Operand::Local("KEYS[*]".to_owned())),
                Value::Args => Value::Operand(Operand::Local("ARGV[*]".to_owned())),
                Value::Table(fields) => Value::Several(fields.iter().map(|(_, v)| v.clone()).collect()),
                reply @ Value::Reply(_) => Value::Several(vec![reply.clone(), reply]),
                _ => Value::UNKNOWN,
            },
            Builtin::Register => {
                self.register(&args);
                Value::Nil
            }
            Builtin::Send | Builtin::ProtectedCall => Value::UNKNOWN,
        }
    }

    fn sent(&mut self, args: &[Value], span: Span) -> Value {
        let operands: Vec<Operand> = args.iter().map(Value::operand).collect();
        let mut reply = Value::UNKNOWN;
        for command in command::commands(&operands, &self.facts, span) {
            if !self.spend(1 + self.commands.len() / 8) {
                break;
            }
            reply = command::run(&command, &mut self.facts);
            self.commands.push(command);
        }
        reply
    }

    fn register(&mut self, args: &[Value]) {
        let (name, callback) = match args {
            [Value::Operand(Operand::Text(name)), Value::Function(f), ..] => {
                (Some(name.clone()), Some(f.clone()))
            }
            [table @ Value::Table(_), ..] => {
                let name = match self.indexed(table, &text("function_name"), Span::default()) {
                    Value::Operand(Operand::Text(name)) => Some(name),
                    _ => None,
                };
                match self.indexed(table, &text("callback"), Span::default()) {
                    Value::Function(f) => (name, Some(f)),
                    _ => (name, None),
                }
            }
            _ => (None, None),
        };
        if let (Some(name), Some(callback)) = (name, callback) {
            self.registered.push((name, callback));
        }
    }
}

fn text(value: &str) -> Value {
    Value::Operand(Operand::Text(value.to_owned()))
}

fn numbered(operand: impl Fn(u32) -> Operand, n: i64) -> Value {
    Value::Operand(u32::try_from(n).map_or(Operand::Unknown, operand))
}

/// `string.find(stored, owner)`: the owner stands in the stored value.
fn found(value: &Value, what: Option<&Value>, span: Span) -> Value {
    let (Value::Reply(reply), Some(what)) = (value, what) else {
        return Value::UNKNOWN;
    };
    let (Some(key), against) = (&reply.stored, what.operand()) else {
        return Value::UNKNOWN;
    };
    if !identifies(&against) {
        return Value::UNKNOWN;
    }
    let mine = Fact::Mine(OwnerGuard { key: key.clone(), against, span });
    let mut place = reply.clone();
    place.present = vec![mine];
    place.absent = Vec::new();
    place.stored = None;
    place.name = None;
    Value::Reply(place)
}

fn global(name: &str) -> Value {
    match name {
        "KEYS" => Value::Keys,
        "ARGV" => Value::Args,
        "redis" | "server" => Value::Module("redis"),
        "cjson" => Value::Module("cjson"),
        "cmsgpack" => Value::Module("cmsgpack"),
        "string" => Value::Module("string"),
        "table" => Value::Module("table"),
        "tostring" | "tonumber" => Value::Builtin(Builtin::Same),
        "pcall" | "xpcall" => Value::Builtin(Builtin::ProtectedCall),
        "error" => Value::Builtin(Builtin::Error),
        "assert" => Value::Builtin(Builtin::Assert),
        "unpack" => Value::Builtin(Builtin::Unpack),
        "ipairs" | "pairs" => Value::Builtin(Builtin::Each),
        _ => Value::UNKNOWN,
    }
}

fn member(module: &str, name: &str) -> Value {
    let builtin = match (module, name) {
        ("redis", "call" | "pcall") => Builtin::Send,
        ("redis", "register_function") => Builtin::Register,
        ("redis", "sha1hex") | ("string", "format") | ("table", "concat") => Builtin::Made,
        ("cjson", "decode" | "encode") | ("cmsgpack", "pack" | "unpack") => Builtin::Same,
        ("string", "find") => Builtin::Find,
        ("string", "match" | "sub" | "lower" | "upper" | "gsub" | "gmatch") => Builtin::Same,
        ("table", "unpack") => Builtin::Unpack,
        _ => return Value::UNKNOWN,
    };
    Value::Builtin(builtin)
}

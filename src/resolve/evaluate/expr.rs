//! Expressions: names, operators, fields, literals, closures.

use std::rc::Rc;

use crate::facts::Span;
use crate::facts::rust::{BinaryOperator, Expr, ExprKind, MacroCall, Type, TypeForm, TypeKind};

use super::Frame;
use super::MAX_NESTING;
use crate::resolve::program::ConstantEntry;
use crate::resolve::trace::{ClockUseKind, HandleUseKind};
use crate::resolve::value::{Closure, Condition, Form, Layer, SetOptions, Symbol, TimeUnit, Value};

impl<'a> Frame<'_, 'a> {
    pub(super) fn expr(&mut self, expr: &Expr) -> Value {
        match &expr.kind {
            ExprKind::Text(literal) => self.written_text(literal),
            ExprKind::Bytes(text) => Value::text(text),
            ExprKind::Int(number) => Value::new(Form::Int(*number)),
            ExprKind::Float(number) => Value::new(Form::Float(*number)),
            ExprKind::Bool(yes) => Value::new(Form::Bool(*yes)),
            ExprKind::Char(c) => Value::text(&c.to_string()),
            ExprKind::Path(path) => self.chain_path(expr.span, path).unwrap_or_else(|| self.path(path)),
            ExprKind::Call { callee, args } => self.call(expr.span, callee, args),
            ExprKind::MethodCall { .. } => self.method_call(expr),
            ExprKind::Field { base, name } => {
                let base = self.expr(base);
                let value = self.field(&base, name);
                let asks = self.asks_by_name(expr.span, name, Some(&base));
                value.asking(asks)
            }
            ExprKind::Index { base, index } => {
                let (base, index) = (self.expr(base), self.expr(index));
                Value::made_of([&base, &index])
            }
            ExprKind::Not(inner) => {
                let inner = self.expr(inner);
                match inner.form {
                    Form::Bool(yes) => Value::new(Form::Bool(!yes)),
                    _ => Value::condition(Condition::Not(inner.as_condition())),
                }
            }
            ExprKind::Negative(inner) => {
                let inner = self.expr(inner);
                inner
                    .as_int()
                    .map_or_else(|| Value::made_of([&inner]), |number| Value::new(Form::Int(-number)))
            }
            ExprKind::Borrow(inner) => self.expr(inner),
            ExprKind::Binary { operator, left, right } => self.binary(expr.span, *operator, left, right),
            ExprKind::Assign { operator, target, value } => self.assignment(*operator, target, value),
            ExprKind::Cast { value, ty } => {
                let mut value = self.expr(value);
                value.flows.narrowed |= is_narrow(ty) && !value.ty.as_ref().is_some_and(|ty| is_narrow(ty));
                value.with_type(Some(Rc::new(ty.clone())))
            }
            ExprKind::Await(inner) => {
                let inner = self.expr(inner);
                self.note_other_wait(&inner);
                self.awaited(inner)
            }
            ExprKind::Try(inner) => {
                let value = self.expr(inner);
                self.heard_answer(inner, &value);
                self.tried(expr.span, value)
            }
            ExprKind::Macro(call) => self.macro_call(expr.span, call),
            ExprKind::Closure { params, body } => Value::new(Form::Closure(Rc::new(Closure {
                file: self.file,
                params: params.clone(),
                body: (**body).clone(),
            }))),
            ExprKind::Tuple(parts) => {
                let parts: Vec<Value> = parts.iter().map(|part| self.expr(part)).collect();
                Value::new(Form::Tuple(parts.into()))
            }
            ExprKind::Array(parts) => {
                let parts: Vec<Value> = parts.iter().map(|part| self.expr(part)).collect();
                Value::new(Form::Tuple(parts.into()))
            }
            ExprKind::Struct { path, fields, rest } => {
                self.structure(expr.span, path, fields, rest.as_deref())
            }
            ExprKind::Other(parts) => {
                let parts: Vec<Value> = parts.iter().map(|part| self.expr(part)).collect();
                Value::made_of(&parts)
            }
            _ => self.control(expr),
        }
    }

    fn control(&mut self, expr: &Expr) -> Value {
        match &expr.kind {
            ExprKind::If { condition, then, otherwise } => self.branch(condition, then, otherwise.as_deref()),
            ExprKind::LetCondition { .. } => self.condition(expr),
            ExprKind::Match { value, arms } => self.choice(value, arms),
            ExprKind::Loop { body } => {
                self.repeated(expr.span, None, None, body);
                Value::unknown()
            }
            ExprKind::While { condition, body } => {
                self.repeated(expr.span, Some(condition), None, body);
                Value::unknown()
            }
            ExprKind::For { pattern, iterable, body } => {
                self.repeated(expr.span, None, Some((pattern, iterable)), body);
                Value::unknown()
            }
            ExprKind::Block(block) => self.block(block),
            ExprKind::Async(block) => self.async_block(block),
            ExprKind::Return(value) => self.leave(expr.span, value.as_deref()),
            ExprKind::Break(value) => {
                if let Some(value) = value {
                    self.expr(value);
                }
                self.leave_round(expr.span, true);
                self.diverged = true;
                Value::unknown()
            }
            ExprKind::Continue => {
                self.leave_round(expr.span, false);
                self.diverged = true;
                Value::unknown()
            }
            ExprKind::Select(arms) => self.select(arms),
            _ => Value::unknown(),
        }
    }

    /// An async block runs where it stands; `return` leaves the block only.
    fn async_block(&mut self, block: &crate::facts::rust::Block) -> Value {
        let results = std::mem::take(&mut self.results);
        self.blocks += 1;
        let (value, signal) = self.until_awaited(|frame| frame.block(block));
        self.blocks -= 1;
        let own = std::mem::replace(&mut self.results, results);
        self.diverged = false;
        let mut value = own.iter().fold(value, |all, result| Value::either(&all, result));
        value.flows.signal = value.flows.signal.or(signal);
        value
    }

    fn path(&mut self, path: &[String]) -> Value {
        if let [name] = path
            && let Some(value) = self.local(name)
        {
            return value.clone();
        }
        let name = path.last().map_or("", String::as_str);
        match name {
            "None" => return Value::new(Form::Variant("None", None)),
            "NX" | "XX" | "IFEQ" if path.len() == 1 => {}
            _ => {}
        }
        let full = self.eval.program.full_path(self.scope.module, path);
        if let Some(condition) =
            self.eval.models.condition(&full).or_else(|| self.eval.models.condition(path))
        {
            return Value::new(Form::SetOptions(SetOptions { condition, ..SetOptions::default() }));
        }
        if let Some(unit) = self.eval.models.expiry(&full).or_else(|| self.eval.models.expiry(path)) {
            let expiry = super::store::expiry(unit, &Value::unknown());
            return Value::new(Form::SetOptions(SetOptions { expiry, ..SetOptions::default() }));
        }
        if let Some(value) = self.constant(path) {
            return value;
        }
        let functions = self.eval.program.functions_at(self.scope, path, self.owner);
        functions.iter().for_each(|&function| self.note_call(function));
        if let Some(function) = self.picked(&functions) {
            return Value::new(Form::Function(function));
        }
        match name {
            "UNIX_EPOCH" => Value::unknown(),
            _ => {
                let value = Value::symbol(Symbol::Call(path.join("::").into()));
                self.with_signal(&full, value.with_type(self.unit_struct(path)))
            }
        }
    }

    /// The type of a path that is the only value of a struct without fields.
    fn unit_struct(&self, path: &[String]) -> Option<Rc<Type>> {
        path.last().filter(|name| name.starts_with(char::is_uppercase))?;
        let written = self.bounded(&Type { kind: TypeForm::Path, path: path.to_vec(), args: Vec::new() });
        let known = self.eval.program.type_named(self.scope, &written)?;
        let is_unit = matches!(&known.definition.kind, TypeKind::Struct { fields } if fields.is_empty());
        is_unit.then_some(written)
    }

    fn constant(&mut self, path: &[String]) -> Option<Value> {
        let entries = self.eval.program.constants_at(self.scope, path, self.owner);
        let values: Vec<Value> = entries.iter().filter_map(|entry| self.constant_value(*entry)).collect();
        let (first, rest) = values.split_first()?;
        // Of statements for several dialects, one stands for all.
        if super::query::is_sql(first) {
            return Some(first.clone());
        }
        Some(rest.iter().fold(first.clone(), |all, other| Value::either(&all, other)))
    }

    fn constant_value(&mut self, entry: ConstantEntry<'a>) -> Option<Value> {
        let unit = &self.eval.program.units[entry.unit];
        let location = crate::facts::Location { file: unit.file, span: entry.constant.span };
        if let Some(known) = self.eval.constants.get(&location) {
            return Some(known.clone());
        }
        let value = entry.constant.value.as_ref()?;
        if self.eval.nesting >= MAX_NESTING {
            return None;
        }
        // A constant made of itself is no program, but must not hang us either.
        self.eval.constants.insert(location, Value::unknown());
        self.eval.nesting += 1;
        let (before_scope, before_file, before_owner) = (self.scope, self.file, self.owner);
        (self.scope, self.file, self.owner) = (entry.scope(), unit.file, entry.constant.owner.as_deref());
        let scopes = std::mem::replace(&mut self.scopes, vec![Default::default()]);
        let mut result = self.expr(value);
        self.scopes = scopes;
        (self.scope, self.file, self.owner) = (before_scope, before_file, before_owner);
        self.eval.nesting -= 1;
        // What a constant is made of must not carry this function's replies and parameters.
        result.flows.replies.clear();
        result.flows.params.clear();
        result.flows.monotonic = None;
        // A static is made once for all its uses.
        result.flows.process |= std::mem::take(&mut result.flows.random);
        let written = entry.constant.ty.as_ref().map(|ty| self.eval.program.absolute(entry.scope(), ty));
        let mut result = result.with_type(written);
        if let Form::Int(_) = result.form {
            result.flows.unit = unit_of_name(&entry.constant.name);
        }
        self.eval.constants.insert(location, result.clone());
        Some(result)
    }

    pub(super) fn field(&mut self, base: &Value, name: &str) -> Value {
        match &base.form {
            Form::Record(record) => {
                if let Some((_, value)) = record.fields.iter().find(|(field, _)| **field == *name) {
                    let written = base.ty.as_ref().filter(|_| value.ty.is_none());
                    let written = written.and_then(|ty| self.eval.program.field_type(self.scope, ty, name));
                    return value.clone().with_type(written);
                }
            }
            Form::Tuple(parts) => {
                if let Some(part) = name.parse::<usize>().ok().and_then(|index| parts.get(index)) {
                    return part.clone();
                }
            }
            Form::Reply(operation, _) if self.eval.models.is_count(name) => {
                return Value { form: Form::Reply(*operation, Layer::Count), ..base.clone() };
            }
            _ => {}
        }
        let Some(ty) = &base.ty else {
            return Value::made_of([base]).named(name);
        };
        let peeled = self.eval.program.peeled(self.scope, ty);
        let field_type = self.eval.program.field_type(self.scope, &peeled, name);
        let field_type = field_type.map(|ty| if self.is_of_block(&peeled) { self.in_block(&ty) } else { ty });
        let symbol = Symbol::Field { owner: peeled.name().into(), name: name.into() };
        Value::symbol(symbol).with_flows(&base.flows).with_type(field_type)
    }

    /// The type of a field, seen from a block of its struct: the block may call a generic parameter by
    /// another name than the struct.
    fn in_block(&self, ty: &Rc<Type>) -> Rc<Type> {
        let bounded = self.bounded(ty);
        let is_parameter = matches!(ty.path.as_slice(), [name] if name.len() <= 2) && bounded.path == ty.path;
        let mut bounds = self.generics.iter().filter(|generic| !generic.bounds.is_empty());
        match bounds.next() {
            Some(only) if is_parameter && bounds.next().is_none() => {
                let path = vec![only.name.clone()];
                self.bounded(&Type { kind: TypeForm::Path, path, args: Vec::new() })
            }
            _ => bounded,
        }
    }

    /// Whether a type is the one of the block around this function, whose generic parameters it uses.
    fn is_of_block(&self, ty: &Type) -> bool {
        self.owner == Some(ty.name()) && !self.generics.is_empty()
    }

    fn binary(&mut self, span: Span, operator: BinaryOperator, left: &Expr, right: &Expr) -> Value {
        if matches!(operator, BinaryOperator::And | BinaryOperator::Or) {
            let left = self.expr(left);
            let holds = operator == BinaryOperator::And;
            let right = self.guarded(&left, holds, |frame| frame.expr(right));
            let parts = vec![left.as_condition(), right.as_condition()];
            return Value::condition(if holds { Condition::All(parts) } else { Condition::Any(parts) });
        }
        let (left, right) = (self.expr(left), self.expr(right));
        if let Some(sign) = sign(operator)
            && let Some(part) = self.chain_operator(span, sign, &left, &right)
        {
            return part;
        }
        match operator {
            BinaryOperator::Equal | BinaryOperator::NotEqual => {
                self.mark_compared(&left);
                self.mark_compared(&right);
                Value::condition(Condition::Equal { equal: operator == BinaryOperator::Equal, left, right })
            }
            BinaryOperator::Less
            | BinaryOperator::LessOrEqual
            | BinaryOperator::Greater
            | BinaryOperator::GreaterOrEqual => {
                self.mark_compared(&left);
                self.mark_compared(&right);
                self.note_clock_comparison(span, &left, &right);
                self.note_age(&left, &right);
                let asks = self.asks_clock(span, &left, &right);
                self.order(operator, left, right).asking(asks)
            }
            BinaryOperator::Subtract => {
                self.note_clock_subtraction(span, &left, &right);
                self.note_sum(operator, &left, &right);
                super::builtin::arithmetic(operator, &left, &right)
            }
            _ => {
                self.note_sum(operator, &left, &right);
                super::builtin::arithmetic(operator, &left, &right)
            }
        }
    }

    pub(super) fn note_clock_subtraction(&mut self, span: Span, left: &Value, right: &Value) {
        for (reading, with) in [(left, right), (right, left)] {
            if reading.flows.wall_clock.is_some() && with.flows.wall_clock.is_none() {
                let kind = ClockUseKind::Subtracted { reading: reading.clone(), with: with.clone() };
                self.clock_use(span, kind);
            }
        }
    }

    /// A comparison for order; against zero or one it asks for an answer of yes.
    fn order(&self, operator: BinaryOperator, left: Value, right: Value) -> Value {
        let positive = match (operator, right.as_int()) {
            (BinaryOperator::Greater, Some(0)) | (BinaryOperator::GreaterOrEqual, Some(1)) => Some(true),
            (BinaryOperator::Less, Some(1)) | (BinaryOperator::LessOrEqual, Some(0)) => Some(false),
            _ => None,
        };
        match positive {
            Some(positive) => Value::condition(Condition::Holds { value: left, positive }),
            None => Value::condition(Condition::Order { operator, left, right }),
        }
    }

    fn note_clock_comparison(&mut self, span: Span, left: &Value, right: &Value) {
        for (reading, with) in [(left, right), (right, left)] {
            if reading.flows.wall_clock.is_some() {
                let kind = ClockUseKind::Compared { reading: reading.clone(), with: with.clone() };
                self.clock_use(span, kind);
                return;
            }
        }
    }

    fn macro_call(&mut self, span: Span, call: &MacroCall) -> Value {
        if let Some(value) = self.assertion(span, call) {
            return value;
        }
        let name = call.path.last().map_or("", String::as_str);
        if let Some(text) = self.formatted(name, call) {
            return text;
        }
        if let Some(query) = self.query_macro(span, name, call) {
            return query;
        }
        let args: Vec<Value> = call.args.iter().map(|arg| self.expr(arg)).collect();
        let named: Vec<Value> = call.named.iter().map(|(_, arg)| self.expr(arg)).collect();
        match name {
            "vec" => Value::new(Form::Tuple(args.into())),
            "json" => Value::new(Form::Document(args.into())),
            "any" | "all" => self.set_of_conditions(span, name, &args),
            "pin" => args.into_iter().next().unwrap_or_default(),
            "join" | "try_join" => {
                args.iter().for_each(|arg| self.note_other_wait(arg));
                Value::made_of(args.iter().chain(&named))
            }
            _ => Value::made_of(args.iter().chain(&named)),
        }
    }

    /// What a future gives.
    pub(super) fn awaited(&mut self, future: Value) -> Value {
        self.use_handle(&future, HandleUseKind::Await);
        self.hear(&future);
        match &future.form {
            Form::Closure(closure) => {
                let closure = closure.clone();
                self.run_closure(&closure, &[])
            }
            _ => future,
        }
    }

    /// What `?` leaves; a condition behind it is known to hold from here on.
    pub(super) fn tried(&mut self, span: Span, value: Value) -> Value {
        self.exit(span, &value.flows.replies);
        match &value.form {
            Form::Reply(operation, Layer::Result) => {
                let operation = *operation;
                self.heard_refusal(operation, &value);
                Value { form: Form::Reply(operation, Layer::Success), ..value }
            }
            Form::Outcome(..) => super::bind::unpack("Ok", &value),
            Form::Condition(_) => {
                self.mark_tested(&value);
                self.assume(&value, true);
                value
            }
            Form::Variant("Ok" | "Some", Some(inner)) => (**inner).clone(),
            Form::Variant("None" | "Err", _) => Value::made_of([&value]),
            _ => value,
        }
    }
}

/// An operator that builders of statements give a meaning.
fn sign(operator: BinaryOperator) -> Option<&'static str> {
    match operator {
        BinaryOperator::Add => Some("+"),
        BinaryOperator::Subtract => Some("-"),
        BinaryOperator::Multiply => Some("*"),
        BinaryOperator::Divide => Some("/"),
        _ => None,
    }
}

/// Whether a type holds only numbers of 32 bits or fewer.
fn is_narrow(ty: &Type) -> bool {
    matches!(ty.name(), "u32" | "i32" | "u16" | "i16" | "u8" | "i8")
}

/// What a number of this name counts: `LEASE_TTL_MS`, `timeout_secs`.
pub fn unit_of_name(name: &str) -> Option<TimeUnit> {
    match name.rsplit('_').next()?.to_ascii_lowercase().as_str() {
        "ms" | "millis" | "milliseconds" | "msec" | "msecs" => Some(TimeUnit::Milliseconds),
        "s" | "sec" | "secs" | "seconds" => Some(TimeUnit::Seconds),
        _ => None,
    }
}

impl Value {
    /// The same unknown, known by a name.
    pub(super) fn named(mut self, name: &str) -> Value {
        if matches!(self.form, Form::Unknown) {
            self.form = Form::Symbol(Symbol::Local(name.into()));
        }
        self
    }
}

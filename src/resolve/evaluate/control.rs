//! Branches, loops and exits.

use std::rc::Rc;

use crate::facts::rust::{Arm, Block, Expr, ExprKind, MacroCall, Pattern, PatternKind, SelectArm};

use super::Frame;
use super::loops::SignalKind;
use crate::facts::Span;
use crate::resolve::flows::Few;
use crate::resolve::value::{Condition, Form, Selection, Selector, Value};

impl Frame<'_, '_> {
    pub(super) fn branch(&mut self, condition: &Expr, then: &Block, otherwise: Option<&Expr>) -> Value {
        self.scopes.push(Default::default());
        let condition = self.condition(condition);
        let before = self.scopes.clone();
        let first = self.guarded(&condition, true, |frame| frame.block(then));
        let first_diverged = std::mem::take(&mut self.diverged);
        let after_first = std::mem::replace(&mut self.scopes, before);
        let second = self.guarded(&condition, false, |frame| {
            otherwise.map(|otherwise| frame.expr(otherwise)).unwrap_or_default()
        });
        let second_diverged = std::mem::take(&mut self.diverged);
        match (first_diverged, second_diverged) {
            (true, false) => self.assume(&condition, false),
            (false, true) => {
                self.assume(&condition, true);
                self.scopes = after_first;
            }
            (false, false) => self.merge_scopes(after_first),
            (true, true) => self.diverged = true,
        }
        self.scopes.pop();
        match (first_diverged, second_diverged) {
            (true, _) => second,
            (_, true) => first,
            _ if otherwise.is_none() => Value::new(Form::Tuple(Vec::new().into())),
            _ => self.chosen(&condition, &first, &second),
        }
    }

    /// The value of a branch: booleans keep what decided them.
    fn chosen(&self, condition: &Value, first: &Value, second: &Value) -> Value {
        let positive = match (&first.form, &second.form) {
            (Form::Bool(true), Form::Bool(false)) => Some(true),
            (Form::Bool(false), Form::Bool(true)) => Some(false),
            _ => None,
        };
        match positive {
            Some(true) => condition.clone(),
            Some(false) => Value::condition(Condition::Not(condition.as_condition())),
            None => Value::either(first, second).with_flows(&condition.flows),
        }
    }

    fn merge_scopes(&mut self, other: super::Scopes) {
        for (scope, other) in self.scopes.iter_mut().zip(other) {
            if Rc::ptr_eq(scope, &other) {
                continue;
            }
            let merged = Rc::make_mut(scope);
            for (name, value) in other.iter() {
                let both =
                    merged.get(name).map_or_else(|| value.clone(), |known| Value::either(known, value));
                merged.insert(name.clone(), both);
            }
        }
    }

    /// Evaluates a condition: binds its patterns and notes that its values decide.
    pub(super) fn condition(&mut self, expr: &Expr) -> Value {
        match &expr.kind {
            ExprKind::LetCondition { pattern, value } => {
                let value = self.expr(value);
                self.mark_pattern(pattern, &value);
                let matches = self.pattern_condition(pattern, &value);
                self.bind(pattern, value);
                matches
            }
            ExprKind::Binary { operator: crate::facts::rust::BinaryOperator::And, left, right } => {
                let left = self.condition(left);
                let right = self.guarded(&left, true, |frame| frame.condition(right));
                Value::condition(Condition::All(vec![left.as_condition(), right.as_condition()]))
            }
            _ => {
                let value = self.expr(expr);
                self.mark_tested(&value);
                self.with_counted(expr, value)
            }
        }
    }

    pub(super) fn choice(&mut self, value: &Expr, arms: &[Arm]) -> Value {
        let value = self.expr(value);
        if self.diverged {
            return Value::unknown();
        }
        let before = self.scopes.clone();
        let mut merged = None;
        let mut results: Vec<Value> = Vec::new();
        let mut open: Vec<Value> = Vec::new();
        let guards = self.guards.clone();
        let mut cases = Vec::new();
        let mut left = Vec::with_capacity(arms.len());
        for arm in arms {
            self.scopes = before.clone();
            let (matches, result) = self.arm(&value, arm);
            // The arms behind it run only where this one does not match.
            self.assume(&matches, false);
            left.push(self.diverged);
            if std::mem::take(&mut self.diverged) {
                continue;
            }
            open.push(matches);
            cases.extend(variants(&arm.pattern).into_iter().map(|name| (Rc::from(name), result.clone())));
            results.push(result);
            let scopes = std::mem::replace(&mut self.scopes, before.clone());
            match merged.take() {
                None => merged = Some(scopes),
                Some(first) => {
                    self.scopes = first;
                    self.merge_scopes(scopes);
                    merged = Some(std::mem::take(&mut self.scopes));
                }
            }
        }
        self.note_error_arms(&value, arms.iter().zip(left));
        self.guards = guards;
        self.scopes = merged.unwrap_or(before);
        if open.is_empty() && !arms.is_empty() {
            self.diverged = true;
            return Value::unknown();
        }
        if open.len() < arms.len() {
            let any = open.iter().map(Value::as_condition).collect();
            self.assume(&Value::condition(Condition::Any(any)), true);
        }
        if let Some(condition) = decided(&open, &results) {
            return condition;
        }
        if let Some(selected) = self.selected(&value, arms, cases) {
            return selected;
        }
        let mut all = results.into_iter();
        let first = all.next().unwrap_or_default();
        all.fold(first, |all, result| Value::either(&all, &result)).with_flows(&value.flows)
    }

    /// What a `match` on an enum of the workspace gives: a text for each variant.
    fn selected(&self, value: &Value, arms: &[Arm], cases: Vec<(Rc<str>, Value)>) -> Option<Value> {
        let is_text = |value: &Value| matches!(value.form, Form::Text(_));
        let of_variants = arms.iter().all(|arm| arm.guard.is_none() && !variants(&arm.pattern).is_empty());
        if !of_variants || cases.len() < 2 || !cases.iter().all(|(_, case)| is_text(case)) {
            return None;
        }
        let selection = Selection { by: Selector::Variant(Box::new(value.clone())), cases };
        if let Some(case) = value.variant().and_then(|variant| selection.case(variant)) {
            return Some(case.clone());
        }
        Some(Value::new(Form::Selected(Rc::new(selection))))
    }

    fn arm(&mut self, value: &Value, arm: &Arm) -> (Value, Value) {
        self.mark_pattern(&arm.pattern, value);
        let mut matches = self.pattern_condition(&arm.pattern, value);
        self.scopes.push(Default::default());
        self.bind(&arm.pattern, value.clone());
        if let Some(guard) = &arm.guard {
            let guard = self.guarded(&matches, true, |frame| frame.condition(guard));
            matches = Value::condition(Condition::All(vec![matches.as_condition(), guard.as_condition()]));
        }
        let result = self.guarded(&matches, true, |frame| frame.expr(&arm.body));
        self.scopes.pop();
        (matches, result)
    }

    pub(super) fn repeated(
        &mut self,
        span: Span,
        condition: Option<&Expr>,
        pattern: Option<(&Pattern, &Expr)>,
        body: &Block,
    ) {
        self.scopes.push(Default::default());
        let before = self.guards.clone();
        self.enter_loop(span, pattern.is_some());
        let condition = condition.map(|written| (written, self.condition(written)));
        if let Some((_, condition)) = &condition {
            self.assume(condition, true);
        }
        if let Some((pattern, iterable)) = pattern {
            let iterable = self.expr(iterable);
            self.mark(&iterable, |uses| uses.tested = true);
            self.hear(&iterable);
            let item = iterable.item();
            self.bind(pattern, item);
        }
        self.block(body);
        self.diverged = false;
        self.guards = before;
        if let Some((written, condition)) = &condition {
            self.loop_condition(written, condition);
        }
        self.leave_loop();
        self.scopes.pop();
    }

    pub(super) fn select(&mut self, arms: &[SelectArm]) -> Value {
        let before = self.scopes.clone();
        let mut results: Vec<Value> = Vec::new();
        let mut all_diverged = !arms.is_empty();
        let mut any_heard = false;
        let around = self.context.arm;
        self.selects += 1;
        let number = self.selects;
        for (index, arm) in arms.iter().enumerate() {
            self.context.arm = Some((number, index as u32));
            self.scopes = before.clone();
            let guards = self.guards.clone();
            let (sleeping, signalled) = (self.context.after_sleep, self.context.after_signal);
            self.scopes.push(Default::default());
            let raced = std::mem::replace(&mut self.context.raced, true);
            let future = self.expr(&arm.future);
            let mut value = self.awaited(future);
            // What a task gives is not its handle.
            value.flows.tasks.clear();
            self.context.raced = raced;
            self.mark_pattern(&arm.pattern, &value);
            let matches = self.pattern_condition(&arm.pattern, &value);
            self.bind(&arm.pattern, value);
            if let Some(guard) = &arm.guard {
                self.condition(guard);
            }
            let result = self.guarded(&matches, true, |frame| frame.expr(&arm.handler));
            self.scopes.pop();
            self.guards = guards;
            self.context.after_sleep = sleeping;
            let heard = std::mem::replace(&mut self.context.after_signal, signalled);
            if !std::mem::take(&mut self.diverged) {
                all_diverged = false;
                any_heard |= heard;
                results.push(result);
            }
        }
        self.context.arm = around;
        self.context.after_signal |= any_heard;
        self.scopes = before;
        self.diverged = all_diverged;
        Value::made_of(&results)
    }

    pub(super) fn leave(&mut self, span: Span, value: Option<&Expr>) -> Value {
        if let Some(value) = value {
            let value = self.expr(value);
            self.note_early_answer(&value);
            self.exit(span, &value.flows.replies);
            self.results.push(value);
        } else {
            self.exit(span, &Few::default());
        }
        self.diverged = true;
        Value::unknown()
    }

    /// `assert!`, `ensure!`, `bail!`, `panic!` and their like; `None` for other macros.
    pub(super) fn assertion(&mut self, span: Span, call: &MacroCall) -> Option<Value> {
        match call.path.last().map_or("", String::as_str) {
            "bail" => {
                call.args.iter().for_each(|arg| drop(self.expr(arg)));
                self.exit(span, &Few::default());
                self.diverged = true;
            }
            "panic" | "unreachable" | "unimplemented" | "todo" => {
                call.args.iter().for_each(|arg| drop(self.expr(arg)));
                self.signal(SignalKind::Return, []);
                self.diverged = true;
            }
            "ensure" => {
                let condition = self.condition(call.args.first()?);
                call.args.iter().skip(1).for_each(|arg| drop(self.expr(arg)));
                self.guarded(&condition, false, |frame| frame.exit(span, &condition.flows.replies));
                self.assume(&condition, true);
            }
            "assert" | "debug_assert" | "prop_assert" => {
                let condition = self.condition(call.args.first()?);
                call.args.iter().skip(1).for_each(|arg| drop(self.expr(arg)));
                self.signal(SignalKind::Return, condition.flows.replies.iter().copied());
                self.assume(&condition, true);
            }
            name @ ("assert_eq" | "assert_ne" | "debug_assert_eq" | "ensure_eq") => {
                let [left, right, ..] = call.args.as_slice() else { return None };
                let (left, right) = (self.expr(left), self.expr(right));
                self.mark_tested(&left);
                self.mark_tested(&right);
                let condition = Condition::Equal { equal: name != "assert_ne", left, right };
                let condition = Value::condition(condition);
                self.signal(SignalKind::Return, condition.flows.replies.iter().copied());
                self.assume(&condition, true);
            }
            "matches" => {
                let value = call.args.first().map(|arg| self.expr(arg)).unwrap_or_default();
                self.mark(&value, |uses| uses.compared = true);
                return Some(self.matched(value, call.args.get(1)));
            }
            _ => return None,
        }
        Some(Value::unknown())
    }

    /// `matches!(value, Ok(1))`, as far as the pattern reads as an expression.
    fn matched(&mut self, value: Value, pattern: Option<&Expr>) -> Value {
        let Some(ExprKind::Call { callee, args }) = pattern.map(|pattern| &pattern.kind) else {
            return Value::condition(Condition::Opaque(vec![value]));
        };
        let variant = match &callee.kind {
            ExprKind::Path(path) => path.last().map_or("", String::as_str),
            _ => "",
        };
        match (variant, args.as_slice()) {
            ("Ok" | "Some", [expected]) => {
                let left = super::bind::unpack(variant, &value);
                match self.expr(expected) {
                    right if matches!(right.form, Form::Int(_) | Form::Bool(_) | Form::Text(_)) => {
                        Value::condition(Condition::Equal { equal: true, left, right })
                    }
                    _ => Value::condition(Condition::Holds { value, positive: true }),
                }
            }
            ("Err", _) => Value::condition(Condition::Holds { value, positive: false }),
            _ => Value::condition(Condition::Opaque(vec![value])),
        }
    }
}

/// The variants of an enum of the workspace that a pattern names; `_` for a pattern that takes the rest.
fn variants(pattern: &Pattern) -> Vec<&str> {
    let own = |path: &'_ [String]| match path.last().map(String::as_str) {
        Some("Some" | "None" | "Ok" | "Err") | None => false,
        Some(name) => name.starts_with(char::is_uppercase),
    };
    match &pattern.kind {
        PatternKind::Wildcard => vec!["_"],
        PatternKind::Variant { path, .. } | PatternKind::Struct { path, .. } if own(path) => {
            path.last().map(String::as_str).into_iter().collect()
        }
        PatternKind::Value(value) => match &value.kind {
            ExprKind::Path(path) if own(path) => path.last().map(String::as_str).into_iter().collect(),
            _ => Vec::new(),
        },
        PatternKind::Or(patterns) => {
            let all: Vec<Vec<&str>> = patterns.iter().map(variants).collect();
            if all.iter().any(Vec::is_empty) { Vec::new() } else { all.concat() }
        }
        _ => Vec::new(),
    }
}

/// `match … { A => true, B => false }` as the condition of its positive arms.
fn decided(matches: &[Value], results: &[Value]) -> Option<Value> {
    let mut positive = Vec::new();
    let mut any_negative = false;
    for (matched, result) in matches.iter().zip(results) {
        let inner = match &result.form {
            Form::Variant("Ok", Some(inner)) => &inner.form,
            form => form,
        };
        match inner {
            Form::Bool(true) => positive.push(matched.as_condition()),
            Form::Bool(false) => any_negative = true,
            _ => return None,
        }
    }
    (any_negative && !positive.is_empty()).then(|| Value::condition(Condition::Any(positive)))
}

//! Assignments and constructions: what goes into variables and fields, and what new values are made of.

use std::rc::Rc;

use crate::facts::rust::{BinaryOperator, Expr, ExprKind, Type, TypeForm, TypeKind};
use crate::facts::{Location, Span};

use super::Frame;
use super::loops::SignalKind;
use crate::resolve::trace::ClockUseKind;
use crate::resolve::value::{Form, Record, Value};

/// The name that stands for `..rest` among the fields of a new value.
pub(crate) const REST: &str = "..";

/// So many new values are remembered for the constants in them.
const MAX_SETTINGS: usize = 4096;

/// The constants that one function gives to fields of a new value.
pub struct Settings {
    pub ty: Rc<str>,
    pub function: usize,
    /// Field, amount and where that is written.
    pub amounts: Vec<(Rc<str>, Value, Location)>,
}

/// `Default::default()`, `Type::default()`.
fn is_default(rest: &Expr) -> bool {
    match &rest.kind {
        ExprKind::Call { callee, .. } => {
            matches!(&callee.kind, ExprKind::Path(path) if path.last().is_some_and(|name| name == "default"))
        }
        _ => false,
    }
}

impl Frame<'_, '_> {
    pub(super) fn assignment(
        &mut self,
        operator: Option<BinaryOperator>,
        target: &Expr,
        value: &Expr,
    ) -> Value {
        let mut value = self.expr(value);
        if let Some(operator) = operator {
            let before = self.expr(target);
            value = if operator == BinaryOperator::Add && before.as_text().is_some() {
                super::format::joined(&before, &value)
            } else {
                self.note_sum(operator, &before, &value);
                super::builtin::arithmetic(operator, &before, &value)
            };
        }
        match &target.kind {
            ExprKind::Path(path) if path.len() == 1 => {
                self.decide(&path[0], &value);
                self.assign_local(&path[0], value);
            }
            // `*seen = …`: whoever lent it may test it.
            ExprKind::Borrow(lent) if matches!(&lent.kind, ExprKind::Path(path) if path.len() == 1) => {
                self.mark(&value, |uses| uses.passed = true);
                if let ExprKind::Path(path) = &lent.kind {
                    self.assign_local(&path[0], value);
                }
            }
            ExprKind::Field { base: written, name } => {
                let base = self.expr(written);
                // A flag or token kept in a field may be tested by another method.
                self.mark(&value, |uses| uses.passed = true);
                self.signal(SignalKind::Act { stops: true }, []);
                self.set_row_field(target.span, written, name, &value);
                if let Some(ty) = &base.ty {
                    let owner: Rc<str> = self.eval.program.peeled(self.scope, ty).name().into();
                    self.note_field(target.span, &owner, &name.as_str().into(), value);
                }
            }
            _ => {
                self.expr(target);
                self.mark(&value, |uses| uses.passed = true);
                self.signal(SignalKind::Act { stops: true }, []);
            }
        }
        Value::new(Form::Tuple(Vec::new().into()))
    }

    pub(super) fn structure(
        &mut self,
        span: Span,
        path: &[String],
        fields: &[(String, Expr)],
        rest: Option<&Expr>,
    ) -> Value {
        let (ty, variant) = self.constructed(path);
        let mut values: Vec<(Rc<str>, Value)> = Vec::new();
        let mut amounts = Vec::new();
        for (field, expr) in fields {
            let value = self.expr(expr);
            let field: Rc<str> = field.as_str().into();
            self.note_field(expr.span, &ty, &field, value.clone());
            if matches!(value.form, Form::Duration(_) | Form::Int(_)) {
                amounts.push((field.clone(), value.clone(), self.location(expr.span)));
            }
            values.push((field, value));
        }
        self.note_settings(&ty, amounts);
        if let Some(rest) = rest {
            let value = self.expr(rest);
            if !is_default(rest) {
                values.push((REST.into(), value));
            }
        }
        if let Some(row) = self.row(span, path, fields, &values) {
            return row;
        }
        let path = if variant.is_some() { &path[..path.len() - 1] } else { path };
        self.record(path, ty, variant, values)
    }

    /// Constants that a new value is given side by side.
    fn note_settings(&mut self, ty: &Rc<str>, amounts: Vec<(Rc<str>, Value, Location)>) {
        if amounts.len() > 1 && self.eval.settings.len() < MAX_SETTINGS {
            self.eval.settings.push(Settings { ty: ty.clone(), function: self.function, amounts });
        }
    }

    fn record(
        &self,
        path: &[String],
        ty: Rc<str>,
        variant: Option<Rc<str>>,
        fields: Vec<(Rc<str>, Value)>,
    ) -> Value {
        let written = Type { kind: TypeForm::Path, path: path.to_vec(), args: Vec::new() };
        let written = self.bounded(&written);
        Value::new(Form::Record(Rc::new(Record { ty, variant, fields }))).with_type(Some(written))
    }

    /// The type that a struct expression makes, and its variant when that is an enum.
    fn constructed(&self, path: &[String]) -> (Rc<str>, Option<Rc<str>>) {
        let named = |name: &str| -> Rc<str> {
            if name == "Self" { self.owner.unwrap_or_default().into() } else { name.into() }
        };
        let name = path.last().map_or("", String::as_str);
        if let [.., of, variant] = path
            && of.starts_with(char::is_uppercase)
        {
            return (named(of), Some(variant.as_str().into()));
        }
        (named(name), None)
    }

    /// A tuple struct, or a variant of an enum, of the workspace: `Key(id)`, `Kind::Page(id)`.
    pub(super) fn tuple_struct(&mut self, span: Span, path: &[String], args: &[Value]) -> Option<Value> {
        let name = path.last().filter(|name| name.starts_with(char::is_uppercase))?;
        let of = match path {
            [.., of, _] if of.starts_with(char::is_uppercase) => &path[..path.len() - 1],
            _ => path,
        };
        let written = self.bounded(&Type { kind: TypeForm::Path, path: of.to_vec(), args: Vec::new() });
        let kind = &self.eval.program.type_named(self.scope, &written)?.definition.kind;
        let variant = match kind {
            TypeKind::Struct { fields } if fields.len() == args.len() && of.len() == path.len() => None,
            TypeKind::Enum { variants } if variants.contains(name) => Some(Rc::from(name.as_str())),
            _ => return None,
        };
        let ty: Rc<str> = written.name().into();
        let mut fields = Vec::new();
        for (index, arg) in args.iter().enumerate() {
            let field: Rc<str> = index.to_string().into();
            self.note_field(span, &ty, &field, arg.clone());
            fields.push((field, arg.clone()));
        }
        Some(self.record(of, ty, variant, fields))
    }

    fn note_field(&mut self, span: Span, ty: &Rc<str>, field: &Rc<str>, value: Value) {
        // What is over from the start is no deadline, but the way to say that there is none.
        if value.flows.wall_clock.is_some() && !value.flows.moved_back {
            let kind = ClockUseKind::Stored { ty: ty.clone(), field: field.clone(), reading: value.clone() };
            self.clock_use(span, kind);
        }
        self.note_start(ty, field, &value);
        self.keep_handle(ty, field, &value);
        let known = self.eval.fields.entry((ty.clone(), field.clone())).or_default();
        if known.len() < 8 {
            known.push(value);
        }
    }
}

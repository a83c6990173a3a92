//! Values as the evaluator knows them: folded where the text shows them, symbols where it does not, with
//! what has flowed into them.

use std::rc::Rc;

use super::alternatives::common_statement;
pub use super::condition::Condition;
pub use super::flows::{Flows, TimeUnit};
use super::models::Command;
use super::quantity::Ratio;
use crate::facts::rust::{Expr, Param, Type};
use crate::facts::{FileId, Location, TextMap};

/// An operation of the trace under evaluation, by its position there.
pub type OperationIndex = usize;

/// Longer lists are not taken item by item.
const MAX_ITEMS: usize = 16;

/// A value, and what has flowed into it.
#[derive(Debug, Clone, Default)]
pub struct Value {
    pub form: Form,
    pub flows: Flows,
    /// The written type, as far as an annotation, a field or a constructor shows it.
    pub ty: Option<Rc<Type>>,
}

#[derive(Debug, Clone, Default)]
pub enum Form {
    #[default]
    Unknown,
    Symbol(Symbol),
    Text(Rc<[Piece]>),
    Int(i128),
    Bool(bool),
    Float(f64),
    /// A span of time in milliseconds.
    Duration(i128),
    /// A multiple or part of a value that the text does not show.
    Scaled(Rc<Scaled>),
    /// What ticks at regular times, such as `tokio::time::interval(…)`.
    Ticker(Rc<Ticker>),
    Tuple(Rc<[Value]>),
    /// `json!({…})`: its keys and values, in no structure.
    Document(Rc<[Value]>),
    Record(Rc<Record>),
    /// One of several values.
    Selected(Rc<Selection>),
    /// `Some(x)`, `Ok(x)`, `Err(x)`, `None`.
    Variant(&'static str, Option<Rc<Value>>),
    Closure(Rc<Closure>),
    Condition(Rc<Condition>),
    /// `redis::cmd("SET").arg(…)` under construction.
    Command(Rc<CommandBuilder>),
    /// A pipeline, by its number in the trace.
    Pipeline(usize),
    SetOptions(SetOptions),
    Script(Rc<ScriptBuilder>),
    Query(Rc<QueryBuilder>),
    /// A conditional transaction under construction, and what it is made of.
    Transaction(Rc<TransactionBuilder>),
    TransactionPart(Rc<TransactionPart>),
    /// The reply of an operation, and how far it has been unpacked.
    Reply(OperationIndex, Layer),
    /// The name of a function of the workspace, as a value.
    Function(usize),
    /// What the closure in this parameter gives, and how far it has been unpacked.
    Outcome(usize, Layer),
}

/// Where a value comes from when the text does not show it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Symbol {
    Param {
        index: usize,
        name: Rc<str>,
    },
    Field {
        owner: Rc<str>,
        name: Rc<str>,
    },
    Local(Rc<str>),
    /// The result of a call that is not followed, by the callee's name.
    Call(Rc<str>),
}

impl Symbol {
    /// Its name, without the type that has it.
    pub fn name(&self) -> &Rc<str> {
        match self {
            Symbol::Param { name, .. }
            | Symbol::Field { name, .. }
            | Symbol::Local(name)
            | Symbol::Call(name) => name,
        }
    }
}

/// `of` times `by`.
#[derive(Debug)]
pub struct Scaled {
    pub of: Value,
    pub by: Ratio,
}

#[derive(Debug)]
pub struct Ticker {
    /// The call that makes it.
    pub location: Location,
    pub period: Value,
}

/// A part of a text.
#[derive(Debug, Clone)]
pub enum Piece {
    Text { text: Rc<str>, written: Option<Rc<Written>> },
    Hole(Box<Value>),
}

/// Where a piece of text was written.
#[derive(Debug)]
pub struct Written {
    pub file: FileId,
    pub map: TextMap,
}

/// Values of which one is meant, such as the texts that a `match` gives.
#[derive(Debug)]
pub struct Selection {
    pub by: Selector,
    /// With the variant that each belongs to; `_` for all others.
    pub cases: Vec<(Rc<str>, Value)>,
}

#[derive(Debug)]
pub enum Selector {
    /// The variant of this value decides.
    Variant(Box<Value>),
    /// A condition decides that is not followed.
    Condition,
    /// Each in turn: the items of a list.
    Each,
}

#[derive(Debug)]
pub struct Record {
    pub ty: Rc<str>,
    /// The variant, when `ty` is an enum.
    pub variant: Option<Rc<str>>,
    pub fields: Vec<(Rc<str>, Value)>,
}

/// A closure or async block that has not run yet.
#[derive(Debug)]
pub struct Closure {
    pub file: FileId,
    pub params: Vec<Param>,
    pub body: Expr,
}

#[derive(Debug, Clone, Default)]
pub struct CommandBuilder {
    pub args: Vec<Value>,
    /// From the command's name to the last argument.
    pub location: Option<Location>,
}

/// The options of a SET, as builders make them.
#[derive(Debug, Clone, Default)]
pub struct SetOptions {
    pub condition: WriteCondition,
    pub expiry: Expiry,
    pub returns_old: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum WriteCondition {
    #[default]
    Always,
    IfAbsent,
    IfPresent,
    /// Only while the stored value equals a given one.
    IfEqual,
    /// Only while nobody has written it since it was read.
    IfUnchanged,
}

/// The lifetime that an operation gives a key.
#[derive(Debug, Clone, Default)]
pub enum Expiry {
    #[default]
    None,
    /// In milliseconds where it folds to a number; `unit` is what a plain number counts, in milliseconds.
    After {
        millis: Option<i128>,
        unit: i128,
        value: Box<Value>,
    },
    /// At a moment of somebody's clock.
    At(Box<Value>),
    /// The lifetime that the key has.
    Keep,
    Unknown,
}

impl Expiry {
    pub fn is_none(&self) -> bool {
        matches!(self, Expiry::None)
    }
}

#[derive(Debug, Clone, Default)]
pub struct ScriptBuilder {
    pub source: Value,
    pub keys: Vec<Value>,
    pub args: Vec<Value>,
}

#[derive(Debug, Clone, Default)]
pub struct QueryBuilder {
    pub text: Value,
    pub binds: Vec<Value>,
    /// Where the query was made.
    pub location: Option<Location>,
    /// The text is read from this file, named relative to the package (`query_file!`).
    pub file: Option<Rc<str>>,
}

/// What is done in one step when all conditions hold.
#[derive(Debug, Clone, Default)]
pub struct TransactionBuilder {
    pub conditions: Vec<Value>,
    pub steps: Vec<Value>,
}

#[derive(Debug)]
pub enum TransactionPart {
    Condition { key: Value, condition: WriteCondition },
    Step { command: Rc<Command>, args: Vec<Value> },
}

/// How far the reply of an operation has been unpacked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Layer {
    /// The future, or the `Result` of the call.
    Result,
    /// What `Ok` holds.
    Success,
    /// The number of changed rows.
    Count,
}

impl Value {
    pub fn new(form: Form) -> Self {
        let mut flows = Flows::default();
        match &form {
            Form::Reply(operation, _) => {
                flows.replies.insert(*operation);
            }
            Form::Symbol(Symbol::Param { index, .. }) | Form::Outcome(index, _) => {
                flows.params.insert(*index);
            }
            Form::Symbol(Symbol::Field { owner, name }) => {
                flows.fields.insert((owner.clone(), name.clone()));
            }
            Form::Text(pieces) => {
                for piece in pieces.iter() {
                    if let Piece::Hole(value) = piece {
                        flows.absorb(&value.flows);
                    }
                }
            }
            Form::Tuple(parts) | Form::Document(parts) => {
                parts.iter().for_each(|part| flows.absorb(&part.flows))
            }
            Form::Record(record) => record.fields.iter().for_each(|(_, part)| flows.absorb(&part.flows)),
            Form::Variant(_, Some(inner)) => flows.absorb(&inner.flows),
            Form::Scaled(scaled) => flows.absorb(&scaled.of.flows),
            Form::Ticker(ticker) => flows.absorb(&ticker.period.flows),
            Form::Selected(selection) => {
                if let Selector::Variant(value) = &selection.by {
                    flows.absorb(&value.flows);
                }
                selection.cases.iter().for_each(|(_, case)| flows.absorb(&case.flows));
            }
            Form::Condition(condition) => condition.absorb_into(&mut flows),
            _ => {}
        }
        Self { form, flows, ty: None }
    }

    pub fn unknown() -> Self {
        Self::default()
    }

    pub fn symbol(symbol: Symbol) -> Self {
        Self::new(Form::Symbol(symbol))
    }

    pub fn text(text: &str) -> Self {
        Self::new(Form::Text(Rc::new([Piece::Text { text: text.into(), written: None }])))
    }

    pub fn condition(condition: Condition) -> Self {
        Self::new(Form::Condition(Rc::new(condition)))
    }

    /// Something made of these values in a way that is not followed.
    pub fn made_of<'a>(parts: impl IntoIterator<Item = &'a Value>) -> Self {
        let mut value = Self::default();
        for part in parts {
            value.flows.absorb(&part.flows);
        }
        value
    }

    #[must_use]
    pub fn with_type(mut self, ty: Option<Rc<Type>>) -> Self {
        if self.ty.is_none() {
            self.ty = ty;
        }
        self
    }

    #[must_use]
    pub fn with_flows(mut self, flows: &Flows) -> Self {
        self.flows.absorb(flows);
        self
    }

    /// The text, when it is known to the last character.
    pub fn as_text(&self) -> Option<String> {
        match &self.form {
            Form::Text(pieces) => pieces
                .iter()
                .map(|piece| match piece {
                    Piece::Text { text, .. } => Some(text.to_string()),
                    Piece::Hole(value) => match &value.form {
                        Form::Int(number) => Some(number.to_string()),
                        _ => None,
                    },
                })
                .collect(),
            _ => None,
        }
    }

    pub fn as_int(&self) -> Option<i128> {
        match &self.form {
            Form::Int(number) => Some(*number),
            _ => None,
        }
    }

    /// Whether it is under construction, so that a method call on a variable changes the variable.
    pub fn is_builder(&self) -> bool {
        matches!(
            self.form,
            Form::Command(_)
                | Form::Pipeline(_)
                | Form::SetOptions(_)
                | Form::Script(_)
                | Form::Query(_)
                | Form::Transaction(_)
        )
    }

    pub fn selected(by: Selector, cases: Vec<(Rc<str>, Value)>) -> Self {
        Self::new(Form::Selected(Rc::new(Selection { by, cases })))
    }

    /// What an item of this list is.
    pub fn item(&self) -> Value {
        match &self.form {
            Form::Tuple(parts)
                if parts.len() <= MAX_ITEMS
                    && parts.iter().any(|part| matches!(part.form, Form::Text(_))) =>
            {
                match &parts[..] {
                    [only] => only.clone(),
                    _ => Value::selected(
                        Selector::Each,
                        parts.iter().map(|part| ("_".into(), part.clone())).collect(),
                    ),
                }
            }
            _ => Value::made_of([self]),
        }
    }

    /// The variant of an enum of the workspace that this value is, when the text shows it.
    pub fn variant(&self) -> Option<&str> {
        match &self.form {
            Form::Record(record) => record.variant.as_deref(),
            Form::Symbol(Symbol::Call(path)) => path.rsplit_once("::").map(|(_, variant)| variant),
            _ => None,
        }
    }

    /// The pieces of a text; a value that is no text is one hole.
    pub fn pieces(&self) -> Vec<Piece> {
        match &self.form {
            Form::Text(pieces) => pieces.to_vec(),
            _ => vec![Piece::Hole(Box::new(self.clone()))],
        }
    }

    /// What holds when this value says yes.
    pub fn as_condition(&self) -> Value {
        match &self.form {
            Form::Condition(_) => self.clone(),
            _ => Value::condition(Condition::Holds { value: self.clone(), positive: true }),
        }
    }

    /// As [`Condition::known_equalities`], for a value that may be a condition.
    pub fn known_equalities(&self, holds: bool, visit: &mut dyn FnMut(&Value, &Value, bool)) {
        if let Form::Condition(condition) = &self.form {
            condition.known_equalities(holds, visit);
        }
    }

    /// As [`Condition::known_answers`], for a value that may be a condition.
    pub fn known_answers(&self, holds: bool, visit: &mut dyn FnMut(&Value, bool)) {
        if let Form::Condition(condition) = &self.form {
            condition.known_answers(holds, visit);
        }
    }

    /// One of two values that the text cannot tell apart.
    pub fn either(left: &Value, right: &Value) -> Value {
        let either_type = || left.ty.clone().or_else(|| right.ty.clone());
        match (&left.form, &right.form) {
            (Form::Unknown, _) if left.flows == Flows::default() => right.clone(),
            (_, Form::Unknown) if right.flows == Flows::default() => left.clone(),
            (Form::Variant("None" | "Err", _), Form::Variant("Some" | "Ok", _)) => {
                right.clone().with_flows(&left.flows)
            }
            (Form::Variant("Some" | "Ok", _), Form::Variant("None" | "Err", _)) => {
                left.clone().with_flows(&right.flows)
            }
            (Form::Text(a), Form::Text(b)) if same_pieces(a, b) => left.clone(),
            (Form::Text(a), Form::Text(b)) => common_statement(a, b)
                .unwrap_or_else(|| {
                    Value::selected(
                        Selector::Condition,
                        [left, right].map(|v| ("_".into(), v.clone())).into(),
                    )
                })
                .with_type(either_type()),
            (Form::Reply(a, layer), Form::Reply(b, _)) if a == b => Value::new(Form::Reply(*a, *layer)),
            _ => Value::made_of([left, right]).with_type(either_type()),
        }
    }
}

/// Whether two texts are alike, whatever their holes hold.
pub fn same_pieces(left: &[Piece], right: &[Piece]) -> bool {
    left.len() == right.len()
        && left.iter().zip(right).all(|pair| match pair {
            (Piece::Text { text: a, .. }, Piece::Text { text: b, .. }) => a == b,
            (Piece::Hole(_), Piece::Hole(_)) => true,
            _ => false,
        })
}

impl Selection {
    /// The value for a variant.
    pub fn case(&self, variant: &str) -> Option<&Value> {
        let named = |name: &str| self.cases.iter().find(|(case, _)| **case == *name).map(|(_, value)| value);
        named(variant).or_else(|| named("_"))
    }
}

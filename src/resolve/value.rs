//! Values as the evaluator knows them: folded where the text shows them, symbols where it does not, with
//! what has flowed into them.

use std::rc::Rc;

use super::alternatives::common_statement;
use super::chain::Chain;
pub use super::condition::Condition;
pub use super::flows::{Asks, Flows, HeldQuestion, Moment, TimeUnit};
use super::quantity::Ratio;
pub use super::requests::{
    CommandBuilder, Expiry, HttpRequest, QueryBuilder, ScriptBuilder, SetOptions, TransactionBuilder,
    TransactionPart, WriteCondition,
};
use crate::facts::rust::{Expr, Param, Type};
use crate::facts::{FileId, Location, TextMap};

/// An operation of the trace under evaluation, by its position there.
pub type OperationIndex = usize;

/// The arguments of longer calls are not kept.
const MAX_ARGUMENTS: usize = 4;

/// Longer lists are not taken item by item.
const MAX_ITEMS: usize = 16;

/// A value, and what has flowed into it.
#[derive(Debug, Clone, Default)]
pub struct Value {
    pub form: Form,
    pub flows: Flows,
    /// The written type, as far as an annotation, a field or a constructor shows it.
    pub ty: Option<Rc<Type>>,
    /// The arguments of the call whose result it is, where nothing else is known of the result.
    pub arguments: Option<Rc<[Value]>>,
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
    /// A statement, or a part of one, that calls put together.
    Chain(Rc<Chain>),
    /// A conditional transaction under construction, and what it is made of.
    Transaction(Rc<TransactionBuilder>),
    TransactionPart(Rc<TransactionPart>),
    Request(Rc<HttpRequest>),
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

/// How far the reply of an operation has been unpacked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Layer {
    /// The future, or the `Result` of the call.
    Result,
    /// What `Ok` holds.
    Success,
    /// The number of changed rows.
    Count,
    /// A message on a stream of answers: that there is one says nothing, what it says does.
    Message,
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
            Form::Chain(chain) => chain.values().for_each(|part| flows.absorb(&part.flows)),
            _ => {}
        }
        Self { form, flows, ty: None, arguments: None }
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

    /// The result of a call that is not followed: other arguments make another value.
    #[must_use]
    pub fn with_arguments(mut self, args: &[Value]) -> Self {
        if matches!(self.form, Form::Unknown | Form::Symbol(_)) && args.len() <= MAX_ARGUMENTS {
            self.arguments = Some(args.iter().map(Self::flat).collect());
        }
        self
    }

    /// Only what has flowed into it where it holds a call's arguments: chains must not grow with the text.
    fn flat(&self) -> Self {
        let plain = |value: &Self| {
            value.arguments.is_none()
                && matches!(value.form, Form::Unknown | Form::Symbol(_) | Form::Int(_) | Form::Reply(..))
        };
        let whole = |piece: &Piece| !matches!(piece, Piece::Hole(value) if !plain(value));
        let is_flat = match &self.form {
            Form::Text(pieces) => self.arguments.is_none() && pieces.iter().all(whole),
            _ => plain(self),
        };
        if is_flat { self.clone() } else { Self::made_of([self]).with_type(self.ty.clone()) }
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
        ) || matches!(&self.form, Form::Chain(chain) if chain.begins_with("Query::"))
    }

    /// Whether it is a statement that a builder has put together.
    pub fn is_statement_chain(&self) -> bool {
        matches!(&self.form, Form::Chain(chain) if chain.is_statement())
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
            (Form::Chain(a), Form::Chain(b)) if a.is_same_start(b) => a.either(b),
            (Form::Query(a), Form::Query(b)) if a.location == b.location => {
                Value::new(Form::Query(Rc::new(a.either(b)))).with_type(either_type())
            }
            (Form::Document(_) | Form::Selected(_), Form::Document(_))
            | (Form::Document(_), Form::Selected(_)) => {
                selected_documents(left, right).with_type(either_type())
            }
            (Form::Reply(a, layer), Form::Reply(b, _)) if a == b => Value::new(Form::Reply(*a, *layer)),
            _ => Value::made_of([left, right]).with_type(either_type()),
        }
    }
}

/// One of several documents, of which a condition decides that is not followed.
fn selected_documents(left: &Value, right: &Value) -> Value {
    let mut cases: Vec<(Rc<str>, Value)> = Vec::new();
    for side in [left, right] {
        match &side.form {
            Form::Selected(known) => cases.extend(known.cases.iter().cloned()),
            _ => cases.push(("_".into(), side.clone())),
        }
    }
    let is_document = |(_, value): &(Rc<str>, Value)| matches!(value.form, Form::Document(_));
    if cases.len() > MAX_ITEMS || !cases.iter().all(is_document) {
        return Value::made_of([left, right]);
    }
    Value::selected(Selector::Condition, cases)
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

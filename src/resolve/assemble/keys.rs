//! Keys by identity: the same template text in two places, the same field, the same parameter of one
//! type's methods are one key.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use super::super::evaluate::Evaluator;
use super::super::value::{Form, Piece, Selection, Selector, Symbol, Value};

/// Fields made of fields are followed this deep.
const MAX_DEPTH: usize = 4;

/// The keys met so far, by identity.
#[derive(Default)]
pub struct KeyTable {
    by_identity: BTreeMap<String, usize>,
    names: Vec<KeyName>,
    /// Keys that hold the owner value stored under them.
    with_owner: BTreeSet<usize>,
}

/// How a key is called in reports.
pub struct KeyName {
    pub text: String,
    pub is_parameter: bool,
    pub is_written: bool,
}

/// What a key value shows.
pub struct KnownKey {
    pub index: usize,
    /// A part of it is random.
    pub token_in_key: bool,
}

impl KeyTable {
    pub fn names(&self) -> &[KeyName] {
        &self.names
    }

    pub fn note_owner(&mut self, key: usize) {
        self.with_owner.insert(key);
    }

    pub fn names_owner(&self, key: usize) -> bool {
        self.with_owner.contains(&key)
    }

    /// The entry of a key used in `function`; `None` when nothing is known of it.
    pub fn entry(&mut self, evaluator: &Evaluator<'_>, function: usize, key: &Value) -> Option<KnownKey> {
        let pieces = expanded(evaluator, key, 0);
        let token_in_key =
            pieces.iter().any(|piece| matches!(piece, Piece::Hole(value) if is_random(evaluator, value)));
        let (identity, name) = identity(evaluator, function, &pieces)?;
        let next = self.names.len();
        let is_parameter = identity.starts_with("param:");
        let is_written = identity.starts_with("text:") || identity.starts_with("forms:");
        let index = *self.by_identity.entry(identity).or_insert(next);
        if index == next {
            self.names.push(KeyName { text: name, is_parameter, is_written });
        }
        Some(KnownKey { index, token_in_key })
    }
}

/// The identity and the name to show.
fn identity(evaluator: &Evaluator<'_>, function: usize, pieces: &[Piece]) -> Option<(String, String)> {
    let template = template(pieces);
    if template.chars().any(char::is_alphanumeric) {
        return Some((format!("text:{template}"), template));
    }
    let hole = pieces.iter().find_map(|piece| match piece {
        Piece::Hole(value) => Some(value),
        Piece::Text { .. } => None,
    })?;
    let program = evaluator.program;
    let unit = program.unit_of(function);
    let package = unit.package.map_or_else(String::new, |package| package.to_string());
    match &hole.form {
        Form::Symbol(Symbol::Field { owner, name }) => {
            Some((format!("field:{package}:{owner}.{name}"), format!("{owner}.{name}")))
        }
        Form::Symbol(Symbol::Param { name, .. }) => {
            let owner = program.functions[function].function.owner.clone().unwrap_or_default();
            Some((format!("param:{}:{owner}", unit.path), name.to_string()))
        }
        Form::Symbol(Symbol::Call(name) | Symbol::Local(name)) => {
            let arguments = arguments(evaluator, hole);
            // What many things flowed into has no name that a reader would know it by.
            let tells = arguments.chars().any(char::is_alphanumeric) && !arguments.contains('+');
            let shown = if tells { format!("{name}({arguments})") } else { format!("{name}(…)") };
            Some((format!("call:{package}:{name}:{arguments}"), shown))
        }
        // What a condition decides may be decided otherwise elsewhere: `key(true)` and `key(false)`.
        Form::Selected(selection) if matches!(selection.by, Selector::Variant(_)) => {
            let forms = forms(evaluator, selection)?;
            Some((format!("forms:{package}:{}", forms.join("|")), forms.join(" | ")))
        }
        Form::Selected(_) => None,
        // A parameter that has gone through a conversion.
        _ if !hole.flows.params.is_empty() => {
            let owner = program.functions[function].function.owner.clone().unwrap_or_default();
            Some((format!("param:{}:{owner}", unit.path), "key".to_owned()))
        }
        _ => None,
    }
}

/// The templates among which a `match` or `if` chooses, in one order: where two functions choose alike, they
/// mean one key. Nothing where a part of them is unknown.
fn forms(evaluator: &Evaluator<'_>, selection: &Selection) -> Option<Vec<String>> {
    let known = |(_, case): &(_, Value)| {
        let text = template(&expanded(evaluator, case, 0));
        text.chars().any(char::is_alphanumeric).then_some(text)
    };
    let forms: Option<BTreeSet<String>> = selection.cases.iter().map(known).collect();
    Some(forms?.into_iter().collect())
}

/// What the arguments of a call are made of: a call with others makes another key. Parameters and locals
/// say nothing, for two functions may call one thing by two names.
fn arguments(evaluator: &Evaluator<'_>, call: &Value) -> String {
    let args = call.arguments.as_deref().unwrap_or_default();
    let told = args.iter().filter(|arg| !is_connection(arg));
    told.map(|arg| argument(evaluator, arg)).collect::<Vec<_>>().join(", ")
}

fn argument(evaluator: &Evaluator<'_>, arg: &Value) -> String {
    let text = template(&expanded(evaluator, arg, 0));
    if text.chars().any(char::is_alphanumeric) {
        return text;
    }
    let fields = arg.flows.fields.iter().map(|(owner, name)| format!("{owner}.{name}"));
    let fields = fields.collect::<Vec<_>>().join("+");
    if fields.is_empty() { "{}".to_owned() } else { fields }
}

/// What a key is asked from rather than made of.
fn is_connection(arg: &Value) -> bool {
    let name = arg.ty.as_ref().map(|ty| ty.name().to_ascii_lowercase()).unwrap_or_default();
    ["conn", "client", "pool", "manager"].iter().any(|word| name.contains(word))
}

fn template(pieces: &[Piece]) -> String {
    let mut text = String::new();
    for piece in pieces {
        match piece {
            Piece::Text { text: part, .. } => text.push_str(part),
            Piece::Hole(value) => match &value.form {
                Form::Int(number) => text.push_str(&number.to_string()),
                _ => text.push_str("{}"),
            },
        }
    }
    text
}

/// The pieces with fields replaced by what their constructors put in, where all of them agree.
fn expanded(evaluator: &Evaluator<'_>, key: &Value, depth: usize) -> Vec<Piece> {
    let mut all = Vec::new();
    for piece in key.pieces() {
        match &piece {
            Piece::Hole(value) if depth < MAX_DEPTH => match field_text(evaluator, value) {
                Some(text) => all.extend(expanded(evaluator, &text, depth + 1)),
                None => all.push(piece),
            },
            _ => all.push(piece),
        }
    }
    all
}

fn field_text(evaluator: &Evaluator<'_>, value: &Value) -> Option<Value> {
    let Form::Symbol(Symbol::Field { owner, name }) = &value.form else { return None };
    let known = evaluator.fields.get(&(owner.clone(), name.clone()))?;
    let mut texts = known.iter().filter(|value| is_telling(value));
    let first = texts.next()?;
    let same = texts.all(|other| template(&other.pieces()) == template(&first.pieces()));
    same.then(|| first.clone())
}

fn is_telling(value: &Value) -> bool {
    template(&value.pieces()).chars().any(char::is_alphanumeric)
}

/// Whether a value, or what constructors put into the field that it is, differs for each evaluation.
pub fn is_random(evaluator: &Evaluator<'_>, value: &Value) -> bool {
    if value.flows.random {
        return true;
    }
    let Some(known) = field_values(evaluator, value) else { return false };
    known.iter().any(|value| value.flows.random)
}

/// Whether a value, or all that constructors put into the field that it is, names the process or its host.
pub fn is_of_process(evaluator: &Evaluator<'_>, value: &Value) -> bool {
    // What else flows in, such as the number of a job, may tell the holders apart.
    let nothing_else = |value: &Value| {
        let flows = &value.flows;
        flows.process && flows.params.is_empty() && flows.fields.is_empty() && flows.replies.is_empty()
    };
    if nothing_else(value) {
        return true;
    }
    let Some(known) = field_values(evaluator, value) else { return false };
    !known.is_empty() && known.iter().all(nothing_else)
}

/// What constructors put into the field that a value is.
pub fn field_values<'e>(evaluator: &'e Evaluator<'_>, value: &Value) -> Option<&'e [Value]> {
    let Form::Symbol(Symbol::Field { owner, name }) = &value.form else { return None };
    let key: (Rc<str>, Rc<str>) = (owner.clone(), name.clone());
    evaluator.fields.get(&key).map(|known| &known[..])
}

//! Documents that are merged into an object which is a lease: what one does to it, by the words in it. Which
//! words these are is the client model's; whether it is a defect is for rules.

use super::super::evaluate::REST;
use super::super::trace::MergeCall;
use super::super::value::{Form, Record, Selector, Symbol, Value};

/// What a merge does to a lease when nothing refuses it.
#[derive(Debug)]
pub enum Effect {
    /// Nobody holds it any more.
    Clears,
    /// It ends later, whoever holds it.
    Renews,
    /// This holder takes it.
    Holds(Value),
}

/// Objects inside objects are followed this deep.
const MAX_DEPTH: usize = 8;

/// What a merge can do, one entry for each document that may be meant; nothing for one that expects a version
/// or shows too little.
pub fn merge_effects(call: &MergeCall) -> Vec<Effect> {
    match &call.document.form {
        Form::Selected(selection) if matches!(selection.by, Selector::Condition) => {
            selection.cases.iter().filter_map(|(_, document)| effect(call, document)).collect()
        }
        _ => effect(call, &call.document).into_iter().collect(),
    }
}

fn effect(call: &MergeCall, document: &Value) -> Option<Effect> {
    let entries = entries(document)?;
    let behind = |word: &str| {
        let at = entries.iter().position(|entry| entry.as_text().is_some_and(|text| is_same(&text, word)))?;
        entries.get(at + 1)
    };
    // Metadata that was made elsewhere may hold the version.
    if behind("metadata").is_some_and(|first| first.as_text().is_none())
        || behind(&call.words.version).is_some_and(|version| !is_nothing(version))
    {
        return None;
    }
    match behind(&call.words.holder) {
        Some(holder) if is_nothing(holder) => Some(Effect::Clears),
        Some(holder) => Some(Effect::Holds(held(holder).clone())),
        None => behind(&call.words.deadline).filter(|end| !is_nothing(end)).map(|_| Effect::Renews),
    }
}

/// The keys and values of a document in order; `None` when some of it is made elsewhere.
fn entries(document: &Value) -> Option<Vec<Value>> {
    match &document.form {
        Form::Document(parts) => Some(parts.to_vec()),
        Form::Record(record) => {
            let mut all = Vec::new();
            flatten(record, MAX_DEPTH, &mut all)?;
            Some(all)
        }
        _ => None,
    }
}

fn flatten(record: &Record, depth: usize, all: &mut Vec<Value>) -> Option<()> {
    let depth = depth.checked_sub(1)?;
    for (field, value) in &record.fields {
        if **field == *REST {
            return None;
        }
        all.push(Value::text(field));
        match &held(value).form {
            Form::Record(inner) => flatten(inner, depth, all)?,
            _ => all.push(value.clone()),
        }
    }
    Some(())
}

/// What an option holds.
fn held(value: &Value) -> &Value {
    match &value.form {
        Form::Variant("Some", Some(inner)) => inner,
        _ => value,
    }
}

/// `holder_identity` and `holderIdentity`.
fn is_same(field: &str, word: &str) -> bool {
    let letters =
        |text: &str| text.chars().filter(|c| *c != '_').flat_map(char::to_lowercase).collect::<String>();
    letters(field) == letters(word)
}

/// `null`, `None`, the empty text.
fn is_nothing(value: &Value) -> bool {
    match &held(value).form {
        Form::Variant("None", _) => true,
        Form::Symbol(Symbol::Call(name)) => &**name == "null",
        Form::Symbol(Symbol::Local(name)) => &**name == "null",
        _ => held(value).as_text().is_some_and(|text| text.is_empty()),
    }
}

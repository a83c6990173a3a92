//! Leases and sessions that keys are tied to: granting, keeping alive, ending them, and reading what the store
//! answers to a sign of life. Which locks are tied to one is worked out when all functions are known.

use std::collections::{BTreeMap, BTreeSet};

use crate::facts::{Location, Span};

use super::{Frame, construct::REST};
use crate::resolve::models::{ActionName, Command};
use crate::resolve::trace::Action;
use crate::resolve::value::{Expiry, Form, Layer, Piece, Record, Value};

/// Streams of answers to signs of life.
#[derive(Debug, Default)]
pub(super) struct SignsOfLife {
    /// From each later sign of life to the operation that opened its stream.
    opened_by: BTreeMap<usize, usize>,
    /// Streams that are read before, or beside, what is sent.
    read_beside: BTreeSet<usize>,
}

impl Frame<'_, '_> {
    /// A call of a client that is about a lease.
    pub(super) fn lease_call(
        &mut self,
        span: Span,
        command: &Command,
        object: Option<&Value>,
        args: &[Value],
    ) -> Option<Value> {
        let lease = command.key.and_then(|at| args.get(at)).or(object).cloned().unwrap_or_default();
        let location = self.location(span);
        let action = match command.action {
            ActionName::KeepAliveAnswer => return self.answer_to_sign_of_life(object?),
            ActionName::Grant => {
                let ttl = command.ttl.and_then(|at| args.get(at)).cloned().unwrap_or_default();
                Action::Grant { expiry: super::store::expiry(command.unit, &ttl) }
            }
            ActionName::KeepAlive => Action::KeepAlive,
            ActionName::Revoke => Action::Revoke,
            _ => return None,
        };
        let is_later = command.receiver && matches!(action, Action::KeepAlive);
        let stream = is_later.then(|| self.stream_of(&lease));
        let opened = stream.flatten().and_then(|stream| self.trace.operations.get(stream));
        let lease = opened.map_or(lease, |opened| opened.key.clone());
        let reply = self.emit_lease(location, action, lease, None);
        if let Some(operation) = self.trace.operations.last_mut() {
            operation.refusal = command.refusal;
            operation.advice.clone_from(&command.advice);
        }
        if let Some(stream) = stream {
            self.note_sign_of_life(stream);
        }
        Some(reply)
    }

    /// Writes an operation down; what it answers with belongs to its lease.
    pub(super) fn emit_lease(
        &mut self,
        location: Location,
        action: Action,
        key: Value,
        value: Option<Value>,
    ) -> Value {
        let grants = matches!(action, Action::Grant { .. });
        let keeps = matches!(action, Action::KeepAlive);
        let lease = key.flows.clone();
        let key = if grants { Value::unknown() } else { key };
        let mut reply = self.emit_at(location, action, key, value, None);
        if grants {
            reply.flows.lease = Some(location);
        } else if keeps {
            reply = reply.with_flows(&lease);
        }
        reply
    }

    /// The operation that opened the stream which a value belongs to.
    fn stream_of(&self, value: &Value) -> Option<usize> {
        let opened = |at: &&usize| {
            self.trace
                .operations
                .get(**at)
                .is_some_and(|operation| matches!(operation.action, Action::KeepAlive))
        };
        value.flows.replies.iter().rfind(opened).copied()
    }

    /// The operation just written down is a further sign of life on this stream.
    fn note_sign_of_life(&mut self, stream: Option<usize>) {
        let Some(at) = self.trace.operations.len().checked_sub(1) else { return };
        match stream {
            Some(stream) if !self.signs_of_life.read_beside.contains(&stream) => {
                self.signs_of_life.opened_by.insert(at, stream);
            }
            // Somebody else reads the answers.
            _ => self.trace.mark(at, |uses| uses.passed = true),
        }
    }

    /// `stream.message()`: the answer to the last sign of life.
    fn answer_to_sign_of_life(&mut self, stream: &Value) -> Option<Value> {
        let Some(opened) = self.stream_of(stream) else {
            // It may be the stream of a caller.
            if stream.flows.replies.is_empty() {
                self.mark(stream, |uses| uses.passed = true);
            }
            return None;
        };
        let last = self.signs_of_life.opened_by.iter().rfind(|(_, stream)| **stream == opened);
        let Some((&last, _)) = last else {
            self.signs_of_life.read_beside.insert(opened);
            return Some(Value::new(Form::Reply(opened, Layer::Message)));
        };
        Some(Value::new(Form::Reply(last, Layer::Message)))
    }

    /// Signs of life whose answers go where they are not followed.
    pub(super) fn settle_signs_of_life(&mut self) {
        for (sign, opened) in std::mem::take(&mut self.signs_of_life.opened_by) {
            let uses = self.trace.operations.get(opened).map(|operation| operation.uses);
            if uses.is_some_and(|uses| uses.passed || uses.returned || uses.tested) {
                self.trace.mark(sign, |uses| uses.passed = true);
            }
        }
    }
}

/// The lifetime that a document gives under a word, as `15s`.
pub(super) fn lifetime_in_document(body: Option<&Value>, word: &str) -> Expiry {
    let Some(body) = body else { return Expiry::None };
    match &body.form {
        Form::Document(parts) => {
            let at = parts.iter().position(|part| part.as_text().is_some_and(|text| text == word));
            at.map_or(Expiry::None, |at| parts.get(at + 1).map_or(Expiry::Unknown, written_lifetime))
        }
        Form::Record(record) => lifetime_in_record(record, word),
        Form::Variant("Some" | "Ok", Some(inner)) => lifetime_in_document(Some(inner), word),
        Form::Text(pieces) => {
            let says = |piece: &Piece| matches!(piece, Piece::Text { text, .. } if text.contains(word));
            let has_holes = pieces.iter().any(|piece| matches!(piece, Piece::Hole(_)));
            if has_holes || pieces.iter().any(says) { Expiry::Unknown } else { Expiry::None }
        }
        _ => Expiry::Unknown,
    }
}

fn lifetime_in_record(record: &Record, word: &str) -> Expiry {
    let named = record.fields.iter().find(|(name, _)| name.eq_ignore_ascii_case(word));
    match named {
        Some((_, value)) => written_lifetime(value),
        None if record.fields.iter().any(|(name, _)| **name == *REST) => Expiry::Unknown,
        None => Expiry::None,
    }
}

fn written_lifetime(value: &Value) -> Expiry {
    match &value.form {
        Form::Variant("None", _) => return Expiry::None,
        Form::Variant("Some", Some(inner)) => return written_lifetime(inner),
        _ => {}
    }
    let pieces = value.pieces();
    let (amount, unit) = match pieces.as_slice() {
        [Piece::Hole(amount), Piece::Text { text, .. }] => ((**amount).clone(), text.to_string()),
        _ => {
            let Some(text) = value.as_text() else { return Expiry::Unknown };
            let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
            let (number, unit) = text.split_at(digits);
            let Ok(number) = number.parse::<i128>() else { return Expiry::Unknown };
            (Value::new(Form::Int(number)), unit.to_owned())
        }
    };
    match unit.as_str() {
        "ms" => super::store::lifetime(1, amount),
        "s" => super::store::lifetime(1000, amount),
        "m" => super::store::lifetime(60_000, amount),
        "h" => super::store::lifetime(3_600_000, amount),
        _ => Expiry::Unknown,
    }
}

//! URLs as templates: the path and the query of a text with holes, taken apart without losing the holes. What
//! a path means to a store is not asked here.

use std::rc::Rc;

use super::value::{Form, Piece, Value};

/// Stands for a hole. No URL holds it.
const HOLE: char = '\u{0}';

/// A URL that is known in part.
pub struct Address {
    text: String,
    holes: Vec<Value>,
    /// Where its query begins: behind the `?`, or at its end.
    query: usize,
}

impl Address {
    pub fn of(url: &Value) -> Self {
        let mut text = String::new();
        let mut holes = Vec::new();
        for piece in url.pieces() {
            match piece {
                Piece::Text { text: part, .. } => text.extend(part.chars().filter(|c| *c != HOLE)),
                Piece::Hole(value) => {
                    text.push(HOLE);
                    holes.push(*value);
                }
            }
        }
        let query = text.find('?').map_or(text.len(), |at| at + 1);
        Self { text, holes, query }
    }

    fn path(&self) -> &str {
        self.text[..self.query].trim_end_matches('?')
    }

    /// What follows `marker` in its path.
    pub fn behind(&self, marker: &str) -> Option<Value> {
        let path = self.path();
        let at = path.find(marker)? + marker.len();
        Some(self.part(at, path.len()))
    }

    /// Its path, when that has no letter of its own.
    pub fn unlettered_path(&self) -> Option<Value> {
        let path = self.path();
        let has_letters = path.chars().any(char::is_alphanumeric);
        (!has_letters && path.contains(HOLE)).then(|| self.part(0, path.len()))
    }

    /// The value of a parameter of its query.
    pub fn parameter(&self, name: &str) -> Option<Value> {
        let mut at = self.query;
        for pair in self.text[self.query..].split('&') {
            if let Some(rest) = pair.strip_prefix(name)
                && (rest.is_empty() || rest.starts_with('='))
            {
                let start = at + name.len() + usize::from(!rest.is_empty());
                return Some(self.part(start, at + pair.len()));
            }
            at += pair.len() + 1;
        }
        None
    }

    fn part(&self, start: usize, end: usize) -> Value {
        let skipped = self.text[..start].matches(HOLE).count();
        let mut holes = self.holes.iter().skip(skipped);
        let mut pieces = Vec::new();
        for run in self.text[start..end].split_inclusive(HOLE) {
            let plain = run.trim_end_matches(HOLE);
            if !plain.is_empty() {
                pieces.push(Piece::Text { text: plain.into(), written: None });
            }
            if run.ends_with(HOLE) {
                pieces.extend(holes.next().map(|hole| Piece::Hole(Box::new(hole.clone()))));
            }
        }
        match pieces.as_slice() {
            [Piece::Hole(only)] => (**only).clone(),
            _ => Value::new(Form::Text(Rc::from(pieces))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::resolve::value::Symbol;

    fn url(parts: &[&str]) -> Address {
        let piece = |part: &&str| match part.strip_prefix(':') {
            Some(name) => Piece::Hole(Box::new(Value::symbol(Symbol::Local(name.into())))),
            None => Piece::Text { text: (*part).into(), written: None },
        };
        Address::of(&Value::new(Form::Text(parts.iter().map(piece).collect())))
    }

    fn name(value: Option<Value>) -> Option<String> {
        match value?.form {
            Form::Symbol(symbol) => Some(symbol.name().to_string()),
            form => Value::new(form).as_text(),
        }
    }

    #[test]
    fn a_key_is_what_follows_the_marker_and_a_parameter_keeps_its_hole() {
        let address = url(&[":base", "/v1/kv/", ":key", "?dc=eu&acquire=", ":session", "&flags=2"]);
        assert_eq!(name(address.behind("/v1/kv/")).as_deref(), Some("key"));
        assert_eq!(name(address.parameter("acquire")).as_deref(), Some("session"));
        assert_eq!(name(address.parameter("flags")).as_deref(), Some("2"));
        assert!(address.parameter("release").is_none());
        assert!(address.behind("/v1/session/").is_none());
    }

    #[test]
    fn a_parameter_may_have_no_value_and_a_path_no_letters() {
        let address = url(&[":base", "/", ":key", "?recurse"]);
        assert!(address.parameter("recurse").is_some());
        assert!(address.unlettered_path().is_some());
        assert!(url(&[":base", "/locks/", ":key"]).unlettered_path().is_none());
    }
}

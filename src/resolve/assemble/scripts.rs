//! Scripts by their text, each parsed once, and functions of libraries by their name.

use std::collections::HashMap;
use std::rc::Rc;

use crate::facts::lua::{LuaFile, Script};
use crate::facts::{FileId, TextMap};

use super::super::trace::ScriptCall;
use super::super::value::{Form, Piece, Value};

fn written_at(source: &Value) -> Option<Place> {
    match source.pieces().first() {
        Some(Piece::Text { written: Some(written), .. }) => Some((written.file, written.map.clone())),
        _ => None,
    }
}

/// Where the text of a script stands.
pub type Place = (FileId, TextMap);

/// Scripts by their text, parsed once; functions of libraries by name.
pub struct Scripts {
    parsed: HashMap<String, Rc<Vec<Script>>>,
    functions: HashMap<String, (FileId, Rc<Vec<Script>>)>,
}

impl Scripts {
    pub fn new(libraries: &[(FileId, &LuaFile)]) -> Self {
        let functions = libraries.iter().flat_map(|(file, library)| {
            library.scripts.iter().filter_map(|script| {
                let name = script.function.clone()?;
                Some((name, (*file, Rc::new(vec![script.clone()]))))
            })
        });
        Self { parsed: HashMap::new(), functions: functions.collect() }
    }

    /// The scripts of a call, and where their text stands.
    pub fn of(&mut self, call: &ScriptCall) -> Option<(Rc<Vec<Script>>, Option<Place>)> {
        if call.is_function {
            let (file, scripts) = self.functions.get(&call.source.as_text()?)?.clone();
            return Some((scripts, Some((file, TextMap::verbatim(0)))));
        }
        Some((self.parsed(&call.source)?, written_at(&call.source)))
    }

    fn parsed(&mut self, source: &Value) -> Option<Rc<Vec<Script>>> {
        let Form::Text(pieces) = &source.form else { return None };
        let text: String = pieces
            .iter()
            .map(|piece| match piece {
                Piece::Text { text, .. } => text.to_string(),
                Piece::Hole(_) => "0".to_owned(),
            })
            .collect();
        Some(
            self.parsed
                .entry(text)
                .or_insert_with_key(|text| Rc::new(crate::lua::parse(text).scripts))
                .clone(),
        )
    }
}

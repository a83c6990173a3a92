//! Scripts by their text, each parsed once, and functions of libraries by their name.

use std::collections::HashMap;
use std::rc::Rc;

use crate::facts::lua::{LuaFile, Operand, Script};
use crate::facts::{FileId, TextMap};

use super::super::evaluate::Evaluator;
use super::super::trace::ScriptCall;
use super::super::value::{Form, Piece, Value};
use super::keys::field_values;

fn written_at(source: &Value) -> Option<Place> {
    match source.pieces().first() {
        Some(Piece::Text { written: Some(written), .. }) => Some((written.file, written.map.clone())),
        _ => None,
    }
}

/// The text of a script object, also of one that constructors put into a field.
fn made_of<'v>(evaluator: &'v Evaluator<'_>, source: &'v Value) -> &'v Value {
    match &source.form {
        Form::Script(script) => &script.source,
        Form::Symbol(_) => match field_values(evaluator, source) {
            Some([Value { form: Form::Script(script), .. }]) => &script.source,
            _ => source,
        },
        _ => source,
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
    pub fn of(
        &mut self,
        evaluator: &Evaluator<'_>,
        call: &ScriptCall,
    ) -> Option<(Rc<Vec<Script>>, Option<Place>)> {
        if call.is_function {
            let (file, scripts) = self.functions.get(&call.source.as_text()?)?.clone();
            return Some((scripts, Some((file, TextMap::verbatim(0)))));
        }
        let source = made_of(evaluator, &call.source);
        Some((self.parsed(source)?, written_at(source)))
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

pub fn only_reads_or_renews(command: &crate::facts::lua::Command) -> bool {
    const FINE: &[&str] =
        &["GET", "HGET", "EXISTS", "TTL", "PTTL", "TIME", "SET", "SETEX", "PSETEX", "HEXISTS", "PUBLISH"];
    FINE.contains(&command.name.as_str()) || command.name.contains("EXPIRE")
}

pub fn amount_and_unit(command: &crate::facts::lua::Command) -> Option<(&Operand, i128)> {
    let behind = |name: &str| {
        let is_word = |arg: &Operand| matches!(arg, Operand::Text(text) if text.eq_ignore_ascii_case(name));
        let at = command.args.iter().position(is_word)?;
        command.args.get(at + 1)
    };
    match command.name.as_str() {
        "EXPIRE" | "SETEX" => command.args.first().map(|amount| (amount, 1000)),
        "PEXPIRE" | "PSETEX" => command.args.first().map(|amount| (amount, 1)),
        "SET" => behind("PX").map(|a| (a, 1)).or_else(|| behind("EX").map(|amount| (amount, 1000))),
        _ => None,
    }
}

/// The value that an operand of a script is at this call.
pub fn operand(operand_fact: &Operand, call: &ScriptCall) -> Value {
    let at = |list: &[Value], number: u32| {
        let index = usize::try_from(number).ok().and_then(|number| number.checked_sub(1));
        index.and_then(|index| list.get(index)).cloned().unwrap_or_default()
    };
    match operand_fact {
        Operand::Key(number) => at(&call.keys, *number),
        Operand::Arg(number) => at(&call.args, *number),
        Operand::Text(text) => Value::text(text),
        Operand::Number(number) => Value::new(Form::Int((*number).into())),
        Operand::Joined(parts) => {
            let pieces: Vec<Piece> = parts.iter().flat_map(|part| operand(part, call).pieces()).collect();
            Value::new(Form::Text(pieces.into()))
        }
        Operand::Local(_) | Operand::Unknown => Value::unknown(),
    }
}

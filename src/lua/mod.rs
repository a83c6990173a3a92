//! The Lua front end: what a Redis script compares before it acts.
//!
//! It reads one text and makes facts of it: the commands that the script sends, and for each the
//! comparison of stored ownership that must hold for it to run. It judges nothing, and knows neither
//! which keys are locks nor who runs the script.

mod command;
mod compare;
mod convert;
mod evaluate;
mod limits;
mod loops;
mod tree;
mod value;
mod walk;

#[cfg(test)]
mod tests;

use crate::facts::Span;
use crate::facts::lua::{Command, LuaFile, Script};
use value::{Closure, Facts, Value};
use walk::Walker;

/// Up to this depth a parse fits the stack of any thread.
const SHALLOW: usize = 8;
/// Enough for the deepest text that [`limits`] lets through.
const STACK: usize = 256 << 20;

/// Reads a script or a function library. Spans are relative to the start of `text`.
pub fn parse(text: &str) -> LuaFile {
    let depth = match limits::depth(text) {
        Ok(depth) => depth,
        Err(problem) => {
            return LuaFile { scripts: Vec::new(), problem: Some(problem) };
        }
    };
    // The parser is not ours: should it panic, that is a problem of this text and of no other.
    let guarded =
        || std::panic::catch_unwind(|| read(text)).unwrap_or_else(|_| unread("its parser failed on it"));
    if depth <= SHALLOW {
        return guarded();
    }
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(STACK).spawn_scoped(scope, guarded);
        thread
            .ok()
            .and_then(|t| t.join().ok())
            .unwrap_or_else(|| unread("it nests too deeply to be read here"))
    })
}

fn unread(why: &str) -> LuaFile {
    let problem = (Span::new(0, 0), format!("the Lua script cannot be parsed: {why}"));
    LuaFile { scripts: Vec::new(), problem: Some(problem) }
}

fn read(text: &str) -> LuaFile {
    let blanked = without_shebang(text);
    let (block, problem) = convert::parse(&blanked);
    let mut walker = Walker::new(text);
    walker.statements(&block);
    let registered = std::mem::take(&mut walker.registered);
    let scripts = if registered.is_empty() {
        vec![Script { function: None, commands: in_order(std::mem::take(&mut walker.commands)) }]
    } else {
        registered.iter().map(|(name, callback)| library_function(&mut walker, name, callback)).collect()
    };
    let exhausted = (walker.steps == 0)
        .then(|| (Span::new(0, 0), "the script has more paths than can be followed".to_owned()));
    LuaFile { scripts, problem: problem.or(exhausted) }
}

/// One registered function, called with the keys and the arguments that `FCALL` hands to it.
fn library_function(walker: &mut Walker<'_>, name: &str, callback: &Closure) -> Script {
    walker.facts = Facts::NONE;
    walker.call(callback, vec![Value::Keys, Value::Args]);
    Script { function: Some(name.to_owned()), commands: in_order(std::mem::take(&mut walker.commands)) }
}

/// A function that is called twice gives its commands twice.
fn in_order(mut commands: Vec<Command>) -> Vec<Command> {
    commands.sort_by_key(|command| command.span);
    commands.dedup();
    commands
}

/// `#!lua name=…` as blanks, so that offsets stay.
fn without_shebang(text: &str) -> std::borrow::Cow<'_, str> {
    if !text.starts_with("#!") {
        return text.into();
    }
    let end = text.find('\n').unwrap_or(text.len());
    format!("{}{}", " ".repeat(end), &text[end..]).into()
}

//! Edits of commands that are written with the `redis` crate: two commands become one, and a lifetime gets
//! the unit that its value has.

use crate::facts::{Location, Span};
use crate::locks::written::{CommandWords, WrittenCommand};
use crate::locks::{Damage, Operation};

use super::{FixDraft, Part};

const COMPARE_AND_DELETE: &str =
    "if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) else return 0 end";

/// Puts a comparison with the owner value into the step that deletes the key.
pub(in crate::rules) fn compare_and_delete(
    read: &Operation,
    delete: &Operation,
    has_delex: bool,
) -> Option<FixDraft> {
    let command = delete.written.as_deref()?;
    let key = match &command.words {
        CommandWords::Method { name, args, .. } if name == "del" || name == "unlink" => args.first()?,
        CommandWords::List(words) => match words.as_slice() {
            [name, key] if has_text(name, "DEL") || has_text(name, "UNLINK") => &key.place,
            _ => return None,
        },
        CommandWords::Method { .. } => return None,
    };
    let owner = owner_of(read, delete)?;
    let library = &command.library;
    let with = if has_delex {
        let mut with = vec![Part::text(format!("{library}::cmd(\"DELEX\").arg(")), Part::Source(*key)];
        with.extend([Part::text(").arg(\"IFEQ\").arg("), Part::Borrowed(owner), Part::text(")")]);
        with.extend(sent(command, "query"));
        with
    } else {
        scripted(command, COMPARE_AND_DELETE, *key, vec![Part::Borrowed(owner)])
    };
    let title = if has_delex {
        "delete with `DELEX … IFEQ`, which compares the owner value"
    } else {
        "delete in a script that compares the owner value"
    };
    Some(FixDraft::machine(title).replace(command.call, with))
}

/// Puts a comparison with the owner value into the step that gives the key more time.
pub(in crate::rules) fn compare_and_expire(read: &Operation, expire: &Operation) -> Option<FixDraft> {
    let command = expire.written.as_deref()?;
    let (name, key) = match &command.words {
        CommandWords::Method { name, args, .. } if name == "expire" || name == "pexpire" => {
            (name.to_ascii_uppercase(), args.first()?)
        }
        CommandWords::List(words) => match words.as_slice() {
            [name, key, _] if has_text(name, "EXPIRE") || has_text(name, "PEXPIRE") => {
                (name.text.as_ref()?.to_ascii_uppercase(), &key.place)
            }
            _ => return None,
        },
        CommandWords::Method { .. } => return None,
    };
    let lifetime = command.lifetime.as_ref()?;
    // A value that takes its type from the method would have none in the script's argument.
    if matches!(command.words, CommandWords::Method { .. })
        && lifetime.known_from.is_none()
        && !lifetime.is_converted
    {
        return None;
    }
    let owner = owner_of(read, expire)?;
    let script = format!(
        "if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('{name}', KEYS[1], ARGV[2]) else return 0 end"
    );
    let with = scripted(command, &script, *key, vec![Part::Borrowed(owner), Part::Source(lifetime.place)]);
    let title = "renew in a script that compares the owner value";
    Some(FixDraft::machine(title).replace(command.call, with))
}

/// Runs a script on one key in the place of a command.
fn scripted(command: &WrittenCommand, script: &str, key: Location, arguments: Vec<Part>) -> Vec<Part> {
    let library = &command.library;
    // A crate that passes `redis` on need not have turned on its feature for `Script`.
    let (start, method) = if command.is_passed_on {
        (format!("{library}::cmd(\"EVAL\").arg(\"{script}\").arg(1).arg("), "query")
    } else {
        (format!("{library}::Script::new(\"{script}\").key("), "invoke")
    };
    let mut with = vec![Part::text(start), Part::Source(key), Part::text(")")];
    for argument in arguments {
        with.extend([Part::text(".arg("), argument, Part::text(")")]);
    }
    with.extend(sent(command, method));
    with
}

/// Takes the lock and gives it its expiry in one command.
pub(in crate::rules) fn acquire_with_expiry(acquire: &Operation, expire: &Operation) -> Option<FixDraft> {
    let (command, later) = (acquire.written.as_deref()?, expire.written.as_deref()?);
    let same_place = acquire.function == expire.function
        && acquire.context.in_loop == expire.context.in_loop
        && command.call.file == later.call.file
        && command.call.span.end <= later.call.span.start;
    let unit = unit_of(later)?;
    let lifetime = later.lifetime.as_ref()?;
    let is_known = lifetime.known_from.is_some_and(|from| from <= command.call.span.start);
    if !same_place || !is_known {
        return None;
    }
    let mut with = vec![Part::text(format!("{}::cmd(\"SET\")", command.library))];
    let mut add = |part: Part| with.extend([Part::text(".arg("), part, Part::text(")")]);
    match &command.words {
        // The reply of SETNX is a number, and that of SET a word; both are read as a `bool` alike.
        CommandWords::Method { name, args, .. } if name == "set_nx" && command.is_bool => {
            args.iter().for_each(|arg| add(Part::Source(*arg)));
            add(Part::text("\"NX\""));
        }
        CommandWords::List(words) => match words.as_slice() {
            [name, key, value] if has_text(name, "SETNX") && command.is_bool => {
                add(Part::Source(key.place));
                add(Part::Source(value.place));
                add(Part::text("\"NX\""));
            }
            [name, rest @ ..] if has_text(name, "SET") => {
                rest.iter().for_each(|word| add(Part::Source(word.place)));
            }
            _ => return None,
        },
        CommandWords::Method { .. } => return None,
    }
    add(Part::text(format!("\"{unit}\"")));
    add(Part::Source(lifetime.place));
    with.extend(sent(command, "query"));
    let title = format!("take it with `SET … NX {unit}`");
    Some(FixDraft::machine(title).replace(command.call, with).remove_statement(later.statement?))
}

/// Gives a lifetime in milliseconds that was cut to seconds, or that was taken for milliseconds.
pub(in crate::rules) fn milliseconds(operation: &Operation, damage: Damage) -> Option<FixDraft> {
    let command = operation.written.as_deref()?;
    let lifetime = command.lifetime.as_ref()?;
    let method = lifetime.seconds_method?;
    let fix = FixDraft::machine("give the lifetime in milliseconds").swap(method, &["as_secs"], "as_millis");
    let fix = match damage {
        Damage::Cut => in_milliseconds(fix, command)?,
        Damage::SecondsAsMilliseconds => fix,
        Damage::Narrowed | Damage::MillisecondsAsSeconds => return None,
    };
    if lifetime.is_converted {
        return Some(fix);
    }
    // `as_millis` gives 128 bits, which only lists of words take, and not in every version.
    let brackets = Span::new(method.span.end, lifetime.place.span.end);
    let brackets = Location { span: brackets, ..lifetime.place };
    Some(fix.swap(brackets, &["()"], "() as u64"))
}

/// The command that counts milliseconds in the place of the one that counts seconds.
fn in_milliseconds(fix: FixDraft, command: &WrittenCommand) -> Option<FixDraft> {
    match &command.words {
        CommandWords::Method { name_place, name, .. } => match name.as_str() {
            "expire" => Some(fix.swap(*name_place, &["expire"], "pexpire")),
            "set_ex" => Some(fix.swap(*name_place, &["set_ex"], "pset_ex")),
            _ => None,
        },
        CommandWords::List(words) => {
            let is_unit = |text: &&str| words.iter().any(|word| has_text(word, text));
            let (from, to) =
                [("EX", "\"PX\""), ("EXPIRE", "\"PEXPIRE\"")].into_iter().find(|(name, _)| is_unit(name))?;
            let word = words.iter().find(|word| has_text(word, from))?;
            Some(fix.replace(word.place, vec![Part::text(to)]))
        }
    }
}

/// The comparison that the step depends on, when it is with what this read found.
fn owner_of(read: &Operation, step: &Operation) -> Option<Location> {
    let owner = step.written.as_deref()?.owner?;
    let (found, read) = (owner.read, read.location);
    // A read may be named by its method alone.
    let is_read =
        found.file == read.file && found.span.end == read.span.end && found.span.start <= read.span.start;
    is_read.then_some(owner.place)
}

fn unit_of(command: &WrittenCommand) -> Option<&'static str> {
    let name = match &command.words {
        CommandWords::Method { name, .. } => name.as_str(),
        CommandWords::List(words) => words.first()?.text.as_deref()?,
    };
    match name.to_ascii_lowercase().as_str() {
        "expire" => Some("EX"),
        "pexpire" => Some("PX"),
        _ => None,
    }
}

/// `.query_async(&mut conn)`
fn sent(command: &WrittenCommand, method: &str) -> Vec<Part> {
    let suffix = if command.is_awaited { "_async" } else { "" };
    let borrow = if command.connection.is_owned { "&mut " } else { "" };
    let connection = Part::Source(command.connection.place);
    vec![Part::text(format!(".{method}{suffix}({borrow}")), connection, Part::text(")")]
}

fn has_text(word: &crate::locks::written::Word, text: &str) -> bool {
    word.text.as_deref().is_some_and(|found| found.eq_ignore_ascii_case(text))
}

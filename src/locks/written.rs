//! How a command is written in Rust code of the `redis` crate: the places of its parts, for those who want to
//! write it anew. What the command means is in [`super::Operation`].

use crate::facts::Location;

/// One command, sent by a call of its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WrittenCommand {
    /// The call, without the `.await` and `?` behind it.
    pub call: Location,
    /// The path of the crate where it is written, such as `redis`.
    pub library: String,
    /// The crate comes from another one that passes it on.
    pub is_passed_on: bool,
    pub is_awaited: bool,
    pub words: CommandWords,
    /// What is passed where a command is sent.
    pub connection: Connection,
    /// The code reads the reply as a `bool`.
    pub is_bool: bool,
    /// The statement that does nothing else, and whose value nobody uses.
    pub statement: Option<Location>,
    pub lifetime: Option<WrittenLifetime>,
    /// What a value that was read before is compared with, where that can be named at this call as well.
    pub owner: Option<WrittenOwner>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CommandWords {
    /// `conn.set_nx(key, value)`
    Method { name: String, name_place: Location, args: Vec<Location> },
    /// `redis::cmd("SETNX").arg(key).arg(value).query(conn)`; the command's name is the first word.
    List(Vec<Word>),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Word {
    pub place: Location,
    /// Its text, where it is a literal.
    pub text: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Connection {
    pub place: Location,
    /// It has to be borrowed first.
    pub is_owned: bool,
}

/// A lifetime that is an argument of the command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WrittenLifetime {
    pub place: Location,
    /// It can be written at an earlier command of the same function, from this offset on.
    pub known_from: Option<u32>,
    /// `as_secs` in `ttl.as_secs()`.
    pub seconds_method: Option<Location>,
    /// It is converted to another type of number.
    pub is_converted: bool,
}

/// The read, and what its value is compared with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WrittenOwner {
    pub read: Location,
    pub place: Location,
}

//! Looks for the wanted names in the texts of files that are not parsed: identifiers, with the word before them that
//! makes a definition, or the sign behind them that makes a use.

use std::collections::{BTreeSet, HashMap};

use super::common_names::EVERYBODY;

/// A name that more files than this define could mean any of them.
const MOST_DEFINITIONS: usize = 2;

/// A name that more files than this call is no name of a lock's.
const MOST_CALLERS: usize = 6;

/// Shorter names are everybody's.
const SHORTEST: usize = 4;

/// Words before the name of a constant or a type that is defined, and of what another name is given to.
const BEFORE_DEFINITIONS: &[&str] = &["const", "static", "mut", "struct", "enum", "type", "trait", "as"];

/// The same before the name of a function.
const BEFORE_FUNCTIONS: &[&str] = &["fn", "as"];

/// What the files of one package are searched for.
#[derive(Default)]
pub(super) struct Wanted<'d> {
    pub(super) definitions: BTreeSet<&'d String>,
    pub(super) uses: BTreeSet<&'d String>,
    pub(super) opened: BTreeSet<&'d String>,
    pub(super) imported: BTreeSet<&'d (String, String)>,
    /// Where locks are taken, it matters how the program ends.
    pub(super) programs: bool,
}

impl Wanted<'_> {
    pub(super) fn search(&self) -> Option<Search> {
        let mut names: HashMap<String, Meaning> = HashMap::new();
        let mut shapes = Shapes::default();
        let definitions = self.definitions.iter().map(|name| (name, true));
        let uses = self.uses.iter().map(|name| (name, false));
        for (name, is_definition) in definitions.chain(uses).filter(|(name, _)| is_telling(name)) {
            shapes.add(name.as_bytes());
            let next = names.len();
            let meaning = names.entry((*name).clone()).or_insert_with(|| Meaning::of(name, next));
            meaning.is_defined |= is_definition;
            meaning.is_used |= !is_definition;
        }
        if names.is_empty() && !self.programs {
            return None;
        }
        let opened = self.opened.iter().map(|name| (*name).clone()).collect();
        let imported = self.imported.iter().map(|pair| (*pair).clone()).collect();
        Some(Search { names, shapes, opened, imported, programs: self.programs })
    }
}

/// What is wanted of a name.
struct Meaning {
    number: usize,
    /// It is a constant's or a type's.
    is_upper: bool,
    is_defined: bool,
    is_used: bool,
}

impl Meaning {
    fn of(name: &str, number: usize) -> Self {
        Self { number, is_upper: name.starts_with(char::is_uppercase), is_defined: false, is_used: false }
    }

    fn defines(&self, before: &str) -> bool {
        let words = if self.is_upper { BEFORE_DEFINITIONS } else { BEFORE_FUNCTIONS };
        self.is_defined && words.contains(&before)
    }

    fn uses(&self, behind: Option<u8>) -> bool {
        let signs: &[u8] = if self.is_upper { b".)," } else { b"(" };
        self.is_used && behind.is_some_and(|sign| signs.contains(&sign))
    }
}

/// Which identifiers can be among the wanted, by their length and their ends: nearly none of a text can, so that few
/// are looked up.
#[derive(Clone)]
struct Shapes([u64; 1024]);

impl Default for Shapes {
    fn default() -> Self {
        Self([0; 1024])
    }
}

impl Shapes {
    fn add(&mut self, name: &[u8]) {
        let at = Self::place(name);
        self.0[at / 64] |= 1 << (at % 64);
    }

    fn may_be(&self, name: &[u8]) -> bool {
        let at = Self::place(name);
        self.0[at / 64] & (1 << (at % 64)) != 0
    }

    fn place(name: &[u8]) -> usize {
        let (Some(first), Some(last)) = (name.first(), name.last()) else { return 0 };
        let mixed = usize::from(*first) * 37 + usize::from(*last) * 7_919 + name.len() * 104_729;
        mixed % (1024 * 64)
    }
}

/// A wanted name in a text: as a definition, or as a use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::check) struct Hit {
    name: usize,
    is_definition: bool,
}

impl Hit {
    /// Whether a name that so many files hold still tells which of them is meant.
    pub(in crate::check) fn tells(self, files: usize) -> bool {
        files <= if self.is_definition { MOST_DEFINITIONS } else { MOST_CALLERS }
    }
}

/// A search for names in the files of one package.
pub(in crate::check) struct Search {
    names: HashMap<String, Meaning>,
    shapes: Shapes,
    opened: BTreeSet<String>,
    imported: Vec<(String, String)>,
    programs: bool,
}

impl Search {
    /// Whether a file is a module that is opened by a glob, and hands on names of others, or one that an
    /// import names, with what it imports; or a program whose `main` may lead to a lock by any name.
    pub(in crate::check) fn opens(&self, path: &str, text: &str) -> bool {
        if self.programs && is_program(path) && text.contains("fn main(") {
            return true;
        }
        let mut parts = path.trim_end_matches(".rs").rsplit('/');
        let name = parts.next().filter(|name| *name != "mod").or_else(|| parts.next());
        let Some(name) = name else { return false };
        if self.opened.contains(name) && text.contains("pub use") {
            return true;
        }
        let is_above = path.ends_with("/mod.rs") || matches!(name, "lib" | "main");
        self.imported.iter().filter(|(module, _)| module == name || (is_above && is_own_crate(module))).any(
            |(_, item)| text.contains(&format!("fn {item}(")) || text.contains(&format!("const {item}:")),
        )
    }

    /// The wanted names that stand in the text.
    pub(in crate::check) fn hits_in(&self, text: &str) -> BTreeSet<Hit> {
        let mut hits = BTreeSet::new();
        let mut before = "";
        for word in Identifiers::new(text) {
            if self.shapes.may_be(word.text.as_bytes())
                && let Some(meaning) = self.names.get(word.text)
            {
                let name = meaning.number;
                if word.follows_space && meaning.defines(before) {
                    hits.insert(Hit { name, is_definition: true });
                }
                if meaning.uses(word.behind) {
                    hits.insert(Hit { name, is_definition: false });
                }
            }
            before = word.text;
        }
        hits
    }
}

/// An identifier in a text.
struct Word<'t> {
    text: &'t str,
    /// Nothing but one space is between it and the one before.
    follows_space: bool,
    /// The byte behind it.
    behind: Option<u8>,
}

/// All identifiers of a text, those in comments and texts among them.
struct Identifiers<'t> {
    text: &'t str,
    at: usize,
    /// The end of the last one.
    end: usize,
}

impl<'t> Identifiers<'t> {
    fn new(text: &'t str) -> Self {
        Self { text, at: 0, end: 0 }
    }
}

impl<'t> Iterator for Identifiers<'t> {
    type Item = Word<'t>;

    fn next(&mut self) -> Option<Word<'t>> {
        let bytes = self.text.as_bytes();
        let start = self.at + bytes.get(self.at..)?.iter().position(|byte| is_part(*byte))?;
        let rest = &bytes[start..];
        let end = start + rest.iter().position(|byte| !is_part(*byte)).unwrap_or(rest.len());
        let follows_space = start == self.end + 1 && bytes[self.end] == b' ';
        (self.at, self.end) = (end, end);
        Some(Word { text: &self.text[start..end], follows_space, behind: bytes.get(end).copied() })
    }
}

/// Letters outside of ASCII count as well, so that a slice never ends inside of one.
fn is_part(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || !byte.is_ascii()
}

pub(super) fn is_own_crate(segment: &str) -> bool {
    matches!(segment, "crate" | "self" | "super")
}

fn is_program(path: &str) -> bool {
    path == "main.rs" || path.ends_with("/main.rs") || path.contains("/bin/")
}

fn is_telling(name: &str) -> bool {
    name.len() >= SHORTEST && !EVERYBODY.contains(&name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hits(definitions: &[&str], uses: &[&str], text: &str) -> Vec<(usize, bool)> {
        let own = |names: &[&str]| names.iter().map(ToString::to_string).collect::<Vec<_>>();
        let (definitions, uses) = (own(definitions), own(uses));
        let wanted = Wanted {
            definitions: definitions.iter().collect(),
            uses: uses.iter().collect(),
            ..Wanted::default()
        };
        let search = wanted.search().unwrap();
        search.hits_in(text).into_iter().map(|hit| (hit.name, hit.is_definition)).collect()
    }

    #[test]
    fn a_definition_is_the_whole_name_behind_its_word() {
        let wanted = &["lock_key", "LOCK_TTL"];
        assert_eq!(hits(wanted, &[], "pub fn lock_key(id: u64) {}"), [(1, true)]);
        assert_eq!(hits(wanted, &[], "static LOCK_TTL: u64 = 1; use x::{key as lock_key};").len(), 2);
        for text in ["fn lock_key_of()", "lock_key()", "fn  other() { lock_key }", "fn clock_key()"] {
            assert_eq!(hits(wanted, &[], text), [], "{text}");
        }
    }

    #[test]
    fn a_use_is_a_call_of_a_function_or_a_constant_that_is_handed_on() {
        let wanted = &["renew_lease", "RELEASE"];
        assert_eq!(hits(&[], wanted, "self.renew_lease(key)"), [(1, false)]);
        assert_eq!(hits(&[], wanted, "run(&RELEASE).await; RELEASE.key(k)"), [(0, false)]);
        for text in ["fn renewer() {}", "let renew_lease = 1;", "RELEASED.key()", "größe_renew_lease(1)"] {
            assert_eq!(hits(&[], wanted, text), [], "{text}");
        }
    }

    #[test]
    fn a_name_that_many_files_hold_tells_nothing() {
        let (definition, call) =
            (Hit { name: 0, is_definition: true }, Hit { name: 0, is_definition: false });
        assert!(definition.tells(MOST_DEFINITIONS) && !definition.tells(MOST_DEFINITIONS + 1));
        assert!(call.tells(MOST_CALLERS) && !call.tells(MOST_CALLERS + 1));
    }
}

//! Inputs that nobody would write: the sources of fixtures and cases, changed at random, through every front end. None may
//! panic, hang or overflow the stack. A few thousand in every run; `LEASELINT_MUTATIONS=1000000 cargo test --release --test
//! mutated_inputs` for each front end that many. The seed is fixed, so that what fails fails again.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test that cannot set itself up has failed; figures are for people"
)]

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::time::{Duration, Instant};
use std::{env, fs, thread};

use leaselint::configuration::Configuration;
use leaselint::facts::sql::Dialect;
use leaselint::sources::{DEPTH_LIMIT, FileKind, Words, too_deep_at, without_test_modules};
use leaselint::{lua, rust, sql, suppression};

/// Texts that parsers stumble over.
const PIECES: &[&str] = &[
    "{",
    "}",
    "(",
    ")",
    "[",
    "]",
    "<",
    ">",
    "\"",
    "'",
    "\\",
    "r#\"",
    "\"#",
    "/*",
    "*/",
    "//",
    "--",
    "--[[",
    "]]",
    "$$",
    "$a$",
    "`",
    ";",
    ",",
    ".",
    "::",
    "=>",
    "->",
    "..=",
    "#[cfg(test)]",
    "mod tests {",
    "#!",
    "&&",
    "||",
    "|x|",
    "async",
    "await",
    "?",
    "\0",
    "\u{feff}",
    "\u{202e}",
    "é",
    "\r",
    "\n",
    "\t",
    "''",
    "0x",
    "1e999",
    "18446744073709551616",
    "leaselint: allow(",
    "leaselint: allow-file(",
    "reason = \"",
    "BEGIN",
    "END",
    "DELIMITER //",
    "COPY t FROM stdin;\n",
    "\\.",
    "\\set",
    ":name",
    "$1",
    "?",
    "CASE WHEN",
    "WITH RECURSIVE",
    "ON CONFLICT",
    "function",
    "end",
    "if",
    "then",
    "else",
    "local",
    "return",
    "redis.call(",
    "KEYS[1]",
    "[[",
    "= [",
    "\"\"\"",
    "inf",
    "1979-05-27",
];

/// A generator of numbers that is the same everywhere (SplitMix64).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, limit: usize) -> usize {
        usize::try_from(self.next() % limit.max(1) as u64).unwrap()
    }
}

fn seeds(ending: &str) -> Vec<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut found = Vec::new();
    for folder in ["fixtures", "tests/cases", "runtime/src", "tests/databases"] {
        for entry in ignore::WalkBuilder::new(root.join(folder)).sort_by_file_path(Ord::cmp).build().flatten()
        {
            if entry.path().extension().is_some_and(|of_file| of_file == ending)
                && let Ok(text) = fs::read_to_string(entry.path())
            {
                found.push(text);
            }
        }
    }
    assert!(!found.is_empty(), "no seeds for {ending}");
    found
}

/// One to eight changes of a seed.
fn mutated(seeds: &[String], random: &mut Random) -> String {
    let mut bytes = seeds[random.below(seeds.len())].clone().into_bytes();
    for _ in 0..=random.below(8) {
        let (from, to) = (random.below(bytes.len() + 1), random.below(bytes.len() + 1));
        let (from, to) = (from.min(to), from.max(to).min(from.min(to) + 200));
        match random.below(7) {
            0 => drop(bytes.drain(from..to)),
            1 => {
                let piece = PIECES[random.below(PIECES.len())].as_bytes();
                bytes.splice(from..from, piece.iter().copied());
            }
            2 => {
                let again = bytes[from..to].repeat(1 + random.below(40));
                bytes.splice(to..to, again);
            }
            3 => {
                let other = seeds[random.below(seeds.len())].as_bytes();
                let start = random.below(other.len());
                let part = &other[start..other.len().min(start + random.below(300))];
                bytes.splice(from..to, part.iter().copied());
            }
            4 if from < bytes.len() => bytes[from] = u8::try_from(random.below(256)).unwrap(),
            5 => {
                let deep = PIECES[random.below(10)].repeat(1 + random.below(600));
                bytes.splice(from..from, deep.into_bytes());
            }
            _ => bytes.truncate(bytes.len() - random.below(bytes.len() / 4 + 1)),
        }
    }
    bytes.truncate(64 * 1024);
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Reads many mutants; what goes wrong is told with the mutant.
fn try_all(name: &str, ending: &str, share: usize, read: impl Fn(&str) + Sync) {
    let count: usize = env::var("LEASELINT_MUTATIONS").map_or(2_000, |count| count.parse().unwrap()) / share;
    let seeds = seeds(ending);
    let run = || {
        let mut random = Random(u64::try_from(name.len()).unwrap());
        let mut slowest = Duration::ZERO;
        for number in 0..count {
            let text = mutated(&seeds, &mut random);
            let start = Instant::now();
            let outcome = catch_unwind(AssertUnwindSafe(|| read(&text)));
            let took = start.elapsed();
            assert!(outcome.is_ok(), "{name}, mutant {number} panics:\n{text}");
            assert!(took < Duration::from_secs(10), "{name}, mutant {number} takes {took:?}:\n{text}");
            slowest = slowest.max(took);
        }
        println!("{name}: {count} mutants, the slowest took {slowest:.1?}");
    };
    thread::scope(|scope| {
        let thread = thread::Builder::new().stack_size(256 * 1024 * 1024);
        thread
            .spawn_scoped(scope, run)
            .unwrap()
            .join()
            .unwrap_or_else(|panic| std::panic::resume_unwind(panic));
    });
}

#[test]
fn rust_is_borne() {
    let words = Words::with(&[]);
    try_all("rust", "rs", 1, |text| {
        let _ = words.interest(text);
        let code = without_test_modules(text);
        if too_deep_at(&code, DEPTH_LIMIT).is_none() {
            let _ = rust::parse(&code);
        }
    });
}

#[test]
fn sql_is_borne() {
    for (name, dialect) in
        [("postgres", Dialect::Postgres), ("mysql", Dialect::MySql), ("sqlite", Dialect::Sqlite)]
    {
        try_all(name, "sql", 1, |text| {
            let _ = sql::guess_dialect(text);
            let _ = sql::parse(text, dialect);
        });
    }
}

#[test]
fn lua_is_borne() {
    try_all("lua", "lua", 1, |text| {
        let _ = lua::parse(text);
    });
}

#[test]
fn suppressions_are_borne() {
    try_all("suppressions", "rs", 1, |text| {
        for kind in [FileKind::Rust, FileKind::Sql, FileKind::Lua] {
            let found = suppression::scan(kind, &format!("// leaselint:{text}\n-- leaselint: allow({text}"));
            assert!(found.suppressions.len() <= 1_000);
        }
    });
}

#[test]
fn settings_are_borne() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("leaselint.toml");
    try_all("settings", "toml", 4, |text| {
        fs::write(&file, text).unwrap();
        if let Ok(settings) = Configuration::read(&file, folder.path()) {
            let _ = settings.shown();
        }
    });
}

//! Which Rust files can hold a lock operation at all: a plain search over their bytes.
//!
//! Parsing is what costs, so a file is parsed because an operation can stand in it. A word that merely
//! belongs to the subject (`redis`, `lease`) is no such word. What such a file needs from others is found
//! by name afterwards.

use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, AhoCorasickKind, MatchKind};

/// Why a file is worth parsing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Interest {
    /// A lock in a key-value store can be taken, extended or freed in it.
    Lock,
    /// SQL that a token, an owner or a row lock may guard.
    Statement,
    /// It tells how the program ends; of interest only where locks are.
    Signal,
}

/// A lock in Redis is a conditional SET, a script, or the delete and expiry that end it; the clients of other
/// stores, and lock libraries, are rarely there for anything else.
const LOCKS: &[&str] = &[
    "set_nx",
    "setnx",
    "SETNX",
    "SetNx",
    "\"NX\"",
    "\"nx\"",
    " NX ",
    " NX\"",
    "::NX",
    "set_with_options",
    "set_options",
    "set_ex(",
    "set_ex::",
    "pset_ex",
    "Script::new",
    "Script::from",
    "\"EVAL",
    "fcall",
    "FCALL",
    "redis.call",
    ".lua\"",
    "DELEX",
    "IFEQ",
    "del_ex",
    "\"DEL\"",
    "\"UNLINK\"",
    "\"EXPIRE\"",
    "PEXPIRE",
    "pexpire",
    ".del(",
    ".del::<",
    ".unlink(",
    ".unlink::<",
    ".expire(",
    ".expire::<",
    "leaselint:",
    "etcd_client",
    "?acquire=",
    "&acquire=",
    "?release=",
    "/v1/kv",
    "/session/renew/",
    "jetstream::kv",
    "kv::Store",
    "rslock",
    "redlock",
    "distributed_lock",
    "Api<Lease>",
    "coordination::v1",
    // Defaults that decide when a lease is renewed.
    "renew_interval",
    "renewal_interval",
    "watchdog_interval",
    "renew_every",
    "renew_grace",
    "renew_before",
];

/// Statements that a token must guard, in text or in a file that code names.
const STATEMENTS: &[&str] = &[
    "UPDATE ",
    "\"update ",
    "DELETE FROM",
    "delete from ",
    "REPLACE INTO",
    "INSERT OR REPLACE",
    "ON CONFLICT",
    "on conflict",
    "ON DUPLICATE",
    "MERGE INTO",
    "query_file",
    ".sql\"",
    "advisory_lock",
    "advisory_xact",
    "advisory_unlock",
    "GET_LOCK",
    "RELEASE_LOCK",
    "FOR UPDATE",
    "for update",
    "SKIP LOCKED",
    "CREATE TABLE ",
    "ALTER TABLE ",
    "MigrationTrait",
    // What query builders put together, and the tables and rows that they name.
    "diesel::update",
    "diesel::delete",
    "diesel::insert_into",
    "use diesel::{",
    "use diesel::dsl",
    "table! {",
    "AsChangeset",
    "DeriveEntity",
    "DeriveIden",
    "(Iden)",
    "(Iden,",
    ", Iden)",
    ", Iden,",
    "::update_many()",
    "::delete_many()",
    "::delete_by_id(",
    "ActiveModel {",
    "ActiveModel =",
    "into_active_model()",
    "Query::update()",
    "Query::delete()",
    "OnConflict::",
    "Statement::from_s",
    // Questions whether a lease is still held, which stand before what other files write.
    ".is_held(",
    ".still_held(",
    ".ensure_held(",
    ".check_held(",
    ".is_lost(",
];

/// Handlers of signals.
const SIGNALS: &[&str] =
    &["SIGTERM", "SignalKind", "signal_hook", "ctrlc::", "ctrl_c(", "elegant_departure", "scuffle_signal"];

/// A search for the words that make a file worth parsing.
pub struct Words {
    matcher: AhoCorasick,
    /// Of a project's own libraries; they come behind the built-in ones.
    own: Option<AhoCorasick>,
}

impl Words {
    /// The built-in words and those of a project's own libraries, which stand for locks.
    pub fn with(own: &[String]) -> Self {
        let own: Vec<&str> = own.iter().map(String::as_str).filter(|word| !word.is_empty()).collect();
        let own = if own.is_empty() { None } else { search(&own) };
        Self { matcher: MATCHER.clone(), own }
    }

    /// What the needles in the text say of it; a lock anywhere says more than a statement.
    pub fn interest(&self, text: &str) -> Option<Interest> {
        let mut found = None;
        for hit in self.matcher.find_iter(text) {
            let interest = interest_of(hit.pattern().as_usize());
            if interest == Interest::Lock {
                return Some(Interest::Lock);
            }
            found = found.min(Some(interest)).or(Some(interest));
        }
        let is_own = self.own.as_ref().is_some_and(|own| own.is_match(text));
        if is_own { Some(Interest::Lock) } else { found }
    }
}

fn interest_of(needle: usize) -> Interest {
    if needle < LOCKS.len() {
        Interest::Lock
    } else if needle < LOCKS.len() + STATEMENTS.len() {
        Interest::Statement
    } else {
        Interest::Signal
    }
}

static MATCHER: LazyLock<AhoCorasick> = LazyLock::new(|| {
    search(&[LOCKS, STATEMENTS, SIGNALS].concat())
        .expect("a hundred short needles are within the limits of the automaton")
});

/// So many words are too many for the SIMD search; of the automata, the DFA is the fastest by far. `None` when there are
/// more words than it can take.
fn search(words: &[&str]) -> Option<AhoCorasick> {
    let mut builder = AhoCorasick::builder();
    builder.match_kind(MatchKind::LeftmostFirst).kind(Some(AhoCorasickKind::DFA)).build(words).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operations_are_hits_in_the_forms_that_clients_offer() {
        let words = Words::with(&[]);
        for text in [
            "conn.set_nx(key, owner)",
            r#"cmd("SET").arg(k).arg(v).arg("NX").arg("PX")"#,
            r#"client.execute("SET lock 1 NX PX 1000")"#,
            "SetOptions::default().conditional_set(ExistenceCheck::NX)",
            "static RELEASE: &str = \"if redis.call('GET', KEYS[1]) == ARGV[1]\";",
            "// leaselint: allow(get-then-del)",
        ] {
            assert_eq!(words.interest(text), Some(Interest::Lock), "{text}");
        }
        for text in [
            "sqlx::query!(\"select pg_try_advisory_lock($1)\")",
            "sqlx::query(\"update jobs set done = true where id = $1 and owner = $2\")",
            "signal(SignalKind::terminate()); sqlx::query_file!(\"done.sql\")",
            "diesel::update(jobs::table.find(id)).set(jobs::state.eq(1)).execute(conn)",
            "#[derive(Debug, Iden)] enum Jobs { Table }",
        ] {
            assert_eq!(words.interest(text), Some(Interest::Statement), "{text}");
        }
        assert_eq!(words.interest("tokio::signal::ctrl_c().await"), Some(Interest::Signal));
    }

    #[test]
    fn words_of_the_subject_alone_are_no_hits() {
        let words = Words::with(&[]);
        for text in [
            "//! A redis cache with leases, updated on every lock of the mutex.",
            "let guard = self.state.lock().unwrap(); guard.insert(key, value);",
            "// update the counter, delete the old entry and release the lease",
            "let version = package.version();",
            "use syn::{Expr, Ident, Item}; map.update(key); fn call(Ident: u8) {}",
        ] {
            assert_eq!(words.interest(text), None, "{text}");
        }
    }
}

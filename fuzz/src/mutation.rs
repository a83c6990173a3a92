//! Changes of a text by its tokens. Bytes that are changed at random hardly ever parse, so that they show little but
//! what the tokenizer says; tokens that are moved, doubled or put into each other reach what comes behind the parsers.
//!
//! Half of the changes are the fuzzer's own. The same input and seed give the same change.

use std::ops::Range;

#[rustfmt::skip]
pub const WORDS_OF_RUST: &[&str] = &[
    "\"", "r#\"", "\"#", "\\\n", "b\"", "'a", "{}", "{key}", "let ", "else ", "if let ", "match ", "loop ", "while ",
    "for x in ", "async move ", ".await", "?", "=> ", "|x| ", "||", "&&", "..=", "::", "::<", "fn f() ", "impl ", "dyn ",
    "where ", "mod m { ", "#[cfg(test)]", "#![", "macro_rules! m { () => ", "select! { ", "format!(", "println!(",
    "sqlx::query!(", "json!({", "table! { ", "const A: &str = ", "static ", "struct S { ", "enum E { ", "trait T { ",
    "unsafe ", "return ", "break ", "continue", "/*", "*/", "//", "///", "0x", "1e9", "1_000", "\u{feff}", "\r\n",
];

#[rustfmt::skip]
pub const WORDS_OF_SQL: &[&str] = &[
    "'", "''", "\"", "`", "$$", "$a$", "E'", "--", "/*", "*/", ";", "(", ")", "?", "$1", ":a", "@a", "SELECT ",
    "FROM ", "WHERE ", "UPDATE ", "SET ", "INSERT INTO ", "VALUES ", "ON CONFLICT ", "DO UPDATE ", "RETURNING ",
    "ON DUPLICATE KEY UPDATE ", "DELETE ", "WITH a AS (", "UNION ", "FOR UPDATE SKIP LOCKED", "CREATE TABLE ",
    "ALTER TABLE ", "ADD COLUMN ", "DROP ", "CREATE TRIGGER ", "CREATE FUNCTION ", "BEGIN", "END", "IF ", "THEN ",
    "LOOP ", "DELIMITER //", "-- +goose Up", "-- +goose StatementBegin", "-- migrate:down", "DO $$", "CASE WHEN ",
    "NOT NULL", "DEFAULT ", "PRIMARY KEY", "UNIQUE ", "REFERENCES ", "INTERVAL '1 s'", "now()", "COPY a FROM stdin;",
    "\\.", "EXECUTE format(", "pg_advisory_lock(", "GET_LOCK(", "::text", "{}", "\u{feff}", "\r\n",
];

#[rustfmt::skip]
pub const WORDS_OF_LUA: &[&str] = &[
    "'", "\"", "[[", "]]", "[==[", "--", "--[[", "local ", "function ", "end ", "if ", "then ", "elseif ", "else ",
    "while ", "do ", "repeat ", "until ", "for i = 1, 3 ", "in ", "return ", "break ", "not ", "and ", "or ", "nil",
    "true", "false", "==", "~=", "..", "...", "#", "redis.call(", "redis.pcall(", "KEYS[1]", "ARGV[1]", "'GET'",
    "'SET'", "'DEL'", "unpack(", "pcall(", "ipairs(", "tonumber(", "cjson.decode(", "redis.register_function(",
    "{a = 1}", "a.b", "a:b()", "#!lua name=a\n", "goto a", "::a::", "\\z", "1e5", "0x1", "\u{feff}", "\r\n",
];

#[rustfmt::skip]
pub const WORDS_OF_CONFIG: &[&str] = &[
    "\"", "'''", "\"\"\"", "[", "]", "[[", "]]", "{", "}", "=", ",", "#", "select", "ignore", "levels", "exclude",
    "migrations", "dialect", "baseline", "token-columns", "owner-columns", "expiry-columns", "lock-tables",
    "lock-keys", "compare-and-delete", "signal-crates", "[[path]]", "paths", "[[client]]", "name", "crates", "connections",
    "[[client.method]]", "[client.advice]", "names", "action", "key", "args", "receiver", "\"postgres\"", "\"fence\"", "\"off\"", "\"**\"", "\"*:{}\"",
    "\"[a-\"", "\"!x\"", "[workspace.metadata.leaselint]", "true", "1", "-1", "1979-05-27", "\\u0000", "\u{feff}",
];

#[rustfmt::skip]
pub const WORDS_OF_SUPPRESSION: &[&str] = &[
    "// ", "//! ", "/// ", "-- ", "--[[", "]]", "/*", "*/", "leaselint:", "leaselint: allow(", "leaselint: allow-file(",
    "get-then-del", "fence", "reason = \"", "\\\"", "\")", "\"", "r#\"", "'", "$$", ";", "{", "}", "(", ")", "fn f() {",
    "#[test]", "let a = ", "match x {", "=> ", ",", "SELECT ", "UPDATE a SET ", "redis.call(", "local a = ", "end",
    "\r\n", "\n", "\u{feff}", "é",
];

#[rustfmt::skip]
pub const WORDS_OF_CHECK: &[&str] = &[
    "=== src/lib.rs\n", "=== src/a.rs\n", "=== migrations/1_a.sql\n", "=== migrations/2_b.sql\n", "=== a.lua\n",
    "=== Cargo.toml\n", "=== leaselint.toml\n", "=== build.rs\n", "mod a;\n", "include_str!(\"a.lua\")", "fn f() {",
    "async fn ", ".await?", "con.set_nx(", "con.get(", "con.del(", "redis::cmd(\"SET\")", ".arg(", ".query_async(",
    "Script::new(", "sqlx::query(\"", "UPDATE ", " SET ", " WHERE ", "token", "owner", "expires_at", "RETURNING ",
    "tokio::spawn(async move {", "loop {", "select! {", "if let Some(x) = ", "match x {", "return Err(", "format!(",
    "self.", "key", "&key", "lock:{}", "Uuid::new_v4()", "Duration::from_secs(", "pg_advisory_lock(", "begin().await?",
    "commit().await?", "rollback()", "impl Drop for ", "signal(SignalKind::terminate())", "redis.call('", "KEYS[1]",
    "ARGV[1]", "CREATE TABLE ", "ALTER TABLE ", "DROP COLUMN ", "// leaselint: allow(", "#[cfg(test)]",
];

/// Changes the first `size` bytes of `data`, of which at most `most` may be used; gives the new length.
pub fn mutate(
    data: &mut [u8],
    size: usize,
    most: usize,
    seed: u32,
    words: &[&str],
    own: fn(&mut [u8], usize, usize) -> usize,
) -> usize {
    let mut random = Random(u64::from(seed).wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    let text = data.get(..size).and_then(|bytes| std::str::from_utf8(bytes).ok());
    let Some(text) = text.filter(|text| !text.is_empty() && !random.next().is_multiple_of(2)) else {
        return own(data, size, most);
    };
    let mut text = text.to_owned();
    for _ in 0..=random.below(4) {
        let changed = changed(&text, words, &mut random);
        if changed.len() <= most {
            text = changed;
        }
    }
    match data.get_mut(..text.len()) {
        Some(room) => room.copy_from_slice(text.as_bytes()),
        None => return size,
    }
    text.len()
}

/// xorshift64*.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 32
    }

    fn below(&mut self, limit: usize) -> usize {
        (self.next() % limit.max(1) as u64) as usize
    }

    fn of<'t, T>(&mut self, all: &'t [T]) -> Option<&'t T> {
        all.get(self.below(all.len()))
    }
}

fn changed(text: &str, words: &[&str], random: &mut Random) -> String {
    let tokens = tokens(text);
    let (from, to) = (part(text, &tokens, random), part(text, &tokens, random));
    let word = random.of(words).copied().unwrap_or_default();
    let taken = &text[from.clone()];
    let at = |place: Range<usize>, new: &str| format!("{}{new}{}", &text[..place.start], &text[place.end..]);
    match random.below(8) {
        0 => at(from, ""),
        1 => at(to.start..to.start, taken),
        2 => at(to, taken),
        3 => at(from, word),
        4 => at(from.start..from.start, word),
        5 => at(from.start..from.start, &taken.repeat(1 + random.below(64))),
        6 => at(from.start..from.start, &word.repeat(1 + random.below(64))),
        _ if from.end <= to.start => {
            let between = &text[from.end..to.start];
            at(from.start..to.end, &format!("{}{between}{taken}", &text[to]))
        }
        _ => at(from.clone(), &format!("{word}{taken}")),
    }
}

/// A token, some of them, a line, or what stands between two brackets.
fn part(text: &str, tokens: &[Range<usize>], random: &mut Random) -> Range<usize> {
    let first = random.below(tokens.len());
    let Some(start) = tokens.get(first).map(|token| token.start) else { return 0..0 };
    let length = match random.below(6) {
        0 | 1 => 1,
        2 => 1 + random.below(8),
        3 => tokens[first..].iter().take_while(|token| &text[(*token).clone()] != "\n").count() + 1,
        _ => group(text, &tokens[first..]),
    };
    let last = (first + length).min(tokens.len()).saturating_sub(1);
    start..tokens.get(last).map_or(text.len(), |token| token.end).max(start)
}

/// How many tokens reach from the first bracket to its partner.
fn group(text: &str, tokens: &[Range<usize>]) -> usize {
    let mut depth = 0_usize;
    for (at, token) in tokens.iter().enumerate() {
        match &text[token.clone()] {
            "(" | "[" | "{" => depth += 1,
            ")" | "]" | "}" if depth <= 1 => return at + 1,
            ")" | "]" | "}" => depth -= 1,
            _ => {}
        }
    }
    1
}

/// Words and numbers, runs of blanks, and every other character by itself.
fn tokens(text: &str) -> Vec<Range<usize>> {
    let class = |c: char| match c {
        _ if c.is_alphanumeric() || c == '_' => 1,
        ' ' | '\t' => 2,
        _ => 0,
    };
    let mut tokens: Vec<Range<usize>> = Vec::new();
    let mut before = 0;
    for (at, c) in text.char_indices() {
        let (now, end) = (class(c), at + c.len_utf8());
        match tokens.last_mut().filter(|_| now != 0 && now == before) {
            Some(token) => token.end = end,
            None => tokens.push(at..end),
        }
        before = now;
    }
    tokens
}

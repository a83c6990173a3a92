//! A proposal as a `leaselint.toml` with comments. What is seen for certain is set; all else stands behind a `#`.

use std::fmt::Write;

use super::Proposal;
use super::databases::Databases;
use super::histories::History;
use super::verbs::Verb;
use super::wrappers::{Call, Wrapper};
use crate::facts::sql::Dialect;

const HEAD: &str = "\
# What leaselint should know of this project. A key behind a `#` has its default, or is an example.
# `leaselint check --show-config` prints what holds, `leaselint explain RULE` what a rule is about.
";

const SETTINGS: &str = "\
# Rules and groups that are not reported; `leaselint rules` lists them.
# ignore = [\"late-renewal\"]

# What is not looked at; patterns as in .gitignore.
# exclude = [\"/generated/\"]

# Columns, tables and keys whose names do not say that they are part of a lock.
# token-columns = [\"turn_no\"]
# owner-columns = [\"seats.taken_for\"]
# expiry-columns = [\"seats.gone_after\"]
# lock-tables = [\"seats\"]
# lock-keys = [\"turn:{}\"]

# What fixes write in the place of a GET and a DEL: \"script\", or \"delex\" where all servers are Redis 8.4 or newer.
# compare-and-delete = \"script\"

# Known findings, which are not reported again; `leaselint baseline` writes them down.
# baseline = \"leaselint-baseline.json\"
";

const TABLES: &str = "\
# How grave findings are: error, warning, info or off.
# [levels]
# unfenced-write = \"warning\"

# What holds for some files only; later tables count for more.
# [[path]]
# paths = [\"legacy/\"]
# ignore = [\"schema\"]
";

pub(super) fn toml(proposal: &Proposal) -> String {
    let mut parts = vec![HEAD.to_owned()];
    parts.extend(clients(proposal));
    parts.push(databases(&proposal.databases));
    parts.push(histories(&proposal.histories));
    parts.push(SETTINGS.to_owned());
    parts.push(TABLES.to_owned());
    parts.extend(path_tables(&proposal.databases));
    parts.extend(proposal.wrappers.iter().map(wrapper));
    parts.join("\n")
}

fn clients(proposal: &Proposal) -> Option<String> {
    let each = proposal
        .clients
        .iter()
        .map(|client| format!("#   {} ({})\n", comment(&client.package), some(&client.manifests)));
    let lines: String = each.collect();
    (!lines.is_empty()).then(|| format!("# Client libraries seen here whose calls leaselint knows:\n{lines}"))
}

fn databases(seen: &Databases) -> String {
    let head = "# The database that the SQL is written for: \"postgres\", \"mysql\" or \"sqlite\".\n";
    match seen {
        Databases::One(dialect, manifests) => {
            format!("{head}# Seen in {}.\ndialect = {}\n", some(manifests), quoted(name(*dialect)))
        }
        Databases::Several(_) => {
            format!("{head}# The packages of this project differ: see the [[path]] tables below.\n")
        }
        Databases::Likely(dialect, files) => format!(
            "{head}# No manifest shows it; of {files} .sql files the words look like this:\n# dialect = {}\n",
            quoted(name(*dialect))
        ),
        Databases::Nothing => format!("{head}# dialect = \"postgres\"\n"),
    }
}

fn path_tables(seen: &Databases) -> Option<String> {
    let Databases::Several(packages) = seen else { return None };
    // Later tables count for more, and packages are sorted by their folders: an inner one comes after an outer one.
    let each = packages.iter().map(|(folder, dialect, manifest)| {
        let pattern = if folder.is_empty() { "*".to_owned() } else { format!("/{}/", escaped(folder)) };
        format!(
            "# Seen in {}.\n[[path]]\npaths = [{}]\ndialect = {}\n",
            comment(manifest),
            quoted(&pattern),
            quoted(name(*dialect))
        )
    });
    Some(each.collect::<Vec<_>>().join("\n"))
}

fn histories(seen: &[History]) -> String {
    let mut text =
        "# Folders whose .sql files are the history of a schema, in the order of their numbers.\n".to_owned();
    let folder = |history: &History| match history.folder.as_str() {
        "" => ".".to_owned(),
        folder => folder.to_owned(),
    };
    let known: Vec<String> = seen
        .iter()
        .filter(|history| history.is_known)
        .map(|history| {
            let files = if history.files == 1 { "file" } else { "files" };
            format!("{} ({} {files})", folder(history), history.files)
        })
        .collect();
    if !known.is_empty() {
        let _ = writeln!(text, "# These need not be named: {}.", some(&known));
    }
    let unnamed: Vec<&History> = seen.iter().filter(|history| !history.is_known).collect();
    if unnamed.is_empty() {
        text += "# migrations = [\"store/steps\"]\n";
    } else {
        text += "# Numbered, and with tables in them:\n";
        let folders: Vec<String> = unnamed.iter().map(|history| quoted(&folder(history))).collect();
        let _ = writeln!(text, "migrations = [{}]", folders.join(", "));
    }
    text
}

fn wrapper(wrapper: &Wrapper) -> String {
    let mut text = format!(
        "# Calls of `{}`, whose source is not here, seem to take locks. Look at what each of them does to the store,\n\
         # mend the lines where they are wrong, and take the `#` away. All keys: rules/clients/README.md of leaselint.\n\
         # [[client]]\n# name = {}\n# crates = [{}]\n",
        comment(&wrapper.library),
        quoted(&wrapper.library.replace('_', "-")),
        quoted(&wrapper.library),
    );
    if !wrapper.connections.is_empty() {
        let names: Vec<String> = wrapper.connections.iter().map(|name| quoted(name)).collect();
        let _ = writeln!(text, "# connections = [{}]", names.join(", "));
    }
    let methods = wrapper.methods.iter().map(|each| call("method", "names", each));
    let functions = wrapper.functions.iter().map(|each| call("function", "paths", each));
    text.extend(methods.chain(functions));
    text
}

fn call(table: &str, key: &str, call: &Call) -> String {
    let mut text = format!(
        "#\n# # {}\n# [[client.{table}]]\n# {key} = [{}]\n",
        comment(&call.place),
        quoted(&call.name)
    );
    let (action, doubt) = match call.verb {
        Verb::SetIfAbsent => ("set", None),
        Verb::Lock => ("lock", Some("when the library makes and compares the owner value; else \"set\"")),
        Verb::Get => ("get", None),
        Verb::Extend => ("extend", Some("when it compares the owner value; else \"expire\"")),
        Verb::Expire => ("expire", None),
        Verb::Unlock => ("unlock", Some("when it compares the owner value; else \"delete\"")),
        Verb::Delete => ("delete", None),
    };
    let doubt = doubt.map(|doubt| format!(" # {doubt}")).unwrap_or_default();
    let _ = writeln!(text, "# action = \"{action}\"{doubt}");
    if call.verb == Verb::SetIfAbsent {
        text += "# condition = \"if-absent\"\n";
    }
    let _ = writeln!(text, "# key = {}", call.key);
    if let Some(value) = call.value {
        let _ = writeln!(text, "# value = {value}");
    }
    if let Some(ttl) = call.ttl {
        let unit = if call.in_milliseconds { "milliseconds" } else { "seconds" };
        let _ = writeln!(text, "# ttl = {ttl}\n# unit = \"{unit}\"");
    }
    text
}

fn name(dialect: Dialect) -> &'static str {
    match dialect {
        Dialect::Postgres | Dialect::Generic => "postgres",
        Dialect::MySql => "mysql",
        Dialect::Sqlite => "sqlite",
    }
}

/// As TOML writes a text.
fn quoted(text: &str) -> String {
    toml::Value::from(text).to_string()
}

/// A folder's name as a pattern that means it alone.
fn escaped(folder: &str) -> String {
    folder.chars().flat_map(|c| "\\*?[]!#".contains(c).then_some('\\').into_iter().chain([c])).collect()
}

/// The first names of a list, for a comment.
fn some(names: &[String]) -> String {
    const SHOWN: usize = 4;
    let shown: Vec<String> = names.iter().take(SHOWN).map(|name| comment(name)).collect();
    match names.len().saturating_sub(SHOWN) {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}

/// A name of the project, fit to stand in a comment: one that ends its line would be read as a setting.
fn comment(name: &str) -> String {
    name.chars().map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect()
}

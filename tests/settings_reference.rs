//! The reference of the settings: docs/configuration.md has a table for each table of the schema, made of the
//! schema's own words, and the schema names exactly what the parser reads. `BLESS=1 cargo test --test
//! settings_reference` rewrites the page.

#![allow(clippy::unwrap_used, reason = "a test that cannot set itself up has failed")]

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

const BEGIN: &str = "<!-- keys:begin -->\n";
const END: &str = "<!-- keys:end -->";

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn schema() -> Value {
    serde_json::from_str(&fs::read_to_string(root().join("schemas/leaselint.schema.json")).unwrap()).unwrap()
}

/// Where a table stands in the schema, and how it is written in a configuration.
const TABLES: &[(&str, &str, &str)] = &[
    ("", "", "zzz = 1\n"),
    ("/properties/path/items", "[[path]]", "[[path]]\nzzz = 1\n"),
    ("/properties/client/items", "[[client]]", "[[client]]\nname = \"a\"\nzzz = 1\n"),
    (
        "/$defs/command",
        "[[client.method]]` and `[[client.function]]",
        "[[client]]\nname = \"a\"\n[[client.method]]\nnames = [\"b\"]\naction = \"set\"\nzzz = 1\n",
    ),
];

/// What a value looks like, in words.
fn form(schema: &Value, value: &Value) -> String {
    let value = match value["$ref"].as_str() {
        Some(path) => schema.pointer(path.trim_start_matches('#')).unwrap(),
        None => value,
    };
    if let Some(words) = value["enum"].as_array() {
        let words: Vec<String> = words.iter().map(|word| format!("`{}`", word.as_str().unwrap())).collect();
        return words.join(", ");
    }
    match (value["type"].as_str().unwrap_or("table"), value["items"]["type"].as_str()) {
        ("array", Some("string")) => "list of texts",
        ("array", _) => "tables",
        ("object", _) => "table",
        ("string", _) => "text",
        ("integer", _) => "number",
        ("boolean", _) => "`true`, `false`",
        (other, _) => panic!("no words for {other}"),
    }
    .to_owned()
}

fn tables() -> String {
    let schema = schema();
    let table = |(pointer, title, _): &(&str, &str, &str)| {
        let properties = schema.pointer(pointer).unwrap()["properties"].as_object().unwrap();
        let row = |(key, value): (&String, &Value)| {
            let description =
                value["description"].as_str().unwrap_or_else(|| panic!("{key} is not described"));
            let default =
                value["default"].as_str().map(|word| format!(" Default: `{word}`.")).unwrap_or_default();
            format!("| `{key}` | {} | {description}{default} |\n", form(&schema, value))
        };
        let rows: String = properties.iter().map(row).collect();
        let title = if title.is_empty() { String::new() } else { format!("In `{title}`:\n\n") };
        format!("{title}| key | form | what it does |\n|---|---|---|\n{rows}")
    };
    TABLES.iter().map(table).collect::<Vec<_>>().join("\n")
}

#[test]
fn the_page_says_what_the_schema_says() {
    let path = root().join("docs/configuration.md");
    let page = fs::read_to_string(&path).unwrap();
    let (before, rest) = page.split_once(BEGIN).expect("the mark where the tables begin");
    let (shown, after) = rest.split_once(END).expect("the mark where the tables end");
    if std::env::var_os("BLESS").is_some_and(|value| value == "1") {
        fs::write(&path, format!("{before}{BEGIN}{}{END}{after}", tables())).unwrap();
        return;
    }
    assert_eq!(shown, tables(), "BLESS=1 cargo test --test settings_reference rewrites it");
}

/// The words that the parser says it had expected.
fn expected(configuration: &str) -> BTreeSet<String> {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("leaselint.toml"), configuration).unwrap();
    fs::write(folder.path().join("a.sql"), "").unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_leaselint")).current_dir(folder.path()).output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    let (_, list) = said.split_once("expected ").unwrap_or_else(|| panic!("{configuration}: {said}"));
    let list = list.split(';').next().unwrap();
    list.split('`').skip(1).step_by(2).map(str::to_owned).collect()
}

#[test]
fn the_schema_names_what_the_parser_reads() {
    let schema = schema();
    for (pointer, _, unknown) in TABLES {
        let described = schema.pointer(pointer).unwrap()["properties"].as_object().unwrap();
        // Other names for the same, which the parser may list or not.
        let other = match *pointer {
            "/properties/client/items" => "name",
            "/$defs/command" => "paths",
            _ => "",
        };
        let without = |keys: BTreeSet<String>| keys.into_iter().filter(|key| key != other).collect();
        let described: BTreeSet<String> = without(described.keys().cloned().collect());
        let read: BTreeSet<String> = without(expected(unknown));
        assert_eq!(described, read, "{pointer}");
    }
}

#[test]
fn the_schema_names_the_words_that_the_parser_reads() {
    let schema = schema();
    let method = |key: &str| {
        let action = if key == "action" { "zzz" } else { "set" };
        let other = if key == "action" { String::new() } else { format!("{key} = \"zzz\"\n") };
        format!(
            "[[client]]\nname = \"a\"\n[[client.method]]\nnames = [\"b\"]\naction = \"{action}\"\n{other}"
        )
    };
    for (pointer, configuration) in [
        ("/$defs/command/properties/action", method("action")),
        ("/$defs/command/properties/condition", method("condition")),
        ("/$defs/command/properties/unit", method("unit")),
        ("/$defs/command/properties/refusal", method("refusal")),
        ("/$defs/levels/additionalProperties", "[levels]\nfence = \"zzz\"\n".to_owned()),
        ("/properties/compare-and-delete", "compare-and-delete = \"zzz\"\n".to_owned()),
    ] {
        let words = schema.pointer(pointer).unwrap()["enum"].as_array().unwrap();
        let words: BTreeSet<String> = words.iter().map(|word| word.as_str().unwrap().to_owned()).collect();
        let read = expected(&configuration);
        assert_eq!(words, read, "{pointer}");
    }
}

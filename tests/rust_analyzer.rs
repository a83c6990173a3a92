//! What rust-analyzer makes of our `rustc` lines: the real one, with the setting that docs/editors.md tells people to
//! write. `rustup component add rust-analyzer` brings it; without it the test fails, so it is ignored unless asked for.

#![allow(clippy::unwrap_used, reason = "a test that cannot set itself up has failed")]

#[path = "language_server/editor.rs"]
#[allow(dead_code, reason = "our own server is asked for more")]
mod editor;

use std::env;
use std::fs;
use std::path::Path;
use std::process::Command;

use editor::{Editor, applied, uri};
use serde_json::{Value, json};

const FILES: &[(&str, &str)] = &[
    ("Cargo.toml", "[workspace]\nmembers = [\"app\", \"redis\"]\nresolver = \"2\"\n"),
    (
        "app/Cargo.toml",
        "[package]\nname = \"app\"\nedition = \"2021\"\n[dependencies]\nredis = { path = \"../redis\" }\n",
    ),
    // So much of the client that nothing has to be fetched, and too little for the code to compile.
    ("redis/Cargo.toml", "[package]\nname = \"redis\"\nedition = \"2021\"\n"),
    (
        "redis/src/lib.rs",
        "pub mod aio { pub struct ConnectionManager; }\npub type RedisResult<T> = Result<T, ()>;\n",
    ),
];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The command in the page for editors.
fn documented() -> Value {
    let page = fs::read_to_string(root().join("docs/editors.md")).unwrap();
    let (_, rest) = page.split_once("```json\n").expect("the setting is shown as JSON");
    let (block, _) = rest.split_once("```").unwrap();
    let settings: Value = serde_json::from_str(&format!("{{{block}}}")).unwrap();
    settings["rust-analyzer.check.overrideCommand"].clone()
}

fn rust_analyzer() -> Editor {
    let own = Path::new(env!("CARGO_BIN_EXE_leaselint")).parent().unwrap().to_owned();
    let others = env::var_os("PATH").unwrap_or_default();
    let path = env::join_paths(std::iter::once(own).chain(env::split_paths(&others))).unwrap();
    let mut command = Command::new("rust-analyzer");
    // Cargo tells a test how it was built, and must not tell the cargo below.
    command.env("PATH", path).env_remove("CARGO_TARGET_DIR").env_remove("RUSTFLAGS");
    Editor::of(command)
}

fn of_ours(editor: &Editor, uri: &str) -> Vec<Value> {
    let shown = editor.shown.get(uri).into_iter().flatten();
    shown
        .filter(|diagnostic| diagnostic["source"] == "leaselint" && diagnostic["severity"] == 1)
        .cloned()
        .collect()
}

#[test]
#[ignore = "needs rust-analyzer"]
fn findings_are_shown_beside_those_of_the_compiler_and_fixed() {
    let folder = tempfile::tempdir().unwrap();
    let text = fs::read_to_string(root().join("fixtures/get-then-del/bad_one_function/src/lib.rs")).unwrap();
    for (path, text) in FILES.iter().copied().chain([("app/src/lib.rs", text.as_str())]) {
        let path = folder.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    let file = folder.path().canonicalize().unwrap().join("app/src/lib.rs");
    let uri = uri(&file);
    let mut editor = rust_analyzer();
    let capabilities = json!({
        "textDocument": {
            "publishDiagnostics": {"relatedInformation": true, "codeDescriptionSupport": true},
            "codeAction": {
                "codeActionLiteralSupport": {"codeActionKind": {"valueSet": ["", "quickfix"]}},
                "dataSupport": true, "resolveSupport": {"properties": ["edit"]}
            }
        },
        "workspace": {"workspaceEdit": {"documentChanges": true}}
    });
    let options = json!({
        "check": {"overrideCommand": documented()},
        "procMacro": {"enable": false}, "cachePriming": {"enable": false}
    });
    editor.initialize_with(&file.parent().unwrap().join("../.."), &capabilities, options);
    editor.did_open(&uri, &text);
    editor.did_save(&uri);
    let ours = editor.until("our finding", |editor| of_ours(editor, &uri).first().cloned());
    assert_eq!(ours["code"], "get-then-del");
    assert!(
        ours["message"].as_str().unwrap().contains("explain")
            || ours["message"].as_str().unwrap().contains("see ")
    );
    let related = ours["relatedInformation"].as_array().unwrap();
    assert!(!related.is_empty(), "{ours:#}");
    editor.until("the compiler's finding", |editor| {
        let shown = editor.shown.get(&uri).into_iter().flatten();
        shown.clone().any(|diagnostic| diagnostic["source"] == "rustc").then_some(())
    });
    assert_eq!(of_ours(&editor, &uri).len(), 1, "neither takes the other's away");

    let params =
        json!({"textDocument": {"uri": uri}, "range": ours["range"], "context": {"diagnostics": [ours]}});
    let actions = editor.request("textDocument/codeAction", params)["result"].as_array().unwrap().clone();
    let fix = actions.iter().find(|action| action["title"].as_str().unwrap().contains("script")).cloned();
    let mut fix = fix.unwrap_or_else(|| panic!("no quick fix among {actions:#?}"));
    if fix["edit"].is_null() {
        fix = editor.request("codeAction/resolve", fix)["result"].clone();
    }
    let fixed = applied(&text, &fix, &uri, "utf-16");
    assert!(fixed.contains("redis::Script::new") && !fixed.contains("conn.del("), "{fixed}");
    fs::write(&file, &fixed).unwrap();
    let last = text.lines().count();
    let everything = json!({"start": {"line": 0, "character": 0}, "end": {"line": last + 1, "character": 0}});
    editor.did_change(&uri, &[json!({"range": everything, "text": fixed})]);
    editor.did_save(&uri);
    editor.until("our finding to go", |editor| of_ours(editor, &uri).is_empty().then_some(()));
}

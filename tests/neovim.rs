//! The language server in a real editor: Neovim without a screen does what a person does, see
//! `tests/neovim/session.lua`. Debian's `neovim` brings it; without it the test fails, so it is ignored unless
//! asked for. The server is started as docs/editors.md says where Neovim is new enough for that.

#![allow(clippy::unwrap_used, reason = "a test that cannot set itself up has failed")]

use std::env;
use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

/// The first block of code in a language.
fn block<'t>(page: &'t str, language: &str) -> &'t str {
    let (_, rest) = page.split_once(&format!("```{language}\n")).expect("the page has such a block");
    rest.split_once("```").expect("the block ends").0
}

#[test]
#[ignore = "needs nvim"]
fn a_finding_is_seen_explained_and_fixed() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folder = tempfile::tempdir().unwrap();
    let text = fs::read_to_string(root.join("fixtures/get-then-del/bad_one_function/src/lib.rs")).unwrap();
    fs::create_dir(folder.path().join("src")).unwrap();
    let file = folder.path().join("src/lib.rs");
    fs::write(&file, &text).unwrap();

    // The binary under test comes before all others.
    let own = Path::new(env!("CARGO_BIN_EXE_leaselint")).parent().unwrap().to_owned();
    let others = env::var_os("PATH").unwrap_or_default();
    let path = env::join_paths(std::iter::once(own).chain(env::split_paths(&others))).unwrap();
    let seen = folder.path().join("seen.json");
    let documented = folder.path().join("init.lua");
    fs::write(&documented, block(&fs::read_to_string(root.join("docs/editors.md")).unwrap(), "lua")).unwrap();
    let output = Command::new("nvim")
        .args(["--headless", "-u", "NONE", "-i", "NONE"])
        .arg("-S")
        .arg(root.join("tests/neovim/session.lua"))
        .current_dir(folder.path())
        .env("PATH", path)
        .env("SEEN", &seen)
        .env("DOCUMENTED", &documented)
        .env("XDG_STATE_HOME", folder.path().join("state"))
        .env("XDG_CACHE_HOME", folder.path().join("cache"))
        .output()
        .expect("nvim is started; Debian's package `neovim` has it");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    let seen: Value = serde_json::from_slice(&fs::read(&seen).expect(&said)).unwrap();
    assert!(output.status.success(), "{said}\n{seen:#}");

    assert!(seen["started"].is_string(), "{seen:#}");
    assert_eq!(seen["rules"], serde_json::json!(["get-then-del"]));
    assert!(seen["text"][0].as_str().unwrap().starts_with("del"), "{seen:#}");
    assert!(seen["page"].as_str().unwrap().contains("What it does"), "{seen:#}");
    assert!(seen["titles"][1].as_str().unwrap().starts_with("allow `get-then-del`"), "{seen:#}");
    let written = fs::read_to_string(&file).unwrap();
    assert!(written.contains("redis::Script::new") && !written.contains("conn.del("), "{written}");
}

//! The language server as editors meet it: the real binary, real messages over its streams.

#![allow(clippy::unwrap_used, reason = "a test that cannot set itself up has failed")]

#[path = "language_server/editor.rs"]
mod editor;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use editor::{Editor, applied, uri};
use serde_json::{Value, json};

const CASE: &str = "fixtures/get-then-del/bad_one_function";

/// The same release in two steps, across two files.
const STORE: &str = "use redis::AsyncCommands;\n\npub struct Store(pub redis::aio::ConnectionManager);\n\nimpl Store {\n    pub async fn read_owner(&mut self, key: &str) -> redis::RedisResult<Option<String>> {\n        self.0.get(key).await\n    }\n\n    pub async fn drop_key(&mut self, key: &str) -> redis::RedisResult<()> {\n        self.0.del(key).await\n    }\n}\n";
const RELEASE: &str = "use crate::store::Store;\n\npub async fn release(store: &mut Store, me: &str) -> redis::RedisResult<()> {\n    if store.read_owner(\"job-lock\").await?.as_deref() == Some(me) {\n        store.drop_key(\"job-lock\").await?;\n    }\n    Ok(())\n}\n";

struct Workspace {
    folder: tempfile::TempDir,
}

impl Workspace {
    fn new(files: &[(&str, &str)]) -> Self {
        let workspace = Self { folder: tempfile::tempdir().unwrap() };
        files.iter().for_each(|(path, text)| workspace.write(path, text));
        workspace
    }

    /// The text of the case, on disk.
    fn of_case() -> (Self, String) {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(CASE).join("src/lib.rs");
        let text = fs::read_to_string(path).unwrap();
        (Self::new(&[("src/lib.rs", &text)]), text)
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.path(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn path(&self, path: &str) -> PathBuf {
        self.folder.path().join(path)
    }

    fn uri(&self, path: &str) -> String {
        uri(&self.path(path))
    }

    fn editor(&self) -> Editor {
        Editor::open(self.folder.path(), &json!({}))
    }
}

fn everything(text: &str) -> Value {
    json!({ "text": text })
}

fn whole(line: u32, from: u32, to: u32, text: &str) -> Value {
    let at = |character: u32| json!({"line": line, "character": character});
    json!({"range": {"start": at(from), "end": at(to)}, "text": text})
}

#[test]
fn a_session_begins_and_ends_as_the_protocol_asks() {
    let (workspace, _) = Workspace::of_case();
    let mut editor = Editor::silent(&["--stdio"]);
    let early = editor.request("textDocument/hover", json!({}));
    assert_eq!(early["error"]["code"], -32002, "{early}");
    let result = editor.initialize(workspace.folder.path(), &json!({}));
    assert_eq!(result["serverInfo"]["name"], "leaselint");
    assert_eq!(result["capabilities"]["positionEncoding"], "utf-16");
    assert_eq!(result["capabilities"]["hoverProvider"], true);
    let unknown = editor.request("workspace/symbol", json!({"query": "x"}));
    assert_eq!(unknown["error"]["code"], -32601, "{unknown}");
    let (status, said) = editor.close();
    assert_eq!((status.code(), said.as_str()), (Some(0), ""));
}

#[test]
fn an_editor_that_goes_without_a_word_leaves_no_server_behind() {
    let (workspace, _) = Workspace::of_case();
    let (status, said) = workspace.editor().wait();
    assert_eq!(status.code(), Some(1), "{said}");
    let mut editor = workspace.editor();
    editor.notify("exit", Value::Null);
    assert_eq!(editor.wait().0.code(), Some(1));
    // Neither does one that has not introduced itself, nor one that speaks something else.
    assert_eq!(Editor::silent(&[]).wait().0.code(), Some(2));
    for noise in ["Content-Length: 3\r\n\r\n{]}", "Content-Length: x\r\n\r\n", "GET / HTTP/1.1\r\n\r\n"] {
        let mut editor = workspace.editor();
        editor.write(noise.as_bytes());
        let (status, said) = editor.wait();
        assert_eq!(status.code(), Some(2), "{noise}: {said}");
        assert!(said.starts_with("error: ") && !said.contains("panicked"), "{noise}: {said}");
    }
}

#[test]
fn the_whole_workspace_is_checked_and_places_in_other_files_are_named() {
    let workspace = Workspace::new(&[
        ("src/store.rs", STORE),
        ("src/lib.rs", "mod store;\nmod release;\n"),
        ("src/release.rs", RELEASE),
    ]);
    let related = json!({"textDocument": {"publishDiagnostics": {"relatedInformation": true}}});
    let mut editor = Editor::open(workspace.folder.path(), &related);
    let release = workspace.uri("src/release.rs");
    editor.until("a finding", |editor| (!editor.rules(&release).is_empty()).then_some(()));
    let [diagnostic] = editor.shown[&release].as_slice() else { panic!("one finding: {:?}", editor.shown) };
    assert_eq!(diagnostic["source"], "leaselint");
    assert!(
        diagnostic["codeDescription"]["href"]
            .as_str()
            .unwrap()
            .ends_with(diagnostic["code"].as_str().unwrap())
    );
    assert!(diagnostic["message"].as_str().unwrap().contains("\nhelp: "), "{diagnostic}");
    let named = diagnostic["relatedInformation"].as_array().unwrap();
    assert!(!named.is_empty(), "{diagnostic}");
    assert_eq!(diagnostic["range"]["start"]["line"], 4);
}

#[test]
fn what_is_typed_counts_before_it_is_saved() {
    let (workspace, text) = Workspace::of_case();
    workspace.write("src/lib.rs", "pub fn nothing() {}\n");
    let mut editor = workspace.editor();
    let name = workspace.uri("src/lib.rs");
    editor.did_open(&name, "pub fn nothing() {}\n");
    editor.did_change(&name, &[everything(&text)]);
    editor.until_rules(&name, &["get-then-del"]);
    // A part of the text, then another that counts on it.
    let line = u32::try_from(text.lines().position(|line| line.contains("conn.del")).unwrap()).unwrap();
    editor.did_change(&name, &[whole(line, 0, 999, ""), whole(line, 0, 0, "        let gone = 1; // 🔒")]);
    editor.until_rules(&name, &[]);
    editor.did_change(&name, &[everything(&text)]);
    editor.until_rules(&name, &["get-then-del"]);
    // What is closed counts as it is on disk.
    editor.notify("textDocument/didClose", json!({"textDocument": {"uri": name}}));
    editor.until_rules(&name, &[]);
    assert_eq!(editor.close().0.code(), Some(0));
}

#[test]
fn half_of_a_line_takes_no_finding_away_until_it_is_saved() {
    let (workspace, text) = Workspace::of_case();
    let mut editor = workspace.editor();
    let name = workspace.uri("src/lib.rs");
    editor.did_open(&name, &text);
    editor.until_rules(&name, &["get-then-del"]);
    editor.did_change(&name, &[everything(&text.replace("Ok(false)", "Ok(fal"))]);
    // The answer comes after the run that has seen the change.
    assert_eq!(editor.actions(&name, None), Vec::<Value>::new());
    assert_eq!(editor.rules(&name), ["get-then-del"]);
    editor.did_save(&name);
    editor.until_rules(&name, &["unreadable-input"]);
    editor.did_change(&name, &[everything(&text)]);
    editor.until_rules(&name, &["get-then-del"]);
}

#[test]
fn a_fix_is_offered_and_does_what_the_command_line_does_in_every_encoding() {
    let (workspace, text) = Workspace::of_case();
    let before = "if stored.as_deref() == Some(owner) {\n        ";
    assert!(text.contains(before));
    let text = text.replace(before, &format!("{before}/* ß🔒 */ "));
    workspace.write("src/lib.rs", &text);
    let name = workspace.uri("src/lib.rs");
    let mut fixed = Vec::new();
    for encoding in ["utf-8", "utf-16", "utf-32"] {
        let capabilities = json!({
            "general": {"positionEncodings": [encoding]},
            "workspace": {"workspaceEdit": {"documentChanges": encoding != "utf-8"}},
        });
        let mut editor = Editor::silent(&[]);
        let result = editor.initialize(workspace.folder.path(), &capabilities);
        assert_eq!(result["capabilities"]["positionEncoding"], encoding);
        editor.did_open(&name, &text);
        editor.until_rules(&name, &["get-then-del"]);
        let actions = editor.actions(&name, Some("quickfix"));
        let fix = &actions[0];
        assert_eq!((&fix["kind"], &fix["isPreferred"]), (&json!("quickfix"), &json!(true)), "{fix}");
        assert_eq!(fix["diagnostics"][0]["code"], "get-then-del");
        if encoding != "utf-8" {
            assert_eq!(fix["edit"]["documentChanges"][0]["textDocument"]["version"], 1);
        }
        fixed.push(applied(&text, fix, &name, encoding));
    }
    let done = Command::new(env!("CARGO_BIN_EXE_leaselint"))
        .current_dir(workspace.folder.path())
        .args(["--fix", "--allow-dirty", "."])
        .output()
        .unwrap();
    assert!(done.status.success());
    let wanted = fs::read_to_string(workspace.path("src/lib.rs")).unwrap();
    assert_ne!(wanted, text);
    assert_eq!(fixed, [wanted.clone(), wanted.clone(), wanted]);
}

#[test]
fn a_finding_can_be_allowed_and_the_reason_is_asked_for() {
    let sql =
        "UPDATE accounts SET balance = $1,\n        fencing_token = $2 WHERE id = $3 AND fencing_token >= $2";
    let rust = format!(
        "pub async fn save(pool: &sqlx::PgPool, id: i64, sum: i64, token: i64) -> Result<u64, sqlx::Error> {{\n    let done = sqlx::query(\n        r#\"\n        {sql}\"#,\n    )\n    .bind(sum).bind(token).bind(id).execute(pool).await?;\n    if done.rows_affected() == 0 {{ return Err(sqlx::Error::RowNotFound); }}\n    Ok(done.rows_affected())\n}}\n"
    );
    let (workspace, lock) = Workspace::of_case();
    workspace.write("src/sql.rs", &rust);
    let schema = "CREATE TABLE accounts (id BIGINT PRIMARY KEY, balance BIGINT NOT NULL, fencing_token BIGINT NOT NULL DEFAULT 0);\n";
    workspace.write("migrations/0001_tables.sql", schema);
    let mut editor = Editor::silent(&["--pedantic"]);
    editor.initialize(workspace.folder.path(), &json!({}));
    for (path, text) in [("src/lib.rs", &lock), ("src/sql.rs", &rust)] {
        let name = workspace.uri(path);
        editor.did_open(&name, text);
        editor.until("a finding", |editor| (!editor.rules(&name).is_empty()).then_some(()));
        let before = editor.rules(&name).len();
        let actions = editor.actions(&name, None);
        let allow =
            actions.iter().find(|action| action["title"].as_str().unwrap().starts_with("allow `")).unwrap();
        assert_eq!(allow["isPreferred"], Value::Null);
        let allowed = applied(text, allow, &name, "utf-16");
        assert_eq!(allowed.lines().count(), text.lines().count() + 1, "{allowed}");
        assert!(!allowed.contains("r#\"\n        //"), "{allowed}");
        editor.did_change(&name, &[everything(&allowed)]);
        editor.until("the request for a reason", |editor| {
            let rules = editor.rules(&name);
            let is_asked = rules.iter().any(|rule| rule == "suppression-without-reason");
            (is_asked && rules.len() == before).then_some(())
        });
        editor.did_change(&name, &[everything(&allowed.replace("reason = \"\"", "reason = \"one worker\""))]);
        editor.until("rest", |editor| (editor.rules(&name).len() == before - 1).then_some(()));
    }
}

#[test]
fn all_certain_fixes_of_a_file_are_made_at_once_when_asked_for_by_name() {
    let (workspace, text) = Workspace::of_case();
    let twice = format!(
        "{text}\n{}",
        text.replace("use ", "// use ").replace("fn ", "fn other_").replace("job-lock", "other-lock")
    );
    workspace.write("src/lib.rs", &twice);
    let name = workspace.uri("src/lib.rs");
    let mut editor = workspace.editor();
    editor.did_open(&name, &twice);
    editor.until_rules(&name, &["get-then-del", "get-then-del"]);
    let [all] = editor.actions(&name, Some("source.fixAll")).try_into().unwrap();
    assert_eq!(all["kind"], "source.fixAll.leaselint");
    editor.did_change(&name, &[everything(&applied(&twice, &all, &name, "utf-16"))]);
    editor.until_rules(&name, &[]);
    assert_eq!(editor.actions(&name, Some("source.fixAll")), Vec::<Value>::new());
    assert_eq!(editor.actions(&name, Some("refactor")), Vec::<Value>::new());
}

#[test]
fn a_question_about_texts_that_change_meanwhile_or_that_is_taken_back_is_not_answered() {
    let (workspace, text) = Workspace::of_case();
    let name = workspace.uri("src/lib.rs");
    let mut editor = workspace.editor();
    editor.did_open(&name, &text);
    editor.until_rules(&name, &["get-then-del"]);
    let params = json!({
        "textDocument": {"uri": name},
        "range": {"start": {"line": 0, "character": 0}, "end": {"line": 99, "character": 0}},
        "context": {"diagnostics": []},
    });
    // The run after a change waits a little, so that all of this is said before it.
    editor.did_change(&name, &[everything(&format!("{text}\n"))]);
    let taken_back = editor.ask("textDocument/codeAction", params.clone());
    editor.notify("$/cancelRequest", json!({"id": taken_back}));
    let late = editor.ask("textDocument/codeAction", params.clone());
    editor.did_change(&name, &[everything(&text)]);
    let good = editor.ask("textDocument/codeAction", params);
    assert_eq!(editor.answer(taken_back)["error"]["code"], -32800);
    assert_eq!(editor.answer(late)["error"]["code"], -32801);
    assert!(!editor.answer(good)["result"].as_array().unwrap().is_empty());
}

#[test]
fn the_page_of_a_rule_is_shown_where_a_finding_is_pointed_at() {
    let (workspace, text) = Workspace::of_case();
    let name = workspace.uri("src/lib.rs");
    let mut editor = workspace.editor();
    editor.did_open(&name, &text);
    editor.until_rules(&name, &["get-then-del"]);
    let range = editor.shown[&name][0]["range"].clone();
    let mut hover = |position: &Value| {
        editor.request("textDocument/hover", json!({"textDocument": {"uri": name}, "position": position}))["result"].clone()
    };
    let found = hover(&range["start"]);
    assert_eq!(found["range"], range);
    assert_eq!(found["contents"]["kind"], "markdown");
    let page = found["contents"]["value"].as_str().unwrap();
    assert!(page.contains("What it does") && page.contains("get-then-del"), "{page}");
    assert_eq!(hover(&json!({"line": 0, "character": 0})), Value::Null);
}

#[test]
fn a_configuration_that_cannot_be_read_is_told_once_and_counts_when_it_is_mended() {
    let (workspace, text) = Workspace::of_case();
    workspace.write("leaselint.toml", "ignroe = []\n");
    let watching = json!({"workspace": {"didChangeWatchedFiles": {"dynamicRegistration": true}}});
    let mut editor = Editor::open(workspace.folder.path(), &watching);
    let name = workspace.uri("src/lib.rs");
    editor.did_open(&name, &text);
    let told = |editor: &Editor| editor.heard.iter().filter(|m| m["method"] == "window/showMessage").count();
    editor.until("an error", |editor| (told(editor) == 1).then_some(()));
    assert_eq!(editor.actions(&name, None), Vec::<Value>::new());
    assert_eq!(told(&editor), 1);
    assert!(editor.heard.iter().any(|message| message["method"] == "client/registerCapability"));
    workspace.write("leaselint.toml", "ignore = []\n");
    let event = json!({"uri": workspace.uri("leaselint.toml"), "type": 2});
    editor.notify("workspace/didChangeWatchedFiles", json!({"changes": [event]}));
    editor.until_rules(&name, &["get-then-del"]);
    assert_eq!(told(&editor), 1);
}

#[test]
fn a_baseline_hides_in_the_editor_what_it_hides_in_a_run() {
    let (workspace, text) = Workspace::of_case();
    workspace.write("leaselint.toml", "baseline = \"known.json\"\n");
    let run = |arguments: &[&str]| {
        Command::new(env!("CARGO_BIN_EXE_leaselint"))
            .current_dir(workspace.folder.path())
            .args(arguments)
            .status()
    };
    assert!(run(&["baseline"]).unwrap().success() && run(&["check"]).unwrap().success());
    let mut editor = workspace.editor();
    let name = workspace.uri("src/lib.rs");
    let twice = format!(
        "{text}\n{}",
        text.replace("use ", "// use ").replace("fn ", "fn other_").replace("job-lock", "other-lock")
    );
    editor.did_open(&name, &twice);
    editor.until_rules(&name, &["get-then-del"]);
}

#[test]
fn files_outside_of_the_workspace_new_ones_and_odd_names_are_served_as_well() {
    let (workspace, text) = Workspace::of_case();
    let outside = Workspace::new(&[("a b%ü/lock.rs", &text)]);
    let mut editor = workspace.editor();
    editor.until_rules(&workspace.uri("src/lib.rs"), &["get-then-del"]);
    let name = outside.uri("a b%ü/lock.rs");
    editor.did_open(&name, &text);
    editor.until_rules(&name, &["get-then-del"]);
    editor.notify("textDocument/didClose", json!({"textDocument": {"uri": name}}));
    editor.until_rules(&name, &[]);
    let new = format!("{}/src/new.rs", uri(workspace.folder.path()));
    editor.did_open(&new, &text);
    editor.until_rules(&new, &["get-then-del"]);
    // A folder that is taken out of the workspace is not spoken of any more.
    let folder = json!({"uri": uri(workspace.folder.path()), "name": "w"});
    editor.notify("textDocument/didClose", json!({"textDocument": {"uri": new}}));
    editor
        .notify("workspace/didChangeWorkspaceFolders", json!({"event": {"added": [], "removed": [folder]}}));
    editor.until_rules(&workspace.uri("src/lib.rs"), &[]);
}

/// Nothing that an editor says may end a session.
#[test]
fn messages_that_make_no_sense_are_answered_with_errors_and_nothing_else_happens() {
    let (workspace, text) = Workspace::of_case();
    let name = workspace.uri("src/lib.rs");
    let mut editor = workspace.editor();
    editor.did_open(&name, &text);
    let far = json!({"line": 4_000_000_000_u32, "character": 4_000_000_000_u32});
    let near = json!({"line": 0, "character": 7});
    for params in [
        json!(null),
        json!([]),
        json!({"textDocument": 3}),
        json!({"textDocument": {"uri": "::"}, "position": 1}),
    ] {
        for method in
            ["textDocument/didOpen", "textDocument/didChange", "textDocument/didClose", "$/cancelRequest"]
        {
            editor.notify(method, params.clone());
        }
        for method in ["textDocument/hover", "textDocument/codeAction"] {
            assert_eq!(editor.request(method, params.clone())["error"]["code"], -32602);
        }
    }
    for unknown in ["untitled:1", "file:///no/such/folder/a.rs", "http://x/a.rs", ""] {
        editor.did_open(unknown, &text);
        editor.did_change(unknown, &[everything("x")]);
        let at = json!({"textDocument": {"uri": unknown}, "position": far});
        assert_eq!(editor.request("textDocument/hover", at)["result"], Value::Null);
    }
    // Ranges behind the end, backwards, and in the middle of characters.
    let mut changes = Vec::new();
    for (start, end) in [(&far, &far), (&far, &near), (&near, &near)] {
        for text in ["", "\u{feff}", "é\r🔒\r\n", "\"", "{{{{{{", "/*", "r#\""] {
            changes.push(json!({"range": {"start": start, "end": end}, "text": text}));
        }
    }
    for change in changes {
        editor.did_change(&name, &[change]);
        let at = json!({"textDocument": {"uri": name}, "position": far});
        assert!(editor.request("textDocument/hover", at)["error"].is_null());
    }
    editor.did_change(&name, &[everything(&"(".repeat(200_000))]);
    assert!(editor.actions(&name, None).len() < 2);
    editor.did_change(&name, &[everything(&text)]);
    editor.until_rules(&name, &["get-then-del"]);
    let (status, said) = editor.close();
    assert_eq!((status.code(), said.as_str()), (Some(0), ""));
}

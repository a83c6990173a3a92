//! An editor as far as the tests need one: starts the real server, speaks to it over its streams, and applies the
//! edits that it gives.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// Machines that do other things as well may take long; a test that fails takes this long.
const PATIENCE: Duration = Duration::from_secs(60);

pub(crate) struct Editor {
    server: Child,
    stdin: Option<ChildStdin>,
    messages: Receiver<Value>,
    next_id: i64,
    versions: BTreeMap<String, i64>,
    /// The last diagnostics of each file.
    pub(crate) shown: BTreeMap<String, Vec<Value>>,
    /// All other messages of the server.
    pub(crate) heard: Vec<Value>,
    answers: BTreeMap<i64, Value>,
}

impl Editor {
    /// A server that nothing has been said to yet.
    pub(crate) fn silent(arguments: &[&str]) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_leaselint"));
        command.arg("lsp").args(arguments);
        Self::of(command)
    }

    /// Some server, that nothing has been said to yet.
    pub(crate) fn of(mut command: Command) -> Self {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut server = command.spawn().unwrap();
        let (sender, messages) = channel();
        let mut stdout = BufReader::new(server.stdout.take().unwrap());
        thread::spawn(move || {
            while let Some(message) = read(&mut stdout) {
                if sender.send(message).is_err() {
                    break;
                }
            }
        });
        Self {
            stdin: server.stdin.take(),
            server,
            messages,
            next_id: 0,
            versions: BTreeMap::new(),
            shown: BTreeMap::new(),
            heard: Vec::new(),
            answers: BTreeMap::new(),
        }
    }

    /// An editor with this folder open, that can do these things.
    pub(crate) fn open(folder: &Path, capabilities: &Value) -> Self {
        let mut editor = Self::silent(&[]);
        editor.initialize(folder, capabilities);
        editor
    }

    pub(crate) fn initialize(&mut self, folder: &Path, capabilities: &Value) -> Value {
        self.initialize_with(folder, capabilities, Value::Null)
    }

    pub(crate) fn initialize_with(&mut self, folder: &Path, capabilities: &Value, options: Value) -> Value {
        let folders = json!([{"uri": uri(folder), "name": "w"}]);
        let params = json!({"processId": null, "rootUri": null, "capabilities": capabilities,
            "workspaceFolders": folders, "initializationOptions": options});
        let answer = self.request("initialize", params);
        self.notify("initialized", json!({}));
        answer["result"].clone()
    }

    pub(crate) fn write(&mut self, bytes: &[u8]) {
        // A server that has gone is seen by what it does not answer.
        let _ = self.stdin.as_mut().unwrap().write_all(bytes);
    }

    fn send(&mut self, message: &Value) {
        let text = message.to_string();
        self.write(format!("Content-Length: {}\r\n\r\n{text}", text.len()).as_bytes());
    }

    pub(crate) fn notify(&mut self, method: &str, params: Value) {
        self.send(&json!({"jsonrpc": "2.0", "method": method, "params": params}));
    }

    /// Sends a request without waiting for its answer.
    pub(crate) fn ask(&mut self, method: &str, params: Value) -> i64 {
        self.next_id += 1;
        self.send(&json!({"jsonrpc": "2.0", "id": self.next_id, "method": method, "params": params}));
        self.next_id
    }

    pub(crate) fn answer(&mut self, id: i64) -> Value {
        self.until("an answer", |editor| editor.answers.remove(&id))
    }

    pub(crate) fn request(&mut self, method: &str, params: Value) -> Value {
        let id = self.ask(method, params);
        self.answer(id)
    }

    /// Listens until something has come true.
    pub(crate) fn until<T>(&mut self, what: &str, mut found: impl FnMut(&mut Self) -> Option<T>) -> T {
        let end = Instant::now() + PATIENCE;
        loop {
            if let Some(found) = found(self) {
                return found;
            }
            let left = end.saturating_duration_since(Instant::now());
            match self.messages.recv_timeout(left) {
                Ok(message) => self.hear(message),
                Err(_) => {
                    panic!("the editor waited for {what}; shown: {:#?}, heard: {:#?}", self.shown, self.heard)
                }
            }
        }
    }

    fn hear(&mut self, message: Value) {
        if message["method"] == "textDocument/publishDiagnostics" {
            let name = message["params"]["uri"].as_str().unwrap().to_owned();
            self.shown.insert(name, message["params"]["diagnostics"].as_array().unwrap().clone());
        } else if message["method"].is_null() {
            self.answers.insert(message["id"].as_i64().unwrap(), message);
        } else {
            self.heard.push(message);
        }
    }

    /// Waits until a file has exactly these rules.
    pub(crate) fn until_rules(&mut self, uri: &str, rules: &[&str]) {
        let what = format!("{rules:?} in {uri}");
        self.until(&what, |editor| (editor.rules(uri) == rules).then_some(()));
    }

    pub(crate) fn rules(&self, uri: &str) -> Vec<String> {
        let found = self.shown.get(uri).into_iter().flatten();
        found.map(|diagnostic| diagnostic["code"].as_str().unwrap().to_owned()).collect()
    }

    pub(crate) fn did_open(&mut self, uri: &str, text: &str) {
        self.versions.insert(uri.to_owned(), 1);
        let document = json!({"uri": uri, "languageId": "rust", "version": 1, "text": text});
        self.notify("textDocument/didOpen", json!({"textDocument": document}));
    }

    pub(crate) fn did_change(&mut self, uri: &str, changes: &[Value]) {
        let version = self.versions.get_mut(uri).unwrap();
        *version += 1;
        let document = json!({"uri": uri, "version": *version});
        self.notify("textDocument/didChange", json!({"textDocument": document, "contentChanges": changes}));
    }

    pub(crate) fn did_save(&mut self, uri: &str) {
        self.notify("textDocument/didSave", json!({"textDocument": {"uri": uri}}));
    }

    /// What is offered where a diagnostic stands, or for the whole file.
    pub(crate) fn actions(&mut self, uri: &str, only: Option<&str>) -> Vec<Value> {
        let diagnostic = self.shown.get(uri).and_then(|all| all.first()).cloned();
        let everything = json!({"start": {"line": 0, "character": 0}, "end": {"line": 9999, "character": 0}});
        let range = diagnostic.as_ref().map_or(everything, |diagnostic| diagnostic["range"].clone());
        let mut context = json!({"diagnostics": diagnostic.into_iter().collect::<Vec<_>>()});
        if let Some(only) = only {
            context["only"] = json!([only]);
        }
        let params = json!({"textDocument": {"uri": uri}, "range": range, "context": context});
        self.request("textDocument/codeAction", params)["result"].as_array().unwrap().clone()
    }

    /// Ends the session as editors do.
    pub(crate) fn close(mut self) -> (ExitStatus, String) {
        let answer = self.request("shutdown", Value::Null);
        assert_eq!(answer["result"], Value::Null, "{answer}");
        self.notify("exit", Value::Null);
        self.wait()
    }

    /// Lets go of the server's streams and waits for its end.
    pub(crate) fn wait(mut self) -> (ExitStatus, String) {
        drop(self.stdin.take());
        let end = Instant::now() + PATIENCE;
        while self.server.try_wait().unwrap().is_none() {
            assert!(Instant::now() < end, "the server does not end");
            thread::sleep(Duration::from_millis(5));
        }
        let mut said = String::new();
        self.server.stderr.take().unwrap().read_to_string(&mut said).unwrap();
        (self.server.wait().unwrap(), said)
    }
}

impl Drop for Editor {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

fn read(stream: &mut impl BufRead) -> Option<Value> {
    let mut length = 0;
    loop {
        let mut line = String::new();
        if stream.read_line(&mut line).ok()? == 0 {
            return None;
        }
        match line.trim_end() {
            "" => break,
            header => {
                length = header.strip_prefix("Content-Length: ").map_or(Some(length), |n| n.parse().ok())?
            }
        }
    }
    let mut body = vec![0; length];
    stream.read_exact(&mut body).ok()?;
    serde_json::from_slice(&body).ok()
}

/// How editors write the name of a file.
pub(crate) fn uri(path: &Path) -> String {
    let path: PathBuf = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let mut uri = String::from("file://");
    for byte in path.to_str().unwrap().bytes() {
        match byte {
            b'/' | b'-' | b'.' | b'_' | b'~' => uri.push(char::from(byte)),
            byte if byte.is_ascii_alphanumeric() => uri.push(char::from(byte)),
            byte => uri.push_str(&format!("%{byte:02X}")),
        }
    }
    uri
}

/// A text after the edits of an action, whose characters are counted in this encoding.
pub(crate) fn applied(text: &str, action: &Value, uri: &str, encoding: &str) -> String {
    let edit = &action["edit"];
    let plain = edit["changes"][uri].as_array();
    let versioned = edit["documentChanges"].as_array().and_then(|all| all.first()).map(|change| {
        assert_eq!(change["textDocument"]["uri"], uri);
        change["edits"].as_array().unwrap()
    });
    let mut edits: Vec<(usize, usize, &str)> = plain
        .or(versioned)
        .expect("the action edits the file")
        .iter()
        .map(|edit| {
            let at = |end: &str| offset(text, &edit["range"][end], encoding);
            (at("start"), at("end"), edit["newText"].as_str().unwrap())
        })
        .collect();
    edits.sort();
    let mut text = text.to_owned();
    for (start, end, new) in edits.into_iter().rev() {
        text.replace_range(start..end, new);
    }
    text
}

pub(crate) fn offset(text: &str, position: &Value, encoding: &str) -> usize {
    let (line, character) = (position["line"].as_u64().unwrap(), position["character"].as_u64().unwrap());
    let start: usize = text.split_inclusive('\n').take(usize::try_from(line).unwrap()).map(str::len).sum();
    let mut left = usize::try_from(character).unwrap();
    let mut at = start;
    for c in text[start..].chars().take_while(|_| true) {
        if left == 0 {
            break;
        }
        left -= match encoding {
            "utf-8" => c.len_utf8(),
            "utf-16" => c.len_utf16(),
            _ => 1,
        };
        at += c.len_utf8();
    }
    at
}

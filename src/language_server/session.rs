//! One editor's session: takes its messages one after another, keeps what it has open, starts runs, and tells it
//! what they find.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use crossbeam_channel::{Receiver, Sender};
use gen_lsp_types::{
    CancelParams, CodeActionParams, Diagnostic, DidChangeTextDocumentParams, DidChangeWatchedFilesParams,
    DidChangeWorkspaceFoldersParams, DidCloseTextDocumentParams, DidOpenTextDocumentParams,
    DidSaveTextDocumentParams, HoverParams, Id, LogMessageParams, MessageType, PublishDiagnosticsParams,
    ShowMessageParams, Uri,
};
use lsp_server::{ErrorCode, Message, Notification, Request, RequestId, Response};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::ServeError;
use super::actions::actions;
use super::analysis::{Analyse, Analysed, AnalysisError, Done, PAUSE, Schedule};
use super::client::Client;
use super::diagnostics;
use super::documents::Documents;
use super::hover::hover;
use super::places::Places;
use super::uris;
use crate::sources::FileKind;

/// What the server waits for next.
enum Event {
    Message(Message),
    Done(Done),
    RunIsDue,
    EditorHasGone,
}

/// Whether the session goes on; where it does not, how it has ended.
type Next = ControlFlow<Result<(), ServeError>>;

pub(super) struct Session {
    client: Client,
    sender: Sender<Message>,
    documents: Documents,
    schedule: Schedule,
    analyse: Arc<Analyse>,
    ends: (Sender<Done>, Receiver<Done>),
    analysed: Analysed,
    /// What the editor shows, by the names of files.
    published: BTreeMap<String, Vec<Diagnostic>>,
    /// Requests that the run which goes on will answer.
    waiting: Vec<(RequestId, CodeActionParams)>,
    /// Why the last run had no report, as the person has been told.
    failure: Option<String>,
    is_shut_down: bool,
}

impl Session {
    pub(super) fn new(client: Client, sender: Sender<Message>, analyse: Arc<Analyse>) -> Self {
        Self {
            client,
            sender,
            documents: Documents::default(),
            schedule: Schedule::default(),
            analyse,
            ends: crossbeam_channel::unbounded(),
            analysed: Analysed::default(),
            published: BTreeMap::new(),
            waiting: Vec::new(),
            failure: None,
            is_shut_down: false,
        }
    }

    pub(super) fn run(mut self, messages: &Receiver<Message>) -> Result<(), ServeError> {
        self.watch_files();
        self.schedule.changed(Duration::ZERO);
        loop {
            match self.next(messages) {
                Event::Message(message) => {
                    if let ControlFlow::Break(end) = self.message(message) {
                        return end;
                    }
                }
                Event::Done(done) => self.done(done),
                Event::RunIsDue => self.start(),
                Event::EditorHasGone => {
                    self.schedule.stop();
                    return if self.is_shut_down { Ok(()) } else { Err(ServeError::Gone) };
                }
            }
        }
    }

    fn next(&self, messages: &Receiver<Message>) -> Event {
        let due = self.schedule.due().map_or_else(crossbeam_channel::never, crossbeam_channel::at);
        crossbeam_channel::select! {
            recv(messages) -> message => message.map_or(Event::EditorHasGone, Event::Message),
            // This session holds an end of the channel itself, so that it is never closed.
            recv(self.ends.1) -> done => done.map_or(Event::EditorHasGone, Event::Done),
            recv(due) -> _ => Event::RunIsDue,
        }
    }

    fn message(&mut self, message: Message) -> Next {
        match message {
            Message::Request(request) => self.request(request),
            Message::Notification(notification) if notification.method == "exit" => {
                self.schedule.stop();
                return ControlFlow::Break(if self.is_shut_down { Ok(()) } else { Err(ServeError::Gone) });
            }
            Message::Notification(notification) => {
                let method = notification.method.clone();
                let read = catch_unwind(AssertUnwindSafe(|| self.notification(notification)));
                let problem = read.unwrap_or_else(|_| Some("a defect of leaselint itself".to_owned()));
                if let Some(problem) = problem {
                    self.log(MessageType::Warning, format!("{method}: {problem}"));
                }
            }
            Message::Response(_) => {}
        }
        ControlFlow::Continue(())
    }

    fn request(&mut self, request: Request) {
        let id = request.id.clone();
        let answered = catch_unwind(AssertUnwindSafe(|| self.answer(request)));
        let problem = match answered {
            Ok(Ok(())) => return,
            Ok(Err((code, message))) => (code, message),
            // A defect costs its request, not the session.
            Err(_) => (ErrorCode::InternalError, "a defect of leaselint itself".to_owned()),
        };
        self.send(Response::new_err(id, problem.0 as i32, problem.1));
    }

    fn answer(&mut self, request: Request) -> Result<(), (ErrorCode, String)> {
        if self.is_shut_down {
            return Err((ErrorCode::InvalidRequest, "the server has been shut down".to_owned()));
        }
        let invalid = |problem: serde_json::Error| (ErrorCode::InvalidParams, problem.to_string());
        match request.method.as_str() {
            "shutdown" => {
                self.is_shut_down = true;
                self.schedule.stop();
                self.waiting.clear();
                self.respond(request.id, Value::Null);
            }
            "textDocument/hover" => {
                let params: HoverParams = serde_json::from_value(request.params).map_err(invalid)?;
                let at = params.text_document_position_params;
                let document = self.documents.get(&at.text_document.uri);
                let found = document
                    .and_then(|document| hover(&self.analysed, document, at.position, &self.places()));
                self.respond(request.id, found);
            }
            "textDocument/codeAction" => {
                let params = serde_json::from_value(request.params).map_err(invalid)?;
                self.waiting.push((request.id, params));
                self.answer_waiting();
            }
            other => return Err((ErrorCode::MethodNotFound, format!("`{other}` is not known"))),
        }
        Ok(())
    }

    /// Takes a notification; says what is wrong with it.
    fn notification(&mut self, notification: Notification) -> Option<String> {
        let Notification { method, params } = notification;
        let taken = match method.as_str() {
            "textDocument/didOpen" => read(params).map(|params: DidOpenTextDocumentParams| {
                self.documents.open(params.text_document).then_some(Duration::ZERO)
            }),
            "textDocument/didChange" => read(params).map(|params: DidChangeTextDocumentParams| {
                let DidChangeTextDocumentParams { text_document: of, content_changes } = params;
                let uri = of.text_document_identifier.uri;
                let encoding = self.client.encoding;
                self.documents.change(&uri, of.version, content_changes, encoding).then_some(PAUSE)
            }),
            "textDocument/didSave" => read(params).map(|params: DidSaveTextDocumentParams| {
                self.documents.saved(&params.text_document.uri).then_some(Duration::ZERO)
            }),
            "textDocument/didClose" => read(params).map(|params: DidCloseTextDocumentParams| {
                self.documents.close(&params.text_document.uri).then_some(Duration::ZERO)
            }),
            "workspace/didChangeWatchedFiles" => read(params).map(|params: DidChangeWatchedFilesParams| {
                // What is open counts as the editor holds it.
                let is_closed = |uri: &Uri| self.documents.get(uri).is_none();
                params.changes.iter().any(|change| is_closed(&change.uri)).then_some(PAUSE)
            }),
            "workspace/didChangeWorkspaceFolders" => {
                read(params).map(|params: DidChangeWorkspaceFoldersParams| {
                    let path = |uri: &Uri| uris::to_resolved_path(uri);
                    let removed: Vec<PathBuf> =
                        params.event.removed.iter().filter_map(|folder| path(&folder.uri)).collect();
                    self.client.folders.retain(|folder| !removed.contains(folder));
                    self.client
                        .folders
                        .extend(params.event.added.iter().filter_map(|folder| path(&folder.uri)));
                    Some(Duration::ZERO)
                })
            }
            "$/cancelRequest" => read(params).map(|params: CancelParams| {
                self.cancel(&match params.id {
                    Id::Int(number) => number.into(),
                    Id::String(text) => text.into(),
                });
                None
            }),
            _ => Ok(None),
        };
        match taken {
            Ok(pause) => pause.into_iter().for_each(|pause| self.changed(pause)),
            Err(problem) => return Some(problem),
        }
        None
    }

    /// What was asked about the texts as they were cannot be answered any more.
    fn changed(&mut self, pause: Duration) {
        self.schedule.changed(pause);
        for (id, _) in std::mem::take(&mut self.waiting) {
            let message = "the text has changed".to_owned();
            self.send(Response::new_err(id, ErrorCode::ContentModified as i32, message));
        }
    }

    fn cancel(&mut self, id: &RequestId) {
        if let Some(at) = self.waiting.iter().position(|(waiting, _)| waiting == id) {
            let (id, _) = self.waiting.remove(at);
            self.send(Response::new_err(id, ErrorCode::RequestCanceled as i32, "cancelled".to_owned()));
        }
    }

    fn start(&mut self) {
        let mut paths = self.client.folders.clone();
        // An ignored file inside of a folder stays ignored; a new one is on no disk yet.
        let alone = self.documents.all().filter(|document| {
            let is_inside = self.client.folders.iter().any(|folder| document.path.starts_with(folder));
            let is_source = FileKind::of(&document.path).is_some_and(FileKind::is_source);
            is_source && !(is_inside && document.path.exists())
        });
        paths.extend(alone.map(|document| document.path.clone()));
        let working_directory = match paths.first() {
            Some(first) if first.is_dir() => first.clone(),
            Some(first) => first.parent().map_or_else(|| first.clone(), PathBuf::from),
            None => PathBuf::new(),
        };
        self.schedule.start(
            (paths, working_directory),
            self.documents.unsaved(),
            &self.analyse,
            &self.ends.0,
        );
    }

    fn done(&mut self, done: Done) {
        self.schedule.ended();
        let revision = done.revision;
        match done.result {
            Ok((report, sources)) => {
                self.analysed = Analysed { revision, report, sources };
                self.failure = None;
                if self.schedule.is_current(&self.analysed) {
                    self.publish();
                }
            }
            Err(AnalysisError::Stopped) => {}
            Err(AnalysisError::Failed(problem)) => {
                self.analysed = Analysed { revision, ..Analysed::default() };
                if self.failure.as_ref() != Some(&problem) {
                    let params = ShowMessageParams {
                        kind: MessageType::Error,
                        message: format!("leaselint: {problem}"),
                    };
                    self.notify("window/showMessage", params);
                    self.failure = Some(problem);
                }
            }
        }
        self.answer_waiting();
    }

    /// Answers what waits for a run, when one has seen the texts as they are.
    fn answer_waiting(&mut self) {
        if !self.schedule.is_current(&self.analysed) {
            return;
        }
        for (id, params) in std::mem::take(&mut self.waiting) {
            let document = self.documents.get(&params.text_document.uri);
            let found = document.map(|document| {
                let CodeActionParams { range, ref context, .. } = params;
                actions(&self.analysed, document, range, context, &self.places(), &self.client)
            });
            self.respond(id, found.unwrap_or_default());
        }
    }

    /// Tells the editor what has changed about what it shows.
    fn publish(&mut self) {
        let findings = &self.analysed.report.findings;
        let new = diagnostics::by_file(findings, &self.places(), self.client.shows_related);
        if self.is_half_written(&new) {
            return;
        }
        let old = std::mem::take(&mut self.published);
        let gone = old.keys().filter(|uri| !new.contains_key(*uri)).map(|uri| (uri, Vec::new()));
        let other = new.iter().filter(|(uri, found)| old.get(*uri) != Some(found));
        for (uri, diagnostics) in gone.chain(other.map(|(uri, found)| (uri, found.clone()))) {
            let uri = Uri(uri.clone());
            let version = self.documents.get(&uri).map(|document| document.version);
            self.notify(
                "textDocument/publishDiagnostics",
                PublishDiagnosticsParams { uri, version, diagnostics },
            );
        }
        self.published = new;
    }

    /// Whether a text that could be read before cannot be read in the middle of being changed: what was found
    /// stands until it can be read again, or is saved.
    fn is_half_written(&self, new: &BTreeMap<String, Vec<Diagnostic>>) -> bool {
        self.documents.all().filter(|document| document.is_changed).any(|document| {
            let is_unreadable = |all: &BTreeMap<String, Vec<Diagnostic>>| {
                all.get(&document.uri.0).is_some_and(|all| all.iter().any(diagnostics::says_unreadable))
            };
            FileKind::of(&document.path) != Some(FileKind::Sql)
                && is_unreadable(new)
                && !is_unreadable(&self.published)
        })
    }

    fn places(&self) -> Places<'_> {
        Places::new(&self.analysed.sources, &self.documents, self.client.encoding)
    }

    /// Asks to be told of files that change on disk.
    fn watch_files(&self) {
        if self.client.watches_files {
            let globs = ["**/*.{rs,sql,lua}", "**/Cargo.toml", "**/leaselint.toml", "**/.gitignore"];
            let watchers: Vec<Value> = globs.iter().map(|glob| json!({"globPattern": glob})).collect();
            let registration = json!({
                "id": "files",
                "method": "workspace/didChangeWatchedFiles",
                "registerOptions": {"watchers": watchers},
            });
            let params = json!({"registrations": [registration]});
            let id = RequestId::from("files".to_owned());
            self.send(Request::new(id, "client/registerCapability".to_owned(), params));
        }
    }

    fn log(&self, kind: MessageType, message: String) {
        self.notify("window/logMessage", LogMessageParams { kind, message });
    }

    fn notify(&self, method: &str, params: impl Serialize) {
        self.send(Notification::new(method.to_owned(), params));
    }

    fn respond(&self, id: RequestId, result: impl Serialize) {
        self.send(Response::new_ok(id, result));
    }

    /// An editor that has gone hears nothing; that it has is seen where its messages are read.
    fn send(&self, message: impl Into<Message>) {
        let _ = self.sender.send(message.into());
    }
}

fn read<P: DeserializeOwned>(params: Value) -> Result<P, String> {
    serde_json::from_value(params).map_err(|problem| problem.to_string())
}

//! A language server: findings while the code is written, in every editor that speaks the Language Server Protocol.
//!
//! It checks the whole workspace with the texts that the editor holds, in the background, and answers from the last
//! run. It analyses nothing itself and knows no rule; what runs the checker is handed to it.

mod actions;
mod analysis;
mod client;
mod diagnostics;
mod documents;
mod hover;
mod places;
mod positions;
mod session;
mod uris;

use std::io;
use std::sync::Arc;

use gen_lsp_types::{
    ChangeNotifications, CodeActionKind, CodeActionOptions, InitializeResult, SaveOptions,
    ServerCapabilities, ServerInfo, TextDocumentSyncKind, TextDocumentSyncOptions,
    WorkspaceFoldersServerCapabilities, WorkspaceOptions,
};
use lsp_server::{Connection, ProtocolError};

pub use analysis::{Analyse, AnalysisError, Job};
use client::Client;
use session::Session;

/// Why the server has ended before it was asked to.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    #[error("the editor does not speak as the Language Server Protocol asks: {0}")]
    Protocol(#[from] ProtocolError),
    #[error("a message of the editor cannot be read: {0}")]
    Message(io::Error),
    #[error("the editor has gone without asking for an end")]
    Gone,
    #[error("the answer to the editor's first message cannot be written: {0}")]
    Answer(#[from] serde_json::Error),
}

/// Serves one editor over stdin and stdout until it asks for the end.
pub fn serve(analyse: Arc<Analyse>) -> Result<(), ServeError> {
    let (connection, threads) = Connection::stdio();
    let ended = talk(connection, analyse);
    match ended {
        // What has been sent is still to be written.
        Ok(()) => threads.join().map_err(ServeError::Message),
        // The thread that reads may have ended for a reason of its own, or wait for ever.
        Err(ServeError::Gone) => Err(threads.join().map_or_else(ServeError::Message, |()| ServeError::Gone)),
        Err(error) => Err(error),
    }
}

fn talk(connection: Connection, analyse: Arc<Analyse>) -> Result<(), ServeError> {
    let (id, params) = connection.initialize_start()?;
    let client = Client::of(&params);
    let info =
        ServerInfo { name: "leaselint".to_owned(), version: Some(env!("CARGO_PKG_VERSION").to_owned()) };
    let result = InitializeResult { capabilities: capabilities(&client), server_info: Some(info) };
    connection.initialize_finish(id, serde_json::to_value(result)?)?;
    Session::new(client, connection.sender, analyse).run(&connection.receiver)
}

fn capabilities(client: &Client) -> ServerCapabilities {
    let sync = TextDocumentSyncOptions {
        open_close: Some(true),
        change: Some(TextDocumentSyncKind::Incremental),
        save: Some(SaveOptions { include_text: Some(false) }.into()),
        ..TextDocumentSyncOptions::default()
    };
    let actions = CodeActionOptions {
        code_action_kinds: Some(vec![CodeActionKind::QuickFix, CodeActionKind::from(actions::FIX_ALL)]),
        ..CodeActionOptions::default()
    };
    let folders = WorkspaceFoldersServerCapabilities {
        supported: Some(true),
        change_notifications: Some(ChangeNotifications::Bool(true)),
    };
    ServerCapabilities {
        position_encoding: Some(client.encoding.kind()),
        text_document_sync: Some(sync.into()),
        hover_provider: Some(true.into()),
        code_action_provider: Some(actions.into()),
        workspace: Some(WorkspaceOptions { workspace_folders: Some(folders), ..WorkspaceOptions::default() }),
        ..ServerCapabilities::default()
    }
}

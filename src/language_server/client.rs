//! What the editor at the other end can do, and what it has open. Read field by field, so that a field that is
//! not as the protocol has it costs that field only.

use std::path::PathBuf;

use gen_lsp_types::Uri;
use serde_json::Value;

use super::positions::Encoding;
use super::uris;

/// What the first message of an editor says.
#[derive(Debug, Default)]
pub(super) struct Client {
    pub(super) encoding: Encoding,
    /// Shows places in other files under a diagnostic.
    pub(super) shows_related: bool,
    /// Takes edits together with the versions that they are for.
    pub(super) has_versioned_edits: bool,
    /// Tells of files that change on disk when it is asked to.
    pub(super) watches_files: bool,
    pub(super) folders: Vec<PathBuf>,
}

impl Client {
    pub(super) fn of(initialize: &Value) -> Self {
        let can = |path: &str| {
            initialize.pointer(&format!("/capabilities/{path}")).and_then(Value::as_bool) == Some(true)
        };
        let encodings =
            initialize.pointer("/capabilities/general/positionEncodings").and_then(Value::as_array);
        let offered: Vec<&str> = encodings.into_iter().flatten().filter_map(Value::as_str).collect();
        Self {
            encoding: Encoding::choose(&offered),
            shows_related: can("textDocument/publishDiagnostics/relatedInformation"),
            has_versioned_edits: can("workspace/workspaceEdit/documentChanges"),
            watches_files: can("workspace/didChangeWatchedFiles/dynamicRegistration"),
            folders: folders(initialize),
        }
    }
}

/// The folders of the workspace; the one folder of editors that know no more.
fn folders(initialize: &Value) -> Vec<PathBuf> {
    let uri = |value: &Value| uris::to_resolved_path(&Uri(value.as_str()?.to_owned()));
    let listed = initialize.get("workspaceFolders").and_then(Value::as_array);
    let mut folders: Vec<PathBuf> =
        listed.into_iter().flatten().filter_map(|folder| uri(folder.get("uri")?)).collect();
    if folders.is_empty() {
        folders.extend(initialize.get("rootUri").and_then(uri));
    }
    folders.retain(|folder| folder.is_dir());
    folders
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_first_message_is_read_as_far_as_it_can_be() {
        let folder = tempfile::tempdir().unwrap();
        let root = uris::from_path(folder.path()).0;
        let client = Client::of(&json!({
            "rootUri": root,
            "workspaceFolders": [{"uri": "untitled:x"}, 3],
            "capabilities": {
                "general": {"positionEncodings": ["utf-32", 7]},
                "textDocument": {"publishDiagnostics": {"relatedInformation": true}},
                "workspace": {"workspaceEdit": {"documentChanges": "yes"}},
            },
        }));
        assert_eq!(client.encoding, Encoding::Utf32);
        assert!(client.shows_related && !client.has_versioned_edits);
        assert_eq!(client.folders, [folder.path().canonicalize().unwrap()]);
        assert!(Client::of(&Value::Null).folders.is_empty());
    }
}

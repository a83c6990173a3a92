//! The target of the configuration: a file is read or refused with its place, and answers for any path.

use std::fs;
use std::path::Path;
use std::sync::LazyLock;

use leaselint::configuration::{Configuration, ConfigurationError};
use leaselint::resolve::Models;

use crate::stack::on_a_large_stack;

static FOLDER: LazyLock<tempfile::TempDir> =
    LazyLock::new(|| tempfile::tempdir().expect("a folder can be made"));

/// `leaselint.toml`, and the same bytes as a manifest that has the table.
pub fn config(data: &[u8]) {
    on_a_large_stack(config_here, data);
}

fn config_here(data: &[u8]) {
    let folder = FOLDER.path();
    for name in ["leaselint.toml", "Cargo.toml"] {
        let path = folder.join(name);
        fs::write(&path, data).expect("a file can be written");
        match Configuration::read(Path::new(name), folder) {
            Ok(configuration) => assert_answers(&configuration, folder),
            Err(error @ ConfigurationError::Malformed { line, column, .. }) => {
                assert!(line >= 1 && column >= 1, "{error}");
                assert!(!error.to_string().contains('\n'), "{error}");
            }
            Err(_) => {}
        }
    }
}

fn assert_answers(configuration: &Configuration, folder: &Path) {
    for name in ["src/lib.rs", "migrations/V1__a.sql", "a.lua", "target/x/y.rs"] {
        let path = folder.join(name);
        let _ = (configuration.policy(&path), configuration.dialect(&path), configuration.history(&path));
        let excluded = configuration.excluded();
        let _ = excluded.iter().any(|patterns| patterns.matches(&path, false));
    }
    let conventions = &configuration.conventions;
    let _ = (conventions.declares_lock_key("turn:{}:seat"), conventions.is_lock_table("locks"));
    let _ = (conventions.token_tier("jobs", "token"), conventions.is_owner("jobs", "holder"));
    let _ = Models::with(configuration.clients.clone(), configuration.signal_crates.clone());
    let _ = (configuration.shown(), configuration.baseline());
}

//! The form of a configuration file. `schemas/leaselint.schema.json` says the same to editors.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use toml::Spanned;

use crate::facts::sql::Dialect;
use crate::finding::Severity;
use crate::resolve::ClientModel;

#[derive(Debug, Clone, Default, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default, rename_all = "kebab-case")]
pub(super) struct File {
    /// Only these rules or groups.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) select: Option<Vec<Spanned<String>>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) ignore: Vec<Spanned<String>>,
    /// Patterns as in `.gitignore`, from the file's folder.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) exclude: Vec<Spanned<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) dialect: Option<DialectName>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) migrations: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) baseline: Option<String>,
    /// Columns, as `column` or `table.column`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) token_columns: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) owner_columns: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) expiry_columns: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) lock_tables: Vec<String>,
    /// Key templates, with `*` for any text.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) lock_keys: Vec<String>,
    /// What fixes write in the place of a GET and a DEL.
    #[serde(skip_serializing_if = "CompareAndDelete::is_default")]
    pub(super) compare_and_delete: CompareAndDelete,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) signal_crates: Vec<String>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) levels: BTreeMap<Spanned<String>, Level>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) path: Vec<PathTable>,
    #[serde(skip_serializing)]
    pub(super) client: Vec<ClientModel>,
}

/// How a lock is compared and deleted in one step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum CompareAndDelete {
    /// A Lua script, which every server knows.
    #[default]
    Script,
    /// `DELEX key IFEQ value`, of Redis 8.4.
    Delex,
}

impl CompareAndDelete {
    fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

/// What holds for some files only.
#[derive(Debug, Clone, Deserialize, Serialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct PathTable {
    pub(super) paths: Vec<Spanned<String>>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) ignore: Vec<Spanned<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) dialect: Option<DialectName>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) levels: BTreeMap<Spanned<String>, Level>,
}

/// At which level a rule's findings are reported.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    Error,
    Warning,
    Info,
    Off,
}

impl Level {
    /// `None` when they are not reported.
    pub fn severity(self) -> Option<Severity> {
        match self {
            Self::Error => Some(Severity::Error),
            Self::Warning => Some(Severity::Warning),
            Self::Info => Some(Severity::Info),
            Self::Off => None,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum DialectName {
    #[serde(alias = "postgresql")]
    Postgres,
    #[serde(alias = "mariadb")]
    Mysql,
    Sqlite,
}

impl From<DialectName> for Dialect {
    fn from(name: DialectName) -> Self {
        match name {
            DialectName::Postgres => Self::Postgres,
            DialectName::Mysql => Self::MySql,
            DialectName::Sqlite => Self::Sqlite,
        }
    }
}

/// A manifest, as far as it may hold a configuration.
#[derive(Debug, Deserialize)]
pub(super) struct Manifest {
    #[serde(default)]
    pub(super) workspace: Workspace,
}

#[derive(Debug, Default, Deserialize)]
pub(super) struct Workspace {
    #[serde(default)]
    pub(super) metadata: Metadata,
}

#[derive(Debug, Default, Deserialize)]
pub(super) struct Metadata {
    pub(super) leaselint: Option<File>,
}

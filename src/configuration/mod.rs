//! What a project says of itself, in `leaselint.toml` or under `[workspace.metadata.leaselint]`: found, read,
//! and answered file by file. What columns, keys and calls mean to the analysis is not its business.

mod find;
mod form;
mod policy;
mod reading;
mod shown;

use std::path::{Path, PathBuf};

pub use form::Level;
pub use policy::Policy;
pub use reading::ConfigurationError;

use form::CompareAndDelete;

use crate::facts::sql::Dialect;
use crate::locks::Conventions;
use crate::resolve::ClientModel;
use crate::sources::Patterns;

/// The JSON Schema of a configuration file.
pub const SCHEMA: &str = include_str!("../../schemas/leaselint.schema.json");

/// The configuration of a run. Knowledge of the code adds up over several files; of what is decided for one
/// source file, the nearest configuration above it has the say.
#[derive(Debug, Clone, Default)]
pub struct Configuration {
    layers: Vec<Layer>,
    /// Libraries and wrappers whose sources are not in the workspace.
    pub clients: Vec<ClientModel>,
    /// Libraries that handle SIGTERM for whoever uses them.
    pub signal_crates: Vec<String>,
    /// What columns, tables and keys mean in this project.
    pub conventions: Conventions,
}

/// What one file says of the source files below its folder.
#[derive(Debug, Clone)]
struct Layer {
    /// The file, as messages name it.
    origin: String,
    /// Its folder.
    root: PathBuf,
    policy: Policy,
    exclude: Patterns,
    dialect: Option<Dialect>,
    /// Folders whose `.sql` files are a history, below the root.
    migrations: Vec<PathBuf>,
    baseline: Option<PathBuf>,
    paths: Vec<PathLayer>,
    /// For `--show-config`.
    written: form::File,
}

/// A `[[path]]` table.
#[derive(Debug, Clone)]
struct PathLayer {
    applies_to: Patterns,
    policy: Policy,
    dialect: Option<Dialect>,
}

impl Configuration {
    /// The configuration of the folders that these paths stand in: of each the nearest one, up to the root of
    /// its repository.
    pub fn discover(paths: &[PathBuf], working_directory: &Path) -> Result<Self, ConfigurationError> {
        let mut all = Self::default();
        for place in find::all(paths, working_directory)? {
            all.add(&place, reading::read(&place)?)?;
        }
        Ok(all)
    }

    /// The configuration in one file, whose patterns count from the working directory.
    pub fn read(path: &Path, working_directory: &Path) -> Result<Self, ConfigurationError> {
        let mut all = Self::default();
        let place = find::named(path, working_directory);
        all.add(&place, reading::read(&place)?)?;
        Ok(all)
    }

    fn add(&mut self, place: &find::Place, read: reading::Read) -> Result<(), ConfigurationError> {
        let reading::Read { file, text } = read;
        let check = reading::Check { shown: &place.shown, text: &text };
        let root = &place.root;
        let mut paths = Vec::new();
        for table in &file.path {
            check.names(table.ignore.iter().chain(table.levels.keys()))?;
            paths.push(PathLayer {
                applies_to: check.patterns(root, &table.paths)?,
                policy: Policy::of_path(table),
                dialect: table.dialect.map(Into::into),
            });
        }
        let selected = file.select.iter().flatten();
        check.names(selected.chain(&file.ignore).chain(file.levels.keys()))?;
        self.layers.push(Layer {
            origin: place.shown.display().to_string(),
            root: root.clone(),
            policy: Policy::of_file(&file),
            exclude: check.patterns(root, &file.exclude)?,
            dialect: file.dialect.map(Into::into),
            migrations: file.migrations.iter().map(|folder| root.join(folder)).collect(),
            baseline: file.baseline.as_ref().map(|path| root.join(path)),
            paths,
            written: file.clone(),
        });
        self.clients.extend(file.client);
        self.signal_crates.extend(file.signal_crates);
        let conventions = &mut self.conventions;
        conventions.token_columns.extend(file.token_columns);
        conventions.owner_columns.extend(file.owner_columns);
        conventions.expiry_columns.extend(file.expiry_columns);
        conventions.lock_tables.extend(file.lock_tables);
        conventions.lock_keys.extend(file.lock_keys);
        conventions.has_delex |= file.compare_and_delete == CompareAndDelete::Delex;
        Ok(())
    }

    /// The layer that has the say over a file.
    fn layer(&self, path: &Path) -> Option<&Layer> {
        let above = self.layers.iter().filter(|layer| path.starts_with(&layer.root));
        above.max_by_key(|layer| layer.root.components().count())
    }

    /// What is reported of this file, and at which level.
    pub fn policy(&self, path: &Path) -> Policy {
        let Some(layer) = self.layer(path) else { return Policy::default() };
        let mut policy = layer.policy.clone();
        for table in layer.paths.iter().filter(|table| table.applies_to.matches(path, false)) {
            policy.narrow(&table.policy);
        }
        policy
    }

    /// The database that the SQL of this file is written for.
    pub fn dialect(&self, path: &Path) -> Option<Dialect> {
        let layer = self.layer(path)?;
        let tables = layer.paths.iter().rev().filter(|table| table.applies_to.matches(path, false));
        tables.filter_map(|table| table.dialect).next().or(layer.dialect)
    }

    /// The folder of migrations that this file is part of.
    pub fn history(&self, path: &Path) -> Option<&Path> {
        let folders = self.layer(path)?.migrations.iter().filter(|folder| path.starts_with(folder));
        folders.max_by_key(|folder| folder.components().count()).map(PathBuf::as_path)
    }

    /// What is not looked at, wherever it is named.
    pub fn excluded(&self) -> Vec<Patterns> {
        self.layers
            .iter()
            .map(|layer| layer.exclude.clone())
            .filter(|patterns| !patterns.is_empty())
            .collect()
    }

    /// The file of known findings, when one is named.
    pub fn baseline(&self) -> Option<&Path> {
        self.layers.iter().find_map(|layer| layer.baseline.as_deref())
    }

    /// The files that were read, as messages name them.
    pub fn files(&self) -> impl Iterator<Item = &str> {
        self.layers.iter().map(|layer| layer.origin.as_str())
    }

    /// All that was read, as TOML.
    pub fn shown(&self) -> String {
        shown::toml(&self.layers)
    }
}

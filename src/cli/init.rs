//! The command `init`: a `leaselint.toml` for the project as it is, and the hook for pre-commit. What exists already
//! is never touched; what a person has to do about it is said.

use std::fs::OpenOptions;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::{fs, iter};

use super::arguments::{InitArguments, Scope};
use super::run_options::{OptionsError, options_for, working_directory};
use super::{COULD_NOT, print, progress, stream};
use crate::check::{CheckError, FailOn, survey};
use crate::proposal::Proposal;
use crate::resolve::Models;

const CONFIGURATION: &str = "leaselint.toml";
const HOOKS: &str = ".pre-commit-config.yaml";

/// The tool on the PATH, so that it works before anybody knows where our repository is.
const HOOK: &str = r"  - repo: local
    hooks:
      - id: leaselint
        name: leaselint
        language: system
        entry: leaselint check
        types_or: [rust, sql, lua]
        require_serial: true
";

#[derive(Debug, thiserror::Error)]
enum InitError {
    #[error("{} is no folder; name the root of a project", .0.display())]
    NoFolder(PathBuf),
    #[error(transparent)]
    Options(#[from] OptionsError),
    #[error(transparent)]
    Check(#[from] CheckError),
    #[error("cannot write {}: {source}", path.display())]
    Write { path: PathBuf, source: io::Error },
    #[error("{} configures leaselint already, and nothing was written; `leaselint init --print` prints what would be proposed", .0)]
    Configured(String),
}

pub(super) fn run(arguments: &InitArguments) -> u8 {
    match init(arguments) {
        Ok(code) => code,
        Err(error) => {
            stream::tell("error", &error.to_string());
            COULD_NOT
        }
    }
}

fn init(arguments: &InitArguments) -> Result<u8, InitError> {
    let named = arguments.path.as_deref().unwrap_or(Path::new("."));
    let folder = working_directory()?.join(named);
    let folder = fs::canonicalize(&folder).ok().filter(|folder| folder.is_dir());
    let folder = folder.ok_or_else(|| InitError::NoFolder(named.to_owned()))?;
    let proposal = proposal(&folder)?;
    if arguments.print {
        return Ok(print(&proposal.toml()));
    }
    let scope = Scope::default();
    let existing = options_for(&scope, vec![folder.clone()], FailOn::Never, folder.clone())?.configuration;
    let configured = existing.files().next().map(str::to_owned);
    let hook = if arguments.no_hook { Hook::NotWanted } else { hook(&folder) };
    if let (Some(file), false) = (&configured, matches!(hook, Hook::Write(_))) {
        tell(&hook);
        return Err(InitError::Configured(file.clone()));
    }
    match configured {
        Some(file) => {
            stream::tell("note", &format!("{file} configures leaselint already, and was left as it is"))
        }
        None => write_configuration(&named.join(CONFIGURATION), &folder, &proposal)?,
    }
    if let Hook::Write(root) = &hook {
        let path = root.join(HOOKS);
        write_new(&path, &format!("repos:\n{HOOK}"))?;
        let shown = path.strip_prefix(&folder).unwrap_or(&path);
        stream::tell("note", &format!("wrote {}; `pre-commit install` makes git run it", shown.display()));
    }
    tell(&hook);
    Ok(0)
}

fn proposal(folder: &Path) -> Result<Proposal, InitError> {
    // What an old configuration excludes, or says of the code, must not decide what is seen.
    let scope = Scope { config: None, ..Scope::default() };
    let mut options = options_for(&scope, Vec::new(), FailOn::Never, folder.to_owned())?;
    options.paths = vec![folder.to_owned()];
    let found = progress::shown(true, &options.progress, || survey(&options))?;
    Ok(Proposal::of(&found, &Models::built_in()))
}

fn write_configuration(shown: &Path, folder: &Path, proposal: &Proposal) -> Result<(), InitError> {
    write_new(&folder.join(CONFIGURATION), &proposal.toml())?;
    let wrappers = match proposal.wrappers() {
        0 => String::new(),
        1 => "; it proposes a model for one library, to be looked at".to_owned(),
        many => format!("; it proposes models for {many} libraries, to be looked at"),
    };
    let shown = shown.strip_prefix(".").unwrap_or(shown);
    stream::tell("note", &format!("wrote {}{wrappers}", shown.display()));
    Ok(())
}

/// What is to be done about the hook.
enum Hook {
    /// In the root of the repository.
    Write(PathBuf),
    Exists,
    /// In a file of other hooks.
    ToBeAdded(PathBuf),
    NoRepository,
    NotWanted,
}

fn hook(folder: &Path) -> Hook {
    let Some(root) = folder.ancestors().find(|folder| folder.join(".git").exists()) else {
        return Hook::NoRepository;
    };
    let path = root.join(HOOKS);
    match fs::read_to_string(&path) {
        Ok(text) if text.contains("leaselint") => Hook::Exists,
        Ok(_) => Hook::ToBeAdded(path),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Hook::Write(root.to_owned()),
        Err(_) => Hook::ToBeAdded(path),
    }
}

fn tell(hook: &Hook) {
    match hook {
        Hook::Write(_) | Hook::NotWanted => {}
        Hook::Exists => stream::tell("note", &format!("{HOOKS} has the hook already, and was left as it is")),
        Hook::ToBeAdded(path) => {
            stream::tell("note", &format!("{} was left as it is; add to its `repos`:", path.display()));
            iter::once(HOOK).flat_map(str::lines).for_each(stream::tell_line);
        }
        Hook::NoRepository => stream::tell("note", "no git repository here, so that no hook was written"),
    }
}

/// Whatever stands there already stays.
fn write_new(path: &Path, text: &str) -> Result<(), InitError> {
    let failed = |source| InitError::Write { path: path.to_owned(), source };
    let mut file = OpenOptions::new().write(true).create_new(true).open(path).map_err(failed)?;
    let written = file.write_all(text.as_bytes()).and_then(|()| file.sync_all());
    if written.is_err() {
        // Nobody should find half of it.
        let _ = fs::remove_file(path);
    }
    written.map_err(failed)
}

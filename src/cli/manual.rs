//! The man pages: of the tool, of one command, or all of them into a folder.

use std::io;
use std::path::{Path, PathBuf};

use clap::CommandFactory;
use clap_mangen::Man;

use super::arguments::{Arguments, ManualArguments};
use super::{COULD_NOT, print_bytes, report_file, stream};
use crate::spelling::nearest_name;

#[derive(Debug, thiserror::Error)]
enum ManualError {
    #[error("there is no command `{name}`{}", .nearest.as_ref().map(|nearest| format!("; did you mean `{nearest}`?")).unwrap_or_default())]
    Unknown { name: String, nearest: Option<String> },
    #[error("cannot write {}: {source}", path.display())]
    Unwritable { path: PathBuf, source: io::Error },
}

pub(super) fn run(arguments: &ManualArguments) -> u8 {
    let answer = match &arguments.all {
        Some(folder) => write_all(folder).map(|()| 0),
        None => page(arguments.command.as_deref()).map(|page| print_bytes(&page)),
    };
    answer.unwrap_or_else(|error| {
        stream::tell("error", &error.to_string());
        COULD_NOT
    })
}

/// The command with its own name as people type it, `leaselint check`.
fn built() -> clap::Command {
    let mut command = Arguments::command();
    command.build();
    command
}

fn shown(command: &clap::Command) -> impl Iterator<Item = &clap::Command> {
    command.get_subcommands().filter(|command| !command.is_hide_set() && command.get_name() != "help")
}

fn page(name: Option<&str>) -> Result<Vec<u8>, ManualError> {
    let command = built();
    let Some(name) = name else { return Ok(rendered(&command)) };
    let found = shown(&command).find(|command| command.get_name() == name);
    found.map(rendered).ok_or_else(|| ManualError::Unknown {
        name: name.to_owned(),
        nearest: nearest_name(name, shown(&command).map(clap::Command::get_name)).map(str::to_owned),
    })
}

fn rendered(command: &clap::Command) -> Vec<u8> {
    let mut page = Vec::new();
    // A vector takes everything.
    let _ = Man::new(command.clone()).render(&mut page);
    page
}

fn write_all(folder: &Path) -> Result<(), ManualError> {
    let unwritable = |path: &Path, source| ManualError::Unwritable { path: path.to_owned(), source };
    std::fs::create_dir_all(folder).map_err(|source| unwritable(folder, source))?;
    let command = built();
    for command in std::iter::once(&command).chain(shown(&command)) {
        let name = command.get_display_name().unwrap_or(command.get_name());
        let path = folder.join(format!("{name}.1"));
        report_file::write(&path, &rendered(command)).map_err(|source| unwritable(&path, source))?;
    }
    Ok(())
}

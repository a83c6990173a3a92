//! Trees of the repository, examined by the library as the commands do it.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use leaselint::audit::Audit;
use leaselint::check::{FailOn, Options, Progress, Report, Selection, Stop, Timings, check};
use leaselint::configuration::Configuration;
use leaselint::resolve::Models;
use leaselint::sources::Sources;

pub struct Examined {
    pub report: Report,
    pub audit: Audit,
    pub sources: Sources,
}

/// Every `fixtures/<rule>/<case>`.
pub fn fixtures() -> Vec<PathBuf> {
    folders(&root().join("fixtures")).iter().flat_map(|rule| folders(rule)).collect()
}

/// Every case, copied away: below `tests/` it would be taken for a test.
pub fn cases() -> Vec<PathBuf> {
    let copies = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("cases");
    for case in folders(&root().join("tests/cases")) {
        copy(&case, &copies.join(case.file_name().expect("a case has a name")));
    }
    folders(&copies)
}

pub fn examine(folder: &Path) -> Examined {
    let pedantic = folder.file_name().is_some_and(|name| name.to_string_lossy().ends_with("_pedantic"));
    let paths = vec![PathBuf::from(".")];
    let working_directory = folder.canonicalize().expect("the folder exists");
    let configuration =
        Configuration::discover(&paths, &working_directory).expect("the configuration is sound");
    let options = Options {
        paths,
        working_directory,
        no_ignore: false,
        tests: false,
        jobs: std::num::NonZeroUsize::new(1),
        selection: Selection::new(&[], &[], pedantic, FailOn::Never).expect("nothing is selected"),
        models: Models::with(configuration.clients.clone(), configuration.signal_crates.clone()),
        unsaved: Vec::new(),
        changes: None,
        configuration: Arc::new(configuration),
        kept: Arc::default(),
        cache: None,
        stop: Stop::default(),
        progress: Progress::default(),
        timings: Timings::default(),
        audits: true,
    };
    let (mut report, sources) = check(&options).expect("the run does its work");
    let audit = report.audit.take().expect("it was asked for");
    Examined { report, audit, sources }
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn folders(of: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(of).expect("it is part of the repository").flatten();
    let mut found: Vec<PathBuf> = entries.map(|entry| entry.path()).filter(|path| path.is_dir()).collect();
    found.sort();
    found
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("the target folder can be written");
    for entry in fs::read_dir(from).expect("it was just listed").flatten() {
        let (source, target) = (entry.path(), to.join(entry.file_name()));
        if source.is_dir() {
            copy(&source, &target);
        } else if entry.file_name() != "expect.toml" {
            fs::copy(&source, &target).expect("the target folder can be written");
        }
    }
}

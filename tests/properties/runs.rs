//! Whole runs over trees that a property makes up.

use std::fs;
use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::Arc;

use leaselint::check::{FailOn, Options, Progress, Report, Selection, Stop, Timings, check};
use leaselint::resolve::Models;
use leaselint::sources::Sources;

pub fn run(folder: &Path) -> (Report, Sources) {
    let options = Options {
        paths: vec![".".into()],
        working_directory: folder.canonicalize().unwrap(),
        no_ignore: false,
        tests: false,
        jobs: NonZeroUsize::new(1),
        selection: Selection::new(&[], &[], true, FailOn::Warning).unwrap(),
        models: Models::built_in(),
        unsaved: Vec::new(),
        changes: None,
        configuration: Arc::default(),
        kept: Arc::default(),
        cache: None,
        stop: Stop::default(),
        progress: Progress::default(),
        timings: Timings::default(),
        audits: true,
    };
    check(&options).unwrap()
}

pub fn write(folder: &Path, path: &str, text: impl AsRef<[u8]>) {
    let path = folder.join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

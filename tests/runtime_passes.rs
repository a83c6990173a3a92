//! The library that shows how it is done, `runtime/`, passes every rule: not one finding with `--pedantic`, and
//! nothing that would silence one. Controls show that the rules do look at it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use ignore::WalkBuilder;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The report on `folder`, below `within`.
fn report(within: &Path, folder: &str, flags: &[&str]) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_leaselint"))
        .args(["check", folder, "--pedantic"])
        .args(flags)
        .current_dir(within)
        .output()
        .expect("the binary was built");
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

fn files() -> impl Iterator<Item = PathBuf> {
    let all = WalkBuilder::new(root().join("runtime")).standard_filters(false).build().flatten();
    all.filter(|entry| entry.path().is_file()).map(ignore::DirEntry::into_path)
}

#[test]
fn leasehold_has_no_finding() {
    for (within, folder) in [(root().to_owned(), "runtime"), (root().join("runtime"), ".")] {
        for flags in [&[][..], &["--tests"]] {
            let said = report(&within, folder, flags);
            assert!(said.starts_with("no problems found in "), "{folder} {flags:?}: {said}");
        }
    }
}

#[test]
fn nothing_in_leasehold_is_silenced() {
    for path in files() {
        assert!(!path.ends_with("leaselint.toml"), "{} makes exceptions", path.display());
        let text = String::from_utf8_lossy(&fs::read(&path).expect("it was just listed")).into_owned();
        assert!(!text.contains("leaselint: allow"), "{} silences a rule", path.display());
    }
}

/// The same sources with one defect.
fn with_defect(file: &str, from: &str, to: &str) -> String {
    let copy = tempfile::tempdir().expect("there is a temporary directory");
    for path in files() {
        let below = path.strip_prefix(root()).expect("it was found below");
        let target = copy.path().join(below);
        fs::create_dir_all(target.parent().expect("it is below a folder")).expect("the folder is ours");
        let mut text = fs::read(&path).expect("it was just listed");
        if below == Path::new(file) {
            let sound = String::from_utf8(text).expect("sources are UTF-8");
            assert!(sound.contains(from), "{file} has changed; say the defect anew");
            text = sound.replace(from, to).into_bytes();
        }
        fs::write(target, text).expect("the folder is ours");
    }
    report(copy.path(), "runtime", &[])
}

#[test]
fn defects_in_leasehold_would_be_found() {
    let said = with_defect(
        "runtime/src/fence/postgres/session.rs",
        "WHERE resource = $1 AND last_token = $2 AND holder = $3",
        "WHERE resource = $1",
    );
    assert!(said.contains("error["), "a transaction that any token may enter: {said}");
    let said = with_defect(
        "runtime/src/fence/sqlite.rs",
        "WHERE resource = ?1 AND last_token = ?2 AND holder = ?3",
        "WHERE resource = ?1",
    );
    assert!(said.contains("error["), "a transaction that any token may enter: {said}");
}

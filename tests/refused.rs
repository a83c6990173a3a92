//! What is asked for and cannot be done: exit code 2, a sentence that helps, no report on stdout, and no file left
//! that is half written.

#![allow(clippy::unwrap_used, reason = "a test that cannot set itself up has failed")]

use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};

const CASE: &str = "fixtures/get-then-del/bad_one_function/src/lib.rs";

fn project() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("src")).unwrap();
    fs::copy(Path::new(env!("CARGO_MANIFEST_DIR")).join(CASE), folder.path().join("src/lib.rs")).unwrap();
    folder
}

fn leaselint(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_leaselint"))
        .args(arguments)
        .current_dir(folder)
        .stdin(Stdio::null())
        .output()
        .unwrap()
}

/// Says `part` on stderr, and nothing on stdout.
fn refuses(folder: &Path, arguments: &[&str], part: &str) {
    let output = leaselint(folder, arguments);
    let said = String::from_utf8(output.stderr.clone()).unwrap();
    assert_eq!(output.status.code(), Some(2), "{arguments:?}: {said}");
    assert!(said.contains(part), "{arguments:?}: {said}");
    assert!(said.starts_with("error: ") && !said.contains("panicked"), "{arguments:?}: {said}");
    assert!(output.stdout.is_empty(), "{arguments:?}");
}

#[test]
fn files_that_cannot_be_read() {
    let project = project();
    fs::create_dir(project.path().join("folder")).unwrap();
    fs::write(project.path().join("text.json"), "no JSON").unwrap();
    fs::write(project.path().join("newer.json"), "{\"schema\": 99, \"findings\": []}").unwrap();
    for (arguments, part) in [
        (["--config", "nowhere.toml"], "cannot read nowhere.toml: there is no such file"),
        (["--config", "folder"], "cannot read folder"),
        (["--baseline", "nowhere.json"], "there is no such file (any more); `leaselint baseline` writes one"),
        (["--baseline", "folder"], "cannot read the baseline folder"),
        (["--baseline", "text.json"], "is no baseline of leaselint"),
        (["--baseline", "newer.json"], "its schema is 99"),
        (["--new-since", "HEAD"], "git"),
        (["--stdin-filename", "src"], "src is a folder"),
        (["--stdin-filename", "nowhere/a.rs"], "nowhere/a.rs"),
    ] {
        refuses(project.path(), &arguments, part);
    }
}

#[cfg(unix)]
#[test]
fn files_that_lead_to_themselves() {
    let project = project();
    for name in ["loop.json", "loop.toml"] {
        std::os::unix::fs::symlink(name, project.path().join(name)).unwrap();
    }
    refuses(project.path(), &["--baseline", "loop.json"], "cannot read the baseline loop.json");
    refuses(project.path(), &["--config", "loop.toml"], "cannot read loop.toml");
    refuses(project.path(), &["--output", "json=loop.json"], "cannot write loop.json");
    refuses(project.path(), &["baseline", "--baseline", "loop.json"], "loop.json");
    assert!(project.path().join("loop.json").is_symlink());
    // A baseline that is its own configuration.
    fs::write(project.path().join("leaselint.toml"), "baseline = \"leaselint.toml\"\n").unwrap();
    refuses(project.path(), &[], "leaselint.toml is no baseline of leaselint");
    refuses(project.path(), &["baseline"], "leaselint.toml is no baseline of leaselint");
    let configuration = fs::read_to_string(project.path().join("leaselint.toml")).unwrap();
    assert_eq!(configuration, "baseline = \"leaselint.toml\"\n");
}

#[test]
fn reports_that_cannot_be_written() {
    let project = project();
    for (arguments, part) in [
        (&["--output", "json=src"][..], "src: it is a folder"),
        (&["--output", "json=nowhere/a.json"], "cannot write nowhere/a.json"),
        (&["--output", "json=a.json", "--output", "sarif=a.json"], "two reports"),
        (&["--output", "json=a.json", "--output", "sarif=src/../a.json"], "two reports"),
        (&["man", "--all", "src/lib.rs"], "cannot write src/lib.rs"),
    ] {
        refuses(project.path(), arguments, part);
    }
    assert_eq!(fs::read_dir(project.path()).unwrap().count(), 1, "nothing is left beside the sources");
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk() {
    let project = project();
    refuses(project.path(), &["--output", "json=/dev/full"], "cannot write /dev/full");
    let full = fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_leaselint"));
    let output = command.current_dir(project.path()).stdout(full).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("cannot write to stdout"));
}

#[test]
fn flags_that_exclude_each_other() {
    let project = project();
    for (arguments, part) in [
        (&["--fix", "--stdin-filename", "src/lib.rs"][..], "--stdin-filename"),
        (&["--diff", "--output", "json=a.json"], "--output"),
        (&["--quiet", "--verbose"], "--verbose"),
        (&["--baseline", "a", "--no-baseline"], "--no-baseline"),
        (&["--show-config", "--show-files"], "--show-files"),
        (&["--stdin-filename", "src/lib.rs", "src"], "--stdin-filename"),
        (&["--stdin-filename", "src/lib.rs", "--new-since", "HEAD"], "--new-since"),
        (&["man", "check", "--all", "pages"], "--all"),
    ] {
        refuses(project.path(), arguments, part);
    }
}

/// Another user's folder: nothing in it can be made or replaced.
#[cfg(unix)]
#[test]
fn a_fix_that_cannot_be_written_leaves_all_files_as_they_were() {
    use std::os::unix::fs::PermissionsExt;
    let project = project();
    let (folder, file) = (project.path().join("src"), project.path().join("src/lib.rs"));
    let before = fs::read(&file).unwrap();
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o555)).unwrap();
    let is_root = fs::write(folder.join("probe"), "").is_ok();
    if !is_root {
        refuses(project.path(), &["--fix", "--allow-dirty"], "cannot write");
        assert_eq!(fs::read(&file).unwrap(), before);
    }
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o755)).unwrap();
}

#[cfg(unix)]
#[test]
fn a_fix_goes_through_a_link_and_the_link_stays() {
    let project = project();
    let link = project.path().join("src/link.rs");
    fs::rename(project.path().join("src/lib.rs"), project.path().join("real.rs")).unwrap();
    std::os::unix::fs::symlink("../real.rs", &link).unwrap();
    let output = leaselint(project.path(), &["--fix", "--allow-dirty", "src/link.rs"]);
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(link.is_symlink());
    assert!(fs::read_to_string(project.path().join("real.rs")).unwrap().contains("Script::new"));
}

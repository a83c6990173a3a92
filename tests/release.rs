//! What a release is made of: the archive is packed by the script that the release runs, with the binaries under
//! test, and must be what `cargo binstall` is told to look for.

#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a test that cannot set itself up has failed")]

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

const TARGET: &str = "x86_64-unknown-linux-musl";

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn run(folder: &Path, command: &mut Command) -> Output {
    let output = command.current_dir(folder).output().unwrap();
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
    output
}

/// What the metadata says, with its blanks filled in.
fn told(key: &str) -> String {
    let manifest = fs::read_to_string(root().join("Cargo.toml")).unwrap();
    let manifest: toml::Table = toml::from_str(&manifest).unwrap();
    let text = manifest["package"]["metadata"]["binstall"][key].as_str().unwrap();
    let filled = [
        ("{ repo }", "REPO"),
        ("{ name }", env!("CARGO_PKG_NAME")),
        ("{ version }", env!("CARGO_PKG_VERSION")),
        ("{ target }", TARGET),
        ("{ binary-ext }", ""),
    ];
    filled.iter().fold(text.to_owned(), |text, (blank, word)| text.replace(blank, word))
}

#[test]
fn the_archive_is_where_binstall_looks_and_holds_working_binaries() {
    let folder = tempfile::tempdir().unwrap();
    let built = Path::new(env!("CARGO_BIN_EXE_leaselint")).parent().unwrap();
    run(folder.path(), Command::new(root().join(".github/package.sh")).arg(TARGET).arg(built));
    let (url, binaries) = (told("pkg-url"), told("bin-dir"));
    let archive = url.rsplit('/').next().unwrap();
    assert!(folder.path().join(archive).is_file(), "{archive}");
    let sum = fs::read_to_string(folder.path().join(format!("{archive}.sha256"))).unwrap();
    assert!(sum.trim_end().ends_with(archive) && sum.len() > 64, "{sum}");
    run(folder.path(), Command::new("tar").args(["-xzf", archive]));
    for (name, arguments) in
        [("leaselint", &["--version"][..]), ("cargo-leaselint", &["leaselint", "--version"])]
    {
        let binary = folder.path().join(binaries.replace("{ bin }", name));
        let said = run(folder.path(), Command::new(binary).args(arguments)).stdout;
        assert!(String::from_utf8_lossy(&said).contains(env!("CARGO_PKG_VERSION")));
    }
    let unpacked = folder.path().join(archive.trim_end_matches(".tar.gz"));
    for file in
        ["man/leaselint.1", "man/leaselint-check.1", "completions/leaselint.zsh", "LICENSE-MIT", "README.md"]
    {
        assert!(fs::metadata(unpacked.join(file)).unwrap().len() > 100, "{file}");
    }
}

#[test]
fn the_release_packs_by_that_script_and_builds_static_binaries() {
    let workflow = fs::read_to_string(root().join(".github/workflows/release.yml")).unwrap();
    assert!(workflow.contains(".github/package.sh \"$TARGET\""));
    assert!(workflow.contains(TARGET) && workflow.contains("static"));
    assert!(url_is_of_the_tag(&told("pkg-url")));
}

/// The workflow makes its release for the tag `v` and the version.
fn url_is_of_the_tag(url: &str) -> bool {
    url.contains(&format!("REPO/releases/download/v{}/", env!("CARGO_PKG_VERSION")))
}

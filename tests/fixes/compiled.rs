//! Rust code after its certain fixes is held against the compiler and the real `redis` crate. Cargo fetches
//! what it needs, so the test is ignored unless asked for.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::{files, forms, leaselint, report, write_all};

/// The oldest and the newest version that people are likely to have.
const VERSIONS: &[&str] = &["0.27", "1"];

/// What the fixtures use beside it.
const OTHERS: &str = "tokio = { version = \"1\", features = [\"full\"] }\nuuid = { version = \"1\", features = [\"v4\"] }\n\
                      anyhow = \"1\"\nasync-trait = \"0.1\"\n";

#[test]
#[ignore = "fetches crates"]
fn code_that_compiles_does_so_after_its_fixes() {
    for version in VERSIONS {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("target/fixed-code").join(version);
        let _ = fs::remove_dir_all(folder.join("members"));
        let members = write_members(&folder.join("members"), version);
        assert!(members.len() > 10, "only {members:?} have fixes of commands");
        fs::write(folder.join("Cargo.toml"), "[workspace]\nmembers = [\"members/*\"]\nresolver = \"2\"\n")
            .unwrap();
        let before = broken(&folder);
        for member in members.iter().filter(|member| !before.contains(*member)) {
            let output = leaselint(&folder.join("members").join(member), &["--fix", "--allow-dirty", "."]);
            assert_ne!(output.status.code(), Some(2), "{}", String::from_utf8_lossy(&output.stderr));
        }
        assert!(before.len() * 4 < members.len(), "too many do not compile as they are: {before:?}");
        assert_eq!(broken(&folder), before, "with redis {version}; see {}", folder.display());
    }
}

/// A package for each fixture and each form whose Rust code calls the `redis` crate.
fn write_members(folder: &Path, version: &str) -> BTreeSet<String> {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures");
    let mut members = BTreeSet::new();
    for rule in ["get-then-del", "get-then-expire", "split-acquire", "truncated-ttl"] {
        for case in fs::read_dir(fixtures.join(rule)).unwrap().flatten().filter(|case| case.path().is_dir()) {
            let findings = report(&case.path(), &[]).findings;
            if findings.iter().any(|finding| !finding.fixes.is_empty()) {
                let name = format!("{rule}-{}", case.file_name().to_string_lossy()).replace('_', "-");
                write_member(&folder.join(&name), &name, version);
                for (path, content) in files(&case.path().join("src")) {
                    fs::write(folder.join(&name).join("src").join(path), content).unwrap();
                }
                members.insert(name);
            }
        }
    }
    let forms = forms::FORMS.iter().filter(|form| form.text.contains("redis::")).enumerate();
    for (at, form) in forms {
        let name = format!("form-{at}");
        write_member(&folder.join(&name), &name, version);
        let texts = [("src/lib.rs", form.text), ("leaselint.toml", form.config)];
        let texts = texts.map(|(path, text)| (PathBuf::from(path), text.as_bytes().to_vec()));
        write_all(&folder.join(&name), &texts.into());
        members.insert(name);
    }
    members
}

fn write_member(folder: &Path, name: &str, version: &str) {
    fs::create_dir_all(folder.join("src")).unwrap();
    let redis = format!(
        "redis = {{ version = \"{version}\", features = [\"tokio-comp\", \"connection-manager\", \"aio\"] }}"
    );
    let pool = if name.contains("deadpool") { "deadpool-redis = \"*\"\n" } else { "" };
    let package = format!("[package]\nname = \"{name}\"\nversion = \"0.1.0\"\nedition = \"2024\"\n");
    fs::write(folder.join("Cargo.toml"), format!("{package}[dependencies]\n{redis}\n{OTHERS}{pool}"))
        .unwrap();
}

/// The packages that do not compile.
fn broken(folder: &Path) -> BTreeSet<String> {
    let output = Command::new(env!("CARGO"))
        .args(["check", "--workspace", "--keep-going", "--message-format", "short"])
        .current_dir(folder)
        .env("CARGO_TARGET_DIR", folder.join("target"))
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(text.contains("Checking") || output.status.success(), "{text}");
    let named = text.lines().filter_map(|line| line.split_once("could not compile `"));
    named.filter_map(|(_, rest)| rest.split('`').next()).map(str::to_owned).collect()
}

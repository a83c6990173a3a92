//! The hook as users have it: the real pre-commit runs it in a repository, and the files for CI services are held
//! against the schemas of those services. `pip install pre-commit check-jsonschema` brings what it needs; without
//! it the tests fail, so they are ignored unless asked for.

#![allow(clippy::unwrap_used, reason = "a test that cannot set itself up has failed")]

use std::env;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn run(folder: &Path, program: &str, arguments: &[&str]) -> Output {
    let mut command = Command::new(program);
    command.args(arguments).current_dir(folder);
    // A hook of ours may be what runs this test; its git must not become that of the test.
    for variable in ["GIT_DIR", "GIT_INDEX_FILE", "GIT_WORK_TREE"] {
        command.env_remove(variable);
    }
    // Nor may a person's own settings decide.
    command.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_NOSYSTEM", "1");
    for (name, value) in [("GIT_AUTHOR", "t"), ("GIT_COMMITTER", "t")] {
        command.env(format!("{name}_NAME"), value).env(format!("{name}_EMAIL"), "t@example.org");
    }
    command.env("PATH", path()).env("PRE_COMMIT_HOME", root().join("target/pre-commit-home"));
    command.output().unwrap_or_else(|error| panic!("{program} cannot be run: {error}; pip has it"))
}

/// The binary under test comes before all others.
fn path() -> OsString {
    let own = Path::new(env!("CARGO_BIN_EXE_leaselint")).parent().unwrap().to_owned();
    let others = env::var_os("PATH").unwrap_or_default();
    env::join_paths(std::iter::once(own).chain(env::split_paths(&others))).unwrap()
}

fn done(folder: &Path, program: &str, arguments: &[&str]) -> String {
    let output = run(folder, program, arguments);
    let text = text(&output);
    assert!(output.status.success(), "{program} {arguments:?}: {text}");
    text
}

fn text(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

/// The wrapper that every file uses, with nothing wrong in it.
const STORE: &str = "use redis::AsyncCommands;\n\npub struct Store(pub redis::aio::ConnectionManager);\n\nimpl Store {\n    \
                     pub async fn read_owner(&mut self, key: &str) -> redis::RedisResult<Option<String>> {\n        self.0.get(key).await\n    }\n\n    \
                     pub async fn drop_key(&mut self, key: &str) -> redis::RedisResult<()> {\n        self.0.del(key).await\n    }\n}\n";

/// Compares and deletes in two steps, both of them in another file.
const BAD: &str = "use crate::store::Store;\n\npub async fn release(store: &mut Store, me: &str) -> redis::RedisResult<()> {\n    \
                   if store.read_owner(\"job-lock\").await?.as_deref() == Some(me) {\n        store.drop_key(\"job-lock\").await?;\n    }\n    Ok(())\n}\n";

const GOOD: &str = "pub fn nothing() {}\n";

struct Project {
    _folder: tempfile::TempDir,
    path: PathBuf,
}

impl Project {
    fn write(&self, path: &str, text: &str) {
        let path = self.path.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn git(&self, arguments: &[&str]) {
        done(&self.path, "git", arguments);
    }

    fn hook(&self) -> (bool, String) {
        let output = run(&self.path, "pre-commit", &["run", "--color", "never"]);
        (output.status.success(), text(&output))
    }
}

/// A repository that has our hook, with one defect committed long ago.
fn project() -> Project {
    let folder = tempfile::tempdir().unwrap();
    let hooks = folder.path().join("hooks");
    fs::create_dir(&hooks).unwrap();
    fs::copy(root().join(".pre-commit-hooks.yaml"), hooks.join(".pre-commit-hooks.yaml")).unwrap();
    done(&hooks, "git", &["init", "-q"]);
    done(&hooks, "git", &["add", "-A"]);
    done(&hooks, "git", &["commit", "-qm", "hooks"]);
    let revision = done(&hooks, "git", &["rev-parse", "HEAD"]);

    let path = folder.path().join("project");
    fs::create_dir(&path).unwrap();
    let project = Project { _folder: folder, path };
    let configuration = format!(
        "repos:\n  - repo: {}\n    rev: {}\n    hooks:\n      - id: leaselint-system\n",
        hooks.display(),
        revision.trim()
    );
    project.write(".pre-commit-config.yaml", &configuration);
    project.write("Cargo.toml", "[package]\nname = \"app\"\n[dependencies]\nredis = \"0.27\"\n");
    project.write("src/lib.rs", "pub mod store;\npub mod old;\npub mod new;\n");
    project.write("src/store.rs", STORE);
    project.write("src/old.rs", BAD);
    project.write("src/new.rs", GOOD);
    project.git(&["init", "-q"]);
    project.git(&["add", "-A"]);
    project.git(&["commit", "-qm", "start"]);
    project
}

#[test]
#[ignore = "needs pre-commit"]
fn staged_files_are_judged_with_the_workspace_as_context() {
    let project = project();
    project.write("src/new.rs", BAD);
    project.git(&["add", "src/new.rs"]);
    let (passes, text) = project.hook();
    assert!(!passes && text.contains("src/new.rs:5:"), "{text}");
    assert!(text.contains("get-then-del"), "the two steps stand in src/store.rs: {text}");
    assert!(!text.contains("src/old.rs:"), "what is not staged is not reported: {text}");
}

#[test]
#[ignore = "needs pre-commit"]
fn partially_staged_files_are_judged_as_they_are_staged() {
    let project = project();
    project.write("src/new.rs", "pub fn staged() {}\n");
    project.git(&["add", "src/new.rs"]);
    project.write("src/new.rs", BAD);
    let (passes, text) = project.hook();
    assert!(passes, "the defect is not staged: {text}");
    assert_eq!(fs::read_to_string(project.path.join("src/new.rs")).unwrap(), BAD, "and is still there");
    project.git(&["add", "src/new.rs"]);
    project.write("src/new.rs", GOOD);
    let (passes, text) = project.hook();
    assert!(!passes && text.contains("src/new.rs:5:"), "the repair is not staged: {text}");
}

#[test]
#[ignore = "needs pre-commit"]
fn a_commit_is_stopped_and_another_is_not() {
    let project = project();
    done(&project.path, "pre-commit", &["install"]);
    project.write("src/new.rs", BAD);
    project.git(&["add", "src/new.rs"]);
    assert!(!run(&project.path, "git", &["commit", "-qm", "bad"]).status.success());
    project.write("src/new.rs", GOOD);
    project.write("notes.md", "nothing to check\n");
    project.git(&["add", "-A"]);
    let passed = run(&project.path, "git", &["commit", "-qm", "good"]);
    assert!(passed.status.success(), "{}", text(&passed));
}

#[test]
#[ignore = "needs pre-commit"]
fn the_hook_that_init_writes_stops_a_commit() {
    let project = project();
    fs::remove_file(project.path.join(".pre-commit-config.yaml")).unwrap();
    done(&project.path, "leaselint", &["init"]);
    done(&project.path, "pre-commit", &["validate-config"]);
    done(&project.path, "pre-commit", &["install"]);
    project.write("src/new.rs", BAD);
    project.git(&["add", "-A"]);
    let (passes, text) = project.hook();
    assert!(!passes && text.contains("src/new.rs:5:") && text.contains("get-then-del"), "{text}");
    assert!(!run(&project.path, "git", &["commit", "-qm", "bad"]).status.success());
    project.write("src/new.rs", GOOD);
    project.git(&["add", "-A"]);
    done(&project.path, "git", &["commit", "-qm", "good"]);
}

#[test]
#[ignore = "needs pre-commit"]
fn an_excluded_file_does_not_stop_a_commit() {
    let project = project();
    project.write("leaselint.toml", "exclude = [\"src/new.rs\"]\n");
    project.write("src/new.rs", BAD);
    project.git(&["add", "-A"]);
    let (passes, text) = project.hook();
    assert!(passes, "{text}");
}

#[test]
#[ignore = "needs pre-commit"]
fn the_hooks_are_a_valid_manifest() {
    done(root(), "pre-commit", &["validate-manifest", ".pre-commit-hooks.yaml"]);
}

#[test]
#[ignore = "needs check-jsonschema"]
fn files_for_ci_services_are_valid_by_their_schemas() {
    for (schema, file) in [
        ("vendor.github-actions", "action.yml"),
        ("vendor.github-workflows", ".github/workflows/release.yml"),
        ("vendor.gitlab-ci", "templates/leaselint.gitlab-ci.yml"),
    ] {
        done(root(), "check-jsonschema", &["--builtin-schema", schema, file]);
    }
}

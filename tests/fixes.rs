//! Fixes, on every fixture and on forms of their own: after a fix the file parses, its finding is gone, no
//! other finding has come or gone, and no byte outside of the edits has changed. And the flags that write them.

#![allow(clippy::unwrap_used, reason = "a test that cannot set itself up has failed")]

#[path = "fixes/compiled.rs"]
mod compiled;
#[path = "fixes/forms.rs"]
mod forms;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use forms::Form;
use serde::Deserialize;

/// So many fixtures have a fix today; a mechanism that is lost must not go unseen.
const AT_LEAST: usize = 22;

#[derive(Deserialize)]
struct Report {
    findings: Vec<Found>,
}

#[derive(Deserialize)]
struct Found {
    rule: String,
    path: String,
    fixes: Vec<Fix>,
}

#[derive(Deserialize)]
struct Fix {
    title: String,
    applicability: String,
    edits: Vec<Edit>,
}

#[derive(Deserialize)]
struct Edit {
    path: String,
    span: Span,
    replacement: String,
}

#[derive(Deserialize)]
struct Span {
    start: Place,
    end: Place,
}

#[derive(Deserialize)]
struct Place {
    offset: usize,
}

fn leaselint(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_leaselint")).current_dir(folder).args(arguments).output().unwrap()
}

fn report(folder: &Path, more: &[&str]) -> Report {
    let arguments = [&["check", "--format", "json", "."], more].concat();
    let output = leaselint(folder, &arguments);
    serde_json::from_slice(&output.stdout).unwrap()
}

fn counts(report: &Report) -> BTreeMap<(String, String), usize> {
    let mut counts = BTreeMap::new();
    for finding in &report.findings {
        *counts.entry((finding.rule.clone(), finding.path.clone())).or_default() += 1;
    }
    counts
}

fn copy(from: &Path) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (path, content) in files(from) {
        let to = folder.path().join(path);
        fs::create_dir_all(to.parent().unwrap()).unwrap();
        fs::write(to, content).unwrap();
    }
    folder
}

/// Every file of a folder, by its path in it.
fn files(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    for entry in ignore::WalkBuilder::new(folder).standard_filters(false).build().flatten() {
        if entry.file_type().is_some_and(|kind| kind.is_file()) {
            let path = entry.path().strip_prefix(folder).unwrap().to_owned();
            if !path.starts_with(".git") {
                found.insert(path, fs::read(entry.path()).unwrap());
            }
        }
    }
    found
}

/// The files after the edits of one fix.
fn edited(mut files: BTreeMap<PathBuf, Vec<u8>>, fix: &Fix) -> BTreeMap<PathBuf, Vec<u8>> {
    for edit in fix.edits.iter().rev() {
        let text = files.get_mut(Path::new(&edit.path)).expect("a fix edits files of the folder");
        text.splice(edit.span.start.offset..edit.span.end.offset, edit.replacement.bytes());
    }
    files
}

fn write_all(folder: &Path, files: &BTreeMap<PathBuf, Vec<u8>>) {
    for (path, content) in files {
        fs::write(folder.join(path), content).unwrap();
    }
}

#[test]
fn each_fix_of_a_fixture_mends_its_finding_and_changes_nothing_else() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures");
    let mut fixed = 0;
    for rule in fs::read_dir(root).unwrap().flatten() {
        for case in fs::read_dir(rule.path()).unwrap().flatten().filter(|case| case.path().is_dir()) {
            let pedantic = case.file_name().to_string_lossy().ends_with("_pedantic");
            let more: &[&str] = if pedantic { &["--pedantic"] } else { &[] };
            let before = report(&case.path(), more);
            fixed += usize::from(before.findings.iter().any(|finding| !finding.fixes.is_empty()));
            for finding in &before.findings {
                for fix in &finding.fixes {
                    check_fix(&case.path(), more, &before, finding, fix);
                }
            }
        }
    }
    assert!(fixed >= AT_LEAST, "only {fixed} fixtures have a fix");
}

fn check_fix(case: &Path, more: &[&str], before: &Report, finding: &Found, fix: &Fix) {
    let what = format!("{}: {}", case.display(), fix.title);
    assert!(matches!(fix.applicability.as_str(), "safe" | "unsafe"), "{what}");
    let folder = copy(case);
    write_all(folder.path(), &edited(files(case), fix));
    let mut wanted = counts(before);
    let place = (finding.rule.clone(), finding.path.clone());
    *wanted.get_mut(&place).unwrap() -= 1;
    wanted.retain(|_, count| *count > 0);
    assert_eq!(counts(&report(folder.path(), more)), wanted, "{what}");
}

#[test]
fn the_flag_writes_what_the_report_says() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures");
    for case in ["get-then-del/bad_one_function", "split-acquire/bad_set_nx_then_expire"] {
        let case = root.join(case);
        let folder = copy(&case);
        let before = report(folder.path(), &[]);
        let [Found { fixes, .. }] = before.findings.as_slice() else { panic!("one finding") };
        let output = leaselint(folder.path(), &["--fix", "--allow-dirty", "."]);
        assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
        assert_eq!(files(folder.path()), edited(files(&case), &fixes[0]));
    }
}

#[test]
fn a_second_run_finds_nothing_left_to_fix() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures");
    for case in [
        "get-then-del/bad_one_function",
        "get-then-expire/bad_one_function",
        "loose-token-predicate/bad_applied_twice",
        "split-acquire/bad_set_nx_then_expire",
        "token-not-advanced/bad_upsert",
        "truncated-ttl/bad_px_with_seconds",
        "unfenced-write/bad_upsert",
    ] {
        let folder = copy(&root.join(case));
        leaselint(folder.path(), &["--fix-suggested", "--allow-dirty", "."]);
        let once = files(folder.path());
        assert_ne!(once, files(&root.join(case)), "{case}");
        leaselint(folder.path(), &["--fix-suggested", "--allow-dirty", "."]);
        assert_eq!(files(folder.path()), once, "{case}");
    }
}

#[test]
fn what_a_person_should_look_at_is_written_on_demand_only() {
    let case = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/token-not-advanced/bad_take_over");
    let folder = copy(&case);
    leaselint(folder.path(), &["--fix", "--allow-dirty", "."]);
    assert_eq!(files(folder.path()), files(&case));
    leaselint(folder.path(), &["--fix-suggested", "--allow-dirty", "."]);
    assert_ne!(files(folder.path()), files(&case));
}

/// A byte order mark, line breaks of Windows and letters of several bytes are none of a fix's business.
#[test]
fn bytes_outside_of_the_edits_stay() {
    let case = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/split-acquire/bad_set_nx_then_expire");
    let plain = String::from_utf8(files(&case)[Path::new("src/lib.rs")].clone()).unwrap();
    let windows = |text: &str| format!("\u{feff}// größer 🔒\r\n{}", text.replace('\n', "\r\n"));
    let fixed = |text: &str| {
        let folder = copy(&case);
        let file = folder.path().join("src/lib.rs");
        fs::write(&file, text).unwrap();
        leaselint(folder.path(), &["--fix", "--allow-dirty", "."]);
        fs::read_to_string(&file).unwrap()
    };
    let wanted = fixed(&plain);
    assert_ne!(wanted, plain);
    assert_eq!(fixed(&windows(&plain)), windows(&wanted));
}

#[test]
fn two_fixes_of_one_line_are_both_made() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir_all(folder.path().join("migrations")).unwrap();
    fs::create_dir_all(folder.path().join("src")).unwrap();
    fs::write(folder.path().join("migrations/0001_tables.sql"), forms::SCHEMA).unwrap();
    let text = |sign: &str| {
        let update = format!(
            "UPDATE accounts SET balance = $1, fencing_token = $2 WHERE id = $3 AND fencing_token {sign} $2"
        );
        let call = format!(
            "if sqlx::query(\"{update}\").bind(sum).bind(token).bind(id).execute(pool).await?.rows_affected() == 0 {{ return Err(sqlx::Error::RowNotFound); }}"
        );
        format!(
            "pub async fn save(pool: &sqlx::PgPool, id: i64, sum: i64, token: i64) -> Result<(), sqlx::Error> {{\n    {call} {call}\n    Ok(())\n}}\n"
        )
    };
    fs::write(folder.path().join("src/lib.rs"), text(">=")).unwrap();
    leaselint(folder.path(), &["--fix", "--allow-dirty", "."]);
    assert_eq!(fs::read_to_string(folder.path().join("src/lib.rs")).unwrap(), text("<"));
}

#[test]
fn forms_that_are_fixed_and_forms_that_are_not() {
    for Form { name, path, text, wanted, config } in forms::FORMS {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join(path);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::create_dir_all(folder.path().join("migrations")).unwrap();
        fs::write(&file, text).unwrap();
        fs::write(folder.path().join("leaselint.toml"), config).unwrap();
        fs::write(folder.path().join("migrations/0001_tables.sql"), forms::SCHEMA).unwrap();
        let findings = report(folder.path(), &[]).findings;
        assert!(!findings.is_empty(), "{name}: there is nothing to fix");
        leaselint(folder.path(), &["--fix", "--allow-dirty", "."]);
        let fixed = fs::read_to_string(&file).unwrap();
        let changed: Vec<&str> = fixed.lines().filter(|line| !text.lines().any(|old| old == *line)).collect();
        assert_eq!(changed, *wanted, "{name}");
    }
}

fn git(folder: &Path, arguments: &[&str]) -> Output {
    let output = Command::new("git")
        .current_dir(folder)
        .args(["-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "commit.gpgsign=false"])
        .args(arguments)
        .output()
        .unwrap();
    assert!(output.status.success(), "git {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    output
}

fn repository() -> tempfile::TempDir {
    let case = "fixtures/get-then-del/bad_one_function";
    let folder = copy(&Path::new(env!("CARGO_MANIFEST_DIR")).join(case));
    git(folder.path(), &["init", "--quiet"]);
    git(folder.path(), &["add", "."]);
    git(folder.path(), &["commit", "--quiet", "-m", "before"]);
    folder
}

#[test]
fn a_difference_is_printed_that_git_applies_and_nothing_is_written() {
    let folder = repository();
    let before = files(folder.path());
    let output = leaselint(folder.path(), &["--diff", "."]);
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(files(folder.path()), before);
    let patch = tempfile::NamedTempFile::new().unwrap();
    fs::write(patch.path(), &output.stdout).unwrap();
    git(folder.path(), &["apply", patch.path().to_str().unwrap()]);
    assert!(report(folder.path(), &[]).findings.is_empty());
    let again = leaselint(folder.path(), &["--diff", "."]);
    assert_eq!((again.status.code(), again.stdout.len()), (Some(0), 0));
}

#[test]
fn changes_that_are_not_committed_are_not_mixed_with_fixes() {
    let folder = repository();
    let file = folder.path().join("src/lib.rs");
    let committed = fs::read_to_string(&file).unwrap();
    let changed = format!("{committed}\n// a change\n");
    fs::write(&file, &changed).unwrap();
    let refused = leaselint(folder.path(), &["--fix", "."]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&refused.stderr).contains("--allow-dirty"));
    assert_eq!(fs::read_to_string(&file).unwrap(), changed);
    // Another file's change is no obstacle.
    fs::write(&file, &committed).unwrap();
    fs::write(folder.path().join("notes.txt"), "x").unwrap();
    let done = leaselint(folder.path(), &["--fix", "."]);
    assert_eq!(done.status.code(), Some(0), "{}", String::from_utf8_lossy(&done.stderr));
    assert_ne!(fs::read_to_string(&file).unwrap(), committed);
}

#[test]
fn a_file_without_git_is_changed_on_demand_only() {
    let case = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/get-then-del/bad_one_function");
    let folder = copy(&case);
    let refused = leaselint(folder.path(), &["--fix", "."]);
    assert_eq!(refused.status.code(), Some(2), "{}", String::from_utf8_lossy(&refused.stderr));
    assert_eq!(files(folder.path()), files(&case));
}

#[cfg(unix)]
#[test]
fn a_fixed_file_keeps_its_permissions_and_leaves_nothing_beside_it() {
    use std::os::unix::fs::PermissionsExt;
    let folder = repository();
    let file = folder.path().join("src/lib.rs");
    fs::set_permissions(&file, fs::Permissions::from_mode(0o640)).unwrap();
    assert_eq!(leaselint(folder.path(), &["--fix", "--allow-dirty", "."]).status.code(), Some(0));
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o640);
    assert_eq!(fs::read_dir(folder.path().join("src")).unwrap().count(), 1);
}

#[test]
fn flags_that_exclude_each_other_are_told() {
    let folder = tempfile::tempdir().unwrap();
    for arguments in [["--fix", "--stdin-filename=a.rs"], ["--diff", "--output=json=a.json"]] {
        assert_eq!(leaselint(folder.path(), &arguments).status.code(), Some(2), "{arguments:?}");
    }
}

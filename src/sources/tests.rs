//! Discovery and numbering over trees on disk.

use std::fs;
use std::path::{Path, PathBuf};

use super::*;

/// A tree of files in a fresh folder.
fn tree(files: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (path, text) in files {
        let path = folder.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    folder
}

fn request(folder: &Path, paths: &[&str]) -> Request {
    Request {
        paths: paths.iter().map(PathBuf::from).collect(),
        working_directory: folder.canonicalize().unwrap(),
        no_ignore: false,
        unsaved: Vec::new(),
        excluded: Vec::new(),
        threads: None,
    }
}

fn sources_of(request: &Request) -> Sources {
    Sources::new(discover(request).unwrap(), &request.working_directory).0
}

/// The sources of a folder, manifests read.
pub(super) fn run_in(folder: &Path) -> Sources {
    let sources = sources_of(&request(folder, &["."]));
    let manifests: Vec<FileId> =
        sources.files().filter(|(_, file)| file.kind == FileKind::Manifest).map(|(id, _)| id).collect();
    for id in manifests {
        let text = read_text(sources.absolute(id)).unwrap();
        sources.keep_text(id, text.into());
    }
    sources
}

pub(super) fn run_over(files: &[(&str, &str)]) -> (Sources, tempfile::TempDir) {
    let folder = tree(files);
    (run_in(folder.path()), folder)
}

fn paths(sources: &Sources) -> Vec<&str> {
    sources.files().map(|(_, file)| file.path()).collect()
}

fn reported(sources: &Sources) -> Vec<&str> {
    sources.files().filter(|(_, file)| file.reported).map(|(_, file)| file.path()).collect()
}

#[test]
fn ignore_files_hidden_folders_and_build_output_are_left_out() {
    let tree = tree(&[
        (".gitignore", "/generated\n*.tmp.rs\n"),
        (".ignore", "dump.sql\n"),
        (".git/info/exclude", "private.rs\n"),
        (".hidden/a.rs", ""),
        ("a/.gitignore", "b.lua\n!keep.tmp.rs\n"),
        ("a/b.lua", ""),
        ("a/c.lua", ""),
        ("a/keep.tmp.rs", ""),
        ("a/x.tmp.rs", ""),
        ("dump.sql", ""),
        ("generated/a.rs", ""),
        ("private.rs", ""),
        ("readme.md", ""),
        ("src/target/mod.rs", ""),
        ("target/debug/a.rs", ""),
    ]);
    let mut request = request(tree.path(), &["."]);
    assert_eq!(paths(&sources_of(&request)), ["a/c.lua", "a/keep.tmp.rs", "src/target/mod.rs"]);
    request.no_ignore = true;
    let everything = sources_of(&request);
    assert_eq!(
        paths(&everything),
        [
            "a/b.lua",
            "a/c.lua",
            "a/keep.tmp.rs",
            "a/x.tmp.rs",
            "dump.sql",
            "generated/a.rs",
            "private.rs",
            "src/target/mod.rs",
        ]
    );
}

#[test]
fn the_order_of_arguments_and_repeated_paths_change_nothing() {
    let tree = tree(&[("a/1.sql", ""), ("a/b/2.sql", ""), ("c/3.sql", "")]);
    let expected = ["a/1.sql", "a/b/2.sql", "c/3.sql"];
    for arguments in [vec!["a", "c"], vec!["c", "a/b", "a", "./a/../a"], vec![".", "c/3.sql"]] {
        let mut request = request(tree.path(), &arguments);
        request.threads = std::num::NonZeroUsize::new(1 + arguments.len());
        let sources = sources_of(&request);
        assert_eq!(paths(&sources), expected, "{arguments:?}");
        assert_eq!(reported(&sources), expected, "{arguments:?}");
    }
}

#[test]
fn around_a_single_file_its_workspace_is_context() {
    let tree = tree(&[
        ("Cargo.toml", "[workspace]\nmembers = [\"a\", \"b\"]\n"),
        ("a/Cargo.toml", "[package]\nname = \"a\"\n"),
        ("a/src/lib.rs", ""),
        ("b/src/lib.rs", ""),
        ("migrations/1.sql", ""),
    ]);
    let sources = sources_of(&request(tree.path(), &["a/src/lib.rs"]));
    assert_eq!(paths(&sources).len(), 5);
    assert_eq!(reported(&sources), ["a/src/lib.rs"]);
    // From inside the member, what lies above the working directory has its absolute path.
    let sources = sources_of(&request(&tree.path().join("a/src"), &["lib.rs"]));
    assert_eq!(reported(&sources), ["lib.rs"]);
    assert!(paths(&sources).iter().any(|path| path.starts_with('/') && path.ends_with("/b/src/lib.rs")));
}

#[test]
fn a_named_file_is_read_even_where_it_is_ignored() {
    let tree = tree(&[("Cargo.toml", "[package]\n"), (".gitignore", "made.rs\n"), ("made.rs", "")]);
    assert_eq!(reported(&sources_of(&request(tree.path(), &["made.rs"]))), ["made.rs"]);
}

#[test]
fn tests_benches_and_examples_are_marked() {
    let tree = tree(&[
        ("a/tests/ui/x.rs", ""),
        ("benches/b.rs", ""),
        ("examples/e.rs", ""),
        ("src/examples/m.rs", ""),
        ("src/tests.rs", ""),
    ]);
    let marked = |arguments: &[&str]| -> Vec<String> {
        let sources = sources_of(&request(tree.path(), arguments));
        sources.files().filter(|(_, file)| file.is_test).map(|(_, file)| file.path().to_owned()).collect()
    };
    assert_eq!(marked(&["."]), ["a/tests/ui/x.rs", "benches/b.rs", "examples/e.rs"]);
    assert_eq!(marked(&["examples", "a/tests"]), Vec::<String>::new(), "what is named is wanted");
}

#[test]
fn a_path_that_does_not_exist_is_an_error_and_an_unknown_kind_is_skipped() {
    let tree = tree(&[("notes.txt", "")]);
    assert!(matches!(discover(&request(tree.path(), &["nowhere"])), Err(PathError::Missing(_))));
    assert!(matches!(discover(&request(tree.path(), &["notes.txt/a"])), Err(PathError::Missing(_))));
    let found = discover(&request(tree.path(), &["notes.txt", "./notes.txt"])).unwrap();
    assert!(found.files.is_empty());
    assert_eq!(found.skipped.len(), 1);
}

#[cfg(unix)]
#[test]
fn links_are_not_followed_and_loops_end() {
    use std::os::unix::fs::symlink;
    let outside = tree(&[("secret.rs", "")]);
    let tree = tree(&[("src/a.rs", "")]);
    symlink(tree.path(), tree.path().join("src/loop")).unwrap();
    symlink(outside.path(), tree.path().join("out")).unwrap();
    symlink("itself.rs", tree.path().join("itself.rs")).unwrap();
    symlink("nowhere", tree.path().join("dangling.rs")).unwrap();
    assert_eq!(paths(&sources_of(&request(tree.path(), &["."]))), ["src/a.rs"]);
    assert!(matches!(discover(&request(tree.path(), &["itself.rs"])), Err(PathError::Unusable { .. })));
    assert!(matches!(discover(&request(tree.path(), &["dangling.rs"])), Err(PathError::Missing(_))));
    // A link that is named is what was asked for.
    let through = sources_of(&request(tree.path(), &["out"]));
    assert!(paths(&through)[0].ends_with("/secret.rs"));
}

#[test]
fn a_folder_that_cannot_be_walked_is_a_problem_at_its_place() {
    let mut found = Discovery::default();
    let folder = Path::new("/tree/locked").to_owned();
    let trouble = Some("permission denied".to_owned());
    found.files.insert(folder, Found { kind: FileKind::Folder, reported: true, is_test: false, trouble });
    let (sources, problems) = Sources::new(found, Path::new("/tree"));
    assert_eq!(sources.path(problems[0].file), "locked");
    assert!(problems[0].message.contains("permission denied"));
}

#[test]
fn kinds_follow_the_name() {
    let kind = |name: &str| FileKind::of(Path::new(name));
    assert_eq!(kind("a/B.SQL"), Some(FileKind::Sql));
    assert_eq!(kind("a/Cargo.toml"), Some(FileKind::Manifest));
    assert_eq!(kind("a/clippy.toml"), None);
    assert_eq!(kind(".rs"), None);
}

//! Wall clocks that can be moved while a process runs: by Debian's libfaketime, and for Redis, whose allocator cannot
//! start under that, by a few lines of C. The boot clock and the monotonic one stay as they are.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The environment of a process whose wall clock is moved by what `clock` says, which begins with the right time.
pub fn preload(clock: &Path) -> Vec<(&'static str, String)> {
    set(clock, 0);
    vec![
        ("LD_PRELOAD", library().display().to_string()),
        ("FAKETIME_TIMESTAMP_FILE", clock.display().to_string()),
        ("FAKETIME_DONT_FAKE_MONOTONIC", "1".to_owned()),
        ("FAKETIME_NO_CACHE", "1".to_owned()),
    ]
}

/// Moves a wall clock to so many hours from the right time.
pub fn set(clock: &Path, hours: i64) {
    fs::write(clock, format!("{hours:+}h\n")).expect("the directory is ours");
    // A server may run as another user.
    fs::set_permissions(clock, fs::Permissions::from_mode(0o644)).expect("the file is ours");
}

fn library() -> PathBuf {
    let folders = fs::read_dir("/usr/lib").into_iter().flatten().flatten();
    let mut found = folders.map(|entry| entry.path().join("faketime/libfaketime.so.1"));
    found.find(|path| path.exists()).expect("libfaketime is not installed; install what .ci/run installs")
}

/// Compiles the small library, and gives the environment for it.
pub fn own_preload(directory: &Path, clock: &Path) -> Vec<(&'static str, String)> {
    set(clock, 0);
    let library = directory.join("wall_clock.so");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/chaos/wall_clock.c");
    let made = Command::new("cc").args(["-shared", "-fPIC", "-O1", "-o"]).arg(&library).arg(source).status();
    assert!(made.expect("rustc needs `cc` too").success());
    vec![("LD_PRELOAD", library.display().to_string()), ("WALL_CLOCK_FILE", clock.display().to_string())]
}

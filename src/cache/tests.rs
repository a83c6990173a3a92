//! What is kept comes back as it was, or not at all.

use std::fs;
use std::time::{Duration, SystemTime};

use super::*;

fn root() -> &'static Path {
    Path::new("/tree")
}

fn fingerprint(text: &str) -> Fingerprint {
    Fingerprint::of(text.as_bytes())
}

#[test]
fn what_was_saved_is_there_in_the_next_run() {
    let folder = tempfile::tempdir().unwrap();
    let cache = Cache::open(folder.path().to_owned(), root());
    cache.keep_judgement(fingerprint("a"), &vec!["found"]);
    cache.keep_facts(fingerprint("b"), &"facts".to_owned());
    cache.save();
    let next = Cache::open(folder.path().to_owned(), root());
    assert_eq!(next.judgement(fingerprint("a")), Some(vec!["found".to_owned()]));
    assert_eq!(next.facts(fingerprint("b")), Some("facts".to_owned()));
    assert_eq!(next.judgement::<Vec<String>>(fingerprint("b")), None);
    let other_tree = Cache::open(folder.path().to_owned(), Path::new("/other"));
    assert_eq!(other_tree.judgement::<Vec<String>>(fingerprint("a")), None);
    assert_eq!(other_tree.facts(fingerprint("b")), Some("facts".to_owned()));
}

#[test]
fn a_torn_or_changed_file_is_as_good_as_none() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a");
    let kept = Cache::open(folder.path().to_owned(), root());
    envelope::write(&path, b"content").unwrap();
    assert_eq!(envelope::read(&path), Some(b"content".to_vec()));
    let whole = fs::read(&path).unwrap();
    for at in 0..whole.len() {
        let mut other = whole.clone();
        other[at] ^= 1;
        fs::write(&path, &other).unwrap();
        assert_eq!(envelope::read(&path), None, "byte {at} is another");
        fs::write(&path, &whole[..at]).unwrap();
        assert_eq!(envelope::read(&path), None, "only {at} bytes are left");
    }
    // What is whole and of another kind is told by its form.
    kept.keep_facts(fingerprint("a"), &"text".to_owned());
    assert_eq!(kept.facts::<Vec<Vec<u64>>>(fingerprint("a")), None);
}

#[test]
fn a_file_is_known_until_it_is_written_again() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.rs");
    fs::write(&path, "one").unwrap();
    let next = || Cache::open(folder.path().join("cache"), root());
    let known = |cache: &Cache| FileState::of(&path).and_then(|state| cache.known_text(&path, state));
    let cache = next();
    let state = FileState::of(&path);
    // It is too young: another write in the same step of the clock would not show.
    cache.note_text(&path, state, fingerprint("one"));
    cache.save();
    assert_eq!(known(&next()), None);
    if cfg!(unix) {
        std::thread::sleep(Duration::from_millis(2_100));
        cache.note_text(&path, FileState::of(&path), fingerprint("one"));
        cache.save();
        assert_eq!(known(&next()), Some(fingerprint("one")));
    }
    let before = path.metadata().unwrap().modified().unwrap();
    fs::write(&path, "two").unwrap();
    // Of the same length, and given the old time back.
    fs::File::options().write(true).open(&path).unwrap().set_modified(before).unwrap();
    assert_eq!(known(&next()), None);
}

#[test]
fn what_no_run_uses_is_dropped_in_the_end() {
    let folder = tempfile::tempdir().unwrap();
    let of = |text: &str| fingerprint(text);
    let cache = || Cache::open(folder.path().to_owned(), root());
    let first = cache();
    first.keep_judgement(of("used"), &1);
    first.keep_judgement(of("unused"), &2);
    first.save();
    for run in 0..60 {
        let next = cache();
        assert_eq!(next.judgement(of("used")), Some(1));
        next.keep_judgement(of(&run.to_string()), &run);
        next.save();
    }
    assert_eq!(cache().judgement::<i32>(of("unused")), None);
}

#[test]
fn a_folder_of_somebody_else_is_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("thesis.txt"), "work of years").unwrap();
    let cache = Cache::open(folder.path().to_owned(), root());
    cache.keep_judgement(fingerprint("a"), &1);
    cache.keep_facts(fingerprint("a"), &1);
    cache.save();
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    assert!(matches!(clean(folder.path()), Err(CleanError::Foreign(_))));
    assert!(folder.path().join("thesis.txt").exists());
}

#[test]
fn a_cache_is_removed_and_may_be_missing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("cache");
    assert!(!clean(&path).unwrap());
    let cache = Cache::open(path.clone(), root());
    cache.keep_judgement(fingerprint("a"), &1);
    cache.save();
    assert_eq!(fs::read_to_string(path.join(".gitignore")).unwrap(), "*\n");
    assert!(clean(&path).unwrap());
    assert!(!path.exists());
}

#[test]
fn results_of_trees_that_nobody_checks_go_away() {
    let folder = tempfile::tempdir().unwrap();
    let (old, new) = (folder.path().join("old.results"), folder.path().join("new.results"));
    for path in [&old, &new] {
        fs::write(path, "").unwrap();
    }
    let long_ago = SystemTime::now() - Duration::from_secs(100 * 24 * 60 * 60);
    fs::File::options().write(true).open(&old).unwrap().set_modified(long_ago).unwrap();
    folder::tidy_results(folder.path());
    assert!(!old.exists() && new.exists());
}

#[test]
fn things_are_mixed_with_their_bounds() {
    let mixed = |parts: &[&str]| {
        let mut mixer = Mixer::new();
        parts.iter().for_each(|part| {
            mixer.add(part.as_bytes());
        });
        mixer.done()
    };
    assert_eq!(mixed(&["ab", "c"]), mixed(&["ab", "c"]));
    assert_ne!(mixed(&["ab", "c"]), mixed(&["a", "bc"]));
    assert_ne!(mixed(&["abc"]), mixed(&["abc", ""]));
}

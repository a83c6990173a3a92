//! A small tree of files as one text, so that a fuzzer can change all of it: a line `=== path` opens a file.

use std::fs;
use std::io;
use std::path::Path;

/// More are not taken: the cost of an input is what its files cost.
const MOST_FILES: usize = 12;

const MARK: &[u8] = b"=== ";

/// The files of an input. What stands before the first mark is `src/lib.rs`; a path that leads out of the tree, or
/// has other letters than paths of a project, opens no file.
pub fn files(data: &[u8]) -> Vec<(String, Vec<u8>)> {
    let mut files: Vec<(String, Vec<u8>)> = vec![("src/lib.rs".to_owned(), Vec::new())];
    for line in data.split_inclusive(|byte| *byte == b'\n') {
        match line.strip_prefix(MARK).and_then(path_of) {
            Some(path) if files.len() < MOST_FILES => files.push((path, Vec::new())),
            _ => files.last_mut().into_iter().for_each(|(_, text)| text.extend(line)),
        }
    }
    files.retain(|(_, text)| !text.is_empty());
    files
}

fn path_of(line: &[u8]) -> Option<String> {
    let path = std::str::from_utf8(line).ok()?.trim_end();
    let is_part = |part: &str| {
        let is_usual = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
        !part.is_empty() && part.len() < 64 && !part.starts_with('.') && part.chars().all(is_usual)
    };
    let is_path = path.split('/').count() <= 5 && path.split('/').all(is_part);
    is_path.then(|| path.to_owned())
}

/// Writes them below a folder that is emptied before. A file in the way of another's folder stays.
pub fn write(folder: &Path, files: &[(String, Vec<u8>)]) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() { fs::remove_dir_all(path)? } else { fs::remove_file(path)? }
    }
    for (path, text) in files {
        let path = folder.join(path);
        if path.parent().is_some_and(|parent| fs::create_dir_all(parent).is_ok()) && !path.is_dir() {
            fs::write(path, text)?;
        }
    }
    Ok(())
}

/// The input that these files are.
pub fn joined<'a>(files: impl IntoIterator<Item = (&'a str, &'a [u8])>) -> Vec<u8> {
    let mut data = Vec::new();
    for (path, text) in files {
        data.extend(MARK);
        data.extend(path.as_bytes());
        data.push(b'\n');
        data.extend(text);
        if !text.ends_with(b"\n") {
            data.push(b'\n');
        }
    }
    data
}

//! Puts the book together: `cargo run --example book` writes target/book/, and `mdbook build target/book` makes a
//! site of it. mdBook takes pages from one folder, and ours stand where they belong in the repository.

mod pages;

use std::fs;
use std::io;
use std::path::Path;

fn main() -> io::Result<()> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folder = std::env::args_os().nth(1).map_or_else(|| root.join("target/book"), Into::into);
    write(root, &folder)
}

fn write(root: &Path, folder: &Path) -> io::Result<()> {
    let source = folder.join("src");
    if source.exists() {
        // Pages of rules that are no more.
        fs::remove_dir_all(&source)?;
    }
    let all = pages::all(root);
    let (files, wrong) = pages::linked(root, &all);
    if !wrong.is_empty() {
        return Err(io::Error::other(wrong.join("\n")));
    }
    for (path, text) in &all {
        put(&source.join(path), text.as_bytes())?;
    }
    for path in files {
        put(&source.join(&path), &fs::read(root.join(&path))?)?;
    }
    put(&source.join("SUMMARY.md"), pages::summary().as_bytes())?;
    put(&folder.join("book.toml"), &fs::read(root.join("docs/book/book.toml"))?)
}

fn put(path: &Path, bytes: &[u8]) -> io::Result<()> {
    fs::create_dir_all(path.parent().unwrap_or(path))?;
    fs::write(path, bytes)
}

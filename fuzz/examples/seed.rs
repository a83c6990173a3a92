//! Fills `fuzz/corpus/` with the cases in `fixtures/` and `tests/`, each as an input of the targets that it is for.
//! Inputs that a fuzzer has found there stay.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use leaselint_fuzz::tree;

fn main() -> io::Result<()> {
    let fuzz = Path::new(env!("CARGO_MANIFEST_DIR"));
    let root = fuzz.parent().expect("it is a folder of the repository");
    let mut seeds = Seeds { corpus: fuzz.join("corpus"), counts: BTreeMap::new() };
    let mut cases = Vec::new();
    for folder in ["fixtures", "tests/cases", "tests/fixes", "tests/audit"] {
        collect(&root.join(folder), &mut cases)?;
    }
    let mut trees: BTreeMap<PathBuf, Vec<(String, Vec<u8>)>> = BTreeMap::new();
    for path in &cases {
        let text = fs::read(path)?;
        seeds.file(path, &text)?;
        // fixtures/<rule>/<case>/…, tests/cases/<case>/…
        let inside = path.strip_prefix(root).unwrap_or(path);
        let case: PathBuf = inside.components().take(3).collect();
        let inner = inside.strip_prefix(&case).unwrap_or(inside).to_string_lossy().replace('\\', "/");
        trees.entry(case).or_default().push((inner, text));
    }
    for files in trees.values() {
        let is_source = |path: &str| [".rs", ".sql", ".lua", ".toml"].iter().any(|end| path.ends_with(end));
        let kept = files.iter().filter(|(path, _)| is_source(path) && path != "expect.toml");
        let whole = tree::joined(kept.map(|(path, text)| (path.as_str(), &text[..])));
        seeds.put("check", &whole)?;
    }
    let page = fs::read_to_string(root.join("docs/configuration.md"))?;
    for example in page.split("```toml\n").skip(1).filter_map(|rest| rest.split("```").next()) {
        seeds.put("config", example.as_bytes())?;
    }
    let mut models = Vec::new();
    collect(&root.join("rules/clients"), &mut models)?;
    for path in models {
        let model = fs::read_to_string(path)?;
        let as_setting = model.replace("\n[[", "\n[[client.").replace("\n[advice]", "\n[client.advice]");
        seeds.put("config", format!("[[client]]\n{as_setting}").as_bytes())?;
    }
    for (target, count) in &seeds.counts {
        println!("{target}: {count} inputs");
    }
    Ok(())
}

struct Seeds {
    corpus: PathBuf,
    counts: BTreeMap<&'static str, usize>,
}

impl Seeds {
    fn file(&mut self, path: &Path, text: &[u8]) -> io::Result<()> {
        let (target, language) = match path.extension().and_then(|extension| extension.to_str()) {
            Some("rs") => ("rust", 0),
            Some("sql") => ("sql", 1),
            Some("lua") => ("lua", 2),
            Some("toml") => return self.put("config", text),
            _ => return Ok(()),
        };
        self.put(target, text)?;
        if contains(text, b"leaselint:") {
            self.put("suppression", &[&[language], text].concat())?;
        }
        if target == "rust" {
            // Statements and scripts in literals, as they stand there.
            for literal in String::from_utf8_lossy(text).split('"').skip(1).step_by(2) {
                let has = |words: &[&str]| words.iter().any(|word| literal.contains(word));
                if has(&["redis.call", "redis.pcall"]) {
                    self.put("lua", literal.as_bytes())?;
                } else if has(&["SELECT", "UPDATE", "INSERT", "DELETE", "CREATE"]) {
                    self.put("sql", literal.as_bytes())?;
                }
            }
        }
        Ok(())
    }

    fn put(&mut self, target: &'static str, data: &[u8]) -> io::Result<()> {
        let count = self.counts.entry(target).or_default();
        let folder = self.corpus.join(target);
        fs::create_dir_all(&folder)?;
        fs::write(folder.join(format!("seed-{count:05}")), data)?;
        *count += 1;
        Ok(())
    }
}

fn contains(text: &[u8], word: &[u8]) -> bool {
    text.windows(word.len()).any(|part| part == word)
}

/// All files below a folder, sorted.
fn collect(folder: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    let mut entries: Vec<PathBuf> =
        fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect::<io::Result<_>>()?;
    entries.sort();
    for path in entries {
        if path.is_dir() { collect(&path, files)? } else { files.push(path) }
    }
    Ok(())
}

//! Makes the list of rules from the files in `src/rules/` and `rules/`, so that a new rule is one source
//! file and one page and nothing else; and the list of client models from `rules/clients/`.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::{env, fs};

/// Files in `src/rules/` that are not rules.
const NOT_RULES: &[&str] = &["mod", "catalogue", "draft", "edits"];

fn main() {
    println!("cargo::rerun-if-changed=src");
    println!("cargo::rerun-if-changed=rules");
    println!("cargo::rerun-if-changed=Cargo.lock");
    let root = env::var("CARGO_MANIFEST_DIR").expect("cargo sets CARGO_MANIFEST_DIR");
    println!("cargo::rustc-env=LEASELINT_BUILD={}", fingerprint(&root));
    let out = env::var("OUT_DIR").expect("cargo sets OUT_DIR");
    let out = Path::new(&out);
    fs::write(out.join("rules.rs"), rules(&root)).expect("OUT_DIR can be written");
    fs::write(out.join("clients.rs"), clients(&root)).expect("OUT_DIR can be written");
}

/// What is kept of earlier runs belongs to the very code that has made it, so that the cache knows it by a hash of
/// all sources, and of the versions of all libraries.
fn fingerprint(root: &str) -> String {
    let mut files = Vec::new();
    for folder in ["src", "rules"] {
        collect(&Path::new(root).join(folder), &mut files);
    }
    files.extend(["build.rs", "Cargo.toml", "Cargo.lock"].map(|name| Path::new(root).join(name)));
    files.sort();
    let mut hasher = DefaultHasher::new();
    for path in files {
        // A crate from a registry may come without its lock file.
        let bytes = fs::read(&path).unwrap_or_default();
        (path.strip_prefix(root).ok(), bytes).hash(&mut hasher);
    }
    format!("{:016x}", hasher.finish())
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in
        fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display())).flatten()
    {
        let path = entry.path();
        if path.is_dir() {
            collect(&path, files);
        } else {
            files.push(path);
        }
    }
}

fn rules(root: &str) -> String {
    let modules = stems(&Path::new(root).join("src/rules"), ".rs");
    let modules = modules.iter().filter(|name| !NOT_RULES.contains(&name.as_str()));
    let mut code = String::new();
    let mut sources = String::new();
    for module in modules {
        let name = module.replace('_', "-");
        code += &format!("#[path = {:?}]\nmod {module};\n", format!("{root}/src/rules/{module}.rs"));
        let page = format!("{root}/rules/{name}.md");
        sources += &format!("    ({name:?}, include_str!({page:?}), {module}::check),\n");
    }
    code + &format!("static SOURCES: &[(&str, &str, Check)] = &[\n{sources}];\n")
}

fn clients(root: &str) -> String {
    let entries: String = stems(&Path::new(root).join("rules/clients"), ".toml")
        .iter()
        .map(|name| {
            format!("    ({name:?}, include_str!({:?})),\n", format!("{root}/rules/clients/{name}.toml"))
        })
        .collect();
    format!("static CLIENTS: &[(&str, &str)] = &[\n{entries}];\n")
}

/// The names of the files with this ending, without it, sorted.
fn stems(folder: &Path, ending: &str) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(folder)
        .unwrap_or_else(|error| panic!("{}: {error}", folder.display()))
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .filter_map(|name| name.strip_suffix(ending).map(str::to_owned))
        .collect();
    names.sort();
    names
}

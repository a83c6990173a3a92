//! Holds the client models against the libraries: every method, function, type and variant that
//! `rules/clients/` names must stand in the sources of a pinned version. They come from a registry, so that test
//! is ignored unless asked for: `cargo test --release --test client_models -- --include-ignored`.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use toml::{Table, Value};

#[path = "clients/api.rs"]
mod api;
#[allow(dead_code, reason = "the corpus reads more of its list")]
#[path = "corpus/fetch.rs"]
mod fetch;

use api::Api;
use fetch::{Kind, Pinned};

/// Models of what no single library has.
const ELSEWHERE: &[&str] = &["sql", "signals", "consul"];

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("rules/clients")
}

fn models() -> BTreeMap<String, Table> {
    let files = fs::read_dir(folder()).expect("the folder is there");
    let paths = files.map(|entry| entry.expect("it can be listed").path());
    paths
        .filter(|path| path.extension().is_some_and(|extension| extension == "toml"))
        .map(|path| {
            let name = path.file_stem().expect("it has an ending").to_string_lossy().into_owned();
            let text = fs::read_to_string(&path).expect("models are UTF-8");
            (name, text.parse().expect("models are TOML"))
        })
        .collect()
}

fn pinned() -> BTreeMap<String, BTreeMap<String, Vec<String>>> {
    toml::from_str(include_str!("clients/crates.toml")).expect("crates.toml is well-formed")
}

#[test]
fn every_model_is_held_against_a_library() {
    let pinned = pinned();
    let held: BTreeSet<&str> = pinned.keys().map(String::as_str).chain(ELSEWHERE.iter().copied()).collect();
    let models = models();
    assert_eq!(models.keys().map(String::as_str).collect::<BTreeSet<_>>(), held);
}

#[test]
fn names_in_macros_traits_and_enums_are_read() {
    let tree = tempfile::tempdir().expect("there is room");
    fs::create_dir(tree.path().join("src")).expect("it is empty");
    let text = "pub struct Store; impl Store { pub async fn put(&self) {} fn hidden() {} pub(crate) fn ours() {} }\n\
        commands! { fn set_nx<K>(key: K) -> (bool) { } }\n\
        pub trait Keys { fn get(&self); }\n\
        impl<T> From<T> for Options where T: Sized { fn from(t: T) -> Self { t } }\n\
        #[doc = \"x\"] pub enum Check { NX, #[doc = \"y\"] IFEQ(String) }";
    fs::write(tree.path().join("src/lib.rs"), text).expect("it can be written");
    let mut api = Api::default();
    api.add(tree.path());
    let functions: Vec<&str> = api.functions.iter().map(String::as_str).collect();
    assert_eq!(functions, ["from", "get", "put", "set_nx"]);
    for member in ["Store::put", "Keys::get", "Options::from", "Check::NX", "Check::IFEQ"] {
        assert!(api.members.contains(member), "{member}: {api:?}");
    }
    assert!(api.types.contains("Store") && api.types.contains("Keys") && api.types.contains("Check"));
    let model: Table = "connections = [\"Store\", \"Gone\"]\n[[method]]\nnames = [\"put\", \"hidden\"]\n\
        [[condition]]\npath = \"Check::XX\""
        .parse()
        .expect("well-formed");
    assert_eq!(missing(&model, &api), ["type Gone", "method hidden", "Check::XX"]);
}

#[test]
#[ignore = "gets the crates from a registry; tests/run.sh asks for it"]
fn what_the_models_name_exists() {
    let models = models();
    let mut troubles = Vec::new();
    for (model, crates) in pinned() {
        let mut api = Api::default();
        for (name, version) in crates.iter().flat_map(|(name, all)| all.iter().map(move |v| (name, v))) {
            let package = Pinned {
                name: name.clone(),
                version: version.clone(),
                kind: Kind::LookAlike,
                what: String::new(),
            };
            match fetch::sources(&package) {
                Ok(folder) => api.add(&folder),
                Err(error) => troubles.push(error.to_string()),
            }
        }
        let gone = missing(&models[&model], &api);
        troubles.extend(gone.iter().map(|name| format!("rules/clients/{model}.toml: there is no {name}")));
    }
    assert!(troubles.is_empty(), "{}", troubles.join("\n"));
}

/// The names of a model that no library has.
fn missing(model: &Table, api: &Api) -> Vec<String> {
    let mut gone = Vec::new();
    for name in texts(model.get("connections")) {
        let name = name.split('<').next().unwrap_or(name);
        if !api.types.contains(name) {
            gone.push(format!("type {name}"));
        }
    }
    let transaction = model.get("transaction").and_then(Value::as_table);
    let of_transaction = |key: &str| transaction.and_then(|table| table.get(key)).and_then(Value::as_str);
    let methods = entries(model, "method").flat_map(|entry| texts(entry.get("names")));
    let methods = methods.chain(["when", "then"].into_iter().filter_map(of_transaction));
    gone.extend(methods.filter(|name| !api.functions.contains(*name)).map(|name| format!("method {name}")));
    let paths = entries(model, "function").flat_map(|entry| texts(entry.get("paths")));
    let named = ["condition", "expiry", "compare"].into_iter().flat_map(|key| entries(model, key));
    let paths = paths
        .chain(named.filter_map(|entry| entry.get("path").and_then(Value::as_str)))
        .chain(texts(model.get("options")))
        .chain(of_transaction("new"));
    gone.extend(paths.filter(|path| !is_member(path, api)).map(str::to_owned));
    gone
}

/// `Type::default` may be derived; what is behind a module is a function of it.
fn is_member(path: &str, api: &Api) -> bool {
    if path.starts_with(char::is_lowercase) {
        return path.split("::").last().is_some_and(|name| api.functions.contains(name));
    }
    let derived = path.strip_suffix("::default").is_some_and(|name| api.types.contains(name));
    derived || api.members.contains(path)
}

fn entries<'m>(model: &'m Table, key: &str) -> impl Iterator<Item = &'m Value> + use<'m> {
    model.get(key).and_then(Value::as_array).into_iter().flatten()
}

fn texts(list: Option<&Value>) -> impl Iterator<Item = &str> {
    list.and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str)
}

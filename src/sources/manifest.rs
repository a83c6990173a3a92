//! What a `Cargo.toml` says that matters to the analysis: dependencies, targets, features.
//!
//! No cargo is called. What a member inherits from its workspace is filled in by [`super::packages`].

use std::collections::BTreeMap;

use serde::Deserialize;
use toml::Value;

use crate::facts::FileId;

/// One manifest of the run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Manifest {
    pub file: FileId,
    /// Its folder as paths are shown, without a `/` at the end; empty for the working directory.
    pub dir: String,
    /// `None` for a workspace root that is no package.
    pub package: Option<String>,
    pub is_workspace_root: bool,
    /// The patterns of `[workspace] members`.
    pub members: Vec<String>,
    /// By the name that code uses: `[dependencies]` and `[target.*.dependencies]`.
    pub dependencies: BTreeMap<String, Dependency>,
    pub dev_dependencies: BTreeMap<String, Dependency>,
    /// Binaries, written down or found by Cargo's layout.
    pub bins: Vec<Binary>,
    pub has_lib: bool,
    /// The library's name in code and its root file as paths are shown, where `[lib]` gives them.
    pub lib_name: Option<String>,
    pub lib_path: Option<String>,
    /// `[features]`, with what each turns on; `default` among them.
    pub features: BTreeMap<String, Vec<String>>,
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Dependency {
    /// The name of the crate, which `package = "…"` may set apart from the name in code.
    pub package: String,
    pub version: Option<String>,
    /// The folder of a path dependency, as written.
    pub path: Option<String>,
    pub features: Vec<String>,
    pub default_features: bool,
    pub optional: bool,
    /// Taken from the workspace; [`super::packages`] merges the two.
    pub(super) inherited: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Binary {
    pub name: String,
    /// As paths are shown.
    pub path: String,
}

/// A manifest as read, and what its workspace offers to members.
#[derive(Debug)]
pub(super) struct ReadManifest {
    pub(super) manifest: Manifest,
    pub(super) workspace_dependencies: BTreeMap<String, Dependency>,
}

/// Why a manifest could not be read: the byte and the reason.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct ManifestError {
    pub(super) offset: usize,
    pub(super) message: String,
}

#[derive(Deserialize, Default)]
#[serde(default, rename_all = "kebab-case")]
struct Raw {
    package: Option<RawPackage>,
    workspace: Option<RawWorkspace>,
    lib: Option<Value>,
    bin: Vec<RawBinary>,
    dependencies: BTreeMap<String, Value>,
    dev_dependencies: BTreeMap<String, Value>,
    target: BTreeMap<String, RawTarget>,
    features: BTreeMap<String, Vec<String>>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct RawPackage {
    name: Option<String>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct RawWorkspace {
    members: Vec<String>,
    dependencies: BTreeMap<String, Value>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct RawBinary {
    name: Option<String>,
    path: Option<String>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct RawTarget {
    dependencies: BTreeMap<String, Value>,
}

/// Reads one manifest that stands in `dir`.
pub(super) fn parse(text: &str, file: FileId, dir: &str) -> Result<ReadManifest, ManifestError> {
    // The parser takes no byte-order mark, though editors leave one.
    let bare = text.strip_prefix('\u{feff}').unwrap_or(text);
    let raw: Raw = toml::from_str(bare).map_err(|error| ManifestError {
        offset: error.span().map_or(0, |span| span.start) + (text.len() - bare.len()),
        message: one_line(error.message()),
    })?;
    let mut dependencies = read_dependencies(raw.dependencies);
    for target in raw.target.into_values() {
        for (name, dependency) in read_dependencies(target.dependencies) {
            dependencies.entry(name).or_insert(dependency);
        }
    }
    let lib = |key| raw.lib.as_ref().and_then(|lib| lib.get(key)).and_then(Value::as_str).map(str::to_owned);
    let workspace_dependencies = raw.workspace.as_ref().map(|w| read_dependencies(w.dependencies.clone()));
    let manifest = Manifest {
        file,
        dir: dir.to_owned(),
        package: raw.package.and_then(|package| package.name),
        is_workspace_root: raw.workspace.is_some(),
        members: raw.workspace.map(|workspace| workspace.members).unwrap_or_default(),
        dependencies,
        dev_dependencies: read_dependencies(raw.dev_dependencies),
        bins: raw.bin.into_iter().filter_map(|bin| binary(bin, dir)).collect(),
        has_lib: raw.lib.is_some(),
        lib_name: lib("name"),
        lib_path: lib("path").map(|path| inside(dir, path.trim_start_matches("./"))),
        features: raw.features,
    };
    Ok(ReadManifest { manifest, workspace_dependencies: workspace_dependencies.unwrap_or_default() })
}

fn one_line(message: &str) -> String {
    message.lines().map(str::trim).filter(|line| !line.is_empty()).collect::<Vec<_>>().join(", ")
}

fn binary(raw: RawBinary, dir: &str) -> Option<Binary> {
    let name = raw.name?;
    let path = raw.path.unwrap_or_else(|| format!("src/bin/{name}.rs"));
    Some(Binary { path: inside(dir, path.trim_start_matches("./")), name })
}

/// A path inside a folder, both as paths are shown.
fn inside(dir: &str, path: &str) -> String {
    match dir {
        "" => path.to_owned(),
        dir => format!("{}/{path}", dir.trim_end_matches('/')),
    }
}

fn read_dependencies(raw: BTreeMap<String, Value>) -> BTreeMap<String, Dependency> {
    raw.into_iter()
        .map(|(name, value)| {
            let dependency = read_dependency(&name, &value);
            (name.replace('-', "_"), dependency)
        })
        .collect()
}

/// A dependency in either form; a form that Cargo would refuse is read as far as it goes.
fn read_dependency(name: &str, value: &Value) -> Dependency {
    let text = |key| value.get(key).and_then(Value::as_str).map(str::to_owned);
    let flag = |key| value.get(key).and_then(Value::as_bool);
    let features = value.get("features").and_then(Value::as_array);
    Dependency {
        package: text("package").unwrap_or_else(|| name.to_owned()),
        version: value.as_str().map(str::to_owned).or_else(|| text("version")),
        path: text("path"),
        features: features.into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect(),
        default_features: flag("default-features").or_else(|| flag("default_features")).unwrap_or(true),
        optional: flag("optional").unwrap_or(false),
        inherited: flag("workspace").unwrap_or(false),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> ReadManifest {
        parse(text, FileId(0), "app").unwrap()
    }

    #[test]
    fn dependencies_are_read_in_every_form() {
        let manifest = read(
            r#"
            [package]
            name = "app"
            [dependencies]
            redis = "0.27"
            signal-hook = { version = "0.3", default-features = false, features = ["iterator"] }
            db = { package = "sqlx", workspace = true, optional = true }
            [target.'cfg(unix)'.dependencies]
            ctrlc = { version = "3", features = ["termination"] }
            [dev-dependencies]
            tempfile = "3"
            [dependencies.own]
            path = "../own"
            "#,
        )
        .manifest;
        let names: Vec<_> = manifest.dependencies.keys().map(String::as_str).collect();
        assert_eq!(names, ["ctrlc", "db", "own", "redis", "signal_hook"]);
        let dependency = |name: &str| manifest.dependencies[name].clone();
        assert_eq!(dependency("redis").version.as_deref(), Some("0.27"));
        assert!(dependency("redis").default_features);
        assert_eq!(dependency("signal_hook").package, "signal-hook");
        assert!(!dependency("signal_hook").default_features);
        assert_eq!(dependency("ctrlc").features, ["termination"]);
        assert_eq!(dependency("db").package, "sqlx");
        assert!(dependency("db").inherited && dependency("db").optional);
        assert_eq!(dependency("own").path.as_deref(), Some("../own"));
        assert!(manifest.dev_dependencies.contains_key("tempfile"));
    }

    #[test]
    fn a_workspace_and_its_targets_are_read() {
        let read = read(
            r#"
            [workspace]
            members = ["crates/*"]
            [workspace.dependencies]
            sqlx = { version = "0.8", features = ["postgres"] }
            [[bin]]
            name = "worker"
            path = "./src/worker.rs"
            [lib]
            [features]
            default = ["signals"]
            signals = []
            "#,
        );
        assert!(read.manifest.is_workspace_root && read.manifest.has_lib);
        assert_eq!(read.manifest.package, None);
        assert_eq!(read.manifest.members, ["crates/*"]);
        assert_eq!(read.workspace_dependencies["sqlx"].features, ["postgres"]);
        assert_eq!(
            read.manifest.bins,
            [Binary { name: "worker".to_owned(), path: "app/src/worker.rs".to_owned() }]
        );
        assert_eq!(read.manifest.features["default"], ["signals"]);
    }

    #[test]
    fn a_broken_manifest_is_told_with_its_place() {
        let error = parse("[package]\nname = \n", FileId(0), "").unwrap_err();
        assert!((10..=18).contains(&error.offset), "{error:?}");
        assert!(!error.message.contains('\n'));
        assert!(parse("\u{feff}[package]\nname = \"a\"\n", FileId(0), "").is_ok());
    }

    #[test]
    fn deep_nesting_is_refused_and_not_followed() {
        assert!(parse(&format!("a = {}", "[".repeat(100_000)), FileId(0), "").is_err());
    }
}

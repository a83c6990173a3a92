//! Makes the list of rules from the files in `src/rules/` and `rules/`, so that a new rule is one source
//! file and one page and nothing else.

use std::path::Path;
use std::{env, fs};

/// Files in `src/rules/` that are not rules.
const NOT_RULES: &[&str] = &["mod", "catalogue", "draft"];

fn main() {
    println!("cargo::rerun-if-changed=src/rules");
    println!("cargo::rerun-if-changed=rules");
    let root = env::var("CARGO_MANIFEST_DIR").expect("cargo sets CARGO_MANIFEST_DIR");
    let out = env::var("OUT_DIR").expect("cargo sets OUT_DIR");
    let mut rules: Vec<String> = fs::read_dir(Path::new(&root).join("src/rules"))
        .expect("src/rules is part of the package")
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .filter_map(|name| name.strip_suffix(".rs").map(str::to_owned))
        .filter(|name| !NOT_RULES.contains(&name.as_str()))
        .collect();
    rules.sort();
    let mut code = String::new();
    for module in &rules {
        code += &format!("#[path = {:?}]\nmod {module};\n", format!("{root}/src/rules/{module}.rs"));
    }
    code += "static SOURCES: &[(&str, &str, Check)] = &[\n";
    for module in &rules {
        let name = module.replace('_', "-");
        code += &format!(
            "    ({name:?}, include_str!({:?}), {module}::check),\n",
            format!("{root}/rules/{name}.md")
        );
    }
    code += "];\n";
    fs::write(Path::new(&out).join("rules.rs"), code).expect("OUT_DIR can be written");
}

//! The book: every page is in its list, every link leads somewhere, and mdBook makes a site of it.

#![allow(clippy::unwrap_used, reason = "a test that cannot set itself up has failed")]

#[path = "../docs/book/pages.rs"]
mod pages;

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use leaselint::rules;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

#[test]
fn every_link_leads_somewhere() {
    let (files, wrong) = pages::linked(root(), &pages::all(root()));
    assert_eq!(wrong, Vec::<String>::new());
    assert!(files.contains("schemas/findings.schema.json"), "{files:?}");
}

#[test]
fn a_link_that_leads_nowhere_is_seen() {
    let page = "# One two\n[a](nowhere.md) [b](#one-two) [c](#three) [d](../x/a.md#one-two) [e](../../out.md) \
                [f](../Cargo.toml) [g](https://example.org/nowhere)\n";
    let pages = pages::Pages::from([("x/a.md".to_owned(), page.to_owned())]);
    let (files, wrong) = pages::linked(root(), &pages);
    assert_eq!(files, BTreeSet::from(["Cargo.toml".to_owned()]));
    let expected =
        ["nowhere.md", "#three", "../../out.md"].map(|link| format!("x/a.md: {link} leads nowhere"));
    assert_eq!(wrong, expected);
}

#[test]
fn every_page_is_listed_once() {
    let summary = pages::summary();
    for path in pages::all(root()).keys() {
        assert_eq!(summary.matches(&format!("]({path})")).count(), 1, "{path} in\n{summary}");
    }
    for rule in rules::all() {
        assert!(summary.contains(&format!("(rules/{}.md)", rule.name)), "{}", rule.name);
    }
    // A guide that nobody has put into the list.
    for entry in std::fs::read_dir(root().join("docs")).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "md") {
            let name = path.file_name().unwrap().to_str().unwrap();
            assert!(summary.contains(&format!("(docs/{name})")), "docs/{name} is not in the book");
        }
    }
}

#[test]
#[ignore = "needs mdbook"]
fn mdbook_makes_a_page_of_each() {
    let folder = tempfile::tempdir().unwrap();
    let mut generator = Command::new(env!("CARGO"));
    generator.args(["run", "--quiet", "--example", "book", "--"]).arg(folder.path()).current_dir(root());
    let made = generator.status().unwrap();
    assert!(made.success());
    let output =
        Command::new("mdbook").arg("build").arg(folder.path()).output().expect("cargo install mdbook");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && !said.contains("WARN"), "{said}");
    let book = folder.path().join("book");
    let mut links = 0;
    for path in pages::all(root()).keys() {
        let page = book.join(path.replace(".md", ".html"));
        let html =
            std::fs::read_to_string(&page).unwrap_or_else(|error| panic!("{}: {error}", page.display()));
        for link in html.split("href=\"").skip(1).filter_map(|rest| rest.split('"').next()) {
            let file = link.split('#').next().unwrap();
            if !link.contains("://") && !file.is_empty() {
                assert!(page.parent().unwrap().join(file).exists(), "{link} in {}", page.display());
                links += 1;
            }
        }
    }
    assert!(links > 500 && book.join("index.html").is_file(), "{links}");
}

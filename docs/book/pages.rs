//! The pages of the book: those of the rules and of docs/, as they stand in the repository, under the same paths. So
//! links need no rewriting, and what leads nowhere is found before anybody reads it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Component, Path, PathBuf};

use leaselint::finding::Severity;
use leaselint::rules::{self, RuleInfo};
use pulldown_cmark::{Event, Parser, Tag, TagEnd};

/// The part of the book, the path of the page, and what the list of pages calls it.
const CHAPTERS: &[(&str, &[(&str, &str)])] = &[
    (
        "Use",
        &[
            ("docs/editors.md", "In an editor"),
            ("docs/ci.md", "In CI and as a hook"),
            ("docs/configuration.md", "Configuration"),
            ("rules/clients/README.md", "Models of client libraries"),
        ],
    ),
    (
        "How it works",
        &[
            ("docs/how-it-works.md", "How it works, and where it ends"),
            ("docs/performance.md", "How long it takes"),
            ("ARCHITECTURE.md", "Architecture"),
            ("docs/design-notes.md", "Design notes"),
            ("docs/dependencies.md", "Dependencies"),
            ("CONTRIBUTING.md", "Contributing"),
        ],
    ),
];

/// In the order in which they are listed.
const GROUPS: &[&str] =
    &["release", "acquire", "renew", "fence", "clock", "shutdown", "schema", "input", "suppression"];

/// The pages by their paths, the list of them aside.
pub type Pages = BTreeMap<String, String>;

/// Everything that the book is made of.
pub fn all(root: &Path) -> Pages {
    let read =
        |path: &str| fs::read_to_string(root.join(path)).unwrap_or_else(|error| panic!("{path}: {error}"));
    let mut pages = Pages::new();
    // What README calls a folder is a page here.
    pages.insert("README.md".to_owned(), read("README.md").replace("](rules)", "](rules/README.md)"));
    for (path, _) in CHAPTERS.iter().flat_map(|(_, pages)| *pages) {
        pages.insert((*path).to_owned(), read(path));
    }
    pages.insert("rules/README.md".to_owned(), list_of_rules());
    for rule in rules::all() {
        pages.insert(format!("rules/{}.md", rule.name), page(rule));
    }
    pages
}

/// `SUMMARY.md`, of which mdBook makes the list at the side.
pub fn summary() -> String {
    let mut text = "# Summary\n\n[leaselint](README.md)\n".to_owned();
    for (name, pages) in CHAPTERS {
        text += &format!("\n# {name}\n\n");
        pages.iter().for_each(|(path, title)| text += &format!("- [{title}]({path})\n"));
    }
    text += "\n# Rules\n\n- [All rules](rules/README.md)\n";
    for (_, rule) in sorted() {
        text += &format!("- [{}](rules/{}.md)\n", rule.name, rule.name);
    }
    text
}

/// By the places of their groups.
fn sorted() -> Vec<(usize, &'static RuleInfo)> {
    let place =
        |rule: &RuleInfo| GROUPS.iter().position(|group| *group == rule.group).unwrap_or(GROUPS.len());
    let mut all: Vec<_> = rules::all().iter().map(|rule| (place(rule), rule)).collect();
    all.sort_by_key(|(place, rule)| (*place, rule.name));
    all
}

fn level(rule: &RuleInfo) -> &'static str {
    match rule.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Info => "info",
    }
}

fn list_of_rules() -> String {
    let rows = sorted().into_iter().map(|(_, rule)| {
        format!(
            "| [`{}`]({}.md) | {} | {} | {} |\n",
            rule.name,
            rule.name,
            rule.group,
            level(rule),
            rule.summary
        )
    });
    let rows: String = rows.collect();
    format!("# All rules\n\n| rule | group | level | reports |\n|---|---|---|---|\n{rows}")
}

/// The page that `leaselint explain` prints, with what its front matter says.
fn page(rule: &RuleInfo) -> String {
    let (title, rest) = rule.page.split_once('\n').unwrap_or((rule.page, ""));
    let head = format!("*Group {}, level {}:* {}.", rule.group, level(rule), rule.summary);
    format!("{title}\n\n{head}\n\n{}\n", rest.trim())
}

/// The targets of all links of a page.
fn links(text: &str) -> Vec<String> {
    let events = Parser::new_ext(text, pulldown_cmark::Options::ENABLE_TABLES);
    let targets = events.filter_map(|event| match event {
        Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) => {
            Some(dest_url.into_string())
        }
        _ => None,
    });
    targets.collect()
}

/// The names under which a page's headings are found.
fn anchors(text: &str) -> BTreeSet<String> {
    let (mut anchors, mut heading) = (BTreeSet::new(), None::<String>);
    for event in Parser::new(text) {
        match event {
            Event::Start(Tag::Heading { .. }) => heading = Some(String::new()),
            Event::End(TagEnd::Heading(_)) => anchors.extend(heading.take()),
            Event::Text(part) | Event::Code(part) => {
                let kept = part.chars().filter(|c| c.is_alphanumeric() || " -_".contains(*c));
                let kept = kept.flat_map(|c| if c == ' ' { vec!['-'] } else { c.to_lowercase().collect() });
                heading.iter_mut().for_each(|heading| heading.extend(kept.clone()));
            }
            _ => {}
        }
    }
    anchors
}

/// Where a link leads, from the root; `None` out of the repository or out into the world.
fn target(page: &str, link: &str) -> Option<String> {
    let path = Path::new(page).parent()?.join(link);
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::Normal(part) => plain.push(part),
            Component::ParentDir if plain.pop() => {}
            Component::CurDir => {}
            _ => return None,
        }
    }
    plain.to_str().map(str::to_owned)
}

/// What the pages' links lead to beside the pages: files of the repository that go with them. And what is wrong.
pub fn linked(root: &Path, pages: &Pages) -> (BTreeSet<String>, Vec<String>) {
    let (mut files, mut wrong) = (BTreeSet::new(), Vec::new());
    for (page, text) in pages {
        for link in links(text) {
            if link.contains("://") {
                continue;
            }
            let (path, anchor) = link.split_once('#').unwrap_or((&link, ""));
            let to = if path.is_empty() { Some(page.clone()) } else { target(page, path) };
            let found = to.as_deref().and_then(|to| pages.get_key_value(to));
            match (to.as_deref(), found) {
                (_, Some((_, text))) if anchor.is_empty() || anchors(text).contains(anchor) => {}
                (Some(to), None) if anchor.is_empty() && root.join(to).is_file() && !to.ends_with(".md") => {
                    files.insert(to.to_owned());
                }
                _ => wrong.push(format!("{page}: {link} leads nowhere")),
            }
        }
    }
    (files, wrong)
}

//! Templates of keys: which of them are one lock, and which of them a project's pattern means.
//!
//! Templates are one key when their texts are the same, however each is spelt; a hole is equal to holes only, for
//! otherwise `{}:{}` would be every key's twin.

use leaselint::audit::LockAudit;
use leaselint::locks::Conventions;
use proptest::prelude::*;

use crate::cases;
use crate::runs::{run, write};

/// Texts, with a hole between each two.
type Template = Vec<String>;

fn templates() -> impl Strategy<Value = Template> {
    let part = prop::sample::select(vec!["", ":", "a", "-b", "é", ":seat", "\""]);
    prop::collection::vec(part.prop_map(str::to_owned), 1..4).prop_map(|mut parts| {
        parts[0].insert_str(0, "job-lock:");
        parts
    })
}

/// A template and itself, or one that differs in a letter, or any other one.
fn pairs() -> impl Strategy<Value = (Template, Template)> {
    let nearly = templates().prop_map(|one| {
        let mut other = one.clone();
        other[0] = other[0].replace("job", "jab");
        (one, other)
    });
    prop_oneof![templates().prop_map(|one| (one.clone(), one)), nearly, (templates(), templates())]
}

fn shown(template: &[String]) -> String {
    template.join("{}")
}

const SPELLINGS: usize = 5;

/// An expression of the template; its holes are filled with `of`.
fn spelt(template: &[String], of: &str, spelling: usize) -> String {
    let quoted = |text: &str| text.replace('"', "\\\"");
    let with_holes = |hole: &str| template.iter().map(|part| quoted(part)).collect::<Vec<_>>().join(hole);
    let values = |form: &str| vec![form.to_owned(); template.len() - 1].join(", ");
    match spelling {
        0 => format!("format!(\"{}\")", with_holes(&format!("{{{of}}}"))),
        1 => format!("format!(\"{}\", {})", with_holes("{}"), values(of)),
        2 => format!("format!(\"{}\", x = {of})", with_holes("{x}")),
        3 => format!("String::from(\"{}\")", with_holes(&format!("\") + {of} + (\""))),
        _ => format!("format!(\"{}\")", with_holes(&format!("\\\n        {{{of}}}\\\n        "))),
    }
}

/// A program that acquires under one key and releases under another one, each in a file of its own.
fn locks(acquired: &str, released: &str, swapped: bool) -> Vec<LockAudit> {
    let acquire = format!(
        "pub async fn acquire(conn: &mut redis::aio::ConnectionManager, job: &str) -> redis::RedisResult<bool> {{\n    \
         let owner = uuid::Uuid::new_v4().to_string();\n    \
         let won: Option<String> = redis::cmd(\"SET\").arg({acquired}).arg(&owner).arg(\"NX\").arg(\"PX\").arg(30000)\n        \
         .query_async(conn).await?;\n    Ok(won.is_some())\n}}\n"
    );
    let release = format!(
        "use redis::AsyncCommands;\npub async fn release(conn: &mut redis::aio::ConnectionManager, id: &str) -> redis::RedisResult<()> {{\n    \
         let _: i64 = conn.del({released}).await?;\n    Ok(())\n}}\n"
    );
    let folder = tempfile::tempdir().unwrap();
    let names = if swapped { ["b", "a"] } else { ["a", "b"] };
    write(folder.path(), "Cargo.toml", "[package]\nname = \"jobs\"\n");
    write(folder.path(), "src/lib.rs", "mod a;\nmod b;\n");
    write(folder.path(), &format!("src/{}.rs", names[0]), &acquire);
    write(folder.path(), &format!("src/{}.rs", names[1]), &release);
    let (report, _) = run(folder.path());
    assert!(report.findings.iter().all(|finding| finding.rule != "unreadable-input"), "{acquire}\n{release}");
    report.audit.unwrap().locks
}

proptest! {
    #![proptest_config(cases(30))]

    #[test]
    fn keys_are_one_when_their_texts_are_the_same(
        (acquired, released) in pairs(),
        spellings in (0..SPELLINGS, 0..SPELLINGS),
        swapped in any::<bool>(),
    ) {
        let found = locks(&spelt(&acquired, "job", spellings.0), &spelt(&released, "id", spellings.1), swapped);
        let lock = found.iter().find(|lock| lock.name == shown(&acquired));
        let Some(lock) = lock else {
            panic!("{:?} is no lock among {:?}", shown(&acquired), found.iter().map(|lock| &lock.name).collect::<Vec<_>>())
        };
        prop_assert_eq!(lock.acquired.len(), 1);
        prop_assert_eq!(lock.released.len(), usize::from(acquired == released), "{:?}", found);
    }
}

proptest! {
    #![proptest_config(cases(1_000))]

    #[test]
    fn a_pattern_means_what_fills_it(
        parts in prop::collection::vec("[a-c:{}é]{0,4}", 1..5),
        filling in prop::collection::vec("[a-c:{}é]{0,6}", 5),
    ) {
        let declares = |pattern: &str, text: &str| {
            let conventions = Conventions { lock_keys: vec![pattern.to_owned()], ..Conventions::default() };
            conventions.declares_lock_key(text)
        };
        let pattern = parts.join("*");
        let filled: String = parts.iter().zip(&filling).map(|(part, fill)| format!("{part}{fill}")).collect();
        let filled = filled.strip_suffix(filling[parts.len() - 1].as_str()).unwrap();
        prop_assert!(declares(&pattern, filled), "{pattern} {filled}");
        prop_assert!(declares(&pattern, &pattern), "a pattern means itself: {pattern}");
        let (longer_before, longer_behind) = (format!("\u{1}{filled}"), format!("{filled}\u{1}"));
        prop_assert_eq!(declares(&pattern, &longer_before), pattern.starts_with('*'));
        prop_assert_eq!(declares(&pattern, &longer_behind), pattern.ends_with('*'));
    }
}

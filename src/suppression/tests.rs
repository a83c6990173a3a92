//! Comments and what they cover, in the three languages.

use super::*;
use crate::facts::Location;
use crate::finding::{Confidence, Severity};

/// The covered text of the only suppression.
fn covered(kind: FileKind, text: &str) -> &str {
    let found = scan(kind, text);
    assert_eq!(found.malformed, []);
    let [suppression] = &found.suppressions[..] else { panic!("{found:?}") };
    match suppression.scope {
        SuppressionScope::Span(span) => &text[span.start as usize..span.end as usize],
        SuppressionScope::File => panic!("file-level"),
    }
}

fn rust(text: &str) -> &str {
    covered(FileKind::Rust, text)
}

const ALLOW: &str = "// leaselint: allow(get-then-del, reason = \"x\")";

#[test]
fn at_the_end_of_a_line_it_covers_the_line() {
    let text = format!("let a = 1;\n    con.del(key)?; {ALLOW}\nlet b = 2;\n");
    assert!(rust(&text).starts_with("    con.del(key)?; //"));
    assert!(!rust(&text).contains("let b"));
}

#[test]
fn above_a_statement_it_covers_the_statement() {
    let text =
        format!("{{\n{ALLOW}\n// and a word\nquery(\n  \"UPDATE a\",\n)\n.run(|x| {{ x }})?;\nnext();\n}}");
    assert!(rust(&text).starts_with("query(") && rust(&text).ends_with("?;"));
    let text = format!("f(\n{ALLOW}\n\"UPDATE a\",\n\"UPDATE b\",\n)");
    assert_eq!(rust(&text), "\"UPDATE a\",");
    let text = format!("match x {{\n{ALLOW}\nA(b, c) => b.del(c),\nD => e,\n}}");
    assert_eq!(rust(&text), "A(b, c) => b.del(c),");
    let text = format!("{{\n{ALLOW}\nlet a: Map<B, C> = d\n}}");
    assert_eq!(rust(&text).trim_end(), "let a: Map<B, C> = d");
}

#[test]
fn of_a_statement_with_a_block_it_covers_the_head_only() {
    let text = format!("{{\n{ALLOW}\nif con.get(key)? == owner {{\n    con.del(key)?;\n}}\n}}");
    assert_eq!(rust(&text), "if con.get(key)? == owner {");
    let text = format!("{ALLOW}\nspawn(async move {{\n    con.del(key);\n}});");
    assert_eq!(rust(&text), "spawn(async move {");
}

#[test]
fn above_an_item_it_covers_the_item() {
    for item in [
        "fn f() -> [u8; 2] {\n    a();\n    b()\n}",
        "pub(crate) async fn f() {\n    a();\n}",
        "#[test]\n#[cfg(unix)]\nunsafe extern \"C\" fn f() {\n    a();\n}",
        "impl<const N: usize> A<{ N }> for B {\n    fn f() { a(); }\n}",
        "mod a {\n    fn f() { a(); }\n}",
        "const A: B = B {\n    c: 1,\n};",
        "pub static A: &[u8; 1] = &[1];",
        "pub const fn f() {\n    a();\n}",
        "struct A {\n    b: u8,\n}",
        "struct A(u8);",
        "trait A {\n    fn b();\n}",
    ] {
        let text = format!("use x;\n{ALLOW}\n{item}\nfn other() {{}}\n");
        assert_eq!(rust(&text), item);
    }
}

#[test]
fn a_block_of_a_keyword_is_no_item() {
    for statement in ["unsafe {\n  a();\n}", "async move {\n  a();\n}", "const {\n  a();\n}"] {
        let text = format!("{{\n{ALLOW}\n{statement}\n}}");
        assert_eq!(rust(&text), statement.lines().next().unwrap());
    }
}

#[test]
fn strings_and_documentation_are_no_suppressions() {
    for text in [
        "let a = \"// leaselint: allow(x)\";",
        "let a = r#\"\n// leaselint: allow(x)\n\"#;",
        "/// leaselint: allow(x)\nfn f() {}",
        "/* // leaselint: allow(x) */",
        "let a = \"-- leaselint: allow(x)\";",
    ] {
        assert_eq!(scan(FileKind::Rust, text), FileSuppressions::default(), "{text}");
    }
    assert_eq!(scan(FileKind::Sql, "SELECT '\n-- leaselint: allow(x)\n'"), FileSuppressions::default());
    assert_eq!(scan(FileKind::Lua, "a = [[\n-- leaselint: allow(x)\n]]"), FileSuppressions::default());
}

#[test]
fn above_an_sql_statement_it_covers_the_whole() {
    let text = "CREATE TABLE a (b int);\n-- leaselint: allow(unfenced-write)\nUPDATE a\nSET b = ';'\nWHERE c;\nDELETE FROM a;";
    assert_eq!(covered(FileKind::Sql, text), "UPDATE a\nSET b = ';'\nWHERE c;");
    let text =
        "-- leaselint: allow(unfenced-write)\nCREATE FUNCTION a() AS $$ BEGIN b; c; END $$;\nDROP TABLE a;";
    assert!(covered(FileKind::Sql, text).ends_with("$$;"));
    let text =
        "AS $$ BEGIN\n-- leaselint: allow(unfenced-write)\nUPDATE a SET b = 1;\nDELETE FROM a; END $$;";
    assert_eq!(covered(FileKind::Sql, text), "UPDATE a SET b = 1;");
    let text = "UPDATE a SET b = 1; -- leaselint: allow(unfenced-write)\nDELETE FROM a;";
    assert!(
        covered(FileKind::Sql, text).starts_with("UPDATE")
            && !covered(FileKind::Sql, text).contains("DELETE")
    );
}

#[test]
fn above_a_lua_statement_it_covers_the_whole() {
    let allow = "-- leaselint: allow(script-without-compare)";
    for statement in [
        "redis.call('DEL', KEYS[1])",
        "return redis.call(\n  'DEL',\n  KEYS[1]\n)",
        "if a then\n  redis.call('DEL', KEYS[1])\nend",
        "for _, k in ipairs(KEYS) do\n  redis.call('DEL', k)\nend",
        "local f = function(k)\n  return redis.call('DEL', k)\nend",
    ] {
        let text = format!("{allow}\n{statement}\nreturn 0\n");
        assert_eq!(covered(FileKind::Lua, &text), statement);
    }
}

#[test]
fn several_rules_groups_and_whole_files() {
    let found = scan(FileKind::Rust, "//! leaselint: allow-file(get-then-del, fence, reason = \"x\")\n");
    assert_eq!(found.suppressions.len(), 2);
    assert!(found.suppressions.iter().all(|s| s.scope == SuppressionScope::File));
    assert!(found.suppressions.iter().all(|s| s.reason.as_deref() == Some("x")));
    let broken = scan(FileKind::Sql, "-- leaselint: alow(x)\nSELECT 1;");
    assert_eq!(broken.malformed[0].0, Span::new(0, 21));
}

#[test]
fn windows_line_ends_and_a_byte_order_mark_change_nothing() {
    let text = "\u{feff}// leaselint: allow(get-then-del)\r\nfn f() {\r\n    a();\r\n}\r\nfn g() {}\r\n";
    assert_eq!(rust(text), "fn f() {\r\n    a();\r\n}");
}

#[test]
fn no_text_below_breaks_the_scan() {
    for rest in
        ["", "\n", "\n}", "\n)", "\n#", "\n#[", "\n#[a", "\npub(", "\npub", "\nfn", "\nfn f(", "\nf({", "\n'"]
    {
        for kind in [FileKind::Rust, FileKind::Sql, FileKind::Lua] {
            let marker = if kind == FileKind::Rust { "//" } else { "--" };
            let text = format!("{marker} leaselint: allow(a){rest}");
            assert_eq!(scan(kind, &text).suppressions.len(), 1, "{text:?}");
        }
    }
}

fn finding(rule: &'static str, start: u32) -> Finding {
    Finding {
        rule,
        severity: Severity::Warning,
        confidence: Confidence::High,
        message: String::new(),
        primary: Location { file: FileId(0), span: Span::new(start, start + 1) },
        primary_label: String::new(),
        related: Vec::new(),
        lock: None,
        help: String::new(),
        fixes: Vec::new(),
        counterexample: None,
    }
}

#[test]
fn findings_that_start_inside_the_scope_are_suppressed() {
    let text =
        "// leaselint: allow(unreadable-input)\nfn f() {}\n// leaselint: allow(input)\nfn g() {}\nfn h() {}";
    let by_file = BTreeMap::from([(FileId(0), scan(FileKind::Rust, text))]);
    let at = |part: &str| u32::try_from(text.find(part).unwrap()).unwrap();
    let findings = ["fn f", "fn g", "fn h"].map(|part| finding("unreadable-input", at(part)));
    let applied = apply(findings.to_vec(), &by_file);
    assert_eq!(applied.kept, [findings[2].clone()]);
    assert_eq!(applied.suppressed.len(), 2);
    assert_eq!(applied.used, BTreeSet::from([(FileId(0), 0), (FileId(0), 1)]));
    let other = apply(vec![finding("get-then-del", at("fn f"))], &by_file);
    assert_eq!((other.kept.len(), other.used.len()), (1, 0));
}

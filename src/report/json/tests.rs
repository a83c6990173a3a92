//! The JSON report against its published schema.

use serde_json::{Value, json};

use super::super::sample::{Files, across_files, finding};
use super::super::sanitize;
use super::*;

fn render(files: &Files, findings: &[Finding]) -> (String, Value) {
    let summary = Summary { files: 2, parsed: 2, errors: 1, suppressed: 3, ..Summary::default() };
    let mut out = Vec::new();
    write(&mut out, findings, &summary, files).expect("a vector takes everything");
    let text = String::from_utf8(out).expect("JSON is UTF-8");
    let value = serde_json::from_str(&text).expect("the report is JSON");
    (text, value)
}

#[test]
fn the_report_of_a_finding() {
    let (files, findings) = across_files();
    let place =
        |line: u32, column: u32, offset: u32| json!({"line": line, "column": column, "offset": offset});
    let wanted = json!({
        "rule": "unreadable-input",
        "group": "input",
        "severity": "error",
        "confidence": "high",
        "message": "the release can delete another holder's lock",
        "path": "src/lock.rs",
        "span": {"start": place(3, 9, 47), "end": place(3, 17, 55)},
        "related": [
            {
                "path": "src/lock.rs",
                "span": {"start": place(2, 8, 19), "end": place(2, 25, 36)},
                "message": "compared here",
            },
            {
                "path": "src/kv.rs",
                "span": {"start": place(2, 5, 24), "end": place(2, 18, 37)},
                "message": "the command that deletes",
            },
        ],
        "lock": "job-lock:{}",
        "help": "compare and delete in one script",
        "fixes": [],
        "counterexample": [],
        "fingerprint": fingerprint::all(&findings, &files)[0],
        "url": "https://leaselint.dev/rules/unreadable-input",
    });
    let (_, report) = render(&files, &findings);
    assert_eq!(report["findings"], json!([wanted]));
    assert_eq!(report["summary"]["suppressed"], 3);
    assert_eq!(report["tool"]["name"], "leaselint");
}

#[test]
fn the_report_conforms_to_the_schema() {
    let schema: Value = serde_json::from_str(SCHEMA).expect("the schema is JSON");
    let (files, mut findings) = across_files();
    findings.push(Finding { lock: None, ..finding(&files, 1, "conn") });
    for findings in [&findings[..], &[]] {
        let (_, report) = render(&files, findings);
        assert_eq!(violations(&schema, &report), Vec::<String>::new());
    }
}

#[test]
fn the_schema_refuses_what_is_wrong() {
    let schema: Value = serde_json::from_str(SCHEMA).expect("the schema is JSON");
    let (files, findings) = across_files();
    let broken: [fn(&mut Value); 6] = [
        |v| v["schema"] = 2.into(),
        |v| v["findings"][0]["severity"] = "fatal".into(),
        |v| v["findings"][0]["span"]["start"]["line"] = 0.into(),
        |v| v["findings"][0]["lock"] = 7.into(),
        |v| drop(v["summary"].as_object_mut().and_then(|s| s.remove("files"))),
        |v| v["findings"][0]["fixes"] = Value::Null,
    ];
    for (at, break_it) in broken.iter().enumerate() {
        let (_, mut report) = render(&files, &findings);
        break_it(&mut report);
        assert_ne!(violations(&schema, &report), Vec::<String>::new(), "change {at}");
    }
}

#[test]
fn every_field_of_the_report_is_described() {
    let schema: Value = serde_json::from_str(SCHEMA).expect("the schema is JSON");
    let (files, findings) = across_files();
    let (_, report) = render(&files, &findings);
    let described = |at: &str| -> Vec<String> {
        let properties = schema.pointer(at).and_then(Value::as_object).expect("properties");
        properties.keys().cloned().collect()
    };
    let written = |at: &str| -> Vec<String> {
        report.pointer(at).and_then(Value::as_object).expect("an object").keys().cloned().collect()
    };
    assert_eq!(described("/properties"), written(""));
    assert_eq!(described("/$defs/finding/properties"), written("/findings/0"));
    assert_eq!(described("/properties/summary/properties"), written("/summary"));
}

#[test]
fn controls_are_escaped() {
    let files = Files::new(&[("a\u{202e}.rs", "del(key)")]);
    let mut one = finding(&files, 0, "del(key)");
    one.message = "\u{1b}[31m\u{7f}\u{9b}\u{e0041}".to_owned();
    let (text, value) = render(&files, &[one.clone()]);
    assert!(text.chars().all(|c| c == '\n' || !(c.is_control() || sanitize::is_control(c))));
    assert_eq!(value["findings"][0]["message"], one.message.as_str());
    assert_eq!(value["findings"][0]["path"], "a\u{202e}.rs");
}

/// What of a value does not fit the schema.
fn violations(schema: &Value, value: &Value) -> Vec<String> {
    let validator = jsonschema::validator_for(schema).expect("it is a JSON Schema");
    validator.iter_errors(value).map(|error| format!("{}: {error}", error.instance_path())).collect()
}

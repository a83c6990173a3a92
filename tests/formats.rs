//! The formats against what was not written here where that may be had: published schemas, and the parsers of
//! those who read such reports. GitLab's and reviewdog's are held against shapes of our own, made after their
//! documentation. The findings are those of the session in README and of a tree made to be awkward.

#![allow(clippy::unwrap_used, reason = "a test that cannot set itself up has failed")]

#[path = "formats/shapes.rs"]
mod shapes;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use cargo_metadata::Message;
use cargo_metadata::diagnostic::{Diagnostic, DiagnosticLevel};
use serde_json::Value;

/// Names and texts that every format must carry unharmed: a space and a percent sign in a path, characters of
/// several bytes before a finding, line ends of Windows.
const AWKWARD: &[(&str, &[u8])] = &[
    (
        "src/a b%c,d.rs",
        "use redis::AsyncCommands;\r\n\r\npub async fn frei(conn: &mut redis::aio::ConnectionManager, wer: &str) -> \
         redis::RedisResult<()> {\r\n    let key = \"größe-lock:<1> & 'x'\"; let held: Option<String> = \
         conn.get(key).await?;\r\n    if held.as_deref() == Some(wer) {\r\n        /* Größe [1](2) */ conn.del::<_, \
         ()>(key).await?;\r\n    }\r\n    Ok(())\r\n}\r\n"
            .as_bytes(),
    ),
    ("migrations/1.sql", b"\xEF\xBB\xBFCREATE TABLE jobs (id BIGINT PRIMARY KEY, fencing_token BIGINT);\n-- Gr\xFC\n"),
];

fn awkward() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (path, bytes) in AWKWARD {
        let path = folder.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }
    folder
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn leaselint(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_leaselint")).args(arguments).current_dir(folder).output().unwrap()
}

fn report(folder: &Path, format: &str) -> String {
    let output = leaselint(folder, &["--format", format, "--pedantic"]);
    assert!(output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// A report with findings of both trees, and one without any.
fn each_tree(of: impl Fn(&Path, usize)) {
    let (awkward, empty) = (awkward(), tempfile::tempdir().unwrap());
    fs::write(empty.path().join("a.sql"), "SELECT 1;\n").unwrap();
    let trees: [PathBuf; 3] =
        [awkward.path().to_owned(), root().join("docs/session/before"), empty.path().to_owned()];
    let mut counts = Vec::new();
    for tree in trees {
        let findings: Value = serde_json::from_str(&report(&tree, "json")).unwrap();
        let count = findings["findings"].as_array().unwrap().len();
        counts.push(count);
        of(&tree, count);
    }
    assert!(counts[0] >= 2 && counts[1] >= 2 && counts[2] == 0, "{counts:?}");
}

fn schema(path: &str) -> Value {
    serde_json::from_str(&fs::read_to_string(root().join(path)).unwrap()).unwrap()
}

fn validator(schema: &Value) -> jsonschema::Validator {
    jsonschema::options().should_validate_formats(true).build(schema).unwrap()
}

fn assert_valid(validator: &jsonschema::Validator, value: &Value) {
    let errors: Vec<String> =
        validator.iter_errors(value).map(|error| format!("{}: {error}", error.instance_path())).collect();
    assert_eq!(errors, Vec::<String>::new());
}

#[test]
fn json_is_valid_by_its_schema() {
    let schema = validator(&schema("schemas/findings.schema.json"));
    each_tree(|tree, _| assert_valid(&schema, &serde_json::from_str(&report(tree, "json")).unwrap()));
}

#[test]
fn sarif_is_valid_by_the_schema_of_the_standard() {
    let mut standard = schema("tests/schemas/sarif-2.1.0.json");
    // This pattern, of fields that we do not write, has a bracket too many for all but lenient readers.
    for part in ["run", "toolComponent"] {
        let language = standard.pointer_mut(&format!("/definitions/{part}/properties/language")).unwrap();
        assert!(language.as_object_mut().unwrap().remove("pattern").is_some());
    }
    let schema = validator(&standard);
    each_tree(|tree, count| {
        let log: Value = serde_json::from_str(&report(tree, "sarif")).unwrap();
        assert_valid(&schema, &log);
        assert_eq!(log["runs"][0]["results"].as_array().unwrap().len(), count);
        let rules = log["runs"][0]["tool"]["driver"]["rules"].as_array().unwrap();
        for rule in rules {
            // The standard wants no name that is the id (3.49.3); Microsoft's validator reports one.
            assert_ne!(rule["id"], rule["name"]);
            // What GitHub refuses a file without.
            for field in ["/shortDescription/text", "/fullDescription/text", "/help/text"] {
                let text = rule.pointer(field).and_then(Value::as_str).unwrap();
                assert!(!text.is_empty(), "{field} of {}", rule["id"]);
                assert!(field.starts_with("/help") || text.chars().count() <= 1024);
            }
        }
        let json: Value = serde_json::from_str(&report(tree, "json")).unwrap();
        let findings = json["findings"].as_array().unwrap();
        for (result, finding) in log["runs"][0]["results"].as_array().unwrap().iter().zip(findings) {
            let index = usize::try_from(result["ruleIndex"].as_u64().unwrap()).unwrap();
            assert_eq!(rules[index]["id"], result["ruleId"]);
            assert!(result["partialFingerprints"]["leaselint/v1"].is_string());
            let location = &result["locations"][0]["physicalLocation"];
            for field in ["startLine", "startColumn", "endLine", "endColumn"] {
                assert!(location["region"][field].as_u64().unwrap() >= 1);
            }
            let uri = location["artifactLocation"]["uri"].as_str().unwrap();
            assert!(!uri.contains([' ', ',']) && !uri.starts_with('/'), "{uri}");
            let related = result["relatedLocations"].as_array().map_or(0, Vec::len);
            let steps = result["codeFlows"][0]["threadFlows"][0]["locations"].as_array();
            let wanted = match (finding["counterexample"].as_array().map_or(0, Vec::len), related) {
                (0, 0) => 0,
                (0, related) => related + 1,
                (run, _) => run,
            };
            assert_eq!(steps.map_or(0, Vec::len), wanted);
        }
    });
}

/// rust-analyzer reads lines with this crate, and columns as characters.
#[test]
fn rustc_lines_are_read_by_cargo_metadata() {
    each_tree(|tree, count| {
        let text = report(tree, "rustc");
        let messages: Vec<Message> =
            Message::parse_stream(text.as_bytes()).collect::<Result<_, _>>().unwrap();
        assert_eq!(messages.len(), count);
        for message in messages {
            let Message::CompilerMessage(message) = message else { panic!("{message:?}") };
            assert_eq!(message.package_id.repr, "leaselint");
            assert_spans(&message.message, tree);
        }
    });
}

fn assert_spans(diagnostic: &Diagnostic, tree: &Path) {
    assert!(matches!(
        diagnostic.level,
        DiagnosticLevel::Error | DiagnosticLevel::Warning | DiagnosticLevel::Note
    ));
    assert!(diagnostic.code.as_ref().unwrap().code.starts_with("leaselint::"));
    assert_eq!(diagnostic.spans.iter().filter(|span| span.is_primary).count(), 1);
    for span in &diagnostic.spans {
        assert!(span.label.as_ref().is_some_and(|label| !label.is_empty()));
        let bytes = fs::read(tree.join(&span.file_name)).unwrap();
        let Ok(file) = String::from_utf8(bytes) else { continue };
        let named = &file[span.byte_start as usize..span.byte_end as usize];
        let highlighted: Vec<String> = span
            .text
            .iter()
            .map(|line| {
                let wanted = line.highlight_end - line.highlight_start;
                line.text.chars().skip(line.highlight_start - 1).take(wanted).collect()
            })
            .collect();
        assert_eq!(named.lines().collect::<Vec<_>>(), highlighted, "{}", span.file_name);
    }
}

/// rust-analyzer shows nothing of a diagnostic whose primary place is in no Rust file.
#[test]
fn a_finding_in_sql_is_shown_at_the_rust_place_that_belongs_to_it() {
    let tree = tempfile::tempdir().unwrap();
    let write = |path: &str, text: &str| {
        let path = tree.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    write(
        "Cargo.toml",
        "[package]\nname = \"a\"\n[dependencies]\nsqlx = { version = \"0.8\", features = [\"postgres\"] }\n",
    );
    write(
        "migrations/1.sql",
        "CREATE TABLE jobs (id BIGINT PRIMARY KEY, state TEXT, fencing_token BIGINT NOT NULL);\n",
    );
    write("queries/done.sql", "UPDATE jobs SET state = 'done' WHERE id = $1;\n");
    write(
        "src/lib.rs",
        "pub async fn done(pool: &sqlx::PgPool, id: i64) -> sqlx::Result<()> {\n    \
         sqlx::query(include_str!(\"../queries/done.sql\")).bind(id).execute(pool).await?;\n    Ok(())\n}\n",
    );
    let text = report(tree.path(), "rustc");
    let messages: Vec<Message> = Message::parse_stream(text.as_bytes()).collect::<Result<_, _>>().unwrap();
    let of_sql = messages.iter().find_map(|message| match message {
        Message::CompilerMessage(m) if m.message.spans.iter().any(|s| s.file_name == "queries/done.sql") => {
            Some(&m.message)
        }
        _ => None,
    });
    let primary = of_sql.unwrap().spans.iter().find(|span| span.is_primary).unwrap();
    assert_eq!(primary.file_name, "src/lib.rs", "{text}");
}

#[test]
fn gitlab_gets_what_it_documents() {
    each_tree(|tree, count| {
        let issues: Vec<shapes::GitlabIssue> = serde_json::from_str(&report(tree, "gitlab")).unwrap();
        assert_eq!(issues.len(), count);
        let mut fingerprints = std::collections::BTreeSet::new();
        for issue in issues {
            assert!(!issue.description.is_empty());
            assert!(issue.location.positions.begin <= issue.location.positions.end);
            assert!(
                !Path::new(&issue.location.path).is_absolute(),
                "GitLab wants paths from the repository's root"
            );
            assert!(fingerprints.insert(issue.fingerprint), "GitLab shows only one of these");
        }
    });
}

#[test]
fn reviewdog_gets_what_it_documents() {
    each_tree(|tree, count| {
        let text = report(tree, "rdjson");
        let whole: shapes::ReviewdogReport = serde_json::from_str(&text).unwrap();
        assert_eq!(whole.diagnostics.len(), count);
        for diagnostic in &whole.diagnostics {
            assert!(!diagnostic.message.is_empty());
            assert!(diagnostic.location.range.start <= diagnostic.location.range.end);
        }
        let whole: Value = serde_json::from_str(&text).unwrap();
        let lines = report(tree, "rdjsonl");
        assert_eq!(lines.lines().count(), count);
        for (text, other) in lines.lines().zip(whole["diagnostics"].as_array().unwrap()) {
            let alone: shapes::ReviewdogDiagnostic = serde_json::from_str(text).unwrap();
            assert_eq!(alone.source.unwrap().name, "leaselint");
            let one: Value = serde_json::from_str(text).unwrap();
            assert_eq!(one["location"], other["location"]);
            assert_byte_columns(&one, tree);
        }
    });
}

/// A column that counts bytes leads to the start of a character.
fn assert_byte_columns(diagnostic: &Value, tree: &Path) {
    let location = &diagnostic["location"];
    let Ok(text) = fs::read_to_string(tree.join(location["path"].as_str().unwrap())) else { return };
    let text = text.trim_start_matches('\u{feff}');
    let place =
        |end: &str, part: &str| usize::try_from(location["range"][end][part].as_u64().unwrap()).unwrap();
    if place("start", "line") == place("end", "line") {
        let line = text.lines().nth(place("start", "line") - 1).unwrap();
        let marked = &line[place("start", "column") - 1..place("end", "column") - 1];
        assert_eq!(marked.trim(), marked);
    }
}

#[test]
fn junit_is_read_by_the_parser_of_a_test_runner() {
    each_tree(|tree, count| {
        let text = report(tree, "junit");
        let parsed = quick_junit::Report::deserialize_from_str(&text).unwrap();
        assert_eq!((parsed.tests, parsed.failures), (count.max(1), count));
        let failed = |case: &&quick_junit::TestCase| {
            matches!(case.status, quick_junit::TestCaseStatus::NonSuccess { .. })
        };
        let cases: Vec<_> = parsed.test_suites.iter().flat_map(|suite| &suite.test_cases).collect();
        assert_eq!(cases.len(), count.max(1), "a run without findings shows that it was one");
        assert_eq!(cases.iter().filter(|case| failed(case)).count(), count);
    });
}

#[test]
fn checkstyle_is_xml_with_an_error_for_each_finding() {
    each_tree(|tree, count| {
        let text = report(tree, "checkstyle");
        let document = roxmltree::Document::parse(&text).unwrap();
        let errors: Vec<_> = document.descendants().filter(|node| node.has_tag_name("error")).collect();
        assert_eq!(errors.len(), count);
        for error in errors {
            let path = error.parent().and_then(|file| file.attribute("name")).unwrap();
            assert!(tree.join(path).is_file(), "{path}");
            assert!(["error", "warning", "info"].contains(&error.attribute("severity").unwrap()));
            assert!(error.attribute("line").unwrap().parse::<u32>().unwrap() >= 1);
        }
    });
}

#[test]
fn concise_and_github_have_a_line_for_each_finding() {
    each_tree(|tree, count| {
        let concise = report(tree, "concise");
        assert_eq!(concise.lines().count(), count, "{concise}");
        let github = report(tree, "github");
        assert_eq!(github.lines().count(), count, "{github}");
        assert!(github.lines().all(|line| line.starts_with("::") && line.contains(",title=leaselint (")));
    });
}

const FORMATS: [&str; 11] = [
    "human",
    "concise",
    "json",
    "sarif",
    "rustc",
    "github",
    "gitlab",
    "rdjson",
    "rdjsonl",
    "junit",
    "checkstyle",
];

#[test]
fn the_exit_code_is_the_same_in_every_format_and_all_fit_into_one_run() {
    let tree = awkward();
    let outputs: Vec<String> = FORMATS.iter().map(|format| format!("{format}=out/{format}")).collect();
    fs::create_dir(tree.path().join("out")).unwrap();
    let mut arguments = vec!["--color", "never", "--format", "concise"];
    arguments.extend(outputs.iter().flat_map(|output| ["--output", output.as_str()]));
    let all = leaselint(tree.path(), &arguments);
    assert_eq!(all.status.code(), Some(1), "{}", String::from_utf8_lossy(&all.stderr));
    for format in FORMATS {
        let alone = leaselint(tree.path(), &["--format", format, "--color", "never"]);
        assert_eq!(alone.status.code(), Some(1), "{format}");
        assert_eq!(fs::read(tree.path().join("out").join(format)).unwrap(), alone.stdout, "{format}");
    }
    assert_eq!(fs::read_dir(tree.path().join("out")).unwrap().count(), FORMATS.len());
}

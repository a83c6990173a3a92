//! The front end as a whole: what comes out of a text, good or bad.

use super::*;
use crate::facts::sql::*;

fn one(text: &str, dialect: Dialect) -> Statement {
    let mut found = parse(text, dialect);
    assert_eq!(found.statements.len(), 1, "{text}: {found:?}");
    found.statements.remove(0)
}

fn write(text: &str, dialect: Dialect) -> Write {
    match one(text, dialect).kind {
        StatementKind::Write(write) => *write,
        other => panic!("{text}: {other:?}"),
    }
}

#[test]
fn an_update_keeps_its_parts_and_their_places() {
    let text = "\u{feff}-- é\r\nUPDATE q.jobs j SET body = $1, fence = $2 WHERE j.id = $3 AND j.fence < $2";
    let found = one(text, Dialect::Postgres);
    assert!(found.parsed);
    let StatementKind::Write(write) = &found.kind else { panic!("{found:?}") };
    assert_eq!(write.verb, WriteVerb::Update);
    assert_eq!(write.table, TableName { schema: Some("q".into()), name: "jobs".into() });
    assert_eq!(write.alias.as_deref(), Some("j"));
    let slice = |s: crate::facts::Span| &text[s.start as usize..s.end as usize];
    assert_eq!(slice(write.table_span), "q.jobs");
    assert_eq!(slice(write.assignments[1].span), "fence = $2");
    let Some(Expr { kind: ExprKind::And(parts), .. }) = &write.predicate else { panic!("{write:?}") };
    assert_eq!(slice(parts[1].span), "j.fence < $2");
}

#[test]
fn question_marks_are_numbered_by_their_place() {
    let found = write("UPDATE a SET b = ?, c = '?' WHERE d = ? AND e < ?", Dialect::MySql);
    let Some(Expr { kind: ExprKind::And(parts), .. }) = &found.predicate else { panic!() };
    let ExprKind::Compare { right, .. } = &parts[1].kind else { panic!() };
    assert_eq!(right.kind, ExprKind::Bind(Bind::Position(3)));
    let named = write("UPDATE a SET b = :b WHERE c < :tok", Dialect::MySql);
    assert_eq!(named.assignments[0].value.kind, ExprKind::Bind(Bind::Name("b".into())));
}

#[test]
fn upserts_of_three_dialects() {
    let pg = write(
        "INSERT INTO a (b, c) VALUES ($1, $2) ON CONFLICT (b) WHERE c > 1 DO UPDATE SET c = EXCLUDED.c WHERE a.c < EXCLUDED.c",
        Dialect::Postgres,
    );
    assert_eq!(pg.verb, WriteVerb::Upsert);
    assert!(pg.predicate.is_some() && pg.conflict_predicate.is_some());
    let my = write(
        "INSERT INTO a (b, c) VALUES (?, ?) AS n ON DUPLICATE KEY UPDATE c = IF(c < n.c, n.c, c)",
        Dialect::MySql,
    );
    assert_eq!(my.verb, WriteVerb::DuplicateKeyUpdate);
    let ExprKind::Call { name, args } = &my.assignments[0].value.kind else { panic!() };
    assert_eq!(name, "if");
    assert_eq!(args[1].kind, ExprKind::InsertedValue { column: "c".into() });
    let my = write("INSERT INTO a (b) VALUES (?) ON DUPLICATE KEY UPDATE b = VALUES(b)", Dialect::MySql);
    assert_eq!(my.assignments[0].value.kind, ExprKind::InsertedValue { column: "b".into() });
    assert_eq!(write("INSERT OR REPLACE INTO a (b) VALUES (?1)", Dialect::Sqlite).verb, WriteVerb::Replace);
    assert_eq!(write("REPLACE INTO a (b) VALUES (?)", Dialect::MySql).verb, WriteVerb::Replace);
    assert_eq!(
        write("INSERT INTO a (b) VALUES (1) ON CONFLICT DO NOTHING", Dialect::Postgres).verb,
        WriteVerb::Insert
    );
}

#[test]
fn common_table_expressions_hold_writes_and_locks() {
    let found = write(
        "WITH ok AS (SELECT id FROM a WHERE t < $1 FOR UPDATE SKIP LOCKED) UPDATE a SET b = 1 FROM ok WHERE a.id = ok.id",
        Dialect::Postgres,
    );
    let CteBody::Select(select) = &found.ctes[0].body else { panic!() };
    assert!(select.locks_rows && select.skip_locked && select.predicate.is_some());
    assert_eq!(found.sources.len(), 1);
    let found = write(
        "WITH m AS (UPDATE a SET b = 1 RETURNING id) INSERT INTO l SELECT id FROM m",
        Dialect::Postgres,
    );
    assert!(matches!(&found.ctes[0].body, CteBody::Write(w) if w.returning == Some(vec!["id".to_owned()])));
    let found = write(
        "MERGE INTO a USING s ON a.id = s.id WHEN MATCHED AND a.t < s.t THEN UPDATE SET b = s.b WHEN NOT MATCHED THEN INSERT (id) VALUES (s.id)",
        Dialect::Postgres,
    );
    assert_eq!(found.verb, WriteVerb::Merge);
    assert!(found.predicate.is_some());
}

#[test]
fn holes_stand_for_names_and_values() {
    let found = write("UPDATE {}_{shard} SET b = {} WHERE c < {value} AND d = '{e}'", Dialect::Postgres);
    assert_eq!(found.table.name, "{}_{shard}");
    assert_eq!(found.assignments[0].value.kind, ExprKind::Hole);
    let found = write("update :SCHEMA.jobs set a = 1 where b < $1", Dialect::Postgres);
    assert_eq!(found.table.name, "jobs");
    let found = one("UPDATE a SET {assignments}", Dialect::Postgres);
    assert!(!found.parsed, "{found:?}");
}

#[test]
fn tables_and_their_changes() {
    let found = one(
        "CREATE TABLE IF NOT EXISTS a (id BIGINT UNSIGNED NOT NULL PRIMARY KEY, t BIGINT NOT NULL DEFAULT 0, n TEXT, UNIQUE (n), KEY k (t)) ENGINE=InnoDB",
        Dialect::MySql,
    );
    let StatementKind::CreateTable(table) = found.kind else { panic!() };
    assert_eq!(table.primary_key, ["id"]);
    assert_eq!(table.unique.iter().map(|key| &key.columns[..]).collect::<Vec<_>>(), [["n"]]);
    assert_eq!((table.columns[1].not_null, table.columns[1].default.as_deref()), (true, Some("0")));
    assert_eq!(table.columns[0].data_type, "bigint unsigned");
    let found = one(
        "ALTER TABLE a ADD COLUMN t BIGINT, DROP COLUMN u, ALTER COLUMN t SET NOT NULL",
        Dialect::Postgres,
    );
    let StatementKind::AlterTable(alter) = found.kind else { panic!() };
    assert_eq!(alter.changes.len(), 3);
    let found =
        one("CREATE TABLE a (id BIGINT, CONSTRAINT x NOT NULL id, t INT NOT NULL ,)", Dialect::Postgres);
    assert!(found.parsed);
}

#[test]
fn triggers_say_what_they_refuse() {
    let text = "CREATE FUNCTION f() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN \
                IF TG_OP = 'UPDATE' AND NEW.t <= OLD.t THEN RAISE EXCEPTION 'stale'; END IF; \
                NEW.v := OLD.v + 1; UPDATE log SET n = n + 1 WHERE id = NEW.id; RETURN NEW; END $$";
    let StatementKind::CreateFunction(routine) = one(text, Dialect::Postgres).kind else { panic!() };
    assert_eq!(routine.refuses_stale, ["t"]);
    assert!(routine.tolerates_equal.is_empty());
    assert_eq!(routine.advances, ["v"]);
    assert_eq!(routine.body.len(), 1);
    for (text, dialect, equal) in [
        (
            "CREATE TRIGGER x BEFORE UPDATE OF t ON a WHEN NEW.t <= OLD.t BEGIN SELECT RAISE(ABORT, 'old'); END",
            Dialect::Sqlite,
            false,
        ),
        (
            "CREATE TRIGGER x BEFORE UPDATE ON a BEGIN SELECT RAISE(ABORT, 'old') WHERE NEW.t < OLD.t; END",
            Dialect::Sqlite,
            true,
        ),
        (
            "CREATE TRIGGER x BEFORE UPDATE ON a BEGIN SELECT CASE WHEN OLD.t >= NEW.t THEN RAISE(FAIL, 'old') END; END",
            Dialect::Sqlite,
            false,
        ),
        (
            "CREATE TRIGGER x BEFORE UPDATE ON a FOR EACH ROW BEGIN IF NOT (NEW.t > OLD.t) THEN SIGNAL SQLSTATE '45000'; END IF; END",
            Dialect::MySql,
            false,
        ),
        (
            "CREATE TRIGGER x BEFORE UPDATE ON a FOR EACH ROW WHEN (NEW.t <= OLD.t) EXECUTE FUNCTION refuse()",
            Dialect::Postgres,
            false,
        ),
    ] {
        let StatementKind::CreateTrigger(trigger) = one(text, dialect).kind else { panic!("{text}") };
        assert!(trigger.before_update);
        assert_eq!(trigger.refuses_stale, ["t"], "{text}");
        assert_eq!(!trigger.tolerates_equal.is_empty(), equal, "{text}");
    }
    let harmless = "CREATE TRIGGER x BEFORE UPDATE ON a FOR EACH ROW BEGIN IF NEW.t <= OLD.t THEN SET NEW.u = 1; END IF; END";
    let StatementKind::CreateTrigger(trigger) = one(harmless, Dialect::MySql).kind else { panic!() };
    assert!(trigger.refuses_stale.is_empty());
}

#[test]
fn a_broken_statement_hides_no_neighbour() {
    let text = "CREATE TABLE a (t BIGINT);\nUPDATE a SET SET WHERE;\nALTER SEQUENCE s OWNED BY a.t;\nDELETE FROM a WHERE t < 1;";
    let found = parse(text, Dialect::Postgres).statements;
    assert_eq!(found.len(), 4);
    assert_eq!(found.iter().map(|s| s.parsed).collect::<Vec<_>>(), [true, false, true, true]);
}

#[test]
fn repairs_read_what_the_grammar_lacks() {
    for text in [
        "SELECT id FROM a WHERE t < $1 FOR NO KEY UPDATE",
        "SELECT id FROM a WHERE t < $1 FOR KEY SHARE",
        "DROP TABLE IF EXISTS a",
        "CREATE UNIQUE INDEX CONCURRENTLY IF NOT EXISTS i ON a (b) STORING (c)",
        "UPDATE a SET b = 1 WHERE c = 2 RETURNING b, c INTO v_b, v_c",
        "INSERT INTO a SELECT $1, unnest($2) ON CONFLICT (b) DO UPDATE SET c = EXCLUDED.c WHERE a.t < EXCLUDED.t",
    ] {
        assert!(one(text, Dialect::Postgres).parsed, "{text}");
    }
    let upsert = write(
        "INSERT INTO a SELECT $1, unnest($2) ON CONFLICT (b) DO UPDATE SET c = 1 WHERE a.t < 5",
        Dialect::Postgres,
    );
    let predicate = upsert.predicate.unwrap();
    let text = "INSERT INTO a SELECT $1, unnest($2) ON CONFLICT (b) DO UPDATE SET c = 1 WHERE a.t < 5";
    assert_eq!(&text[predicate.span.start as usize..predicate.span.end as usize], "a.t < 5");
}

#[test]
fn hostile_text_neither_hangs_nor_crashes() {
    let row = "(1, 'a;b', -2.5e3, NULL),\n";
    let data = format!("INSERT INTO a VALUES {}(2);\nUPDATE b SET c = 1 WHERE d = 2;", row.repeat(400_000));
    assert!(data.len() > 10_000_000);
    assert_eq!(parse(&data, Dialect::Postgres).statements.len(), 2);
    for text in [
        format!("SELECT {}1{} FROM a; DELETE FROM b", "(".repeat(100_000), ")".repeat(100_000)),
        format!("DELETE FROM a WHERE {} b = 1", "c = 1 AND ".repeat(50_000)),
        format!("DELETE FROM a WHERE b = 1{}", " + 1".repeat(50_000)),
        format!("DELETE FROM a WHERE b{}", "::int".repeat(50_000)),
        format!("DELETE FROM a WHERE {} b", "NOT ".repeat(50_000)),
        format!("DELETE FROM a WHERE b{}", " IS NULL".repeat(1_900)),
        format!("SELECT 1 {}", "UNION SELECT 1 ".repeat(50_000)),
        format!("UPDATE a SET b = {}1{}", "CASE WHEN c THEN ".repeat(900), " END".repeat(900)),
        "/* ;\n".repeat(100_000),
        "$a$ ;\n".repeat(100_001),
        "CREATE TRIGGER t BEGIN ;\n".repeat(20_000),
        "{".repeat(100_000),
        format!("CREATE FUNCTION f() RETURNS trigger AS $$ BEGIN {} END $$", "IF a ".repeat(20_000)),
        format!(
            "CREATE TRIGGER t BEFORE UPDATE ON a BEGIN {} END",
            "SELECT RAISE(ABORT) WHERE x ".repeat(5_000)
        ),
        format!("CREATE FUNCTION f() RETURNS trigger AS $$ {} $$", "BEGIN UPDATE a SET b = 1 ".repeat(5_000)),
        "\\\n'".to_owned(),
        "\0\u{fffd};;;".to_owned(),
    ] {
        for dialect in [Dialect::Postgres, Dialect::MySql] {
            parse(&text, dialect);
        }
        looks_like_statement(&text);
    }
    assert_eq!(parse("", Dialect::Generic), SqlText::default());
}

#[test]
fn question_marks_are_no_parameters_of_postgres() {
    assert!(super::has_question_marks("UPDATE t SET a = ? WHERE b = 'what?'"));
    assert!(!super::has_question_marks("UPDATE t SET a = $1 WHERE tags ? $2"));
    assert!(!super::has_question_marks("UPDATE t SET a = 'what?'"));
    assert!(!super::has_question_marks("UPDATE t SET a = ?1"));
}

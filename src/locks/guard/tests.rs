//! One table of statements and the verdict on each.

use super::*;
use crate::facts::sql::{CteBody, StatementKind};

/// `t` is the token of table `a`; `l` and `leases` have tokens of their own.
fn verdict(sql: &str, dialect: Dialect) -> Verdict {
    let text = crate::sql::parse(sql, dialect);
    assert!(text.statements.len() == 1 && text.statements[0].parsed, "{sql}");
    let StatementKind::Write(write) = &text.statements[0].kind else { panic!("{sql}") };
    let has_column = |table: &TableName, column: &str| match table.name.as_str() {
        "a" => Some(["id", "x", "y", "t", "updated_at"].contains(&column)),
        "l" => Some(["name", "fencing_token"].contains(&column)),
        _ => None,
    };
    let nested = write.ctes.iter().find_map(|c| match &c.body {
        CteBody::Write(w) if write.table.name != "a" && w.table.name == "a" => Some(&**w),
        _ => None,
    });
    let write = nested.unwrap_or(write);
    judge(Question { write, dialect, column: "t", outer_ctes: &[], has_column: &has_column })
}

fn says(sql: &str, dialect: Dialect) -> String {
    match verdict(sql, dialect) {
        Verdict::Guarded(g) => format!("{:?}", g.how),
        Verdict::Loose(l) => format!("{:?}", l.reason),
        Verdict::Absent => "Absent".to_owned(),
    }
}

#[test]
fn predicates() {
    for (predicate, expected) in [
        ("id = $1 AND t < $2", "Less"),
        ("id = $1 AND $2 > a.t", "Less"),
        ("t <= $2", "LessOrEqual"),
        ("t < $2 + 1", "LessOrEqual"),
        ("t <= $2 - 1", "Less"),
        ("t + 1 <= $2", "Less"),
        ("t + 1 = $2", "Equal"),
        ("t = $2", "Equal"),
        ("t IS NOT DISTINCT FROM $2", "Equal"),
        ("t = ANY($2)", "Equal"),
        ("t IN ($2)", "Equal"),
        ("(id, t) = ($1, $2)", "Equal"),
        ("t IS NULL OR t < $2", "Less"),
        ("COALESCE(t, 0) < $2", "Less"),
        ("COALESCE(t < $2, true)", "Less"),
        ("GREATEST(t, $2) = $2", "LessOrEqual"),
        ("t BETWEEN 0 AND $2", "LessOrEqual"),
        ("NOT (t >= $2)", "Less"),
        ("NOT (t >= $2 OR x = 1)", "Less"),
        ("t < $2 OR (t = $2 AND x = $3)", "Equal"),
        ("t::bigint < $2::bigint", "Less"),
        ("t < CAST($2 AS BIGINT)", "Less"),
        ("CASE WHEN t < $2 THEN true ELSE false END", "Less"),
        ("t < (SELECT token FROM leases WHERE name = $3)", "Less"),
        ("t < {token}", "Less"),
        ("id = $1", "Absent"),
        ("x < $2", "Absent"),
        ("t > $2", "WrongWay"),
        ("$2 <= t", "WrongWay"),
        ("t <> $2", "NotEqual"),
        ("t NOT IN ($2)", "NotEqual"),
        ("t IS DISTINCT FROM $2", "NotEqual"),
        ("NOT (t < $2)", "WrongWay"),
        ("t < t + 1", "Itself"),
        ("t = t", "Itself"),
        ("t < 99999", "Constant"),
        ("id = $1 AND (t < $2 OR x = $3)", "OrAround"),
        ("id = $1 AND t < $2 OR x = $3", "OrAround"),
        ("id = $1 AND (t < $2 OR $4::bool)", "OrAround"),
        ("NOT (t >= $2 AND x = 1)", "OrAround"),
        ("CASE WHEN t < $2 THEN true ELSE x = 1 END", "OrAround"),
        ("EXISTS (SELECT 1 FROM a b WHERE b.t < $2)", "Uncorrelated"),
        ("EXISTS (SELECT 1 FROM a b WHERE b.id = a.id AND b.t < $2)", "Unlocked"),
        ("EXISTS (SELECT 1 FROM a b WHERE b.id = a.id AND b.t < $2 FOR UPDATE)", "Less"),
        ("id = $1 AND EXISTS (SELECT 1 FROM a b WHERE b.id = $1 AND b.t < $2)", "Unlocked"),
        ("id IN (SELECT id FROM a WHERE t < $2 FOR UPDATE)", "Less"),
        ("id = (SELECT id FROM a WHERE t < $2)", "Unlocked"),
        ("id = (SELECT id FROM a WHERE t < $2 FOR UPDATE)", "Less"),
        ("CASE WHEN t < $2 THEN 1 ELSE 0 END = 1", "Less"),
        ("CASE WHEN t < $2 THEN 'new' WHEN x = 1 THEN 'own' ELSE 'old' END <> 'old'", "OrAround"),
        ("id = $1 AND (SELECT token FROM fences WHERE name = $3 FOR SHARE) <= $2", "OtherRow"),
        ("id = $1 AND $2 = (SELECT token FROM fences WHERE name = $3)", "UnlockedOther"),
        ("EXISTS (SELECT 1 FROM leases WHERE name = $1 AND fencing_token = $2 FOR SHARE)", "OtherRow"),
        ("EXISTS (SELECT 1 FROM leases WHERE name = $1 AND fencing_token = $2)", "UnlockedOther"),
        ("EXISTS (SELECT 1 FROM leases WHERE name = $1)", "Absent"),
    ] {
        for verb in ["UPDATE a SET x = 1 WHERE", "DELETE FROM a WHERE"] {
            assert_eq!(
                says(&format!("{verb} {predicate}"), Dialect::Postgres),
                expected,
                "{verb} {predicate}"
            );
        }
    }
}

#[test]
fn sources_and_ctes() {
    for (sql, expected) in [
        (
            "WITH ok AS (SELECT id FROM a WHERE id = $1 AND t < $2 FOR UPDATE) UPDATE a r SET x = 1 FROM ok WHERE r.id = ok.id",
            "Less",
        ),
        (
            "WITH ok AS (SELECT id FROM a WHERE id = $1 AND t < $2) UPDATE a r SET x = 1 FROM ok WHERE r.id = ok.id",
            "Unlocked",
        ),
        (
            "WITH ok AS (SELECT id FROM a WHERE t < $2 FOR UPDATE) UPDATE a r SET x = 1 FROM ok WHERE r.id = $1",
            "Uncorrelated",
        ),
        ("UPDATE a SET x = 1 FROM (SELECT id FROM a WHERE t < $2 FOR UPDATE) s WHERE a.id = s.id", "Less"),
        (
            "WITH ok AS (SELECT id FROM a WHERE t < $2 FOR UPDATE) DELETE FROM a USING ok WHERE a.id = ok.id",
            "Less",
        ),
        (
            "WITH f AS (UPDATE fences SET token = $2 WHERE name = $3 AND token < $2 RETURNING name) UPDATE a SET x = 1 FROM f WHERE a.id = $1",
            "OtherRow",
        ),
        (
            "WITH f AS (UPDATE fences SET token = $2 WHERE name = $3 AND token < $2 RETURNING 1) UPDATE a SET x = 1 WHERE id = $1 AND EXISTS (SELECT 1 FROM f)",
            "OtherRow",
        ),
        (
            "WITH f AS (UPDATE fences SET token = $2 WHERE name = $3 RETURNING 1) UPDATE a SET x = 1 WHERE id = $1 AND EXISTS (SELECT 1 FROM f)",
            "Absent",
        ),
        ("UPDATE a SET x = 1 FROM l WHERE a.id = l.id AND l.t < $2", "OtherTable"),
        ("UPDATE a SET x = v.x FROM (VALUES ($1, $2)) AS v(id, t) WHERE a.id = v.id AND a.t < v.t", "Less"),
        (
            "WITH m AS (UPDATE a n SET x = 1, t = $2 WHERE n.id = $1 AND $2 > n.t RETURNING n.id) INSERT INTO log (id) SELECT id FROM m",
            "Less",
        ),
        ("MERGE INTO a USING s ON a.id = s.id WHEN MATCHED AND a.t < s.t THEN UPDATE SET x = s.x", "Less"),
        ("MERGE INTO a USING s ON a.id = s.id AND a.t < s.t WHEN MATCHED THEN UPDATE SET x = s.x", "Less"),
        (
            "MERGE INTO a USING s ON a.id = s.id AND a.t < s.t WHEN MATCHED THEN UPDATE SET x = s.x WHEN NOT MATCHED THEN INSERT (id, x, t) VALUES (s.id, s.x, s.t)",
            "MergeOn",
        ),
        (
            "MERGE INTO a USING s ON a.id = s.id WHEN MATCHED AND a.t < s.t THEN UPDATE SET x = s.x WHEN MATCHED THEN DELETE",
            "Absent",
        ),
    ] {
        assert_eq!(says(sql, Dialect::Postgres), expected, "{sql}");
    }
}

#[test]
fn upserts() {
    let upsert = "INSERT INTO a (id, x, t) VALUES ($1, $2, $3) ON CONFLICT (id)";
    for (rest, expected) in [
        ("DO UPDATE SET x = EXCLUDED.x, t = EXCLUDED.t", "Absent"),
        ("DO UPDATE SET x = EXCLUDED.x, t = EXCLUDED.t WHERE a.t < EXCLUDED.t", "Less"),
        ("DO UPDATE SET x = EXCLUDED.x WHERE EXCLUDED.t >= a.t", "LessOrEqual"),
        ("DO UPDATE SET x = EXCLUDED.x WHERE EXCLUDED.t < a.t", "WrongWay"),
        ("WHERE t < 5 DO UPDATE SET x = EXCLUDED.x", "ConflictTarget"),
        ("DO UPDATE SET x = EXCLUDED.x, t = GREATEST(a.t, EXCLUDED.t)", "SetOnly"),
        (
            "DO UPDATE SET t = GREATEST(a.t, EXCLUDED.t), x = CASE WHEN a.t < EXCLUDED.t THEN EXCLUDED.x ELSE a.x END",
            "Less",
        ),
        ("DO UPDATE SET x = CASE WHEN a.t >= EXCLUDED.t THEN a.x ELSE EXCLUDED.x END", "Less"),
        ("DO UPDATE SET x = CASE WHEN a.t < EXCLUDED.t THEN EXCLUDED.x ELSE 0 END", "Absent"),
    ] {
        assert_eq!(says(&format!("{upsert} {rest}"), Dialect::Postgres), expected, "{rest}");
    }
    let duplicate = "INSERT INTO a (id, x, t) VALUES (?, ?, ?) AS n ON DUPLICATE KEY UPDATE";
    for (rest, expected) in [
        ("x = n.x, t = n.t", "Absent"),
        ("x = IF(a.t < n.t, n.x, a.x), t = GREATEST(a.t, n.t)", "Less"),
        ("x = IF(t < VALUES(t), VALUES(x), x), t = IF(t < VALUES(t), VALUES(t), t)", "Less"),
        ("t = GREATEST(a.t, n.t), x = IF(a.t < n.t, n.x, a.x)", "SetBeforeCompared"),
        ("t = GREATEST(a.t, n.t), x = IF(a.t <= n.t, n.x, a.x)", "LessOrEqual"),
        ("t = n.t, x = IF(a.t <= n.t, n.x, a.x)", "SetBeforeCompared"),
        ("x = IF(a.t < n.t, n.x, a.x), y = n.y, t = n.t", "SomeAssignments"),
        ("x = n.x, t = GREATEST(a.t, n.t)", "SetOnly"),
        ("x = IF(a.t >= n.t, x, n.x), updated_at = NOW(), t = GREATEST(t, n.t)", "Less"),
    ] {
        assert_eq!(says(&format!("{duplicate} {rest}"), Dialect::MySql), expected, "{rest}");
    }
    assert_eq!(says("REPLACE INTO a (id, t) VALUES (?, ?)", Dialect::MySql), "Absent");
}

#[test]
fn what_becomes_of_the_token() {
    let text = crate::sql::parse("UPDATE a SET t = t + 1, x = $1, y = y", Dialect::Postgres);
    let StatementKind::Write(write) = &text.statements[0].kind else { panic!() };
    assert!(matches!(new_token(write, "T"), NewToken::Raised(_)));
    assert!(matches!(new_token(write, "x"), NewToken::Given(_)));
    assert_eq!(new_token(write, "y"), NewToken::Kept);
    assert_eq!(new_token(write, "z"), NewToken::Kept);
}

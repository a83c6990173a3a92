//! Forms of writes that the guard logic has a verdict on, and the little schema that they run in.
//!
//! `a` holds the row that is fenced (`t` is its token, `x` some state), `keyless` the same without a key, `leases` and `fences` the token of a
//! lock. In a form `$1` is the row's id, `$2` the token that the writer presents, `$3` the row's present `x`,
//! `$4` a flag that is true, `$5` the lock's name. A write that got through sets `y` to 99 or deletes the row.

use leaselint::facts::sql::Dialect;

/// The tokens that the row, the lock's lease and its fence stand at.
#[derive(Clone, Copy)]
pub struct World {
    pub row: i64,
    pub lease: i64,
    pub fence: i64,
}

/// Statements that put the tables into that state.
pub fn reset(World { row, lease, fence }: World) -> String {
    format!(
        "DELETE FROM a; DELETE FROM keyless; DELETE FROM leases; DELETE FROM fences; DELETE FROM l;\n\
         INSERT INTO a (id, x, y, t) VALUES (1, 7, 0, {row}), (2, 8, 0, 0);\n\
         INSERT INTO keyless (id, x, y, t) VALUES (1, 7, 0, {row});\n\
         INSERT INTO leases (name, fencing_token) VALUES ('lock', {lease}), ('other', 0);\n\
         INSERT INTO fences (name, token) VALUES ('lock', {fence}), ('other', 0);\n\
         INSERT INTO l (id, t) VALUES (1, 0), (2, 0);\n"
    )
}

pub const SCHEMA: &str = "
CREATE TABLE a (id BIGINT PRIMARY KEY, x BIGINT, y BIGINT, t BIGINT, updated_at TIMESTAMP NULL);
CREATE TABLE keyless (id BIGINT, x BIGINT, y BIGINT, t BIGINT);
CREATE TABLE leases (name VARCHAR(40) PRIMARY KEY, fencing_token BIGINT NOT NULL);
CREATE TABLE fences (name VARCHAR(40) PRIMARY KEY, token BIGINT NOT NULL);
CREATE TABLE l (id BIGINT PRIMARY KEY, t BIGINT NOT NULL);
";

/// Whether the write of row 1 has happened: 1 or 0.
pub const WRITTEN: &str = "SELECT CASE WHEN EXISTS (SELECT 1 FROM a WHERE id = 1 AND y <> 99) \
                           AND NOT EXISTS (SELECT 1 FROM keyless WHERE y = 99) THEN 0 ELSE 1 END;";

pub fn columns_of(table: &str) -> Option<&'static [&'static str]> {
    match table {
        "a" | "keyless" => Some(&["id", "x", "y", "t", "updated_at"]),
        "leases" => Some(&["name", "fencing_token"]),
        "fences" => Some(&["name", "token"]),
        "l" => Some(&["id", "t"]),
        _ => None,
    }
}

/// Every form for one kind of server.
pub fn of(dialect: Dialect) -> Vec<String> {
    let mut predicates = PREDICATES.to_vec();
    let statements = match dialect {
        Dialect::Postgres => {
            predicates.extend(POSTGRES_PREDICATES);
            [POSTGRES, ON_CONFLICT].concat()
        }
        Dialect::MySql => {
            predicates.extend(MARIADB_PREDICATES);
            MARIADB.to_vec()
        }
        _ => [SQLITE, ON_CONFLICT].concat(),
    };
    let updates = predicates.iter().map(|p| format!("UPDATE a SET y = 99, t = $2 WHERE {p}"));
    // MariaDB knows no `DELETE FROM a WHERE … (SELECT … FROM a)`, which the sub-queries here are.
    let deletes =
        predicates.iter().filter(|p| !p.contains("SELECT")).map(|p| format!("DELETE FROM a WHERE {p}"));
    updates.chain(deletes).chain(statements.iter().map(|s| (*s).to_owned())).collect()
}

const PREDICATES: &[&str] = &[
    "id = $1 AND t < $2",
    "id = $1 AND $2 > a.t",
    "id = $1 AND t <= $2",
    "id = $1 AND t < $2 + 1",
    "id = $1 AND t <= $2 - 1",
    "id = $1 AND t + 1 <= $2",
    "id = $1 AND t = $2",
    "id = $1 AND t IN ($2)",
    "(id, t) = ($1, $2)",
    "id = $1 AND (t IS NULL OR t < $2)",
    "id = $1 AND COALESCE(t, 0) < $2",
    "id = $1 AND t BETWEEN 0 AND $2",
    "id = $1 AND NOT (t >= $2)",
    "id = $1 AND NOT (t >= $2 OR x = 1)",
    "id = $1 AND (t < $2 OR (t = $2 AND x = $3))",
    "id = $1 AND t < CAST($2 AS DECIMAL)",
    "id = $1 AND CASE WHEN t < $2 THEN 1 ELSE 0 END = 1",
    "id = $1",
    "id = $1 AND x < $2",
    "id = $1 AND t > $2",
    "id = $1 AND $2 <= t",
    "id = $1 AND t <> $2",
    "id = $1 AND t NOT IN ($2)",
    "id = $1 AND NOT (t < $2)",
    "id = $1 AND t < t + 1",
    "id = $1 AND t = t",
    "id = $1 AND t < 99999",
    "id = $1 AND (t < $2 OR x = $3)",
    "id = $1 AND t < $2 OR x = $3",
    "id = $1 AND (t < $2 OR $4)",
    "id = $1 AND NOT (t >= $2 AND x = 1)",
    "EXISTS (SELECT 1 FROM leases WHERE name = $5 AND fencing_token = $2)",
    "id = $1 AND EXISTS (SELECT 1 FROM leases WHERE name = $5)",
];

const POSTGRES_PREDICATES: &[&str] = &[
    "id = $1 AND t IS NOT DISTINCT FROM $2",
    "id = $1 AND t IS DISTINCT FROM $2",
    "id = $1 AND t = ANY(ARRAY[$2])",
    "id = $1 AND COALESCE(t < $2, true)",
    "id = $1 AND GREATEST(t, $2) = $2",
    "id = $1 AND t::bigint < $2::bigint",
    "id = $1 AND CASE WHEN t < $2 THEN true ELSE false END",
    "id = $1 AND CASE WHEN t < $2 THEN true ELSE x = $3 END",
    "EXISTS (SELECT 1 FROM a b WHERE b.t < $2)",
    "EXISTS (SELECT 1 FROM a b WHERE b.id = a.id AND b.t < $2)",
    "id = $1 AND EXISTS (SELECT 1 FROM a b WHERE b.id = $1 AND b.t < $2)",
    "id IN (SELECT id FROM a WHERE id = $1 AND t < $2 FOR UPDATE)",
    "id = (SELECT id FROM a WHERE id = $1 AND t < $2)",
    "id = $1 AND EXISTS (SELECT 1 FROM leases WHERE name = $5 AND fencing_token = $2 FOR SHARE)",
    "id = $1 AND (SELECT fencing_token FROM leases WHERE name = $5 FOR SHARE) = $2",
];

const MARIADB_PREDICATES: &[&str] = &[
    "id = $1 AND t <=> $2",
    "id = $1 AND GREATEST(t, $2) = $2",
    "id = $1 AND IF(t < $2, 1, 0) = 1",
    "id = $1 AND t != $2",
];

const ON_CONFLICT: &[&str] = &[
    "INSERT INTO a (id, y, t) VALUES ($1, 99, $2) ON CONFLICT (id) DO UPDATE SET y = EXCLUDED.y, t = EXCLUDED.t",
    "INSERT INTO a (id, y, t) VALUES ($1, 99, $2) ON CONFLICT (id) DO UPDATE SET y = EXCLUDED.y, t = EXCLUDED.t WHERE a.t < EXCLUDED.t",
    "INSERT INTO a (id, y, t) VALUES ($1, 99, $2) ON CONFLICT (id) DO UPDATE SET y = EXCLUDED.y WHERE EXCLUDED.t >= a.t",
    "INSERT INTO a (id, y, t) VALUES ($1, 99, $2) ON CONFLICT (id) DO UPDATE SET y = EXCLUDED.y WHERE EXCLUDED.t < a.t",
    "INSERT INTO a (id, y, t) VALUES ($1, 99, $2) ON CONFLICT (id) WHERE t < 5 DO UPDATE SET y = EXCLUDED.y",
    "INSERT INTO a (id, y, t) VALUES ($1, 99, $2) ON CONFLICT (id) DO UPDATE SET y = CASE WHEN a.t >= EXCLUDED.t THEN a.y ELSE EXCLUDED.y END",
    "INSERT INTO a (id, y, t) VALUES ($1, 99, $2) ON CONFLICT (id) DO UPDATE SET t = CASE WHEN a.t < EXCLUDED.t THEN EXCLUDED.t ELSE a.t END, y = CASE WHEN a.t < EXCLUDED.t THEN EXCLUDED.y ELSE a.y END",
    "INSERT INTO a (id, y, t) VALUES ($1, 99, $2) ON CONFLICT (id) DO UPDATE SET y = CASE WHEN a.t < EXCLUDED.t THEN EXCLUDED.y ELSE 99 END",
];

const POSTGRES: &[&str] = &[
    "INSERT INTO a (id, y, t) VALUES ($1, 99, $2) ON CONFLICT (id) DO UPDATE SET y = EXCLUDED.y, t = GREATEST(a.t, EXCLUDED.t)",
    "WITH ok AS (SELECT id FROM a WHERE id = $1 AND t < $2 FOR UPDATE) UPDATE a r SET y = 99 FROM ok WHERE r.id = ok.id",
    "WITH ok AS (SELECT id FROM a WHERE id = $1 AND t < $2) UPDATE a r SET y = 99 FROM ok WHERE r.id = ok.id",
    "WITH ok AS (SELECT id FROM a WHERE t < $2 FOR UPDATE) UPDATE a r SET y = 99 FROM ok WHERE r.id = $1",
    "UPDATE a SET y = 99 FROM (SELECT id FROM a WHERE id = $1 AND t < $2 FOR UPDATE) s WHERE a.id = s.id",
    "WITH ok AS (SELECT id FROM a WHERE id = $1 AND t < $2 FOR UPDATE) DELETE FROM a USING ok WHERE a.id = ok.id",
    "WITH f AS (UPDATE fences SET token = $2 WHERE name = $5 AND token < $2 RETURNING name) UPDATE a SET y = 99 FROM f WHERE a.id = $1",
    "WITH f AS (UPDATE fences SET token = $2 WHERE name = $5 AND token <= $2 RETURNING 1) UPDATE a SET y = 99 WHERE id = $1 AND EXISTS (SELECT 1 FROM f)",
    "WITH f AS (UPDATE fences SET token = $2 WHERE name = $5 RETURNING 1) UPDATE a SET y = 99 WHERE id = $1 AND EXISTS (SELECT 1 FROM f)",
    "UPDATE a SET y = 99 FROM l WHERE a.id = l.id AND l.t < $2",
    "UPDATE a SET y = v.y FROM (VALUES ($1, 99, $2)) AS v(id, y, t) WHERE a.id = v.id AND a.t < v.t",
    "WITH m AS (UPDATE a n SET y = 99, t = $2 WHERE n.id = $1 AND $2 > n.t RETURNING n.id) INSERT INTO l (id, t) SELECT id + 100, 0 FROM m",
    "MERGE INTO a USING (VALUES ($1, 99, $2)) AS s(id, y, t) ON a.id = s.id WHEN MATCHED AND a.t < s.t THEN UPDATE SET y = s.y",
    "MERGE INTO a USING (VALUES ($1, 99, $2)) AS s(id, y, t) ON a.id = s.id WHEN MATCHED THEN UPDATE SET y = s.y",
    "MERGE INTO a USING (VALUES ($1, 99, $2)) AS s(id, y, t) ON a.id = s.id AND a.t < s.t WHEN MATCHED THEN UPDATE SET y = s.y",
    "MERGE INTO a USING (VALUES ($1, 99, $2)) AS s(id, y, t) ON a.id = s.id WHEN MATCHED AND a.t < s.t THEN UPDATE SET y = s.y WHEN MATCHED THEN DELETE",
    "MERGE INTO keyless k USING (VALUES ($1, 99, $2)) AS s(id, y, t) ON k.id = s.id AND k.t < s.t WHEN MATCHED THEN UPDATE SET y = s.y WHEN NOT MATCHED THEN INSERT (id, y, t) VALUES (s.id, s.y, s.t)",
];

const SQLITE: &[&str] = &[
    "INSERT INTO a (id, y, t) VALUES ($1, 99, $2) ON CONFLICT (id) DO UPDATE SET y = EXCLUDED.y, t = MAX(a.t, EXCLUDED.t)",
    "INSERT OR REPLACE INTO a (id, y, t) VALUES ($1, 99, $2)",
    "UPDATE a SET y = 99 FROM l WHERE a.id = l.id AND l.t < $2",
    "UPDATE a SET y = 99 WHERE id = $1 AND MAX(t, $2) = $2",
];

const MARIADB: &[&str] = &[
    "INSERT INTO a (id, y, t) VALUES ($1, 99, $2) ON DUPLICATE KEY UPDATE y = VALUES(y), t = VALUES(t)",
    "INSERT INTO a (id, y, t) VALUES ($1, 99, $2) ON DUPLICATE KEY UPDATE y = IF(t < VALUES(t), VALUES(y), y), t = IF(t < VALUES(t), VALUES(t), t)",
    "INSERT INTO a (id, y, t) VALUES ($1, 99, $2) ON DUPLICATE KEY UPDATE y = IF(t >= VALUES(t), y, VALUES(y)), updated_at = NOW(), t = GREATEST(t, VALUES(t))",
    "INSERT INTO a (id, y, t) VALUES ($1, 99, $2) ON DUPLICATE KEY UPDATE t = GREATEST(t, VALUES(t)), y = IF(t <= VALUES(t), VALUES(y), y)",
    "INSERT INTO a (id, y, t) VALUES ($1, 99, $2) ON DUPLICATE KEY UPDATE t = VALUES(t), y = IF(t <= VALUES(t), VALUES(y), y)",
    "INSERT INTO a (id, y, t) VALUES ($1, 99, $2) ON DUPLICATE KEY UPDATE t = GREATEST(t, VALUES(t)), y = IF(t < VALUES(t), VALUES(y), y)",
    "INSERT INTO a (id, x, y, t) VALUES ($1, 99, 99, $2) ON DUPLICATE KEY UPDATE x = IF(t < VALUES(t), VALUES(x), x), y = VALUES(y), t = VALUES(t)",
    "INSERT INTO a (id, y, t) VALUES ($1, 99, $2) ON DUPLICATE KEY UPDATE y = VALUES(y), t = GREATEST(t, VALUES(t))",
    "REPLACE INTO a (id, y, t) VALUES ($1, 99, $2)",
    "UPDATE a JOIN l ON a.id = l.id SET a.y = 99 WHERE l.t < $2",
    "UPDATE a JOIN leases k ON k.name = $5 SET a.y = 99 WHERE a.id = $1 AND a.t < $2",
];

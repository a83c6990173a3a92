//! The rules on SQL statements, on hand-made inventories: which statement gets which finding.

use leaselint::facts::migration::OrderKey;
use leaselint::facts::sql::{Dialect, Section};
use leaselint::facts::{FileId, Location, Span, TextMap};
use leaselint::finding::{Confidence, Severity};
use leaselint::locks::schema::{SchemaStep, replay};
use leaselint::locks::statement::{BoundValue, StatementText};
use leaselint::locks::{CountUse, Executor, Inventory, SqlSite, StatementOrigin, TransactionScope};

/// Statements that stand in no file: no fix can be made for them.
struct NoTexts;

impl leaselint::facts::Texts for NoTexts {
    fn text(&self, _: leaselint::facts::FileId) -> Option<std::sync::Arc<str>> {
        None
    }
}

const SCHEMA_FILE: FileId = FileId(0);

struct Case<'a> {
    schema: &'a str,
    dialect: Dialect,
    sites: Vec<SqlSite>,
}

fn case(schema: &str, dialect: Dialect) -> Case<'_> {
    Case { schema, dialect, sites: Vec::new() }
}

impl Case<'_> {
    fn run(self, sql: &str) -> Self {
        self.with(sql, |_| {})
    }

    fn with(mut self, sql: &str, change: impl FnOnce(&mut SqlSite)) -> Self {
        let mut text = leaselint::sql::parse(sql, self.dialect);
        assert_eq!(text.statements.len(), 1, "{sql}");
        let file = FileId(1 + self.sites.len() as u32);
        let mut site = SqlSite {
            statement: text.statements.remove(0),
            dialect: self.dialect,
            source: StatementText { file, map: TextMap::verbatim(0) },
            origin: StatementOrigin::Embedded,
            call: Some(Location { file, span: Span::new(0, 1) }),
            complete: true,
            count: CountUse::Checked,
            count_dropped_by: None,
            reply_dropped: false,
            is_best_effort: false,
            session_lock: None,
            executor: Executor::Pool,
            transaction: TransactionScope::default(),
            is_test: false,
            function: None,
            package: None,
            compared_reads: Vec::new(),
            is_timed: false,
            repetitions: Vec::new(),
            binds: Vec::new(),
        };
        change(&mut site);
        self.sites.push(site);
        self
    }

    fn inventory(self) -> Inventory {
        let text = leaselint::sql::parse(self.schema, self.dialect);
        let at = StatementText { file: SCHEMA_FILE, map: TextMap::verbatim(0) };
        let order = OrderKey { repeatable: false, version: vec![1], name: String::new() };
        let steps = text.statements.iter().map(|statement| {
            assert_eq!(statement.section, Section::Up);
            SchemaStep {
                statement,
                at: &at,
                dialect: self.dialect,
                package: None,
                root: "migrations",
                order: Some(&order),
                snapshot: false,
                is_context: false,
            }
        });
        Inventory::new(self.sites, replay(steps.collect()))
    }

    /// Findings as `statement rule severity`, statements counted from 1, what only `--pedantic` shows
    /// left out.
    fn shown(self) -> Vec<String> {
        let inventory = self.inventory();
        let mut found: Vec<String> = leaselint::rules::run(&inventory, &NoTexts)
            .into_iter()
            .filter(|f| f.severity >= Severity::Warning && f.confidence >= Confidence::Medium)
            .map(|f| format!("{} {} {:?}", f.primary.file.0, f.rule, f.severity))
            .collect();
        found.sort();
        found
    }

    fn says(self, expected: &[&str]) {
        let about: Vec<String> = self.sites.iter().map(|s| format!("{:?}", s.statement.kind)).collect();
        assert_eq!(self.shown(), expected, "{about:#?}");
    }
}

use Dialect::{MySql, Postgres, Sqlite};

const BALANCES: &str = "CREATE TABLE account_balances (id BIGINT PRIMARY KEY, balance BIGINT NOT NULL, deleted_at TIMESTAMPTZ, last_fencing_token BIGINT NOT NULL DEFAULT 0);";
const DOCS: &str =
    "CREATE TABLE docs (id BIGINT PRIMARY KEY, body TEXT NOT NULL, lock_version BIGINT NOT NULL DEFAULT 0);";
const JOBS: &str = "CREATE TABLE export_jobs (id BIGSERIAL PRIMARY KEY, payload JSONB NOT NULL, state TEXT NOT NULL DEFAULT 'ready', locked_by TEXT, locked_until TIMESTAMPTZ);";
const CLAIM: &str = "UPDATE export_jobs SET state = 'running', locked_by = $1, locked_until = now() + interval '1 minute' WHERE id = (SELECT id FROM export_jobs WHERE state = 'ready' OR (state = 'running' AND locked_until < now()) ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED) RETURNING id";

#[test]
fn fenced_statements_are_left_alone() {
    for sql in [
        "UPDATE account_balances SET balance = $1, last_fencing_token = $2 WHERE id = $3 AND last_fencing_token < $2",
        "UPDATE account_balances SET balance = $1, last_fencing_token = $2 WHERE id = $3 AND $2 > last_fencing_token",
        "WITH ok AS (SELECT id FROM account_balances WHERE id = $3 AND last_fencing_token < $2 FOR UPDATE) UPDATE account_balances a SET balance = $1, last_fencing_token = $2 FROM ok WHERE a.id = ok.id",
        "INSERT INTO account_balances (id, balance, last_fencing_token) VALUES ($1, $2, $3) ON CONFLICT (id) DO NOTHING",
        "INSERT INTO account_balances (id, balance, last_fencing_token) VALUES ($1, $2, $3) ON CONFLICT (id) DO UPDATE SET balance = EXCLUDED.balance, last_fencing_token = EXCLUDED.last_fencing_token WHERE account_balances.last_fencing_token < EXCLUDED.last_fencing_token",
        "UPDATE account_balances SET balance = $1, last_fencing_token = $2 WHERE id = $3 AND (last_fencing_token IS NULL OR last_fencing_token < $2)",
        "DELETE FROM account_balances WHERE id = $1 AND last_fencing_token < $2",
        "DELETE FROM account_balances WHERE deleted_at < now() - interval '30 days'",
        "UPDATE account_balances SET last_fencing_token = $1, updated_at = now() WHERE id = $2",
        // Information only: the value is absolute.
        "UPDATE account_balances SET balance = $1, last_fencing_token = $2 WHERE id = $3 AND last_fencing_token <= $2",
    ] {
        case(BALANCES, Postgres).run(sql).says(&[]);
    }
    for sql in [
        "UPDATE docs SET body = $1, lock_version = lock_version + 1 WHERE id = $2 AND lock_version = $3",
        "UPDATE docs SET body = $1, lock_version = $4 WHERE id = $2 AND lock_version = $3",
        "UPDATE docs SET lock_version = lock_version + 1, updated_at = now() WHERE id = $1",
    ] {
        case(DOCS, Postgres).run(sql).says(&[]);
    }
}

#[test]
fn unfenced_statements() {
    for sql in [
        "UPDATE account_balances SET balance = balance + $1 WHERE id = $2",
        "UPDATE account_balances SET balance = $1, last_fencing_token = $2 WHERE id = $3",
        "DELETE FROM account_balances WHERE id = $1",
        "INSERT INTO account_balances (id, balance, last_fencing_token) VALUES ($1, $2, $3) ON CONFLICT (id) DO UPDATE SET balance = EXCLUDED.balance, last_fencing_token = EXCLUDED.last_fencing_token",
        "WITH m AS (UPDATE account_balances SET balance = $1 WHERE id = $2 RETURNING id) INSERT INTO log SELECT id FROM m",
    ] {
        case(BALANCES, Postgres).run(sql).says(&["1 unfenced-write Error"]);
    }
    case(BALANCES, Sqlite)
        .run("INSERT OR REPLACE INTO account_balances (id, balance, last_fencing_token) VALUES (?1, ?2, ?3)")
        .says(&["1 unfenced-write Error"]);
    case(BALANCES, Sqlite)
        .run("INSERT OR REPLACE INTO account_balances (id, balance) VALUES (?1, ?2)")
        .says(&["1 forgotten-token Error"]);
    case(DOCS, Postgres)
        .run("UPDATE docs SET body = $1, lock_version = lock_version + 1 WHERE id = $2")
        .says(&["1 unfenced-write Error"]);
}

#[test]
fn loose_predicates() {
    for sql in [
        "UPDATE account_balances SET balance = $1, last_fencing_token = $2 WHERE id = $3 AND (last_fencing_token < $2 OR $4::bool)",
        "UPDATE account_balances SET balance = $1 WHERE id = $3 AND EXISTS (SELECT 1 FROM account_balances b WHERE b.last_fencing_token < $2)",
        "UPDATE account_balances SET balance = $1, last_fencing_token = $2 WHERE id = $3 AND last_fencing_token <> $2",
        "UPDATE account_balances SET balance = $1, last_fencing_token = $2 WHERE id = $3 AND last_fencing_token >= $2",
        "UPDATE account_balances SET balance = $1, last_fencing_token = $2 WHERE id = $3 AND last_fencing_token < last_fencing_token + 1",
        "UPDATE account_balances SET balance = $1, last_fencing_token = $2 FROM leases l WHERE account_balances.id = $3 AND l.last_fencing_token < $2",
        "INSERT INTO account_balances (id, balance, last_fencing_token) VALUES ($1, $2, $3) ON CONFLICT (id) DO UPDATE SET balance = EXCLUDED.balance, last_fencing_token = GREATEST(account_balances.last_fencing_token, EXCLUDED.last_fencing_token)",
        "MERGE INTO account_balances t USING incoming s ON t.id = s.id AND t.last_fencing_token < s.token WHEN MATCHED THEN UPDATE SET balance = s.balance WHEN NOT MATCHED THEN INSERT (id, balance) VALUES (s.id, s.balance)",
    ] {
        case(BALANCES, Postgres).run(sql).says(&["1 loose-token-predicate Error"]);
    }
    case(BALANCES, Postgres)
        .run("UPDATE account_balances SET balance = balance + $1, last_fencing_token = $2 WHERE id = $3 AND last_fencing_token <= $2")
        .says(&["1 loose-token-predicate Warning"]);
    case(BALANCES, MySql)
        .run("INSERT INTO account_balances (id, balance, last_fencing_token) VALUES (?, ?, ?) AS n ON DUPLICATE KEY UPDATE last_fencing_token = GREATEST(account_balances.last_fencing_token, n.last_fencing_token), balance = IF(account_balances.last_fencing_token < n.last_fencing_token, n.balance, account_balances.balance)")
        .says(&["1 loose-token-predicate Error"]);
    case(DOCS, Postgres)
        .run(
            "UPDATE docs SET body = $1, lock_version = lock_version + 1 WHERE id = $2 AND lock_version >= $3",
        )
        .says(&["1 loose-token-predicate Error"]);
    case("CREATE TABLE stock (sku VARCHAR(40) PRIMARY KEY, amount INT NOT NULL, last_token BIGINT NOT NULL DEFAULT 0) ENGINE=InnoDB;", MySql)
        .run("UPDATE stock SET amount = amount + :delta, last_token = :token WHERE sku = :sku AND last_token <= :token")
        .says(&["1 loose-token-predicate Warning"]);
}

#[test]
fn tokens_that_stay_behind() {
    case("CREATE TABLE shards (id BIGINT PRIMARY KEY, state TEXT NOT NULL, fencing_token BIGINT NOT NULL DEFAULT 0);", Sqlite)
        .run("UPDATE shards SET state = ?1 WHERE id = ?2 AND fencing_token < ?3")
        .says(&["1 token-not-advanced Error"]);
    case(DOCS, Postgres)
        .run("UPDATE docs SET body = $1 WHERE id = $2 AND lock_version = $3")
        .says(&["1 token-not-advanced Error"]);
    case(DOCS, Postgres)
        .run("UPDATE docs SET body = $1, lock_version = $3 WHERE id = $2 AND lock_version = $3")
        .says(&["1 token-not-advanced Error"]);
    case(BALANCES, Postgres)
        .run("UPDATE account_balances SET balance = $1, last_fencing_token = last_fencing_token + 1 WHERE id = $2 AND last_fencing_token < $3")
        .says(&["1 token-not-advanced Error"]);
    let bumped = format!(
        "{DOCS} CREATE FUNCTION bump() RETURNS trigger AS $$ BEGIN NEW.lock_version := OLD.lock_version + 1; RETURN NEW; END $$ LANGUAGE plpgsql; CREATE TRIGGER b BEFORE UPDATE ON docs FOR EACH ROW EXECUTE FUNCTION bump();"
    );
    case(&bumped, Postgres).run("UPDATE docs SET body = $1 WHERE id = $2 AND lock_version = $3").says(&[]);
    let leases = "CREATE TABLE job_leases (job TEXT PRIMARY KEY, lease_owner UUID, lease_token BIGINT NOT NULL DEFAULT 0, lease_expires_at TIMESTAMPTZ);";
    case(leases, Postgres)
        .run("UPDATE job_leases SET lease_owner = $2, lease_expires_at = now() + interval '30 s' WHERE job = $1 AND lease_expires_at < now()")
        .run("UPDATE job_leases SET lease_owner = $2, lease_token = lease_token + 1, lease_expires_at = now() + interval '30 s' WHERE job = $1 AND lease_expires_at < now()")
        .says(&["1 token-not-advanced Error"]);
}

#[test]
fn outcomes_that_nobody_looks_at() {
    let ignored = |site: &mut SqlSite| site.count = CountUse::Ignored;
    case(BALANCES, Postgres)
        .with("UPDATE account_balances SET balance = $1, last_fencing_token = $2 WHERE id = $3 AND last_fencing_token < $2", ignored)
        .with("UPDATE other SET balance = $1 WHERE id = $3", ignored)
        .says(&["1 ignored-stale-write Error"]);
    case(JOBS, Postgres)
        .run(CLAIM)
        .with("UPDATE export_jobs SET state = 'done' WHERE id = $1 AND locked_by = $2", ignored)
        .says(&["2 ignored-stale-write Warning"]);
    case(BALANCES, Postgres)
        .with("UPDATE account_balances SET balance = $1, last_fencing_token = $2 WHERE id = $3 AND last_fencing_token < $2", |s| {
            ignored(s);
            s.transaction.locked_tables.push("account_balances".into());
        })
        .says(&[]);
}

#[test]
fn triggers_and_transactions_refuse_in_its_place() {
    let trigger = format!(
        "{BALANCES} CREATE FUNCTION refuse_stale() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN IF NEW.last_fencing_token <= OLD.last_fencing_token THEN RAISE EXCEPTION 'stale token'; END IF; RETURN NEW; END $$; CREATE TRIGGER t_stale BEFORE UPDATE ON account_balances FOR EACH ROW EXECUTE FUNCTION refuse_stale();"
    );
    let write = "UPDATE account_balances SET balance = $1, last_fencing_token = $2 WHERE id = $3";
    case(&trigger, Postgres).run(write).says(&[]);
    case(&trigger, Postgres)
        .run("DELETE FROM account_balances WHERE id = $1")
        .says(&["1 unfenced-write Error"]);
    let narrow = format!(
        "{BALANCES} CREATE TRIGGER t_mono BEFORE UPDATE OF last_fencing_token ON account_balances WHEN NEW.last_fencing_token <= OLD.last_fencing_token BEGIN SELECT RAISE(ABORT, 'token must increase'); END;"
    );
    case(&narrow, Sqlite)
        .run("UPDATE account_balances SET balance = ?1 WHERE id = ?2")
        .run("UPDATE account_balances SET balance = ?1, last_fencing_token = ?3 WHERE id = ?2")
        .says(&["1 unfenced-write Error"]);
    case(BALANCES, Postgres)
        .with(write, |s| s.transaction.locked_tables.push("account_balances".into()))
        .with(write, |s| s.transaction.checked_tables.push("leases".into()))
        .with(write, |s| s.transaction.advisory_lock = true)
        .with(write, |s| s.is_test = true)
        .with(write, |s| s.origin = StatementOrigin::Migration)
        .with(write, |s| s.complete = false)
        .with(write, |s| s.origin = StatementOrigin::Routine)
        .says(&["7 unfenced-write Error"]);
}

#[test]
fn versions_by_name_alone_convict_nobody() {
    case(
        "CREATE TABLE clients (id BIGINT PRIMARY KEY, version INT NOT NULL DEFAULT 1, name TEXT);",
        Postgres,
    )
    .run("UPDATE clients SET name = $1 WHERE id = $2")
    .says(&[]);
    case("CREATE TABLE releases (crate TEXT, version INT NOT NULL, yanked BOOL NOT NULL DEFAULT false, PRIMARY KEY (crate, version));", Postgres)
        .run("UPDATE releases SET yanked = true WHERE crate = $1 AND version = $2")
        .run("UPDATE releases SET yanked = false WHERE crate = $1")
        .says(&[]);
    case("CREATE TABLE carts (id BIGINT PRIMARY KEY, version BIGINT NOT NULL DEFAULT 0, total BIGINT NOT NULL);", Postgres)
        .run("UPDATE carts SET total = $1, version = version + 1 WHERE id = $2 AND version = $3")
        .run("UPDATE carts SET total = $1 WHERE id = $2")
        .says(&["2 unfenced-write Error"]);
    case("CREATE TABLE devices (id BIGINT PRIMARY KEY, name TEXT NOT NULL, version TEXT NOT NULL, access_token TEXT NOT NULL, locked_until TIMESTAMPTZ);", Postgres)
        .run("UPDATE devices SET version = $1 WHERE id = $2")
        .run("UPDATE devices SET access_token = $1 WHERE id = $2")
        .run("UPDATE devices SET locked_until = now() + interval '15 minutes' WHERE id = $1")
        .says(&[]);
    case("CREATE TABLE `meters` (`id` BIGINT UNSIGNED NOT NULL PRIMARY KEY, `reading` BIGINT NOT NULL, `token` BIGINT UNSIGNED NOT NULL DEFAULT 0) ENGINE=InnoDB;", MySql)
        .run("INSERT INTO meters (id, reading, token) VALUES (?, ?, ?) ON DUPLICATE KEY UPDATE reading = IF(token < VALUES(token), VALUES(reading), reading), token = IF(token < VALUES(token), VALUES(token), token)")
        .says(&[]);
}

#[test]
fn claimed_rows_in_three_grades() {
    let finish =
        |rest: &str| format!("UPDATE export_jobs SET state = 'done', locked_by = NULL WHERE id = $1{rest}");
    case(JOBS, Postgres)
        .run(CLAIM)
        .run(&finish(""))
        .run(&finish(" AND state = 'running'"))
        .run(&finish(" AND locked_by = $2 AND state = 'running'"))
        .run("DELETE FROM export_jobs WHERE state = 'done' AND id < $1")
        .run("UPDATE export_jobs SET payload = $2 WHERE id = $1")
        .with("UPDATE export_jobs SET state = $2 WHERE id = $1 AND state = 'ready'", |s| {
            s.binds = vec![
                BoundValue::default(),
                BoundValue { constant: Some("cancelled".into()), ..BoundValue::default() },
            ];
        })
        .says(&["2 unfenced-write Error", "3 unfenced-write Warning"]);
}

#[test]
fn queues_are_known_by_their_statements() {
    let constant = |values: &[Option<&str>]| {
        let binds: Vec<BoundValue> = values
            .iter()
            .map(|v| BoundValue { constant: v.map(str::to_owned), ..BoundValue::default() })
            .collect();
        move |s: &mut SqlSite| s.binds = binds
    };
    let next = "SELECT id, body FROM work WHERE state = $1 AND run_at <= NOW()  ORDER BY run_at LIMIT 1 FOR UPDATE SKIP LOCKED";
    let set = "UPDATE work SET state = $1, updated_at = NOW() WHERE id = $2";
    let rescue = "UPDATE work SET state = 'queued' WHERE state = 'busy' AND updated_at <= NOW() - INTERVAL '{mins} MINUTE'";
    let queue = || {
        case("", Postgres)
            .with(next, constant(&[Some("queued")]))
            .with(set, constant(&[Some("busy"), None]))
            .with(set, constant(&[Some("done"), None]))
    };
    queue().run(rescue).says(&["3 unfenced-write Error"]);
    queue().says(&[]);
    // Tasks that nobody takes back are finished by id and state.
    case("", Postgres)
        .run("UPDATE bench_tasks SET state = 'running', begun_at = NOW() WHERE id = (SELECT id FROM bench_tasks WHERE state = 'queued' ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED) RETURNING id")
        .run("UPDATE bench_tasks SET state = 'done' WHERE id = $1 AND state = 'running'")
        .says(&[]);
    case("", Postgres)
        .run("SELECT id FROM notes WHERE sent_at IS NULL AND (held_until IS NULL OR held_until < now()) ORDER BY id LIMIT $1 FOR UPDATE SKIP LOCKED")
        .with("UPDATE notes SET held_until = now() + interval '2 minutes', claim_token = $2 WHERE id = ANY($1) RETURNING id", |s| s.transaction.locked_tables.push("notes".into()))
        .run("UPDATE notes SET sent_at = $2, claim_token = NULL WHERE id = ANY($1)")
        .says(&["3 unfenced-write Error"]);
    case("", Postgres)
        .run("UPDATE parcel SET held_until = $1 WHERE id = $2 AND (held_until IS NULL OR held_until < $3)")
        .run("UPDATE parcel SET state = $1 WHERE id = $2")
        .says(&["2 unfenced-write Error"]);
    case("CREATE TABLE mail.outbox (id UUID PRIMARY KEY, body TEXT NOT NULL, sent_at TIMESTAMPTZ, lease_token UUID, lease_until TIMESTAMPTZ, fence BIGINT NOT NULL DEFAULT 0);", Postgres)
        .run("UPDATE mail.outbox SET lease_token = $1, fence = fence + 1, lease_until = clock_timestamp() + INTERVAL '60 seconds' WHERE id = (SELECT id FROM mail.outbox WHERE sent_at IS NULL AND (lease_until IS NULL OR lease_until < clock_timestamp()) ORDER BY created_at LIMIT 1 FOR UPDATE SKIP LOCKED) RETURNING id, body, fence")
        .run("UPDATE mail.outbox SET sent_at = clock_timestamp(), lease_token = NULL WHERE id = $1 AND lease_token = $2 AND fence = $3 AND lease_until > clock_timestamp()")
        .says(&[]);
    case("", Postgres)
        .run("UPDATE q.jobs SET status = 'Running', lock_by = $1, lock_at = NOW(), attempts = attempts + 1 WHERE id IN (SELECT id FROM q.jobs WHERE status = 'Pending' AND run_at < NOW() ORDER BY run_at LIMIT $2 FOR UPDATE SKIP LOCKED) RETURNING id, attempts, body")
        .run("UPDATE q.jobs SET status = $4, attempts = $2, result = $3, done_at = NOW() WHERE id = $1 AND lock_by = $5")
        .says(&[]);
}

#[test]
fn lock_rows_are_the_business_of_other_rules() {
    let locks =
        "CREATE TABLE locks (name TEXT PRIMARY KEY, owner UUID NOT NULL, expires_at TIMESTAMPTZ NOT NULL);";
    let case = case(locks, Postgres)
        .run("INSERT INTO locks (name, owner, expires_at) VALUES ($1, $2, now() + interval '1 minute') ON CONFLICT (name) DO UPDATE SET owner = EXCLUDED.owner, expires_at = EXCLUDED.expires_at WHERE locks.expires_at < now()")
        .run("DELETE FROM locks WHERE name = $1")
        .run("UPDATE locks SET expires_at = now() + interval '1 minute' WHERE name = $1")
        .run("DELETE FROM locks WHERE name = $1 AND owner = $2")
        .with("DELETE FROM locks WHERE name = $1", |s| s.function = Some("Locks::force_unlock".into()));
    let inventory = case.inventory();
    // One finding for the release that anyone can do; the forced one is only worth a note.
    let found = leaselint::rules::run(&inventory, &NoTexts);
    let shown: Vec<_> = found.iter().map(|f| (f.rule, f.primary.file.0, f.severity)).collect();
    assert!(shown.iter().all(|(rule, ..)| *rule != "unfenced-write"), "{shown:?}");
    assert!(shown.contains(&("unguarded-release", 2, leaselint::finding::Severity::Error)), "{shown:?}");
    let files = |sites: Vec<&SqlSite>| sites.iter().map(|s| s.source.file.0).collect::<Vec<_>>();
    assert_eq!(files(leaselint::locks::unguarded_row_releases(&inventory)), [2]);
    assert_eq!(files(leaselint::locks::unguarded_row_renewals(&inventory)), [3]);
}

//! Hand-made inventories: migrations and statements as texts.

use super::*;
use crate::facts::migration::OrderKey;
use crate::facts::sql::Dialect;
use crate::facts::{FileId, TextMap};
use crate::locks::schema::{SchemaStep, replay};
use crate::locks::statement::{CountUse, Executor, StatementText, TransactionScope};

/// A site for a text that Rust code would run.
pub(crate) fn site(sql: &str, dialect: Dialect) -> SqlSite {
    let mut text = crate::sql::parse(sql, dialect);
    assert_eq!(text.statements.len(), 1, "{sql}");
    SqlSite {
        compared_reads: Vec::new(),
        is_timed: false,
        statement: text.statements.remove(0),
        dialect,
        source: StatementText { file: FileId(1), map: TextMap::verbatim(0) },
        origin: StatementOrigin::Embedded,
        call: None,
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
        repetitions: Vec::new(),
        binds: Vec::new(),
    }
}

pub(crate) fn inventory(schema: &str, sites: Vec<SqlSite>) -> Inventory {
    let dialect = sites.first().map_or(Dialect::Postgres, |s| s.dialect);
    let text = crate::sql::parse(schema, dialect);
    let at = StatementText { file: FileId(0), map: TextMap::verbatim(0) };
    let order = OrderKey { repeatable: false, version: vec![1], name: String::new() };
    let step = |statement| SchemaStep {
        statement,
        at: &at,
        dialect,
        package: None,
        root: "migrations",
        order: Some(&order),
        snapshot: false,
        is_context: false,
    };
    let schema = replay(text.statements.iter().map(step).collect());
    Inventory::new(sites, schema)
}

fn purposes(schema: &str, statements: &[&str]) -> Vec<Purpose> {
    let inventory = inventory(schema, statements.iter().map(|s| site(s, Dialect::Postgres)).collect());
    row_writes(&inventory).iter().map(|r| r.purpose).collect()
}

const LEASES: &str = "CREATE TABLE job_leases (job TEXT PRIMARY KEY, lease_owner UUID, lease_token BIGINT NOT NULL DEFAULT 0, lease_expires_at TIMESTAMPTZ);";

#[test]
fn purposes_of_writes_to_a_lease_table() {
    use Purpose::*;
    let found = purposes(
        LEASES,
        &[
            "UPDATE job_leases SET lease_owner = $2, lease_token = lease_token + 1 WHERE job = $1 AND lease_expires_at < now()",
            "UPDATE job_leases SET lease_owner = NULL, lease_expires_at = NULL WHERE job = $1",
            "DELETE FROM job_leases WHERE job = $1",
            "UPDATE job_leases SET lease_expires_at = now() + interval '30 s' WHERE job = $1",
            "UPDATE job_leases SET lease_expires_at = now() WHERE job = $1",
            "DELETE FROM job_leases WHERE lease_expires_at < now()",
            "UPDATE job_leases SET lease_token = lease_token + 1 WHERE job = $1",
            "INSERT INTO job_leases (job) VALUES ($1) ON CONFLICT DO NOTHING",
            "UPDATE job_leases SET progress = $1 WHERE job = $2",
        ],
    );
    assert_eq!(
        found,
        [Acquire, Release, Release, Renew, Release, Sweep, Bookkeeping, Bookkeeping, Protected]
    );
}

#[test]
fn releases_and_renewals_that_ask_nobody() {
    let statements = [
        "UPDATE job_leases SET lease_owner = NULL, lease_expires_at = NULL WHERE job = $1",
        "UPDATE job_leases SET lease_owner = NULL WHERE job = $1 AND lease_owner = $2",
        "WITH mine AS (SELECT job FROM job_leases WHERE job = $1 AND lease_owner = $2 FOR UPDATE) DELETE FROM job_leases USING mine WHERE job_leases.job = mine.job",
        "DELETE FROM job_leases WHERE job = $1",
        "UPDATE job_leases SET lease_expires_at = now() + interval '30 s' WHERE job = $1",
        "UPDATE job_leases SET lease_expires_at = now() + interval '30 s' WHERE job = $1 AND lease_owner = $2 AND lease_expires_at > now()",
        "UPDATE job_leases SET lease_expires_at = now() + interval '30 s' WHERE job = $1 AND lease_token = $2",
    ];
    let inventory = inventory(LEASES, statements.iter().map(|s| site(s, Dialect::Postgres)).collect());
    let at = |list: Vec<&SqlSite>| -> Vec<usize> {
        list.iter().map(|s| inventory.statements.iter().position(|x| std::ptr::eq(x, *s)).unwrap()).collect()
    };
    assert_eq!(at(unguarded_row_releases(&inventory)), [0, 3]);
    assert_eq!(at(unguarded_row_renewals(&inventory)), [4]);
}

#[test]
fn a_lease_table_is_known_by_its_acquire() {
    let acquire = "INSERT INTO doc_holds (doc_id, user_id, held_until) VALUES ($1, $2, now() + interval '5 minutes') ON CONFLICT (doc_id) DO UPDATE SET user_id = EXCLUDED.user_id, held_until = EXCLUDED.held_until WHERE doc_holds.held_until < now()";
    let statements = [
        acquire,
        "UPDATE doc_holds SET held_until = now() + interval '5 minutes'",
        "DELETE FROM doc_holds WHERE doc_id = $1 AND user_id = $2",
        "DELETE FROM doc_holds WHERE doc_id = $1",
    ];
    let schema = "CREATE TABLE doc_holds (doc_id BIGINT PRIMARY KEY, user_id BIGINT NOT NULL, held_until TIMESTAMPTZ NOT NULL);";
    let inventory = inventory(schema, statements.iter().map(|s| site(s, Dialect::Postgres)).collect());
    assert_eq!(unguarded_row_renewals(&inventory).len(), 1);
    assert_eq!(unguarded_row_releases(&inventory).len(), 1);
}

#[test]
fn an_account_that_is_locked_out_is_no_lease() {
    let schema = "CREATE TABLE devices (id BIGINT PRIMARY KEY, version TEXT NOT NULL, access_token TEXT NOT NULL, locked_until TIMESTAMPTZ);";
    let statements = [
        "UPDATE devices SET locked_until = now() + interval '15 minutes' WHERE id = $1",
        "UPDATE devices SET access_token = $1 WHERE id = $2",
        "UPDATE devices SET version = $1 WHERE id = $2",
    ];
    let inventory = inventory(schema, statements.iter().map(|s| site(s, Dialect::Postgres)).collect());
    assert!(unguarded_row_renewals(&inventory).is_empty() && unguarded_row_releases(&inventory).is_empty());
    assert!(row_writes(&inventory).iter().all(|r| r.token().is_none() && !r.finishes_claim()));
}

#[test]
fn ambiguous_names_need_a_guarded_write() {
    let schema = "CREATE TABLE carts (id BIGINT PRIMARY KEY, version BIGINT NOT NULL DEFAULT 0, total BIGINT); CREATE TABLE releases (crate TEXT, version INT, yanked BOOL, PRIMARY KEY (crate, version));";
    let plain = "UPDATE carts SET total = $1 WHERE id = $2";
    let alone = inventory(schema, vec![site(plain, Dialect::Postgres)]);
    assert!(row_writes(&alone)[0].token().is_none());
    let statements = [
        plain,
        "UPDATE carts SET total = $1, version = version + 1 WHERE id = $2 AND version = $3",
        "UPDATE releases SET yanked = true WHERE crate = $1 AND version = $2",
    ];
    let both = inventory(schema, statements.iter().map(|s| site(s, Dialect::Postgres)).collect());
    let rows = row_writes(&both);
    assert_eq!(rows[0].token().map(|t| t.name.as_str()), Some("version"));
    assert_eq!(rows[0].protection(&both), Protection::Open);
    assert!(matches!(rows[1].protection(&both), Protection::Fenced { .. }));
    assert!(rows[2].token().is_none());
}

#[test]
fn claims_need_a_hand_out_and_a_take_back() {
    let next = "SELECT id, body FROM work WHERE state = 'queued' AND run_at <= NOW() ORDER BY run_at LIMIT 1 FOR UPDATE SKIP LOCKED";
    let finish = "UPDATE work SET state = 'done', updated_at = NOW() WHERE id = $2";
    let rescue = "UPDATE work SET state = 'queued' WHERE state = 'busy' AND updated_at <= NOW() - INTERVAL '{mins} MINUTE'";
    let start = "UPDATE work SET state = 'busy', updated_at = NOW() WHERE id = $2";
    let finishes = |list: &[&str]| -> Vec<bool> {
        let inventory = inventory("", list.iter().map(|s| site(s, Dialect::Postgres)).collect());
        row_writes(&inventory).iter().map(|r| r.purpose == Purpose::Protected && r.finishes_claim()).collect()
    };
    assert_eq!(finishes(&[next, finish, rescue, start]), [true, false, false]);
    assert_eq!(finishes(&[next, finish, start]), [false, false]);
    let claim = "UPDATE parcel SET held_until = $1 WHERE id = $2 AND (held_until IS NULL OR held_until < $3)";
    assert_eq!(finishes(&[claim, "UPDATE parcel SET state = $1 WHERE id = $2"]), [false, true]);
}

#[test]
fn the_generation_of_a_lease_names_its_holder() {
    let schema = "CREATE TABLE lease_locks (name TEXT PRIMARY KEY, owner TEXT, generation BIGINT NOT NULL, expires_at TIMESTAMPTZ);";
    let statements = [
        "UPDATE lease_locks SET expires_at = now() + $3 * interval '1 ms' WHERE name = $1 AND generation = $2 AND owner IS NOT NULL",
        "UPDATE lease_locks SET owner = NULL WHERE name = $1 AND generation = $2 AND owner IS NOT NULL",
        "UPDATE lease_locks SET owner = NULL WHERE name = $1 AND owner IS NOT NULL",
    ];
    let inventory = inventory(schema, statements.iter().map(|s| site(s, Dialect::Postgres)).collect());
    assert!(unguarded_row_renewals(&inventory).is_empty());
    assert_eq!(unguarded_row_releases(&inventory).len(), 1);
}

#[test]
fn rows_picked_with_skip_locked_are_being_taken() {
    let take = "WITH free AS (SELECT id FROM task WHERE state = $2 OR (state = $3 AND last_heartbeat_at < now() - heartbeat) LIMIT 1 FOR UPDATE SKIP LOCKED) UPDATE task t SET state = $3, last_heartbeat_at = now() FROM free WHERE t.id = free.id RETURNING t.id";
    let inventory = inventory(
        "",
        vec![
            site(take, Dialect::Postgres),
            site("UPDATE task SET state = $2 WHERE id = $1", Dialect::Postgres),
        ],
    );
    let rows = row_writes(&inventory);
    assert_eq!(rows[0].purpose, Purpose::Acquire);
    assert!(rows[1].purpose == Purpose::Protected && rows[1].finishes_claim());
}

#[test]
fn caches_and_locked_accounts_are_no_locks() {
    let statements = [
        "INSERT INTO cache (key, value, expires_at) VALUES ($1, $2, $3) ON CONFLICT (key) DO UPDATE SET value = EXCLUDED.value, expires_at = EXCLUDED.expires_at WHERE cache.expires_at < now()",
        "DELETE FROM cache WHERE key = $1",
        "UPDATE cache SET expires_at = $2 WHERE key = $1",
        "UPDATE users SET locked_by = NULL, locked_until = NULL WHERE id = $1",
    ];
    let schema = "CREATE TABLE cache (key TEXT PRIMARY KEY, value TEXT, expires_at TIMESTAMPTZ); CREATE TABLE users (id BIGINT PRIMARY KEY, locked_by BIGINT, locked_until TIMESTAMPTZ);";
    let inventory = inventory(schema, statements.iter().map(|s| site(s, Dialect::Postgres)).collect());
    assert!(unguarded_row_releases(&inventory).is_empty() && unguarded_row_renewals(&inventory).is_empty());
}

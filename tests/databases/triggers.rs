//! Triggers in front of a table with a fencing token, some of which refuse a stale writer. The linter is run
//! on the same text as a migration beside a Rust crate with the write, so that nothing between the front ends
//! and the rules is left out.

use leaselint::facts::sql::Dialect;

pub const TABLE: &str = "CREATE TABLE accounts (id BIGINT PRIMARY KEY, balance BIGINT NOT NULL, \
                         last_fencing_token BIGINT NOT NULL);\n";

/// The two writes: one brings its token into the row, one does not.
pub const WRITES: [&str; 2] = [
    "UPDATE accounts SET balance = 99, last_fencing_token = $2 WHERE id = $1",
    "UPDATE accounts SET balance = 99 WHERE id = $1",
];

/// Definitions of triggers, `NEW`/`OLD` conditions written once for all servers.
const CONDITIONS: [&str; 7] = [
    "NEW.last_fencing_token <= OLD.last_fencing_token",
    "NEW.last_fencing_token < OLD.last_fencing_token",
    "OLD.last_fencing_token > NEW.last_fencing_token",
    "NEW.last_fencing_token > OLD.last_fencing_token",
    "NEW.balance <> OLD.balance AND NEW.last_fencing_token < OLD.last_fencing_token",
    "NEW.balance < 0",
    "NEW.last_fencing_token < OLD.last_fencing_token AND NEW.balance < 0",
];

pub fn of(dialect: Dialect) -> Vec<String> {
    CONDITIONS
        .iter()
        .flat_map(|condition| match dialect {
            Dialect::Postgres => postgres(condition),
            Dialect::MySql => mariadb(condition),
            _ => sqlite(condition),
        })
        .collect()
}

fn postgres(condition: &str) -> Vec<String> {
    let body = |then: &str| {
        format!(
            "CREATE FUNCTION judge_token() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN IF {condition} THEN {then} \
             END IF; RETURN NEW; END $$;\n"
        )
    };
    let always =
        "CREATE TRIGGER judged BEFORE UPDATE ON accounts FOR EACH ROW EXECUTE FUNCTION judge_token();\n";
    let of_token = always.replace("UPDATE ON", "UPDATE OF last_fencing_token ON");
    let raises = "CREATE FUNCTION judge_token() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'stale'; \
                  END $$;\n";
    vec![
        format!("{}{always}", body("RAISE EXCEPTION 'stale token';")),
        format!("{}{always}", body("RETURN NULL;")),
        format!("{}{always}", body("RAISE NOTICE 'stale token';")),
        format!("{}{of_token}", body("RAISE EXCEPTION 'stale token';")),
        format!("{raises}{}", always.replace("EXECUTE", &format!("WHEN ({condition}) EXECUTE"))),
        format!(
            "{}{always}ALTER TABLE accounts DISABLE TRIGGER judged;\n",
            body("RAISE EXCEPTION 'stale token';")
        ),
    ]
}

fn mariadb(condition: &str) -> Vec<String> {
    let trigger = |then: &str| {
        format!(
            "DELIMITER //\nCREATE TRIGGER judged BEFORE UPDATE ON accounts FOR EACH ROW BEGIN IF {condition} THEN {then} \
             END IF; END//\nDELIMITER ;\n"
        )
    };
    vec![
        trigger("SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'stale token';"),
        trigger("SET NEW.balance = NEW.balance;"),
    ]
}

fn sqlite(condition: &str) -> Vec<String> {
    let trigger = |event: &str, then: &str| {
        format!(
            "CREATE TRIGGER judged BEFORE UPDATE {event} accounts WHEN {condition} BEGIN SELECT {then}; END;\n"
        )
    };
    vec![
        trigger("ON", "RAISE(ABORT, 'stale token')"),
        trigger("ON", "RAISE(IGNORE)"),
        trigger("ON", "1"),
        trigger("OF last_fencing_token ON", "RAISE(FAIL, 'stale token')"),
    ]
}

//! A write that a stale holder can still make: nothing in the statement, the transaction or the database
//! asks for the token, or for the holder, that the row is protected by.

use crate::facts::sql::WriteVerb;
use crate::finding::{Confidence, Severity};
use crate::locks::Inventory;
use crate::locks::naming::TokenTier;
use crate::locks::regions::{HeldWrite, held_writes};
use crate::locks::rows::{Protection, Purpose, RowWrite, row_writes};
use crate::locks::tables::TokenColumn;
use crate::rules::edits::statement;
use crate::rules::{Draft, Reporter};

pub(super) fn check(inventory: &Inventory, report: &mut Reporter<'_>) {
    for row in row_writes(inventory) {
        if row.purpose != Purpose::Protected || row.protection(inventory) != Protection::Open {
            continue;
        }
        if row.keeps_a_sum() || (!row.site.statement.parsed && row.mentions_any()) {
            continue;
        }
        let draft = match row.token() {
            Some(token) => unfenced(&row, token),
            None if row.finishes_claim() => Some(unclaimed(&row)),
            None => None,
        };
        if let Some(draft) = draft {
            report.add(with_context(draft, &row));
        }
    }
    for write in held_writes(inventory) {
        report.add(under_lease(&write));
    }
}

/// No token is there to be compared, and a lease that ends by itself is all that keeps others out.
fn under_lease(write: &HeldWrite) -> Draft {
    let (table, lock) = (&write.table, &write.lock);
    let (message, confidence) = match write.read_at {
        Some(_) if write.in_one_transaction => (
            format!(
                "`{table}` is read and written under the lease `{lock}`, and the transaction refuses no write of a holder that has lost it, unless it is serializable"
            ),
            Confidence::Low,
        ),
        Some(_) => (
            format!(
                "what was read under the lease `{lock}` is written to `{table}` with no token: a holder that is paused past its TTL overwrites what its successor has written"
            ),
            Confidence::Medium,
        ),
        None => (
            format!(
                "`{table}` is written under the lease `{lock}` with no token: a holder that is paused past its TTL may overwrite what its successor has written"
            ),
            // A lock of the row itself is there for what is written to it; another may only save work.
            if write.is_of_row { Confidence::Medium } else { Confidence::Low },
        ),
    };
    let mut draft = Draft::new(
        write.location,
        "no token, and the row has none",
        message,
        "give the row a column `fencing_token BIGINT NOT NULL DEFAULT 0`, draw a token in the step that takes the lease, and write `… SET fencing_token = $token … AND fencing_token < $token`; or compare what was read",
    )
    .lock(lock)
    .confidence(confidence)
    .related(write.acquired_at, "the lease is taken here");
    if let Some(read) = write.read_at {
        draft = draft.related(read, "it is read here");
    }
    match write.call {
        Some(call) => draft.related(call, "the statement is run here"),
        None => draft,
    }
}

fn unfenced(row: &RowWrite<'_>, token: &TokenColumn) -> Option<Draft> {
    let versioned = matches!(token.tier, TokenTier::Version | TokenTier::Ambiguous);
    let deletes = row.write.verb == WriteVerb::Delete;
    if deletes && token.tier >= TokenTier::Ambiguous {
        return None;
    }
    let table = &row.write.table.name;
    let column = &token.name;
    let (message, label) = match row.write.verb {
        WriteVerb::Replace => (
            format!(
                "this replaces the row of `{table}` whatever `{column}` it has, so a paused holder overwrites newer data"
            ),
            format!("replaces the row and its `{column}`"),
        ),
        WriteVerb::Upsert | WriteVerb::DuplicateKeyUpdate => (
            format!(
                "this upsert overwrites an existing row of `{table}` without comparing `{column}`, so a paused holder overwrites newer data"
            ),
            format!("updates on conflict without comparing `{column}`"),
        ),
        WriteVerb::Delete => (
            format!(
                "this deletes a row of `{table}` without comparing `{column}`, so a paused holder deletes newer data"
            ),
            format!("deletes without comparing `{column}`"),
        ),
        _ => (
            format!(
                "this writes to `{table}` without comparing `{column}`, so a paused holder overwrites newer data"
            ),
            format!("no condition on `{column}`"),
        ),
    };
    let help = match row.write.verb {
        _ if versioned => format!(
            "add `AND {column} = $n` with the version that was read, set `{column} = {column} + 1`, and check that a row was changed"
        ),
        WriteVerb::Delete => format!(
            "add `AND {column} < $token` (or mark the row as deleted and keep its token), and check that a row was changed"
        ),
        WriteVerb::Upsert => format!(
            "add `WHERE {table}.{column} < EXCLUDED.{column}` after DO UPDATE SET, and check that a row was changed"
        ),
        WriteVerb::DuplicateKeyUpdate => format!(
            "write each assignment as `x = IF({column} < VALUES({column}), VALUES(x), x)` and set `{column}` last"
        ),
        WriteVerb::Replace => format!("use an upsert whose update compares `{column}`"),
        _ => {
            format!("add `AND {column} < $token`, set `{column} = $token`, and check that a row was changed")
        }
    };
    let sure = token.known_type && token.tier < TokenTier::Ambiguous;
    let mut draft = Draft::new(row.site.location(), label, message, help).lock(table.clone());
    draft = draft.confidence(if sure { Confidence::High } else { Confidence::Medium });
    if deletes && versioned {
        draft = draft.severity(Severity::Warning).confidence(Confidence::Medium);
    }
    let uncertain = token.tier == TokenTier::Ambiguous && row.write.verb == WriteVerb::Upsert;
    if uncertain || token.tier == TokenTier::Usage {
        // Starting a record afresh is a common reason to overwrite it on purpose.
        draft = draft.confidence(Confidence::Low);
    }
    if !versioned {
        draft = draft.fix(statement::fence(row, column));
    }
    if let Some(declared) = token.declared {
        draft = draft.related(declared, format!("`{column}` is declared here"));
    }
    Some(draft)
}

/// Rows that workers are given and may lose: by id only, or by id and state.
fn unclaimed(row: &RowWrite<'_>) -> Draft {
    let table = &row.write.table.name;
    let profile = row.profile;
    let by_state = row.compares_state();
    let holder = profile.owners.first().or_else(|| profile.claim_times.first());
    let message = if by_state {
        format!(
            "the state alone does not say who runs this row of `{table}`: a worker that lost it to another one still changes it"
        )
    } else {
        format!(
            "a worker that lost this row of `{table}` to another one still changes it, because the statement picks it by its id only"
        )
    };
    let help = match holder {
        Some(column) => format!(
            "add `AND {column} = $n` with the value that the claim stored, and check that a row was changed"
        ),
        None => "store a token with each claim, compare it here, and check that a row was changed".to_owned(),
    };
    let label = if by_state {
        "compares the state and not the holder"
    } else {
        "compares neither holder nor attempt"
    };
    let sure = if profile.declared_claims && !by_state { Confidence::High } else { Confidence::Medium };
    let draft = Draft::new(row.site.location(), label, message, help).lock(table.clone()).confidence(sure);
    if by_state { draft.severity(Severity::Warning) } else { draft }
}

fn with_context(mut draft: Draft, row: &RowWrite<'_>) -> Draft {
    if let Some(call) = row.site.call {
        draft = draft.related(call, "the statement is run here");
    }
    // A condition may stand in the piece that is not known.
    if !row.site.complete || !row.site.statement.parsed {
        draft = draft.confidence(Confidence::Low);
    }
    draft
}

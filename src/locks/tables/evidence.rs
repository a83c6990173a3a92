//! What statements show about the tables they touch.

use super::upkeep::{Upkeep, asks_age, is_silent, picks_silent, upkeep};
use super::walk::{NestedWrite, inner_selects, is_before, literal, own_compares, selects, writes};
use super::{TableProfile, Tables, TokenColumn, TokenKind, contains};
use crate::facts::sql::{Comparison, Expr, ExprKind, Select, SourceKind, TableName, Write, WriteVerb};
use crate::locks::conventions::Conventions;
use crate::locks::guard::{self, GuardKind, LooseReason, NewToken, Question, Verdict};
use crate::locks::naming::{self, TokenTier};
use crate::locks::statement::SqlSite;
use crate::locks::{CountUse, Inventory};

/// Columns that only usage knows: tokens of tables without a schema, and ambiguous names that some
/// statement guards and advances.
pub(super) fn columns(tables: &mut Tables, inventory: &Inventory, site: &SqlSite) {
    for nested in writes(&site.statement.kind) {
        let table = &nested.write.table;
        let schema = inventory.schema.table(site.package, site.dialect, table);
        let known = schema.filter(|t| !t.columns.is_empty());
        let used = used_columns(nested.write);
        let Some(profile) = tables.profile_mut(site, table) else { continue };
        for column in &used {
            if profile.is_token(column) {
                continue;
            }
            let declared = known.and_then(|t| t.column(column));
            if let Some(token) =
                used_token(inventory, site, nested, column, declared.map(|c| c.data_type.as_str()))
            {
                let key = known.is_some_and(|t| t.is_key_part(column));
                if !key {
                    let declared = declared.and_then(|c| c.declared);
                    profile.tokens.push(TokenColumn { declared, ..token });
                }
            }
        }
        if known.is_none() {
            add_lease_columns(profile, &table.name, &used, &inventory.conventions);
        }
    }
}

fn add_lease_columns(profile: &mut TableProfile, table: &str, used: &[&str], conventions: &Conventions) {
    let mut names: Vec<String> =
        [&profile.owners, &profile.deadlines, &profile.claim_times].into_iter().flatten().cloned().collect();
    names.extend(used.iter().filter(|c| !contains(&names, c)).map(|c| (*c).to_owned()).collect::<Vec<_>>());
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    super::lease_columns(profile, &names, table, conventions);
}

/// Columns of the row that the statement names.
pub(in crate::locks) fn used_columns(write: &Write) -> Vec<&str> {
    let mut found: Vec<&str> = write.assignments.iter().map(|a| a.column.as_str()).collect();
    found.extend(write.insert_columns.iter().map(String::as_str));
    for e in write.predicate.iter().chain(&write.join_conditions) {
        columns_in(write, e, &mut found);
    }
    for assignment in &write.assignments {
        columns_in(write, &assignment.value, &mut found);
    }
    found.sort_unstable();
    found.dedup();
    found
}

fn columns_in<'e>(write: &Write, e: &'e Expr, found: &mut Vec<&'e str>) {
    match &e.kind {
        ExprKind::Column { qualifier, name } if is_own(write, qualifier.as_deref()) => found.push(name),
        _ => {
            for part in e.kind.parts() {
                columns_in(write, part, found);
            }
        }
    }
}

fn is_own(write: &Write, qualifier: Option<&str>) -> bool {
    let row = write.alias.as_deref().unwrap_or(&write.table.name);
    match qualifier {
        None => write.sources.is_empty(),
        Some(q) => q.eq_ignore_ascii_case(row) || q.eq_ignore_ascii_case(&write.table.name),
    }
}

/// A token that this write proves, or whose name leaves no doubt.
fn used_token(
    inventory: &Inventory,
    site: &SqlSite,
    nested: NestedWrite<'_>,
    column: &str,
    data_type: Option<&str>,
) -> Option<TokenColumn> {
    let integer = data_type.map(naming::is_integer_type);
    let Some(tier) = inventory.conventions.token_tier(&nested.write.table.name, column) else {
        let (tier, kind) = unnamed_token(inventory, site, nested, column, integer)?;
        let (name, known_type) = (column.to_owned(), data_type.is_some());
        return Some(TokenColumn { name, tier, kind, declared: None, known_type });
    };
    let token = |kind| {
        Some(TokenColumn {
            name: column.to_owned(),
            tier,
            kind,
            declared: None,
            known_type: data_type.is_some(),
        })
    };
    // The schema has already spoken of these.
    if data_type.is_some() && tier != TokenTier::Ambiguous {
        return None;
    }
    if integer == Some(false) {
        return None;
    }
    match tier {
        TokenTier::Fence => token(TokenKind::Ordered),
        TokenTier::Version => token(TokenKind::Version),
        TokenTier::Lease | TokenTier::Ambiguous => {
            let words = naming::words(column);
            let version = words.last().is_some_and(|w| ["version", "revision", "rev"].contains(&w.as_str()));
            match (proof(inventory, site, nested, column), tier) {
                (Some(TokenKind::Version), TokenTier::Ambiguous) => token(TokenKind::Version),
                (Some(TokenKind::Ordered), TokenTier::Ambiguous) if !version => token(TokenKind::Ordered),
                (Some(TokenKind::Ordered), TokenTier::Lease) => token(TokenKind::Ordered),
                (_, TokenTier::Lease) => token(TokenKind::Identity),
                (None, TokenTier::Ambiguous)
                    if version && is_read_version(inventory, site, nested, column) =>
                {
                    token(TokenKind::Version)
                }
                _ => None,
            }
        }
        TokenTier::Usage => None,
    }
}

/// `WHERE id = $1 AND version = $2`, where `id` is the whole key and the count is looked at: the version picks
/// no other row, it only refuses.
fn is_read_version(inventory: &Inventory, site: &SqlSite, nested: NestedWrite<'_>, column: &str) -> bool {
    let write = nested.write;
    let Some(table) = inventory.schema.table(site.package, site.dialect, &write.table) else { return false };
    let compares = own_compares(write.predicate.as_ref());
    let given = |name: &str| {
        compares.iter().any(|(own, operator, value)| {
            *operator == Comparison::Equal && own.eq_ignore_ascii_case(name) && is_given(value)
        })
    };
    let counted = !matches!(site.count, CountUse::Ignored);
    write.verb == WriteVerb::Update
        && counted
        && !table.primary_key.is_empty()
        && table.primary_key.iter().all(|key| given(key))
        && given(column)
}

/// A token that no catalogue of names knows. The statement stores what it compares with, for order, beside
/// something else that it protects.
fn unnamed_token(
    inventory: &Inventory,
    site: &SqlSite,
    nested: NestedWrite<'_>,
    column: &str,
    integer: Option<bool>,
) -> Option<(TokenTier, TokenKind)> {
    let named = naming::may_count_holders(column);
    let excluded = naming::is_time(column) || naming::is_measure(column) || naming::is_attempt(column);
    if integer == Some(false) || (!named && (integer.is_none() || excluded)) {
        return None;
    }
    let tier = if named { TokenTier::Ambiguous } else { TokenTier::Usage };
    match proof(inventory, site, nested, column)? {
        TokenKind::Ordered if stores_what_it_compares(nested.write, column) => {
            Some((tier, TokenKind::Ordered))
        }
        TokenKind::Version
            if named && matches!(guard::new_token(nested.write, column), NewToken::Raised(_)) =>
        {
            Some((tier, TokenKind::Version))
        }
        _ => None,
    }
}

/// `SET payload = $1, turn = $2 … WHERE turn < $2`
fn stores_what_it_compares(write: &Write, column: &str) -> bool {
    let own = |name: &str| name.eq_ignore_ascii_case(column);
    let stores = write.assignments.iter().any(|a| own(&a.column) && is_given(&a.value));
    let protects = |name: &str| !own(name) && !naming::is_time(name) && !naming::is_audit(name);
    stores && write.assignments.iter().any(|a| protects(&a.column))
}

/// How the write uses the column as a token: compared with the holder's value, and advanced.
fn proof(inventory: &Inventory, site: &SqlSite, nested: NestedWrite<'_>, column: &str) -> Option<TokenKind> {
    let has_column = |t: &TableName, c: &str| has_column(inventory, site, t, c);
    let question = Question {
        write: nested.write,
        dialect: site.dialect,
        column,
        outer_ctes: nested.outer_ctes,
        has_column: &has_column,
    };
    let ordered = match guard::judge(question) {
        Verdict::Guarded(g) if g.how == GuardKind::Equal => false,
        Verdict::Guarded(g) => g.how != GuardKind::OtherRow,
        Verdict::Loose(l) => {
            !matches!(l.reason, LooseReason::NotEqual | LooseReason::OtherTable | LooseReason::Unlocked)
        }
        Verdict::Absent => return None,
    };
    match guard::new_token(nested.write, column) {
        NewToken::Raised(_) => Some(TokenKind::Version),
        NewToken::Given(_) if ordered => Some(TokenKind::Ordered),
        NewToken::Given(_) => Some(TokenKind::Version),
        NewToken::Kept => None,
    }
}

pub(in crate::locks) fn has_column(
    inventory: &Inventory,
    site: &SqlSite,
    table: &TableName,
    column: &str,
) -> Option<bool> {
    let known = inventory.schema.table(site.package, site.dialect, table)?;
    (!known.columns.is_empty()).then(|| known.column(column).is_some())
}

/// Hand-outs, by queries and by updates that ask for no time that has gone by.
pub(super) fn claims(tables: &mut Tables, site: &SqlSite) {
    let nested = writes(&site.statement.kind);
    for select in selects(&site.statement.kind).into_iter().filter(|select| select.skip_locked) {
        // A query that picks the rows of an update means what the update does with them.
        if nested.iter().any(|n| inner_selects(n.write).iter().any(|inner| std::ptr::eq(*inner, select))) {
            continue;
        }
        for source in &select.sources {
            let SourceKind::Table(table) = &source.kind else { continue };
            if let Some(profile) = tables.profile_mut(site, table) {
                picked(profile, site, select);
            }
        }
    }
    for nested in nested {
        let Some(profile) = tables.profile_mut(site, &nested.write.table) else { continue };
        if !asks_age(profile, nested.write) {
            claim(profile, site, nested.write);
        }
    }
}

/// What updates do that ask for such a time: the states that the other statements showed tell a claim from
/// a reaper.
pub(super) fn aged(tables: &mut Tables, site: &SqlSite) {
    for nested in writes(&site.statement.kind) {
        let write = nested.write;
        let Some(profile) = tables.profile_mut(site, &write.table) else { continue };
        if !asks_age(profile, write) {
            continue;
        }
        match upkeep(profile, site, write) {
            None => claim(profile, site, write),
            Some(kind) => keep(profile, site, write, kind),
        }
    }
}

fn claim(profile: &mut TableProfile, site: &SqlSite, write: &Write) {
    let sweeps = write.verb == WriteVerb::Delete && write.returning.is_none();
    for select in inner_selects(write).into_iter().filter(|select| select.skip_locked) {
        if !(sweeps && picks_silent(select.predicate.as_ref())) {
            picked(profile, site, select);
        }
    }
    if matches!(write.verb, WriteVerb::Update | WriteVerb::Upsert | WriteVerb::DuplicateKeyUpdate) {
        hand_out(profile, site, write);
    }
}

/// A query that skips what others have locked hands its rows out.
fn picked(profile: &mut TableProfile, site: &SqlSite, select: &Select) {
    let predicate = select.predicate.as_ref();
    profile.handed_out = true;
    if !picks_silent(predicate) {
        waits_for(profile, site, predicate);
    }
    profile.taken_back |= expires(profile, predicate);
}

/// A reaper or a scheduler: nobody gets a row by it.
fn keep(profile: &mut TableProfile, site: &SqlSite, write: &Write, kind: Upkeep) {
    let given: Vec<String> = write
        .assignments
        .iter()
        .filter(|a| naming::is_state(&a.column))
        .filter_map(|a| literal(site, &a.value))
        .collect();
    let asked = asked_states(site, write);
    match kind {
        Upkeep::Requeues => {
            profile.taken_back = true;
            profile.waiting_states.extend(given);
            profile.running_states.extend(asked);
        }
        Upkeep::Promotes => profile.waiting_states.extend(given.into_iter().chain(asked)),
        Upkeep::Ends => {}
    }
}

/// The states that an update asks its rows for, in its own condition or in the queries that pick them.
fn asked_states(site: &SqlSite, write: &Write) -> Vec<String> {
    let inner = inner_selects(write);
    let conditions = write.predicate.iter().chain(inner.iter().filter_map(|s| s.predicate.as_ref()));
    conditions
        .flat_map(|e| own_compares(Some(e)))
        .filter(|(column, operator, _)| *operator == Comparison::Equal && naming::is_state(column))
        .filter_map(|(.., other)| literal(site, other))
        .collect()
}

/// States that a picking query asks for.
fn waits_for(profile: &mut TableProfile, site: &SqlSite, predicate: Option<&Expr>) {
    for (column, operator, other) in own_compares(predicate) {
        if operator == Comparison::Equal && naming::is_state(column) {
            profile.waiting_states.extend(literal(site, other));
        }
    }
}

/// Whether the condition lets rows in whose holder has been silent too long.
fn expires(profile: &TableProfile, predicate: Option<&Expr>) -> bool {
    own_compares(predicate).iter().any(|(column, operator, _)| {
        is_before(*operator)
            && (profile.is_deadline(column)
                || profile.is_claim_time(column)
                || naming::is_deadline(column)
                || naming::is_claim_time(column))
    })
}

fn hand_out(profile: &mut TableProfile, site: &SqlSite, write: &Write) {
    let mut conditions = own_compares(write.predicate.as_ref());
    let inner = inner_selects(write);
    for select in &inner {
        conditions.extend(own_compares(select.predicate.as_ref()));
    }
    let upsert = write.verb != WriteVerb::Update;
    let picks = inner.iter().any(|s| s.skip_locked || s.limited);
    let sets_owner = sets(write, &|c| profile.is_owner(c));
    let deadline = |c: &str| profile.is_deadline(c) || naming::is_deadline(c) || naming::is_weak_deadline(c);
    let expiring = conditions.iter().any(|(column, operator, _)| {
        is_before(*operator) && deadline(column) && sets(write, &|c| c.eq_ignore_ascii_case(column))
    });
    // A cache entry is written over when it has expired, too; only a lock says whose it is.
    let whose = profile.is_lock_table
        || conditions.iter().any(|(c, ..)| naming::is_deadline(c))
        || write.assignments.iter().any(|a| names_holder(&a.column));
    let expiring = expiring && (!upsert || whose);
    let claim_or_deadline = |c: &str| deadline(c) || profile.is_claim_time(c);
    let stale = conditions.iter().any(|(c, o, _)| is_before(*o) && claim_or_deadline(c));
    profile.handed_out |= expiring || (sets_owner && !upsert);
    profile.taken_back |= expiring || (sets_owner && !upsert && stale);
    if expiring {
        learn_deadline(profile, &conditions);
        if upsert && profile.owners.is_empty() {
            // What an acquire stores beside the deadline is who it is.
            let other = write
                .assignments
                .iter()
                .filter(|a| !naming::is_time(&a.column) && !naming::is_state(&a.column));
            profile.owners = other.filter(|a| is_given(&a.value)).map(|a| a.column.clone()).collect();
        }
        profile.is_lock_table |= upsert;
    }
    if !(sets_owner || picks || expiring) {
        return;
    }
    let states = write.assignments.iter().filter(|a| naming::is_state(&a.column));
    let given = states.filter_map(|a| literal(site, &a.value));
    let running: Vec<String> = given.filter(|state| !naming::is_terminal_state(state)).collect();
    let asked = conditions
        .iter()
        .filter(|(column, operator, _)| *operator == Comparison::Equal && naming::is_state(column))
        .filter_map(|(_, _, other)| literal(site, other));
    let (again, waiting): (Vec<String>, Vec<String>) = asked.partition(|state| contains(&running, state));
    profile.handed_out |= !running.is_empty();
    // `state = 'running' AND started_at < …` beside the waiting rows: the claim takes from the silent.
    profile.taken_back |= !again.is_empty() && conditions.iter().any(is_silent);
    profile.running_states.extend(running);
    profile.waiting_states.extend(waiting);
}

pub(super) fn names_holder(column: &str) -> bool {
    let neutral = ["value", "token"].iter().any(|n| column.eq_ignore_ascii_case(n));
    naming::is_owner(column) || (naming::is_weak_owner(column) && !neutral)
}

/// Whether the write gives a column of this kind a value of its own.
fn sets(write: &Write, test: &dyn Fn(&str) -> bool) -> bool {
    write.assignments.iter().any(|a| test(&a.column) && !is_null(&a.value) && !is_self(&a.value, &a.column))
}

fn learn_deadline(profile: &mut TableProfile, conditions: &[(&str, Comparison, &Expr)]) {
    for (column, operator, _) in conditions {
        let named = naming::is_deadline(column) || naming::is_weak_deadline(column);
        if is_before(*operator) && named && !profile.is_deadline(column) {
            profile.deadlines.push((*column).to_owned());
        }
    }
}

/// `SET state = 'running' WHERE id = $1`, where a reaper takes rows back from that state: the row was
/// picked by a statement before, and is given to a worker here.
pub(super) fn starts(tables: &mut Tables, site: &SqlSite) {
    for nested in writes(&site.statement.kind) {
        let write = nested.write;
        let Some(profile) = tables.profile_mut(site, &write.table) else { continue };
        if write.verb != WriteVerb::Update || !profile.taken_back {
            continue;
        }
        let states = write.assignments.iter().filter(|a| naming::is_state(&a.column));
        profile.handed_out |= states
            .filter_map(|a| literal(site, &a.value))
            .any(|state| contains(&profile.running_states, &state));
    }
}

/// The last word, when all statements have been seen.
pub(super) fn conclude(profile: &mut TableProfile) {
    let strong_deadline = profile.deadlines.iter().any(|d| naming::is_deadline(d));
    if profile.declared_claims && profile.handed_out && strong_deadline {
        profile.taken_back = true;
    }
    profile.tokens.sort_by(|a, b| (a.tier, &a.name).cmp(&(b.tier, &b.name)));
    for states in [&mut profile.running_states, &mut profile.waiting_states] {
        states.sort_unstable();
        states.dedup();
    }
}

fn is_null(e: &Expr) -> bool {
    match &e.kind {
        ExprKind::Null => true,
        ExprKind::Cast { operand, .. } => is_null(operand),
        _ => false,
    }
}

fn is_self(e: &Expr, column_name: &str) -> bool {
    matches!(&e.kind, ExprKind::Column { qualifier, name } if name.eq_ignore_ascii_case(column_name)
        && !qualifier.as_deref().is_some_and(|q| q.eq_ignore_ascii_case("excluded")))
}

/// A value from the caller.
pub(super) fn is_given(e: &Expr) -> bool {
    match &e.kind {
        ExprKind::Bind(_) | ExprKind::Hole | ExprKind::InsertedValue { .. } => true,
        ExprKind::Column { qualifier: Some(q), .. } => q.eq_ignore_ascii_case("excluded"),
        ExprKind::Cast { operand, .. } => is_given(operand),
        ExprKind::Call { name, args } if name == "if" => args.get(1).is_some_and(is_given),
        _ => false,
    }
}

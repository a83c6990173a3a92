//! Leases of rows, and writes to fenced tables: what each statement is to its table, as steps of the model.

use std::collections::HashSet;

use super::{Found, keys, part, rhythms};
use crate::facts::Location;
use crate::facts::sql::{ExprKind, WriteVerb};
use crate::locks::endless_rows::endless_lock_tables;
use crate::locks::guard::{GuardKind, LooseReason, NewToken, new_token};
use crate::locks::naming;
use crate::locks::rows::{Protection, Purpose, RowWrite, drawn_tokens, row_writes};
use crate::locks::schema::Table;
use crate::locks::tables::TokenKind;
use crate::locks::{
    CountUse, Inventory, RenewalLoop, SqlSite, constant_row_owners, ignored_row_acquires,
    unguarded_row_claims,
};
use crate::proof::protocol::{
    Answer, Asks, Command, Guard, Life, Owner, Part, Role, Sets, Source, Step, Store, TokenOf,
};

pub(super) fn add(inventory: &Inventory, found: &mut Found) {
    let reader = Reader::of(inventory);
    for row in row_writes(inventory) {
        let table = row.write.table.name.as_str();
        let is_lock = row.holds_leases() || row.profile.is_claim_table() || row.takes_lease();
        let parts = reader.parts(&row);
        if parts.is_empty() {
            continue;
        }
        let protocol = found.of(Store::Rows, table);
        if is_lock && protocol.evidence.is_empty() {
            protocol.evidence = evidence(&row);
        }
        protocol.declared = protocol.declared.or(row.table.and_then(|table| table.declared));
        protocol.life = reader.life(&row);
        parts.into_iter().for_each(|part| protocol.add(part));
    }
    add_looked_up(inventory, found);
    add_declared(inventory, found);
}

/// Claims whose free rows another statement has read, in tables that nothing else shows to be of claims.
fn add_looked_up(inventory: &Inventory, found: &mut Found) {
    for claim in unguarded_row_claims(inventory) {
        let look = Step { command: Command::Look, place: claim.read };
        let take = take(Asks::Remembered, Life::Timed, Owner::Own, TokenOf::Take, Answer::Heard);
        let steps = vec![look, Step { command: take, place: Some(claim.site.location()) }];
        found.of(Store::Rows, claim.table).add(part(
            Role::Acquire,
            function(claim.site),
            steps,
            claim.site.call,
        ));
    }
}

/// Lock tables, whatever is done to them.
fn add_declared(inventory: &Inventory, found: &mut Found) {
    let tables = inventory.schema.databases.iter().flat_map(|database| database.tables.values().flatten());
    for table in tables.filter(|table| inventory.conventions.is_lock_table(&table.name.name)) {
        let name = &table.name.name;
        let is_new = !found.protocols.contains_key(&(Store::Rows, name.clone()));
        let protocol = found.of(Store::Rows, name);
        protocol.declared = protocol.declared.or(table.declared);
        if is_new {
            let ends = |c: &crate::locks::schema::Column| inventory.conventions.is_deadline(name, &c.name);
            protocol.life = if table.columns.iter().any(ends) { Life::Timed } else { Life::Endless };
            protocol.evidence = vec!["its table is one of locks".to_owned()];
        }
    }
}

fn evidence(row: &RowWrite<'_>) -> Vec<String> {
    let profile = row.profile;
    let mut found = Vec::new();
    if profile.is_lock_table {
        found.push("its table is one of locks".to_owned());
    }
    for (columns, what) in
        [(&profile.owners, "says who has the row"), (&profile.deadlines, "says until when")]
    {
        if let Some(column) = columns.first() {
            found.push(format!("`{column}` {what}"));
        }
    }
    if profile.is_claim_table() {
        found.push("its rows are given to workers and taken back".to_owned());
    }
    found
}

struct Reader<'i> {
    inventory: &'i Inventory,
    loops: Vec<RenewalLoop<'i>>,
    unguarded: Vec<(*const SqlSite, Option<Location>)>,
    shared: HashSet<*const SqlSite>,
    dropped: HashSet<*const SqlSite>,
    drawn: Vec<(*const SqlSite, Location)>,
    endless: Vec<&'i Table>,
}

impl<'i> Reader<'i> {
    fn of(inventory: &'i Inventory) -> Self {
        let pointer = |site: &SqlSite| std::ptr::from_ref(site);
        Self {
            inventory,
            endless: endless_lock_tables(inventory).into_iter().map(|endless| endless.table).collect(),
            loops: inventory.renewal_loops(),
            unguarded: unguarded_row_claims(inventory)
                .iter()
                .map(|claim| (pointer(claim.site), claim.read))
                .collect(),
            shared: constant_row_owners(inventory).iter().map(|(claim, _)| pointer(claim.site)).collect(),
            dropped: ignored_row_acquires(inventory).into_iter().map(pointer).collect(),
            drawn: drawn_tokens(inventory)
                .iter()
                .map(|token| (pointer(token.site), token.drawn.location))
                .collect(),
        }
    }

    fn life(&self, row: &RowWrite<'_>) -> Life {
        if row.table.is_some_and(|table| self.endless.iter().any(|known| std::ptr::eq(*known, table))) {
            return Life::Endless;
        }
        let profile = row.profile;
        let columns = row.table.into_iter().flat_map(|table| &table.columns);
        let is_moment = |name: &str| naming::is_time(name) || naming::is_weak_deadline(name);
        let is_timed = !profile.deadlines.is_empty()
            || !profile.claim_times.is_empty()
            || profile.taken_back
            || columns.into_iter().any(|column| is_moment(&column.name));
        if is_timed { Life::Timed } else { Life::Endless }
    }

    fn parts(&self, row: &RowWrite<'_>) -> Vec<Part> {
        if row.purpose != Purpose::Renew && (row.takes_lease() || row.purpose == Purpose::Acquire) {
            let mut parts = vec![self.acquire(row)];
            parts.extend(self.drawn_at(row).map(|_| self.write(row)));
            return parts;
        }
        match row.purpose {
            Purpose::Release => {
                let forgets = self.sets(row, false) == Sets::First;
                std::iter::once(self.release(row)).chain(forgets.then(|| self.write(row))).collect()
            }
            Purpose::Renew => self.renewals(row),
            Purpose::Protected if self.is_protected(row) => vec![self.write(row)],
            Purpose::Sweep | Purpose::Bookkeeping if self.sets(row, false) == Sets::First => {
                vec![self.write(row)]
            }
            Purpose::Acquire | Purpose::Protected | Purpose::Sweep | Purpose::Bookkeeping => Vec::new(),
        }
    }

    /// Whether the write is made because of a right that can be lost: the row has a token, or a worker was given it.
    fn is_protected(&self, row: &RowWrite<'_>) -> bool {
        let open = row.protection(self.inventory) == Protection::Open;
        let asks_otherwise = !row.site.statement.parsed && row.mentions_any();
        !row.keeps_a_sum() && !asks_otherwise && (!open || row.token().is_some() || row.finishes_claim())
    }

    fn acquire(&self, row: &RowWrite<'_>) -> Part {
        let pointer = std::ptr::from_ref(row.site);
        let look = self.unguarded.iter().find(|(site, _)| *site == pointer);
        let answer = if self.dropped.contains(&pointer) { Answer::Dropped } else { Answer::Heard };
        let owner = if self.shared.contains(&pointer) { Owner::Shared } else { Owner::Own };
        let token = match row.token().filter(|token| token.kind == TokenKind::Ordered) {
            Some(token) if self.keeps_token(row, &token.name) => TokenOf::Kept,
            _ => TokenOf::Take,
        };
        let asks = if look.is_some() { Asks::Remembered } else { Asks::Stored };
        let look = look.map(|(_, read)| Step { command: Command::Look, place: *read });
        let mut steps: Vec<Step> = look.into_iter().collect();
        steps.push(at(row, take(asks, self.life(row), owner, token, answer)));
        self.part(Role::Acquire, row, steps)
    }

    fn keeps_token(&self, row: &RowWrite<'_>, column: &str) -> bool {
        let is_update = !matches!(row.write.verb, WriteVerb::Insert | WriteVerb::Replace);
        is_update && new_token(row.write, column) == NewToken::Kept && !row.trigger_advances(column)
    }

    fn release(&self, row: &RowWrite<'_>) -> Part {
        let asks = self.asks(row);
        let look = row.site.compared_reads.first().filter(|_| asks == Asks::Remembered);
        let mut steps: Vec<Step> =
            look.map(|read| Step { command: Command::Look, place: Some(*read) }).into_iter().collect();
        steps.push(at(row, Command::Free { asks, answer: answer(row), is_last: true }));
        self.part(Role::Release, row, steps)
    }

    /// One for each loop that repeats the statement.
    fn renewals(&self, row: &RowWrite<'_>) -> Vec<Part> {
        let asks = self.asks(row);
        let look = row.site.compared_reads.first().filter(|_| asks == Asks::Remembered);
        let mut steps: Vec<Step> =
            look.map(|read| Step { command: Command::Look, place: Some(*read) }).into_iter().collect();
        let revives =
            matches!(row.write.verb, WriteVerb::Upsert | WriteVerb::DuplicateKeyUpdate | WriteVerb::Replace);
        let repetitions = &row.site.repetitions;
        let answer = if repetitions.is_empty() { answer(row) } else { Answer::Heard };
        steps.push(at(row, Command::Extend { asks, life: self.life(row), revives, answer }));
        let once = self.part(Role::Renew, row, steps);
        if repetitions.is_empty() {
            return vec![once];
        }
        let repeated = repetitions.iter().map(|repetition| {
            let mut part = once.clone();
            part.places.extend(keys::loop_places(repetition));
            part.rhythm = rhythms::of(repetition, &self.loops);
            part
        });
        repeated.collect()
    }

    /// What a statement that frees or extends a row asks.
    fn asks(&self, row: &RowWrite<'_>) -> Asks {
        match row.protection(self.inventory) {
            Protection::Open | Protection::Loose { .. } if !row.site.compared_reads.is_empty() => {
                Asks::Remembered
            }
            Protection::Open | Protection::Loose { .. } => Asks::Nothing,
            Protection::Fenced { .. } | Protection::Held { .. } | Protection::Elsewhere => Asks::Stored,
        }
    }

    fn write(&self, row: &RowWrite<'_>) -> Part {
        let protection = row.protection(self.inventory);
        let is_version = match (&protection, row.token()) {
            (Protection::Fenced { token, .. }, _) => token.kind == TokenKind::Version,
            (Protection::Loose { column, .. }, Some(token)) => {
                token.kind == TokenKind::Version && token.name.eq_ignore_ascii_case(column)
            }
            (Protection::Open, Some(token)) => token.kind == TokenKind::Version,
            _ => false,
        };
        let guard = match &protection {
            Protection::Fenced { guard, .. } if is_version => match guard.how {
                GuardKind::OtherRow => Guard::Elsewhere,
                _ => Guard::SameVersion,
            },
            Protection::Fenced { guard, .. } => match guard.how {
                GuardKind::Less => Guard::Newer,
                GuardKind::LessOrEqual => Guard::NewerOrSame,
                GuardKind::Equal => Guard::Same,
                GuardKind::OtherRow => Guard::Holder,
            },
            Protection::Held { .. } => Guard::Holder,
            Protection::Loose { looseness, .. } => loose(looseness.reason),
            Protection::Open => Guard::Nothing,
            Protection::Elsewhere => Guard::Elsewhere,
        };
        let mut steps = Vec::new();
        if let Some(place) = self.drawn_at(row) {
            steps.push(Step { command: Command::Draw(Source::Process), place: Some(place) });
        }
        if is_version {
            steps.push(Step { command: Command::ReadVersion, place: None });
        } else if guard == Guard::RememberedNewer {
            steps.push(Step { command: Command::Read, place: None });
        }
        let write = Command::Write { guard, sets: self.sets(row, is_version), answer: answer(row) };
        steps.push(at(row, write));
        self.part(Role::Write, row, steps)
    }

    /// What the statement leaves in the row's token.
    fn sets(&self, row: &RowWrite<'_>, is_version: bool) -> Sets {
        let ordered = row.profile.tokens.iter().find(|token| token.kind == TokenKind::Ordered);
        let Some(token) = ordered.or(row.token()) else { return Sets::Kept };
        if matches!(row.write.verb, WriteVerb::Delete) {
            return Sets::First;
        }
        if row.write.verb == WriteVerb::Replace {
            return Sets::First;
        }
        if row.trigger_advances(&token.name) {
            return Sets::Token;
        }
        match new_token(row.write, &token.name) {
            NewToken::Kept => Sets::Kept,
            NewToken::Raised(_) => Sets::Raised,
            NewToken::Given(assignment) if matches!(assignment.value.kind, ExprKind::Number(_)) => {
                Sets::First
            }
            NewToken::Given(assignment) if is_version => {
                let compares = row.compares();
                let is_kept = compares.iter().any(|(column, _, value)| {
                    column.eq_ignore_ascii_case(&token.name)
                        && matches!(value.kind, ExprKind::Bind(_))
                        && value.kind == assignment.value.kind
                });
                if is_kept { Sets::Kept } else { Sets::Raised }
            }
            NewToken::Given(_) => Sets::Token,
        }
    }

    fn drawn_at(&self, row: &RowWrite<'_>) -> Option<Location> {
        let pointer = std::ptr::from_ref(row.site);
        self.drawn.iter().find(|(site, _)| *site == pointer).map(|(_, place)| *place)
    }

    fn part(&self, role: Role, row: &RowWrite<'_>, steps: Vec<Step>) -> Part {
        let more = row.site.call.into_iter().chain(row.site.count_dropped_by);
        let mut part = part(role, function(row.site), steps, more);
        if let Protection::Loose { looseness, .. } = row.protection(self.inventory) {
            part.places.push(row.site.at(looseness.span));
        }
        if let Protection::Fenced { guard, .. } = row.protection(self.inventory) {
            part.places.push(row.site.at(guard.span));
        }
        part
    }
}

fn function(site: &SqlSite) -> &str {
    site.function.as_deref().unwrap_or_default()
}

fn at(row: &RowWrite<'_>, command: Command) -> Step {
    Step { command, place: Some(row.site.location()) }
}

fn take(asks: Asks, life: Life, owner: Owner, token: TokenOf, answer: Answer) -> Command {
    Command::Take { asks, life, owner, token, answer }
}

fn answer(row: &RowWrite<'_>) -> Answer {
    if row.site.count == CountUse::Ignored { Answer::Dropped } else { Answer::Heard }
}

/// Which writers a loose comparison lets in.
fn loose(reason: LooseReason) -> Guard {
    match reason {
        LooseReason::NotEqual => Guard::NotSame,
        LooseReason::WrongWay => Guard::Older,
        LooseReason::Unlocked => Guard::RememberedNewer,
        LooseReason::Itself
        | LooseReason::Constant
        | LooseReason::OrAround
        | LooseReason::OtherTable
        | LooseReason::Uncorrelated
        | LooseReason::UnlockedOther
        | LooseReason::ConflictTarget
        | LooseReason::MergeOn
        | LooseReason::SetOnly
        | LooseReason::SomeAssignments
        | LooseReason::SetBeforeCompared => Guard::Loose,
    }
}

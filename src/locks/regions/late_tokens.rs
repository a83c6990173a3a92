//! Fencing tokens that are drawn by a command of their own, behind the acquire: whoever is paused between the two
//! for longer than the lease lasts draws a newer token than its successor.

use std::collections::{BTreeMap, BTreeSet};

use super::{LockName, Role, Rows, role};
use crate::facts::Location;
use crate::facts::sql::{Expr, ExprKind, Select, StatementKind, Write, WriteVerb};
use crate::locks::naming;
use crate::locks::operation::{Action, ReplyUse};
use crate::locks::rows::Protection;
use crate::locks::tables::{selects, writes};
use crate::locks::timeline::{StepKind, Timeline};
use crate::locks::{Inventory, Operation};

#[derive(Debug, Clone)]
pub struct LateToken {
    /// The command that draws it.
    pub location: Location,
    /// The counter, sequence or column.
    pub source: String,
    pub drawn_by: TokenSource,
    pub lock: String,
    pub acquired_at: Location,
    depth: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TokenSource {
    /// A counter of the store of keys.
    Counter,
    /// A sequence, or a counting column.
    Statement,
}

/// Each such token once, from the function nearest to it.
pub fn late_tokens(inventory: &Inventory) -> Vec<LateToken> {
    let rows = Rows::of(inventory);
    let presented = presented(inventory, &rows);
    let mut nearest: BTreeMap<Location, LateToken> = BTreeMap::new();
    for timeline in &inventory.timelines {
        let roles: Vec<Role> =
            timeline.steps.iter().map(|step| role(inventory, &rows, timeline, step)).collect();
        let flow = Flow { inventory, timeline, roles: &roles, presented: &presented };
        for at in 0..timeline.steps.len() {
            let Some(found) = flow.late_token(at) else { continue };
            match nearest.get(&found.location) {
                Some(known) if known.depth <= found.depth => {}
                _ => drop(nearest.insert(found.location, found)),
            }
        }
    }
    nearest.into_values().collect()
}

/// What values are called that fenced writes present as their token.
fn presented<'i>(inventory: &'i Inventory, rows: &Rows<'i>) -> BTreeSet<&'i str> {
    let mut names = BTreeSet::new();
    for row in rows.by_site.values().flatten() {
        let Protection::Fenced { token, .. } = row.protection(inventory) else { continue };
        let sets = row.write.assignments.iter().filter(|set| set.column.eq_ignore_ascii_case(&token.name));
        for set in sets {
            let ExprKind::Bind(parameter) = &set.value.kind else { continue };
            names.extend(row.site.bound(parameter).and_then(|bound| bound.name.as_deref()));
        }
    }
    names
}

/// Something that counts, as far as one step shows it.
struct Draw {
    location: Location,
    source: String,
    by: TokenSource,
    /// Its name says that it fences, or counts the holders of a lock.
    is_named_so: bool,
}

struct Flow<'t> {
    inventory: &'t Inventory,
    timeline: &'t Timeline,
    roles: &'t [Role],
    /// What fenced writes call their tokens.
    presented: &'t BTreeSet<&'t str>,
}

impl Flow<'_> {
    fn late_token(&self, at: usize) -> Option<LateToken> {
        let draw = self.draw(at)?;
        let (taken, lock) = (0..at).rev().find_map(|taken| match &self.roles[taken] {
            Role::Take { lock, ends_by_itself: true } => Some((taken, lock)),
            _ => None,
        })?;
        if !self.is_behind(taken, lock, at) || self.is_asked_again(lock, at) {
            return None;
        }
        let is_token = draw.is_named_so || self.is_compared(at) || self.is_given_as_token(at);
        is_token.then(|| LateToken {
            location: draw.location,
            source: draw.source,
            drawn_by: draw.by,
            lock: lock.shown(self.inventory),
            acquired_at: self.timeline.steps[taken].place,
            depth: self.timeline.steps[at].depth,
        })
    }

    /// Whether a step comes behind the acquire, in a command of its own, and the lock may end between the two.
    fn is_behind(&self, taken: usize, lock: &LockName, at: usize) -> bool {
        let steps = &self.timeline.steps;
        let (take, here) = (&steps[taken], &steps[at]);
        let is_of_acquire = |step: &usize| {
            *step == taken
                || steps.get(*step).is_some_and(|step| step.place == take.place && step.kind == take.kind)
        };
        let frees = (taken + 1..at).any(|step| {
            self.roles[step] == Role::Free(lock.clone()) && steps[step].path.leads_to(&here.path)
        });
        take.task == here.task
            && take.path.leads_to(&here.path)
            && !here.decided_by.iter().any(is_of_acquire)
            && !frees
            && !self.is_one_command(taken, at)
            && !self.is_one_transaction(taken, at)
    }

    /// Of one script, or sent together.
    fn is_one_command(&self, taken: usize, at: usize) -> bool {
        let (Some(take), Some(draw)) = (self.operation(taken), self.operation(at)) else { return false };
        let sent = |operation: &Operation| operation.pipeline.map(|(pipeline, _)| pipeline);
        let asks_in_script = || {
            let with_draw = |other: &&Operation| other.step == draw.step && other.key == take.key;
            self.operations().iter().any(|other| with_draw(&other))
        };
        take.step == draw.step || (sent(take).is_some() && sent(take) == sent(draw)) || asks_in_script()
    }

    /// A row that is taken in a transaction is nobody else's before its end.
    fn is_one_transaction(&self, taken: usize, at: usize) -> bool {
        let StepKind::Statement(site) = self.timeline.steps[taken].kind else { return false };
        let is_open = self.inventory.statements.get(site).is_some_and(|site| site.transaction.open);
        is_open && !self.roles[taken..at].contains(&Role::Commit)
    }

    /// Whether the store is asked for the holder once more, behind the draw: then the token was drawn in time.
    fn is_asked_again(&self, lock: &LockName, at: usize) -> bool {
        let LockName::Key(key) = lock else { return false };
        let steps = &self.timeline.steps;
        (at + 1..steps.len()).filter_map(|later| Some((later, self.operation(later)?))).any(
            |(later, operation)| {
                // The read of a script that frees the lock asks for nothing else.
                let compares = match operation.action {
                    Action::Expire { compared, .. } => compared,
                    Action::Read => !operation.context.in_script,
                    _ => false,
                };
                compares
                    && operation.key == *key
                    && operation.reply == ReplyUse::Tested
                    && steps[later].task == steps[at].task
            },
        )
    }

    /// Whether a write presents it as its token.
    fn is_compared(&self, at: usize) -> bool {
        let steps = self.timeline.steps.iter().enumerate();
        steps.skip(at + 1).any(|(later, step)| {
            step.made_of.contains(&at) && matches!(self.roles[later], Role::Write { is_fenced: true, .. })
        })
    }

    fn is_given_as_token(&self, at: usize) -> bool {
        let mut fields = self.timeline.steps[at].given_as.iter();
        fields.any(|field| names_token(field) || self.presented.contains(field.as_str()))
    }

    fn operations(&self) -> &[Operation] {
        let sequence = self.timeline.sequence.and_then(|at| self.inventory.sequences.get(at));
        sequence.map_or(&[], |sequence| &sequence.operations)
    }

    fn operation(&self, at: usize) -> Option<&Operation> {
        let StepKind::Key(operation) = self.timeline.steps.get(at)?.kind else { return None };
        self.operations().get(operation)
    }

    fn draw(&self, at: usize) -> Option<Draw> {
        match self.timeline.steps[at].kind {
            StepKind::Key(_) => {
                let operation = self.operation(at).filter(|known| known.action == Action::Increment)?;
                let key = self.inventory.keys.get(operation.key)?;
                let location = operation.location;
                (!key.is_lock()).then(|| Draw {
                    location,
                    source: key.name.clone(),
                    by: TokenSource::Counter,
                    is_named_so: counts_holders(&key.name),
                })
            }
            StepKind::Statement(site) => {
                let site = self.inventory.statements.get(site)?;
                let (source, is_named_so) = drawn_by_statement(&site.statement.kind)?;
                Some(Draw { location: site.location(), source, by: TokenSource::Statement, is_named_so })
            }
            _ => None,
        }
    }
}

const FENCES: &[&str] = &["fence", "fences", "fencing"];
const COUNTS: &[&str] = &["token", "tokens", "epoch", "epochs", "term", "terms", "generation", "generations"];
const LOCKS: &[&str] =
    &["lock", "locks", "lease", "leases", "leader", "leadership", "owner", "claim", "holder", "election"];

fn has(words: &[String], wanted: &[&str]) -> bool {
    words.iter().any(|word| wanted.contains(&word.as_str()))
}

/// Whether a counter's name says that it fences, or counts the holders of a lock: `fence:{}`, `lock:{}:epoch`.
fn counts_holders(name: &str) -> bool {
    let words = naming::words(name);
    has(&words, FENCES) || (has(&words, COUNTS) && has(&words, LOCKS))
}

/// Whether what is given under this name is a token, when it was drawn under a lock.
fn names_token(field: &str) -> bool {
    let words = naming::words(field);
    has(&words, FENCES) || words.last().is_some_and(|last| COUNTS.contains(&last.as_str()))
}

/// The counter that a statement draws from, and what its name says.
fn drawn_by_statement(kind: &StatementKind) -> Option<(String, bool)> {
    if let Some(found) = writes(kind).into_iter().find_map(|nested| counted(nested.write)) {
        return Some(found);
    }
    let StatementKind::Select(_) = kind else { return None };
    selects(kind).into_iter().find_map(projected)
}

/// `UPDATE counters SET token = token + 1 … RETURNING token`, `INSERT INTO tokens … RETURNING id`.
fn counted(write: &Write) -> Option<(String, bool)> {
    let returned = write.returning.as_ref()?;
    let is_returned =
        |column: &str| returned.iter().any(|name| name == "*" || name.eq_ignore_ascii_case(column));
    let table = &write.table.name;
    let raised =
        write.assignments.iter().find(|set| is_raise(&set.value, &set.column) && is_returned(&set.column));
    if let Some(raised) = raised {
        let name = format!("{table}.{}", raised.column);
        let is_named_so = counts_holders(&name);
        return Some((name, is_named_so));
    }
    let numbers = write.verb == WriteVerb::Insert && returned.len() == 1;
    (numbers && counts_holders(table)).then(|| (table.clone(), true))
}

fn is_raise(value: &Expr, column: &str) -> bool {
    let ExprKind::Arithmetic { operator: '+', left, right } = &value.kind else { return false };
    let is_own = |side: &Expr| matches!(&side.kind, ExprKind::Column { name, .. } if name.eq_ignore_ascii_case(column));
    let is_number = |side: &Expr| matches!(side.kind, ExprKind::Number(_));
    (is_own(left) && is_number(right)) || (is_own(right) && is_number(left))
}

/// `SELECT nextval('…')`, `SELECT max(token) + 1`.
fn projected(select: &Select) -> Option<(String, bool)> {
    select.projection.iter().find_map(|e| drawn_in(e, false))
}

fn drawn_in(e: &Expr, is_raised: bool) -> Option<(String, bool)> {
    match &e.kind {
        ExprKind::Call { name, args } if name == "nextval" => {
            let named = args.first().and_then(text);
            let is_named_so = named.as_deref().is_some_and(counts_holders);
            Some((named.unwrap_or_else(|| "a sequence".to_owned()), is_named_so))
        }
        ExprKind::Call { name, args } if name == "max" && is_raised => match &args.first()?.kind {
            ExprKind::Column { name, .. } => Some((name.clone(), counts_holders(name))),
            _ => None,
        },
        ExprKind::Arithmetic { operator: '+', left, right } => {
            [left, right].into_iter().find_map(|side| drawn_in(side, true))
        }
        kind => kind.parts().into_iter().find_map(|part| drawn_in(part, is_raised)),
    }
}

fn text(e: &Expr) -> Option<String> {
    match &e.kind {
        ExprKind::Text(text) => Some(text.clone()),
        ExprKind::Cast { operand, .. } => text(operand),
        _ => None,
    }
}

//! The workspace's lock inventory: what every rule reads.
//!
//! It is put together from the resolved operations of all files. It knows no parser, makes no finding
//! and reads no file.

pub mod binary;
pub mod clock;
pub mod conventions;
pub mod fences;
pub mod guard;
pub mod key;
pub mod lock_tables;
pub mod naming;
pub mod operation;
pub mod quorum;
pub mod regions;
pub mod renewal;
pub mod reply;
pub mod rows;
pub mod schema;
pub mod session;
pub mod statement;
pub mod tables;
pub mod timeline;
pub mod vocabulary;
pub mod written;

use std::collections::BTreeSet;
use std::sync::OnceLock;

use crate::facts::suppression::JudgedSuppression;
use crate::facts::{InputProblem, Location};

pub use binary::{Binary, LeaseUse, SigtermHandling};
pub use clock::{ClockFlow, ClockFlowKind, LateDeadline};
pub use conventions::Conventions;
pub use key::{Evidence, Key};
pub use operation::{
    Action, Advice, Damage, Lifetime, Operation, OwnerCheck, OwnerValue, ReplyUse, Sequence, Share, Ttl,
};
pub use quorum::Quorum;
pub use regions::{HeldRegion, LateWrite};
pub use renewal::{Handle, OnFailure, Pause, RenewalDefault, RenewalLoop, Repetition, Task};
pub use reply::droppers;
pub use rows::{
    AddedSpan, ClientClock, RowClaim, RowLease, client_clocks, constant_row_owners, ignored_row_acquires,
    ignored_session_locks, row_acquires, row_leases, uncompared_row_owners, unguarded_row_claims,
    unguarded_row_releases, unguarded_row_renewals,
};
pub use schema::Schema;
pub use statement::{
    CountUse, Drawn, DrawnFrom, Executor, SessionAct, SessionLock, SqlSite, StatementOrigin, TransactionScope,
};
pub use tables::Tables;

/// Everything that rules may look at.
#[derive(Debug, Default)]
pub struct Inventory {
    /// Keys of key-value stores, locks and others.
    pub keys: Vec<Key>,
    /// What each function does to them.
    pub sequences: Vec<Sequence>,
    /// What functions do in order, statements and transactions included.
    pub timelines: Vec<timeline::Timeline>,
    /// Wall-clock readings that end up in a lease.
    pub clock_flows: Vec<ClockFlow>,
    /// Deadlines of leases that begin too late.
    pub late_deadlines: Vec<LateDeadline>,
    /// Locks on several nodes.
    pub quorums: Vec<Quorum>,
    /// Renewal intervals beside TTLs in the defaults of configurations.
    pub renewal_defaults: Vec<RenewalDefault>,
    pub binaries: Vec<Binary>,
    /// Pooled connections that are given back with a lock.
    pub left_sessions: Vec<session::LeftSession>,
    /// Every SQL statement of the workspace, from files and from Rust text.
    pub statements: Vec<SqlSite>,
    /// The tables that the migrations lead to, with what was learnt from Rust text.
    pub schema: Schema,
    /// What the tables are to locking, worked out when it is first asked for.
    tables: OnceLock<Tables>,
    regions: OnceLock<Vec<HeldRegion>>,
    /// Suppression comments in files that are reported on. That one is not used shows only when all
    /// findings are there.
    pub suppressions: Vec<JudgedSuppression>,
    /// What the project says of its own names.
    pub conventions: Conventions,
    /// Input that could not be read or parsed.
    pub problems: Vec<InputProblem>,
}

impl Inventory {
    /// An inventory of these statements over this schema.
    pub fn new(statements: Vec<SqlSite>, schema: Schema) -> Self {
        Self { statements, schema, ..Self::default() }
    }

    pub fn tables(&self) -> &Tables {
        self.tables.get_or_init(|| Tables::of(self))
    }

    /// Every delete of a lock that is not one atomic step with a comparison, with its sequence; each place
    /// once.
    pub fn deletes(&self) -> Vec<(&Sequence, &Operation)> {
        self.uncompared(|_, operation| operation.action == Action::Delete { compared: false })
    }

    /// Every command that gives a lock more time without comparing in the same step, as
    /// [`Inventory::deletes`].
    pub fn renewals(&self) -> Vec<(&Sequence, &Operation)> {
        self.uncompared(|sequence, operation| {
            operation.action.is_plain_renewal() && !sequence.completes_an_acquire(operation)
        })
    }

    /// Every command that takes a lock that is free, in every sequence that shows it.
    pub fn acquires(&self) -> Vec<(&Sequence, &Operation)> {
        self.each_operation(|_, operation| {
            operation.action.is_acquire() && self.keys[operation.key].is_lock() && !operation.is_test
        })
    }

    /// Every plain SET of a lock that a look at it led to, as [`Inventory::deletes`].
    pub fn uncompared_sets(&self) -> Vec<(&Sequence, &Operation)> {
        self.uncompared(|sequence, operation| {
            matches!(operation.action, Action::Overwrite { only_if_present: false, .. })
                && operation.decided_by.is_some()
                && operation.after_acquire.is_none()
                && !operation.context.in_script
                && !sequence.is_own(operation)
        })
    }

    /// From each acquire to the release of the same lock in one function.
    pub fn held_regions(&self) -> &[HeldRegion] {
        self.regions.get_or_init(|| regions::of(self))
    }

    /// Acquires that store who holds the lock, where nothing compares what is stored and nothing deletes or
    /// extends the key either: an uncompared release or renewal speaks for itself.
    pub fn uncompared_owners(&self) -> Vec<&Operation> {
        let mut looked_at = BTreeSet::new();
        for operation in self.sequences.iter().flat_map(|sequence| &sequence.operations) {
            let looks = match operation.action {
                Action::Delete { .. } | Action::Expire { .. } | Action::Overwrite { .. } => true,
                // It may be compared where it goes.
                Action::Read => operation.context.in_script || operation.reply != ReplyUse::Ignored,
                _ => operation.is_test,
            };
            if looks {
                looked_at.insert(operation.key);
            }
        }
        // What compares a key that the text does not show may compare any of them.
        let compared_unknown = self.each_operation(|sequence, operation| {
            !self.keys[operation.key].is_written
                && (matches!(
                    operation.action,
                    Action::Delete { compared: true } | Action::Expire { compared: true, .. }
                ) || sequence.ownership_read(operation).is_some())
        });
        if !compared_unknown.is_empty() {
            return Vec::new();
        }
        // A caller that is followed up to here names the key in full; what compares it may know a part only.
        let looked_at_elsewhere: BTreeSet<Location> = self
            .acquires()
            .into_iter()
            .filter(|(_, acquire)| looked_at.contains(&acquire.key))
            .map(|(_, acquire)| acquire.inner)
            .collect();
        let stores_owner = |action: &Action| match action {
            Action::Acquire { owner: OwnerValue::Unique, .. } => true,
            Action::Acquire { owner: OwnerValue::Named(name), .. } => vocabulary::says_owner(name),
            _ => false,
        };
        let mut found: Vec<&Operation> = self
            .acquires()
            .into_iter()
            .map(|(_, acquire)| acquire)
            .filter(|acquire| stores_owner(&acquire.action) && !looked_at.contains(&acquire.key))
            .filter(|acquire| !looked_at_elsewhere.contains(&acquire.inner))
            .filter(|acquire| !acquire.token_in_key && self.keys[acquire.key].is_written)
            // Their libraries and leases free the lock by themselves.
            .filter(|acquire| !acquire.is_lock && acquire.advice.is_none())
            .collect();
        found.sort_by_key(|acquire| acquire.location);
        found.dedup_by_key(|acquire| acquire.location);
        found
    }

    /// Every release that compares and deletes in one step, in every sequence that shows it.
    pub fn compared_deletes(&self) -> Vec<(&Sequence, &Operation)> {
        self.each_operation(|_, operation| {
            operation.action == Action::Delete { compared: true }
                && self.keys[operation.key].is_lock()
                && !operation.is_test
        })
    }

    /// Every command that gives a lock a lifetime, with the lifetime, in every sequence that shows it.
    pub fn lifetimes(&self) -> Vec<(&Operation, &Lifetime)> {
        let all = self.sequences.iter().flat_map(|sequence| &sequence.operations);
        all.filter(|operation| self.keys[operation.key].is_lock() && !operation.is_test)
            .filter_map(|operation| Some((operation, operation.action.lifetime()?)))
            .collect()
    }

    /// Every renewal that a loop repeats, as often as functions show it.
    pub fn renewal_loops(&self) -> Vec<RenewalLoop<'_>> {
        renewal::of(self)
    }

    fn each_operation(&self, wanted: impl Fn(&Sequence, &Operation) -> bool) -> Vec<(&Sequence, &Operation)> {
        let all = self.sequences.iter().flat_map(|s| s.operations.iter().map(move |o| (s, o)));
        all.filter(|(sequence, operation)| wanted(sequence, operation)).collect()
    }

    fn uncompared(&self, kind: impl Fn(&Sequence, &Operation) -> bool) -> Vec<(&Sequence, &Operation)> {
        let mut found = self.each_operation(|sequence, operation| {
            kind(sequence, operation)
                && self.keys[operation.key].is_lock()
                && !operation.token_in_key
                && !operation.watched
                && !operation.is_test
        });
        // What a general wrapper does to any key is judged where its callers name one.
        let named: BTreeSet<Location> = self
            .each_operation(|_, o| !o.via.is_empty() && !self.keys[o.key].is_parameter)
            .into_iter()
            .map(|(_, o)| o.inner)
            .collect();
        found.retain(|(_, o)| {
            !self.keys[o.key].is_parameter
                || vocabulary::says_lock(&o.function)
                || vocabulary::says_lock(&self.keys[o.key].name)
                || !named.contains(&o.inner)
        });
        // A helper is judged from its callers when one of them compares the owner for it; else it is one
        // defect of its own, however many callers it has.
        let compared: BTreeSet<Location> = found
            .iter()
            .filter(|(_, o)| !o.via.is_empty() && !o.checks.is_empty())
            .map(|(_, o)| o.inner)
            .collect();
        let own: BTreeSet<Location> =
            found.iter().filter(|(_, o)| o.via.is_empty()).map(|(_, o)| o.inner).collect();
        found.retain(|(_, o)| o.via.is_empty() != compared.contains(&o.inner) || !own.contains(&o.inner));
        found.sort_by_key(|(_, o)| (o.location, o.checks.is_empty()));
        found.dedup_by_key(|(_, o)| o.location);
        found
    }
}

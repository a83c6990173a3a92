//! What each table is to locking: its tokens, its owners and deadlines, and whether its rows are handed
//! out and taken back.
//!
//! Names and types propose, the schema's keys and the usage by all statements decide. It judges no
//! single statement.

mod evidence;
mod generations;
mod holders;
mod upkeep;
mod walk;

use std::collections::BTreeMap;

use super::Inventory;
use super::conventions::Conventions;
use super::naming::{self, TokenTier};
use super::schema::{Schema, Table};
use super::statement::SqlSite;
use crate::facts::Location;
use crate::facts::sql::TableName;

pub(super) use evidence::{has_column, used_columns};
pub(super) use upkeep::upkeep;
use walk::each_table;
pub use walk::{NestedWrite, compared_columns, selects, writes};
pub(super) use walk::{inner_selects, is_before, is_null, literal, own_compares, reads};

/// A table, as far as it matters to locking.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TableProfile {
    /// Sorted from the surest to the least sure.
    pub tokens: Vec<TokenColumn>,
    pub owners: Vec<String>,
    pub deadlines: Vec<String>,
    pub claim_times: Vec<String>,
    /// Rows are locks, rather than work that is locked.
    pub is_lock_table: bool,
    /// A statement gives rows to workers.
    pub handed_out: bool,
    /// Rows that a worker has are given to another one when it is silent.
    pub taken_back: bool,
    /// How sure that is: the schema says it too.
    pub declared_claims: bool,
    /// States that mean "a worker has it", and those that wait for one.
    pub running_states: Vec<String>,
    pub waiting_states: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TokenColumn {
    pub name: String,
    pub tier: TokenTier,
    pub kind: TokenKind,
    /// Where it is declared, when a schema says so.
    pub declared: Option<Location>,
    pub known_type: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TokenKind {
    /// Grows with every holder; newer wins.
    Ordered,
    /// Compared for equality and raised by each write.
    Version,
    /// Names a holder or an attempt; compared for equality only.
    Identity,
}

/// Package and bare name in lower case.
type Key = (Option<usize>, String);

#[derive(Debug, Clone, Default)]
pub struct Tables {
    profiles: BTreeMap<Key, TableProfile>,
}

impl Tables {
    pub fn of(inventory: &Inventory) -> Self {
        let mut tables = Self::default();
        let sites: Vec<&SqlSite> = inventory.statements.iter().filter(|s| !s.is_test).collect();
        for site in &sites {
            each_table(site, &mut |table| {
                let schema = &inventory.schema;
                let known = || known(schema, &inventory.conventions, site, table);
                tables.profiles.entry(key(site, table)).or_insert_with(known);
            });
        }
        // Usage may name columns that only other usage makes plausible, so evidence comes in two turns.
        for site in &sites {
            evidence::columns(&mut tables, inventory, site);
        }
        holders::learn(&mut tables, inventory, &sites);
        generations::learn(&mut tables, inventory, &sites);
        tables.profiles.values_mut().for_each(TableProfile::tell_tokens_from_owners);
        for site in &sites {
            evidence::claims(&mut tables, site);
        }
        for site in &sites {
            evidence::aged(&mut tables, site);
        }
        for site in &sites {
            evidence::starts(&mut tables, site);
        }
        for profile in tables.profiles.values_mut() {
            evidence::conclude(profile);
        }
        tables
    }

    pub fn profile(&self, site: &SqlSite, table: &TableName) -> Option<&TableProfile> {
        self.profiles.get(&key(site, table))
    }

    fn profile_mut(&mut self, site: &SqlSite, table: &TableName) -> Option<&mut TableProfile> {
        self.profiles.get_mut(&key(site, table))
    }
}

fn key(site: &SqlSite, table: &TableName) -> Key {
    (site.package, table.name.to_lowercase())
}

impl TableProfile {
    /// `lease_token BIGINT` grows and names nobody.
    fn tell_tokens_from_owners(&mut self) {
        let tokens = &self.tokens;
        let grows = |c: &String| {
            tokens.iter().any(|t| t.kind != TokenKind::Identity && t.name.eq_ignore_ascii_case(c))
        };
        self.owners.retain(|c| !grows(c));
    }

    pub fn has_lease_columns(&self) -> bool {
        !self.deadlines.is_empty() && !self.owners.is_empty()
    }

    pub fn is_owner(&self, column: &str) -> bool {
        contains(&self.owners, column)
    }

    pub fn is_token(&self, column: &str) -> bool {
        self.tokens.iter().any(|token| token.name.eq_ignore_ascii_case(column))
    }

    pub fn is_deadline(&self, column: &str) -> bool {
        contains(&self.deadlines, column)
    }

    pub fn is_claim_time(&self, column: &str) -> bool {
        contains(&self.claim_times, column)
    }

    /// A table of rows that workers are given and may lose.
    pub fn is_claim_table(&self) -> bool {
        self.handed_out && self.taken_back && !self.is_lock_table
    }
}

pub(super) fn contains(list: &[String], name: &str) -> bool {
    list.iter().any(|c| c.eq_ignore_ascii_case(name))
}

/// What the schema alone says of the table that a statement names.
fn known(schema: &Schema, conventions: &Conventions, site: &SqlSite, name: &TableName) -> TableProfile {
    match schema.table(site.package, site.dialect, name) {
        Some(table) => declared(table, conventions),
        None => {
            TableProfile { is_lock_table: conventions.is_lock_table(&name.name), ..TableProfile::default() }
        }
    }
}

pub(super) fn declared(table: &Table, conventions: &Conventions) -> TableProfile {
    let name = &table.name;
    let mut profile = TableProfile::default();
    let names: Vec<&str> = table.columns.iter().map(|c| c.name.as_str()).collect();
    for column in &table.columns {
        if let Some(token) = declared_token(table, &column.name, conventions) {
            profile.tokens.push(token);
        }
    }
    lease_columns(&mut profile, &names, &name.name, conventions);
    profile.tell_tokens_from_owners();
    profile.declared_claims = profile.has_lease_columns();
    profile
}

/// Sorts columns into owners and deadlines; weak names count beside strong ones only.
fn lease_columns(profile: &mut TableProfile, names: &[&str], table: &str, conventions: &Conventions) {
    let pick = |test: &dyn Fn(&str) -> bool| -> Vec<String> {
        names.iter().filter(|n| test(n)).map(|n| (*n).to_owned()).collect()
    };
    let lock_name = conventions.is_lock_table(table);
    profile.owners = pick(&|column| conventions.is_owner(table, column));
    profile.deadlines = pick(&|column| conventions.is_deadline(table, column));
    profile.claim_times = pick(&naming::is_claim_time);
    let strong = lock_name || !profile.owners.is_empty() || !profile.deadlines.is_empty();
    let claimed = !profile.claim_times.is_empty() && !profile.owners.is_empty();
    if profile.owners.is_empty() && strong {
        profile.owners = pick(&naming::is_weak_owner);
    }
    if profile.deadlines.is_empty() && (lock_name || claimed) {
        profile.deadlines = pick(&naming::is_weak_deadline);
    }
    let any_time = !profile.deadlines.is_empty() || !profile.claim_times.is_empty();
    profile.is_lock_table =
        conventions.declares_lock_table(table) || (lock_name && (any_time || !profile.owners.is_empty()));
}

/// A token by name and type; the ambiguous names wait for evidence.
fn declared_token(table: &Table, name: &str, conventions: &Conventions) -> Option<TokenColumn> {
    let column = table.column(name)?;
    let tier = conventions.token_tier(&table.name.name, name)?;
    let integer = naming::is_integer_type(&column.data_type);
    let boolean = column.data_type.starts_with("bool");
    let kind = match tier {
        TokenTier::Fence if boolean => return None,
        TokenTier::Fence => TokenKind::Ordered,
        TokenTier::Lease if integer => TokenKind::Ordered,
        TokenTier::Lease => TokenKind::Identity,
        TokenTier::Version if integer && !table.is_key_part(name) => TokenKind::Version,
        _ => return None,
    };
    Some(TokenColumn { name: name.to_owned(), tier, kind, declared: column.declared, known_type: true })
}

//! Columns of lease rows that count the holders, by how they are used: whoever takes the row is given the number,
//! and writes to another table present it as their token. It learns tokens of lease rows and nothing else.

use std::collections::BTreeSet;

use super::holders::expired_end;
use super::walk::{NestedWrite, writes};
use super::{Key, Tables, TokenColumn, TokenKind, key};
use crate::facts::sql::Write;
use crate::locks::Inventory;
use crate::locks::naming::{self, TokenTier};
use crate::locks::statement::SqlSite;

/// Adds what the statements show to the profiles of tables whose rows are leases.
pub(super) fn learn(tables: &mut Tables, inventory: &Inventory, sites: &[&SqlSite]) {
    let mut found: Vec<(Key, TokenColumn)> = Vec::new();
    for site in sites {
        for NestedWrite { write, .. } in writes(&site.statement.kind) {
            let Some(profile) = tables.profile(site, &write.table) else { continue };
            if !profile.has_lease_columns() || expired_end(profile, site, write).is_none() {
                continue;
            }
            let own = key(site, &write.table);
            let presented = presented_elsewhere(tables, &own);
            let given = write.returning.iter().flatten().filter(|column| !profile.is_token(column));
            for column in given.filter(|column| presented.contains(&column.to_lowercase())) {
                found.extend(token(inventory, site, write, column).map(|token| (own.clone(), token)));
            }
        }
    }
    for (table, token) in found {
        if let Some(profile) = tables.profiles.get_mut(&table)
            && !profile.is_token(&token.name)
        {
            profile.tokens.push(token);
        }
    }
}

/// The columns that other tables of the package compare for order.
fn presented_elsewhere(tables: &Tables, own: &Key) -> BTreeSet<String> {
    let others = tables.profiles.iter().filter(|(other, _)| other.0 == own.0 && *other != own);
    let tokens = others.flat_map(|(_, profile)| &profile.tokens);
    tokens.filter(|token| token.kind == TokenKind::Ordered).map(|token| token.name.to_lowercase()).collect()
}

fn token(inventory: &Inventory, site: &SqlSite, write: &Write, column: &str) -> Option<TokenColumn> {
    let table = inventory.schema.table(site.package, site.dialect, &write.table)?;
    let declared = table.column(column)?;
    let counts = naming::is_integer_type(&declared.data_type) && !table.is_key_part(column);
    counts.then(|| TokenColumn {
        name: declared.name.clone(),
        tier: TokenTier::Lease,
        kind: TokenKind::Ordered,
        declared: declared.declared,
        known_type: true,
    })
}

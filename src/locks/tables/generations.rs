//! Columns of lease rows that count the holders, by how they are used: whoever takes the row is given the number,
//! and writes to another table present it as their token. It learns tokens of lease rows and nothing else.

use std::collections::BTreeSet;

use super::holders::expired_end;
use super::walk::{NestedWrite, reads, selects, writes};
use super::{Key, Tables, TokenColumn, TokenKind, key};
use crate::facts::sql::{Expr, ExprKind, Write};
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
            let read = read_behind(sites, site, write);
            let given = write.returning.iter().flatten().map(String::as_str).chain(read);
            let given = given.filter(|column| !profile.is_token(column));
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

/// The columns of the row that the same function reads by queries of their own.
fn read_behind<'s>(sites: &[&'s SqlSite], site: &SqlSite, write: &Write) -> Vec<&'s str> {
    let same = sites.iter().filter(|other| {
        let file = |site: &SqlSite| site.call.map(|call| call.file);
        other.function.is_some() && other.function == site.function && file(other) == file(site)
    });
    let queries = same.flat_map(|other| selects(&other.statement.kind));
    let projected =
        queries.filter(|select| reads(select, &write.table)).flat_map(|select| &select.projection);
    let column = |e: &'s Expr| match &e.kind {
        ExprKind::Column { name, .. } => Some(name.as_str()),
        _ => None,
    };
    projected.filter_map(column).collect()
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

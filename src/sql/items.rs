//! ALTER TABLE change by change: one that the grammar lacks never hides its neighbours.
//!
//! It is asked only when the statement as a whole does not parse.

use super::convert::{self, Converter};
use super::extract;
use super::source::Source;
use super::statement;
use crate::facts::sql::{AlterTable, StatementKind, TableChange};

/// More changes than this are read by their words: each costs a look at the whole statement.
const MOST_CHANGES: usize = 100;

pub(super) fn alter_table(source: &mut Source<'_>) -> Option<StatementKind> {
    let (table, items) = extract::changes_of(source)?;
    if items.len() < 2 || items.len() > MOST_CHANGES {
        return None;
    }
    let whole = source.masked.clone();
    let mut changes: Vec<TableChange> = Vec::new();
    for item in &items {
        leave_only(source, &items, *item);
        match statement::by_any_grammar(source)
            .and_then(|found| convert::statement(&Converter::new(source), &found))
        {
            // What a repair blanked is added to each.
            Some(StatementKind::AlterTable(alter)) => {
                let known = std::mem::take(&mut changes);
                let fresh =
                    alter.changes.into_iter().filter(|change| !known.contains(change)).collect::<Vec<_>>();
                changes = known;
                changes.extend(fresh);
            }
            _ => changes.push(extract::change(source, *item)),
        }
        source.masked.clone_from(&whole);
    }
    Some(StatementKind::AlterTable(AlterTable { table, changes }))
}

/// Blanks the other changes, and all commas between them.
fn leave_only(source: &mut Source<'_>, items: &[(usize, usize)], kept: (usize, usize)) {
    let Some(first) = items.first().and_then(|(start, _)| source.tokens.get(*start)).map(|t| t.start) else {
        return;
    };
    let edge = |at: usize| source.tokens.get(at);
    let from = edge(kept.0).map_or(source.end(), |t| t.start);
    let to = kept.1.checked_sub(1).and_then(edge).map_or(from, |t| t.end);
    let base = source.base;
    for (at, byte) in source.masked.iter_mut().enumerate().skip(first - base) {
        let is_kept = (from..to).contains(&(at + base));
        if !is_kept && *byte != b'\n' {
            *byte = b' ';
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::facts::sql::{Dialect, StatementKind, TableChange};

    fn changes(text: &str, dialect: Dialect) -> Vec<TableChange> {
        let found = crate::sql::parse(text, dialect);
        assert!(found.problems.is_empty(), "{:?}", found.problems);
        match &found.statements[..] {
            [statement] => match &statement.kind {
                StatementKind::AlterTable(alter) => alter.changes.clone(),
                other => panic!("{other:?}"),
            },
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn an_unknown_change_hides_no_neighbour() {
        let text = "ALTER TABLE jobs\n  ALTER CONSTRAINT c NOT DEFERRABLE,\n  ALTER COLUMN fence SET NOT NULL,\n  DROP CONSTRAINT u";
        let found = changes(text, Dialect::Postgres);
        assert!(found.contains(&TableChange::SetNotNull { column: "fence".to_owned() }), "{found:?}");
        assert!(found.contains(&TableChange::DropKey { name: "u".to_owned() }), "{found:?}");
        let text = "ALTER TABLE `jobs` COLLATE utf8_bin, MODIFY COLUMN `fence` bigint NOT NULL, ADD UNIQUE KEY `u` (`name`)";
        let found = changes(text, Dialect::MySql);
        assert!(found.contains(&TableChange::SetNotNull { column: "fence".to_owned() }), "{found:?}");
        assert!(found.iter().any(|change| matches!(change, TableChange::AddUnique(_))), "{found:?}");
    }

    #[test]
    fn places_stay_right() {
        let text = "ALTER TABLE jobs FROB x, DROP COLUMN é, DROP COLUMN fence";
        let spans: Vec<&str> = changes(text, Dialect::Postgres)
            .iter()
            .filter_map(|change| match change {
                TableChange::DropColumn { span, .. } => text.get(span.start as usize..span.end as usize),
                _ => None,
            })
            .collect();
        assert_eq!(spans, ["é", "fence"]);
    }
}

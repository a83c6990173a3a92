//! What a write does to a row that somebody else may have changed meanwhile, where nothing in the statement
//! refuses it.

use super::RowWrite;
use crate::facts::sql::{Assignment, Comparison, Expr, ExprKind, WriteVerb};
use crate::locks::naming;

/// What a late write leaves behind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Overwrite {
    /// Nothing that was there is lost: a new row, a sum, a maximum, a time stamp, a value that is compared first.
    Nothing,
    /// A constant such as a final state, or the row's absence: the same whoever writes it.
    Settled,
    /// A value that its writer has worked out.
    Value,
}

impl RowWrite<'_> {
    pub fn overwrite(&self) -> Overwrite {
        match self.write.verb {
            WriteVerb::Insert => Overwrite::Nothing,
            WriteVerb::Delete if !super::purpose::picks_row(self.write) => Overwrite::Nothing,
            WriteVerb::Delete => Overwrite::Settled,
            WriteVerb::Replace => Overwrite::Value,
            _ if self.write.skips_conflicts || self.compares_what_it_sets() => Overwrite::Nothing,
            _ => self.write.assignments.iter().map(of_assignment).max().unwrap_or(Overwrite::Nothing),
        }
    }

    /// `SET state = 'paid' WHERE state = 'open'`: the second writer changes no row.
    fn compares_what_it_sets(&self) -> bool {
        let mut compared = self.compares().into_iter();
        compared.any(|(column, comparison, _)| {
            let decides = !matches!(comparison, Comparison::Like);
            decides && self.write.assignments.iter().any(|set| set.column.eq_ignore_ascii_case(column))
        }) || self.write.predicate.as_ref().is_some_and(|predicate| self.tests_what_it_sets(predicate))
    }

    /// `WHERE paid_at IS NULL`, `state IN ('open', 'due')`.
    fn tests_what_it_sets(&self, condition: &Expr) -> bool {
        let is_set = |operand: &Expr| {
            let ExprKind::Column { name, .. } = &operand.kind else { return false };
            self.write.assignments.iter().any(|set| set.column.eq_ignore_ascii_case(name))
        };
        match &condition.kind {
            ExprKind::And(parts) => parts.iter().any(|part| self.tests_what_it_sets(part)),
            ExprKind::NullTest { operand, .. } | ExprKind::InList { operand, .. } => is_set(operand),
            _ => false,
        }
    }
}

fn of_assignment(assignment: &Assignment) -> Overwrite {
    if naming::is_audit(&assignment.column) || naming::is_time(&assignment.column) {
        return Overwrite::Nothing;
    }
    of_value(&assignment.value, &assignment.column)
}

fn of_value(value: &Expr, column: &str) -> Overwrite {
    match &value.kind {
        ExprKind::Number(_) | ExprKind::Text(_) | ExprKind::Boolean(_) | ExprKind::Null => Overwrite::Settled,
        ExprKind::Call { name, .. } if naming::is_database_clock(name) => Overwrite::Nothing,
        ExprKind::Cast { operand, .. } => of_value(operand, column),
        // `n + $1`, `GREATEST(n, $1)`, `COALESCE(first, $1)`: it goes on from what is there.
        _ if names(value, column) => Overwrite::Nothing,
        ExprKind::Bind(_) | ExprKind::Hole | ExprKind::InsertedValue { .. } => Overwrite::Value,
        // `EXCLUDED.total`; columns of the row itself and of other rows are read where they are written.
        ExprKind::Column { qualifier: Some(row), .. } if row.eq_ignore_ascii_case("excluded") => {
            Overwrite::Value
        }
        ExprKind::Column { .. } | ExprKind::Query(_) => Overwrite::Nothing,
        kind => {
            kind.parts().into_iter().map(|part| of_value(part, column)).max().unwrap_or(Overwrite::Nothing)
        }
    }
}

/// Whether the column that is there takes part in a value; what an insert wanted to store does not count.
fn names(value: &Expr, column: &str) -> bool {
    match &value.kind {
        ExprKind::Column { qualifier, name } => {
            let is_new = qualifier.as_deref().is_some_and(|row| row.eq_ignore_ascii_case("excluded"));
            !is_new && name.eq_ignore_ascii_case(column)
        }
        kind => kind.parts().into_iter().any(|part| names(part, column)),
    }
}

//! Chains of builder calls (diesel, sea-orm, sea-query) as the SQL statements that they stand for.
//!
//! The three libraries call most things alike, so there is one reading for all: `statement` takes the calls
//! one after another as clauses, `expression` reads what they are given, `names` says which table and
//! column is meant. The statement is the same data that the SQL front end gives; its spans are places in
//! the Rust file where the chain begins. What is not known of it is told (`complete`, `parsed`), and
//! whether it fences anything is asked elsewhere.

mod assignments;
mod expression;
mod names;
mod statement;
#[cfg(test)]
mod tests;

use crate::facts::sql::{Bind, Expr, ExprKind, Statement, StatementKind};
use crate::facts::{FileId, Location, Span};

use super::chain::{Chain, Start};
use super::program::{Program, Scope, TableId};
use super::value::{Form, Value};

/// A statement that a chain stands for.
pub struct Built {
    pub statement: Statement,
    /// The file of its spans.
    pub file: FileId,
    /// The values of its parameters, by position.
    pub binds: Vec<Value>,
    /// `false` when some of its conditions are not known.
    pub complete: bool,
}

/// Values inside values are read this deep.
const MAX_DEPTH: usize = 32;

/// The reading of one chain.
struct Reading<'p, 'a> {
    program: &'p Program<'a>,
    /// Where the chain is written: names that are no values are looked up from here.
    scope: Scope,
    file: FileId,
    /// What stands for a place in another file.
    home: Span,
    /// The table of the statement, once it is known.
    table: Option<TableId>,
    binds: Vec<Value>,
    complete: bool,
    /// All of its clauses are known.
    known: bool,
    depth: usize,
}

/// The statement of a chain that `method` runs at a place; `None` when not even its table is known.
pub fn statement(
    program: &Program<'_>,
    unit: usize,
    chain: &Chain,
    method: &str,
    at: Location,
) -> Option<Built> {
    // A row is made and changed like any value; what is done with it is the statement.
    let is_row = matches!(chain.start, Start::Row(_));
    let home = if is_row { at } else { chain.location };
    let mut reading = Reading {
        program,
        scope: program.scope_of_unit(unit),
        file: home.file,
        home: home.span,
        table: None,
        binds: Vec::new(),
        complete: true,
        known: true,
        depth: 0,
    };
    let kind = reading.statement(chain, method)?;
    let statement = Statement {
        span: if is_row { at.span } else { reading.extent(chain) },
        section: crate::facts::sql::Section::Up,
        parsed: reading.known,
        kind,
    };
    Some(Built { statement, file: reading.file, binds: reading.binds, complete: reading.complete })
}

/// Whether a chain reads rows of a table, by its name in the database.
pub fn reads_table(program: &Program<'_>, chain: &Chain, table: &str) -> bool {
    let changes = ["update_many", "delete_many", "delete_by_id", "update", "insert", "insert_many", "delete"];
    let Start::Table(id) = chain.start else { return false };
    !chain.calls.iter().any(|call| changes.contains(&&*call.method))
        && program.table(id).is_some_and(|known| known.name.eq_ignore_ascii_case(table))
}

impl Reading<'_, '_> {
    /// A place in the file of the statement.
    fn span(&self, location: Location) -> Span {
        if location.file == self.file { location.span } else { self.home }
    }

    /// From where a chain begins to its last call.
    fn extent(&self, chain: &Chain) -> Span {
        let calls = chain.calls.iter().filter(|call| call.location.file == self.file);
        calls.fold(self.span(chain.location), |all, call| all.to(call.location.span))
    }

    fn bind(&mut self, value: &Value, span: Span) -> Expr {
        self.binds.push(value.clone());
        let position = u32::try_from(self.binds.len()).unwrap_or(u32::MAX);
        Expr { span, kind: ExprKind::Bind(Bind::Position(position)) }
    }
}

/// The chain that a value is.
fn chain_of(value: &Value) -> Option<&Chain> {
    match &value.form {
        Form::Chain(chain) => Some(chain),
        Form::Variant("Some" | "Ok", Some(inner)) => match &inner.form {
            Form::Chain(chain) => Some(chain),
            _ => None,
        },
        _ => None,
    }
}

/// The items of a list; a single value is a list of one.
fn items(value: &Value) -> &[Value] {
    match &value.form {
        Form::Tuple(items) => items,
        _ => std::slice::from_ref(value),
    }
}

fn select(kind: StatementKind) -> Option<Box<crate::facts::sql::Select>> {
    match kind {
        StatementKind::Select(select) => Some(select),
        _ => None,
    }
}

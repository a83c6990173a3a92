//! The token columns of the schema, each with what the workspace's statements do to it.
//!
//! Where a table's tokens are declared is a question of the schema, whether they fence is one of the
//! statements: here both are put side by side, once for each column. The rules on schemas read it. It
//! judges nothing.

mod column_type;
mod lost;

use super::naming::{self, TokenTier};
use super::schema::{Column, Database, Table};
use super::statement::SqlSite;
use super::tables::{NestedWrite, TokenKind, contains, selects, writes};
use super::{Inventory, guard};
use crate::facts::Location;
use crate::facts::sql::{Comparison, Dialect, Expr, ExprKind, TableName, Write};

pub use column_type::{Weakness, weakness};
pub use lost::{LostFence, LostGuard, lost_fences, lost_guards, was_refused};

/// A column that is, or may be, a fencing token or a version.
#[derive(Debug, Clone)]
pub struct FenceColumn<'a> {
    pub table: &'a Table,
    pub column: &'a Column,
    pub tier: TokenTier,
    pub kind: TokenKind,
    pub dialect: Dialect,
    /// The table is CockroachDB's, whose integers have 64 bits.
    pub wide_integers: bool,
    pub usage: Usage,
    /// The project says that it is a fencing token.
    pub is_declared: bool,
}

/// What the statements that run do to a column.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Usage {
    /// Some statement writes to the table.
    pub table_is_written: bool,
    /// A comparison for order that a NULL makes unknown.
    pub ordered: Option<Location>,
    /// One that NULL passes or that replaces NULL: `c IS NULL OR c < $1`, `COALESCE(c, 0) < $1`.
    pub ordered_but_null: Option<Location>,
    /// Only the strict order refuses an equal token.
    pub strict: bool,
    pub equal: Option<Location>,
    /// A trigger compares its old value with the new one.
    pub by_trigger: bool,
    /// `c = c + 1`: the row itself counts.
    pub raised: Option<Location>,
    /// An INSERT leaves it out.
    pub left_out: bool,
}

impl Usage {
    /// Whether anything refuses a token that is not newer.
    pub fn is_ordered(&self) -> bool {
        self.ordered.is_some() || self.ordered_but_null.is_some() || self.by_trigger
    }

    pub fn compared(&self) -> Option<Location> {
        self.ordered.or(self.ordered_but_null).or(self.equal)
    }
}

impl FenceColumn<'_> {
    /// Tokens are drawn elsewhere and carried here by their holders, newer ones later.
    pub fn is_carried(&self) -> bool {
        self.kind == TokenKind::Ordered && self.usage.raised.is_none()
    }

    /// The name alone says that it fences, so that it needs no statement to prove it.
    pub fn is_plain(&self) -> bool {
        self.is_declared || (self.tier == TokenTier::Fence && naming::is_fencing_token(&self.column.name))
    }
}

/// A write that runs, with the table that it means.
#[derive(Debug, Clone, Copy)]
pub struct RuntimeWrite<'a> {
    pub site: &'a SqlSite,
    pub write: &'a Write,
    pub table: Option<&'a Table>,
    nested: NestedWrite<'a>,
}

/// Every write outside migrations, dumps and tests.
pub fn runtime_writes(inventory: &Inventory) -> Vec<RuntimeWrite<'_>> {
    let mut found = Vec::new();
    for site in inventory.statements.iter().filter(|s| s.is_at_runtime()) {
        for nested in writes(&site.statement.kind) {
            let table = inventory.schema.table(site.package, site.dialect, &nested.write.table);
            found.push(RuntimeWrite { site, write: nested.write, table, nested });
        }
    }
    found
}

impl RuntimeWrite<'_> {
    /// Whether it writes to this table, or to the table of its name in another database of the package.
    pub fn is_on(&self, database: &Database, table: &Table) -> bool {
        let same = self.write.table.name.eq_ignore_ascii_case(&table.name.name);
        same && (self.site.package == database.package || self.table.is_some_and(|t| std::ptr::eq(t, table)))
    }

    /// Whether it refuses rows by this column, or tries to.
    pub fn compares(&self, inventory: &Inventory, column: &str) -> bool {
        let has_column = |t: &TableName, c: &str| super::tables::has_column(inventory, self.site, t, c);
        let question = guard::Question {
            write: self.write,
            dialect: self.site.dialect,
            column,
            outer_ctes: self.nested.outer_ctes,
            has_column: &has_column,
        };
        guard::judge(question) != guard::Verdict::Absent
    }
}

/// Every column that may be a token, in the order of databases and tables; a table that several databases
/// declare counts once.
pub fn fence_columns(inventory: &Inventory) -> Vec<FenceColumn<'_>> {
    let writes = runtime_writes(inventory);
    let mut found: Vec<FenceColumn<'_>> = Vec::new();
    let mut seen: Vec<(Option<usize>, String)> = Vec::new();
    let judged = inventory.schema.databases.iter().filter(|d| !d.is_context);
    let mut databases: Vec<&Database> = judged.collect();
    databases.sort_by_key(|d| (d.package, d.dialect));
    for database in databases {
        let wide_integers = column_type::is_cockroach(database);
        for table in database.tables.values().flatten() {
            let key = (database.package, table.name.name.to_lowercase());
            if seen.contains(&key) {
                continue;
            }
            seen.push(key);
            let own: Vec<&RuntimeWrite<'_>> = writes.iter().filter(|w| w.is_on(database, table)).collect();
            for column in table.columns.iter().filter(|c| !table.is_key_part(&c.name)) {
                let Some((tier, kind)) = standing(inventory, table, column, &own) else { continue };
                let mut usage = usage(inventory, &own, &column.name);
                usage.by_trigger = table.triggers.iter().any(|t| contains(&t.refuses_stale, &column.name));
                let dialect = dialect(database, &own);
                let is_declared = inventory.conventions.declares_token(&table.name.name, &column.name);
                found.push(FenceColumn {
                    table,
                    column,
                    tier,
                    kind,
                    dialect,
                    wide_integers,
                    usage,
                    is_declared,
                });
            }
        }
    }
    found
}

/// The dialect of the statements that run on the table, where they agree.
fn dialect(database: &Database, own: &[&RuntimeWrite<'_>]) -> Dialect {
    let mut spoken: Vec<Dialect> = own.iter().map(|w| w.site.dialect).collect();
    spoken.dedup();
    match spoken.as_slice() {
        [one] => *one,
        _ => database.dialect,
    }
}

/// How sure the column is a token, by its name and, for the names that many things have, by its use.
fn standing(
    inventory: &Inventory,
    table: &Table,
    column: &Column,
    own: &[&RuntimeWrite<'_>],
) -> Option<(TokenTier, TokenKind)> {
    let profiles = own.iter().filter_map(|w| inventory.tables().profile(w.site, &w.write.table));
    let known = profiles
        .flat_map(|p| &p.tokens)
        .find(|t| t.name.eq_ignore_ascii_case(&column.name))
        .map(|token| (token.tier, token.kind));
    let declared = || {
        let profile = super::tables::declared(table, &inventory.conventions);
        profile.tokens.iter().find(|t| t.name.eq_ignore_ascii_case(&column.name)).map(|t| (t.tier, t.kind))
    };
    known.or_else(|| declared().filter(|(tier, _)| *tier <= TokenTier::Lease))
}

fn usage(inventory: &Inventory, own: &[&RuntimeWrite<'_>], column: &str) -> Usage {
    let mut usage = Usage { table_is_written: !own.is_empty(), ..Usage::default() };
    for write in own {
        let mut seen = Seen { column, site: write.site, usage: &mut usage };
        seen.write(write.write);
        seen.other_parts(write);
        if is_new_row(write.write) && !contains(&write.write.insert_columns, column) {
            usage.left_out = true;
        }
    }
    if usage.equal.is_none() {
        let compares = |w: &&&RuntimeWrite<'_>| w.compares(inventory, column);
        usage.equal =
            own.iter().find(compares).filter(|_| usage.compared().is_none()).map(|w| w.site.location());
    }
    usage
}

fn is_new_row(write: &Write) -> bool {
    use crate::facts::sql::WriteVerb as V;
    let inserts = matches!(write.verb, V::Insert | V::Upsert | V::DuplicateKeyUpdate | V::Replace);
    inserts && !write.insert_columns.is_empty()
}

struct Seen<'u, 'a> {
    column: &'u str,
    site: &'a SqlSite,
    usage: &'u mut Usage,
}

impl Seen<'_, '_> {
    fn write(&mut self, write: &Write) {
        for e in write.predicate.iter().chain(&write.join_conditions) {
            self.expr(e, false);
        }
        for assignment in &write.assignments {
            self.expr(&assignment.value, false);
            let own = assignment.column.eq_ignore_ascii_case(self.column);
            if own
                && let ExprKind::Arithmetic { left, right, .. } = &assignment.value.kind
                && (self.bare(left) || self.bare(right))
            {
                self.usage.raised.get_or_insert(self.site.at(assignment.span));
            }
        }
    }

    /// CTEs and subqueries.
    fn other_parts(&mut self, write: &RuntimeWrite<'_>) {
        for select in selects(&write.site.statement.kind) {
            for e in select.predicate.iter().chain(&select.join_conditions) {
                self.expr(e, false);
            }
        }
    }

    /// `null_passes`: a branch beside this one lets NULL through.
    fn expr(&mut self, e: &Expr, null_passes: bool) {
        if let ExprKind::Compare { operator, left, right } = &e.kind {
            let bare = self.bare(left) || self.bare(right);
            if bare || self.replaced(left) || self.replaced(right) {
                self.compare(*operator, bare && !null_passes, e);
            }
        }
        let passes = null_passes
            || matches!(&e.kind, ExprKind::Or(list) if list.iter().any(|part| self.tests_null(part)));
        for part in e.kind.parts() {
            self.expr(part, passes);
        }
    }

    fn compare(&mut self, operator: Comparison, unknown: bool, e: &Expr) {
        use Comparison as C;
        let at = self.site.at(e.span);
        match operator {
            C::Less | C::LessOrEqual | C::Greater | C::GreaterOrEqual => {
                self.usage.strict |= matches!(operator, C::Less | C::Greater);
                let seen = if unknown { &mut self.usage.ordered } else { &mut self.usage.ordered_but_null };
                seen.get_or_insert(at);
            }
            C::Equal | C::EqualOrBothNull => {
                self.usage.equal.get_or_insert(at);
            }
            C::NotEqual | C::Like => {}
        }
    }

    fn tests_null(&self, e: &Expr) -> bool {
        matches!(&e.kind, ExprKind::NullTest { operand, negated: false } if self.bare(operand))
    }

    /// The column itself, as it stands in the row.
    fn bare(&self, e: &Expr) -> bool {
        match &e.kind {
            ExprKind::Column { qualifier, name } => {
                let new = qualifier
                    .as_deref()
                    .is_some_and(|q| ["excluded", "new"].iter().any(|row| q.eq_ignore_ascii_case(row)));
                !new && name.eq_ignore_ascii_case(self.column)
            }
            ExprKind::Cast { operand, .. } => self.bare(operand),
            _ => false,
        }
    }

    /// The column with something in place of NULL.
    fn replaced(&self, e: &Expr) -> bool {
        matches!(&e.kind, ExprKind::Call { name, args } if ["coalesce", "ifnull", "greatest"].contains(&name.as_str())
            && args.iter().any(|arg| self.bare(arg)))
    }
}

//! Facts about SQL: statements with the parts that a verdict on fencing needs, without a parser's types.

use serde::{Deserialize, Serialize};

use super::Span;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Dialect {
    Postgres,
    MySql,
    Sqlite,
    Generic,
}

impl Dialect {
    pub fn name(self) -> &'static str {
        match self {
            Self::Postgres => "PostgreSQL",
            Self::MySql => "MySQL",
            Self::Sqlite => "SQLite",
            Self::Generic => "standard SQL",
        }
    }
}

/// Which half of a migration a statement stands in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Section {
    Up,
    Down,
}

/// The statements of one text: a file, or the value of one Rust literal.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct SqlText {
    pub statements: Vec<Statement>,
    /// Breaks that a person should hear of, such as a quote that never ends.
    pub problems: Vec<(Span, String)>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Statement {
    /// Relative to the start of the text.
    pub span: Span,
    pub section: Section,
    /// `false`: the words were sorted without a grammar, so only what is said positively is known.
    pub parsed: bool,
    pub kind: StatementKind,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum StatementKind {
    CreateTable(CreateTable),
    AlterTable(AlterTable),
    DropTable {
        tables: Vec<TableName>,
    },
    CreateIndex {
        name: Option<String>,
        table: TableName,
        columns: Vec<String>,
        unique: bool,
    },
    /// `table` where the dialect wants it said.
    DropIndex {
        names: Vec<String>,
        table: Option<TableName>,
    },
    CreateFunction(Routine),
    CreateTrigger(Trigger),
    DropTrigger {
        name: String,
        table: Option<TableName>,
    },
    Write(Box<Write>),
    Select(Box<Select>),
    /// Anything else, by its first words in capitals.
    Other {
        verb: String,
    },
}

/// A table as it is named; the parts are folded as the dialect folds them.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct TableName {
    pub schema: Option<String>,
    pub name: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CreateTable {
    pub table: TableName,
    pub columns: Vec<ColumnDefinition>,
    /// Column lists of the table's primary key and unique constraints (single-column ones included).
    pub primary_key: Vec<String>,
    pub unique: Vec<UniqueColumns>,
    pub if_not_exists: bool,
    /// The table whose columns it takes over: `PARTITION OF`, `LIKE`, `INHERITS`.
    pub copies: Option<TableName>,
    /// What a query fills: its columns are not written down.
    pub from_query: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct UniqueColumns {
    /// The constraint's name, when it was given one.
    pub name: Option<String>,
    pub columns: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ColumnDefinition {
    pub name: String,
    /// The type as written, in lower case, such as `bigint unsigned`.
    pub data_type: String,
    pub not_null: bool,
    /// The default's text, when there is one.
    pub default: Option<String>,
    /// The database numbers the rows by itself: SERIAL, IDENTITY, AUTO_INCREMENT.
    pub counts_up: bool,
    pub span: Span,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AlterTable {
    pub table: TableName,
    pub changes: Vec<TableChange>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum TableChange {
    AddColumn(ColumnDefinition),
    DropColumn {
        name: String,
        span: Span,
    },
    RenameColumn {
        from: String,
        to: String,
        span: Span,
    },
    RenameTable {
        to: TableName,
    },
    SetNotNull {
        column: String,
    },
    DropNotNull {
        column: String,
        span: Span,
    },
    SetType {
        column: String,
        data_type: String,
        span: Span,
    },
    SetDefault {
        column: String,
        default: String,
    },
    DropDefault {
        column: String,
    },
    AddPrimaryKey {
        columns: Vec<String>,
    },
    AddUnique(UniqueColumns),
    /// A constraint or, in MySQL, an index, by its name.
    DropKey {
        name: String,
    },
    DropPrimaryKey,
    /// `DISABLE TRIGGER`, `ENABLE TRIGGER`; no name means all of the table's.
    SwitchTrigger {
        name: Option<String>,
        enabled: bool,
        span: Span,
    },
    Other,
}

/// A stored function or procedure; its writes are runtime code, unlike those at a migration's top level.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Routine {
    pub name: String,
    /// `RETURNS trigger`.
    pub is_trigger: bool,
    /// The statements of the body that could be read, with spans relative to the whole text.
    pub body: Vec<Statement>,
    /// The columns `c` for which the body compares `NEW.c` with `OLD.c` and raises an error.
    pub refuses_stale: Vec<String>,
    /// Those of them for which an unchanged value passes (`NEW.c < OLD.c` is refused, equality is not).
    pub tolerates_equal: Vec<String>,
    /// The columns `c` that the body sets on the new row (`NEW.c := …`).
    pub advances: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Trigger {
    pub name: String,
    pub table: TableName,
    /// Fires on an update, so that an error raised by it refuses the update.
    pub before_update: bool,
    /// `UPDATE OF` these columns; empty when any update fires it.
    pub of_columns: Vec<String>,
    /// The function it executes, when the body is elsewhere (PostgreSQL).
    pub function: Option<String>,
    /// As in [`Routine::refuses_stale`], for a body or WHEN clause written in the trigger itself.
    pub refuses_stale: Vec<String>,
    /// As in [`Routine::tolerates_equal`].
    pub tolerates_equal: Vec<String>,
    /// As in [`Routine::advances`], and columns of the same table that the body's statements set.
    pub advances: Vec<String>,
    pub body: Vec<Statement>,
}

/// A statement that changes rows of one table.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Write {
    pub verb: WriteVerb,
    pub table: TableName,
    pub alias: Option<String>,
    pub table_span: Span,
    /// `SET` of an update, of `DO UPDATE`, of `ON DUPLICATE KEY UPDATE`, of a MERGE's update, in order.
    pub assignments: Vec<Assignment>,
    /// The columns of an INSERT, or of a MERGE's, and its first row of values (empty for `INSERT … SELECT`).
    pub insert_columns: Vec<String>,
    pub insert_values: Vec<Expr>,
    /// `ON CONFLICT DO NOTHING`, `INSERT IGNORE`: it changes no row where one is there already.
    pub skips_conflicts: bool,
    /// WHERE of an update or delete, of `DO UPDATE … WHERE`, `AND` condition of a MERGE's clause.
    pub predicate: Option<Expr>,
    /// `ON CONFLICT (…) WHERE`: it selects an index and guards nothing.
    pub conflict_predicate: Option<Expr>,
    /// What stands in FROM, USING or JOIN beside the target, and the condition that joins it.
    pub sources: Vec<Source>,
    pub join_conditions: Vec<Expr>,
    pub ctes: Vec<Cte>,
    /// Columns of RETURNING; `None` without the clause.
    pub returning: Option<Vec<String>>,
    /// Where its clauses are written; empty for what no text shows.
    pub clauses: Clauses,
}

/// The places of a statement's clauses, their keywords left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Clauses {
    /// The assignments behind SET.
    pub set: Option<Span>,
    /// The condition behind WHERE.
    pub condition: Option<Span>,
}

impl Write {
    /// A write of which only this is known.
    pub fn new(verb: WriteVerb, table: TableName, table_span: Span) -> Self {
        Self {
            verb,
            table,
            alias: None,
            table_span,
            assignments: Vec::new(),
            insert_columns: Vec::new(),
            insert_values: Vec::new(),
            skips_conflicts: false,
            predicate: None,
            conflict_predicate: None,
            sources: Vec::new(),
            join_conditions: Vec::new(),
            ctes: Vec::new(),
            returning: None,
            clauses: Clauses::default(),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum WriteVerb {
    Update,
    Delete,
    /// A plain INSERT, or one that does nothing on conflict.
    Insert,
    /// INSERT … ON CONFLICT DO UPDATE.
    Upsert,
    /// INSERT … ON DUPLICATE KEY UPDATE.
    DuplicateKeyUpdate,
    /// REPLACE INTO, INSERT OR REPLACE.
    Replace,
    /// MERGE … WHEN MATCHED THEN UPDATE or DELETE.
    Merge,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Assignment {
    pub column: String,
    pub value: Expr,
    pub span: Span,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Source {
    pub alias: Option<String>,
    pub kind: SourceKind,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum SourceKind {
    /// A table, or a CTE of that name.
    Table(TableName),
    Query(Box<Select>),
    Other,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cte {
    pub name: String,
    pub body: CteBody,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum CteBody {
    Select(Box<Select>),
    Write(Box<Write>),
    Other,
}

#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Select {
    pub ctes: Vec<Cte>,
    pub sources: Vec<Source>,
    pub join_conditions: Vec<Expr>,
    pub projection: Vec<Expr>,
    pub predicate: Option<Expr>,
    /// FOR UPDATE or FOR NO KEY UPDATE.
    pub locks_rows: bool,
    /// FOR SHARE or FOR KEY SHARE: others cannot change the row until the transaction ends.
    pub shares_rows: bool,
    pub skip_locked: bool,
    /// LIMIT or FETCH FIRST.
    pub limited: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Expr {
    pub span: Span,
    pub kind: ExprKind,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum ExprKind {
    /// A column, with the table, alias or pseudo-table (`EXCLUDED`, `NEW`, `OLD`) in front of it.
    Column {
        qualifier: Option<String>,
        name: String,
    },
    /// `VALUES(c)` of MySQL: the value that the insert wanted to store.
    InsertedValue {
        column: String,
    },
    /// A parameter: `$2` and `?2` by number, `?` by its position (both from 1), `:name` by name.
    Bind(Bind),
    /// A hole of `format!` or of a template: unknown text that stands where a value may stand.
    Hole,
    Number(String),
    Text(String),
    Boolean(bool),
    Null,
    Compare {
        operator: Comparison,
        left: Box<Expr>,
        right: Box<Expr>,
    },
    And(Vec<Expr>),
    Or(Vec<Expr>),
    Not(Box<Expr>),
    /// `IS NULL`, `IS NOT NULL`.
    NullTest {
        operand: Box<Expr>,
        negated: bool,
    },
    InList {
        operand: Box<Expr>,
        list: Vec<Expr>,
        negated: bool,
    },
    InQuery {
        operand: Box<Expr>,
        query: Box<Select>,
        negated: bool,
    },
    Exists {
        query: Box<Select>,
        negated: bool,
    },
    Query(Box<Select>),
    Arithmetic {
        operator: char,
        left: Box<Expr>,
        right: Box<Expr>,
    },
    /// A function call, its name in lower case; `now()`, `CURRENT_TIMESTAMP` and their like too.
    Call {
        name: String,
        args: Vec<Expr>,
    },
    Case {
        operand: Option<Box<Expr>>,
        branches: Vec<(Expr, Expr)>,
        otherwise: Option<Box<Expr>>,
    },
    Tuple(Vec<Expr>),
    Cast {
        operand: Box<Expr>,
        data_type: String,
    },
    /// `BETWEEN low AND high`.
    Between {
        operand: Box<Expr>,
        low: Box<Expr>,
        high: Box<Expr>,
        negated: bool,
    },
    /// Something else, with the expressions inside it.
    Other(Vec<Expr>),
}

impl ExprKind {
    /// The expressions directly inside this one; queries are not entered.
    pub fn parts(&self) -> Vec<&Expr> {
        match self {
            Self::Compare { left, right, .. } | Self::Arithmetic { left, right, .. } => vec![left, right],
            Self::And(list) | Self::Or(list) | Self::Tuple(list) | Self::Other(list) => list.iter().collect(),
            Self::Call { args, .. } => args.iter().collect(),
            Self::Not(operand) | Self::NullTest { operand, .. } | Self::Cast { operand, .. } => vec![operand],
            Self::InQuery { operand, .. } => vec![operand],
            Self::InList { operand, list, .. } => std::iter::once(&**operand).chain(list).collect(),
            Self::Between { operand, low, high, .. } => vec![operand, low, high],
            Self::Case { operand, branches, otherwise } => operand
                .iter()
                .chain(otherwise)
                .map(|b| &**b)
                .chain(branches.iter().flat_map(|(condition, result)| [condition, result]))
                .collect(),
            _ => Vec::new(),
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Bind {
    Position(u32),
    Name(String),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Comparison {
    Equal,
    /// `IS NOT DISTINCT FROM`, `<=>`.
    EqualOrBothNull,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    /// LIKE and its family.
    Like,
}

impl Comparison {
    /// The same comparison with its sides changed over.
    pub fn mirrored(self) -> Self {
        match self {
            Self::Less => Self::Greater,
            Self::LessOrEqual => Self::GreaterOrEqual,
            Self::Greater => Self::Less,
            Self::GreaterOrEqual => Self::LessOrEqual,
            same => same,
        }
    }
}

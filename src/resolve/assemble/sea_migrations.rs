//! Migrations that are written in Rust with sea-orm's builders, as the DDL that they stand for.
//!
//! `Table::create().table(…).col(…)` is read from the text of `fn up` of each `MigrationTrait`; names are
//! those that sea-query makes of identifiers. A name that is given otherwise stays unknown, and what
//! hangs on it is left out.

use crate::facts::Span;
use crate::facts::TextMap;
use crate::facts::rust::{Expr, ExprKind, Function, Statement as Written, snake_case};
use crate::facts::sql::{
    AlterTable, ColumnDefinition, CreateTable, Dialect, Section, Statement, StatementKind, TableChange,
    TableName, UniqueColumns,
};
use crate::facts::walk::each_expr;
use crate::locks::statement::StatementText;

use super::super::program::Program;

/// One statement that a builder makes.
pub struct RustMigration {
    pub statement: Statement,
    pub at: StatementText,
    pub dialect: Dialect,
    pub package: Option<usize>,
}

pub fn rust_migrations(program: &Program<'_>) -> Vec<RustMigration> {
    let mut found = Vec::new();
    for entry in &program.functions {
        let function = entry.function;
        let unit = &program.units[entry.unit];
        let is_up = function.name == "up" && function.implements.as_deref() == Some("MigrationTrait");
        let Some(body) = function.body.as_ref().filter(|_| is_up && !unit.is_test) else { continue };
        each_expr(body, &mut |expr| {
            let Some((span, kind)) = statement(expr, &unit.facts.functions) else { return };
            let at = StatementText { file: unit.file, map: TextMap::verbatim(0) };
            let statement = Statement { span, section: Section::Up, parsed: true, kind };
            // sea-query speaks all dialects; what we read is common to them.
            found.push(RustMigration { statement, at, dialect: Dialect::Generic, package: unit.package });
        });
    }
    found
}

/// `manager.create_table(…)` and its like, and where the builder stands.
fn statement(expr: &Expr, functions: &[Function]) -> Option<(Span, StatementKind)> {
    let ExprKind::MethodCall { method, args, .. } = &expr.kind else { return None };
    let built = args.first()?;
    let calls = chain(made_by_function(built, functions))?;
    let kind = match method.as_str() {
        "create_table" => create(&calls).map(StatementKind::CreateTable),
        "alter_table" => alter(&calls).map(StatementKind::AlterTable),
        "drop_table" => Some(StatementKind::DropTable { tables: vec![table(&calls)?] }),
        "rename_table" => {
            let names = calls.iter().find(|call| call.method == "table")?.args;
            let (from, to) = (table_name(names.first()?)?, table_name(names.get(1)?)?);
            let changes = vec![TableChange::RenameTable { to }];
            Some(StatementKind::AlterTable(AlterTable { table: from, changes }))
        }
        "create_index" => Some(StatementKind::CreateIndex {
            name: calls
                .iter()
                .find(|call| call.method == "name")
                .and_then(|call| column_name(call.args.first()?)),
            table: table(&calls)?,
            columns: index_columns(&calls),
            unique: calls.iter().any(|call| call.method == "unique"),
        }),
        _ => None,
    };
    Some((built.span, kind?))
}

/// What the file's own function gives that makes a statement and nothing else: `create_jobs_table()`.
fn made_by_function<'e>(expr: &'e Expr, functions: &'e [Function]) -> &'e Expr {
    let ExprKind::Call { callee, args } = &expr.kind else { return expr };
    let ExprKind::Path(path) = &callee.kind else { return expr };
    let [name] = path.as_slice() else { return expr };
    let is_meant = |function: &&Function| function.name == *name && function.owner.is_none();
    let body = functions.iter().find(is_meant).filter(|_| args.is_empty()).and_then(|f| f.body.as_ref());
    match body.map(|body| body.statements.as_slice()) {
        Some([Written::Expr { expr, tail: true }]) => expr,
        _ => expr,
    }
}

/// One call of a builder's chain.
struct Call<'e> {
    method: &'e str,
    args: &'e [Expr],
}

/// Longer chains are not of a person's making.
const LONGEST_CHAIN: usize = 400;

/// The calls on a builder in their order, the constructor first.
fn chain(expr: &Expr) -> Option<Vec<Call<'_>>> {
    let mut calls = Vec::new();
    let mut at = expr;
    while calls.len() < LONGEST_CHAIN {
        match &at.kind {
            ExprKind::Borrow(inner) => at = inner,
            ExprKind::MethodCall { receiver, method, args, .. } => {
                calls.push(Call { method, args });
                at = receiver;
            }
            ExprKind::Call { callee, args } => {
                let ExprKind::Path(path) = &callee.kind else { return None };
                calls.push(Call { method: path.last()?, args });
                calls.reverse();
                return Some(calls);
            }
            _ => return None,
        }
    }
    None
}

fn table(calls: &[Call<'_>]) -> Option<TableName> {
    table_name(calls.iter().find(|call| call.method == "table")?.args.first()?)
}

fn create(calls: &[Call<'_>]) -> Option<CreateTable> {
    let mut found = CreateTable {
        table: table(calls)?,
        columns: Vec::new(),
        primary_key: Vec::new(),
        unique: Vec::new(),
        if_not_exists: calls.iter().any(|call| call.method == "if_not_exists"),
        copies: None,
        from_query: false,
    };
    for call in calls {
        let Some(arg) = call.args.first() else { continue };
        match call.method {
            "col" => {
                let Some(column) = column(arg) else { continue };
                if column.is_key {
                    found.primary_key.push(column.definition.name.clone());
                }
                found.unique.extend(column.unique());
                found.columns.push(column.definition);
            }
            "primary_key" => found.primary_key = chain(arg).map(|c| index_columns(&c)).unwrap_or_default(),
            "index" => {
                let index = chain(arg).unwrap_or_default();
                let columns = index_columns(&index);
                if index.iter().any(|call| call.method == "primary") {
                    found.primary_key = columns;
                } else if index.iter().any(|call| call.method == "unique") {
                    found.unique.push(UniqueColumns { name: None, columns });
                }
            }
            _ => {}
        }
    }
    Some(found)
}

fn alter(calls: &[Call<'_>]) -> Option<AlterTable> {
    let mut changes = Vec::new();
    for call in calls {
        let Some(arg) = call.args.first() else { continue };
        match call.method {
            "add_column" | "add_column_if_not_exists" => {
                let Some(column) = column(arg) else { continue };
                changes.extend(column.unique().map(TableChange::AddUnique));
                changes.push(TableChange::AddColumn(column.definition));
            }
            "modify_column" => {
                let Some(column) = column(arg) else { continue };
                changes.extend(modified(column.definition, column.says_null));
            }
            "drop_column" => {
                changes.extend(column_name(arg).map(|name| TableChange::DropColumn { name, span: arg.span }));
            }
            "rename_column" => {
                let names = column_name(arg).zip(call.args.get(1).and_then(column_name));
                changes.extend(names.map(|(from, to)| TableChange::RenameColumn {
                    from,
                    to,
                    span: arg.span,
                }));
            }
            _ => {}
        }
    }
    Some(AlterTable { table: table(calls)?, changes })
}

/// sea-query's MODIFY changes what it names and nothing else.
fn modified(column: ColumnDefinition, says_null: bool) -> Vec<TableChange> {
    let ColumnDefinition { name, data_type, not_null, default, span, .. } = column;
    let mut changes = Vec::new();
    if !data_type.is_empty() {
        changes.push(TableChange::SetType { column: name.clone(), data_type, span });
    }
    if not_null {
        changes.push(TableChange::SetNotNull { column: name.clone() });
    } else if says_null {
        changes.push(TableChange::DropNotNull { column: name.clone(), span });
    }
    changes.extend(default.map(|default| TableChange::SetDefault { column: name, default }));
    changes
}

struct Column {
    definition: ColumnDefinition,
    is_key: bool,
    is_unique: bool,
    says_null: bool,
}

impl Column {
    fn unique(&self) -> Option<UniqueColumns> {
        let columns = vec![self.definition.name.clone()];
        self.is_unique.then_some(UniqueColumns { name: None, columns })
    }
}

/// `ColumnDef::new(X).big_integer().not_null()`, or `big_integer(X).default(0)` of the schema helpers.
fn column(expr: &Expr) -> Option<Column> {
    let calls = chain(expr)?;
    let (first, rest) = calls.split_first()?;
    let name_at = first.args.first()?;
    let definition = ColumnDefinition {
        name: column_name(name_at)?,
        data_type: String::new(),
        not_null: false,
        default: None,
        counts_up: false,
        span: expr.span,
    };
    let mut column = Column { definition, is_key: false, is_unique: false, says_null: false };
    if !["new", "new_with_type"].contains(&first.method) {
        column.helper(first.method);
    }
    for call in rest {
        column.apply(call);
    }
    Some(column)
}

impl Column {
    /// `big_integer_null(X)`, `string_uniq(X)`, `pk_auto(X)`.
    fn helper(&mut self, name: &str) {
        let name = name.strip_suffix("_auto").unwrap_or(name);
        if ["pk", "big_pk", "pk_uuid"].contains(&name) {
            (self.is_key, self.definition.not_null) = (true, true);
            let kind = match name {
                "pk" => "integer",
                "big_pk" => "bigint",
                _ => "uuid",
            };
            kind.clone_into(&mut self.definition.data_type);
            return;
        }
        self.is_unique = name.ends_with("_uniq");
        self.says_null = name.ends_with("_null");
        self.definition.not_null = !self.says_null;
        let kind = name.trim_end_matches("_uniq").trim_end_matches("_null");
        self.definition.data_type = sql_type(kind).unwrap_or_default().to_owned();
    }

    fn apply(&mut self, call: &Call<'_>) {
        let definition = &mut self.definition;
        match call.method {
            "not_null" => definition.not_null = true,
            "null" => (definition.not_null, self.says_null) = (false, true),
            "default" => definition.default = call.args.first().map(default_text),
            "auto_increment" => (definition.counts_up, definition.not_null) = (true, true),
            "primary_key" => (self.is_key, definition.not_null) = (true, true),
            "unique_key" => self.is_unique = true,
            kind => {
                if let Some(kind) = sql_type(kind) {
                    definition.data_type = kind.to_owned();
                }
            }
        }
    }
}

fn sql_type(method: &str) -> Option<&'static str> {
    Some(match method {
        "big_integer" => "bigint",
        "big_unsigned" => "bigint unsigned",
        "integer" => "integer",
        "unsigned" => "int unsigned",
        "small_integer" | "small_unsigned" => "smallint",
        "tiny_integer" | "tiny_unsigned" => "tinyint",
        "string" | "string_len" | "var_binary" => "varchar",
        "text" => "text",
        "char" | "char_len" => "char",
        "uuid" => "uuid",
        "float" => "real",
        "double" => "double precision",
        "decimal" | "decimal_len" => "decimal",
        "timestamp" => "timestamp",
        "timestamp_with_time_zone" => "timestamptz",
        "date_time" => "datetime",
        "date" => "date",
        "time" => "time",
        "boolean" => "boolean",
        _ => return None,
    })
}

fn default_text(value: &Expr) -> String {
    match &value.kind {
        ExprKind::Int(number) => number.to_string(),
        ExprKind::Text(text) => format!("'{}'", text.value),
        ExprKind::Call { args, .. } if args.len() == 1 => default_text(&args[0]),
        ExprKind::Cast { value, .. } => default_text(value),
        _ => "(expression)".to_owned(),
    }
}

fn index_columns(calls: &[Call<'_>]) -> Vec<String> {
    calls
        .iter()
        .filter(|call| call.method == "col")
        .filter_map(|call| column_name(call.args.first()?))
        .collect()
}

/// `Pumps::Table` is `pumps`.
fn table_name(expr: &Expr) -> Option<TableName> {
    let name = match &expr.kind {
        ExprKind::Path(path) => match path.as_slice() {
            [.., owner, last] if last == "Table" => snake_case(owner),
            [.., last] if !is_constant(last) => snake_case(last),
            _ => return None,
        },
        ExprKind::Tuple(parts) => {
            let [schema, name] = parts.as_slice() else { return None };
            let schema = table_name(schema)?.name;
            return Some(TableName { schema: Some(schema), name: table_name(name)?.name });
        }
        _ => column_name(expr)?,
    };
    Some(TableName { schema: None, name })
}

/// `Pumps::FencingToken`, `Alias::new("fencing_token")`, `"fencing_token"`.
fn column_name(expr: &Expr) -> Option<String> {
    match &expr.kind {
        ExprKind::Path(path) => path.last().filter(|last| !is_constant(last)).map(|last| snake_case(last)),
        ExprKind::Text(text) => Some(text.value.clone()),
        ExprKind::Call { args, .. } => column_name(args.first()?),
        ExprKind::Borrow(inner) => column_name(inner),
        _ => None,
    }
}

/// The text of a constant is not known here.
fn is_constant(name: &str) -> bool {
    name.len() > 1 && !name.contains(char::is_lowercase)
}

//! Which table and which column a value of a chain names. Names that are not declared in the run are those
//! that the libraries make of identifiers.

use crate::facts::Span;
use crate::facts::rust::{TypeKind, snake_case};
use crate::facts::sql::{Expr, ExprKind, TableName};

use super::Reading;
use crate::resolve::chain::{Chain, Start};
use crate::resolve::program::TableId;
use crate::resolve::value::{Form, Symbol, Value};

impl Reading<'_, '_> {
    pub(super) fn table_name(&self, id: TableId) -> Option<TableName> {
        let table = self.program.table(id)?;
        Some(TableName { schema: table.schema.clone(), name: table.name.clone() })
    }

    /// `jobs::table`, `Entity`, `Jobs::Table`, `Alias::new("jobs")`, `"jobs"`.
    pub(super) fn named_table(&mut self, value: &Value) -> Option<TableName> {
        match &value.form {
            Form::Chain(chain) => match &chain.start {
                Start::Table(id) => {
                    self.table = self.table.or(Some(*id));
                    self.table_name(*id)
                }
                Start::Function { name, args } if &**name == "Alias::new" => self.named_table(args.first()?),
                _ => None,
            },
            Form::Symbol(Symbol::Call(path)) => {
                let name = self.identifier(path)?;
                Some(TableName { schema: None, name })
            }
            Form::Tuple(parts) => match &parts[..] {
                [schema, name] => {
                    let schema = Some(self.named_table(schema)?.name);
                    Some(TableName { schema, name: self.named_table(name)?.name })
                }
                _ => None,
            },
            _ => Some(TableName { schema: None, name: value.as_text()? }),
        }
    }

    /// The column that a value names, where only a column can stand.
    pub(super) fn named_column(&self, value: &Value) -> Option<String> {
        match &value.form {
            Form::Chain(chain) => match &chain.start {
                Start::Column(_) => self.column(chain).map(|(_, name)| name),
                Start::Function { name, args } if takes_name(name) => self.named_column(args.first()?),
                _ => None,
            },
            Form::Symbol(Symbol::Call(path)) => self.identifier(path),
            // A column with its table in front.
            Form::Tuple(parts) => self.named_column(parts.last().filter(|_| parts.len() == 2)?),
            _ => value.as_text(),
        }
    }

    /// The table and the name of a chain's column: of several, the one in the statement's table.
    pub(super) fn column(&self, chain: &Chain) -> Option<(TableId, String)> {
        let Start::Column(all) = &chain.start else { return None };
        let own = all.iter().find(|(table, _)| Some(*table) == self.table);
        let (table, at) = own.or_else(|| all.first())?;
        Some((*table, self.program.table(*table)?.columns.get(*at)?.column.clone()))
    }

    pub(super) fn column_expr(&self, chain: &Chain, span: Span) -> Option<Expr> {
        let (table, name) = self.column(chain)?;
        let is_own = self.table.is_none_or(|own| own == table);
        let qualifier = self.program.table(table).filter(|_| !is_own).map(|table| table.name.clone());
        Some(Expr { span, kind: ExprKind::Column { qualifier, name } })
    }

    /// `Jobs::FencingToken` is `fencing_token`, `Jobs::Table` is `jobs`, unless an attribute renames it.
    fn identifier(&self, path: &str) -> Option<String> {
        let (of, name) = path.rsplit_once("::")?;
        let of = of.rsplit("::").next().unwrap_or(of);
        if !name.contains(char::is_lowercase) || !of.starts_with(char::is_uppercase) {
            return None;
        }
        let entry = self.program.type_of_name(self.scope, of);
        let entry = entry.filter(|entry| matches!(entry.definition.kind, TypeKind::Enum { .. }));
        let says = |on: Option<&str>| {
            entry.and_then(|entry| entry.definition.setting(on, "iden")).map(str::to_owned)
        };
        match name {
            "Table" => says(Some(name)).or_else(|| says(None)).or_else(|| Some(snake_case(of))),
            _ => says(Some(name)).or_else(|| Some(snake_case(name))),
        }
    }
}

fn takes_name(function: &str) -> bool {
    matches!(function, "Alias::new" | "Expr::col" | "Expr::column" | "SimpleExpr::from")
}

//! What a statement writes: columns with their new values, from tuples of `column.eq(value)`, from rows, and
//! from structs whose fields are columns.

use crate::facts::Span;
use crate::facts::rust::TypeKind;
use crate::facts::sql::Assignment;

use super::{Reading, chain_of, items};
use crate::resolve::chain::{Chain, SET_FIELD, Start};
use crate::resolve::program::{TableId, TypeEntry};
use crate::resolve::value::{Form, Value};

/// Derives of structs whose fields are columns.
const ROWS: &[&str] = &["AsChangeset", "Insertable", "Identifiable"];

/// A field of a row that is to be written.
pub(super) struct RowField {
    pub(super) set: Assignment,
    /// The row has this value already.
    pub(super) is_kept: bool,
}

impl<'a> Reading<'_, 'a> {
    /// What `set` and `values` are given; what cannot be read is noted.
    pub(super) fn assignments(&mut self, value: &Value, at: Span) -> Vec<Assignment> {
        if let Form::Tuple(parts) = &value.form {
            return parts.iter().flat_map(|part| self.assignments(part, at)).collect();
        }
        if let Some(chain) = chain_of(value) {
            return match chain.start {
                Start::Row(_) => {
                    let fields = self.row_fields(chain).into_iter().filter(|field| !field.is_kept);
                    fields.map(|field| field.set).collect()
                }
                _ => self.column_assignment(chain).into_iter().collect(),
            };
        }
        let fields = self.struct_fields(value, at);
        self.known &= !fields.is_empty();
        fields
    }

    /// `jobs::state.eq("done")`.
    fn column_assignment(&mut self, chain: &Chain) -> Option<Assignment> {
        let column = self.column(chain).map(|(_, name)| name);
        let found = column.zip(chain.calls.first()).filter(|(_, call)| &*call.method == "eq");
        self.known &= found.is_some();
        let (column, call) = found?;
        let span = self.span(chain.location).to(self.span(call.location));
        let value = self.value(call.args.first()?, self.span(call.location));
        Some(Assignment { column, value, span })
    }

    /// The fields that a row is given.
    pub(super) fn row_fields(&mut self, chain: &Chain) -> Vec<RowField> {
        let Start::Row(table) = chain.start else { return Vec::new() };
        let mut found: Vec<RowField> = Vec::new();
        for call in chain.calls.iter().filter(|call| &*call.method == SET_FIELD) {
            let [name, value] = call.args.as_slice() else { continue };
            let begins_with = |name: &str| chain_of(value).is_some_and(|chain| chain.begins_with(name));
            let column = name.as_text().and_then(|name| self.field_column(table, &name));
            let Some(column) = column.filter(|_| !begins_with("NotSet")) else { continue };
            let (span, is_kept) = (self.span(call.location), begins_with("Unchanged"));
            let value = self.value(value, span);
            found.retain(|earlier| earlier.set.column != column);
            found.push(RowField { set: Assignment { column, value, span }, is_kept });
        }
        self.known &= !chain.calls.is_empty();
        found
    }

    fn field_column(&self, table: TableId, field: &str) -> Option<String> {
        let columns = &self.program.table(table)?.columns;
        columns.iter().find(|column| column.name == field).map(|column| column.column.clone())
    }

    /// The fields of a struct that stands for a row.
    fn struct_fields(&mut self, value: &Value, at: Span) -> Vec<Assignment> {
        let Some(entry) = self.row_struct(value) else { return Vec::new() };
        let TypeKind::Struct { fields } = &entry.definition.kind else { return Vec::new() };
        let key = self.table.and_then(|table| self.program.table(table)).map_or(&[][..], |table| &table.key);
        let key = key.to_vec();
        let mut found = Vec::new();
        for field in fields {
            let renamed = entry.definition.setting(Some(&field.name), "column_name");
            let column = renamed.unwrap_or(&field.name).to_owned();
            if key.contains(&column) && key.len() == 1 {
                continue;
            }
            let known = match &value.form {
                Form::Record(record) => record.fields.iter().find(|(name, _)| **name == *field.name),
                _ => None,
            };
            let value = match known {
                Some((_, value)) => self.value(&value.clone(), at),
                None => self.bind(&Value::default().with_flows(&value.flows), at),
            };
            found.push(Assignment { column, value, span: at });
        }
        found
    }

    /// The declaration of a struct that stands for a row.
    pub(super) fn row_struct(&self, value: &Value) -> Option<TypeEntry<'a>> {
        let ty = self.program.peeled(self.scope, value.ty.as_ref()?);
        let entry = self.program.type_named(self.scope, &ty)?;
        let derives = &entry.definition.derives;
        derives.iter().any(|derived| ROWS.contains(&derived.as_str())).then_some(entry)
    }

    /// `[(column, value), …]` of sea-query.
    pub(super) fn pairs(&mut self, list: &Value, at: Span) -> Vec<Assignment> {
        let mut found = Vec::new();
        for pair in items(list) {
            let [column, value] = items(pair) else {
                self.known = false;
                continue;
            };
            found.extend(self.pair(column, value, at));
        }
        found
    }

    pub(super) fn pair(&mut self, column: &Value, value: &Value, at: Span) -> Option<Assignment> {
        let column = self.named_column(column);
        self.known &= column.is_some();
        Some(Assignment { column: column?, value: self.value(value, at), span: at })
    }
}

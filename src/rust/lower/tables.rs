//! Tables of databases that macros and derives declare: diesel's `table!`, sea-orm's `DeriveEntityModel`.
//!
//! What such a macro makes is written down as if it stood in the file: the module of a table with its
//! columns, the types beside a model. So names lead to them through imports and globs as to anything else.
//! What a statement on them means is not its concern.

use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};
use syn::punctuated::Punctuated;
use syn::{Field, Fields, Token, Variant};

use crate::facts::Span;
use crate::facts::rust::{
    Expr, ExprKind, Setting, Statement, Table, TableColumn, TypeDefinition, TypeKind, snake_case,
};

use super::item::{Items, derives, metas};

/// Attributes that name things of a database.
const NAMING: &[&str] = &["sea_orm", "diesel", "iden", "table_name", "column_name"];

/// What such attributes say.
pub(super) fn settings(attributes: &[syn::Attribute], on: Option<&str>) -> Vec<Setting> {
    let mut found = Vec::new();
    let mut add = |name: String, value: String| {
        found.push(Setting { on: on.map(str::to_owned), name, value });
    };
    for meta in metas(attributes) {
        let name = meta.path().segments.last().map(|segment| segment.ident.to_string()).unwrap_or_default();
        if !NAMING.contains(&name.as_str()) {
            continue;
        }
        match &meta {
            syn::Meta::NameValue(pair) => add(name, text(&pair.value)),
            syn::Meta::List(list) => pairs(list.tokens.clone()).into_iter().for_each(|(k, v)| add(k, v)),
            syn::Meta::Path(_) => {}
        }
    }
    found
}

/// The pairs in the lists of these attributes: `#[arg(long, default_value_t = 30)]`.
pub(super) fn pairs_of(attributes: &[syn::Attribute], names: &[&str]) -> Vec<(String, String)> {
    let lists = metas(attributes).into_iter().filter_map(|meta| match meta {
        syn::Meta::List(list) if names.iter().any(|name| list.path.is_ident(name)) => Some(list.tokens),
        _ => None,
    });
    lists.flat_map(pairs).collect()
}

fn text(value: &syn::Expr) -> String {
    match value {
        syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Str(text), .. }) => text.value(),
        syn::Expr::Path(path) => super::pattern::segments(&path.path).join("::"),
        _ => String::new(),
    }
}

/// `a = "b", c, d = e::f`: a word alone has an empty value.
fn pairs(tokens: TokenStream) -> Vec<(String, String)> {
    let mut found: Vec<(String, String)> = Vec::new();
    let mut is_new = true;
    for token in tokens {
        match token {
            TokenTree::Punct(punct) if punct.as_char() == ',' => is_new = true,
            TokenTree::Ident(name) if is_new => {
                found.push((name.to_string(), String::new()));
                is_new = false;
            }
            TokenTree::Punct(punct) if punct.as_char() == '=' => {}
            token => {
                if let Some((_, value)) = found.last_mut() {
                    value.push_str(unquoted(&token.to_string()));
                }
            }
        }
    }
    found
}

fn unquoted(token: &str) -> &str {
    token.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).unwrap_or(token)
}

pub(super) fn settings_of_fields(fields: &Fields) -> Vec<Setting> {
    fields.iter().flat_map(|field| settings(&field.attrs, Some(&field_name(field)))).collect()
}

pub(super) fn settings_of_variants(variants: &Punctuated<Variant, Token![,]>) -> Vec<Setting> {
    let of = |variant: &Variant| settings(&variant.attrs, Some(&variant.ident.to_string()));
    variants.iter().flat_map(of).collect()
}

fn field_name(field: &Field) -> String {
    field.ident.as_ref().map(ToString::to_string).unwrap_or_default()
}

/// The name in the database of what Rust calls by a keyword: `r#type`.
fn plain(name: &str) -> &str {
    name.strip_prefix("r#").unwrap_or(name)
}

impl Items<'_> {
    /// What `#[derive(DeriveEntityModel)]` makes beside a model.
    pub(super) fn entity(&mut self, attributes: &[syn::Attribute], fields: &Fields, name: &syn::Ident) {
        if !derives(attributes).iter().any(|derived| derived == "DeriveEntityModel") {
            return;
        }
        let own = settings(attributes, None);
        let value = |settings: &[Setting], name: &str| {
            settings.iter().find(|setting| setting.name == name).map(|setting| setting.value.clone())
        };
        let Some(table_name) = value(&own, "table_name") else { return };
        let mut table = Table {
            schema: value(&own, "schema_name"),
            name: table_name,
            key: Vec::new(),
            columns: Vec::new(),
        };
        for field in fields {
            let (name, settings) = (field_name(field), settings(&field.attrs, None));
            if value(&settings, "ignore").is_some() {
                continue;
            }
            let column = value(&settings, "column_name").unwrap_or_else(|| plain(&name).to_owned());
            if value(&settings, "primary_key").is_some() {
                table.key.push(column.clone());
            }
            table.columns.push(TableColumn { name, column });
        }
        let at = self.facts.tables.len();
        self.facts.tables.push(table);
        let (module, span) = (self.module.clone(), self.source.span(name.span()));
        let made = [("Entity", TypeKind::Table(at)), ("Column", TypeKind::Columns(at))];
        for (name, kind) in made.into_iter().chain([("ActiveModel", TypeKind::Row(at))]) {
            self.stand_in(module.clone(), name, kind, span);
        }
    }

    /// Entities that are written out: `DeriveEntity`, `DeriveColumn` and their like, each on a type of its own.
    pub(super) fn written_out_entities(&mut self) {
        let derives = |ty: &TypeDefinition, name: &str| ty.derives.iter().any(|derived| derived == name);
        let entities: Vec<usize> = (0..self.facts.types.len())
            .filter(|&at| derives(&self.facts.types[at], "DeriveEntity"))
            .collect();
        for entity in entities {
            let module = self.facts.types[entity].module.clone();
            let in_module =
                |name: &str| self.facts.types.iter().position(|ty| ty.module == module && derives(ty, name));
            let (columns, key, model) =
                (in_module("DeriveColumn"), in_module("DerivePrimaryKey"), in_module("DeriveActiveModel"));
            let Some((name, columns)) = self.entity_name(entity).zip(columns) else { continue };
            let listed = self.facts.types[columns].clone();
            let of = |variant: &String| TableColumn {
                name: snake_case(variant),
                column: listed
                    .setting(Some(variant), "column_name")
                    .map_or_else(|| snake_case(variant), str::to_owned),
            };
            let key: Vec<String> = key.map(|at| variants(&self.facts.types[at])).unwrap_or_default();
            let table = Table {
                schema: None,
                name,
                key: key.iter().map(|variant| of(variant).column).collect(),
                columns: variants(&listed).iter().map(of).collect(),
            };
            let at = self.facts.tables.len();
            self.facts.tables.push(table);
            self.facts.types[entity].kind = TypeKind::Table(at);
            self.facts.types[columns].kind = TypeKind::Columns(at);
            if model.is_some() {
                self.stand_in(module, "ActiveModel", TypeKind::Row(at), listed.span);
            }
        }
    }

    /// What `table_name` gives, or an attribute says.
    fn entity_name(&self, entity: usize) -> Option<String> {
        let ty = &self.facts.types[entity];
        if let Some(name) = ty.setting(None, "table_name") {
            return Some(name.to_owned());
        }
        let named = self.facts.functions.iter().find(|function| {
            function.name == "table_name"
                && function.module == ty.module
                && function.owner.as_ref() == Some(&ty.name)
        });
        match named?.body.as_ref()?.statements.as_slice() {
            [Statement::Expr { expr: Expr { kind: ExprKind::Text(text), .. }, .. }] => {
                Some(text.value.clone())
            }
            _ => None,
        }
    }

    /// `table! { jobs (id) { id -> Int8, state -> Text, } }`.
    pub(super) fn table_macro(&mut self, call: &syn::ItemMacro) {
        let Some((name, table)) = table(call.mac.tokens.clone()) else { return };
        let span = self.source.span(call.mac.bang_token.span);
        let at = self.facts.tables.len();
        let inside = |names: &[&str]| -> Vec<String> {
            let own = std::iter::once(name.as_str()).chain(names.iter().copied());
            self.module.iter().cloned().chain(own.map(str::to_owned)).collect()
        };
        let modules = [inside(&[]), inside(&["dsl"]), inside(&["columns"])];
        let columns: Vec<String> = table.columns.iter().map(|column| column.name.clone()).collect();
        self.facts.tables.push(table);
        self.stand_in(modules[0].clone(), "table", TypeKind::Table(at), span);
        self.stand_in(modules[1].clone(), &name, TypeKind::Table(at), span);
        for module in modules {
            for (column, name) in columns.iter().enumerate() {
                self.stand_in(module.clone(), name, TypeKind::Column { table: at, column }, span);
            }
        }
    }

    fn stand_in(&mut self, module: Vec<String>, name: &str, kind: TypeKind, span: Span) {
        let (derives, settings) = (Vec::new(), Vec::new());
        let name = name.to_owned();
        let is_test = self.is_test;
        self.facts.types.push(TypeDefinition { module, name, kind, derives, settings, span, is_test });
    }
}

fn variants(ty: &TypeDefinition) -> Vec<String> {
    match &ty.kind {
        TypeKind::Enum { variants } => variants.clone(),
        _ => Vec::new(),
    }
}

/// The table of a `table!`, and its name in Rust.
fn table(tokens: TokenStream) -> Option<(String, Table)> {
    let mut renamed = None;
    let (mut schema, mut name) = (None, None);
    let mut key = Vec::new();
    let mut in_use = false;
    for token in tokens {
        match token {
            TokenTree::Ident(word) if word == "use" => in_use = true,
            TokenTree::Punct(punct) if punct.as_char() == ';' => in_use = false,
            _ if in_use => {}
            TokenTree::Ident(word) => name = Some(word.to_string()),
            TokenTree::Punct(punct) if punct.as_char() == '.' => schema = name.take(),
            TokenTree::Group(group) => match group.delimiter() {
                Delimiter::Bracket => renamed = sql_name(&group).or(renamed),
                Delimiter::Parenthesis => key = words(group.stream()),
                Delimiter::Brace => {
                    let (name, columns) = (name?, columns(group.stream()));
                    let in_database = |rust: &String| {
                        let known = columns.iter().find(|column| column.name == *rust);
                        known.map_or_else(|| plain(rust).to_owned(), |column| column.column.clone())
                    };
                    let key = if key.is_empty() {
                        vec!["id".to_owned()]
                    } else {
                        key.iter().map(in_database).collect()
                    };
                    let table_name = renamed.unwrap_or_else(|| plain(&name).to_owned());
                    return Some((name, Table { schema, name: table_name, key, columns }));
                }
                Delimiter::None => {}
            },
            _ => {}
        }
    }
    None
}

fn words(tokens: TokenStream) -> Vec<String> {
    let word = |token| match token {
        TokenTree::Ident(word) => Some(word.to_string()),
        _ => None,
    };
    tokens.into_iter().filter_map(word).collect()
}

/// `#[sql_name = "type"]`.
fn sql_name(attribute: &Group) -> Option<String> {
    pairs(attribute.stream()).into_iter().find(|(name, _)| name == "sql_name").map(|(_, value)| value)
}

/// `id -> Int8, #[sql_name = "type"] kind -> Nullable<Text>,`.
fn columns(tokens: TokenStream) -> Vec<TableColumn> {
    let mut found = Vec::new();
    let mut renamed = None;
    let mut name: Option<String> = None;
    let mut before = ' ';
    let mut in_type = false;
    // Commas inside `Map<A, B>` end no column.
    let mut open = 0_usize;
    for token in tokens {
        let current = if let TokenTree::Punct(punct) = &token { punct.as_char() } else { ' ' };
        match token {
            TokenTree::Group(group) if !in_type => renamed = sql_name(&group).or(renamed),
            TokenTree::Ident(word) if !in_type => name = Some(word.to_string()),
            _ => {}
        }
        match current {
            '>' if before == '-' => {
                in_type = true;
                if let Some(name) = name.take() {
                    let column = renamed.take().unwrap_or_else(|| plain(&name).to_owned());
                    found.push(TableColumn { name, column });
                }
            }
            '<' => open += 1,
            '>' => open = open.saturating_sub(1),
            ',' if open == 0 => in_type = false,
            _ => {}
        }
        before = current;
    }
    found
}

#[cfg(test)]
mod tests {
    use crate::facts::rust::{RustFile, TypeKind};

    fn facts(text: &str) -> RustFile {
        crate::rust::parse(text).unwrap()
    }

    #[test]
    fn a_table_macro_names_its_table_key_and_columns() {
        let facts = facts(
            "diesel::table! { use diesel::sql_types::*; /// Jobs.\n #[sql_name = \"work\"] queue.jobs (job_id) {
                #[sql_name = \"id\"] job_id -> Int8, #[max_length = 3] owner -> Nullable<Text>, r#type -> Int2, } }",
        );
        let table = &facts.tables[0];
        assert_eq!((table.schema.as_deref(), table.name.as_str()), (Some("queue"), "work"));
        assert_eq!(table.key, ["id"]);
        let columns: Vec<_> = table.columns.iter().map(|c| (c.name.as_str(), c.column.as_str())).collect();
        assert_eq!(columns, [("job_id", "id"), ("owner", "owner"), ("r#type", "type")]);
        let all = facts.types.iter().find(|ty| ty.name == "jobs").unwrap();
        assert_eq!(
            (&all.module[..], &all.kind),
            (&["jobs".to_owned(), "dsl".to_owned()][..], &TypeKind::Table(0))
        );
    }

    #[test]
    fn a_model_brings_its_entity_columns_and_active_model() {
        let facts = facts(
            "#[cfg_attr(feature = \"db\", derive(Clone, DeriveEntityModel), sea_orm(table_name = \"items\", schema_name = \"shop\"))]
            pub struct Model { #[sea_orm(primary_key, auto_increment = false)] pub id: i64,
                #[sea_orm(column_name = \"st\")] pub state: String, #[sea_orm(ignore)] pub cached: bool }",
        );
        let table = &facts.tables[0];
        assert_eq!((table.schema.as_deref(), table.name.as_str()), (Some("shop"), "items"));
        assert_eq!(table.key, ["id"]);
        assert_eq!(table.columns.len(), 2);
        assert_eq!(table.columns[1].column, "st");
        let names: Vec<&str> = facts.types.iter().map(|ty| ty.name.as_str()).collect();
        assert_eq!(names, ["Model", "Entity", "Column", "ActiveModel"]);
    }

    #[test]
    fn an_entity_that_is_written_out_is_the_same() {
        let facts = facts(
            "#[derive(DeriveEntity)] pub struct Entity;
            impl EntityName for Entity { fn table_name(&self) -> &str { \"tasks\" } }
            #[derive(DeriveModel, DeriveActiveModel)] pub struct Model { pub id: i64, pub locked_by: String }
            #[derive(EnumIter, DeriveColumn)] pub enum Column { Id, #[sea_orm(column_name = \"owner\")] LockedBy }
            #[derive(EnumIter, DerivePrimaryKey)] pub enum PrimaryKey { Id }",
        );
        let table = &facts.tables[0];
        assert_eq!((table.name.as_str(), &table.key[..]), ("tasks", &["id".to_owned()][..]));
        assert_eq!(
            (table.columns[1].name.as_str(), table.columns[1].column.as_str()),
            ("locked_by", "owner")
        );
        assert!(facts.types.iter().any(|ty| ty.name == "ActiveModel" && ty.kind == TypeKind::Row(0)));
    }
}

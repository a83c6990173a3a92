//! The calls of a chain as the clauses of one statement, taken one after another.

use crate::facts::Span;
use crate::facts::sql::{
    Assignment, Clauses, Comparison, Expr, ExprKind, Select, Source, SourceKind, StatementKind, TableName,
    Write, WriteVerb,
};

use super::assignments::RowField;
use super::{MAX_DEPTH, Reading, chain_of, items};
use crate::resolve::chain::{Call, Chain, SET_FIELD, Start};
use crate::resolve::value::{Form, Value};

/// A statement while its clauses are read.
#[derive(Default)]
struct Draft {
    /// None for a SELECT.
    verb: Option<WriteVerb>,
    table: Option<TableName>,
    table_span: Span,
    predicates: Vec<Expr>,
    conflict_predicate: Option<Expr>,
    assignments: Vec<Assignment>,
    columns: Vec<String>,
    values: Vec<Expr>,
    skips_conflicts: bool,
    updates_conflicts: bool,
    returns: bool,
    /// It is a row whose key is among its fields.
    names_key: bool,
    sources: Vec<Source>,
    joins: Vec<Expr>,
    select: Select,
}

/// Methods that neither choose rows nor change them.
const NEUTRAL: &[&str] = &[
    "select",
    "count",
    "count_star",
    "having",
    "select_only",
    "column",
    "column_as",
    "expr",
    "expr_as",
    "exprs",
    "order",
    "order_by",
    "order_by_asc",
    "order_by_desc",
    "then_order_by",
    "group_by",
    "offset",
    "distinct",
    "distinct_on",
    "into_boxed",
    "into_model",
    "into_tuple",
    "into_json",
    "into_partial_model",
    "as_query",
    "no_wait",
    "validate",
    "on_conflict",
    "on_constraint",
    "default_values",
    "or_default_values",
    "find",
    "internal_load",
    "from_alias",
    "with_cte",
];

impl Reading<'_, '_> {
    pub(super) fn statement(&mut self, chain: &Chain, method: &str) -> Option<StatementKind> {
        if self.depth >= MAX_DEPTH {
            return None;
        }
        self.depth += 1;
        let is_row = matches!(chain.start, Start::Row(_));
        let table_span = if is_row { self.home } else { self.span(chain.location) };
        let mut draft = Draft { table_span, ..Draft::default() };
        let begun = self.begin(&mut draft, chain, method);
        if begun.is_some() {
            for call in &chain.calls {
                self.clause(&mut draft, call);
            }
        }
        self.depth -= 1;
        begun?;
        draft.select.limited |= matches!(method, "first" | "first_async" | "one");
        draft.returns |= method.starts_with("get_result") || matches!(method, "load" | "exec_with_returning");
        draft.finish()
    }

    fn begin(&mut self, draft: &mut Draft, chain: &Chain, method: &str) -> Option<()> {
        match &chain.start {
            Start::Table(id) => {
                self.table = Some(*id);
                draft.table = self.table_name(*id);
            }
            Start::Row(id) => {
                self.table = Some(*id);
                draft.table = self.table_name(*id);
                let verb = match method {
                    "insert" => WriteVerb::Insert,
                    "delete" => WriteVerb::Delete,
                    _ => WriteVerb::Update,
                };
                self.row(draft, chain, verb);
                // Without a key, `save` inserts.
                self.known &= method != "save" || draft.names_key;
            }
            Start::Column(_) => return None,
            Start::Function { name, args } => {
                draft.verb = verb_of(name)?;
                draft.skips_conflicts = &**name == "insert_or_ignore_into";
                if !name.starts_with("Query::") {
                    self.target(draft, args.first()?)?;
                }
            }
        }
        Some(())
    }

    /// What `update(…)` and its like are given: a table, rows of it, or one row that was read before.
    fn target(&mut self, draft: &mut Draft, target: &Value) -> Option<()> {
        let Some(chain) = chain_of(target) else { return self.read_row(draft, target) };
        let Start::Table(id) = chain.start else { return None };
        self.table = Some(id);
        draft.table = self.table_name(id);
        for call in &chain.calls {
            self.clause(draft, call);
        }
        Some(())
    }

    /// `update(&job)`: by the primary key.
    fn read_row(&mut self, draft: &mut Draft, target: &Value) -> Option<()> {
        let entry = self.row_struct(target)?;
        let path = entry.definition.setting(None, "table_name")?;
        let path: Vec<String> = path.split("::").map(str::to_owned).collect();
        let id = self.program.table_named(entry.scope(), &path)?;
        self.table = Some(id);
        draft.table = self.table_name(id);
        self.by_key(draft, &Value::default().with_flows(&target.flows), draft.table_span);
        Some(())
    }

    /// A row that is written as a whole: its key chooses, its other fields are set.
    fn row(&mut self, draft: &mut Draft, chain: &Chain, verb: WriteVerb) {
        let key = self.table.and_then(|id| self.program.table(id)).map(|table| table.key.clone());
        let key = key.unwrap_or_default();
        let fields = self.row_fields(chain);
        draft.verb = Some(verb);
        if verb == WriteVerb::Insert {
            return draft.insert(fields.into_iter().map(|field| field.set).collect());
        }
        let is_key = |field: &RowField| key.contains(&field.set.column);
        let (given, others): (Vec<RowField>, Vec<RowField>) = fields.into_iter().partition(is_key);
        if verb == WriteVerb::Update {
            let changed = others.into_iter().filter(|field| !field.is_kept);
            draft.assignments = changed.map(|field| field.set).collect();
        }
        draft.names_key = !given.is_empty();
        if given.is_empty() {
            return self.by_key(draft, &Value::default(), draft.table_span);
        }
        let picked = given.into_iter().map(|field| field.set);
        draft.predicates.extend(picked.map(|set| equal(set.column, set.value, set.span)));
    }

    /// The row, or rows, of a primary key.
    fn by_key(&mut self, draft: &mut Draft, value: &Value, at: Span) {
        let key = self.table.and_then(|id| self.program.table(id)).map(|table| table.key.clone());
        let key = key.unwrap_or_default();
        self.complete &= !key.is_empty();
        let parts = items(value);
        for (position, column) in key.iter().enumerate() {
            let part = if parts.len() == key.len() { &parts[position] } else { value };
            let value = self.value(part, at);
            draft.predicates.push(equal(column.clone(), value, at));
        }
    }

    fn clause(&mut self, draft: &mut Draft, call: &Call) {
        let at = self.span(call.location);
        let first = call.args.first();
        match (&*call.method, first) {
            ("find_by_id" | "find", Some(key)) if !call.is_conditional => self.by_key(draft, key, at),
            ("delete_by_id", Some(key)) => {
                draft.verb = Some(WriteVerb::Delete);
                self.by_key(draft, key, at);
            }
            ("update_many", None) => draft.verb = Some(WriteVerb::Update),
            ("delete_many", None) => draft.verb = Some(WriteVerb::Delete),
            ("update" | "insert" | "insert_many" | "delete", Some(row)) => self.whole_row(draft, call, row),
            (_, Some(first)) if self.is_condition_clause(draft, call, first) => {}
            (_, Some(first)) if self.is_writing_clause(draft, call, first, at) => {}
            ("do_nothing" | "on_conflict_do_nothing", _) => draft.skips_conflicts = true,
            ("do_update", _) => draft.updates_conflicts = true,
            ("returning" | "returning_all" | "returning_col", _) => draft.returns = true,
            ("limit", _) => draft.select.limited = true,
            (method, first) if is_lock(method) => draft.lock(call, first),
            (method, _) if method == SET_FIELD || NEUTRAL.contains(&method) => {}
            _ => self.complete = false,
        }
    }

    /// `Entity::update(row)`, `Entity::insert(row)`.
    fn whole_row(&mut self, draft: &mut Draft, call: &Call, row: &Value) {
        let verb = match &*call.method {
            "update" => WriteVerb::Update,
            "delete" => WriteVerb::Delete,
            _ => WriteVerb::Insert,
        };
        let row = items(row).first().and_then(chain_of).filter(|chain| matches!(chain.start, Start::Row(_)));
        match row {
            Some(chain) => self.row(draft, &chain.clone(), verb),
            None => {
                (draft.verb, self.known) = (Some(verb), false);
                if verb != WriteVerb::Insert {
                    self.by_key(draft, &Value::default(), draft.table_span);
                }
            }
        }
    }

    /// Clauses that choose rows.
    fn is_condition_clause(&mut self, draft: &mut Draft, call: &Call, first: &Value) -> bool {
        let at = self.span(call.location);
        match &*call.method {
            "filter" | "and_where" | "cond_where" | "and_where_option" if call.is_conditional => {
                self.complete = false;
            }
            "and_where_option" if !matches!(first.form, Form::Variant("Some", _)) => self.complete = false,
            "filter" | "and_where" | "cond_where" | "and_where_option" => {
                draft.predicates.extend(self.condition(first));
            }
            "or_filter" => {
                let before = all_of(std::mem::take(&mut draft.predicates));
                let other = self.condition(first);
                let either: Vec<Expr> = before.into_iter().chain(other).collect();
                draft.predicates.push(Expr { span: at, kind: ExprKind::Or(either) });
            }
            "filter_target" => draft.conflict_predicate = self.condition(first),
            "inner_join" | "left_join" | "left_outer_join" | "join" | "full_join" | "right_join"
            | "find_also_related" | "find_with_related" | "cross_join" => self.join(draft, call),
            _ => return false,
        }
        true
    }

    /// What is read beside the table; its rows may be fewer for it.
    fn join(&mut self, draft: &mut Draft, call: &Call) {
        for arg in &call.args {
            let Some(chain) = chain_of(arg).cloned() else { continue };
            if let Start::Table(id) = chain.start {
                let table = self.table_name(id);
                let kind = table.map_or(SourceKind::Other, SourceKind::Table);
                draft.sources.push(Source { alias: None, kind });
                let on = chain.calls.iter().find(|call| &*call.method == "on");
                let condition =
                    on.and_then(|on| on.args.first()).and_then(|arg| self.condition(&arg.clone()));
                draft.joins.extend(condition);
            }
        }
    }

    /// Clauses that say what is written, and where.
    fn is_writing_clause(&mut self, draft: &mut Draft, call: &Call, first: &Value, at: Span) -> bool {
        match (&*call.method, call.args.get(1)) {
            ("table" | "into_table" | "from_table" | "from", _) => draft.table = self.named_table(first),
            ("set", _) => {
                let set = self.assignments(first, at);
                draft.assignments.extend(set);
            }
            ("col_expr" | "value", Some(value)) => {
                draft.assignments.extend(self.pair(first, &value.clone(), at));
            }
            ("columns", _) if draft.verb.is_some() => {
                draft.columns = items(first).iter().filter_map(|column| self.named_column(column)).collect();
            }
            ("values" | "values_panic", _) if draft.verb == Some(WriteVerb::Update) => {
                let set = self.pairs(first, at);
                draft.assignments.extend(set);
            }
            ("values" | "values_panic", _) if !draft.columns.is_empty() => {
                draft.values = items(first).iter().map(|value| self.value(value, at)).collect();
            }
            ("values", _) => {
                let row = items(first).first().filter(|row| is_row(row)).unwrap_or(first);
                let fields = self.assignments(&row.clone(), at);
                draft.insert(fields);
            }
            ("on_conflict", _) => {
                if let Some(chain) = chain_of(first).filter(|chain| chain.begins_with("OnConflict::")) {
                    self.conflict(draft, &chain.clone());
                }
            }
            _ => return false,
        }
        true
    }

    /// `OnConflict::column(…).update_column(…).action_and_where(…)`.
    fn conflict(&mut self, draft: &mut Draft, chain: &Chain) {
        for call in &chain.calls {
            let at = self.span(call.location);
            let Some(first) = call.args.first() else {
                draft.skips_conflicts |= &*call.method == "do_nothing";
                continue;
            };
            match (&*call.method, call.args.get(1)) {
                ("update_column" | "update_columns", _) => {
                    draft.updates_conflicts = true;
                    for column in items(first).iter().filter_map(|column| self.named_column(column)) {
                        let qualifier = Some("excluded".to_owned());
                        let kind = ExprKind::Column { qualifier, name: column.clone() };
                        draft.assignments.push(Assignment {
                            column,
                            value: Expr { span: at, kind },
                            span: at,
                        });
                    }
                }
                ("value", Some(value)) => {
                    draft.updates_conflicts = true;
                    draft.assignments.extend(self.pair(first, value, at));
                }
                ("values", _) => {
                    draft.updates_conflicts = true;
                    draft.assignments.extend(self.pairs(first, at));
                }
                ("action_and_where" | "action_cond_where", _) if !call.is_conditional => {
                    draft.predicates.extend(self.condition(first));
                }
                ("target_and_where" | "target_cond_where", _) => {
                    draft.conflict_predicate = self.condition(first);
                }
                ("do_nothing_on", _) => draft.skips_conflicts = true,
                _ => self.complete = false,
            }
        }
    }
}

impl Draft {
    fn insert(&mut self, fields: Vec<Assignment>) {
        self.columns = fields.iter().map(|field| field.column.clone()).collect();
        self.values = fields.into_iter().map(|field| field.value).collect();
    }

    /// A lock that only some ways through the code take is none.
    fn lock(&mut self, call: &Call, kind: Option<&Value>) {
        if call.is_conditional {
            return;
        }
        let names = |word: &str| {
            call.args
                .iter()
                .any(|arg| matches!(&arg.form, Form::Symbol(symbol) if symbol.name().ends_with(word)))
        };
        let select = &mut self.select;
        match &*call.method {
            "for_share" | "for_key_share" | "lock_shared" => select.shares_rows = true,
            "skip_locked" => select.skip_locked = true,
            "lock" | "lock_with_behavior" | "lock_with_tables" | "lock_with_tables_behavior"
                if kind.is_some() =>
            {
                select.shares_rows |= names("Share");
                select.locks_rows |= names("Update");
                select.skip_locked |= names("SkipLocked");
            }
            _ => select.locks_rows = true,
        }
    }

    fn finish(self) -> Option<StatementKind> {
        let table = self.table?;
        let Some(verb) = self.verb else {
            let own = Source { alias: None, kind: SourceKind::Table(table) };
            let sources = std::iter::once(own).chain(self.sources).collect();
            let predicate = all_of(self.predicates);
            let select = Select { sources, join_conditions: self.joins, predicate, ..self.select };
            return Some(StatementKind::Select(Box::new(select)));
        };
        let verb = if self.updates_conflicts && verb == WriteVerb::Insert { WriteVerb::Upsert } else { verb };
        Some(StatementKind::Write(Box::new(Write {
            verb,
            table,
            alias: None,
            table_span: self.table_span,
            assignments: self.assignments,
            insert_columns: self.columns,
            insert_values: self.values,
            skips_conflicts: self.skips_conflicts,
            predicate: all_of(self.predicates),
            conflict_predicate: self.conflict_predicate,
            sources: self.sources,
            join_conditions: self.joins,
            ctes: Vec::new(),
            returning: self.returns.then(Vec::new),
            clauses: Clauses::default(),
        })))
    }
}

/// The statement that a builder's function begins; `Some(None)` for a SELECT.
fn verb_of(function: &str) -> Option<Option<WriteVerb>> {
    Some(match function {
        "update" | "Query::update" => Some(WriteVerb::Update),
        "delete" | "Query::delete" => Some(WriteVerb::Delete),
        "insert_into" | "insert_or_ignore_into" | "Query::insert" => Some(WriteVerb::Insert),
        "replace_into" => Some(WriteVerb::Replace),
        "Query::select" => None,
        _ => return None,
    })
}

fn is_lock(method: &str) -> bool {
    matches!(method, "for_update" | "for_no_key_update" | "for_share" | "for_key_share" | "skip_locked")
        || method.starts_with("lock")
}

/// A whole row among several.
fn is_row(value: &Value) -> bool {
    matches!(value.form, Form::Tuple(_) | Form::Record(_))
}

fn equal(name: String, value: Expr, span: Span) -> Expr {
    let left = Box::new(Expr { span, kind: ExprKind::Column { qualifier: None, name } });
    Expr { span, kind: ExprKind::Compare { operator: Comparison::Equal, left, right: Box::new(value) } }
}

fn all_of(mut conditions: Vec<Expr>) -> Option<Expr> {
    if conditions.len() < 2 {
        return conditions.pop();
    }
    let span = conditions.iter().map(|e| e.span).reduce(Span::to).unwrap_or_default();
    Some(Expr { span, kind: ExprKind::And(conditions) })
}

//! Chains of builder calls as the evaluator meets them: what begins one, what a method adds to it, and the
//! methods that run it. What the calls mean to a statement is not its concern.

use std::rc::Rc;

use crate::facts::Span;
use crate::facts::rust::{Expr, ExprKind};

use super::Frame;
use crate::resolve::chain::{Chain, SET_FIELD, Start};
use crate::resolve::program::{Declared, TableId};
use crate::resolve::value::{Form, QueryBuilder, Value};

/// Methods that change nothing of a chain.
const SAME: &[&str] = &["clone", "to_owned", "take", "as_query", "into_query", "as_mut", "as_ref", "into"];

/// Methods that hand the chain to a closure, and take what that makes of it.
const APPLYING: &[&str] = &["apply_if", "apply", "conditions"];

/// Methods that turn a chain into the text of its statement and the values bound to it.
const RENDERING: &[&str] =
    &["build", "build_any", "build_sqlx", "build_rusqlite", "build_postgres", "build_collect"];

impl Frame<'_, '_> {
    /// A table or column of the workspace, or a constant of a builder.
    pub(super) fn chain_path(&self, span: Span, path: &[String]) -> Option<Value> {
        if let [name] = path
            && self.local(name).is_some()
        {
            return None;
        }
        let found = self.eval.program.declared_at(self.scope, path);
        let start = match found.as_slice() {
            [] => return self.builder_constant(span, path),
            [Declared::Table(table), ..] => Start::Table(*table),
            [Declared::Row(_), ..] => return None,
            _ => Start::Column(columns(&found)),
        };
        Some(Chain::new(start, self.location(span)).into_value())
    }

    /// `diesel::dsl::now`, `NotSet`.
    fn builder_constant(&self, span: Span, path: &[String]) -> Option<Value> {
        if !matches!(path.last()?.as_str(), "now" | "NotSet") {
            return None;
        }
        let name = self.builder_function(path, &[])?;
        let start = Start::Function { name: name.into(), args: Vec::new() };
        Some(Chain::new(start, self.location(span)).into_value())
    }

    /// `update(jobs::table)`, `Entity::find()`, `Query::update()`, `Condition::all()`.
    pub(super) fn chain_call(&mut self, span: Span, path: &[String], args: &[Value]) -> Option<Value> {
        let (name, of) = path.split_last()?;
        if let Some(statement) = run_by_model(name, args) {
            return Some(statement);
        }
        if !self.eval.models.may_begin_builder(name) {
            return None;
        }
        if self.eval.models.is_entity_function(name)
            && let Some(table) = self.table_at(of)
        {
            args.iter().for_each(|arg| self.mark(arg, |uses| uses.passed = true));
            let location = self.location(span);
            return Some(Chain::new(Start::Table(table), location).then(name, args, location)?.into_value());
        }
        let name = self.builder_function(path, args)?;
        args.iter().for_each(|arg| self.mark(arg, |uses| uses.passed = true));
        let start = Start::Function { name: name.into(), args: args.to_vec() };
        Some(Chain::new(start, self.location(span)).into_value())
    }

    /// sea-query's `any![a, b]` and `all![a, b]`.
    pub(super) fn set_of_conditions(&self, span: Span, name: &str, conditions: &[Value]) -> Value {
        let is_set = conditions.iter().any(|condition| matches!(condition.form, Form::Chain(_)));
        let start = Start::Function { name: format!("Condition::{name}").into(), args: Vec::new() };
        let location = self.location(span);
        let mut set = Some(Chain::new(start, location)).filter(|_| is_set);
        for condition in conditions {
            set = set.and_then(|set| set.then("add", std::slice::from_ref(condition), location));
        }
        set.map_or_else(|| Value::made_of(conditions), Chain::into_value)
    }

    fn table_at(&self, path: &[String]) -> Option<TableId> {
        match self.eval.program.declared_at(self.scope, path).first()? {
            Declared::Table(table) => Some(*table),
            _ => None,
        }
    }

    /// The function of a builder that a path means: by its crate, or through a glob of that crate.
    fn builder_function(&self, path: &[String], args: &[Value]) -> Option<String> {
        let models = self.eval.models;
        let full = self.eval.program.full_path(self.scope.module, path);
        if let Some(known) = models.builder_function(&full) {
            return Some(known.join("::"));
        }
        let begins_with_table = || {
            args.first().is_some_and(
                |arg| matches!(&arg.form, Form::Chain(chain) if matches!(chain.start, Start::Table(_))),
            )
        };
        let opens_builder = || {
            let imports = self.eval.program.imports(self.scope.module);
            imports.iter().any(|import| models.is_of_builder(import))
        };
        let is_meant = models.names_builder_function(path)
            && full == path
            && (begins_with_table()
                || (path.len() > 1 || args.is_empty() || is_row_value(path)) && opens_builder());
        is_meant.then(|| path.join("::"))
    }

    /// A method of a chain.
    pub(super) fn chain_method(
        &mut self,
        whole: Span,
        span: Span,
        object: &Value,
        method: &str,
        args: &[Value],
    ) -> Option<Value> {
        let chain = match &object.form {
            Form::Chain(chain) => chain.clone(),
            _ => self.row_for(object, method, args, whole)?,
        };
        if method == "into_active_model" {
            return Some(Value::new(Form::Chain(chain)).with_flows(&object.flows));
        }
        if SAME.contains(&method) || method == "to_string" && chain.begins_with("Query::") {
            return Some(object.clone());
        }
        if method == "from_raw_sql"
            && let Some(statement) = args.first().filter(|arg| matches!(arg.form, Form::Query(_)))
        {
            return Some(statement.clone());
        }
        // `QueryTrait::build` gives a statement of a backend.
        if method == "build" && matches!(chain.start, Start::Table(_)) {
            return Some(object.clone());
        }
        if RENDERING.contains(&method) && chain.begins_with("Query::") {
            return Some(Value::new(Form::Tuple([object.clone(), Value::unknown()].into())));
        }
        if chain.is_statement() && !args.is_empty() && self.runs(&chain, method) {
            return Some(self.run_chain(whole, &chain, method, args));
        }
        if APPLYING.contains(&method) {
            return Some(self.applied_to_chain(object, args));
        }
        args.iter().for_each(|arg| self.mark(arg, |uses| uses.passed = true));
        let next = chain.then(method, args, self.location(span))?;
        Some(next.into_value())
    }

    /// Whether a method runs a chain rather than adding to it: `delete` runs on a row only.
    fn runs(&self, chain: &Chain, method: &str) -> bool {
        let of_rows = matches!(method, "save" | "insert" | "update" | "delete");
        self.eval.models.runs_builder(method)
            && !chain.begins_with("Query::")
            && (!of_rows || matches!(chain.start, Start::Row(_)))
    }

    fn run_chain(&mut self, whole: Span, chain: &Rc<Chain>, method: &str, args: &[Value]) -> Value {
        let text = Value::new(Form::Chain(chain.clone()));
        text.flows.replies.iter().for_each(|&reply| self.trace.mark(reply, |uses| uses.passed = true));
        let location = (!matches!(chain.start, Start::Row(_))).then_some(chain.location);
        let query = QueryBuilder { text, location, ..QueryBuilder::default() };
        self.run_sql(whole, &query, args[0].clone(), method)
    }

    fn applied_to_chain(&mut self, object: &Value, args: &[Value]) -> Value {
        let mut all = object.clone();
        for arg in args {
            if let Form::Closure(closure) = &arg.form {
                let closure = closure.clone();
                let given = args.first().filter(|first| !matches!(first.form, Form::Closure(_)));
                let made = self.run_closure(&closure, &[object.clone(), given.cloned().unwrap_or_default()]);
                all = Value::either(&all, &made);
            }
        }
        all
    }

    /// A row to be written that is known by its type alone, or that a read row is turned into.
    fn row_for(&self, object: &Value, method: &str, args: &[Value], span: Span) -> Option<Rc<Chain>> {
        let writes = matches!(method, "save" | "insert" | "update" | "delete") && args.len() == 1;
        let table = if writes {
            self.row_table(object)?
        } else if method == "into_active_model" && args.is_empty() {
            let chain = Chain::new(Start::Row(self.model_table(object)?), self.location(span));
            return Some(Rc::new(chain));
        } else {
            return None;
        };
        Some(Rc::new(Chain::new(Start::Row(table), self.location(span))))
    }

    /// The table that a value is a row for, as its type says.
    pub(super) fn row_table(&self, value: &Value) -> Option<TableId> {
        let ty = value.ty.as_ref()?;
        match self.eval.program.declared_at(self.scope, &ty.path).first()? {
            Declared::Row(table) => Some(*table),
            _ => None,
        }
    }

    /// The table that a value was read from.
    fn model_table(&self, value: &Value) -> Option<TableId> {
        if let Form::Reply(operation, _) = value.form
            && let crate::resolve::trace::Action::Sql(call) = &self.trace.operations.get(operation)?.action
            && let Form::Chain(chain) = &call.text.form
            && let Start::Table(table) = chain.start
        {
            return Some(table);
        }
        let ty = self.eval.program.peeled(self.scope, value.ty.as_ref()?);
        self.eval.program.table_of_model(&self.eval.program.type_named(self.scope, &ty)?)
    }

    /// `ActiveModel { state: Set("done"), ..row }`: a row with these fields.
    pub(super) fn row(
        &self,
        span: Span,
        path: &[String],
        fields: &[(String, Expr)],
        values: &[(Rc<str>, Value)],
    ) -> Option<Value> {
        let written = crate::facts::rust::Type {
            kind: crate::facts::rust::TypeForm::Path,
            path: path.to_vec(),
            args: Vec::new(),
        };
        let ty = self.bounded(&written);
        let Some(Declared::Row(table)) = self.eval.program.declared_at(self.scope, &ty.path).first().copied()
        else {
            return None;
        };
        let mut chain = Chain::new(Start::Row(table), self.location(span));
        for ((name, expr), (_, value)) in fields.iter().zip(values) {
            let location = self.location(expr.span);
            chain = chain.then(SET_FIELD, &[Value::text(name), value.clone()], location)?;
        }
        Some(chain.into_value().with_type(Some(ty)))
    }

    /// `row.state = Set("done")`: the variable holds a row with that field changed.
    pub(super) fn set_row_field(&mut self, target: Span, base: &Expr, name: &str, value: &Value) {
        let ExprKind::Path(path) = &base.kind else { return };
        let [local] = path.as_slice() else { return };
        let Some(row) = self.local(local).cloned() else { return };
        let chain = match &row.form {
            Form::Chain(chain) if matches!(chain.start, Start::Row(_)) => chain.clone(),
            _ => match self.row_table(&row) {
                Some(table) => Rc::new(Chain::new(Start::Row(table), self.location(base.span))),
                None => return,
            },
        };
        if let Some(next) = chain.then(SET_FIELD, &[Value::text(name), value.clone()], self.location(target))
        {
            self.assign_local(local, next.into_value().with_type(row.ty.clone()).with_flows(&row.flows));
        }
    }

    /// What an operator makes of a column or expression under construction.
    pub(super) fn chain_operator(
        &self,
        span: Span,
        sign: &str,
        left: &Value,
        right: &Value,
    ) -> Option<Value> {
        let Form::Chain(chain) = &left.form else { return None };
        Some(chain.then(sign, std::slice::from_ref(right), self.location(span))?.into_value())
    }
}

/// Functions that give a field of a row its value.
fn is_row_value(path: &[String]) -> bool {
    matches!(path.last().map(String::as_str), Some("Set" | "Unchanged"))
}

fn columns(found: &[Declared]) -> Rc<[(TableId, usize)]> {
    let column = |declared: &Declared| match declared {
        Declared::Column(table, at) => Some((*table, *at)),
        _ => None,
    };
    found.iter().filter_map(column).collect()
}

/// `Model::find_by_statement(statement)`: the statement, run by a later call.
fn run_by_model(name: &str, args: &[Value]) -> Option<Value> {
    let is_query = |arg: &&Value| matches!(arg.form, Form::Query(_));
    if name == "find_by_statement" { args.first().filter(is_query).cloned() } else { None }
}

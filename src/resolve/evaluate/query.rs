//! SQL from Rust: queries under construction, and the calls that run them.

use std::rc::Rc;

use crate::facts::Span;
use crate::facts::rust::{Expr, MacroCall};

use super::Frame;
use super::store::root_name;
use crate::resolve::trace::{Action, SqlCall};
use crate::resolve::value::{Closure, Form, Layer, QueryBuilder, Symbol, Value};

/// Methods that run a query on an executor.
const RUNNING: &[&str] = &[
    "execute",
    "fetch",
    "fetch_one",
    "fetch_optional",
    "fetch_all",
    "execute_many",
    "fetch_many",
    "get_result",
    "get_results",
    "load",
    "first",
    "query_async",
    "run",
    "one",
    "all",
];

/// Functions of sea-orm that make a statement of a backend, a text and values.
const STATEMENTS: &[&str] = &["from_string", "from_sql_and_values"];

impl Frame<'_, '_> {
    /// `sqlx::query(text)`, `QueryBuilder::new(text)`, `diesel::sql_query(text)`.
    pub(super) fn query_call(&mut self, span: Span, path: &[String], args: &[Value]) -> Option<Value> {
        let name = path.last()?;
        let of = path.len().checked_sub(2).map_or("", |at| path[at].as_str());
        let mut binds = Vec::new();
        let text = if of == "QueryBuilder" && name == "new" {
            args.first()?
        } else if of == "Statement" && STATEMENTS.contains(&name.as_str()) {
            binds.extend(args.get(2).map(super::command::flattened_one).unwrap_or_default());
            args.get(1)?
        } else {
            let model = self.eval.models.query(name)?;
            args.get(model.text)?
        };
        if !matches!(text.form, Form::Text(_)) && !text.is_statement_chain() {
            return None;
        }
        Some(self.new_query(span, text.clone(), binds, None))
    }

    fn new_query(&mut self, span: Span, text: Value, binds: Vec<Value>, file: Option<Rc<str>>) -> Value {
        let location = Some(self.location(span));
        Value::new(Form::Query(Rc::new(QueryBuilder { text, binds, location, prepared_on: None, file })))
    }

    /// `query!(…)`, `query_as!(T, …)`, `query_file!(…)`.
    pub(super) fn query_macro(&mut self, span: Span, name: &str, call: &MacroCall) -> Option<Value> {
        let model = self.eval.models.query(name)?.clone();
        let args: Vec<Value> = call.args.iter().map(|arg| self.expr(arg)).collect();
        // `query_as!` has a type in front, `query_scalar!` may have one.
        let at = if model.file {
            model.text
        } else {
            args.iter().position(|arg| matches!(arg.form, Form::Text(_)))?
        };
        let text = args.get(at)?;
        let binds = args.get(at + 1..).unwrap_or(&[]).to_vec();
        if !model.file {
            return Some(self.new_query(span, text.clone(), binds, None));
        }
        let path = text.as_text()?;
        let root = self.package_root();
        let found = self.eval.texts.text(&super::format::normal_path(root.trim_end_matches('/'), &path));
        let text = found.map(|(file, text)| super::format::file_text(file, text)).unwrap_or_default();
        Some(self.new_query(span, text, binds, Some(path.into())))
    }

    fn package_root(&self) -> String {
        let package = self.eval.program.units[self.scope.unit].package;
        package.and_then(|package| self.eval.package_roots.get(package)).cloned().unwrap_or_default()
    }

    pub(super) fn query_method(
        &mut self,
        whole: Span,
        query: &QueryBuilder,
        method: &str,
        args: &[Value],
    ) -> Value {
        let mut next = query.clone();
        match method {
            "bind" | "push_bind" => {
                next.binds.extend(args.first().cloned());
                if method == "push_bind" {
                    next.text = super::format::joined(&next.text, &Value::text("?"));
                }
            }
            "push" if !args.is_empty() => next.text = super::format::joined(&next.text, &args[0]),
            "separated" | "push_values" | "push_tuples" | "push_bind_unseparated" | "push_unseparated" => {
                next.text = super::format::joined(&next.text, &Value::unknown());
            }
            _ if RUNNING.contains(&method) => {
                let executor = args.first().cloned().unwrap_or_default();
                return self.run_sql(whole, query, executor, method);
            }
            _ => {}
        }
        Value::new(Form::Query(Rc::new(next)))
    }

    pub(super) fn run_sql(
        &mut self,
        whole: Span,
        query: &QueryBuilder,
        executor: Value,
        method: &str,
    ) -> Value {
        let start = query.location.filter(|at| at.file == self.file).map_or(whole, |at| at.span);
        let call = SqlCall {
            text: query.text.clone(),
            binds: query.binds.clone(),
            executor,
            method: method.into(),
            file: query.file.clone(),
        };
        self.emit_sql(start.to(whole), call)
    }

    fn emit_sql(&mut self, span: Span, call: SqlCall) -> Value {
        let session = root_name(&call.executor);
        let location = self.location(span);
        let reply = self.emit_at(location, Action::Sql(Rc::new(call)), Value::unknown(), None, None);
        if let Some(operation) = self.trace.operations.last_mut() {
            operation.session = session;
        }
        reply
    }

    /// Connection methods that take SQL, and those that tell of the last statement.
    pub(super) fn statement_method(
        &mut self,
        whole: Span,
        object: &Value,
        method: &str,
        args: &[Value],
        written: &[Expr],
    ) -> Option<Value> {
        if self.eval.models.is_count(method) && args.is_empty() {
            return Some(self.count_of(object));
        }
        if matches!(method, "begin" | "commit" | "rollback") && args.is_empty() && object.ty.is_some() {
            return self.transaction_method(whole, object, method);
        }
        let begins = matches!(
            method,
            "transaction" | "unchecked_transaction" | "transaction_with_behavior" | "start_transaction"
        );
        let of_closure = args.iter().any(|arg| matches!(arg.form, Form::Closure(_)));
        if begins && args.len() < 2 && !of_closure && object.ty.is_some() {
            return self.transaction_method(whole, object, "begin");
        }
        if method == "begin_with" && args.len() == 1 {
            let transaction = self.transaction_method(whole, object, "begin")?;
            let text = args[0].clone();
            let (executor, method) = (transaction.clone(), method.into());
            self.emit_sql(whole, SqlCall { text, binds: Vec::new(), executor, method, file: None });
            return Some(transaction);
        }
        if method == "acquire" && args.is_empty() && is_one_session(object) {
            return Some(object.clone());
        }
        let model = self.eval.models.statement(method)?.clone();
        let text = args.get(model.text)?;
        let query = match &text.form {
            Form::Text(_) => text.clone(),
            // A prepared statement, or a query object run through the connection.
            Form::Query(query) => {
                let mut query = QueryBuilder::clone(query);
                if query.prepared_on.is_some() {
                    query.binds = self.binds_at(&query.text, model.binds, written);
                }
                return Some(self.run_sql(whole, &query, object.clone(), method));
            }
            Form::Symbol(Symbol::Field { .. }) if self.is_prepared(text) => {
                let binds = self.binds_at(text, model.binds, written);
                let query = QueryBuilder { text: text.clone(), binds, ..QueryBuilder::default() };
                return Some(self.run_sql(whole, &query, object.clone(), method));
            }
            Form::Chain(chain) if chain.is_statement() => {
                let location = Some(chain.location);
                let query = QueryBuilder { text: text.clone(), location, ..QueryBuilder::default() };
                return Some(self.run_sql(whole, &query, object.clone(), method));
            }
            _ => return None,
        };
        if !is_sql(&query) {
            return None;
        }
        let binds = self.binds_at(&query, model.binds, written);
        let call =
            SqlCall { text: query, binds, executor: object.clone(), method: method.into(), file: None };
        Some(self.emit_sql(whole, call))
    }

    fn binds_at(&mut self, text: &Value, position: Option<usize>, written: &[Expr]) -> Vec<Value> {
        let written = position.and_then(|at| written.get(at));
        written.map(|expr| self.bind_values(text, expr)).unwrap_or_default()
    }

    /// `connection.prepare(text)`, and what runs the statement that it gives.
    pub(super) fn prepared_statement(
        &mut self,
        whole: Span,
        object: &Value,
        method: &str,
        args: &[Value],
        written: &[Expr],
    ) -> Option<Value> {
        if let Form::Query(query) = &object.form {
            let executor = query.prepared_on.as_deref()?.clone();
            let model = self.eval.models.statement(method)?;
            // The text is the receiver here, so that every argument stands one place further to the front.
            let position = model.binds.and_then(|at| at.checked_sub(1));
            let binds = self.binds_at(&query.text, position, written);
            let query = QueryBuilder { binds, ..QueryBuilder::clone(query) };
            return Some(self.run_sql(whole, &query, executor, method));
        }
        let model = self.eval.models.preparation(method)?;
        let text = args.get(model.text).filter(|text| matches!(text.form, Form::Text(_)) && is_sql(text))?;
        let prepared_on = Some(Box::new(object.clone()));
        let query = QueryBuilder { text: text.clone(), prepared_on, ..QueryBuilder::default() };
        Some(Value::new(Form::Query(Rc::new(query))))
    }

    /// A statement that was prepared before, and is kept in a field.
    fn is_prepared(&self, statement: &Value) -> bool {
        let ty = statement.ty.as_ref();
        ty.is_some_and(|ty| self.eval.program.peeled(self.scope, ty).name() == "Statement")
    }

    fn transaction_method(&mut self, whole: Span, object: &Value, method: &str) -> Option<Value> {
        let action = match method {
            "begin" => Action::Begin,
            "commit" => Action::Commit,
            _ => Action::Rollback,
        };
        let location = self.location(whole);
        let session = root_name(object);
        self.emit_at(location, action, Value::unknown(), None, None);
        if let Some(operation) = self.trace.operations.last_mut() {
            operation.session = session;
        }
        if method == "begin" {
            let ty = crate::facts::rust::Type {
                kind: crate::facts::rust::TypeForm::Path,
                path: vec!["Transaction".to_owned()],
                // The type of the pool tells which database it is.
                args: object.ty.iter().map(|ty| (**ty).clone()).collect(),
            };
            return Some(Value::unknown().named("transaction").with_type(Some(Rc::new(ty))));
        }
        Some(Value::unknown())
    }

    /// `.map(|_| ())` on the result of a statement: the count is gone.
    pub(super) fn drops_count(&self, receiver: &Value, closure: &Closure) -> bool {
        let Form::Reply(operation, Layer::Result) = receiver.form else { return false };
        let is_sql = self
            .trace
            .operations
            .get(operation)
            .is_some_and(|operation| matches!(operation.action, crate::resolve::trace::Action::Sql(_)));
        let ignores = closure
            .params
            .first()
            .is_some_and(|param| matches!(param.pattern.kind, crate::facts::rust::PatternKind::Wildcard));
        is_sql && ignores
    }

    /// The count of a reply; of a connection, that of the statement it ran last.
    fn count_of(&mut self, object: &Value) -> Value {
        let last =
            self.trace.operations.iter().rposition(|operation| matches!(operation.action, Action::Sql(_)));
        match (&object.form, last) {
            (Form::Reply(operation, _), _) => {
                Value { form: Form::Reply(*operation, Layer::Count), ..object.clone() }
            }
            (_, Some(last)) if object.flows.replies.is_empty() => {
                self.trace.mark(last, |uses| uses.count_read = true);
                Value::new(Form::Reply(last, Layer::Count))
            }
            _ => object.clone(),
        }
    }
}

/// Not a pool, whose `acquire` may give any session.
fn is_one_session(object: &Value) -> bool {
    object.ty.as_ref().and_then(|ty| ty.path.last()).is_some_and(|name| {
        (name.contains("Transaction") || name.ends_with("Connection")) && !name.contains("Pool")
    })
}

pub(super) fn is_sql(text: &Value) -> bool {
    let start: String = text
        .pieces()
        .iter()
        .map(|piece| match piece {
            crate::resolve::value::Piece::Text { text, .. } => text.to_string(),
            crate::resolve::value::Piece::Hole(_) => "{}".to_owned(),
        })
        .collect();
    crate::sql::looks_like_statement(&start)
}

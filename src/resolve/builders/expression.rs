//! What the calls of a chain are given, as expressions of SQL: columns, comparisons and their combination,
//! sub-queries, values. Values that the text does not show become parameters.

use crate::facts::Span;
use crate::facts::sql::{Comparison, Expr, ExprKind, StatementKind};

use super::{MAX_DEPTH, Reading, chain_of, items, select};
use crate::resolve::chain::{Call, Chain, Start};
use crate::resolve::value::{Form, Value};

impl Reading<'_, '_> {
    /// A condition; `None` when it is not known, and the statement may ask for more than is seen.
    pub(super) fn condition(&mut self, value: &Value) -> Option<Expr> {
        let known = match &value.form {
            Form::Tuple(parts) if !parts.is_empty() => {
                let all = parts.iter().filter_map(|part| self.condition(part)).collect();
                return Some(Expr { span: self.home, kind: ExprKind::And(all) });
            }
            _ => chain_of(value).cloned(),
        };
        let found = known.map(|chain| self.chain(&chain));
        let is_condition = |e: &Expr| !matches!(e.kind, ExprKind::Bind(_) | ExprKind::Hole);
        self.complete &= found.as_ref().is_some_and(is_condition);
        found.filter(is_condition)
    }

    /// Any expression.
    pub(super) fn value(&mut self, value: &Value, span: Span) -> Expr {
        let kind = match &value.form {
            Form::Chain(chain) => return self.chain(chain),
            Form::Int(number) => ExprKind::Number(number.to_string()),
            Form::Float(number) => ExprKind::Number(number.to_string()),
            Form::Bool(yes) => ExprKind::Boolean(*yes),
            Form::Variant("None", _) => ExprKind::Null,
            Form::Variant("Some" | "Ok", Some(inner)) if self.depth < MAX_DEPTH => {
                self.depth += 1;
                let inner = self.value(inner, span);
                self.depth -= 1;
                return inner;
            }
            Form::Text(_) => match value.as_text() {
                Some(text) => ExprKind::Text(text),
                None => return self.bind(value, span),
            },
            _ => return self.bind(value, span),
        };
        Expr { span, kind }
    }

    /// An expression that calls put together.
    fn chain(&mut self, chain: &Chain) -> Expr {
        let span = self.span(chain.location);
        if self.depth >= MAX_DEPTH {
            self.complete = false;
            return Expr { span, kind: ExprKind::Other(Vec::new()) };
        }
        self.depth += 1;
        let made = match &chain.start {
            Start::Column(_) => self.column_expr(chain, span),
            Start::Function { name, .. } if name.starts_with("Query::") => self.subquery(chain),
            Start::Function { name, args } => Some(self.function(name, args, chain, span)),
            Start::Table(_) => self.subquery(chain),
            Start::Row(_) => None,
        };
        let is_whole = chain.is_statement() || is_set_of_conditions(chain);
        let unknown = Expr { span, kind: ExprKind::Other(Vec::new()) };
        let mut made = made.unwrap_or(unknown);
        for call in chain.calls.iter().filter(|_| !is_whole) {
            // Only some ways through the code ask for this.
            self.complete &= !call.is_conditional;
            made = self.applied(made, call);
        }
        self.depth -= 1;
        made
    }

    /// A query inside the statement; what is unknown of it is unknown of the statement.
    fn subquery(&mut self, chain: &Chain) -> Option<Expr> {
        let outer = self.table.take();
        let kind = self.statement(chain, "load");
        self.table = outer;
        let query = select(kind?)?;
        Some(Expr { span: self.extent(chain), kind: ExprKind::Query(query) })
    }

    fn function(&mut self, name: &str, args: &[Value], chain: &Chain, span: Span) -> Expr {
        let first = args.first().cloned().unwrap_or_default();
        let kind = match name {
            "not" => ExprKind::Not(Box::new(self.value(&first, span))),
            "exists" => match self.value(&first, span).kind {
                ExprKind::Query(query) => ExprKind::Exists { query, negated: false },
                _ => ExprKind::Other(Vec::new()),
            },
            "now" | "Expr::current_timestamp" => ExprKind::Call { name: "now".to_owned(), args: Vec::new() },
            "excluded" => match self.named_column(&first) {
                Some(name) => ExprKind::Column { qualifier: Some("excluded".to_owned()), name },
                None => ExprKind::Other(Vec::new()),
            },
            "Expr::col" | "Expr::column" => match (chain_of(&first), self.named_column(&first)) {
                (Some(chain), Some(_)) if matches!(chain.start, Start::Column(_)) => {
                    return self.column_expr(&chain.clone(), span).unwrap_or_else(|| self.bind(&first, span));
                }
                (_, Some(name)) => ExprKind::Column { qualifier: None, name },
                (_, None) => ExprKind::Other(Vec::new()),
            },
            "Expr::value" | "Expr::val" | "SimpleExpr::from" | "SimpleExpr::Value" | "Set" | "Unchanged" => {
                return self.value(&first, span);
            }
            "sql" | "Expr::cust" | "Expr::cust_with_values" => return self.written(&first, span),
            _ if is_set_of_conditions(chain) => {
                return self.condition_set(name.ends_with("any"), chain, span);
            }
            _ => ExprKind::Other(Vec::new()),
        };
        Expr { span, kind }
    }

    /// SQL written out among the calls: `sql("locked_until < now()")`.
    fn written(&mut self, text: &Value, span: Span) -> Expr {
        let unknown = Expr { span, kind: ExprKind::Other(Vec::new()) };
        let Some(text) = text.as_text() else {
            self.complete = false;
            return unknown;
        };
        let dialect = crate::facts::sql::Dialect::Postgres;
        let parsed = crate::sql::parse(&format!("SELECT 1 WHERE {text}"), dialect).statements;
        let predicate =
            parsed.into_iter().next().filter(|statement| statement.parsed).and_then(|statement| {
                match statement.kind {
                    StatementKind::Select(select) => select.predicate,
                    _ => None,
                }
            });
        // Its parameters are none of the chain's.
        let has_binds = text.contains(['$', '?']);
        match predicate.filter(|_| !has_binds) {
            Some(mut found) => {
                move_to(&mut found, span);
                found
            }
            None => unknown,
        }
    }

    /// `Condition::any().add(a).add(b)`.
    fn condition_set(&mut self, is_any: bool, chain: &Chain, span: Span) -> Expr {
        let mut parts = Vec::new();
        let mut negated = false;
        for call in &chain.calls {
            match &*call.method {
                // One more alternative may let more through; one more condition only less.
                "add" | "add_option" if call.is_conditional || is_open(call) => self.complete = false,
                "add" | "add_option" => parts.extend(call.args.first().and_then(|arg| self.condition(arg))),
                "not" => negated = !negated,
                _ => self.complete = false,
            }
        }
        let whole = span.to(self.extent(chain));
        let kind = match (parts.pop(), is_any) {
            (Some(only), _) if parts.is_empty() => only.kind,
            (Some(last), is_any) => {
                parts.push(last);
                if is_any { ExprKind::Or(parts) } else { ExprKind::And(parts) }
            }
            (None, _) => ExprKind::Other(Vec::new()),
        };
        let made = Expr { span: whole, kind };
        if negated { Expr { span: whole, kind: ExprKind::Not(Box::new(made)) } } else { made }
    }

    /// What a call makes of an expression.
    fn applied(&mut self, left: Expr, call: &Call) -> Expr {
        let at = self.span(call.location);
        let span = left.span.to(at);
        let first = call.args.first().cloned().unwrap_or_default();
        if let Some(operator) = comparison(&call.method) {
            let right = Box::new(self.value(&first, at));
            return Expr { span, kind: ExprKind::Compare { operator, left: Box::new(left), right } };
        }
        let kind = match &*call.method {
            "is_null" | "is_not_null" => {
                ExprKind::NullTest { operand: Box::new(left), negated: &*call.method == "is_not_null" }
            }
            "eq_any" | "is_in" | "in_subquery" => self.membership(left, &first, false, at),
            "ne_all" | "is_not_in" | "not_in_subquery" => self.membership(left, &first, true, at),
            "between" | "not_between" => {
                let high = call.args.get(1).or_else(|| items(&first).get(1)).cloned().unwrap_or_default();
                ExprKind::Between {
                    operand: Box::new(left),
                    low: Box::new(self.value(&first, at)),
                    high: Box::new(self.value(&high, at)),
                    negated: &*call.method == "not_between",
                }
            }
            "and" => ExprKind::And(vec![left, self.value(&first, at)]),
            "or" => ExprKind::Or(vec![left, self.value(&first, at)]),
            "not" => ExprKind::Not(Box::new(left)),
            method => match sign(method) {
                Some(operator) => {
                    let right = Box::new(self.value(&first, at));
                    ExprKind::Arithmetic { operator, left: Box::new(left), right }
                }
                None if is_same(method) => return Expr { span, kind: left.kind },
                None => ExprKind::Other(vec![left]),
            },
        };
        Expr { span, kind }
    }

    fn membership(&mut self, left: Expr, list: &Value, negated: bool, at: Span) -> ExprKind {
        let operand = Box::new(left);
        if let Some(chain) = chain_of(list)
            && chain.is_statement()
        {
            return match self.value(list, at).kind {
                ExprKind::Query(query) => ExprKind::InQuery { operand, query, negated },
                _ => ExprKind::Other(vec![*operand]),
            };
        }
        let list = items(list).iter().map(|item| self.value(item, at)).collect();
        ExprKind::InList { operand, list, negated }
    }
}

/// `Condition::all()`, `Cond::any()`: its calls are its parts.
fn is_set_of_conditions(chain: &Chain) -> bool {
    chain.begins_with("Condition::") || chain.begins_with("Cond::")
}

/// An option whose side is not known.
fn is_open(call: &Call) -> bool {
    &*call.method == "add_option"
        && !call.args.first().is_some_and(|arg| matches!(arg.form, Form::Variant("Some", _)))
}

fn comparison(method: &str) -> Option<Comparison> {
    Some(match method {
        "eq" | "is" | "equals" => Comparison::Equal,
        "is_not_distinct_from" => Comparison::EqualOrBothNull,
        "ne" | "is_not" | "is_distinct_from" | "not_equals" => Comparison::NotEqual,
        "lt" | "less_than" => Comparison::Less,
        "le" | "lte" | "less_or_equal" => Comparison::LessOrEqual,
        "gt" | "greater_than" => Comparison::Greater,
        "ge" | "gte" | "greater_or_equal" => Comparison::GreaterOrEqual,
        "like" | "ilike" | "similar_to" | "starts_with" | "ends_with" | "contains" => Comparison::Like,
        _ => return None,
    })
}

fn sign(method: &str) -> Option<char> {
    match method {
        "+" | "add" => Some('+'),
        "-" | "sub" => Some('-'),
        "*" | "mul" => Some('*'),
        "/" | "div" => Some('/'),
        _ => None,
    }
}

/// Calls that change a type or a name, and not what is meant.
fn is_same(method: &str) -> bool {
    const SAME: &[&str] = &[
        "nullable",
        "assume_not_null",
        "into_sql",
        "cast_as",
        "cast",
        "into_condition",
        "into_expr",
        "into_simple_expr",
        "into_boxed",
        "single_value",
        "collate",
        "as_enum",
        "is_true",
    ];
    SAME.contains(&method)
}

/// Gives an expression and its parts one place.
fn move_to(e: &mut Expr, span: Span) {
    e.span = span;
    match &mut e.kind {
        ExprKind::Compare { left, right, .. } | ExprKind::Arithmetic { left, right, .. } => {
            move_to(left, span);
            move_to(right, span);
        }
        ExprKind::And(parts) | ExprKind::Or(parts) | ExprKind::Tuple(parts) | ExprKind::Other(parts) => {
            parts.iter_mut().for_each(|part| move_to(part, span));
        }
        ExprKind::Call { args, .. } => args.iter_mut().for_each(|part| move_to(part, span)),
        ExprKind::Not(inner)
        | ExprKind::NullTest { operand: inner, .. }
        | ExprKind::Cast { operand: inner, .. } => {
            move_to(inner, span);
        }
        ExprKind::Column { .. }
        | ExprKind::Number(_)
        | ExprKind::Text(_)
        | ExprKind::Boolean(_)
        | ExprKind::Null => {}
        other => *other = ExprKind::Other(Vec::new()),
    }
}

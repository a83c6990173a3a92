//! Expressions of SQL: operands, comparisons and their combination, with places in the written text.

use sqlparser::ast::{self, BinaryOperator as Op, Value};

use super::{Converter, DEEPEST};
use crate::facts::Span;
use crate::facts::sql::{Bind, Comparison, Expr, ExprKind};

impl Converter<'_> {
    pub(in crate::sql) fn expr(&self, e: &ast::Expr) -> Expr {
        if self.depth.get() >= DEEPEST {
            return Expr { span: Span::default(), kind: ExprKind::Other(Vec::new()) };
        }
        self.depth.set(self.depth.get() + 1);
        let found = self.shallow(e);
        self.depth.set(self.depth.get() - 1);
        found
    }

    fn boxed(&self, e: &ast::Expr) -> Box<Expr> {
        Box::new(self.expr(e))
    }

    fn exprs<'e>(&self, list: impl IntoIterator<Item = &'e ast::Expr>) -> Vec<Expr> {
        list.into_iter().map(|e| self.expr(e)).collect()
    }

    fn shallow(&self, e: &ast::Expr) -> Expr {
        use ast::Expr as E;
        let kind = match e {
            E::Identifier(ident) => return self.column(std::slice::from_ref(ident)),
            E::CompoundIdentifier(parts) => return self.column(parts),
            E::Nested(inner) => return self.expr(inner),
            E::Value(value) => return self.value(&value.value, self.source.span(value.span)),
            E::BinaryOp { left, op, right } => return self.binary(e, left, op, right),
            E::UnaryOp { op: ast::UnaryOperator::Not | ast::UnaryOperator::BangNot, expr } => {
                ExprKind::Not(self.boxed(expr))
            }
            E::UnaryOp { expr, .. } => return self.expr(expr),
            E::IsNull(operand) => ExprKind::NullTest { operand: self.boxed(operand), negated: false },
            E::IsNotNull(operand) => ExprKind::NullTest { operand: self.boxed(operand), negated: true },
            E::IsTrue(inner) | E::IsNotFalse(inner) => return self.expr(inner),
            E::IsFalse(inner) | E::IsNotTrue(inner) => ExprKind::Not(self.boxed(inner)),
            E::IsDistinctFrom(l, r) => self.compare(Comparison::NotEqual, l, r),
            E::IsNotDistinctFrom(l, r) => self.compare(Comparison::EqualOrBothNull, l, r),
            E::In { expr, target, negated, .. } => self.membership(expr, target, *negated),
            E::Between { expr, negated, low, high } => ExprKind::Between {
                operand: self.boxed(expr),
                low: self.boxed(low),
                high: self.boxed(high),
                negated: *negated,
            },
            E::Like { expr, pattern, negated, .. }
            | E::ILike { expr, pattern, negated, .. }
            | E::SimilarTo { expr, pattern, negated, .. }
            | E::RLike { expr, pattern, negated, .. } => {
                negate(*negated, self.compare(Comparison::Like, expr, pattern))
            }
            E::AnyOp { left, compare_op, right, .. } => self.any(left, compare_op, right),
            E::AllOp { left, compare_op, right } => self.all(left, compare_op, right),
            E::Exists { subquery, negated } => {
                ExprKind::Exists { query: Box::new(self.select(subquery)), negated: *negated }
            }
            E::Subquery(query) => ExprKind::Query(Box::new(self.select(query))),
            E::Function(function) => return self.call(function),
            E::Case { operand, conditions, else_result, case_token, end_token } => {
                let span = self.source.span(case_token.0.span).to(self.source.span(end_token.0.span));
                let kind = ExprKind::Case {
                    operand: operand.as_ref().map(|o| self.boxed(o)),
                    branches: conditions
                        .iter()
                        .map(|c| (self.expr(&c.condition), self.expr(&c.result)))
                        .collect(),
                    otherwise: else_result.as_ref().map(|o| self.boxed(o)),
                };
                return Expr { span, kind };
            }
            E::Tuple(list) => ExprKind::Tuple(self.exprs(list)),
            E::Cast { expr, data_type, .. } => {
                ExprKind::Cast { operand: self.boxed(expr), data_type: data_type.to_string().to_lowercase() }
            }
            E::Collate { expr, .. } | E::Named { expr, .. } | E::OuterJoin(expr) | E::Prior(expr) => {
                return self.expr(expr);
            }
            E::TypedString(typed) => {
                let span = self.source.span(typed.value.span);
                return self.value(&typed.value.value, span);
            }
            E::Interval(interval) => {
                let mut args = vec![self.expr(&interval.value)];
                if let Some(unit) = &interval.leading_field {
                    let unit = ExprKind::Text(unit.to_string().to_ascii_lowercase());
                    args.push(Expr { span: args[0].span, kind: unit });
                }
                ExprKind::Call { name: "interval".to_owned(), args }
            }
            E::AtTimeZone { timestamp, .. } => return self.expr(timestamp),
            E::Convert { expr, .. } | E::Ceil { expr, .. } | E::Floor { expr, .. } => {
                ExprKind::Other(vec![self.expr(expr)])
            }
            E::Extract { expr, .. } => {
                ExprKind::Call { name: "extract".to_owned(), args: vec![self.expr(expr)] }
            }
            E::Array(array) => ExprKind::Other(self.exprs(&array.elem)),
            E::CompoundFieldAccess { root, .. } => ExprKind::Other(vec![self.expr(root)]),
            E::JsonAccess { value, .. } => ExprKind::Other(vec![self.expr(value)]),
            E::Substring { expr, .. } | E::Trim { expr, .. } => ExprKind::Other(vec![self.expr(expr)]),
            _ => ExprKind::Other(Vec::new()),
        };
        Expr { span: self.extent(&kind), kind }
    }

    /// The smallest span around the parts; the parts are leaves with spans of their own.
    fn extent(&self, kind: &ExprKind) -> Span {
        let mut span = None;
        for part in kind.parts() {
            if part.span.end > part.span.start {
                span = Some(span.map_or(part.span, |s: Span| s.to(part.span)));
            }
        }
        span.unwrap_or_default()
    }

    fn column(&self, parts: &[ast::Ident]) -> Expr {
        let spans = parts.iter().map(|p| self.source.span(p.span));
        let span = spans.reduce(Span::to).unwrap_or_default();
        let mut names: Vec<String> = parts.iter().map(|p| self.source.name(p)).collect();
        let name = names.pop().unwrap_or_default();
        let qualifier = names.pop();
        let kind = if self.source.is_hole(span) {
            ExprKind::Hole
        } else if qualifier.is_some() && qualifier == self.row_alias {
            ExprKind::InsertedValue { column: name }
        } else if qualifier.is_none() && parts[0].quote_style.is_none() && is_clock(&name) {
            ExprKind::Call { name: name.to_lowercase(), args: Vec::new() }
        } else {
            ExprKind::Column { qualifier, name }
        };
        Expr { span, kind }
    }

    fn value(&self, value: &Value, span: Span) -> Expr {
        let kind = match value {
            Value::Number(text, _) => ExprKind::Number(text.clone()),
            Value::Boolean(b) => ExprKind::Boolean(*b),
            Value::Null => ExprKind::Null,
            Value::Placeholder(text) => self.placeholder(text, span),
            Value::DollarQuotedString(s) => ExprKind::Text(s.value.clone()),
            _ => {
                let written = self.source.slice(span);
                ExprKind::Text(written.get(1..written.len().saturating_sub(1)).unwrap_or("").to_owned())
            }
        };
        Expr { span, kind }
    }

    fn placeholder(&self, text: &str, span: Span) -> ExprKind {
        let digits = text.trim_start_matches(['$', '?', ':', '@']);
        if digits.is_empty() {
            return ExprKind::Bind(Bind::Position(self.source.question(span.start)));
        }
        match digits.parse() {
            Ok(n) if !text.starts_with(':') => ExprKind::Bind(Bind::Position(n)),
            _ => ExprKind::Bind(Bind::Name(digits.to_owned())),
        }
    }

    fn binary(&self, whole: &ast::Expr, left: &ast::Expr, op: &Op, right: &ast::Expr) -> Expr {
        let kind = match op {
            Op::And => ExprKind::And(self.chain(whole, |o| matches!(o, Op::And))),
            Op::Or => ExprKind::Or(self.chain(whole, |o| matches!(o, Op::Or))),
            _ => match comparison(op) {
                Some(operator) => self.compare(operator, left, right),
                None => match arithmetic(op) {
                    Some(operator) => {
                        ExprKind::Arithmetic { operator, left: self.boxed(left), right: self.boxed(right) }
                    }
                    None => ExprKind::Other(vec![self.expr(left), self.expr(right)]),
                },
            },
        };
        Expr { span: self.extent(&kind), kind }
    }

    /// The operands of `a AND b AND c`, which the grammar nests to the left, without recursion.
    fn chain(&self, whole: &ast::Expr, joins: impl Fn(&Op) -> bool) -> Vec<Expr> {
        let mut operands = Vec::new();
        let mut at = whole;
        loop {
            match at {
                ast::Expr::BinaryOp { left, op, right } if joins(op) => {
                    operands.push(self.expr(right));
                    at = left;
                }
                last => {
                    operands.push(self.expr(last));
                    break;
                }
            }
        }
        operands.reverse();
        operands
    }

    fn compare(&self, operator: Comparison, left: &ast::Expr, right: &ast::Expr) -> ExprKind {
        ExprKind::Compare { operator, left: self.boxed(left), right: self.boxed(right) }
    }

    fn membership(&self, operand: &ast::Expr, target: &ast::InTarget, negated: bool) -> ExprKind {
        let operand = self.boxed(operand);
        match target {
            ast::InTarget::List(list) => ExprKind::InList { operand, list: self.exprs(list), negated },
            ast::InTarget::Subquery(query) => {
                ExprKind::InQuery { operand, query: Box::new(self.select(query)), negated }
            }
            ast::InTarget::Unnest(array) => {
                ExprKind::InList { operand, list: vec![self.expr(array)], negated }
            }
            ast::InTarget::Table { .. } => ExprKind::InList { operand, list: Vec::new(), negated },
        }
    }

    /// `x = ANY(…)` is membership; any other operator keeps its meaning for one element.
    fn any(&self, left: &ast::Expr, op: &Op, right: &ast::Expr) -> ExprKind {
        match (op, right) {
            (Op::Eq, ast::Expr::Subquery(query)) => ExprKind::InQuery {
                operand: self.boxed(left),
                query: Box::new(self.select(query)),
                negated: false,
            },
            (Op::Eq, _) => {
                ExprKind::InList { operand: self.boxed(left), list: vec![self.expr(right)], negated: false }
            }
            _ => ExprKind::Other(vec![self.expr(left), self.expr(right)]),
        }
    }

    fn all(&self, left: &ast::Expr, op: &Op, right: &ast::Expr) -> ExprKind {
        match comparison(op) {
            Some(Comparison::NotEqual) => {
                ExprKind::InList { operand: self.boxed(left), list: vec![self.expr(right)], negated: true }
            }
            Some(operator) => self.compare(operator, left, right),
            None => ExprKind::Other(vec![self.expr(left), self.expr(right)]),
        }
    }

    /// `make_interval(secs => $3)`, as `INTERVAL $3 SECOND`.
    fn made_interval(&self, name: &str, function: &ast::Function) -> Option<Expr> {
        let ast::FunctionArguments::List(list) = &function.args else { return None };
        let (unit, amount) = match list.args.as_slice() {
            [ast::FunctionArg::Named { name, arg: ast::FunctionArgExpr::Expr(amount), .. }] => (name, amount),
            [
                ast::FunctionArg::ExprNamed {
                    name: ast::Expr::Identifier(name),
                    arg: ast::FunctionArgExpr::Expr(amount),
                    ..
                },
            ] => (name, amount),
            _ => return None,
        };
        let unit = match unit.value.to_ascii_lowercase().as_str() {
            "secs" => "second",
            "mins" => "minute",
            "hours" => "hour",
            _ => return None,
        };
        let amount = self.expr(amount);
        let span = self.source.name_span(&function.name).to(amount.span);
        let unit = Expr { span: amount.span, kind: ExprKind::Text(unit.to_owned()) };
        let kind = ExprKind::Call { name: "interval".to_owned(), args: vec![amount, unit] };
        (name == "make_interval").then_some(Expr { span, kind })
    }

    fn call(&self, function: &ast::Function) -> Expr {
        let name = self.source.table(&function.name).name.to_lowercase();
        if let Some(interval) = self.made_interval(&name, function) {
            return interval;
        }
        let mut args = Vec::new();
        match &function.args {
            ast::FunctionArguments::List(list) => {
                for arg in &list.args {
                    let (ast::FunctionArg::Unnamed(value)
                    | ast::FunctionArg::Named { arg: value, .. }
                    | ast::FunctionArg::ExprNamed { arg: value, .. }) = arg;
                    if let ast::FunctionArgExpr::Expr(e) = value {
                        args.push(self.expr(e));
                    }
                }
            }
            ast::FunctionArguments::Subquery(query) => {
                let select = self.select(query);
                args.push(Expr { span: Span::default(), kind: ExprKind::Query(Box::new(select)) });
            }
            ast::FunctionArguments::None => {}
        }
        let mut span = self.source.name_span(&function.name);
        if let Some(last) = args.iter().rev().find(|a| a.span.end > a.span.start) {
            span = span.to(last.span);
        }
        if name == "values"
            && args.len() == 1
            && let ExprKind::Column { name: column, .. } = &args[0].kind
        {
            return Expr { span, kind: ExprKind::InsertedValue { column: column.clone() } };
        }
        Expr { span, kind: ExprKind::Call { name, args } }
    }
}

/// Clocks that are written without parentheses.
fn is_clock(name: &str) -> bool {
    ["current_timestamp", "current_time", "current_date", "localtime", "localtimestamp"]
        .iter()
        .any(|c| name.eq_ignore_ascii_case(c))
}

fn negate(negated: bool, kind: ExprKind) -> ExprKind {
    if !negated {
        return kind;
    }
    let span = kind.parts().iter().map(|p| p.span).reduce(Span::to).unwrap_or_default();
    ExprKind::Not(Box::new(Expr { span, kind }))
}

fn comparison(op: &Op) -> Option<Comparison> {
    Some(match op {
        Op::Eq => Comparison::Equal,
        Op::Spaceship => Comparison::EqualOrBothNull,
        Op::NotEq => Comparison::NotEqual,
        Op::Lt => Comparison::Less,
        Op::LtEq => Comparison::LessOrEqual,
        Op::Gt => Comparison::Greater,
        Op::GtEq => Comparison::GreaterOrEqual,
        _ => return None,
    })
}

fn arithmetic(op: &Op) -> Option<char> {
    Some(match op {
        Op::Plus => '+',
        Op::Minus => '-',
        Op::Multiply => '*',
        Op::Divide => '/',
        Op::Modulo => '%',
        Op::StringConcat => '|',
        _ => return None,
    })
}

//! From the parser's tree to ours. This is the only file that names the parser.

use std::rc::Rc;

use full_moon::LuaVersion;
use full_moon::ast::{
    self, BinOp, Call, Expression, Field, FunctionArgs, FunctionBody, Index, LastStmt, Parameter, Prefix,
    Stmt, Suffix, UnOp, Var,
};
use full_moon::node::Node;
use full_moon::tokenizer::{StringLiteralQuoteType, Symbol, TokenReference, TokenType};

use super::tree::{Block, Expr, ExprKind, Function, Operator, Statement};
use crate::facts::Span;

/// The statements of a text; with a problem, those that end before it.
pub(super) fn parse(text: &str) -> (Block, Option<(Span, String)>) {
    let result = full_moon::parse_fallible(text, LuaVersion::lua51());
    let problem =
        result.errors().iter().map(|error| described(error, text)).min_by_key(|(span, _)| span.start);
    let limit = problem.as_ref().map_or(u32::MAX, |(span, _)| span.start);
    (block_before(result.ast().nodes(), limit), problem)
}

fn described(error: &full_moon::Error, text: &str) -> (Span, String) {
    let (start, end) = error.range();
    let last = text.len() as u32;
    let start = (start.bytes() as u32).min(last);
    let end = (end.bytes() as u32).clamp(start, last);
    let what = error.error_message();
    let what = what.trim().trim_end_matches('.');
    (Span::new(start, end), format!("the Lua script cannot be parsed: {what}"))
}

fn block(from: &ast::Block) -> Block {
    block_before(from, u32::MAX)
}

fn block_before(from: &ast::Block, limit: u32) -> Block {
    let whole = |node: &dyn Node| limit == u32::MAX || span_of(node).end < limit;
    let mut out: Block = from.stmts().take_while(|s| whole(*s)).filter_map(statement).collect();
    if let Some(last) = from.last_stmt()
        && whole(last)
    {
        match last {
            LastStmt::Return(values) => {
                out.push(Statement::Return(values.returns().iter().map(expr).collect()))
            }
            LastStmt::Break(_) => out.push(Statement::Break),
            _ => {}
        }
    }
    out
}

fn statement(from: &Stmt) -> Option<Statement> {
    Some(match from {
        Stmt::Assignment(a) => Statement::Assign {
            targets: a.variables().iter().map(variable).collect(),
            values: a.expressions().iter().map(expr).collect(),
        },
        Stmt::LocalAssignment(a) => Statement::Local {
            names: a.names().iter().map(text_of).collect(),
            values: a.expressions().iter().map(expr).collect(),
        },
        Stmt::FunctionCall(c) => Statement::Call(suffixed(c.prefix(), c.suffixes())),
        Stmt::Do(d) => Statement::Do(block(d.block())),
        Stmt::While(w) => Statement::While { condition: expr(w.condition()), body: block(w.block()) },
        Stmt::Repeat(r) => Statement::Repeat { body: block(r.block()), until: expr(r.until()) },
        Stmt::NumericFor(f) => Statement::NumericFor {
            name: text_of(f.index_variable()),
            bounds: [Some(f.start()), Some(f.end()), f.step()].into_iter().flatten().map(expr).collect(),
            body: block(f.block()),
        },
        Stmt::GenericFor(f) => Statement::GenericFor {
            names: f.names().iter().map(text_of).collect(),
            values: f.expressions().iter().map(expr).collect(),
            body: block(f.block()),
        },
        Stmt::If(i) => conditional(i),
        Stmt::LocalFunction(f) => {
            Statement::LocalFunction { name: text_of(f.name()), function: function(f.body(), false) }
        }
        Stmt::FunctionDeclaration(f) => declaration(f),
        _ => return None,
    })
}

fn conditional(from: &ast::If) -> Statement {
    let mut arms = vec![(expr(from.condition()), block(from.block()))];
    for arm in from.else_if().into_iter().flatten() {
        arms.push((expr(arm.condition()), block(arm.block())));
    }
    Statement::If { arms, otherwise: from.else_block().map(block).unwrap_or_default() }
}

/// `function a.b:c() … end`, as the assignment that it stands for.
fn declaration(from: &ast::FunctionDeclaration) -> Statement {
    let span = span_of(from.name());
    let mut names = from.name().names().iter().chain(from.name().method_name());
    let first = names.next().map(text_of).unwrap_or_default();
    let start = Expr { span, kind: ExprKind::Name(first) };
    let target =
        names.fold(start, |base, name| index(base, Expr { span, kind: ExprKind::Text(text_of(name)) }, span));
    let method = from.name().method_name().is_some();
    let value = Expr { span: span_of(from), kind: ExprKind::Function(function(from.body(), method)) };
    Statement::Assign { targets: vec![target], values: vec![value] }
}

fn function(from: &FunctionBody, method: bool) -> Rc<Function> {
    let mut params: Vec<String> = if method { vec!["self".to_owned()] } else { Vec::new() };
    params.extend(from.parameters().iter().map(|p| match p {
        Parameter::Name(name) => text_of(name),
        _ => "...".to_owned(),
    }));
    Rc::new(Function { params, body: block(from.block()) })
}

fn expr(from: &Expression) -> Expr {
    let kind = match from {
        Expression::BinaryOperator { lhs, binop, rhs } => {
            let (left, right) = (expr(lhs), expr(rhs));
            let span = left.span.to(right.span);
            let (left, right) = (Box::new(left), Box::new(right));
            return Expr { span, kind: ExprKind::Binary { operator: operator(binop), left, right } };
        }
        Expression::Parentheses { expression, .. } => expr(expression).kind,
        Expression::UnaryOperator { unop: UnOp::Not(_), expression } => {
            ExprKind::Not(Box::new(expr(expression)))
        }
        Expression::UnaryOperator { unop: UnOp::Minus(_), expression } => match expr(expression) {
            Expr { kind: ExprKind::Number(n), .. } => ExprKind::Number(n.wrapping_neg()),
            other => ExprKind::Derived(Box::new(other)),
        },
        Expression::UnaryOperator { expression, .. } => ExprKind::Derived(Box::new(expr(expression))),
        Expression::Function(f) => ExprKind::Function(function(f.body(), false)),
        Expression::FunctionCall(c) => return suffixed(c.prefix(), c.suffixes()),
        Expression::TableConstructor(t) => table(t),
        Expression::Number(token) => text_of(token).parse().map_or(ExprKind::Unknown, ExprKind::Number),
        Expression::String(token) => ExprKind::Text(string_value(token)),
        Expression::Symbol(token) => symbol(token),
        Expression::Var(var) => return variable(var),
        _ => ExprKind::Unknown,
    };
    Expr { span: span_of(from), kind }
}

fn symbol(token: &TokenReference) -> ExprKind {
    match token.token_type() {
        TokenType::Symbol { symbol: Symbol::True } => ExprKind::Boolean(true),
        TokenType::Symbol { symbol: Symbol::False } => ExprKind::Boolean(false),
        TokenType::Symbol { symbol: Symbol::Nil } => ExprKind::Nil,
        _ => ExprKind::Unknown,
    }
}

fn operator(from: &BinOp) -> Operator {
    match from {
        BinOp::And(_) => Operator::And,
        BinOp::Or(_) => Operator::Or,
        BinOp::TwoEqual(_) => Operator::Equal,
        BinOp::TildeEqual(_) => Operator::NotEqual,
        BinOp::LessThan(_) => Operator::Less,
        BinOp::LessThanEqual(_) => Operator::LessOrEqual,
        BinOp::GreaterThan(_) => Operator::Greater,
        BinOp::GreaterThanEqual(_) => Operator::GreaterOrEqual,
        BinOp::TwoDots(_) => Operator::Concat,
        _ => Operator::Arithmetic,
    }
}

fn variable(from: &Var) -> Expr {
    match from {
        Var::Expression(e) => suffixed(e.prefix(), e.suffixes()),
        Var::Name(name) => Expr { span: span_of(name), kind: ExprKind::Name(text_of(name)) },
        _ => Expr { span: span_of(from), kind: ExprKind::Unknown },
    }
}

fn suffixed<'a>(prefix: &Prefix, suffixes: impl Iterator<Item = &'a Suffix>) -> Expr {
    let start = match prefix {
        Prefix::Expression(e) => expr(e),
        Prefix::Name(name) => Expr { span: span_of(name), kind: ExprKind::Name(text_of(name)) },
        _ => Expr { span: span_of(prefix), kind: ExprKind::Unknown },
    };
    suffixes.fold(start, |base, suffix| {
        let span = base.span.to(span_of(suffix));
        match suffix {
            Suffix::Index(Index::Dot { name, .. }) => {
                let name = Expr { span: span_of(name), kind: ExprKind::Text(text_of(name)) };
                index(base, name, span)
            }
            Suffix::Index(Index::Brackets { brackets, expression }) => {
                // The parser's own range leaves the closing bracket out.
                let span = span.to(span_of(brackets.tokens().1));
                index(base, expr(expression), span)
            }
            Suffix::Call(Call::AnonymousCall(args)) => {
                Expr { span, kind: ExprKind::Call { callee: Box::new(base), args: arguments(args) } }
            }
            Suffix::Call(Call::MethodCall(call)) => {
                let (name, args) = (text_of(call.name()), arguments(call.args()));
                Expr { span, kind: ExprKind::Method { receiver: Box::new(base), name, args } }
            }
            _ => Expr { span, kind: ExprKind::Derived(Box::new(base)) },
        }
    })
}

fn index(base: Expr, index: Expr, span: Span) -> Expr {
    Expr { span, kind: ExprKind::Index { base: Box::new(base), index: Box::new(index) } }
}

fn arguments(from: &FunctionArgs) -> Vec<Expr> {
    match from {
        FunctionArgs::Parentheses { arguments, .. } => arguments.iter().map(expr).collect(),
        FunctionArgs::String(token) => {
            vec![Expr { span: span_of(token), kind: ExprKind::Text(string_value(token)) }]
        }
        FunctionArgs::TableConstructor(t) => vec![Expr { span: span_of(t.as_ref()), kind: table(t) }],
        _ => Vec::new(),
    }
}

fn table(from: &ast::TableConstructor) -> ExprKind {
    let fields = from.fields().iter().filter_map(|field| match field {
        Field::ExpressionKey { key, value, .. } => Some((Some(expr(key)), expr(value))),
        Field::NameKey { key, value, .. } => {
            Some((Some(Expr { span: span_of(key), kind: ExprKind::Text(text_of(key)) }), expr(value)))
        }
        Field::NoKey(value) => Some((None, expr(value))),
        _ => None,
    });
    ExprKind::Table(fields.collect())
}

fn text_of(token: &TokenReference) -> String {
    token.token().to_string()
}

/// The value of a string literal; only the escapes that stand for themselves or for a line break are
/// read, since no name of a command or option is written with others.
fn string_value(token: &TokenReference) -> String {
    let TokenType::StringLiteral { literal, quote_type, .. } = token.token_type() else {
        return text_of(token);
    };
    if matches!(quote_type, StringLiteralQuoteType::Brackets) {
        return literal.to_string();
    }
    let mut out = String::with_capacity(literal.len());
    let mut chars = literal.chars();
    while let Some(c) = chars.next() {
        match c {
            '\\' => match chars.next() {
                Some('n') => out.push('\n'),
                Some('t') => out.push('\t'),
                Some(other) => out.push(other),
                None => {}
            },
            other => out.push(other),
        }
    }
    out
}

fn span_of(node: &(impl Node + ?Sized)) -> Span {
    let start = node.start_position().map_or(0, |p| p.bytes() as u32);
    let end = node.end_position().map_or(start, |p| p.bytes() as u32);
    Span::new(start, end.max(start))
}

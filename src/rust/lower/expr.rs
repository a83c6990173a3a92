//! Expressions, blocks and statements.

use crate::facts::Span;
use crate::facts::rust::{
    Arm, BinaryOperator, Block, Expr, ExprKind, MacroCall, Param, Pattern, PatternKind, Statement, Type,
};

use super::item::Items;
use super::{Source, macros, pattern, types};

/// Lowers bodies; items declared inside them go to the file's items.
pub(super) struct Lowering<'a, 'b> {
    pub(super) items: &'b mut Items<'a>,
}

impl<'a, 'b> Lowering<'a, 'b> {
    pub(super) fn new(items: &'b mut Items<'a>) -> Self {
        Self { items }
    }

    pub(super) fn source(&self) -> Source<'a> {
        self.items.source
    }

    fn span(&self, span: proc_macro2::Span) -> Span {
        self.source().span(span)
    }

    pub(super) fn pattern(&self, written: &syn::Pat) -> Pattern {
        pattern::pattern(self.source(), written)
    }

    pub(super) fn block(&mut self, block: &syn::Block) -> Block {
        let span = self.span(block.brace_token.span.join());
        Block { span, statements: self.statements(&block.stmts) }
    }

    pub(super) fn statements(&mut self, statements: &[syn::Stmt]) -> Vec<Statement> {
        statements.iter().filter_map(|statement| self.statement(statement)).collect()
    }

    fn statement(&mut self, statement: &syn::Stmt) -> Option<Statement> {
        match statement {
            syn::Stmt::Local(local) => Some(self.local(local)),
            syn::Stmt::Item(item) => {
                self.items.item(item);
                None
            }
            syn::Stmt::Expr(expr, semicolon) => {
                Some(Statement::Expr { expr: self.expr(expr), tail: semicolon.is_none() })
            }
            syn::Stmt::Macro(call) => {
                let expr = self.macro_call(&call.mac);
                Some(Statement::Expr { expr, tail: call.semi_token.is_none() })
            }
        }
    }

    fn local(&mut self, local: &syn::Local) -> Statement {
        let start = self.span(local.let_token.span);
        let ty = match &local.pat {
            syn::Pat::Type(typed) => Some(types::ty(&typed.ty)),
            _ => None,
        };
        let pattern = self.pattern(&local.pat);
        let value = local.init.as_ref().map(|init| self.expr(&init.expr));
        let otherwise =
            local.init.as_ref().and_then(|init| init.diverge.as_ref()).map(|(_, expr)| self.as_block(expr));
        let span = start.to(self.span(local.semi_token.span));
        Statement::Let { pattern, ty, value, otherwise, span }
    }

    /// An expression that is a block by syntax, or one put into a block of its own.
    fn as_block(&mut self, expr: &syn::Expr) -> Block {
        match expr {
            syn::Expr::Block(block) => self.block(&block.block),
            _ => {
                let expr = self.expr(expr);
                Block { span: expr.span, statements: vec![Statement::Expr { expr, tail: true }] }
            }
        }
    }

    pub(super) fn boxed(&mut self, expr: &syn::Expr) -> Box<Expr> {
        Box::new(self.expr(expr))
    }

    fn all<'e>(&mut self, exprs: impl IntoIterator<Item = &'e syn::Expr>) -> Vec<Expr> {
        exprs.into_iter().map(|expr| self.expr(expr)).collect()
    }

    pub(super) fn expr(&mut self, written: &syn::Expr) -> Expr {
        match written {
            syn::Expr::Lit(literal) => self::literal(self.source(), &literal.lit),
            syn::Expr::Path(path) => pattern::path_expr(self.source(), &path.path),
            syn::Expr::Paren(inner) => self.expr(&inner.expr),
            syn::Expr::Group(inner) => self.expr(&inner.expr),
            syn::Expr::Call(call) => self.call(call),
            syn::Expr::MethodCall(call) => self.method_call(call),
            syn::Expr::Field(field) => {
                let base = self.boxed(&field.base);
                let span = base.span.to(self.member_span(&field.member));
                Expr { span, kind: ExprKind::Field { base, name: member(&field.member) } }
            }
            syn::Expr::Index(index) => {
                let base = self.boxed(&index.expr);
                let span = base.span.to(self.span(index.bracket_token.span.close()));
                let index = self.boxed(&index.index);
                Expr { span, kind: ExprKind::Index { base, index } }
            }
            syn::Expr::Reference(inner) => self.prefixed(inner.and_token.span, &inner.expr, ExprKind::Borrow),
            syn::Expr::RawAddr(inner) => self.prefixed(inner.and_token.span, &inner.expr, ExprKind::Borrow),
            syn::Expr::Unary(unary) => self.unary(unary),
            syn::Expr::Binary(binary) => self.binary(binary),
            syn::Expr::Assign(assign) => self.assign(None, &assign.left, &assign.right),
            syn::Expr::Cast(cast) => {
                let value = self.boxed(&cast.expr);
                let mut span = value.span.to(self.span(cast.as_token.span));
                if let syn::Type::Path(ty) = &*cast.ty {
                    span = span.to(super::pattern::path_span(self.source(), &ty.path));
                }
                Expr { span, kind: ExprKind::Cast { value, ty: types::ty(&cast.ty) } }
            }
            syn::Expr::Try(inner) => {
                let value = self.boxed(&inner.expr);
                let span = value.span.to(self.span(inner.question_token.span));
                Expr { span, kind: ExprKind::Try(value) }
            }
            syn::Expr::Await(inner) => {
                let value = self.boxed(&inner.base);
                let span = value.span.to(self.span(inner.await_token.span));
                Expr { span, kind: ExprKind::Await(value) }
            }
            syn::Expr::Macro(call) => self.macro_call(&call.mac),
            syn::Expr::Closure(closure) => self.closure(closure),
            syn::Expr::Tuple(tuple) => {
                let span = self.span(tuple.paren_token.span.join());
                Expr { span, kind: ExprKind::Tuple(self.all(&tuple.elems)) }
            }
            syn::Expr::Array(array) => {
                let span = self.span(array.bracket_token.span.join());
                Expr { span, kind: ExprKind::Array(self.all(&array.elems)) }
            }
            syn::Expr::Repeat(repeat) => {
                let span = self.span(repeat.bracket_token.span.join());
                Expr { span, kind: ExprKind::Array(vec![self.expr(&repeat.expr)]) }
            }
            syn::Expr::Struct(fields) => self.structure(fields),
            syn::Expr::Range(range) => {
                let parts: Vec<Expr> = range.start.iter().chain(&range.end).map(|e| self.expr(e)).collect();
                other(parts)
            }
            _ => self.control_flow(written),
        }
    }

    fn control_flow(&mut self, written: &syn::Expr) -> Expr {
        match written {
            syn::Expr::If(branch) => self.branch(branch),
            syn::Expr::Match(choice) => self.choice(choice),
            syn::Expr::Let(test) => {
                let start = self.span(test.let_token.span);
                let pattern = self.pattern(&test.pat);
                let value = self.boxed(&test.expr);
                Expr { span: start.to(value.span), kind: ExprKind::LetCondition { pattern, value } }
            }
            syn::Expr::Loop(repeated) => {
                let start = self.span(repeated.loop_token.span);
                let body = self.block(&repeated.body);
                Expr { span: start.to(body.span), kind: ExprKind::Loop { body } }
            }
            syn::Expr::While(repeated) => {
                let start = self.span(repeated.while_token.span);
                let condition = self.boxed(&repeated.cond);
                let body = self.block(&repeated.body);
                Expr { span: start.to(body.span), kind: ExprKind::While { condition, body } }
            }
            syn::Expr::ForLoop(repeated) => {
                let start = self.span(repeated.for_token.span);
                let pattern = self.pattern(&repeated.pat);
                let iterable = self.boxed(&repeated.expr);
                let body = self.block(&repeated.body);
                Expr { span: start.to(body.span), kind: ExprKind::For { pattern, iterable, body } }
            }
            syn::Expr::Block(inner) => self.block_expr(&inner.block, ExprKind::Block),
            syn::Expr::Unsafe(inner) => self.block_expr(&inner.block, ExprKind::Block),
            syn::Expr::Const(inner) => self.block_expr(&inner.block, ExprKind::Block),
            syn::Expr::TryBlock(inner) => self.block_expr(&inner.block, ExprKind::Block),
            syn::Expr::Async(inner) => self.block_expr(&inner.block, ExprKind::Async),
            syn::Expr::Return(exit) => {
                let start = self.span(exit.return_token.span);
                let value = exit.expr.as_ref().map(|value| self.boxed(value));
                let span = value.as_ref().map_or(start, |value| start.to(value.span));
                Expr { span, kind: ExprKind::Return(value) }
            }
            syn::Expr::Break(exit) => {
                let start = self.span(exit.break_token.span);
                let value = exit.expr.as_ref().map(|value| self.boxed(value));
                Expr { span: start, kind: ExprKind::Break(value) }
            }
            syn::Expr::Continue(exit) => {
                Expr { span: self.span(exit.continue_token.span), kind: ExprKind::Continue }
            }
            syn::Expr::Yield(exit) => {
                let parts: Vec<Expr> = exit.expr.iter().map(|value| self.expr(value)).collect();
                other(parts)
            }
            _ => other(Vec::new()),
        }
    }

    fn call(&mut self, call: &syn::ExprCall) -> Expr {
        let callee = self.boxed(&call.func);
        let args = self.all(&call.args);
        let span = callee.span.to(self.span(call.paren_token.span.close()));
        Expr { span, kind: ExprKind::Call { callee, args } }
    }

    fn method_call(&mut self, call: &syn::ExprMethodCall) -> Expr {
        let receiver = self.boxed(&call.receiver);
        let args = self.all(&call.args);
        let span = receiver.span.to(self.span(call.paren_token.span.close()));
        let turbofish: Vec<Type> = call.turbofish.as_ref().map(types::generic_arguments).unwrap_or_default();
        let method = call.method.to_string();
        let method_span = self.span(call.method.span());
        Expr { span, kind: ExprKind::MethodCall { receiver, method, method_span, turbofish, args } }
    }

    fn prefixed(
        &mut self,
        token: proc_macro2::Span,
        inner: &syn::Expr,
        make: fn(Box<Expr>) -> ExprKind,
    ) -> Expr {
        let start = self.span(token);
        let inner = self.boxed(inner);
        Expr { span: start.to(inner.span), kind: make(inner) }
    }

    fn unary(&mut self, unary: &syn::ExprUnary) -> Expr {
        match &unary.op {
            syn::UnOp::Not(token) => self.prefixed(token.span, &unary.expr, ExprKind::Not),
            syn::UnOp::Neg(token) => self.prefixed(token.span, &unary.expr, ExprKind::Negative),
            syn::UnOp::Deref(token) => self.prefixed(token.span, &unary.expr, ExprKind::Borrow),
            _ => self.expr(&unary.expr),
        }
    }

    fn binary(&mut self, binary: &syn::ExprBinary) -> Expr {
        let (operator, assigns) = operator(&binary.op);
        if assigns {
            return self.assign(Some(operator), &binary.left, &binary.right);
        }
        let left = self.boxed(&binary.left);
        let right = self.boxed(&binary.right);
        let span = left.span.to(right.span);
        Expr { span, kind: ExprKind::Binary { operator, left, right } }
    }

    fn assign(&mut self, operator: Option<BinaryOperator>, target: &syn::Expr, value: &syn::Expr) -> Expr {
        let target = self.boxed(target);
        let value = self.boxed(value);
        Expr { span: target.span.to(value.span), kind: ExprKind::Assign { operator, target, value } }
    }

    fn closure(&mut self, closure: &syn::ExprClosure) -> Expr {
        let start = self.span(closure.inputs_begin.span);
        let params = closure
            .inputs
            .iter()
            .map(|input| {
                let ty = match input {
                    syn::Pat::Type(typed) => types::ty(&typed.ty),
                    _ => Type::unknown(),
                };
                let by_reference =
                    matches!(input, syn::Pat::Type(typed) if matches!(*typed.ty, syn::Type::Reference(_)));
                Param { pattern: self.pattern(input), ty, by_reference }
            })
            .collect();
        let body = self.boxed(&closure.body);
        Expr { span: start.to(body.span), kind: ExprKind::Closure { params, body } }
    }

    fn structure(&mut self, written: &syn::ExprStruct) -> Expr {
        let start = pattern::path_span(self.source(), &written.path);
        let fields =
            written.fields.iter().map(|field| (member(&field.member), self.expr(&field.expr))).collect();
        let rest = written.rest.as_ref().map(|rest| self.boxed(rest));
        let span = start.to(self.span(written.brace_token.span.close()));
        Expr { span, kind: ExprKind::Struct { path: pattern::segments(&written.path), fields, rest } }
    }

    fn branch(&mut self, branch: &syn::ExprIf) -> Expr {
        let start = self.span(branch.if_token.span);
        let condition = self.boxed(&branch.cond);
        let then = self.block(&branch.then_branch);
        let otherwise = branch.else_branch.as_ref().map(|(_, expr)| self.boxed(expr));
        let end = otherwise.as_ref().map_or(then.span, |expr| expr.span);
        Expr { span: start.to(end), kind: ExprKind::If { condition, then, otherwise } }
    }

    fn choice(&mut self, choice: &syn::ExprMatch) -> Expr {
        let start = self.span(choice.match_token.span);
        let value = self.boxed(&choice.expr);
        let arms = choice.arms.iter().map(|arm| self.arm(arm)).collect();
        let span = start.to(self.span(choice.brace_token.span.close()));
        Expr { span, kind: ExprKind::Match { value, arms } }
    }

    fn arm(&mut self, arm: &syn::Arm) -> Arm {
        let (pattern, guard) = self.guarded_pattern(&arm.pat);
        Arm { pattern, guard, body: self.expr(&arm.body) }
    }

    pub(super) fn guarded_pattern(&mut self, written: &syn::Pat) -> (Pattern, Option<Expr>) {
        match written {
            syn::Pat::Guard(guarded) => (self.pattern(&guarded.pat), Some(self.expr(&guarded.guard))),
            _ => (self.pattern(written), None),
        }
    }

    fn block_expr(&mut self, block: &syn::Block, make: fn(Block) -> ExprKind) -> Expr {
        let block = self.block(block);
        Expr { span: block.span, kind: make(block) }
    }

    pub(super) fn macro_call(&mut self, call: &syn::Macro) -> Expr {
        let start = pattern::path_span(self.source(), &call.path);
        let span = start.to(self.span(call.delimiter.span().close()));
        let path = pattern::segments(&call.path);
        if path.last().is_some_and(|name| name == "select" || name == "select_biased")
            && let Some(arms) = macros::select(self, call)
        {
            return Expr { span, kind: ExprKind::Select(arms) };
        }
        if path.last().is_some_and(|name| name == "matches")
            && let Some(kind) = macros::matches(self, call)
        {
            return Expr { span, kind };
        }
        let (args, named) = macros::arguments(self, call);
        Expr { span, kind: ExprKind::Macro(MacroCall { path, args, named }) }
    }

    fn member_span(&self, written: &syn::Member) -> Span {
        match written {
            syn::Member::Named(name) => self.span(name.span()),
            syn::Member::Unnamed(index) => self.span(index.span),
        }
    }
}

fn other(parts: Vec<Expr>) -> Expr {
    let span = match (parts.first(), parts.last()) {
        (Some(first), Some(last)) => first.span.to(last.span),
        _ => Span::default(),
    };
    Expr { span, kind: ExprKind::Other(parts) }
}

pub(super) fn member(written: &syn::Member) -> String {
    match written {
        syn::Member::Named(name) => name.to_string(),
        syn::Member::Unnamed(index) => index.index.to_string(),
    }
}

pub(super) fn literal(source: Source<'_>, literal: &syn::Lit) -> Expr {
    let span = source.span(literal.span());
    let text = || crate::rust::literal::decode(source.text(span), span.start);
    let kind = match literal {
        syn::Lit::Str(_) | syn::Lit::CStr(_) => text().map(ExprKind::Text),
        syn::Lit::ByteStr(_) => text().map(|literal| ExprKind::Bytes(literal.value)),
        syn::Lit::Int(int) => int.base10_parse().ok().map(ExprKind::Int),
        syn::Lit::Float(float) => float.base10_parse().ok().map(ExprKind::Float),
        syn::Lit::Bool(value) => Some(ExprKind::Bool(value.value)),
        syn::Lit::Char(value) => Some(ExprKind::Char(value.value())),
        syn::Lit::Byte(value) => Some(ExprKind::Int(value.value().into())),
        _ => None,
    };
    Expr { span, kind: kind.unwrap_or_else(|| ExprKind::Other(Vec::new())) }
}

/// The operator, and whether it also assigns.
fn operator(written: &syn::BinOp) -> (BinaryOperator, bool) {
    use BinaryOperator as Op;
    match written {
        syn::BinOp::Add(_) => (Op::Add, false),
        syn::BinOp::Sub(_) => (Op::Subtract, false),
        syn::BinOp::Mul(_) => (Op::Multiply, false),
        syn::BinOp::Div(_) => (Op::Divide, false),
        syn::BinOp::Rem(_) => (Op::Remainder, false),
        syn::BinOp::And(_) => (Op::And, false),
        syn::BinOp::Or(_) => (Op::Or, false),
        syn::BinOp::Eq(_) => (Op::Equal, false),
        syn::BinOp::Ne(_) => (Op::NotEqual, false),
        syn::BinOp::Lt(_) => (Op::Less, false),
        syn::BinOp::Le(_) => (Op::LessOrEqual, false),
        syn::BinOp::Gt(_) => (Op::Greater, false),
        syn::BinOp::Ge(_) => (Op::GreaterOrEqual, false),
        syn::BinOp::AddAssign(_) => (Op::Add, true),
        syn::BinOp::SubAssign(_) => (Op::Subtract, true),
        syn::BinOp::MulAssign(_) => (Op::Multiply, true),
        syn::BinOp::DivAssign(_) => (Op::Divide, true),
        syn::BinOp::RemAssign(_) => (Op::Remainder, true),
        syn::BinOp::BitXorAssign(_)
        | syn::BinOp::BitAndAssign(_)
        | syn::BinOp::BitOrAssign(_)
        | syn::BinOp::ShlAssign(_)
        | syn::BinOp::ShrAssign(_) => (Op::Other, true),
        _ => (Op::Other, false),
    }
}

/// A pattern that binds one name, or nothing.
pub(super) fn wildcard() -> Pattern {
    Pattern { span: Span::default(), kind: PatternKind::Wildcard }
}

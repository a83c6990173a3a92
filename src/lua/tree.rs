//! A small syntax tree of Lua 5.1: what the walk needs, and none of the parser's types.

use std::rc::Rc;

use crate::facts::Span;

pub(super) type Block = Vec<Statement>;

#[derive(Debug)]
pub(super) enum Statement {
    Local { names: Vec<String>, values: Vec<Expr> },
    Assign { targets: Vec<Expr>, values: Vec<Expr> },
    Call(Expr),
    Do(Block),
    While { condition: Expr, body: Block },
    Repeat { body: Block, until: Expr },
    NumericFor { name: String, bounds: Vec<Expr>, body: Block },
    GenericFor { names: Vec<String>, values: Vec<Expr>, body: Block },
    If { arms: Vec<(Expr, Block)>, otherwise: Block },
    LocalFunction { name: String, function: Rc<Function> },
    Return(Vec<Expr>),
    Break,
}

#[derive(Debug)]
pub(super) struct Function {
    pub(super) params: Vec<String>,
    pub(super) body: Block,
}

#[derive(Debug)]
pub(super) struct Expr {
    pub(super) span: Span,
    pub(super) kind: ExprKind,
}

#[derive(Debug)]
pub(super) enum ExprKind {
    Nil,
    Boolean(bool),
    Number(i64),
    Text(String),
    Name(String),
    Index {
        base: Box<Expr>,
        index: Box<Expr>,
    },
    Call {
        callee: Box<Expr>,
        args: Vec<Expr>,
    },
    Method {
        receiver: Box<Expr>,
        name: String,
        args: Vec<Expr>,
    },
    Binary {
        operator: Operator,
        left: Box<Expr>,
        right: Box<Expr>,
    },
    Not(Box<Expr>),
    /// `-x`, `#x`: a value that nothing here follows.
    Derived(Box<Expr>),
    Function(Rc<Function>),
    Table(Vec<(Option<Expr>, Expr)>),
    /// `...`, fractions, and what a later Lua may add.
    Unknown,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Operator {
    And,
    Or,
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    Concat,
    Arithmetic,
}

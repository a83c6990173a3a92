//! Facts about a Rust file: its items, and a compact tree of each function body.
//!
//! The tree keeps what is needed to fold constants, to follow values and to order effects; nothing else
//! of the syntax survives.

use serde::{Deserialize, Serialize};

use super::{Span, TextMap};

#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct RustFile {
    pub uses: Vec<Use>,
    /// `mod name;` declarations (the inline ones are only paths of their items).
    pub modules: Vec<ModuleDeclaration>,
    pub functions: Vec<Function>,
    pub constants: Vec<Constant>,
    pub types: Vec<TypeDefinition>,
    /// Tables of a database that macros and derives declare; types of theirs are among `types`.
    pub tables: Vec<Table>,
}

/// A table of a database, and what code calls its columns.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Table {
    pub schema: Option<String>,
    pub name: String,
    /// The columns of its primary key.
    pub key: Vec<String>,
    pub columns: Vec<TableColumn>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TableColumn {
    /// The name in Rust: of a path or field.
    pub name: String,
    /// The name in the database.
    pub column: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Use {
    /// The inline modules around it.
    pub module: Vec<String>,
    pub path: Vec<String>,
    /// The name it gets here; `*` for a glob, `_` for an anonymous trait import.
    pub name: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ModuleDeclaration {
    pub module: Vec<String>,
    pub name: String,
    /// `#[path = "…"]`.
    pub path: Option<String>,
    pub is_test: bool,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Constant {
    pub module: Vec<String>,
    /// The type whose associated constant it is.
    pub owner: Option<String>,
    pub name: String,
    pub ty: Option<Type>,
    pub value: Option<Expr>,
    pub span: Span,
    pub is_test: bool,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TypeDefinition {
    pub module: Vec<String>,
    pub name: String,
    pub kind: TypeKind,
    pub derives: Vec<String>,
    /// What attributes of derives say about its names in a database.
    pub settings: Vec<Setting>,
    pub span: Span,
    pub is_test: bool,
}

/// `name = "value"` in an attribute of a derive: `#[sea_orm(table_name = "items")]`, `#[iden = "items"]`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Setting {
    /// The field or variant that it stands at; none for the type itself.
    pub on: Option<String>,
    pub name: String,
    pub value: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum TypeKind {
    Struct {
        fields: Vec<Field>,
    },
    Enum {
        variants: Vec<String>,
    },
    Alias(Type),
    Trait,
    /// What stands for one of the file's `tables` in code: `jobs::table`, `Entity`.
    Table(usize),
    /// A column of a table, by their positions: `jobs::id`.
    Column {
        table: usize,
        column: usize,
    },
    /// The enum of a table's columns: `Column`.
    Columns(usize),
    /// A row that is to be written: `ActiveModel`.
    Row(usize),
}

impl TypeDefinition {
    /// What an attribute says under a name about a field or variant, or about the type itself.
    pub fn setting(&self, on: Option<&str>, name: &str) -> Option<&str> {
        let is_meant = |setting: &&Setting| setting.on.as_deref() == on && setting.name == name;
        self.settings.iter().find(is_meant).map(|setting| setting.value.as_str())
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Field {
    /// The name, or the position in a tuple struct.
    pub name: String,
    pub ty: Type,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Function {
    pub module: Vec<String>,
    pub name: String,
    pub name_span: Span,
    /// From the first attribute to the closing brace.
    pub span: Span,
    /// The type of the `impl` block, or the trait for a provided method.
    pub owner: Option<String>,
    /// The trait that the `impl` block implements, or that the method belongs to.
    pub implements: Option<String>,
    pub has_self: bool,
    pub is_async: bool,
    /// Last segments of the attributes on it, such as `main` for `#[tokio::main]`, with the first
    /// segment in front where there are several: `tokio::main`.
    pub attributes: Vec<String>,
    pub is_test: bool,
    pub generics: Vec<Generic>,
    /// Without `self`.
    pub params: Vec<Param>,
    pub result: Option<Type>,
    pub body: Option<Block>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Generic {
    pub name: String,
    pub bounds: Vec<Type>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Param {
    pub pattern: Pattern,
    pub ty: Type,
    /// The type is a reference.
    pub by_reference: bool,
}

/// A type as written, references and lifetimes left out.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Type {
    pub kind: TypeForm,
    /// The path's segments; empty for tuples and the like.
    pub path: Vec<String>,
    /// Generic arguments, tuple elements, slice element, or the further bounds of `impl A + B`.
    pub args: Vec<Type>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum TypeForm {
    Path,
    /// `impl Trait`, or the bound of a generic parameter.
    Impl,
    Dyn,
    Tuple,
    Slice,
    Function,
    Other,
}

impl Type {
    /// The last segment of the path, or an empty text.
    pub fn name(&self) -> &str {
        self.path.last().map_or("", String::as_str)
    }

    /// A type of this name, without arguments.
    pub fn named(name: &str) -> Self {
        Self { kind: TypeForm::Path, path: vec![name.to_owned()], args: Vec::new() }
    }

    pub fn unknown() -> Self {
        Self { kind: TypeForm::Other, path: Vec::new(), args: Vec::new() }
    }
}

#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Block {
    pub span: Span,
    pub statements: Vec<Statement>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Statement {
    Let {
        pattern: Pattern,
        ty: Option<Type>,
        value: Option<Expr>,
        otherwise: Option<Block>,
        span: Span,
    },
    /// `tail` marks the value of the block.
    Expr {
        expr: Expr,
        tail: bool,
    },
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Expr {
    pub span: Span,
    pub kind: ExprKind,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum ExprKind {
    Text(TextLiteral),
    /// A byte string, with its value read as UTF-8 where it is.
    Bytes(String),
    Int(i128),
    Float(f64),
    Bool(bool),
    Char(char),
    /// A name or path, generic arguments left out.
    Path(Vec<String>),
    Call {
        callee: Box<Expr>,
        args: Vec<Expr>,
    },
    MethodCall {
        receiver: Box<Expr>,
        method: String,
        method_span: Span,
        turbofish: Vec<Type>,
        args: Vec<Expr>,
    },
    Field {
        base: Box<Expr>,
        name: String,
    },
    Index {
        base: Box<Expr>,
        index: Box<Expr>,
    },
    /// `!x`, `-x`.
    Not(Box<Expr>),
    Negative(Box<Expr>),
    /// `&x`, `&mut x`, `*x`: the same value for our purposes.
    Borrow(Box<Expr>),
    Binary {
        operator: BinaryOperator,
        left: Box<Expr>,
        right: Box<Expr>,
    },
    /// `a = b`; with an operator for `a += b`.
    Assign {
        operator: Option<BinaryOperator>,
        target: Box<Expr>,
        value: Box<Expr>,
    },
    If {
        condition: Box<Expr>,
        then: Block,
        otherwise: Option<Box<Expr>>,
    },
    /// `let pattern = value` inside a condition.
    LetCondition {
        pattern: Pattern,
        value: Box<Expr>,
    },
    Match {
        value: Box<Expr>,
        arms: Vec<Arm>,
    },
    Loop {
        body: Block,
    },
    While {
        condition: Box<Expr>,
        body: Block,
    },
    For {
        pattern: Pattern,
        iterable: Box<Expr>,
        body: Block,
    },
    Block(Block),
    Async(Block),
    Closure {
        params: Vec<Param>,
        body: Box<Expr>,
    },
    Return(Option<Box<Expr>>),
    Break(Option<Box<Expr>>),
    Continue,
    Try(Box<Expr>),
    Await(Box<Expr>),
    Macro(MacroCall),
    /// `tokio::select!` and its like.
    Select(Vec<SelectArm>),
    Tuple(Vec<Expr>),
    Array(Vec<Expr>),
    Struct {
        path: Vec<String>,
        fields: Vec<(String, Expr)>,
        rest: Option<Box<Expr>>,
    },
    Cast {
        value: Box<Expr>,
        ty: Type,
    },
    /// Something else, with the expressions inside it.
    Other(Vec<Expr>),
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TextLiteral {
    pub value: String,
    /// From bytes of the value to bytes of the file.
    pub map: TextMap,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum BinaryOperator {
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    And,
    Or,
    /// Bit operations.
    Other,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Arm {
    pub pattern: Pattern,
    pub guard: Option<Expr>,
    pub body: Expr,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SelectArm {
    pub pattern: Pattern,
    pub future: Expr,
    pub guard: Option<Expr>,
    pub handler: Expr,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MacroCall {
    pub path: Vec<String>,
    /// The arguments that read as expressions, in order.
    pub args: Vec<Expr>,
    /// `name = value` arguments of formatting macros.
    pub named: Vec<(String, Expr)>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Pattern {
    pub span: Span,
    pub kind: PatternKind,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum PatternKind {
    /// `_`.
    Wildcard,
    /// `name`, with what stands behind `@`.
    Name {
        name: String,
        inner: Option<Box<Pattern>>,
    },
    /// A literal or a path to a constant or unit variant.
    Value(Box<Expr>),
    /// `Some(x)`, `Ok(_)`, `Kind::A(..)`.
    Variant {
        path: Vec<String>,
        elements: Vec<Pattern>,
    },
    Struct {
        path: Vec<String>,
        fields: Vec<(String, Pattern)>,
    },
    Tuple(Vec<Pattern>),
    Or(Vec<Pattern>),
    Other,
}

/// What derives make of a name: `FencingToken` is `fencing_token`.
pub fn snake_case(name: &str) -> String {
    let mut snake = String::new();
    for (at, c) in name.char_indices() {
        if c.is_uppercase() && at > 0 {
            snake.push('_');
        }
        snake.extend(c.to_lowercase());
    }
    snake
}

//! Tokens as the scanners before the parsers see them, whatever the language.

/// What a token is, as far as the callers care.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TokenKind {
    /// A `//` comment, its line end left out.
    LineComment,
    BlockComment,
    /// A string, byte string, character or number.
    Literal,
    Lifetime,
    /// A name or a keyword.
    Word,
    /// One of `( [ {`.
    Open(u8),
    /// One of `) ] }`.
    Close(u8),
    /// Any other byte that is not white space.
    Punctuation(u8),
}

/// A token and the bytes it covers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Token {
    pub(crate) kind: TokenKind,
    pub(crate) start: usize,
    pub(crate) end: usize,
}

impl Token {
    pub(crate) fn is_comment(&self) -> bool {
        matches!(self.kind, TokenKind::LineComment | TokenKind::BlockComment)
    }
}

//! What a suppression comment covers: its own line, or the item or statement below it.

use super::to_span;
use crate::facts::Span;
use crate::sources::FileKind;
use crate::sources::tokens::{Token, TokenKind};

/// A statement is followed no further than this, so that a file made of comments and broken code costs
/// no more than its length.
const STATEMENT_LIMIT: usize = 100_000;

/// The code of a file, without comments.
pub(super) struct Code<'a> {
    kind: FileKind,
    text: &'a str,
    tokens: Vec<Token>,
    /// For each opening bracket the position of the one that closes it.
    closings: Vec<Option<usize>>,
}

impl<'a> Code<'a> {
    pub(super) fn new(kind: FileKind, text: &'a str, tokens: &[Token]) -> Self {
        let tokens: Vec<Token> = tokens.iter().filter(|token| !token.is_comment()).copied().collect();
        let mut closings = vec![None; tokens.len()];
        let mut open = Vec::new();
        for (at, token) in tokens.iter().enumerate() {
            match token.kind {
                TokenKind::Open(_) => open.push(at),
                TokenKind::Close(_) => {
                    if let Some(opening) = open.pop() {
                        closings[opening] = Some(at);
                    }
                }
                _ => {}
            }
        }
        Self { kind, text, tokens, closings }
    }

    /// The scope of a comment.
    pub(super) fn covered_by(&self, comment: Token) -> Span {
        let line_start = self.text[..comment.start].rfind('\n').map_or(0, |at| at + 1);
        let before = &self.text[line_start..comment.start];
        if !before.trim_matches(['\u{feff}', ' ', '\t', '\r']).is_empty() {
            return to_span(line_start, comment.end);
        }
        let start = self.tokens.partition_point(|token| token.start < comment.end);
        let Some(first) = self.tokens.get(start) else {
            return to_span(self.text.len(), self.text.len());
        };
        let end = match self.kind {
            FileKind::Lua => self.lua_statement_end(start),
            FileKind::Sql => self.sql_statement_end(start),
            _ => self.rust_end(start),
        };
        // Something is always covered, such as the line of a lone `}`.
        to_span(first.start, end.max(first.end))
    }

    fn word(&self, at: usize) -> &str {
        self.tokens.get(at).map_or("", |token| &self.text[token.start..token.end])
    }

    fn kind(&self, at: usize) -> Option<TokenKind> {
        self.tokens.get(at).map(|token| token.kind)
    }

    fn line_end(&self, from: usize) -> usize {
        self.text[from..].find('\n').map_or(self.text.len(), |length| from + length)
    }

    /// Whether a line ends between two neighbours.
    fn breaks_behind(&self, at: usize) -> bool {
        match (self.tokens.get(at), self.tokens.get(at + 1)) {
            (Some(this), Some(next)) => self.text[this.end..next.start].contains('\n'),
            _ => true,
        }
    }

    /// The position of the bracket that closes the one at `at`.
    fn closing(&self, at: usize) -> Option<usize> {
        self.closings.get(at).copied().flatten()
    }

    /// The tokens of a statement that starts at `start`, as far as it is followed, with their positions.
    fn statement(&self, start: usize) -> impl Iterator<Item = (usize, &Token)> {
        self.tokens.iter().enumerate().skip(start).take(STATEMENT_LIMIT)
    }

    fn rust_end(&self, start: usize) -> usize {
        let start = self.behind_attributes(start);
        if self.is_item(start) { self.rust_item_end(start) } else { self.rust_statement_end(start) }
    }

    fn behind_attributes(&self, start: usize) -> usize {
        let mut at = start;
        while self.kind(at) == Some(TokenKind::Punctuation(b'#')) {
            let bracket = at + 1 + usize::from(self.kind(at + 1) == Some(TokenKind::Punctuation(b'!')));
            match self.closing(bracket) {
                Some(closing) if self.kind(bracket) == Some(TokenKind::Open(b'[')) => at = closing + 1,
                _ => break,
            }
        }
        at
    }

    fn is_item(&self, start: usize) -> bool {
        let mut at = start;
        loop {
            match self.word(at) {
                "fn" | "struct" | "enum" | "impl" | "mod" | "trait" | "type" | "use" | "static" => {
                    return true;
                }
                "union" | "macro_rules" => {
                    return matches!(self.kind(at + 1), Some(TokenKind::Word | TokenKind::Punctuation(b'!')));
                }
                "pub" if self.kind(at + 1) == Some(TokenKind::Open(b'(')) => {
                    let Some(closing) = self.closing(at + 1) else { return false };
                    at = closing + 1;
                }
                "const" => match self.kind(at + 1) {
                    Some(TokenKind::Word) => return true,
                    _ => return false,
                },
                "pub" | "async" | "unsafe" | "extern" | "default" | "safe" => at += 1,
                _ if at > start && self.kind(at) == Some(TokenKind::Literal) => at += 1,
                _ => return false,
            }
        }
    }

    /// An item ends with its body or its semicolon.
    fn rust_item_end(&self, start: usize) -> usize {
        let ends_with_body =
            !matches!(self.word(self.behind_visibility(start)), "const" | "static" | "type" | "use")
                || self.word(self.behind_visibility(start) + 1) == "fn";
        let mut at = start;
        while let Some(token) = self.tokens.get(at) {
            match token.kind {
                TokenKind::Punctuation(b';') => return token.end,
                TokenKind::Open(bracket) => {
                    let Some(closing) = self.closing(at) else { return self.text.len() };
                    // `impl A<{ N }> for B` goes on behind the brace.
                    let goes_on = matches!(self.kind(closing + 1), Some(TokenKind::Punctuation(b'>' | b',')));
                    if bracket == b'{' && ends_with_body && !goes_on {
                        return self.tokens[closing].end;
                    }
                    at = closing;
                }
                TokenKind::Close(_) => return token.start,
                _ => {}
            }
            at += 1;
        }
        self.text.len()
    }

    fn behind_visibility(&self, start: usize) -> usize {
        match (self.word(start), self.kind(start + 1)) {
            ("pub", Some(TokenKind::Open(b'('))) => {
                self.closing(start + 1).map_or(start, |closing| closing + 1)
            }
            ("pub", _) => start + 1,
            _ => start,
        }
    }

    /// A statement, an argument or an arm; of one that opens a block of several lines only what stands
    /// before the block, since the block holds statements of their own.
    fn rust_statement_end(&self, start: usize) -> usize {
        let mut at = start;
        while let Some(token) = self.tokens.get(at).filter(|_| at < start + STATEMENT_LIMIT) {
            match token.kind {
                TokenKind::Punctuation(b';') => return token.end,
                TokenKind::Punctuation(b',') if self.breaks_behind(at) => return token.end,
                TokenKind::Close(_) => return token.start,
                TokenKind::Open(_) => match self.first_block_inside(at) {
                    Ok(closing) => at = closing,
                    Err(end) => return end,
                },
                _ => {}
            }
            at += 1;
        }
        self.limit(start)
    }

    /// The closing bracket of the one at `open`; or, when a block of several lines opens inside, the end
    /// of the line that it opens on.
    fn first_block_inside(&self, open: usize) -> Result<usize, usize> {
        let closing = self.closing(open).unwrap_or(self.tokens.len());
        let mut at = open;
        while at < closing {
            if self.kind(at) == Some(TokenKind::Open(b'{')) {
                let from = self.tokens[at].end;
                let end = self.closing(at);
                let to = end.map_or(self.text.len(), |end| self.tokens[end].start);
                if self.text[from..to].contains('\n') {
                    return Err(self.line_end(from));
                }
                at = end.unwrap_or(closing);
            }
            at += 1;
        }
        Ok(closing)
    }

    /// Up to the semicolon that is not inside a dollar-quoted body, or to the end of the body around it.
    fn sql_statement_end(&self, start: usize) -> usize {
        let mut depth = 0usize;
        for (_, token) in self.statement(start) {
            match token.kind {
                TokenKind::Punctuation(b';') if depth == 0 => return token.end,
                TokenKind::Open(b'{') => depth += 1,
                TokenKind::Close(b'}') if depth == 0 => return token.start,
                TokenKind::Close(b'}') => depth -= 1,
                _ => {}
            }
        }
        self.limit(start)
    }

    /// Up to the line's end at which neither a bracket nor a block is open.
    fn lua_statement_end(&self, start: usize) -> usize {
        let mut depth = 0usize;
        for (at, token) in self.statement(start) {
            match (token.kind, self.word(at)) {
                (TokenKind::Open(_), _) | (TokenKind::Word, "if" | "do" | "function" | "repeat") => {
                    depth += 1
                }
                (TokenKind::Close(_), _) | (TokenKind::Word, "end" | "until") => {
                    let Some(less) = depth.checked_sub(1) else { return token.start };
                    depth = less;
                }
                _ => {}
            }
            if depth == 0 && self.breaks_behind(at) {
                return token.end;
            }
        }
        self.limit(start)
    }

    fn limit(&self, start: usize) -> usize {
        self.tokens.get(start + STATEMENT_LIMIT).map_or(self.text.len(), |token| token.start)
    }
}

//! An upper bound of how deep the syntax tree of a Rust text can get, taken from its tokens.
//!
//! The parser recurses, and a stack that overflows ends the process, so depth is refused before any
//! parser sees the text. The bound may be too high by what no reader would notice; it is never too low.
//! It says nothing about whether the text is valid.

use super::rust_tokens::Tokens;
use super::tokens::{Token, TokenKind};

/// No tree deeper than this is parsed: some 1 250 brackets inside each other, or a chain of 10 000 calls.
/// The deepest of several thousand published source files reaches a tenth of it.
pub const DEPTH_LIMIT: u32 = 10_000;

/// What a token costs of the limit: by how much stack the parser and the walks over its tree need for one
/// level in a debug build, and by which of them look at the levels below once more for each level.
const BLOCK: u32 = 8;
const REFERENCE: u32 = 4;
const LINK: u32 = 1;

/// The byte at which the tree may get deeper than `limit`, if it does.
pub fn too_deep_at(text: &str, limit: u32) -> Option<usize> {
    let mut scan = Scan { levels: vec![Level::default()], depth: 0, previous: Previous::Boundary };
    let mut tokens = Tokens::new(text).filter(|token| !token.is_comment()).peekable();
    while let Some(token) = tokens.next() {
        let joined = tokens.peek().filter(|next| next.start == token.end).map(|next| next.kind);
        if scan.step(text, token, joined) {
            tokens.next();
        }
        if scan.depth > limit {
            return Some(token.start);
        }
    }
    None
}

/// What stood before a token, as far as it decides what the token means.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Previous {
    /// An operand ended: a name, a literal, `)` or `]`. An operator that follows is binary.
    Operand,
    /// A `}`, which ends a statement unless what follows goes on with it.
    Brace,
    /// Anything after which an expression or an item may start.
    Boundary,
}

/// The state inside one pair of brackets.
#[derive(Default)]
struct Level {
    /// The cost of the tokens that may have put nodes above what follows, since the last separator.
    chain: u32,
    /// The chain's length behind each `<` that is still open. A `,` inside generic arguments falls back to
    /// it and no further: `A<B, A<B, …`.
    angles: Vec<u32>,
    /// Between the bars of a closure's parameters, where a `,` ends nothing.
    in_parameters: bool,
}

struct Scan {
    /// Never empty: the text itself, then one for each open bracket.
    levels: Vec<Level>,
    /// The sum of all chains, and of the brackets.
    depth: u32,
    previous: Previous,
}

impl Scan {
    /// Takes one token, and says whether it took the one that is joined to it as well (`||`, `=>`, `->`).
    fn step(&mut self, text: &str, token: Token, joined: Option<TokenKind>) -> bool {
        let word = &text[token.start..token.end];
        if self.previous == Previous::Brace && starts_anew(token.kind, word) {
            self.end_statement();
        }
        let before = std::mem::replace(&mut self.previous, Previous::Boundary);
        match token.kind {
            TokenKind::Open(_) => {
                self.levels.push(Level::default());
                self.depth += BLOCK;
            }
            TokenKind::Close(bracket) => self.close(bracket),
            TokenKind::Word if puts_a_node_above(word) => self.grow(BLOCK),
            TokenKind::Word | TokenKind::Literal => self.previous = Previous::Operand,
            TokenKind::Punctuation(byte) => {
                let joined = match joined {
                    Some(TokenKind::Punctuation(byte)) => Some(byte),
                    _ => None,
                };
                return self.punctuation(byte, joined, before);
            }
            TokenKind::Lifetime | TokenKind::LineComment | TokenKind::BlockComment => {}
        }
        false
    }

    fn punctuation(&mut self, byte: u8, joined: Option<u8>, before: Previous) -> bool {
        match (byte, joined) {
            (b',', _) => self.end_element(),
            (b';', _) => self.end_statement(),
            // What stands behind `=>` is not below the pattern in front of it.
            (b'=', Some(b'>')) => {
                self.end_statement();
                return true;
            }
            (b'-', Some(b'>')) => {
                self.grow(BLOCK);
                return true;
            }
            (b'|', joined) => return self.bar(joined == Some(b'|'), before),
            (b'<', _) => {
                let level = self.level();
                level.angles.push(level.chain + BLOCK);
                self.grow(BLOCK);
            }
            (b'>', _) if !self.level().angles.is_empty() => {
                self.level().angles.pop();
            }
            (b':' | b'#' | b'$', _) => {}
            (b'&' | b'*', _) => self.grow(REFERENCE),
            _ => self.grow(LINK),
        }
        false
    }

    /// A `|`: the end of a closure's parameters, their start, or a binary operator.
    fn bar(&mut self, doubled: bool, before: Previous) -> bool {
        self.grow(REFERENCE);
        if self.level().in_parameters {
            self.level().in_parameters = false;
            return false;
        }
        self.level().in_parameters = before != Previous::Operand && !doubled;
        doubled
    }

    fn close(&mut self, bracket: u8) {
        self.previous = if bracket == b'}' { Previous::Brace } else { Previous::Operand };
        if self.levels.len() > 1
            && let Some(level) = self.levels.pop()
        {
            self.depth -= level.chain + BLOCK;
        }
    }

    fn level(&mut self) -> &mut Level {
        self.levels.last_mut().expect("the level of the text itself is never closed")
    }

    fn grow(&mut self, cost: u32) {
        self.level().chain += cost;
        self.depth += cost;
    }

    fn end_element(&mut self) {
        if !self.level().in_parameters {
            let length = self.level().angles.last().copied().unwrap_or(0);
            self.cut_chain(length);
        }
    }

    fn end_statement(&mut self) {
        self.cut_chain(0);
        self.level().angles.clear();
        self.level().in_parameters = false;
    }

    fn cut_chain(&mut self, length: u32) {
        let before = std::mem::replace(&mut self.level().chain, length);
        self.depth = self.depth + length - before;
    }
}

/// Whether a token behind a `}` starts something that is not below what stood before the `}`.
fn starts_anew(kind: TokenKind, word: &str) -> bool {
    match kind {
        TokenKind::Word => !matches!(word, "else" | "as" | "in"),
        TokenKind::Literal | TokenKind::Lifetime | TokenKind::Punctuation(b'#') => true,
        _ => false,
    }
}

/// Keywords that may each put one more node above what follows, brackets aside.
fn puts_a_node_above(word: &str) -> bool {
    matches!(
        word,
        "as" | "async"
            | "become"
            | "box"
            | "break"
            | "const"
            | "do"
            | "dyn"
            | "else"
            | "for"
            | "if"
            | "impl"
            | "in"
            | "let"
            | "loop"
            | "match"
            | "move"
            | "mut"
            | "ref"
            | "return"
            | "static"
            | "try"
            | "unsafe"
            | "where"
            | "while"
            | "yield"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_deep(text: &str) -> bool {
        too_deep_at(text, DEPTH_LIMIT).is_some()
    }

    fn in_function(body: &str) -> String {
        format!("fn f() {{ let x = {body}; }}")
    }

    #[test]
    fn every_kind_of_nesting_is_seen() {
        let deep = [
            ("parentheses", 100_000, "(", "1", ")"),
            ("blocks", 20_000, "{", "1", "}"),
            ("generics", 20_000, "Box<", "u8", ">"),
            ("generics behind a comma", 20_000, "HashMap<u8, ", "u8", ">"),
            ("generics and references", 6_000, "A<&&u8, &&", "u8", ">"),
            ("else-ifs", 20_000, "if a {} else ", "{}", ""),
            ("conditions", 20_000, "if ", "true", " {}"),
            ("unary operators", 20_000, "!", "true", ""),
            ("references", 20_000, "&mut ", "a", ""),
            ("casts", 20_000, "", "a", " as u8"),
            ("method calls", 20_000, "", "a", ".f(1, 2)"),
            ("method calls on lines of their own", 20_000, "", "a", "\n    // why\n    .f(|x| x)"),
            ("question marks", 20_000, "", "a", "?"),
            ("binary operators", 50_000, "1 + ", "1", ""),
            ("assignments", 20_000, "a = ", "1", ""),
            ("closures", 20_000, "|x| ", "1", ""),
            ("closures of two parameters", 20_000, "|x, y| ", "1", ""),
            ("closures of none", 20_000, "|| ", "1", ""),
            ("returns", 20_000, "return ", "1", ""),
            ("blocks behind a chain", 6_000, "!!if {1} {", "1", "}"),
            ("function types", 20_000, "fn(u8, u8) -> ", "u8", ""),
            ("patterns", 20_000, "a @ ", "b", ""),
        ];
        for (name, count, before, inner, after) in deep {
            let text = in_function(&format!("{}{inner}{}", before.repeat(count), after.repeat(count)));
            assert!(is_deep(&text), "{name}");
        }
    }

    #[test]
    fn large_flat_code_is_not_deep() {
        let flat = [
            ("an array", in_function(&format!("[{}]", "-1.5, ".repeat(50_000)))),
            ("a table", in_function(&format!("[{}]", "(\"a\", &[1, 2], !0 | 1), ".repeat(50_000)))),
            ("structs", in_function(&format!("[{}]", "A { b: -1, c: x.y()? }, ".repeat(50_000)))),
            ("closures", in_function(&format!("[{}]", "|a, b| a + b, ".repeat(50_000)))),
            ("or", in_function(&format!("[{}]", "a || b, ".repeat(50_000)))),
            ("generics", in_function(&format!("({})", "A::<B, C>::d(), ".repeat(50_000)))),
            ("statements", format!("fn f() {{ {} }}", "let x = -a.b()?.c() + 1; ".repeat(50_000))),
            ("ifs", format!("fn f() {{ {} }}", "if a.b() { c() } else if d { e() } ".repeat(50_000))),
            ("derefs", format!("fn f() {{ {} }}", "if a { *b = 1; } *b += 1; ".repeat(50_000))),
            ("arms", format!("fn f() {{ match x {{ {} }} }}", "-1 => a.b(), ".repeat(50_000))),
            ("block arms", format!("fn f() {{ match x {{ {} }} }}", "-1 | 2 => { a } ".repeat(50_000))),
            ("tuple arms", format!("fn f() {{ match x {{ {} }} }}", "(&a, -1) => { a } ".repeat(50_000))),
            ("functions", "pub fn f<T: A<B>>(x: &T) -> Result<u8, ()> { Ok(1) }\n".repeat(50_000)),
            ("items", "#[derive(A)] struct S<'a>(&'a [u8]);\n".repeat(50_000)),
            ("strings", in_function(&format!("[{}]", "\"((((\", '(', r#\"{{{\"#, ".repeat(50_000)))),
            ("comments", "// ((((((((((\n/* [[[[[ */ ".repeat(50_000)),
            ("quoted", format!("quote! {{ {} }}", "#name: #ty, ".repeat(50_000))),
        ];
        for (name, text) in flat {
            assert_eq!(too_deep_at(&text, 200), None, "{name}");
        }
    }

    #[test]
    fn the_place_is_where_the_limit_is_passed() {
        assert_eq!(too_deep_at("((((", 3 * BLOCK), Some(3));
        assert_eq!(too_deep_at("(((", 3 * BLOCK), None);
        assert_eq!(too_deep_at(")))}((", BLOCK), Some(5));
        assert_eq!(too_deep_at("a.b.c.d", 2), Some(5));
    }
}

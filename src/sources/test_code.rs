//! Test modules inside files of the crate: much text that is no target, and need not be parsed.
//!
//! It looks at tokens alone. What it does not recognise stays, and the front end marks it as test code.

use std::borrow::Cow;
use std::ops::Range;

use super::rust_tokens::Tokens;
use super::tokens::{Token, TokenKind};

/// Words that show that an attribute was not about a module.
const OTHER_ITEMS: &[&str] = &["fn", "impl", "struct", "enum", "trait", "use", "macro_rules"];

/// The text with every `#[cfg(test)] mod … { … }` emptied; places of everything else stay what they are.
pub fn without_test_modules(text: &str) -> Cow<'_, str> {
    if !text.contains("cfg(test)") {
        return Cow::Borrowed(text);
    }
    let modules = test_modules(text);
    if modules.is_empty() {
        return Cow::Borrowed(text);
    }
    let mut bytes = text.as_bytes().to_vec();
    for byte in modules.into_iter().flat_map(|module| bytes_of(text, module)) {
        bytes[byte] = b' ';
    }
    // Whole tokens were blanked, so that no character was cut.
    String::from_utf8(bytes).map_or(Cow::Borrowed(text), Cow::Owned)
}

/// The places in a range that do not end a line.
fn bytes_of(text: &str, range: Range<usize>) -> impl Iterator<Item = usize> {
    range.filter(|at| !matches!(text.as_bytes()[*at], b'\n' | b'\r'))
}

fn test_modules(text: &str) -> Vec<Range<usize>> {
    let mut tokens = Tokens::new(text).filter(|token| !token.is_comment());
    let mut found = Vec::new();
    // The tokens behind the last `#`.
    let mut head: Vec<Token> = Vec::new();
    let mut cfg_start = None;
    while let Some(token) = tokens.next() {
        let word = &text[token.start..token.end];
        match token.kind {
            TokenKind::Punctuation(b'#') => {
                head.clear();
                head.push(token);
            }
            _ if !head.is_empty() => {
                head.push(token);
                if word == "]" {
                    let attribute: String = head.iter().map(|t| &text[t.start..t.end]).collect();
                    if attribute == "#[cfg(test)]" {
                        cfg_start = Some(head[0].start);
                    }
                    head.clear();
                }
            }
            // Between the attribute and the brace stand `pub(crate) mod name`, and nothing else.
            TokenKind::Open(b'{') => {
                if let Some(start) = cfg_start.take()
                    && text[start..token.start].split_whitespace().any(|word| word == "mod")
                    && let Some(end) = closing(&mut tokens)
                {
                    found.push(token.end..end);
                }
            }
            TokenKind::Punctuation(b';' | b'=') => cfg_start = None,
            TokenKind::Word if OTHER_ITEMS.contains(&word) => cfg_start = None,
            _ => {}
        }
    }
    found
}

/// Where the `}` of the block stands whose `{` was read last; `None` when it never ends.
fn closing(tokens: &mut impl Iterator<Item = Token>) -> Option<usize> {
    let mut depth = 1usize;
    for token in tokens {
        match token.kind {
            TokenKind::Open(b'{') => depth += 1,
            TokenKind::Close(b'}') => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return Some(token.start);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn test_modules_are_empty_and_the_rest_keeps_its_place() {
        let text = "fn a() {}\n/// Documented.\n#[cfg(test)]\n#[allow(x)]\npub(crate) mod tests {\n    const S: &str = \"}\";\n    fn é() { if x {} }\n}\nfn b() {}\n";
        let blank = without_test_modules(text);
        assert_eq!(blank.len(), text.len());
        assert!(blank.contains("mod tests {") && !blank.contains("const S") && !blank.contains('é'));
        assert_eq!(blank.find("fn b"), text.find("fn b"));
        assert_eq!(blank.lines().count(), text.lines().count());
    }

    #[test]
    fn what_is_no_test_module_stays() {
        for text in [
            "#[cfg(test)]\nmod tests;\nmod a { fn f() {} }",
            "#[cfg(test)]\nfn helper() { call() }\nmod a { fn f() {} }",
            "#[cfg(not(test))]\nmod a { fn f() {} }",
            "#[cfg(test)]\nuse x::{a, b};\nmod a { fn f() {} }",
            "#[cfg(test)] mod open { fn f() {",
            "// #[cfg(test)]\nmod a { fn f() {} }",
            "const A: &str = \"#[cfg(test)]\"; mod a { fn f() {} }",
        ] {
            assert_eq!(without_test_modules(text), text);
        }
    }
}

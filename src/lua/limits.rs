//! What a Lua text may ask of the parser: its size and how deeply it nests, judged on bytes.
//!
//! Parsing and walking recurse, so that the depth is bounded before anything recurses. It knows Lua's
//! strings and comments, and nothing else of its grammar.

use crate::facts::Span;

/// Longer texts are no scripts that anyone loads into a store.
const LONGEST: usize = 1 << 20;
/// Brackets, blocks and chained operators that may be open at once.
const DEEPEST: usize = 200;

/// The depth that parsing the text will reach, or why it must not be parsed.
pub(super) fn depth(text: &str) -> Result<usize, (Span, String)> {
    if text.len() > LONGEST {
        return Err((Span::new(0, 0), "the script is longer than 1 MiB".to_owned()));
    }
    let mut levels = Levels { open: vec![0], total: 0, deepest: 0, after_value: false };
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        let start = at;
        if bytes[at] == b'`' {
            // No part of Lua 5.1, and the parser does not survive it.
            let place = Span::new(start as u32, start as u32 + 1);
            return Err((place, "the Lua script cannot be parsed: unexpected character `".to_owned()));
        }
        at = levels.step(bytes, at);
        if levels.total > DEEPEST {
            let place = Span::new(start as u32, start as u32);
            return Err((place, format!("the script nests deeper than {DEEPEST} levels")));
        }
    }
    Ok(levels.deepest)
}

/// The brackets and blocks that are open, each with the number of operators and suffixes chained in it.
struct Levels {
    open: Vec<usize>,
    total: usize,
    deepest: usize,
    /// The last thing was a value, so that a name that follows starts a new statement.
    after_value: bool,
}

impl Levels {
    /// Reads what starts at `at` and returns where the next thing starts.
    fn step(&mut self, bytes: &[u8], at: usize) -> usize {
        let next = bytes.get(at + 1).copied().unwrap_or(0);
        match bytes[at] {
            b'-' if next == b'-' => return after_comment(bytes, at + 2),
            b'"' | b'\'' => return self.value(after_string(bytes, at)),
            b'[' => match after_long_bracket(bytes, at) {
                Some(end) => return self.value(end),
                None => self.enter(),
            },
            b'(' | b'{' => self.enter(),
            b')' | b']' | b'}' => {
                self.leave();
                self.chain();
                self.after_value = true;
            }
            b'=' | b'~' | b'<' | b'>' if next == b'=' => return self.operator(at + 2),
            b',' | b';' | b'=' => self.reset(),
            b'.' if next == b'.' => return self.operator(at + 2),
            b'.' | b':' | b'+' | b'-' | b'*' | b'/' | b'%' | b'^' | b'#' | b'<' | b'>' => {
                return self.operator(at + 1);
            }
            byte if byte.is_ascii_alphanumeric() || byte == b'_' => {
                let end =
                    at + bytes[at..].iter().take_while(|b| b.is_ascii_alphanumeric() || **b == b'_').count();
                self.word(&bytes[at..end]);
                return end;
            }
            _ => {}
        }
        at + 1
    }

    fn word(&mut self, word: &[u8]) {
        match word {
            b"function" | b"if" | b"do" | b"repeat" => self.enter(),
            b"end" | b"until" => self.leave(),
            b"and" | b"or" | b"not" => {
                self.operator(0);
            }
            b"local" | b"return" | b"then" | b"else" | b"elseif" | b"while" | b"for" => self.reset(),
            _ => {
                if self.after_value {
                    self.reset();
                }
                self.after_value = true;
            }
        }
    }

    fn value(&mut self, next: usize) -> usize {
        self.after_value = true;
        next
    }

    fn operator(&mut self, next: usize) -> usize {
        self.chain();
        self.after_value = false;
        next
    }

    fn enter(&mut self) {
        self.open.push(0);
        self.after_value = false;
        self.grow();
    }

    fn leave(&mut self) {
        if self.open.len() > 1
            && let Some(chained) = self.open.pop()
        {
            self.total -= chained + 1;
        }
    }

    fn chain(&mut self) {
        if let Some(chained) = self.open.last_mut() {
            *chained += 1;
        }
        self.grow();
    }

    fn reset(&mut self) {
        self.after_value = false;
        if let Some(chained) = self.open.last_mut() {
            self.total -= *chained;
            *chained = 0;
        }
    }

    fn grow(&mut self) {
        self.total += 1;
        self.deepest = self.deepest.max(self.total);
    }
}

fn after_string(bytes: &[u8], at: usize) -> usize {
    let quote = bytes[at];
    let mut at = at + 1;
    while at < bytes.len() {
        match bytes[at] {
            b'\\' => at += 2,
            b'\n' => return at,
            byte if byte == quote => return at + 1,
            _ => at += 1,
        }
    }
    bytes.len()
}

fn after_comment(bytes: &[u8], at: usize) -> usize {
    if bytes.get(at) == Some(&b'[')
        && let Some(end) = after_long_bracket(bytes, at)
    {
        return end;
    }
    bytes[at..].iter().position(|b| *b == b'\n').map_or(bytes.len(), |n| at + n)
}

/// The end of a long bracket `[==[ … ]==]` that starts at `at`, if one does.
fn after_long_bracket(bytes: &[u8], at: usize) -> Option<usize> {
    let equals = bytes[at + 1..].iter().take_while(|b| **b == b'=').count();
    let body = at + 1 + equals;
    if bytes.get(body) != Some(&b'[') {
        return None;
    }
    let mut close = vec![b']'];
    close.resize(equals + 1, b'=');
    close.push(b']');
    let length = bytes[body..].windows(close.len()).position(|w| w == close);
    Some(length.map_or(bytes.len(), |n| body + n + close.len()))
}

#[cfg(test)]
mod tests {
    use super::depth;

    #[test]
    fn brackets_blocks_and_chains_count() {
        assert_eq!(depth("local x = 1"), Ok(0));
        assert_eq!(depth("if f(a) then g((b)) end"), Ok(3));
        assert_eq!(depth("x = a .. b .. c y = d .. e"), Ok(2));
        assert_eq!(depth("x = '((((' -- ((((\ny = [[ (((( ]]"), Ok(0));
    }

    #[test]
    fn too_deep_is_refused() {
        for text in ["(", "{", "not ", "a..", "- ", "do ", "if x then ", ".b", "[1]", "('x')", ":f{}"] {
            assert!(depth(&text.repeat(300)).is_err(), "{text}");
        }
        for text in ["x = 1 ", "f(a, b) ", "a.b.c 'x' ", "x = a .. b\n", "if a == b then c() end "] {
            assert!(depth(&text.repeat(300)).is_ok(), "{text}");
        }
        assert!(depth(&" ".repeat((1 << 20) + 1)).is_err());
    }

    #[test]
    fn a_backtick_is_refused_where_it_is_code() {
        assert!(depth("x = `a`").is_err());
        assert_eq!(depth("x = '`' -- `\ny = [[`]]"), Ok(0));
    }

    #[test]
    fn unbalanced_texts_end() {
        for text in ["end end )", "'abc", "[==[ abc", "--[[ abc", "\"a\\", "[", "]]", "é(", "[=", "--[="] {
            assert!(depth(text).is_ok(), "{text}");
        }
    }
}

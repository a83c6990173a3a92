//! Makes foreign text fit to be shown: what would steer a terminal or reorder a line is made visible.
//!
//! File names, source lines and messages may hold escape sequences and bidirectional controls, written
//! to hide code from a reader. Each such character becomes one that is seen and takes one column.

use std::borrow::Cow;

/// Stands for what has no picture of its own.
const REPLACEMENT: char = '\u{fffd}';

/// What is shown for a character; `None` when it is shown as it is.
fn shown(c: char) -> Option<char> {
    match c {
        '\t' | '\n' => None,
        '\u{0}'..='\u{1f}' => char::from_u32(0x2400 + c as u32),
        '\u{7f}' => Some('\u{2421}'),
        c if is_control(c) => Some(REPLACEMENT),
        _ => None,
    }
}

/// Controls outside ASCII: the C1 set, line separators, bidirectional controls, invisible characters
/// that join words or tag them.
pub(super) fn is_control(c: char) -> bool {
    matches!(c,
        '\u{80}'..='\u{9f}' | '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}' | '\u{200e}' | '\u{200f}'
        | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}'
        | '\u{e0000}'..='\u{e007f}')
}

/// Text that stands in one line, such as a file name or a message: breaks are made visible as well.
pub fn line(text: &str) -> Cow<'_, str> {
    let broken = |c: char| matches!(c, '\n' | '\t');
    if !text.chars().any(|c| broken(c) || shown(c).is_some()) {
        return Cow::Borrowed(text);
    }
    let pictured = |c: char| match c {
        '\n' => '\u{240a}',
        '\t' => ' ',
        c => shown(c).unwrap_or(c),
    };
    Cow::Owned(text.chars().map(pictured).collect())
}

/// A file's text made fit to be shown, and the way from its offsets to the shown ones.
pub struct Shown {
    text: String,
    /// From here on (in the file), the shown text stands at that offset.
    moves: Vec<(usize, usize)>,
}

impl Shown {
    pub fn new(text: &str) -> Self {
        let mut out = Self { text: String::with_capacity(text.len()), moves: vec![(0, 0)] };
        let mut chars = text.char_indices().peekable();
        while let Some((at, c)) = chars.next() {
            let before_break = c == '\r' && chars.peek().is_some_and(|(_, next)| *next == '\n');
            let first_mark = at == 0 && c == '\u{feff}';
            if before_break || first_mark {
                out.moved(at + c.len_utf8());
            } else if let Some(picture) = shown(c) {
                out.text.push(picture);
                out.moved(at + c.len_utf8());
            } else {
                out.text.push(c);
            }
        }
        out
    }

    fn moved(&mut self, from: usize) {
        self.moves.push((from, self.text.len()));
    }

    pub fn text(&self) -> &str {
        &self.text
    }

    /// Where the byte at `offset` of the file is shown: at the start of its character.
    pub fn offset(&self, offset: usize) -> usize {
        let at = self.moves.partition_point(|(from, _)| *from <= offset).saturating_sub(1);
        let (from, to) = self.moves[at];
        // An offset inside a character that is replaced must not run into what follows it.
        let limit = self.moves.get(at + 1).map_or(self.text.len(), |(_, next)| *next);
        let mut shown = (to + (offset - from)).min(limit);
        while !self.text.is_char_boundary(shown) {
            shown -= 1;
        }
        shown
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_steers_a_terminal_is_made_visible() {
        assert_eq!(line("a\u{1b}[31mred\u{7}"), "a\u{241b}[31mred\u{2407}");
        assert_eq!(line("del\u{7f}\u{9b}x"), "del\u{2421}\u{fffd}x");
        assert_eq!(line("\u{202e}evil\u{2066}\u{200f}"), "\u{fffd}evil\u{fffd}\u{fffd}");
        assert_eq!(line("two\nlines\ttab\r"), "two\u{240a}lines tab\u{240d}");
    }

    #[test]
    fn honest_text_stays() {
        for text in ["lock:{}", "Schloß, 鎖, 🔒", "a‍b", "ключ"] {
            assert!(matches!(line(text), Cow::Borrowed(same) if same == text));
            assert_eq!(Shown::new(text).text(), text);
        }
    }

    #[test]
    fn every_offset_is_shown_at_its_character() {
        let text = "\u{feff}a\u{1b}b\r\n\u{202e}c\té\rd";
        let shown = Shown::new(text);
        assert_eq!(shown.text(), "a\u{241b}b\n\u{fffd}c\té\u{240d}d");
        for (at, c) in text.char_indices() {
            let there = shown.text()[shown.offset(at)..].chars().next();
            match c {
                'a' | 'b' | 'c' | 'd' | 'é' | '\t' | '\n' => assert_eq!(there, Some(c), "{at}"),
                '\u{1b}' => assert_eq!(there, Some('\u{241b}')),
                '\u{202e}' => assert_eq!(there, Some('\u{fffd}')),
                _ => {}
            }
        }
        for at in 0..text.len() + 9 {
            assert!(shown.text().is_char_boundary(shown.offset(at)), "{at}");
        }
        assert_eq!(shown.offset(text.len()), shown.text().len());
    }

    #[test]
    fn nothing_harmful_is_left() {
        let all: String = (0..0x3000).chain(0xe0000..0xe0100).filter_map(char::from_u32).collect();
        let clean =
            |text: &str| !text.chars().any(|c| c != '\t' && c != '\n' && (c.is_control() || is_control(c)));
        assert!(clean(&line(&all)));
        assert!(clean(Shown::new(&all).text()));
    }
}

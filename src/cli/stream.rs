//! Writing to stdout and stderr so that a reader who has gone ends nothing with a crash, and that no
//! file name can steer a terminal.

use std::io::{self, Write};

/// Writes to stdout. A closed pipe is no error: the reader has seen enough.
pub(super) fn print(text: &[u8]) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    match stdout.write_all(text).and_then(|()| stdout.flush()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        result => result,
    }
}

/// One line on stderr, `kind: message`. Nobody is left to hear of a failure to write it.
pub(super) fn tell(kind: &str, message: &str) {
    let _ = writeln!(io::stderr().lock(), "{kind}: {}", harmless(message));
}

/// A line on stderr that belongs to the one before it.
pub(super) fn tell_line(line: &str) {
    let _ = writeln!(io::stderr().lock(), "{}", harmless(line));
}

/// Control characters, and those that turn the direction of writing, in escaped form.
fn harmless(message: &str) -> String {
    let mut line = String::with_capacity(message.len());
    for character in message.chars() {
        match character {
            '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => {
                line.extend(character.escape_unicode());
            }
            character if character.is_control() => line.extend(character.escape_default()),
            character => line.push(character),
        }
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_cannot_steer_the_terminal() {
        assert_eq!(harmless("a\u{1b}[31m\nb\u{202e}é"), "a\\u{1b}[31m\\nb\\u{202e}é");
    }
}

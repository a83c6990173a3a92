//! The lines that a diff without context says were written or taken out.

use super::Lines;

/// Each file that the diff leaves in place, with its changed lines.
pub(super) fn read(diff: &str) -> Vec<(String, Vec<Lines>)> {
    let mut files: Vec<(String, Vec<Lines>)> = Vec::new();
    // Lines of content that are still to come, so that none is taken for a header.
    let mut content = 0u64;
    for line in diff.lines() {
        if content > 0 && line.starts_with(['+', '-']) {
            content -= 1;
        } else if let Some(path) = line.strip_prefix("+++ ") {
            files.extend(path_of(path).map(|path| (path, Vec::new())));
        } else if let Some(hunk) = line.strip_prefix("@@ ") {
            let Some((old, new)) = ranges(hunk) else { continue };
            content = u64::from(old.1) + u64::from(new.1);
            if let Some((_, lines)) = files.last_mut() {
                lines.push(touched(new));
            }
        }
    }
    files
}

/// `b/src/a.rs`, quoted where it has characters of its own; `/dev/null` is a file that is gone.
fn path_of(written: &str) -> Option<String> {
    let written = written.trim_end_matches('\t');
    match written.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')) {
        Some(quoted) => unquoted(quoted).strip_prefix("b/").map(str::to_owned),
        None => written.strip_prefix("b/").map(str::to_owned),
    }
}

/// The escapes of C, as git writes them.
fn unquoted(text: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = text.bytes().peekable();
    while let Some(byte) = rest.next() {
        if byte != b'\\' {
            bytes.push(byte);
            continue;
        }
        match rest.next() {
            Some(b'n') => bytes.push(b'\n'),
            Some(b't') => bytes.push(b'\t'),
            Some(b'r') => bytes.push(b'\r'),
            Some(first @ b'0'..=b'7') => {
                let mut value = u32::from(first - b'0');
                for _ in 0..2 {
                    if let Some(digit) = rest.next_if(|byte| (b'0'..=b'7').contains(byte)) {
                        value = value * 8 + u32::from(digit - b'0');
                    }
                }
                bytes.push(u8::try_from(value & 0xFF).unwrap_or(b'?'));
            }
            other => bytes.extend(other),
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// `-3,2 +4 @@ …`: start and length, before and after.
fn ranges(hunk: &str) -> Option<(Lines, Lines)> {
    let mut parts = hunk.split(' ');
    let old = range(parts.next()?.strip_prefix('-')?)?;
    let new = range(parts.next()?.strip_prefix('+')?)?;
    Some((old, new))
}

fn range(text: &str) -> Option<Lines> {
    match text.split_once(',') {
        Some((start, length)) => Some((start.parse().ok()?, length.parse().ok()?)),
        None => Some((text.parse().ok()?, 1)),
    }
}

/// Where lines were only taken out, their neighbours count: a comparison may be what is gone.
fn touched((start, length): Lines) -> Lines {
    match length {
        0 => (start.max(1), start.saturating_add(1)),
        _ => (start, start.saturating_add(length - 1)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hunks_become_lines() {
        let diff = "diff --git a/a.rs b/a.rs\nindex 1..2 100644\n--- a/a.rs\n+++ b/a.rs\n@@ -1,0 +2,3 @@ fn x\n+a\n\
                    +++ b/not-a-header\n+c\n@@ -9 +12 @@\n-old\n+new\n@@ -20,2 +23,0 @@\n-x\n-y\ndiff --git a/gone b/gone\n\
                    --- a/gone\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n";
        let read = read(diff);
        assert_eq!(read[0].0, "a.rs");
        assert_eq!(read[0].1[..3], [(2, 4), (12, 12), (23, 24)]);
        assert_eq!(read.len(), 1);
    }

    #[test]
    fn names_are_unquoted() {
        assert_eq!(path_of("\"b/a\\tb\\303\\251\\\"\""), Some("a\tbé\"".to_owned()));
        assert_eq!(path_of("b/with space.rs\t"), Some("with space.rs".to_owned()));
        assert_eq!(path_of("/dev/null"), None);
    }
}

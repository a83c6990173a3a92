//! The text of one suppression: `leaselint: allow(rule, group, reason = "…")` or `allow-file(…)`.

/// What one comment asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Directive {
    /// Rules and groups as written; never empty.
    pub(super) rules: Vec<String>,
    pub(super) reason: Option<String>,
    pub(super) whole_file: bool,
}

const FORM: &str = "the form is `leaselint: allow(rule, reason = \"…\")`";

/// Reads the body of a comment; `None` when it does not open with `leaselint:`. Free text behind the closing
/// parenthesis is a reason as well.
pub(super) fn read_directive(body: &str) -> Option<Result<Directive, String>> {
    let rest = body.trim().strip_prefix("leaselint:")?.trim_start();
    let word_length = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '-').unwrap_or(rest.len());
    let (word, rest) = rest.split_at(word_length);
    let whole_file = match word {
        "allow" => false,
        "allow-file" => true,
        other => return Some(Err(format!("`{other}` is neither `allow` nor `allow-file`; {FORM}"))),
    };
    Some(match rest.trim_start().strip_prefix('(') {
        Some(arguments) => read_arguments(arguments, whole_file),
        None => Err(format!("there is no list of rules behind `{word}`; {FORM}")),
    })
}

fn read_arguments(mut rest: &str, whole_file: bool) -> Result<Directive, String> {
    let mut directive = Directive { rules: Vec::new(), reason: None, whole_file };
    loop {
        rest = rest.trim_start();
        if rest.starts_with(')') {
            break;
        }
        let length =
            rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '-' && c != '_').unwrap_or(rest.len());
        let (name, behind) = rest.split_at(length);
        let behind = behind.trim_start();
        rest = match (name, behind.strip_prefix('=')) {
            ("", _) if rest.is_empty() => return Err(format!("the list of rules is not closed; {FORM}")),
            ("", _) => return Err(format!("a rule's name is missing before `{}`; {FORM}", first_word(rest))),
            ("reason", Some(value)) => {
                let (reason, behind) = read_text(value.trim_start())?;
                directive.reason = Some(reason);
                behind.trim_start()
            }
            (name, Some(_)) => return Err(format!("`{name}` is no argument that is known; {FORM}")),
            (name, None) => {
                directive.rules.push(name.to_owned());
                behind
            }
        };
        rest = match rest.strip_prefix(',') {
            Some(behind) => behind,
            None if rest.starts_with(')') => rest,
            None => return Err(format!("the list of rules is not closed; {FORM}")),
        };
    }
    if directive.rules.is_empty() {
        return Err(format!("the list of rules is empty; {FORM}"));
    }
    let behind = rest.trim_start_matches(|c: char| !c.is_alphanumeric());
    if directive.reason.is_none() && !behind.is_empty() {
        directive.reason = Some(behind.trim_end().to_owned());
    }
    Ok(directive)
}

fn first_word(text: &str) -> &str {
    text.split_whitespace().next().unwrap_or("")
}

/// A quoted text at the start, and what stands behind it. `\"` is a quote, `\\` a backslash.
fn read_text(rest: &str) -> Result<(String, &str), String> {
    let content = rest.strip_prefix('"').ok_or_else(|| format!("the reason is not quoted; {FORM}"))?;
    let mut reason = String::new();
    let mut characters = content.char_indices();
    while let Some((at, character)) = characters.next() {
        match character {
            '"' => return Ok((reason, &content[at + 1..])),
            '\\' => reason.extend(characters.next().map(|(_, escaped)| escaped)),
            other => reason.push(other),
        }
    }
    Err(format!("the reason is not closed by a quote; {FORM}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(body: &str) -> Result<Directive, String> {
        read_directive(body).expect("opens like a directive")
    }

    #[test]
    fn rules_groups_and_a_reason_are_read() {
        let directive =
            read(r#" leaselint: allow(get-then-del, fence, reason = "see \"RFC 7\", §2")"#).unwrap();
        assert_eq!(directive.rules, ["get-then-del", "fence"]);
        assert_eq!(directive.reason.as_deref(), Some("see \"RFC 7\", §2"));
        assert!(!directive.whole_file);
        let behind = read("leaselint:allow-file( fence ,) -- and why").unwrap();
        assert!(behind.whole_file);
        assert_eq!(behind.reason.as_deref(), Some("and why"));
        assert_eq!(read("leaselint: allow(fence) --").unwrap().reason, None);
    }

    #[test]
    fn other_comments_are_none_of_our_business() {
        for body in ["", " see leaselint: allow(x)", " leaselint allow(x)", "leaselint"] {
            assert_eq!(read_directive(body), None, "{body}");
        }
    }

    #[test]
    fn what_cannot_be_read_says_why() {
        for (body, part) in [
            ("leaselint:", "neither"),
            ("leaselint: alow(x)", "`alow`"),
            ("leaselint: allow", "no list"),
            ("leaselint: allow()", "empty"),
            ("leaselint: allow(reason = \"x\")", "empty"),
            ("leaselint: allow(x", "not closed"),
            ("leaselint: allow(x,", "not closed"),
            ("leaselint: allow(x y)", "not closed"),
            ("leaselint: allow(§)", "missing"),
            ("leaselint: allow(x, reason = why)", "not quoted"),
            ("leaselint: allow(x, reason = \"why)", "not closed by a quote"),
            ("leaselint: allow(x, reason = \"\\", "not closed by a quote"),
            ("leaselint: allow(x, until = \"2030\")", "`until`"),
        ] {
            let message = read(body).unwrap_err();
            assert!(message.contains(part), "{body}: {message}");
        }
    }
}

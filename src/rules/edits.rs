//! How a rule says what would mend a defect: edits made of words of its own and of text that stands in the
//! source already. A rule names places; what stands there is looked up here, and an edit whose place does
//! not look as expected makes no fix.

pub(super) mod command;
pub(super) mod statement;

use crate::facts::{Location, Span, Texts};
use crate::finding::{Applicability, Edit, Fix};

/// A piece of new text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Part {
    Text(String),
    /// What stands here, as it is written.
    Source(Location),
    /// What stands here, borrowed.
    Borrowed(Location),
    /// An operand of SQL that may stand in a second place of its statement.
    Operand(Location),
}

impl Part {
    pub(super) fn text(text: impl Into<String>) -> Self {
        Self::Text(text.into())
    }
}

#[derive(Debug, Clone)]
enum EditDraft {
    Replace {
        at: Location,
        with: Vec<Part>,
    },
    /// The word at this place, which must be one of these.
    Swap {
        at: Location,
        from: &'static [&'static str],
        to: &'static str,
    },
    RemoveStatement(Location),
}

/// A fix in the making.
#[derive(Debug, Clone)]
pub struct FixDraft {
    title: String,
    applicability: Applicability,
    edits: Vec<EditDraft>,
}

impl FixDraft {
    /// For code that is right for certain.
    pub(super) fn machine(title: impl Into<String>) -> Self {
        Self { title: title.into(), applicability: Applicability::Machine, edits: Vec::new() }
    }

    #[must_use]
    pub(super) fn replace(mut self, at: Location, with: Vec<Part>) -> Self {
        self.edits.push(EditDraft::Replace { at, with });
        self
    }

    #[must_use]
    pub(super) fn swap(mut self, at: Location, from: &'static [&'static str], to: &'static str) -> Self {
        self.edits.push(EditDraft::Swap { at, from, to });
        self
    }

    /// Leaves it to a person to decide.
    #[must_use]
    pub(super) fn suggested(mut self) -> Self {
        self.applicability = Applicability::Suggestion;
        self
    }

    /// Takes a statement away, with its line when nothing else stands there.
    #[must_use]
    pub(super) fn remove_statement(mut self, at: Location) -> Self {
        self.edits.push(EditDraft::RemoveStatement(at));
        self
    }

    /// The fix as it is to be applied; nothing when the text is not what the edits expect.
    pub(super) fn written(&self, texts: &dyn Texts) -> Option<Fix> {
        let edits: Option<Vec<Edit>> = self.edits.iter().map(|edit| edit.written(texts)).collect();
        let mut edits = edits?;
        edits.sort_by_key(|edit| edit.location);
        let apart = edits.windows(2).all(|pair| match pair {
            [a, b] => a.location.file != b.location.file || a.location.span.end <= b.location.span.start,
            _ => true,
        });
        (apart && !edits.is_empty()).then(|| Fix {
            title: self.title.clone(),
            applicability: self.applicability,
            edits,
        })
    }
}

impl EditDraft {
    fn written(&self, texts: &dyn Texts) -> Option<Edit> {
        match self {
            Self::Replace { at, with } => {
                let parts: Option<String> = with.iter().map(|part| part.written(texts)).collect();
                quoted(texts, *at)?;
                Some(Edit { location: *at, replacement: parts? })
            }
            Self::Swap { at, from, to } => {
                let text = quoted(texts, *at)?;
                let inner = text.trim();
                let lead = offset(text.len() - text.trim_start().len())?;
                let start = at.span.start.checked_add(lead)?;
                let span = Span::new(start, start.checked_add(offset(inner.len())?)?);
                let location = Location { span, ..*at };
                from.contains(&inner).then(|| Edit { location, replacement: (*to).to_owned() })
            }
            Self::RemoveStatement(at) => removal(texts, *at),
        }
    }
}

impl Part {
    fn written(&self, texts: &dyn Texts) -> Option<String> {
        match self {
            Self::Text(text) => Some(text.clone()),
            Self::Source(at) => quoted(texts, *at).filter(|text| is_whole(text)),
            Self::Borrowed(at) => {
                let text = quoted(texts, *at).filter(|text| is_whole(text))?;
                let stays = text.starts_with(['&', '"']) || text.ends_with(')');
                Some(if stays { text } else { format!("&{text}") })
            }
            // The second `?` of a statement would be another parameter.
            Self::Operand(at) => {
                let is_one =
                    |text: &String| is_whole(text) && text != "?" && !text.contains(['{', '"', '\\']);
                quoted(texts, *at).filter(is_one)
            }
        }
    }
}

/// What stands at a place.
fn quoted(texts: &dyn Texts, at: Location) -> Option<String> {
    let text = texts.text(at.file)?;
    let quoted = text.get(at.span.start as usize..at.span.end as usize)?;
    (!quoted.is_empty()).then(|| quoted.to_owned())
}

/// Whether a quotation has all the brackets that belong to it. Those in literals count as well: a fix less
/// is no harm.
fn is_whole(text: &str) -> bool {
    let mut open = Vec::new();
    for character in text.chars() {
        match character {
            '(' => open.push(')'),
            '[' => open.push(']'),
            '{' => open.push('}'),
            ')' | ']' | '}' if open.pop() != Some(character) => return false,
            _ => {}
        }
    }
    open.is_empty()
}

/// A statement with its semicolon, and with its line where that holds nothing else.
fn removal(texts: &dyn Texts, at: Location) -> Option<Edit> {
    let text = texts.text(at.file)?;
    let (before, after) = (text.get(..at.span.start as usize)?, text.get(at.span.end as usize..)?);
    let semicolon = usize::from(after.starts_with(';'));
    let mut end = at.span.end as usize + semicolon;
    let mut start = at.span.start as usize;
    let rest = text.get(end..)?;
    let blank_behind = rest.len() - rest.trim_start_matches([' ', '\t']).len();
    let behind = rest.get(blank_behind..)?;
    let line_break = if behind.starts_with("\r\n") { 2 } else { usize::from(behind.starts_with('\n')) };
    let line_start = before.rfind('\n').map_or(0, |at| at + 1);
    let is_alone = before.get(line_start..)?.trim().is_empty() && line_break > 0;
    if is_alone {
        start = line_start;
        end += blank_behind + line_break;
    }
    let span = Span::new(offset(start)?, offset(end)?);
    Some(Edit { location: Location { span, ..at }, replacement: String::new() })
}

fn offset(at: usize) -> Option<u32> {
    u32::try_from(at).ok()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::facts::FileId;

    struct One(&'static str);

    impl Texts for One {
        fn text(&self, _: FileId) -> Option<Arc<str>> {
            Some(self.0.into())
        }
    }

    impl One {
        fn find(&self, needle: &str) -> Location {
            let start = self.0.find(needle).unwrap() as u32;
            Location { file: FileId(0), span: Span::new(start, start + needle.len() as u32) }
        }

        fn applied(&self, fix: &FixDraft) -> Option<String> {
            let mut text = self.0.to_owned();
            for edit in fix.written(self)?.edits.iter().rev() {
                let span = edit.location.span;
                text.replace_range(span.start as usize..span.end as usize, &edit.replacement);
            }
            Some(text)
        }
    }

    #[test]
    fn a_statement_goes_with_its_line_and_leaves_what_stands_beside_it() {
        let own_line = One("a;\n    b;\nc;\n");
        let fix = FixDraft::machine("t").remove_statement(own_line.find("b"));
        assert_eq!(own_line.applied(&fix).unwrap(), "a;\nc;\n");
        let shared = One("{ a; b; }\n");
        let fix = FixDraft::machine("t").remove_statement(shared.find("b"));
        assert_eq!(shared.applied(&fix).unwrap(), "{ a;  }\n");
    }

    #[test]
    fn a_word_that_is_not_there_makes_no_fix() {
        let text = One("token <= $1");
        let gap = Location { file: FileId(0), span: Span::new(5, 9) };
        let swap = |from: &'static [&'static str]| FixDraft::machine("t").swap(gap, from, "<");
        assert_eq!(text.applied(&swap(&["<="])).unwrap(), "token < $1");
        assert!(text.applied(&swap(&[">=", "<>"])).is_none());
    }

    #[test]
    fn half_of_an_expression_and_a_bare_question_mark_are_not_copied() {
        let text = One("a).b ? $1");
        let with = |part| FixDraft::machine("t").replace(text.find("$1"), vec![part]);
        assert!(text.applied(&with(Part::Source(text.find("a).b")))).is_none());
        assert!(text.applied(&with(Part::Operand(text.find("?")))).is_none());
        assert!(text.applied(&with(Part::Operand(text.find("$1")))).is_some());
    }

    #[test]
    fn edits_that_overlap_are_no_fix() {
        let text = One("abc");
        let fix = FixDraft::machine("t")
            .replace(text.find("ab"), vec![Part::text("x")])
            .replace(text.find("bc"), vec![Part::text("y")]);
        assert!(text.applied(&fix).is_none());
    }
}

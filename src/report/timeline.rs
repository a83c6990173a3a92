//! A run as a table for people: one column for each worker, one for the store and one for the database, and the
//! place of each step.

use super::sanitize;
use crate::finding::{Actor, Counterexample};

/// What a column may take before its texts are broken into lines.
const WIDEST: usize = 30;

/// The lines of the table. `place` says where a location is, such as `src/lib.rs:12`.
pub(super) fn lines(
    run: &Counterexample,
    mut place: impl FnMut(crate::facts::Location) -> String,
) -> Vec<String> {
    let columns: Vec<Actor> = Actor::ALL.into_iter().filter(|actor| is_used(run, *actor)).collect();
    let mut rows: Vec<Vec<String>> = Vec::new();
    for step in &run.steps {
        let mut cells: Vec<String> = columns
            .iter()
            .map(|column| {
                let mut texts = Vec::new();
                if step.actor == *column {
                    texts.push(sanitize::line(&step.action).into_owned());
                }
                if let Some((_, text)) = step.effect.as_ref().filter(|(on, _)| on == column) {
                    texts.push(sanitize::line(text).into_owned());
                }
                texts.join(": ")
            })
            .collect();
        // What the sources do not show has no place to be looked up.
        cells.push(if step.is_assumed { String::new() } else { place(step.location) });
        rows.push(cells);
    }
    let names = columns.iter().map(|column| column.name().to_owned()).chain([String::new()]);
    let header: Vec<String> = names.collect();
    let widths: Vec<usize> = (0..header.len())
        .map(|at| {
            let longest = rows.iter().chain([&header]).map(|row| row[at].chars().count()).max().unwrap_or(0);
            if at < columns.len() { longest.min(WIDEST) } else { longest }
        })
        .collect();
    let mut lines = vec![line("", &header, &widths)];
    for (number, row) in (1..).zip(&rows) {
        lines.extend(broken(number, row, &widths));
    }
    lines.push(format!("   so {}", run.harm.sentence()));
    lines
}

fn is_used(run: &Counterexample, actor: Actor) -> bool {
    run.steps
        .iter()
        .any(|step| step.actor == actor || step.effect.as_ref().is_some_and(|(on, _)| *on == actor))
}

/// One row, over as many lines as its longest cell needs.
fn broken(number: usize, row: &[String], widths: &[usize]) -> Vec<String> {
    let cells: Vec<Vec<String>> = row.iter().zip(widths).map(|(cell, width)| wrapped(cell, *width)).collect();
    let height = cells.iter().map(Vec::len).max().unwrap_or(0);
    (0..height)
        .map(|at| {
            let part: Vec<String> =
                cells.iter().map(|cell| cell.get(at).cloned().unwrap_or_default()).collect();
            let mark = if at == 0 { number.to_string() } else { String::new() };
            line(&mark, &part, widths)
        })
        .collect()
}

fn line(mark: &str, cells: &[String], widths: &[usize]) -> String {
    let mut text = format!("{mark:>2}");
    for (cell, width) in cells.iter().zip(widths) {
        let fill = width.saturating_sub(cell.chars().count());
        text += &format!(" {cell}{}", " ".repeat(fill));
        text.push(' ');
    }
    text.trim_end().to_owned()
}

fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(last) if last.chars().count() + 1 + word.chars().count() <= width => {
                last.push(' ');
                last.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts::{FileId, Location, Span};
    use crate::finding::RunStep;
    use crate::harm::Harm;

    fn step(actor: Actor, action: &str, effect: Option<(Actor, &str)>, is_assumed: bool) -> RunStep {
        RunStep {
            actor,
            action: action.to_owned(),
            effect: effect.map(|(on, text)| (on, text.to_owned())),
            location: Location { file: FileId(0), span: Span::default() },
            is_assumed,
        }
    }

    #[test]
    fn columns_are_those_that_are_used() {
        let run = Counterexample {
            harm: Harm::ForeignRelease,
            steps: vec![
                step(Actor::First, "takes the lock", Some((Actor::Store, "held by worker 1")), true),
                step(Actor::First, "asks for the lock: no answer, and that counts as a yes", None, false),
                step(Actor::Store, "the lock's time is over", Some((Actor::Store, "free")), false),
            ],
        };
        let text = lines(&run, |_| "a.rs:1".to_owned()).join("\n");
        insta::assert_snapshot!(text, @r"
           worker 1                        store
         1 takes the lock                  held by worker 1
         2 asks for the lock: no answer,                                  a.rs:1
           and that counts as a yes
         3                                 the lock's time is over: free  a.rs:1
           so the lock of another worker is gone
        ");
    }
}

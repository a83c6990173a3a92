//! A run as a sequence diagram in SVG: a rail for each worker, the store and the database, and time from above.

use std::io::{self, Write};

use crate::facts::Location;
use crate::finding::{Actor, Counterexample};
use crate::report::written::xml;

const COLUMN: usize = 230;
const ROW: usize = 50;
const TOP: usize = 44;
const LEFT: usize = 16;
/// What fits into a column, in characters.
const WIDEST: usize = 32;

pub(super) fn write(
    out: &mut dyn Write,
    run: &Counterexample,
    mut place: impl FnMut(Location) -> String,
) -> io::Result<()> {
    let columns: Vec<Actor> = Actor::ALL
        .into_iter()
        .filter(|actor| {
            let is_on = |on: &Actor| on == actor;
            run.steps
                .iter()
                .any(|step| is_on(&step.actor) || step.effect.as_ref().is_some_and(|(on, _)| is_on(on)))
        })
        .collect();
    let x = |actor: Actor| LEFT + columns.iter().position(|column| *column == actor).unwrap_or(0) * COLUMN;
    let (width, height) = (LEFT + columns.len() * COLUMN, TOP + run.steps.len() * ROW + 34);
    let spoken: Vec<String> = run.steps.iter().map(crate::finding::RunStep::sentence).collect();
    writeln!(
        out,
        "<svg viewBox=\"0 0 {width} {height}\" width=\"{width}\" height=\"{height}\" role=\"img\">\n<title>{}</title>",
        xml(&format!("{}; so {}", spoken.join("; "), run.harm.sentence()))
    )?;
    for column in &columns {
        let at = x(*column);
        writeln!(out, "<text class=\"head\" x=\"{at}\" y=\"16\">{}</text>", column.name())?;
        writeln!(out, "<line class=\"rail\" x1=\"{at}\" y1=\"26\" x2=\"{at}\" y2=\"{}\"/>", height - 30)?;
    }
    for (number, step) in run.steps.iter().enumerate() {
        let y = TOP + number * ROW;
        point(out, step.actor, x(step.actor), y, &step.action)?;
        if !step.is_assumed {
            let at = clipped(&place(step.location), WIDEST + 2);
            let below = if step.action.chars().count() > WIDEST { 33 } else { 20 };
            writeln!(
                out,
                "<text class=\"place\" x=\"{}\" y=\"{}\">{}</text>",
                x(step.actor) + 12,
                y + below,
                xml(&at)
            )?;
        }
        let Some((on, text)) = step.effect.as_ref().filter(|(on, _)| *on != step.actor) else { continue };
        let (from, to) = (x(step.actor) + 6, x(*on).saturating_sub(7));
        writeln!(
            out,
            "<path class=\"arrow\" d=\"M{from} {} L{to} {}\" stroke-dasharray=\"2 4\"/>",
            y + 6,
            y + 6
        )?;
        point(out, *on, x(*on), y, text)?;
    }
    let harm = format!("so {}", run.harm.sentence());
    writeln!(out, "<text class=\"harm\" x=\"{LEFT}\" y=\"{}\">{}</text>\n</svg>", height - 10, xml(&harm))
}

/// A mark on a rail with its text, over two lines where it is long.
fn point(out: &mut dyn Write, actor: Actor, x: usize, y: usize, text: &str) -> io::Result<()> {
    let class = Actor::ALL.iter().position(|known| *known == actor).unwrap_or(0);
    writeln!(out, "<circle class=\"a{class}\" cx=\"{x}\" cy=\"{}\" r=\"5\"/>", y - 4)?;
    for (at, line) in split(text).iter().enumerate() {
        writeln!(out, "<text x=\"{}\" y=\"{}\">{}</text>", x + 12, y + at * 14, xml(line))?;
    }
    Ok(())
}

fn split(text: &str) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        let is_first = lines.len() == 1;
        let Some(last) = lines.last_mut() else { continue };
        let is_full = !last.is_empty() && last.chars().count() + 1 + word.chars().count() > WIDEST;
        if is_full && is_first {
            lines.push(word.to_owned());
        } else {
            if !last.is_empty() {
                last.push(' ');
            }
            last.push_str(word);
        }
    }
    lines
}

/// The end of a path says more than its beginning.
fn clipped(text: &str, most: usize) -> String {
    let count = text.chars().count();
    if count <= most {
        return text.to_owned();
    }
    format!("\u{2026}{}", text.chars().skip(count - most).collect::<String>())
}

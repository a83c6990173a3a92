//! What the terminal at stdout can show.

use std::env;
use std::io::{self, IsTerminal};

use supports_hyperlinks::Stream;

use super::arguments::Color;
use crate::report::human::Look;

/// What a report on stdout may look like.
pub(super) fn look(color: Color) -> Look {
    let is_set = |name| env::var_os(name).is_some_and(|value| !value.is_empty());
    let colours = match color {
        Color::Always => true,
        Color::Never => false,
        Color::Auto => io::stdout().is_terminal() && !is_set("NO_COLOR"),
    };
    // Who wants no colours by the flag wants no escape sequences at all.
    let links = color != Color::Never && supports_hyperlinks::on(Stream::Stdout);
    Look { colours, links }
}

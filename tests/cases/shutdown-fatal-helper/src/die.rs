use std::fmt::Display;

/// Says why and ends the process.
pub fn die(why: impl Display) -> ! {
    eprintln!("dem-import: {why}");
    std::process::exit(1)
}

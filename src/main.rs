//! The command `leaselint`.

use std::process::ExitCode;

fn main() -> ExitCode {
    leaselint::cli::run(std::env::args_os())
}

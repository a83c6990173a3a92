//! The command `cargo leaselint`.

use std::process::ExitCode;

fn main() -> ExitCode {
    leaselint::cli::run_for_cargo(std::env::args_os())
}

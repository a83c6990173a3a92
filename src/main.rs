//! The command `leaselint`.

use std::process::ExitCode;

/// Parsing is many small allocations on several threads.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    leaselint::cli::run(std::env::args_os())
}

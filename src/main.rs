//! The command `leaselint`.

use std::process::ExitCode;

/// Parsing is many small allocations on several threads.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    // The allocator asks for huge pages, and zeroing those for trees that live for milliseconds costs a third
    // of the time. Where the kernel refuses, the run is slower and nothing else.
    #[cfg(target_os = "linux")]
    let _ = nix::sys::prctl::set_thp_disable(true);
    leaselint::cli::run(std::env::args_os())
}

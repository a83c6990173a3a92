#!/bin/sh
# The whole test suite, on a bare machine with a Rust toolchain: format, lints, unit and integration tests,
# documentation, the release build, the score on the labelled cases, the run over published crates (which
# cargo fetches) and the hook in the real pre-commit. `.ci/run` calls this and nothing else.
set -eu
cd "$(dirname "$0")/.."

step() {
    printf '\n== %s\n' "$1"
    shift
    "$@"
}

# build.rs includes the rules by path, so `cargo fmt` does not know of them.
step 'format' cargo fmt --all -- --check
step 'format of rules' rustfmt --edition 2024 --check src/rules/*.rs
step 'clippy' cargo clippy --workspace --all-targets --locked -- -D warnings
step 'tests' cargo test --workspace --locked --no-fail-fast
step 'documentation' env RUSTDOCFLAGS='-D warnings' cargo doc --workspace --no-deps --locked
step 'release build' cargo build --release --locked
step 'labelled cases' cargo test --release --locked --test cases -- --nocapture
step 'published crates' cargo test --release --locked --test corpus -- --include-ignored --nocapture
step 'database servers' cargo test --release --locked --test databases -- --include-ignored
# Needs pre-commit and check-jsonschema on the PATH (pip has both), and fails without them.
step 'hook' cargo test --release --locked --test hook -- --include-ignored
step 'client models' cargo test --release --locked --test client_models -- --include-ignored
printf '\nall passed\n'

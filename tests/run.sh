#!/bin/sh
# The whole test suite, on a bare machine with a Rust toolchain and the servers that the tests start: format,
# lints, unit and integration tests, the score on the labelled cases, the run over published crates (which cargo
# fetches), the hook in the real pre-commit, real editors, leasehold's tests and the documentation. `.ci/run` installs
# what is missing and calls this.
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
step 'format of fuzz targets' cargo fmt --manifest-path fuzz/Cargo.toml -- --check
step 'clippy' cargo clippy --all-targets --locked -- -D warnings
step 'clippy of leasehold' cargo clippy -p leasehold --all-features --all-targets --locked -- -D warnings
for store in memory sqlite redis redis-cluster redlock postgres mysql etcd consul metrics; do
    step "leasehold with $store alone" \
        cargo clippy -p leasehold --no-default-features --features "$store" --lib --locked -- -D warnings
done
# They are built with the dependencies of the linter's own workspace, as far as these are the same.
step 'fuzz targets' env CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-target}" \
    cargo clippy --manifest-path fuzz/Cargo.toml --all-targets --locked -- -D warnings
# The library's own tests check every sum for overflow; what runs the program over many files runs the one that is
# shipped.
step 'unit tests' cargo test --locked --no-fail-fast --lib --bins
step 'tests' cargo test --release --locked --no-fail-fast --test '*'
step 'labelled cases' cargo test --release --locked --test cases -- --nocapture
step 'published crates' cargo test --release --locked --test corpus -- --include-ignored --nocapture
step 'published sources' cargo test --release --locked --test published_sources -- --ignored --nocapture
step 'model and rules' cargo test --release --locked --test proof -- --nocapture
step 'model and servers' cargo test --release --locked --test proof_on_servers -- --ignored --nocapture
step 'database servers' cargo test --release --locked --test databases -- --ignored
# Needs chromium, and fails without it.
step 'page in a browser' cargo test --release --locked --test audit -- --ignored
# Needs pre-commit and check-jsonschema on the PATH (pip has both), and fails without them.
step 'hook' cargo test --release --locked --test hook -- --ignored
# Real editors: Debian's neovim, and rust-analyzer from rustup.
step 'Neovim' cargo test --release --locked --test neovim -- --ignored
step 'rust-analyzer' cargo test --release --locked --test rust_analyzer -- --ignored
step 'client models' cargo test --release --locked --test client_models -- --ignored
step 'fixed code' cargo test --release --locked --test fixes -- --ignored
step 'tests of leasehold, on real servers' cargo test -p leasehold --all-features --locked --no-fail-fast
step 'documentation' env RUSTDOCFLAGS='-D warnings' cargo doc --workspace --all-features --no-deps --locked
printf '\nall passed\n'

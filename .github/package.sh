#!/bin/sh
# Packs one release: package.sh TARGET FOLDER, where the binaries of the target are in FOLDER. It writes
# leaselint-v<version>-<target>.tar.gz, as `[package.metadata.binstall]` in Cargo.toml names it, and its checksum.
set -eu

target=$1
built=$2
root=$(cd "$(dirname "$0")/.." && pwd)
version=$(sed -n 's/^version = "\(.*\)"$/\1/p' "$root/Cargo.toml" | head -n 1)
name="leaselint-v$version-$target"
suffix=''
case $target in *windows*) suffix='.exe' ;; esac

rm -rf "$name"
mkdir -p "$name/man" "$name/completions"
cp "$built/leaselint$suffix" "$built/cargo-leaselint$suffix" "$name/"
cp "$root/README.md" "$root/LICENSE-MIT" "$root/LICENSE-APACHE" "$name/"
"$built/leaselint$suffix" man --all "$name/man"
for shell in bash zsh fish powershell; do
    "$built/leaselint$suffix" completions "$shell" > "$name/completions/leaselint.$shell"
done
tar -czf "$name.tar.gz" "$name"
rm -r "$name"
if command -v sha256sum >/dev/null 2>&1; then
    sha256sum "$name.tar.gz" > "$name.tar.gz.sha256"
else
    shasum -a 256 "$name.tar.gz" > "$name.tar.gz.sha256"
fi

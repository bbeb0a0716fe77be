#!/bin/sh
# Checks the crates as a registry would get them: `cargo publish --dry-run` packs and compiles all of them; then the tests
# run in the packages, as a workspace of their own.
set -eu
cd "$(dirname "$0")/.."
target=${CARGO_TARGET_DIR:-$PWD/target}
rm -rf "$target/package"
cargo publish --dry-run --quiet --locked --allow-dirty --workspace --target-dir "$target"

packages=$(mktemp -d)
trap 'rm -rf "$packages"' EXIT
find "$target/package/tmp-crate" -name '*.crate' -exec tar xzf {} -C "$packages" \;
rm -f "$packages"/*/Cargo.lock
cp Cargo.lock "$packages"
{
  printf '[workspace]\nmembers = ["*"]\nresolver = "3"\n\n[patch.crates-io]\n'
  for folder in "$packages"/*/; do
    name=$(basename "$folder")
    echo "${name%-*} = { path = \"$name\" }"
  done
} >"$packages/Cargo.toml"
cargo test --quiet --manifest-path "$packages/Cargo.toml" --workspace --all-features --target-dir "$target"

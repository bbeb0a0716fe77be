#!/bin/sh
# The dry run of a release: packs the npm packages, packs and compiles the crates, and runs the tests in the packed crates, as
# a workspace of their own.
set -eu
cd "$(dirname "$0")/.."
target=${CARGO_TARGET_DIR:-$PWD/target}
rm -rf "$target/package"
scripts/publish.sh npm --dry-run
scripts/publish.sh crates --dry-run --allow-dirty --target-dir "$target"

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

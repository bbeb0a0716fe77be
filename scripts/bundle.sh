#!/bin/sh
# Builds the deployable bundle of a Worker crate: worker.js and index_bg.wasm.
#   scripts/bundle.sh [crate folder] [output folder]
# TOOLS is the folder of worker-build and wasm-bindgen (default: .tools/bin), MODULES the node_modules
# folder of esbuild and binaryen (default: node_modules).
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
crate=$(cd "${1:-$root}" && pwd)
mkdir -p "${2:-$root/build}"
out=$(cd "${2:-$root/build}" && pwd)
tools=${TOOLS:-$root/.tools/bin}
modules=${MODULES:-$root/node_modules}
stage="$out/.stage"

# worker-build downloads any tool without a path here. wasm-opt and esbuild come from npm, wasm-bindgen
# from crates.io at the version in Cargo.lock.
export WASM_BINDGEN_BIN="${WASM_BINDGEN_BIN:-$tools/wasm-bindgen}"
export WASM_OPT_BIN="${WASM_OPT_BIN:-$modules/.bin/wasm-opt}"
export ESBUILD_BIN="${ESBUILD_BIN:-$modules/.bin/esbuild}"

cd "$crate"
"${WORKER_BUILD_BIN:-$tools/worker-build}" --release --out-dir "$stage"

"$ESBUILD_BIN" "$root/crates/toolbooth-worker/js/entry.js" \
  --bundle --minify --format=esm --log-level=warning \
  --alias:wasm="$stage/index.js" --external:'cloudflare:*' --external:./index_bg.wasm \
  --outfile="$out/worker.js"
# worker-build runs wasm-opt before wasm-bindgen removes code, so a second pass saves another tenth.
# Sorting functions by name (the names are stripped afterwards) puts similar ones next to each other,
# which saves 2 KB after gzip.
"$WASM_OPT_BIN" -O3 --reorder-functions-by-name --strip-debug --strip-producers --strip-target-features "$stage/index_bg.wasm" -o "$out/index_bg.wasm"
rm -rf "$stage"
# The pages, as static assets.
[ "$crate" != "$root" ] || "$modules/.bin/node" "$root/site/build/index.js" "$out/site"

#!/bin/sh
# Builds the deployable bundle of a Worker crate: worker.js and index_bg.wasm.
#   scripts/bundle.sh [crate folder] [output folder]
# TOOLS is the folder with worker-build and wasm-bindgen (default .tools/bin); MODULES the
# node_modules with esbuild and binaryen.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
crate=$(cd "${1:-$root}" && pwd)
mkdir -p "${2:-$root/build}"
out=$(cd "${2:-$root/build}" && pwd)
tools=${TOOLS:-$root/.tools/bin}
modules=${MODULES:-$root/node_modules}
stage="$out/.stage"

# worker-build downloads what is not named here. wasm-opt and esbuild come from npm,
# wasm-bindgen from crates.io at the version in Cargo.lock.
export WASM_BINDGEN_BIN="${WASM_BINDGEN_BIN:-$tools/wasm-bindgen}"
export WASM_OPT_BIN="${WASM_OPT_BIN:-$modules/.bin/wasm-opt}"
export ESBUILD_BIN="${ESBUILD_BIN:-$modules/.bin/esbuild}"

cd "$crate"
"${WORKER_BUILD_BIN:-$tools/worker-build}" --release --out-dir "$stage"

"$ESBUILD_BIN" "$root/crates/toolbooth-worker/js/entry.js" \
  --bundle --minify --format=esm --log-level=warning \
  --alias:wasm="$stage/index.js" --external:'cloudflare:*' --external:./index_bg.wasm \
  --outfile="$out/worker.js"
# worker-build optimizes before it knows what wasm-bindgen leaves; a second pass makes it a tenth smaller.
# With functions in the order of their names, which then go, those that are alike stand together: gzip
# makes 2 KB less of them.
"$WASM_OPT_BIN" -O3 --reorder-functions-by-name --strip-debug --strip-producers --strip-target-features "$stage/index_bg.wasm" -o "$out/index_bg.wasm"
rm -rf "$stage"

#!/bin/sh
# wasm-opt, but the names of functions stay.
exec "$(dirname "$0")/../../node_modules/.bin/wasm-opt" "$@" -g

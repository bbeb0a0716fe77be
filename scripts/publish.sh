#!/bin/sh
# Publishes the crates, each after those that it depends on, or the npm packages: publish.sh crates|npm [--dry-run]
set -eu
cd "$(dirname "$0")/.."
what=$1
shift
case $what in
  crates) cargo publish --quiet --locked --workspace "$@" ;;
  npm)
    for package in toolbooth create-toolbooth; do
      (cd "packages/$package" && npm publish --access public "$@")
    done
    ;;
  *)
    echo "publish.sh crates|npm [--dry-run]" >&2
    exit 2
    ;;
esac

#!/bin/sh
# Publishes the crates, each after those that it depends on, or the npm packages: publish.sh crates|npm [--dry-run]
# Skips those whose version the registry has, so that a release that failed halfway can be run again. A dry run skips none.
set -eu
cd "$(dirname "$0")/.."
what=$1
shift
case " $* " in
  *" --dry-run "*) dry_run=1 ;;
  *) dry_run= ;;
esac

# Whether the registry has this version of a crate or an npm package. In a workspace, `cargo info` would describe its own crate.
has_crate() { [ -z "$dry_run" ] && (cd / && cargo info --quiet "$1" >/dev/null 2>&1) && echo "$1 is already published"; }
has_package() { [ -z "$dry_run" ] && [ -n "$(npm view "$1" version 2>/dev/null)" ] && echo "$1 is already published"; }

case $what in
  crates)
    names='packages.filter(({ publish }) => publish?.length !== 0).map(({ name, version }) => `${name}@${version}`).sort().join("\n")'
    missing=
    for crate in $(cargo metadata --locked --no-deps --format-version 1 | node -p "JSON.parse(fs.readFileSync(0)).$names"); do
      has_crate "$crate" || missing="$missing --package ${crate%@*}"
    done
    # The names are separate arguments.
    # shellcheck disable=SC2086
    [ -z "$missing" ] || cargo publish --quiet --locked $missing "$@"
    ;;
  npm)
    for package in toolbooth create-toolbooth; do
      (
        cd "packages/$package"
        has_package "$package@$(node -p 'require("./package.json").version')" || npm publish --access public "$@"
      )
    done
    ;;
  *)
    echo "publish.sh crates|npm [--dry-run]" >&2
    exit 2
    ;;
esac

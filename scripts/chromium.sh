#!/bin/sh
# Prints the path of the Chromium to test with: $CHROMIUM, or the first one found on the PATH. If there
# is none, installs Debian's package.
set -u
find_chromium() {
  if [ -n "${CHROMIUM:-}" ]; then
    command -v "$CHROMIUM"
    return
  fi
  for name in chromium chromium-browser google-chrome google-chrome-stable \
    '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome'; do
    command -v "$name" && return
  done
  return 1
}
install_chromium() {
  [ -z "${CHROMIUM:-}" ] && "$(dirname "$0")/debian.sh" chromium
}
find_chromium || { install_chromium && find_chromium; } || {
  echo "The tests need Chromium: install it (on Debian: apt-get install chromium) or set CHROMIUM to its path." >&2
  exit 1
}

#!/bin/sh
# Prints the path of the Chromium to test with: $CHROMIUM, or the first one found on the PATH. If there
# is none, installs Debian's package, provided that this user is root or may use sudo without a password.
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
  [ -z "${CHROMIUM:-}" ] && command -v apt-get >/dev/null || return 1
  root=
  if [ "$(id -u)" -ne 0 ]; then
    root='sudo -n'
    $root true 2>/dev/null || return 1
  fi
  echo "Installing Debian's chromium" >&2
  install="$root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends chromium"
  # The package lists may be missing or outdated.
  $install >/dev/null 2>&1 || { $root apt-get update -qq >&2 && $install >/dev/null; }
}
find_chromium || { install_chromium && find_chromium; } || {
  echo "The tests need Chromium: install it (on Debian: apt-get install chromium) or set CHROMIUM to its path." >&2
  exit 1
}

#!/bin/sh
# Installs a package of Debian, provided that this user is root or may use sudo without a password.
set -u
command -v apt-get >/dev/null || exit 1
root=
if [ "$(id -u)" -ne 0 ]; then
  root='sudo -n'
  $root true 2>/dev/null || exit 1
fi
echo "Installing Debian's $1" >&2
# Parts of `make test` run at once, and apt-get does not wait for another one.
exec 9>"${TMPDIR:-/tmp}/apt-get.lock"
flock 9
install="$root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $1"
# The package lists may be missing or outdated.
$install >/dev/null 2>&1 || { $root apt-get update -qq >&2 && $install >/dev/null; }

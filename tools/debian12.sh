#!/bin/sh
# SPDX-License-Identifier: MIT
# debian12.sh [FOLDER] - what a new user does, in a minimal Debian 12 of its own; as root
#
# In    a clean checkout: what is committed is tried
# Out   times and sizes of make demo, make check (with what it skips and why), make install and of a program
#       built by pkg-config, as root and as a user; the same in a path with spaces, by clang, and without optional libraries
# Why   a machine that one works on has what is missing elsewhere
# shellcheck disable=SC2016 # the shell inside expands them
set -eu
cd "$(dirname "$0")/.."
. tools/debian_root.sh
enter_debian "${1:-$(mktemp -d)}/debian12"

# try NAME USER COMMAND: its time, what it added to the system, its last line
try() {
	before=$(du -sm --exclude=proc --exclude=sys --exclude=dev "$root" | cut -f1)
	begun=$(date +%s)
	inside "$2" "$3"
	after=$(du -sm --exclude=proc --exclude=sys --exclude=dev "$root" | cut -f1)
	echo "$1 ($2): status $status, $(($(date +%s) - begun)) s, $((after - before)) MB: $(tail -n 1 "$root/tmp/log")"
	sed -n '/^skipped: /s/^/    /p' "$root/tmp/log"
	[ $status -eq 0 ] || { failed=1; tail -n 40 "$root/tmp/log"; }
}
failed=

chroot "$root" sh -c 'id user >/dev/null 2>&1 || useradd -m user'
cat >"$root/tmp/user.c" <<-END
	#include <stdio.h>
	#include <unskew.h>
	int main(void) { return !puts(usk_version()); }
END

checkout unskew root
try 'make demo' root 'cd /unskew && make demo'
try 'make check' root 'cd /unskew && make check'
try 'make install' root 'cd /unskew && make install && unskew --version'
try 'pkg-config' root 'cd /tmp && cc user.c $(pkg-config --cflags --libs unskew) -o program && ./program'
try 'pkg-config' user 'cd /tmp && cc user.c $(pkg-config --cflags --libs unskew) -o program.user && ./program.user'
try 'make uninstall' root 'cd /unskew && make uninstall && ! command -v unskew'
checkout 'home/user/with spaces' user
try 'make check, spaces' user 'cd "/home/user/with spaces" && make check'
try 'make install' user 'cd "/home/user/with spaces" && make install PREFIX=$HOME/.local && ~/.local/bin/unskew --version'
checkout optional root
try 'make check, no optional libraries' root 'cd /optional && make check MESON_FLAGS="-Dauto_features=disabled"'
chroot "$root" apt-get install -q -y --no-install-recommends clang >/dev/null 2>&1
checkout clang root
try 'make check, clang' root 'cd /clang && make check CC=clang'
[ ! "$failed" ]

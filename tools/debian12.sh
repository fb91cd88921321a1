#!/bin/sh
# SPDX-License-Identifier: MIT
# debian12.sh [FOLDER [PART...]] - what a new user does, in a minimal Debian 12 of its own; as root
#
# In    a clean checkout: what is committed is tried; parts (root user optional clang), else all of them
# Out   times and sizes of make demo, make check (with what it skips and why), make install and of a program
#       built by pkg-config, as root and as a user; the same in a path with spaces, by clang, and without optional libraries;
#       for how long at most nothing was printed, and after what; FOLDER/log.* has all that was printed, with the seconds
#       After the first make check the others try an eighth of the random cases, each another one
#       TEST_FLAGS='-t 5' where other work makes tests take longer than they may (tools/check.sh)
# Why   a machine that one works on has what is missing elsewhere
# shellcheck disable=SC2016 # the shell inside expands them
set -eu
cd "$(dirname "$0")/.."
. tools/debian_root.sh
folder=${1:-$(mktemp -d)}
[ $# -eq 0 ] || shift
[ $# -gt 0 ] || set -- root user optional clang
enter_debian "$folder/debian12"

megabytes() {
	du -smx "$root" | cut -f1
}

# stamped: each line as it comes, behind the seconds since the beginning
stamped() {
	while IFS= read -r line; do
		printf '%d %s\n' $(($(date +%s) - begun)) "$line"
	done
	printf '%d status %d\n' $(($(date +%s) - begun)) "$(cat "$folder/status")"
}

# silence: the longest time between two lines, and the first of them
silence() {
	awk '$1 - last > most { most = $1 - last; after = before } { last = $1; sub(/^[0-9]* /, ""); before = $0 }
		END { printf "silent for %d s after: %s\n", most, after }' "$1"
}

# told: how many tests passed, else the last line
told() {
	sed 's/^[0-9]* //; $d' "$1" | awk '/^[0-9]+ passed, /{ counts = $0 } { last = $0 } END { print counts ? counts : last }'
}

# try NAME USER COMMAND: its time, what it added to the system, its last line
try() {
	log="$folder/log.$(echo "$1 $2" | tr -c 'a-z0-9\n' -)"
	before=$(megabytes)
	begun=$(date +%s)
	{ as_user "$2" "$3" && echo 0 >"$folder/status" || echo $? >"$folder/status"; } | stamped >"$log"
	status=$(cat "$folder/status")
	echo "$1 ($2): status $status, $(($(date +%s) - begun)) s, $(($(megabytes) - before)) MB: $(told "$log")"
	sed -n 's/^[0-9]* \(skipped: \)/    \1/p' "$log"
	echo "    $(silence "$log")"
	[ "$status" -eq 0 ] || { failed=1; tail -n 40 "$log"; }
}
failed=

chroot "$root" sh -c 'id user >/dev/null 2>&1 || useradd -m user'
cat >"$root/tmp/user.c" <<-END
	#include <stdio.h>
	#include <unskew.h>
	int main(void) { return !puts(usk_version()); }
END

part_root() {
	checkout home/user/first user
	try 'make demo, refused' user 'cd first && ! make demo'
	checkout unskew root
	try 'make demo' root 'cd /unskew && make demo'
	try 'make check' root 'cd /unskew && make check'
	try 'make install' root 'cd /unskew && make install && unskew --version'
	try 'pkg-config' root 'cd /tmp && cc user.c $(pkg-config --cflags --libs unskew) -o program && ./program'
	try 'pkg-config' user 'cd /tmp && cc user.c $(pkg-config --cflags --libs unskew) -o program.user && ./program.user'
	try 'make uninstall' root 'cd /unskew && make uninstall && ! command -v unskew && [ ! "$(find /usr/local -name "*unskew*")" ]'
}

part_user() {
	checkout 'home/user/with spaces' user
	try 'make check, spaces' user 'cd "/home/user/with spaces" && USK_CASES=/8+1 make check'
	try 'make install' user 'cd "/home/user/with spaces" && make install PREFIX=$HOME/.local && ~/.local/bin/unskew --version'
}

part_optional() {
	checkout optional root
	try 'make check, no optional libraries' root 'cd /optional && USK_CASES=/8+2 make check MESON_FLAGS="-Dauto_features=disabled"'
}

part_clang() {
	checkout clang root
	try 'make check, clang' root 'cd /clang && USK_CASES=/8+3 make check CC=clang'
}

for part; do
	"part_$part"
done
[ ! "$failed" ]

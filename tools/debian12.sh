#!/bin/sh
# SPDX-License-Identifier: MIT
# debian12.sh [FOLDER] - what a new user does, in a minimal Debian 12 of its own; as root
#
# In    a clean checkout: what is committed is tried
# Out   times and sizes of make demo, make check, make install and of a program built by pkg-config, as
#       root and as a user; the same in a path with spaces, by clang, and without optional libraries
# Why   a machine that one works on has what is missing elsewhere
set -eu
cd "$(dirname "$0")/.."
root=${1:-$(mktemp -d)}/debian12
mirror=${MIRROR:-http://deb.debian.org/debian}

[ "$(id -u)" -eq 0 ] || { echo "debian12.sh: only root may make a system of its own" >&2; exit 1; }
command -v debootstrap >/dev/null || { echo "debian12.sh: install debootstrap" >&2; exit 1; }

leave() {
	umount -l "$root/proc" "$root/sys" "$root/dev" 2>/dev/null || true
}
trap leave EXIT
if [ ! -d "$root/etc" ]; then
	debootstrap --variant=minbase --include=ca-certificates,git,make bookworm "$root" "$mirror" >/dev/null
fi
mount -t proc proc "$root/proc"
mount --rbind /sys "$root/sys"
mount --rbind /dev "$root/dev"
mount --make-rslave "$root/sys"
mount --make-rslave "$root/dev"
cp /etc/resolv.conf "$root/etc/"
printf '127.0.0.1\tlocalhost\n::1\tlocalhost\n' >"$root/etc/hosts" # as every installed system has
# Whoever is behind a proxy that signs for others has its certificate here.
cp /etc/ssl/certs/ca-certificates.crt "$root/etc/ssl/certs/"
export NODE_EXTRA_CA_CERTS=/etc/ssl/certs/ca-certificates.crt

# try NAME USER COMMAND: its time, what it added to the system, its last line
try() {
	before=$(du -sm --exclude=proc --exclude=sys --exclude=dev "$root" | cut -f1)
	begun=$(date +%s)
	status=0
	# shellcheck disable=SC2016
	chroot "$root" su -m "$2" -s /bin/sh -c "$3" >"$root/tmp/log" 2>&1 || status=$?
	after=$(du -sm --exclude=proc --exclude=sys --exclude=dev "$root" | cut -f1)
	echo "$1 ($2): status $status, $(($(date +%s) - begun)) s, $((after - before)) MB: $(tail -n 1 "$root/tmp/log")"
	[ $status -eq 0 ] || { failed=1; tail -n 40 "$root/tmp/log"; }
}
failed=

fresh() {
	rm -rf "$root/$1"
	git clone -q . "$root/$1"
	chroot "$root" chown -R "$2" "/$1"
}

chroot "$root" sh -c 'id user >/dev/null 2>&1 || useradd -m user'
cat >"$root/tmp/user.c" <<-END
	#include <stdio.h>
	#include <unskew.h>
	int main(void) { return !puts(usk_version()); }
END

fresh unskew root
try 'make demo' root 'cd /unskew && make demo'
try 'make check' root 'cd /unskew && make check'
try 'make install' root 'cd /unskew && make install && unskew --version'
try 'pkg-config' root 'cd /tmp && cc user.c $(pkg-config --cflags --libs unskew) -o program && ./program'
try 'pkg-config' user 'cd /tmp && cc user.c $(pkg-config --cflags --libs unskew) -o program.user && ./program.user'
try 'make uninstall' root 'cd /unskew && make uninstall && ! command -v unskew'
fresh 'home/user/with spaces' user
try 'make check, spaces' user 'cd "/home/user/with spaces" && make check'
try 'make install' user 'cd "/home/user/with spaces" && make install PREFIX=$HOME/.local && ~/.local/bin/unskew --version'
fresh optional root
try 'make check, no optional libraries' root 'cd /optional && make check MESON_FLAGS="-Dauto_features=disabled"'
chroot "$root" apt-get install -q -y --no-install-recommends clang >/dev/null 2>&1
fresh clang root
try 'make check, clang' root 'cd /clang && make check CC=clang'
[ ! "$failed" ]

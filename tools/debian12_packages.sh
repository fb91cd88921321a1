#!/bin/sh
# SPDX-License-Identifier: MIT
# debian12_packages.sh [FOLDER] - what `make deb` and `make wheel` left in dist, installed in a minimal Debian 12; as root
#
# In    dist/*.deb; dist/unskew-*.whl, if there is one
# Out   a line each: the README's first example by the packages, a program in C by pkg-config, Python by the
#       package and by the wheel in an environment of its own; status 1 if one does not work
# Why   packages that lack a dependency work where they were made
# shellcheck disable=SC2016 # the shell inside expands them
set -eu
cd "$(dirname "$0")/.."
. tools/debian_root.sh
enter_debian "${1:-$(mktemp -d)}/packages"
failed=

try() {
	status=0
	chroot "$root" su -l -w NODE_EXTRA_CA_CERTS "$2" -c "$3" >"$root/tmp/log" 2>&1 || status=$?
	echo "$1 ($2): status $status: $(tail -n 1 "$root/tmp/log")"
	[ $status -eq 0 ] || { failed=1; tail -n 20 "$root/tmp/log"; }
}

mkdir -p "$root/packages"
rm -f "$root"/packages/*
cp dist/*.deb "$root/packages"
cp dist/unskew-*.whl "$root/packages" 2>/dev/null || true
rm -f "$root"/packages/*-dbgsym_*
cat >"$root/packages/user.c" <<-'END'
	#include <inttypes.h>
	#include <stdio.h>
	#include <unskew.h>

	int main(int argc, char **argv)
	{
		struct usk_err err = { 0 };
		struct usk_clocks *clocks = NULL;
		struct usk_stamp at;
		if (argc < 2 || usk_clocks_read(argv[1], &clocks, &err)) {
			fprintf(stderr, "%s\n", err.msg);
			return 1;
		}
		struct usk_map *map = usk_map_new(&clocks->clock[1], clocks->max_skew_e12);
		enum usk_status status = usk_map_at(map, clocks->clock[1].knot[0].local_ns, &at, &err);
		printf("%" PRId64 " %" PRId64 " %" PRId64 "\n", at.lo_ns, at.reference_ns, at.hi_ns);
		usk_map_free(map);
		usk_clocks_free(clocks);
		return status != USK_OK;
	}
END
cat >"$root/packages/user.py" <<-'END'
	import sys

	import unskew

	clocks = unskew.sync(sys.argv[1:])
	host1 = clocks["host1"]
	c = host1.convert(1700000030957629800, bounds=True)
	assert c.lo <= c.reference <= c.hi
	print(host1.quality, c.reference)
END
chroot "$root" sh -c 'id user >/dev/null 2>&1 || useradd -m user'
chroot "$root" apt-get update -q >/dev/null 2>&1
try 'apt install' root 'DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends /packages/*.deb gcc libc6-dev pkg-config python3-venv'
try 'first example' user 'unskew simulate -q -f -o demo && unskew sync demo/host0.pcap demo/host1.pcap -o clocks.json --force'
try 'verifier' user 'unskew sync -q demo/host0.pcap demo/host1.pcap --proof proof -o proved.json --force && unskew-verify proof proved.json demo/host0.pcap demo/host1.pcap'
try 'C' user 'cc -Wall /packages/user.c $(pkg-config --cflags --libs unskew) -o program && ./program clocks.json'
try 'Python' user 'python3 /packages/user.py demo/host0.pcap demo/host1.pcap'
try 'babeltrace2' user 'babeltrace2 list-plugins | grep -A3 unskew'
if ls "$root"/packages/*.whl >/dev/null 2>&1; then
	try 'wheel' user 'python3 -m venv own && own/bin/pip install -q /packages/*.whl && own/bin/python /packages/user.py demo/host0.pcap demo/host1.pcap'
fi
[ ! "$failed" ]

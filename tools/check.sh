#!/bin/sh
# SPDX-License-Identifier: MIT
# check.sh BUILD [MESON OPTIONS] - build everything, run all tests, end with a line of counts
set -eu
build=$1
shift

if [ ! -f "$build/build.ninja" ]; then
	meson setup "$build" -Dtests=enabled "$@" >/dev/null
elif [ ! -f "$build/.tests" ]; then
	# Set up before the test packages were there.
	meson setup --reconfigure "$build" -Dtests=enabled "$@" >/dev/null
fi
: >"$build/.tests"
ninja -C "$build"

log=$build/meson-logs/testlog.json
rm -f "$log"
status=0
meson test -C "$build" --no-rebuild --print-errorlogs || status=$?
tools/summary.sh "$log" || status=1
exit $status

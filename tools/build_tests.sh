#!/bin/sh
# SPDX-License-Identifier: MIT
# build_tests.sh BUILD [MESON OPTIONS] - build everything, the tests too
#
# BUILD_ONLY=needed: nothing is built yet; `meson test` builds what the tests need that are asked for.
set -eu
build=$1
shift

if [ ! -f "$build/build.ninja" ]; then
	meson setup "$build" -Dtests=enabled "$@"
elif [ ! -f "$build/.tests" ]; then
	# Set up before the test packages were there.
	meson setup --reconfigure "$build" -Dtests=enabled "$@"
fi
: >"$build/.tests"
[ "${BUILD_ONLY:-}" = needed ] || ninja -C "$build"

#!/bin/sh
# SPDX-License-Identifier: MIT
# check.sh BUILD [MESON OPTIONS] - build everything, run all tests, end with a line of counts
#
# TEST_FLAGS: which tests, as `meson test` has it; TEST_LOG: what the log of them is called;
# BUILD_ONLY=needed: build what these need.
set -eu
build=$1
tools/build_tests.sh "$@"

name=${TEST_LOG:-testlog}
log=$build/meson-logs/$name.json
rm -f "$log"
status=0
[ "${BUILD_ONLY:-}" = needed ] || built=--no-rebuild
# shellcheck disable=SC2086 # options are words
meson test -C "$build" ${built:-} --print-errorlogs --logbase "$name" ${TEST_FLAGS:-} || status=$?
tools/summary.sh "$log" || status=1
exit $status

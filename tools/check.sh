#!/bin/sh
# SPDX-License-Identifier: MIT
# check.sh BUILD [MESON OPTIONS] - build everything, run all tests, end with a line of counts
set -eu
build=$1
tools/build_tests.sh "$@"

log=$build/meson-logs/testlog.json
rm -f "$log"
status=0
meson test -C "$build" --no-rebuild --print-errorlogs || status=$?
tools/summary.sh "$log" || status=1
exit $status

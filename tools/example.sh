#!/bin/sh
# SPDX-License-Identifier: MIT
# example.sh BUILD RECORDED - make doc/example.md anew: what its commands print, and its pictures
set -eu
build=$1
RECORDED=$(cd "$2" && pwd)
export RECORDED
made=$(mktemp)
trap 'rm -f "$made"' EXIT
tests/golden/run.sh print "$build/unskew" doc/example.md >"$made"
cat "$made" >doc/example.md
node tests/page/pictures.mjs "$build/unskew" "$build/tests/page/modules" "$RECORDED" doc/example

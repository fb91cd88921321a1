#!/bin/sh
# SPDX-License-Identifier: MIT
# make.sh SOURCE FOLDER OUT.html auto|enabled - fetch uPlot and esbuild into FOLDER, bundle the page
#
# Where npm cannot fetch them, `auto` leaves OUT.html empty, and `unskew report` says that the page
# was not built in: everything else works without it.
set -eu
if ! "$1/fetch.sh" "$1" "$2"; then
	[ "$4" = auto ] || exit 1
	echo "unskew: npm could not fetch uPlot and esbuild, so the page of unskew report is not built in" >&2
	: >"$3"
	exit 0
fi
node "$1/build.mjs" "$3" "$2"

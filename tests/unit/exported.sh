#!/bin/sh
# SPDX-License-Identifier: MIT
# exported.sh LIBRARY HEADER... - the library exports what its headers declare, and nothing else
set -eu
library=$1
shift
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cat "$@" | tr '\n' ' ' | sed 's:/\*[^*]*\*\+\([^/*][^*]*\*\+\)*/::g' | grep -o 'usk_[a-z0-9_]* *(' |
	tr -d ' (' | sort -u >"$work/declared"
nm -D --defined-only "$library" | sed 's/.* //' | sort -u >"$work/exported"
diff "$work/declared" "$work/exported"

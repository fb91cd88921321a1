#!/bin/sh
# SPDX-License-Identifier: MIT
# found.sh BUILD - accept what targets find in their corpora now: found.txt; a new target gets a row "NAME 0" first
set -eu
here=$(dirname "$0")
while read -r name was; do
	now=$("$1/tests/fuzz/replay_$name" "$here/corpus/$name" 2>/dev/null | sed -n 's/.*found in them: //p')
	[ "$was" = "$now" ] || echo "$name: $was, now $now" >&2
	echo "$name $now"
done <"$here/found.txt" >"$here/found.new"
mv "$here/found.new" "$here/found.txt"

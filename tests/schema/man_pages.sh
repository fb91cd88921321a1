#!/bin/sh
# SPDX-License-Identifier: MIT
# man_pages.sh UNSKEW FOLDER - has every command a manual page?
missing=0 n=0
for command in $("$1" --completion bash | sed -n 's/.*--version \(.*\)"/\1/p'); do
	n=$((n + 1))
	[ -s "$2/unskew-$command.1" ] || { echo "$command has none"; missing=1; }
done
echo "$n commands"
[ "$n" -gt 10 ] && exit $missing

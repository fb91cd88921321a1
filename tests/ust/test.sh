#!/bin/sh
# SPDX-License-Identifier: MIT
# test.sh UNSKEW TALK PLUGIN - real CTF of two processes with clocks of known truth
#
# The truth lies in the band throughout, every message is found, none is received before it was
# sent, neither by clocks.json nor in the CTF that `apply` writes. TALK "none": built without
# LTTng-UST, skipped.
set -eu
unskew=$1 talk=$2 plugin=$3
here=$(cd "$(dirname "$0")" && pwd)
[ "$talk" != none ] || {
	echo "ust: LTTng-UST was not there when this was built"
	exit 77
}
"$unskew" --version | sed 's/ (without.*//' | grep -q babeltrace || {
	echo "ust: unskew was built without CTF"
	exit 77
}
tmp=$(mktemp -d "${TMPDIR:-/tmp}/unskew-ust-test-XXXXXX")
trap 'rm -rf "$tmp"' EXIT
cd "$tmp"
count=400 failed=0
send='talk:send{from,number}' recv='talk:recv{from,number}'

wrong() {
	echo "ust: $1"
	failed=1
}

# try A_OFFSET_NS A_PPB B_OFFSET_NS B_PPB
try() {
	rm -rf ./*
	"$here/record.sh" . "$talk" "$plugin" $count "$@"
	"$unskew" sync a=a b=b --send "$send" --recv "$recv" \
		--truth truth.json -o clocks.json >table
	grep Truth table
	grep -q 'its band holds the truth throughout' table || wrong "$*: the truth is not in the band"
	grep -q "Matched $((2 * count)) messages\\." table || wrong "$*: $(grep Matched table)"
	grep -q 'before correction, 0 after' table || wrong "$*: $(grep 'before sent' table)"
	for host in a b; do
		events=$(babeltrace2 $host | wc -l)
		[ "$events" -eq $((2 * count)) ] || wrong "$*: $host has $events events"
	done
	"$unskew" apply -q clocks.json a=a b=b -o corrected
	"$unskew" check a=corrected/a b=corrected/b --send "$send" --recv "$recv" --json |
		python3 -c 'import json, sys
e = sum(p[w]["inversions"] for p in json.load(sys.stdin)["pairs"] for w in ("a_to_b", "b_to_a"))
sys.exit(e and f"ust: {e} inversions in what apply wrote")' || failed=1
	"$unskew" apply -q clocks.json a=a b=b --send "$send" --recv "$recv" --timeline timeline.json
	python3 "$here/../sim/timeline_check.py" "$unskew" clocks.json timeline.json $((2 * count)) \
		$((4 * count))
}

# Ahead and fast; decades behind, and both clocks wrong.
try 0 0 1500000000 40000
try -7000000 -12345 -400000000000000000 300000
exit $failed

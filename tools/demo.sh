#!/bin/sh
# SPDX-License-Identifier: MIT
# demo.sh UNSKEW DIR - captures of two machines whose truth is known, and the main job on them
set -eu
unskew=$1 dir=$2

run() {
	echo "\$ $*"
	shift
	"$unskew" "$@"
	echo
}

run unskew simulate -o "$dir" --seed 1 --seconds 60 --rate 50 --offset 957ms --drift-ppm 21 \
	--loss 0.5% --nat --tso --gro --force --quiet
run unskew check "$dir/host0.pcap" "$dir/host1.pcap"
run unskew sync "$dir/host0.pcap" "$dir/host1.pcap" -o "$dir/clocks.json" \
	--merge "$dir/merged.pcapng" --truth "$dir/truth.json" --force
echo "The captures, their truth and the answer are in $dir/:"
ls -l "$dir"

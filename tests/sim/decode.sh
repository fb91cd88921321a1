#!/bin/sh
# SPDX-License-Identifier: MIT
# decode.sh UNSKEW - tshark decodes simulated captures without complaint, checksums included
set -eu
unskew=$1
command -v tshark >/dev/null 2>&1 || {
	echo "decode: tshark is not installed"
	exit 77
}
tmp=$(mktemp -d "${TMPDIR:-/tmp}/unskew-decode-XXXXXX")
trap 'rm -rf "$tmp"' EXIT
status=0

bad='_ws.malformed || ip.checksum.status == 0 || tcp.checksum.status == 0 ||
	udp.checksum.status == 0 || icmp.checksum.status == 0 || icmpv6.checksum.status == 0 ||
	tcp.analysis.ack_lost_segment'
# tshark also wants to know from how many packets it was told so.
decode() {
	tshark -r "$1" -o ip.check_checksum:TRUE -o tcp.check_checksum:TRUE \
		-o udp.check_checksum:TRUE -Y "$2" 2>"$tmp/log"
}

try() {
	rm -rf "$tmp/out"
	# shellcheck disable=SC2086 # options are words
	"$unskew" simulate -q --seconds 5 --rate 100 --snaplen 65535 $1 -o "$tmp/out"
	for capture in "$tmp"/out/host*; do
		wrong=$(decode "$capture" "$2" | head -n 3)
		if [ -n "$wrong" ] || [ -s "$tmp/log" ] && grep -qv 'Running as user' "$tmp/log"; then
			echo "simulate --seconds 5 --rate 100 --snaplen 65535 $1"
			echo "$wrong"
			cat "$tmp/log"
			status=1
		fi
		[ "$(capinfos -TMrc "$capture" | cut -f 2)" -gt 0 ] || {
			echo "$1: $capture is empty"
			status=1
		}
	done
}

try "--proto mix --chatter 50" "$bad"
try "--proto mix --ipv6 --loss 0.02 --vlan 1,2 --nat --chatter 20" "$bad"
try "--link sll,sll2 --vlan 1,0 --dup 0.05 --reorder 0.05 --retrans 0.05" "$bad"
try "--link raw,null --proto mix --resolution us --format pcapng --sack off" "$bad"
try "--link null,raw --ipv6 --timestamps off --ip-id off --loss 0.05" "$bad"
try "--hosts 4 --topology ring --mtu 9000 --bytes 100000" "$bad"
try "--hosts 3 --proto udp --broadcast 10 --link ethernet,sll,sll2" "$bad"
try "--hosts 3 --proto udp --broadcast 10 --ipv6 --vlan 1 --one-way" "$bad"
try "--step host1@2s:-1s --suspend host0@3s:1s" "$bad"
# What hardware finishes later has half a checksum on one side.
try "--tso --gro --rate 20 --proto mix" "_ws.malformed || ip.checksum.status == 0"
try "--tso --gro --rate 20 --ipv6 --vlan 2" "_ws.malformed"
exit $status

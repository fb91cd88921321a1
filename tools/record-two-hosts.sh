#!/bin/sh
# SPDX-License-Identifier: MIT
#
# record-two-hosts.sh - real traffic between two network namespaces, its truth known
#
# In    root, ip (iproute2), tcpdump, iperf3, curl, perl, timeout, and the tool distort of the
#       build folder (DISTORT=PATH; otherwise build/sim/distort beside this folder)
# Out   OUTDIR/a.pcap and OUTDIR/b.pcap (b.pcapng if pcap cannot hold its stamps), truth.json
# Why   both namespaces have the kernel's one clock; b's stamps are then re-made as a clock
#       would have made them that is ahead by OFFSET and gains PPM
# Not   anything outside: traffic stays between the two, everything is removed at the end
#
# Exits with 77 and a sentence where it is not allowed to, or a tool is missing.

# shellcheck disable=SC2086,SC2016 # commands in variables are split; perl has its own $
set -eu
LC_ALL=C
export LC_ALL

usage="usage: record-two-hosts.sh OUTDIR [--offset DURATION] [--drift-ppm PPM] [--seconds N]"

die() {
	echo "record-two-hosts: $2" >&2
	exit "$1"
}

offset=1s drift=20 seconds=6 out=
while [ $# -gt 0 ]; do
	case $1 in
	--help | -h)
		echo "$usage"
		exit 0
		;;
	--offset | --drift-ppm | --seconds)
		[ $# -gt 1 ] || die 2 "$1 needs a value; $usage"
		case $1 in
		--offset) offset=$2 ;;
		--drift-ppm) drift=$2 ;;
		--seconds) seconds=$2 ;;
		esac
		shift
		;;
	-*) die 2 "$1: no such option; $usage" ;;
	*)
		[ -z "$out" ] || die 2 "$usage"
		out=$1
		;;
	esac
	shift
done
[ -n "$out" ] || die 2 "$usage"
case $seconds in
'' | *[!0-9]* | ????*) die 2 "--seconds takes 1 to 999, not $seconds" ;;
esac
[ "$seconds" -gt 0 ] || die 2 "--seconds takes 1 to 999, not $seconds"

here=$(dirname "$0")
distort=${DISTORT:-$here/../build/sim/distort}
for tool in ip tcpdump iperf3 curl perl timeout mktemp; do
	command -v "$tool" >/dev/null 2>&1 || die 77 "$tool is not installed"
done
[ -x "$distort" ] || die 77 "$distort is not built; run make, or set DISTORT"
[ "$(id -u)" = 0 ] || die 77 "network namespaces need root"

a=unsk-$$-a
b=unsk-$$-b
tmp=$(mktemp -d "${TMPDIR:-/tmp}/unskew-record-XXXXXX")
started=

# Processes first, else the namespaces live on; then what they were in.
# shellcheck disable=SC2317 # traps call it
clean() {
	trap - EXIT INT TERM HUP
	for pid in $started; do
		kill "$pid" 2>/dev/null || :
	done
	for pid in $started; do
		wait "$pid" 2>/dev/null || :
	done
	ip netns del "$a" 2>/dev/null || :
	ip netns del "$b" 2>/dev/null || :
	rm -rf "$tmp"
}
trap clean EXIT
trap 'clean; exit 130' INT
trap 'clean; exit 143' TERM HUP

# No process may outlive this, even if this is killed. These become `timeout` itself, so that
# $! is what to kill, and timeout passes the signal on.
limit=$((seconds * 4 + 60))
in_a="ip netns exec $a timeout $limit"
in_b="ip netns exec $b timeout $limit"

ip netns add "$a" 2>"$tmp/why" || die 77 "cannot make a network namespace: $(cat "$tmp/why")"
ip netns add "$b"
ip -n "$a" link add eth0 type veth peer name eth0 netns "$b" 2>"$tmp/why" ||
	die 77 "cannot make a veth pair: $(cat "$tmp/why")"
number=1
for side in "$a" "$b"; do
	ip -n "$side" addr add "192.0.2.$number/24" dev eth0
	ip -n "$side" addr add "2001:db8::$number/64" dev eth0 nodad 2>/dev/null || :
	ip -n "$side" link set lo up
	ip -n "$side" link set eth0 up
	number=$((number + 1))
done

# Wait for a file's line of that kind, or for as many as the last argument says, 10 s at most.
await() {
	tries=100
	until [ "0$(grep -sc "$1" "$2")" -ge "${4:-1}" ]; do
		tries=$((tries - 1))
		[ "$tries" -gt 0 ] || die 1 "$3 did not start: $(cat "$2")"
		sleep 0.1
	done
}

record="tcpdump -i eth0 -n -s 96 -B 32768 --time-stamp-precision=nano -Z root"
$in_a $record -w "$tmp/a.pcap" 2>"$tmp/a.log" &
dump_a=$!
$in_b $record -w "$tmp/b.pcap" 2>"$tmp/b.log" &
dump_b=$!
started="$dump_a $dump_b"
await 'listening on' "$tmp/a.log" tcpdump
await 'listening on' "$tmp/b.log" tcpdump

$in_b iperf3 -s --forceflush >"$tmp/iperf.log" 2>&1 &
started="$started $!"

# The smallest server that answers curl: 50 kB on each connection, from perl's own modules.
$in_b perl -MIO::Socket::INET -e '
	$| = 1;
	my $s = IO::Socket::INET->new(LocalPort => 8080, Listen => 16, ReuseAddr => 1) or die "$!";
	print "listening\n";
	my $body = "x" x 50000;
	while (my $c = $s->accept) {
		while (my $line = <$c>) { last if $line =~ /^\r?$/ }
		print $c "HTTP/1.0 200 OK\r\nContent-Length: 50000\r\n\r\n$body";
		close $c;
	}' >"$tmp/http.log" 2>&1 &
started="$started $!"
await listening "$tmp/http.log" "the server for curl"

fetch() {
	deadline=$(($(date +%s) + seconds))
	while [ "$(date +%s)" -lt "$deadline" ]; do
		$in_a curl -s -o /dev/null --max-time 10 http://192.0.2.2:8080/ ||
			die 1 "curl could not fetch"
		sleep 0.05
	done
}

# A third of the time each way and both ways at once; small requests all along. iperf3 closes
# its port after each client and says so when it listens again.
third=$(((seconds + 2) / 3))
fetch &
fetcher=$!
started="$started $fetcher"
clients=0
for how in "" "-R" "--bidir"; do
	clients=$((clients + 1))
	await listening "$tmp/iperf.log" iperf3 "$clients"
	$in_a iperf3 -c 192.0.2.2 -t "$third" -b 50M $how >"$tmp/client.log" 2>&1 ||
		die 1 "iperf3 failed: $(tail -n 1 "$tmp/client.log")"
done
wait "$fetcher" || die 1 "the requests failed"

# tcpdump writes what it holds when it is told to stop.
sleep 0.2
kill "$dump_a" "$dump_b" 2>/dev/null || :
wait "$dump_a" 2>/dev/null || :
wait "$dump_b" 2>/dev/null || :

mkdir -p "$out"
rm -f "$out/b.pcap" "$out/b.pcapng"
cp "$tmp/a.pcap" "$out/a.pcap"
for name in b.pcap b.pcapng; do
	if "$distort" --force --offset "$offset" --drift-ppm "$drift" --truth "$out/truth.json" \
		--beside "$out/a.pcap" "$tmp/b.pcap" "$out/$name" 2>"$tmp/why"; then
		echo "$out: a.pcap, $name, truth.json"
		exit 0
	fi
done
die 1 "$(cat "$tmp/why")"

#!/bin/bash
# SPDX-License-Identifier: MIT
# recording.sh BUILD - what recording costs, for each way that doc/recording.md names
#
# In    root; bench_recording of BUILD (make bench); tcpdump, strace, perf, lttng: what is there
# Out   a line per way: what a message, sent and received, costs its program in processor time
#       beyond the same unrecorded; what the recorder costs beside it, per event; bytes of its file
# Why   whoever records wants to know what it takes; elapsed time would tell of other work too
set -eu
export LC_ALL=C
build=$(cd "$1" && pwd)
work=$(mktemp -d /tmp/unskew-recording-XXXXXX)
shared=$(ls /dev/shm/lttng-ust-wait-* 2>/dev/null || true)
recorder=
finish() {
	[ -z "$recorder" ] || kill "$recorder" 2>/dev/null || true
	wait 2>/dev/null || true
	rm -rf "$work"
	# What LTTng-UST leaves for each user, unless it was there before.
	for left in /dev/shm/lttng-ust-wait-*; do
		[[ $shared == *"$left"* ]] || rm -f "$left"
	done
}
trap finish EXIT
trap 'exit 1' INT TERM
chmod 755 "$work"
send=$build/bench/bench_recording count=450000
ust=$build/tests/ust

# least COMMAND... - the smallest of what three runs print
least() {
	for _ in 1 2 3; do
		"$@"
	done | sort -n | head -n 1
}

# cpu_ns PID - processor time of a process and its children so far
cpu_ns() {
	awk -v tick="$(getconf CLK_TCK)" '{ sub(/.*\) /, ""); printf "%.0f", ($12 + $13 + $14 + $15) * 1e9 / tick }' \
		"/proc/$1/stat"
}

# line WHAT MESSAGE_NS BASE_NS RECORDER_NS EVENTS BYTES
line() {
	awk -v what="$1" -v with="$2" -v base="$3" -v beside="$4" -v events="$5" -v bytes="$6" 'BEGIN {
		printf "%-46s %7.0f ns a message  %6s ns an event beside  %6s bytes an event\n", what,
			with - base, beside == "-" ? "-" : sprintf("%.0f", beside / events),
			bytes == "-" ? "-" : sprintf("%.1f", bytes / events)
	}'
}

# with WHAT BYTES BASE FILE COMMAND... - messages while COMMAND records them into FILE
with() {
	local what=$1 bytes=$2 base=$3 file=$4 before after cost
	shift 4
	"$@" >"$work/log" 2>&1 &
	recorder=$!
	sleep 1
	before=$(cpu_ns $recorder)
	cost=$("$send" $count "$bytes")
	sleep 1
	after=$(cpu_ns $recorder)
	kill -INT $recorder
	wait $recorder 2>/dev/null || true
	recorder=
	line "$what" "$cost" "$base" $((after - before)) $count "$(stat -c %s "$file")"
	grep -o '[1-9][0-9]* packets dropped by kernel' "$work/log" || true
	rm -f "$file"
}

for bytes in 64 1400; do
	base=$(least "$send" $count $bytes)
	echo "unrecorded, a message of $bytes bytes: $base ns to send and receive"
	if command -v tcpdump >/dev/null; then
		for snap in 96 262144; do
			with "tcpdump -s $snap -B 16384" $bytes "$base" "$work/x.pcap" tcpdump -i lo -n \
				-s $snap -B 16384 -w "$work/x.pcap" udp port 40999
		done
	fi
	if command -v perf >/dev/null && [ $bytes -eq 64 ]; then
		with "perf record -k mono_raw, two events of net" $bytes "$base" "$work/x.perf" perf record \
			-q -a -k CLOCK_MONOTONIC_RAW -e net:net_dev_queue,net:netif_receive_skb \
			-o "$work/x.perf"
	fi
done
base=$(least "$send" $count 64)
line "rows of an event table by fprintf" "$(least "$send" $count 64 "$work/rows.csv")" "$base" - \
	$((2 * count)) "$(stat -c %s "$work/rows.csv")"
if command -v strace >/dev/null; then
	few=9000
	line "strace -ttt -e trace=sendto,recvfrom" \
		"$(strace -ttt -e trace=sendto,recvfrom -o "$work/strace" "$send" $few 64)" "$base" - \
		$((2 * few)) "$(stat -c %s "$work/strace")"
fi

# A tracepoint of LTTng-UST by itself: it is no system call. As nobody, with a daemon of its own.
if command -v lttng-sessiond >/dev/null && [ -x "$ust/talk" ]; then
	cp "$ust/talk" "$work/talk"
	mkdir "$work/home"
	chown 65534:65534 "$work/home"
	on() {
		setpriv --reuid=65534 --regid=65534 --clear-groups env HOME="$work/home" \
			LTTNG_HOME="$work/home" LTTNG_UST_REGISTER_TIMEOUT=5000 "$@"
	}
	echo "tracepoint of LTTng-UST, not recorded: $(on "$work/talk" cost 1000000) ns of elapsed time"
	setpriv --reuid=65534 --regid=65534 --clear-groups env HOME="$work/home" \
		LTTNG_HOME="$work/home" lttng-sessiond --no-kernel >"$work/log" 2>&1 &
	recorder=$!
	until on lttng --no-sessiond list >/dev/null 2>&1; do
		sleep 0.1
	done
	{
		on lttng --no-sessiond create cost --output="$work/home/trace"
		on lttng --no-sessiond enable-channel --userspace --subbuf-size=1M --num-subbuf=8 c
		on lttng --no-sessiond enable-event --userspace --channel=c 'talk:*'
		on lttng --no-sessiond start
	} >>"$work/log" 2>&1
	cost=$(on "$work/talk" cost 20000)
	on lttng --no-sessiond destroy cost >>"$work/log" 2>&1
	size=$(find "$work/home/trace" -name 'c_*' -size +0 ! -name '*.idx' -printf '%s\n' | paste -sd+ | bc)
	echo "tracepoint of LTTng-UST, recorded: $cost ns of elapsed time, $((size / 320000)) bytes an event"
fi

#!/bin/sh
# SPDX-License-Identifier: MIT
# timeline.sh UNSKEW [DATA] - timelines of simulated traces, and of two of DATA, hold what they should
#
# The checker is timeline_check.py; with UNSKEW_TRACE_ENGINE=FOLDER, where node finds
# @paulirish/trace_engine, it is Chromium's own reader of such traces.
set -eu
unskew=$1 data=${2:-}
here=$(cd "$(dirname "$0")" && pwd)
[ ! -d "$data" ] || data=$(cd "$data" && pwd)
command -v python3 >/dev/null 2>&1 || {
	echo "timeline: python3 is not installed"
	exit 77
}
[ -z "${UNSKEW_TRACE_ENGINE:-}" ] || [ -d "$UNSKEW_TRACE_ENGINE/@paulirish/trace_engine" ] || {
	echo "timeline: npm could not bring @paulirish/trace_engine"
	exit 77
}
[ -z "${UNSKEW_TRACE_ENGINE:-}" ] || [ "${BROWSER:-}" != none ] || {
	echo "timeline: no browser is wanted"
	exit 77
}
tmp=$(mktemp -d "${TMPDIR:-/tmp}/unskew-timeline-XXXXXX")
trap 'rm -rf "$tmp"' EXIT
cd "$tmp"

check() {
	if [ -n "${UNSKEW_TRACE_ENGINE:-}" ]; then
		node "$here/timeline_engine.mjs" "$UNSKEW_TRACE_ENGINE" "$2"
	else
		python3 "$here/timeline_check.py" "$unskew" "$@"
	fi
}

# Captures: the same from sync and from apply, packed or not.
"$unskew" simulate -q --hosts 3 --seconds 20 --rate 50 --loss 0.01 --seed 1 -o two
"$unskew" sync -q two/host*.pcap -o two.json --timeline sync.json
"$unskew" apply -q two.json two/host*.pcap --timeline apply.json.gz
gzip -dc apply.json.gz | cmp - sync.json
check two.json sync.json - all

# More hosts, in parts that share nothing: each has its own zero.
"$unskew" simulate -q --hosts 4 --topology islands --seconds 10 --format pcapng --seed 2 \
	--offset 0,1h,-1h,3s -o parts
"$unskew" sync -q parts/host* -o parts.json --allow-unbounded --timeline parts_t.json || [ $? -eq 3 ]
check parts.json parts_t.json - all

# A clock that is set back while it records.
"$unskew" simulate -q --seconds 60 --rate 50 --step host1@30s:-3s --seed 3 -o back
"$unskew" sync -q back/host* -o back.json --timeline back_t.json
check back.json back_t.json - all

# Tables: of messages, and of events.
"$unskew" simulate -q --format table --seconds 20 --rate 100 --seed 4 -o table
"$unskew" sync -q table/messages.csv -o table.json
"$unskew" apply -q table.json table/messages.csv --timeline table_t.json
rows=$(($(wc -l <table/messages.csv) - 1))
# Nothing but messages: no events.
check table.json table_t.json $rows 0
(
	echo clock,time_ns,kind,id,bytes
	awk -F, 'NR > 1 { print $1 "," $3 ",send," NR "," $5; print $2 "," $4 ",recv," NR "," $5 }' \
		table/messages.csv
) >events.csv
"$unskew" apply -q table.json events.csv --timeline events_t.json
check table.json events_t.json $rows $((2 * rows))

# Kernel traces: all of their events, not only those of messages, and what each thread did.
if [ -d "$data/tracecompass-synctraces" ] && "$unskew" --version | sed 's/ (without.*//' | grep -q babeltrace; then
	ctf=$data/tracecompass-synctraces
	"$unskew" sync -q "$ctf/scp_src" "$ctf/scp_dest" -o ctf.json --timeline ctf_t.json
	check ctf.json ctf_t.json 46 196500 -
fi

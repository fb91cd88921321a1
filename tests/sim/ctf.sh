#!/bin/sh
# SPDX-License-Identifier: MIT
# ctf.sh UNSKEW PLUGIN_FOLDER|none DATA - CTF traces that others recorded: read, shown, written
#
# Why   babeltrace2 is the judge: what it prints of a trace is what there is, and in which order
set -eu
unskew=$1 plugin=$2 data=$3
export LC_ALL=C TZ=UTC

skip() {
	echo "skipped: $1"
	exit 77
}
command -v babeltrace2 >/dev/null || skip "babeltrace2 is not installed"
src=$data/tracecompass-synctraces/scp_src dst=$data/tracecompass-synctraces/scp_dest
one=$data/mpi-ring-ctf/mpi_ring1 two=$data/mpi-ring-ctf/mpi_ring2
[ -f "$src/metadata" ] && [ -f "$two/metadata" ] ||
	skip "no recorded data in \"$data\" (meson option recorded_data)"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
fail() {
	echo "FAILED: $*" >&2
	exit 1
}

# ---- Trace Compass's own pair: all events, 46 messages, those that were matched by other means
"$unskew" sync "$src" "$dst" --reference scp_dest -q -o clocks.json --messages messages.csv
[ "$(grep -c '"events": 110771' clocks.json)" = 1 ] || fail "not 110771 events of scp_src"
[ "$(grep -c '"events": 85729' clocks.json)" = 1 ] || fail "not 85729 events of scp_dest"
sed -e 1d -e 's/VM1/scp_src/g' -e 's/VM3/scp_dest/g' "$data/tracecompass-synctraces/messages-46.csv" |
	sort >expected
sed -e 1d -e 's/,0$//' messages.csv | sort >found
cmp expected found || fail "other messages than the 46"
[ "$(grep -c '^scp_src' found) $(grep -c '^scp_dest' found)" = "24 22" ] || fail "not 24 and 22"
grep -q '"corrected": {' clocks.json && grep -A 1 '"corrected": {' clocks.json | grep -q '"inversions": 0' ||
	fail "inversions after correction"

# Its line, t' = slope t + offset, lies in our band wherever messages are: they say no more of it.
python3 - <<'END' || fail "the line of Trace Compass is not in the band"
import json
from fractions import Fraction
slope = Fraction("0.9999413783703139011056845831168394")
offset = Fraction("79796507913179.33347660124688298171")
c = json.load(open("clocks.json"))
knots = next(k for k in c["clocks"] if k["name"] == "scp_src")["knots"]
knots = [tuple(int(k[x]) for x in ("local_ns", "lo_ns", "hi_ns")) for k in knots]
times = [int(f.split(",")[2 if f.startswith("scp_src") else 3]) for f in open("found")]
for t in sorted(times):
    theirs = slope * t + offset - t
    a, b = next((a, b) for a, b in zip(knots, knots[1:]) if a[0] <= t <= b[0])
    lo, hi = (a[i] + Fraction(b[i] - a[i], b[0] - a[0]) * (t - a[0]) for i in (1, 2))
    assert lo - 1 <= theirs <= hi + 1, (t, float(lo), float(theirs), float(hi))
END

# As if both clocks had one rate: the bracket.
"$unskew" check "$src" "$dst" --json >check.json
grep -q '"min_ns": "80703584"' check.json && grep -q '"min_ns": "-80430683"' check.json ||
	fail "another bracket"

# ---- through the filter: every event, in order, no receive before its send
if [ "$plugin" = none ]; then
	"$unskew" apply -q clocks.json "$src" "$dst" -o out
	"$unskew" check out/scp_src out/scp_dest | grep -q '^scp_src -> scp_dest *24 *0 ' ||
		fail "inversions in what was written"
	echo "all as expected, as far as it goes without the filter"
	exit 0
fi
export BABELTRACE_PLUGIN_PATH="$plugin"
babeltrace2 run --component=A:source.ctf.fs --params="inputs=[\"$src\"]" \
	--component=B:source.ctf.fs --params="inputs=[\"$dst\"]" \
	--component=sync:filter.unskew.sync --params='clocks="clocks.json"' \
	--component=text:sink.text.pretty --params='clock-seconds=yes,no-delta=yes' \
	--connect=A:sync --connect=B:sync --connect=sync:text >shown
[ "$(wc -l <shown)" = 196500 ] || fail "$(wc -l <shown) events shown, not 196500"
cut -d' ' -f1 shown | sort -c || fail "not in order"
python3 - <<'END' || fail "a receive is shown before its send"
import re
sent = {}
n = 0
for line in open("shown"):
    m = re.search(r"inet_sock_local_(in|out): .* seq = (\w+), ack_seq = (\w+),.* flags = (\w+)", line)
    if not m:
        continue
    host, key = line.split()[1], m.groups()[1:]
    if m.group(1) == "out":
        sent.setdefault(key, host)
    else:
        n += sent.get(key, host) != host
assert n == 46, n
END

# ---- written again: the same stamps, and what babeltrace2 gives up on before, it shows after
"$unskew" apply -q clocks.json "$src" "$dst" -o out
babeltrace2 --clock-seconds --no-delta out/scp_src out/scp_dest >written
sort shown >a
sort written | cmp - a || fail "apply and the filter differ"
"$unskew" check out/scp_src out/scp_dest | grep -q '^scp_src -> scp_dest *24 *0 ' ||
	fail "inversions in what was written"
# In the metadata alone, as far as they can say it.
"$unskew" sync "$one" "$two" -q -o mpi.json --messages mpi.csv
sed -e 1d -e 's/,0$//' -e 's/mpi_ring1/desktop1/' -e 's/mpi_ring2/naser/' \
	-e 's/mpi_ring1/desktop1/' -e 's/mpi_ring2/naser/' mpi.csv | sort >found
sed 1d "$data/mpi-ring-ctf/messages-2.csv" | sort | cmp - found || fail "other messages of MPI"
"$unskew" apply mpi.json "$two" -o mpi 2>&1 | grep -q 'the data are the same bytes' ||
	fail "data were written anew for a constant offset"
cmp "$two/hostu_2" mpi/hostu_2 || fail "they are not the same bytes"
babeltrace2 --clock-seconds --no-delta "$one" "$two" --component=filter.unskew.sync \
	--params='clocks="mpi.json"' | sort >a
babeltrace2 --clock-seconds --no-delta "$one" mpi | sort | cmp - a || fail "the metadata say otherwise"
echo "all as expected"

#!/bin/sh
# SPDX-License-Identifier: MIT
# exchanges.sh UNSKEW DATA - four-stamp exchanges that others recorded: PTP in ns, NTP with a counter
set -eu
unskew=$1 data=$2
export LC_ALL=C
[ -f "$data/ptp-lasse/exchanges.csv" ] && [ -f "$data/radclock-stratum1/stamps-clean.csv" ] || {
	echo "skipped: no recorded data in \"$data\" (meson option recorded_data)"
	exit 77
}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

# Hardware stamps of 1502 exchanges: the bracket and the drift of the data's README.
awk -F, 'NR == 1 { print "a,b,t1_ns,t2_ns,t3_ns,t4_ns"; next } { print "slave,master," $0 }' \
	"$data/ptp-lasse/exchanges.csv" >ptp.csv
"$unskew" sync ptp.csv --reference slave --model linear -q -o ptp.json
"$unskew" check ptp.csv --reference slave --json >ptp-check.json
# The counter of a client against a server that is itself on GPS time; gzip beside it.
awk -F, 'NR == 1 { print "a,b,t1_ticks,t2_s,t3_s,t4_ticks"; next }
	{ print "client,server," $1 "," $2 "," $3 "," $4 }' \
	"$data/radclock-stratum1/stamps-clean.csv" | gzip >ntp.csv.gz
for model in linear wander=0.1; do
	"$unskew" sync ntp.csv.gz --reference server --model $model --tick-rate client=14318180 -q \
		-o ntp-$model.json
done
python3 - "$data" <<'END'
import csv, json, sys
from fractions import Fraction
def clock(name, of):
    return next(k for k in json.load(open(name))["clocks"] if k["name"] == of)
c = json.load(open("ptp-check.json"))["pairs"][0]
# slave -> master: offset of the master is at most the smallest difference; back: at least.
assert (c["a"], c["b"]) == ("slave", "master")
assert c["a_to_b"]["min_ns"] == "194720095" and c["b_to_a"]["min_ns"] == "-194697309", c
m = clock("ptp.json", "master")
assert m["quality"] == "bounded"
assert abs(m["drift_min_ppm"] + 0.069) < 0.001 and abs(m["drift_max_ppm"] - 0.098) < 0.0015, m
# The truth: GPS stamps of the same two events. The server itself is some ms from it, at most.
rows = list(csv.DictReader(open(sys.argv[1] + "/radclock-stratum1/stamps-clean.csv")))
for name in ("ntp-linear.json", "ntp-wander=0.1.json"):
    k = clock(name, "client")
    assert k["quality"] == "bounded" and k["resolution_ns"] == "70", k["quality"]
    knots = [tuple(int(x[y]) for y in ("local_ns", "lo_ns", "hi_ns")) for x in k["knots"]]
    for r in rows:
        local = int(r["ta_count"]) * 10**9 // 14318180
        a, b = next(((a, b) for a, b in zip(knots, knots[1:]) if a[0] <= local <= b[0]))
        lo, hi = (a[i] + Fraction(b[i] - a[i], b[0] - a[0]) * (local - a[0]) for i in (1, 2))
        # The server counts UTC, GPS was 17 s ahead of it.
        true = (Fraction(r["ref_ta_gps_s"]) - 17) * 10**9 - local
        assert lo - 70 <= true <= hi + 70, (name, r, float(lo), float(true), float(hi))
print("all as expected")
END

# This machine's clocks: figures differ from run to run, what is measured does not.
$ unskew clock --seconds 0.01 --samples 200 --load 1 --json >c.json; echo status $?
status 0
$ python3 -c 'import json; c = json.load(open("c.json")); print(*c); print(*c["loads"][0]); print(c["clocks"][0]["name"], [z["compensation"] for z in c["loads"][1]["zero"]])'
unskew_clock source work seconds clocks realtime cores loads
load zero best uncertainty_ns tick_ns routines timer_late_ns messages words
monotonic_raw ['raw', 'long-term', 'method-1', 'method-2']
$ unskew clock --seconds 0.01 --samples 200 --load 1 --work message --best --source realtime | grep -c -e '^monotonic_raw' -e '^method-2' -e '^tcp' -e 'Zero elapsed time by realtime'
14
$ unskew clock --seconds 0.01 --samples 200 --load 1,2 --histograms | sed -n 's/^\(Timers wake late by\|Zero, load of .\|From read to read\)  .*/\1/p' | sort | uniq -c | sed 's/^ *[0-9]* //'
From read to read
Timers wake late by
Zero, load of 0
Zero, load of 1
Zero, load of 2
$ unskew clock --seconds 0.01 --samples 200 --load 1,2 -q -o page.html >/dev/null; echo status $?; grep -c '^<figure' page.html | sed 's/^1[0-9]$/more than 9/'; grep -o '<h[12]>[^<]*' page.html; python3 -c 'import html.parser; html.parser.HTMLParser().feed(open("page.html").read())'
status 0
more than 9
<h1>Clocks of this machine
<h2>Zero elapsed time
<h2>A clock of two words
<h2>Timers
<h2>Messages
$ unskew clock --seconds 100 -o page.html; echo status $?
status 1
! unskew: page.html: exists already; use --force to replace it
$ unskew clock --load 1,two; unskew clock --load 0; unskew clock --load 1,2,3,4,5,6,7,8,9; echo status $?
status 2
! unskew: --load: "two" is no number from 1 to 1000
! unskew: --load: "0" is no number from 1 to 1000
! unskew: --load: no more than 8 of them
$ unskew clock --source sundial 2>&1 | sed 's/;.*//'
unskew: --source: this machine has no clock "sundial"
# One processor alone: nothing to compare it with, and no waiting for ever.
$ timeout 60 taskset -c $(taskset -cp $$ | sed 's/.*: //;s/[,-].*//') unskew clock --seconds 0.01 --samples 200 --load 1 | grep -c '^monotonic_raw .* reference$'
1
# Rates over hours: this machine's clocks, which all differ from run to run; then a table, whose clock runs 20 ppm fast, and 21.5 ppm from 20 s on.
$ unskew clock --drift 100ms --period 20ms --load 1 --json | python3 -c 'import json, sys; d = json.load(sys.stdin); print(*d); print(*d["clocks"][0]); print({r["load"] for r in d["clocks"][0]["rates"]} <= {0, 1}, all(c["certain_ppm"] <= c["change_ppm"] for c in d["clocks"]))'
unskew_drift against allowance_ppm clocks
name mean_ppm change_ppm certain_ppm within_allowance rates
True True
$ awk 'BEGIN { print "a,b,t1_ns,t2_ns,t3_ns,t4_ns"; for (s = 0; s <= 60; s += 5) { t = s * 1000000000; printf "a,b,%.0f,%.0f,%.0f,%.0f\n", t, t + 20000 * s + (s > 20 ? 1500 * (s - 20) : 0), t, t + 2000 } }' >drift.csv; unskew clock --drift-of drift.csv; unskew clock --drift-of drift.csv --period 20s --allowance-ppm 3 | sed -n 2p
clock  periods  mean, ppm    least  largest  change  certain  within 1 ppm
b            6    21.0000  20.0000  21.5000  1.5000   1.1000  no

Rates against a over 60 s, in parts per million: positive runs fast. Change: the largest less the
least; certain: without what their errors may account for.
b            3    21.0000  20.0000  21.5000  1.5000   1.3000  yes
$ unskew clock --drift-of drift.csv --json | python3 -c 'import json, sys; c = json.load(sys.stdin)["clocks"][0]; print(c["name"], c["within_allowance"], len(c["rates"]), *["%.1f" % r["ppm"] for r in c["rates"]])'
b no 6 20.0 20.0 21.5 21.5 21.5 21.5
$ head -2 drift.csv >one.csv; unskew clock --drift-of one.csv; head -1 drift.csv >none.csv; unskew clock --drift-of none.csv
! unskew: one.csv: no two of its exchanges lie 10.0 s apart, which is --period
! unskew: none.csv: no two of its exchanges lie 10.0 s apart, which is --period
? 1
$ unskew clock --drift-of c.json
! unskew: c.json: is no table of exchanges: it does not begin with a,b,t1_ns,t2_ns,t3_ns,t4_ns
? 1
$ printf 'a,b,t1_ns,t2_ns,t3_ns,t4_ns\na,b,1,2\n' >short.csv; unskew clock --drift-of short.csv
! unskew: short.csv: line 2: is no exchange
? 1
$ printf 'a,b,t1_ns,t2_ns,t3_ns,t4_ns\na,b,1,2,2,3\na,c,1,2,2,3\n' >other.csv; unskew clock --drift-of other.csv
! unskew: other.csv: line 3: is of other clocks than the first
? 1
$ unskew clock --drift-of nowhere.csv
! unskew: nowhere.csv: cannot be opened: No such file or directory
? 1

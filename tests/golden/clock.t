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

# This machine's clocks: figures differ from run to run, what is measured does not.
$ unskew clock --seconds 0.01 --samples 200 --load 1 --json >c.json; echo status $?
status 0
$ python3 -c 'import json; c = json.load(open("c.json")); print(*c); print(*c["loads"][0]); print(c["clocks"][0]["name"], [z["compensation"] for z in c["loads"][1]["zero"]])'
unskew_clock source work seconds clocks realtime cores loads
load zero best compensation timer_late_ns messages
monotonic_raw ['raw', 'long-term', 'method-1', 'method-2']
$ unskew clock --seconds 0.01 --samples 200 --load 1 --work message --best --source realtime | grep -c -e '^monotonic_raw' -e '^method-2' -e '^tcp' -e 'Zero elapsed time by realtime'
10
$ unskew clock --source sundial 2>&1 | sed 's/;.*//'
unskew: --source: this machine has no clock "sundial"
# One processor alone: nothing to compare it with, and no waiting for ever.
$ timeout 60 taskset -c $(taskset -cp $$ | sed 's/.*: //;s/[,-].*//') unskew clock --seconds 0.01 --samples 200 --load 1 | grep -c '^monotonic_raw .* reference$'
1

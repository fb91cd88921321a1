# needs: with-libsodium
# A key of one's own, never replaced.
$ unskew probe key -o key
! key: a new key; copy it to the other machine over a secure connection
$ wc -c <key; stat -c %a key; unskew probe key -o key
65
600
! unskew: key: exists already; a key is never replaced
? 1
# Keys that others can read, or that can be guessed, are refused.
$ cp key open; chmod 644 open; unskew probe 127.0.0.1 --key open
! unskew: open: others can read or change this key (mode 644); chmod 600 it and, if they might have, make a new one
? 1
$ (umask 077; echo secret >short); unskew probe serve --key short
! unskew: short: a key of 6 bytes can be guessed; it takes 16 at least: `unskew probe key -o FILE` makes one
? 1
# Two programs on this machine: a line each round, a table that sync reads.
$ echo $((10000 + $$ % 22000)) >port
$ unskew probe serve --port $(cat port) --key key --offset 1h --drift-ppm 80 --rate 100000 --duration 110s >served 2>serving & echo $! >server; until grep -qs port serving; do sleep 0.1; done; cat serving | sed "s/$(cat port)/PORT/"
serving whoever has the key on port PORT
$ unskew probe 127.0.0.1 --port $(cat port) --key key --count 3 --period 50ms --here a --there b -o x.csv >out; sed 's/offset -3600\.[0-9]* s .*/offset/; s/: [0-9,]* at best.*/:/; s/[0-9]* kernel.*/N kernel/; s/: [0-9]*, [0-9]* lost/: N, N lost/; s/, [0-9]* with.*//; s/ [0-9]* kept/ kept/; s/Precision.*/Precision/' out
1: offset
2: offset
3: offset

Rounds: 3, 3 answered
Exchanges: N, N lost, kept in x.csv.
Stamps here: N kernel
Precision
$ head -n 1 x.csv; grep -c '^a,b,1[0-9]*,1[0-9]*,1[0-9]*,1[0-9]*$' x.csv | sed 's/^[3-6]$/3 to 6/'
a,b,t1_ns,t2_ns,t3_ns,t4_ns
3 to 6
$ unskew sync x.csv | grep -c '^[ab]  *\(reference\|bounded\)'
2
# More rows: only if that is asked for.
$ unskew probe 127.0.0.1 --port $(cat port) --key key --count 1 --there b -o x.csv
! unskew: x.csv: exists already; use --force to replace it
? 1
$ printf 'a,b,1,2' >>x.csv; unskew probe 127.0.0.1 --port $(cat port) --key key --count 1 --here a --there b -o x.csv --append >out; grep -vc '^a,b,1[0-9]*,1[0-9]*,1[0-9]*,1[0-9]*$' x.csv
1
! x.csv: its last row was cut short; its 7 bytes were removed
# JSON is a line each, the last one sums up.
$ unskew probe localhost --port $(cat port) --key key --count 2 --period 50ms --json | python3 -c 'import json, sys; l = [json.loads(x) for x in sys.stdin]; print(*l[0]); print(*l[-1]); print(l[-1]["rounds"], l[-1]["there"])'
round state there_ns here_ns offset_ns precision_ns drift_ppm drift_error_ppm age_ns round_trip_ns attempts answered lost kept
unskew_probe here there table rounds answered spaced attempts sent lost exchanges kept set stamps refused precision_ns
2 localhost
# Told to end, it still sums up, and the table is whole.
$ unskew probe 127.0.0.1 --port $(cat port) --key key --period 50ms --there b -o y.csv >out & until [ "$(wc -l 2>/dev/null <y.csv)" -ge 3 ]; do sleep 0.1; done 2>/dev/null; kill $!; wait $!; echo $?; grep -c '^Rounds' out; tail -c 1 y.csv | od -An -c
0
1
  \n
# A file of the live map that somebody cuts short ends it with a sentence.
$ unskew probe 127.0.0.1 --port $(cat port) --key key --period 50ms --there b --live live >out & until [ "$(od -An -tu8 -j8 -N8 live)" -gt 0 ]; do sleep 0.1; done 2>/dev/null; : >live; wait $!; echo $?
1
! unskew: live: somebody changed its size while the clock was kept there; remove it and begin again
# Who has another key, or none, gets no answer.
$ unskew probe key -q -o other; unskew probe 127.0.0.1 --port $(cat port) --key other --count 1 --attempts 1 --timeout 50ms 2>&1 | grep unskew | sed "s/$(cat port)/PORT/"
unskew: 127.0.0.1 port PORT: no answer; is `unskew probe serve` running there, with the same key, does a firewall let UDP through, and do the questions stay below its --rate?
$ kill $(cat server); while kill -0 $(cat server) 2>/dev/null; do sleep 0.1; done; sed 's/[0-9,]* answered, [0-9]* welcomed/N answered, N welcomed/; s/: .*/: N/' served
N answered, N welcomed, 0 malformed, 1 forged, 0 replayed, 0 limited, 0 unsent.
Stamps of arrivals: N
# Without a key only this machine itself.
$ unskew probe serve --bind 0.0.0.0
! unskew: --bind 0.0.0.0: without --key FILE only this machine itself is served; --open serves everybody
? 2
$ unskew probe 192.0.2.1
! unskew: 192.0.2.1 is another machine: without --key FILE anybody in between could answer for it; --open accepts that risk
? 2
# Options of the other side.
$ unskew probe serve --count 3
! unskew: --count means nothing to `unskew probe serve`
? 2
$ unskew probe 127.0.0.1 --rate 3
! unskew: --rate means nothing to `unskew probe HOST`
? 2
$ unskew probe key
! unskew: probe key needs -o FILE
? 2
$ unskew probe 127.0.0.1 --there a --here a
! unskew: both clocks would be called "a"; name them with --here and --there
? 2

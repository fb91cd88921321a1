# Two processes tied by memory that they share: both read one clock, so the offset is none.
$ unskew line serve --page page --timeout 10ms --wake 40ms 2>served & unskew line tie --page page --timeout 10ms --wake 40ms --good 10ms --attempts 1000 --rounds 5 --period 110ms --retry 0 -o table.csv --live live >rounds 2>tied; echo status $?; kill $!; wait $!; echo status $?; sed 's/  .*//' rounds; cut -d, -f1,2 table.csv; sed 's/[0-9]\+/N/g' served; sed 's/;.*//' tied
status 0
status 0
1
2
3
4
5
a,b
here,there
here,there
here,there
here,there
here,there
answered N, gave up N
5 rounds, 0 dropped
$ awk -F, 'NR > 1 && !($3 <= $4 && $4 == $5 && $5 <= $6)' table.csv
$ unskew sync table.csv -q -o clocks.json >/dev/null; echo status $?
status 0
$ unskew convert clocks.json --clock there $(sed -n 3p table.csv | cut -d, -f4) | awk '{ print ($3 <= $1 && $1 <= $4 ? "the truth is" : "the truth is not"), "in the band" }'
the truth is in the band
# Both sides read one clock, so the other's stamp is the truth; by two rows alone.
$ unskew convert $(sed -n '2p;5p' table.csv | awk -F, '{ print "--exchange " $3 "," $4 "," $6 }') $(sed -n 6p table.csv | cut -d, -f4) | awk '{ print ($3 <= $1 && $1 <= $4 ? "the truth is" : "the truth is not"), "within the precision" }'
the truth is within the precision
$ unskew line serve --page page --timeout 10ms --wake 40ms -q & unskew line tie --page page --timeout 10ms --wake 40ms --good 10ms --attempts 1000 --rounds 2 --period 110ms --json -q >rounds.json; kill $!; wait $!; python3 -c 'import json; r = [json.loads(l) for l in open("rounds.json")]; print(*r[1]); print(all(int(x["before_ns"]) <= int(x["remote_ns"]) <= int(x["after_ns"]) and abs(int(x["offset_ns"])) <= int(x["precision_ns"]) for x in r))'
round good before_ns remote_ns after_ns offset_ns precision_ns jumped drift_ppm
True
# Nobody there; two lines at once, none; what is no line.
$ unskew line tie --page page --rounds 2 --attempts 1 --retry 0; echo status $?
1  dropped: no answer
2  dropped: no answer
status 1
! 2 rounds, 2 dropped; attempts that took too long: 0; no answer: 2
! unskew: page: no exchange succeeded; does the other side run `unskew line serve`?
$ unskew line tie --rounds 1; unskew line tie --page page --port port; echo status $?
status 2
! unskew: give either --port or --page: the line to use
! unskew: give either --port or --page: the line to use
$ unskew line delay --page page --rounds 10 | sed 's/ [0-9.]* [num]*s/ T/g'
a pin is seen after T (median), T to T; 99 %: T
$ echo "no page, but as long as one, and a little longer than that" >none; unskew line serve --port /dev/null; unskew line serve --port nowhere 2>&1 | sed 's/;.*//'; unskew line serve --page none; echo status $?
unskew: nowhere: cannot be opened: No such file or directory
status 1
! unskew: /dev/null: is no parallel port
! unskew: none: is no page of a line
$ unskew line serve --page page --clock tsc 2>&1 | sed 's/;.*//'; unskew line listen --page page; unskew line tie --page page --here a --there a; echo status $?
unskew: --clock: this machine has no clock "tsc" that shows ns
status 2
! unskew: listen: line does serve, tie or delay
! unskew: --here and --there: two clocks need two names
$ unskew line tie --page page --rounds 1 -o none; echo status $?
status 1
! unskew: none: exists already; use --force to replace it
# A clock that steps by milliseconds has no stamps that a precision of 1 ns could be counted from.
$ unskew line serve --page page --clock realtime_coarse 2>&1 | sed 's/;.*//'; echo status $?
unskew: --clock: this machine has no clock "realtime_coarse" that shows ns
status 0

# A recorder's own output and exit status; beside it what the clock did, a line a second.
$ unskew record -q -o clock.csv -- sh -c 'echo recorded; sleep 1.2; exit 7'; echo status $?
recorded
status 7
$ sed -n 's/^# \(unskew clock log, raw clock of boot\) [^ ]*, host .*/\1/p; 2p' clock.csv; awk -F, '/^realtime/ { n++; ok += $2 <= $4 && $4 - $2 < 1e9 && NF == 7 } END { print n, ok }' clock.csv
unskew clock log, raw clock of boot
clock,before_ns,time_ns,after_ns,rate_e12,status,event
3 3
$ unskew record -o clock.csv -- true; echo status $?
status 1
! unskew: clock.csv: exists already; use --force to replace it
$ unskew record -q -f -o clock.csv -- sh -c 'kill -TERM $$'; echo status $?
status 143
$ unskew record -q -f -o clock.csv -- ./nonesuch; echo status $?
status 127
! unskew: ./nonesuch: No such file or directory
$ unskew record -q -f -o clock.csv -- sleep 100 & sleep 0.5; kill -TERM $!; wait $!; echo status $?
status 143
$ unskew record -o /nonesuch/clock.csv -- true; echo status $?
status 1
! unskew: /nonesuch/clock.csv: cannot be written: No such file or directory
$ unskew clock --log log.csv --seconds 0.1; echo status $?; grep -c ^realtime log.csv
status 0
2

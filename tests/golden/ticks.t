# Raw counters: a rate for each clock, in Hz or with a unit; every command takes it.
$ (echo sender,receiver,sent_ticks,received_ticks; for t in 1 2 3 4 5; do echo a,b,${t}000000,$((t*1000010)); echo b,a,$((t*1000000+50)),$((t*1000000+60)); done) >t.csv; unskew sync -q t.csv --tick-rate a=1MHz --tick-rate b=1000.010kHz -o clocks.json
$ unskew convert clocks.json b:5000000 b:5s --tick-rate b=1000010
4999950000	4999989499	4999948865	5000030118
5000000000	5000039499	4999998865	5000080118
$ echo 5000000 | unskew convert clocks.json -c b --tick-rate b=1.00001MHz
4999950000	4999989499	4999948865	5000030118
$ unskew before clocks.json a:1000000 b:2000010 --tick-rate a=1MHz --tick-rate b=1000010Hz
yes 999968869
$ unskew apply -q clocks.json t.csv -o f.csv --tick-rate a=1000000 --tick-rate b=1000010; head -n 2 f.csv
sender,receiver,sent_ticks,sent_ns,received_ticks,received_ns
a,b,1000000,1000000000,1000010,1000019500
# Without rates nothing is left of such a table; a rate is for a clock that is there.
$ unskew sync t.csv
! unskew: t.csv: line 2: is in ticks of a counter: give its rate with --tick-rate a=HZ; 10 rows skipped, this is the first
? 1
$ unskew apply clocks.json t.csv -o g.csv; ls g.csv
! unskew: t.csv: line 2: is in ticks of a counter: give its rate with --tick-rate a=HZ; 10 rows skipped, this is the first
! ls: cannot access 'g.csv': No such file or directory
? 2
$ unskew convert clocks.json b:5 --tick-rate z=1
! unskew: --tick-rate z=1: the table has no clock of that name
? 2
$ for r in 1e6 0 -5Hz 1.0000001 99999999999GHz MHz ''; do unskew sync t.csv --tick-rate a=$r; done
! unskew: --tick-rate a=1e6: write NAME=HZ, such as 24000000 or 24MHz, with at most 6 decimals of a Hz
! unskew: --tick-rate a=0: write NAME=HZ, such as 24000000 or 24MHz, with at most 6 decimals of a Hz
! unskew: --tick-rate a=-5Hz: write NAME=HZ, such as 24000000 or 24MHz, with at most 6 decimals of a Hz
! unskew: --tick-rate a=1.0000001: write NAME=HZ, such as 24000000 or 24MHz, with at most 6 decimals of a Hz
! unskew: --tick-rate a=99999999999GHz: write NAME=HZ, such as 24000000 or 24MHz, with at most 6 decimals of a Hz
! unskew: --tick-rate a=MHz: write NAME=HZ, such as 24000000 or 24MHz, with at most 6 decimals of a Hz
! unskew: --tick-rate a=: write NAME=HZ, such as 24000000 or 24MHz, with at most 6 decimals of a Hz
? 2

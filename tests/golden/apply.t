# Re-timed traces have no inversions, and the stamps as recorded are kept.
$ cp $DATA/host?.pcap .; unskew sync -q host0.pcap host1.pcap -o clocks.json
$ mkdir out; unskew apply clocks.json host0.pcap host1.pcap -o out
! Wrote out/host0.pcap.
! Wrote out/host1.pcap.
$ ls out
host0.pcap
host1.pcap
$ unskew check out/host0.pcap out/host1.pcap | sed 1d | tr -s ' ' | cut -d ' ' -f 1-5
host0 -> host1 55 0
host1 -> host0 57 0

Matched 112 messages.
An inversion is a causality
$ cmp host0.pcap out/host0.pcap >/dev/null && echo the reference keeps its stamps
the reference keeps its stamps
# A stamp of the reference stays; one of the other clock moves, and its bounds are absolute.
$ unskew convert clocks.json --clock host0 1700000000500000000
1700000000500000000	1700000000500000000	1700000000500000000	1700000000500000000
$ unskew convert clocks.json host1:1700000001.5s host1:2023-11-14T22:13:21.5Z
1700000001500000000	1700000000499989497	1700000000499936360	1700000000500041380
1700000001500000000	1700000000499989497	1700000000499936360	1700000000500041380
$ printf '1700000001500000000\n' | unskew convert clocks.json --clock host1
1700000001500000000	1700000000499989497	1700000000499936360	1700000000500041380
$ unskew convert clocks.json --clock host7 5
! unskew: host7: the table has no clock of that name
? 2
$ unskew convert clocks.json --clock host1 soon
! unskew: "soon" is not a time: write ns, 1700000000.5s or 2023-11-14T22:13:20.5Z
? 2
$ unskew convert out/host0.pcap --clock host1 5
! unskew: out/host0.pcap: line 1: not JSON: '[' or '{' expected near 'M'
? 1
# What exists is not replaced, and a trace that clocks.json does not know is refused.
$ unskew apply clocks.json host0.pcap -o out/host0.pcap
! unskew: out/host0.pcap: exists already; use --force to replace it
? 1
$ cp $DATA/other.pcap .; unskew apply clocks.json other.pcap -o out
! unskew: other.pcap: it is unknown which clock stamped it; say so with NAME=other.pcap
? 1
# Wrong arguments are wrong usage; a wrong line of the input is not.
$ unskew convert clocks.json host7:5
! unskew: "host7" is not a clock of the table
? 2
$ unskew convert clocks.json 5
! unskew: "5" names no clock: write CLOCK:T or give --clock
? 2
$ echo host7:5 | unskew convert clocks.json
! unskew: line 1: "host7" is not a clock of the table
? 1
$ unskew convert clocks.json --clock host1 9000000000000000000
! unskew: 9000000000000000000 is out of range
? 2
# Of a clock that was stepped backward and has several traces, each begins in the epoch that sync found. Of one that sync did not have two epochs may have shown the first stamps: that is said, as stamps would be off by the step.
$ unskew simulate -q -o rotated --format table --seed 5 --rate 20 --seconds 60 --offset 0s --drift-ppm 0 --step host1@20s:-8s
$ for n in 1800 880; do head -n $n rotated/messages.csv >one.csv; (head -n 1 rotated/messages.csv; tail -n +$((n + 1)) rotated/messages.csv) >two.csv; unskew sync -q -f one.csv two.csv -o rotated.json; for t in one two; do unskew apply -q -f rotated.json $t.csv -o $t-out.csv && unskew check $t-out.csv | grep -i violations; done; done
? 1
$ cp two.csv three.csv; unskew apply -q rotated.json three.csv -o three-out.csv
! unskew: three.csv: clock host1 was stepped backward, and nothing tells whether the first stamps here are from before or after that, as it has other traces; apply all of them as one, joined in the order in which they were recorded
? 1
$ unskew simulate -q -o rotated -f --format pcap --seed 5 --rate 20 --seconds 60 --offset 0s --drift-ppm 0 --step host1@20s:-8s
$ p=rotated/host1.pcap; head -c 165664 $p >one.pcap; (head -c 24 $p; tail -c +165665 $p) >two.pcap; unskew sync -q -f rotated/host0.pcap host1=one.pcap host1=two.pcap -o rotated.json
$ cp two.pcap three.pcap; for o in merge timeline; do unskew apply -q rotated.json rotated/host0.pcap host1=three.pcap --$o three.out; done; [ -e three.out ] || echo none
none
! unskew: three.pcap: clock host1 was stepped backward, and nothing tells whether the first stamps here are from before or after that, as it has other traces; apply all of them as one, joined in the order in which they were recorded
! unskew: three.pcap: clock host1 was stepped backward, and nothing tells whether the first stamps here are from before or after that, as it has other traces; apply all of them as one, joined in the order in which they were recorded

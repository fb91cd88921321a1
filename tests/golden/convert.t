$ printf 'sender,receiver,sent_ns,received_ns\na,b,100000,130000\nb,a,150000,180000\na,b,1000200000,1000230000\nb,a,1000250000,1000280000\n' > t.csv
$ unskew sync -q --model linear --reference a t.csv -o clocks.json > table.txt
# A column of a text file: the line as it is, then the three.
$ printf 'time,what\n130000,got\n150000,sent\n\n' | unskew convert clocks.json -c b --field 1 --separator ,
time,what,reference_ns,lo_ns,hi_ns
130000,got,129995,79998,180002
150000,sent,149995,100000,200000

$ printf 'x  130000 got\n\ty 150000\n' | unskew convert clocks.json -c b --field 2
x  130000 got 129995 79998 180002
	y 150000 149995 100000 200000
$ printf 'x\tb:130000\t"y z"\n' | unskew convert clocks.json -F 2 -s tab
x	b:130000	"y z"	129995	79998	180002
$ printf '"130000";1\n' | unskew convert clocks.json -c b -F 1 -s ';'
"130000";1;129995;79998;180002
$ printf 'a,5\nb\n' | unskew convert clocks.json -c b -F 2 -s ,
a,5,0,-50010,50020
! unskew: line 2: there is no field 2
? 1
$ printf 'a,5\nb,soon\n' | unskew convert clocks.json -c b -F 2 -s ,
a,5,0,-50010,50020
! unskew: line 2: "soon" is not a time: write ns, 1700000000.5s or 2023-11-14T22:13:20.5Z
? 1
# Not enough said, or too much.
$ unskew convert clocks.json -c b -s ,
! unskew: --separator needs --field N or --column NAME: where the stamp is
? 2
$ unskew convert clocks.json -c b -F 2 -s ,,
! unskew: --separator ,,: is one character, or "tab"
? 2
$ unskew convert clocks.json -c b -F 2 5
! unskew: --field reads standard input; do not pass stamps as well
? 2
$ unskew convert clocks.json -c b -F 0
! unskew: --field: 0 is less than 1
? 2
# Far from all messages it is extrapolated, and says so once.
$ unskew convert clocks.json -c b 20000000s 30000000s
20000000000000000	19999999999999995	19998000200030014	20001999799969986
30000000000000000	29999999999999995	29997000300020014	30002999699979986
! unskew: note: stamp 20000000000000000 of b lies 19900000 s outside the recording, which spans 1.00 s: its time is extrapolated (holdover), and the error bounds are valid if the clock's rate stayed within the same limits until then
$ unskew before clocks.json b:20000000s a:10000000s
no 9998000200010015
! unskew: note: stamp 20000000000000000 of b lies 19900000 s outside the recording, which spans 1.00 s: its time is extrapolated (holdover), and the error bounds are valid if the clock's rate stayed within the same limits until then
# Years away it is refused: a stamp in another unit, or of another clock.
$ unskew convert clocks.json -c b 1800000000s
! unskew: stamp 1800000000000000000 ns is years away from the recording of b, so it is not of that clock
? 1
$ unskew simulate -q -o now --seconds 5; unskew sync -q now/host0.pcap now/host1.pcap -o now.json
$ unskew convert now.json -c host1 1700000002
! unskew: stamp 1700000002 cannot be in ns: that is years away from the recording of host1; if it is in s, write 1700000002s
? 1
$ unskew convert now.json -c host1 1700000002123
! unskew: stamp 1700000002123 cannot be in ns: that is years away from the recording of host1; if it is in ms, write 1700000002123ms
? 1
$ unskew convert now.json -c host1 1700000002123456
! unskew: stamp 1700000002123456 cannot be in ns: that is years away from the recording of host1; if it is in us, write 1700000002123456us
? 1
$ unskew convert now.json -c host1 2
! unskew: stamp 2 ns is years away from the recording of host1, so it is not of that clock
? 1
$ printf '1700000002s\n1700000002\n' | unskew convert now.json -c host1
1700000002000000000	1700000000999980092	1700000000999929237	1700000001000031976
! unskew: line 2: stamp 1700000002 cannot be in ns: that is years away from the recording of host1; if it is in s, write 1700000002s
? 1
$ echo '1700000002 GET /' | unskew convert now.json -c host1 --field 1
! unskew: line 1: stamp 1700000002 cannot be in ns: that is years away from the recording of host1; if it is in s, write 1700000002s
? 1
$ unskew before now.json host1:1700000002 host0:1700000002s
! unskew: stamp 1700000002 cannot be in ns: that is years away from the recording of host1; if it is in s, write 1700000002s
? 1
# Two exchanges instead of a table: the other side runs 1.5 times as fast and began 2 us later.
$ unskew convert --exchange 1000,5000,3000 --exchange 2000001000,3000005000,2000003000 3000005000 4500005000 0.000005s
3000005000	2000002000	2000000996	2000003004
4500005000	3000002000	2999998995	3000005005
5000	2000	-3007	7007
$ printf 'what,when\nsent,4500005000\n' | unskew convert --exchange 1000,5000,3000 --exchange 2000001000,3000005000,2000003000 -F 2 -s ,
what,when,reference_ns,lo_ns,hi_ns
sent,4500005000,3000002000,2999998995,3000005005
$ printf '4500005000\n9000000000000\n' | unskew convert --exchange 1000,5000,3000 --exchange 2000001000,3000005000,2000003000
4500005000	3000002000	2999998995	3000005005
9000000000000	-	-	-
! unskew: note: "-" stands where a stamp is further than --max-age from the second exchange
? 3
$ unskew convert --exchange 1000,5000,3000 --exchange 2000001000,3000005000,2000003000 --allowance-ppm 0 --max-age 3h 9000000000000
9000000000000	5999999998667	5999993992635	6000006004699
# Not two, no exchange, not one after the other, of both kinds, nothing at all.
$ unskew convert --exchange 1,2,3 5
! unskew: --exchange: two of them say how the clocks run, and 1 was given
? 2
$ unskew convert --exchange 1,2,3 --exchange 1,2 5
! unskew: --exchange 1,2: is not BEFORE,REMOTE,AFTER: "" is not a decimal number
? 2
$ unskew convert --exchange 1,2,3 --exchange 1,2,3 5
! unskew: --exchange: the second exchange is not after the first on both clocks
? 1
$ unskew convert --exchange 1,2,3 --exchange 1,2,3 --clock b 5
! unskew: --clock is of a table of clocks, and --exchange needs none
? 2
$ unskew convert
! unskew: convert needs CLOCKS, a table of clocks that `unskew sync` wrote, or --exchange twice
? 2

# Two clocks in both directions, and a third that only listens.
# needs: with-CLP
$ printf 'sender,receiver,sent_ns,received_ns\na,b,100000,130000\nb,a,150000,180000\na,b,1000200000,1000230000\nb,a,1000250000,1000280000\nb,c,300000,5000\nb,c,1000300000,1000005000\n' > t.csv
$ unskew sync -q --model linear --reference a t.csv -o clocks.json > table.txt
? 3
# Yes and no with the margin, or neither.
$ unskew before clocks.json a:100000 b:200000
yes 40000
$ unskew before clocks.json b:200000 a:100000
no 40000
$ unskew before clocks.json a:150000 b:150000
undecidable 60000
? 3
# One clock is compared as it is.
$ unskew before clocks.json b:5 b:7
yes 2
$ unskew before clocks.json b:7 b:5
no 2
$ unskew before clocks.json b:7 b:7
undecidable 0
? 3
# A clock that is bounded on one side can still be behind.
$ unskew before clocks.json a:100000 c:5000
yes 138899
$ unskew before clocks.json c:5000 a:100000
no 138899
$ unskew before clocks.json c:5000 c:5001
yes 1
$ unskew before clocks.json c:1 b:900000000
undecidable 899806104
? 3
# Two a line.
$ printf 'a:100000 b:200000\n\nb:1s\ta:1s\n' | unskew before clocks.json
yes 40000
undecidable 60000
? 3
$ printf 'a:100000 b:200000\na:100000\n' | unskew before clocks.json
yes 40000
! unskew: line 2: "a:100000" is not two stamps: write A:T B:T
? 1
$ unskew before clocks.json a:1
! unskew: before needs two stamps: unskew before CLOCKS A:T B:T
? 2
$ unskew before clocks.json a:1 d:2
! unskew: "d" is not a clock of the table
? 2
# Clocks that nothing ties together.
$ printf 'sender,receiver,sent_ns,received_ns\na,b,1,2\nb,a,3,4\nx,y,1,2\ny,x,3,4\n' > two.csv
$ unskew sync -q --model linear two.csv -o two.json > table.txt
$ unskew before two.json a:1 x:2
undecidable -
! unskew: note: no chain of messages connects a with x: their times cannot be compared
! unskew: note: "-": one of the two clocks has no bounds at that time, so there is no margin
? 3
# A clock that was set back by 20 ms, which no record shows: the order of two stamps of it around that is not known.
$ unskew simulate -q -o twice --rate 10 --seconds 20 --offset 0s --drift-ppm 0 --step host1@10.021s:-20ms; unskew sync -q twice/host0.pcap twice/host1.pcap -o twice.json; unskew before twice.json host1:1700000010.010s host1:1700000010.015s
undecidable 120821732
? 3
$ unskew before twice.json host1:1700000005s host1:1700000010.015s
yes 5015000000

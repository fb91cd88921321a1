# A dozen hosts: every clock over the shortest way, each trace re-timed into a folder, all merged.
# needs: tcpdump
$ unskew simulate -o h --hosts 12 --seconds 5 --rate 5 --topology mesh --neighbours 4 --seed 3 -q
$ unskew sync h/host*.pcap -q -o c.json; grep -c '"quality": "bounded"' c.json
77
$ unskew apply c.json h/host*.pcap -o out --merge all.pcapng -q; ls out | wc -l
12
$ tcpdump -r all.pcapng -tt 2>/dev/null | awk '$1 < last { n++ } { last = $1 } END { print (NR > 1000), n + 0 }'
1 0
# No more open files than that for one process, unless it asks for what it may have.
$ (ulimit -Sn 12; unskew apply c.json h/host*.pcap --merge again.pcapng -q; cmp all.pcapng again.pcapng && echo same)
same
$ (ulimit -n 12; unskew apply c.json h/host*.pcap --merge third.pcapng 2>&1 | cut -d: -f 1,3-)
unskew: Too many open files; raise the limit with `ulimit -n`
# One file of two hosts: its interfaces have clocks of their own.
$ unskew apply c.json h/host0.pcap h/host1.pcap --merge both.pcapng -q; unskew sync both.pcapng --clock-of both/host1=b --clock-of both/0=a --local a=10.0.0.1 --local b=10.0.0.2 -o two.json | sed -n 2,3p
a      reference  0                           0                51        50
b      bounded    0.0 us ± 52.2 us            0 (-29 to 31)    50        51
! Wrote two.json.
$ grep -A 4 '"interfaces"' two.json | head -n 5
      "interfaces": [{"interface": "host1", "clock": "b"}, {"interface": "0", "clock": "a"}]
    }
  ],
  "messages": {
    "matched": 101,
$ unskew apply two.json both.pcapng -o again.pcapng -fq; unskew apply two.json both.pcapng --merge merged.pcapng -q; tcpdump -r merged.pcapng 2>/dev/null | wc -l
1703
$ unskew sync both.pcapng --clock-of both/eth7=b
! unskew: --clock-of both/eth7=b: both.pcapng has no such interface; it has 0 host0, 1 host1
? 2
$ unskew sync both.pcapng --clock-of both
! unskew: --clock-of both: should be NAME/INTERFACE=CLOCK
? 2
# Files of one clock are one trace.
$ unskew sync host0=h/host0.pcap host0=h/host1.pcap -q
! unskew: all 2 traces are of one clock, "host0"; give the trace of another machine too, or give them different names with NAME=PATH
? 1
$ unskew apply c.json h/host0.pcap --merge first.pcapng -q; unskew sync b=both.pcapng b=first.pcapng c=h/host2.pcap | sed -n 2,3p
b      reference  0                           0                 46        40
c      bounded    -1.0000497 s ± 59.0 us      20 (-13 to 49)    40        46
# A capture that has moved is of the clock that its name says, and not of the interfaces that others have.
$ unskew sync both.pcapng c=h/host2.pcap --clock-of both/host1=b --clock-of both/0=a --local a=10.0.0.1 --local b=10.0.0.2 --local c=10.0.0.3 -q -o three.json; cp h/host2.pcap moved.pcap; unskew apply -q three.json c=h/host2.pcap -o there.pcap; unskew apply -q three.json c=moved.pcap -o here.pcap; cmp there.pcap here.pcap && echo the same
the same
# Messages that go round in a circle, one way only, and a clock that gains 1 ppm from 50 s on: its estimate wanders no more than it has to. 20, 60 and 90 s in truth.
$ awk 'function at(k, t) { return k == "b" && t > 5e10 ? t + (t - 5e10) * 1e-6 : t } BEGIN { print "sender,receiver,sent_ns,received_ns"; for (t = 0; t < 1e11; t += 1e9) for (k = 1; k < 4; k++) { x = substr("abca", k, 1); y = substr("abca", k + 1, 1); u = t + k * 1e8; printf "%s,%s,%.0f,%.0f\n", x, y, at(x, u), at(y, u + 1000 + n++ * 7919 % 3000) } }' >circle.csv; unskew sync circle.csv -q -o circle.json && unskew convert circle.json --clock b 20000000000 60000010000 90000040000
20000000000	20000001209	19999996931	20000006888
60000010000	60000001254	59999997513	60000008372
90000040000	90000001300	89999995856	90000008168
# Of many clocks of which the same is said five are named and the others counted; of five there are no others.
$ for n in 1 5 8; do { echo sender,receiver,sent_ns,received_ns; i=0; while [ $((i += 1)) -le $n ]; do echo "hub,c$i,1000000${i}07,1000200${i}13"; done; } >hub.csv; unskew sync hub.csv | grep -o '[^ ].* bounded on one side'; done
Note: all messages go from hub to c1, so the offset is bounded on one side
Note: c1, c2, c3, c4 and c5 are bounded on one side
Note: c1, c2, c3, c4, c5 and 3 more are bounded on one side
# Where rates are constant a clock without a message is absent: it contradicts nobody.
$ printf 'clock,time_ns,kind,id\na,1000000123,send,1\nb,1000200456,recv,1\nb,2000000123,send,2\na,2000200456,recv,2\nc,2000000123,send,3\n' >alone.csv; unskew sync alone.csv --model linear | sed -n '2,4p;/^Note/p'
a      reference  0                           0                     1         1
b      bounded    0 us ± 451 us               200 (-401 to 500)     1         1
c      absent     -                           -                     0         0
Note: c shares no message with any other clock

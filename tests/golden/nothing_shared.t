# Two captures of different traffic: status 3, and the table says that nothing ties the clocks.
$ unskew sync client=$DATA/host0.pcap server=$DATA/other.pcap -o clocks.json
clock   quality    offset mid-trace (± bound)  drift, ppm  sent  received
client  reference  0                           0              0         0
server  absent     -                           -              0         0

Matched 0 messages.
Note: client and server share no message: check that both captures saw the same traffic
! Wrote clocks.json.
? 3
$ grep -c '"quality": "absent"' clocks.json
2
# Half of the traffic is of two other machines, which nothing places: what would tell is said.
$ unskew simulate -q -o own --seconds 5 --rate 20 --offset 3ms; unskew simulate -q -o others --hosts 4 --topology chain --seconds 5 --rate 20 --offset 0 --start 1700000010000000000 --ttl-hops 0 --proto udp --one-way
$ for i in 0 1; do (cat own/host$i.pcap; tail -c +25 others/host$((i + 2)).pcap) > m$i.pcap; done; unskew sync m0.pcap m1.pcap | grep -E 'Matched|Note'
Matched 282 messages; not used: 98 without a partner, 106 of unknown direction.
Note: m0 and m1: nothing shows which machine sent 106 of the 388 packets that both captures hold, so they are left out; state the address of each machine with --local NAME=ADDRESS
$ unskew sync m0.pcap m1.pcap --local m0=10.0.0.1 --local m1=10.0.0.2 | grep -c Note
0
? 1
# Nor are there lines of three clocks that share nothing: every estimator has its row, of no answers.
$ for i in 0 1 2; do unskew simulate -q -o t$i --seconds 1 --seed $i --start 170000000${i}000000000; cp t$i/host0.pcap c$i.pcap; done
$ unskew compare c0.pcap c1.pcap c2.pcap --json --method hull,support >compare.json; echo status $?; grep -E '"(pairs|name|answers)"' compare.json
status 0
  "pairs": [],
        "name": "hull",
        "answers": 0,
        "name": "support",
        "answers": 0,

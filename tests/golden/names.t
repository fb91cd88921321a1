# Clocks are called after their files; equal names take their folders; NAME= decides.
$ mkdir a; cp $DATA/host?.pcap a
$ mkdir -p run1/x run2/x; cp a/host0.pcap run1/x/eth0.pcap; cp a/host1.pcap run2/x/eth0.pcap
$ unskew check run1/x/eth0.pcap run2/x/eth0.pcap | sed 1d
run1/x/eth0 -> run2/x/eth0        55           0   1.00005 s   1.00011 s   1.00021 s   1.00021 s
run2/x/eth0 -> run1/x/eth0        57          57  -999.98 ms  -999.92 ms  -999.74 ms  -999.74 ms

Matched 112 messages.
An inversion is a causality violation: a message received before it was sent, by the recorded stamps.
$ unskew check client=run1/x/eth0.pcap run2/x/eth0.pcap | sed 1d
client -> eth0        55           0   1.00005 s   1.00011 s   1.00021 s   1.00021 s
eth0 -> client        57          57  -999.98 ms  -999.92 ms  -999.74 ms  -999.74 ms

Matched 112 messages.
An inversion is a causality violation: a message received before it was sent, by the recorded stamps.
$ unskew sync --reference nobody a/host0.pcap a/host1.pcap
! unskew: --reference nobody: there is no such clock; "host0" is one
? 2
$ unskew sync --local host9=10.0.0.1 a/host0.pcap a/host1.pcap
! unskew: --local host9=10.0.0.1: there is no such clock; "host0" is one
? 2
$ unskew sync --local host0=10.0.0.0.1 a/host0.pcap a/host1.pcap
! unskew: --local host0=10.0.0.0.1: "10.0.0.0.1" is not an IPv4 or IPv6 address
? 2
# A name that is no UTF-8 is told all the same.
$ unskew check "$(printf 'b\377=a/host0.pcap')" a/host1.pcap --json | grep -e '"a"' -e '"b"'
      "a": "b\\xff",
      "b": "host1",
# What a terminal would obey, and marks that turn text round, are shown.
$ printf 'sender,receiver,sent_ns,received_ns\na\302\2331mx,b\342\200\256y,100,200\nb\342\200\256y,a\302\2331mx,300,400\n\2330m,b\342\200\256y,300,400\n' >obeyed.csv; unskew check obeyed.csv | sed 2,4!d
a\u009b1mx -> b\u202ey         1           0     100 ns  100 ns  100 ns  100 ns
b\u202ey -> a\u009b1mx         1           0     100 ns  100 ns  100 ns  100 ns
b\u202ey -> \x9b0m             0           0          -       -       -       -
$ unskew check "$(printf 'no\302\233where\342\200\256')"
! unskew: no\u009bwhere\u202e: No such file or directory
? 1
# Names of files are shown, not obeyed, where they are said to be written.
$ printf '%s\n' sender,receiver,sent_ns,received_ns a,b,100,300 b,a,400,500 >t.csv
$ unskew sync t.csv -o "$(printf 'c\302\205\342\200\256.json')" | tail -n 1
The bounds are valid while these assumptions hold.
! Wrote c\u0085\u202e.json.
$ unskew report t.csv -o "$(printf 'r\302\233.html')" | grep -v "built without"
Add -50 ns ± 251 ns to a stamp of b in the middle of its trace to get the time of a; its drift is 0 (-500 to 500) ppm. Of 2 messages 0 were received before sent as recorded, 0 after correction.
! Wrote r\u009b.html.

# Three clocks that keep what they claim: status 0.
$ printf 'sender,receiver,sent_ns,received_ns\na,b,1000000000,1000100000\nb,a,1000200000,1000300000\nb,c,2000000000,2000050000\nc,b,2000100000,2000150000\na,c,2000000000,2000100000\nc,a,2000200000,2000300000\n' >m.csv
$ printf 'clock,time_ns,offset_ns,error_ns\na,1000000000,0,50000\na,2000000000,0,50000\nb,2000000000,0,50000\nc,2000000000,0,50000\n' >true.csv; unskew audit --claims true.csv m.csv
claimant  claims   claimed  bounded by others  confirmed  wrong unseen by at most
a              2  ±50.0 us                  2          0                   701 us
b              1  ±50.0 us                  1          0                   101 us
c              1  ±50.0 us                  1          0                   101 us

Medians. Bounded by others: claims of others and messages leave an interval for UTC there;
confirmed: it lies within the claim; else the claim may be wrong by so much without being found.

All claims and messages are consistent.
# One that is 3 ms off, and says 50 us: status 3, and its name.
$ sed 's/c,2000000000,0/c,2000000000,3000000/' true.csv >lie.csv; unskew audit --claims lie.csv m.csv
claimant  claims   claimed  bounded by others  confirmed  wrong unseen by at most
a              2  ±50.0 us                  2          0                   650 us
b              1  ±50.0 us                  1          0                   301 us
c              1  ±50.0 us                  1          0                  3.11 ms

Medians. Bounded by others: claims of others and messages leave an interval for UTC there;
confirmed: it lies within the claim; else the claim may be wrong by so much without being found.

1. Cannot all be true, by at least 2.79 ms:
   c claimed UTC - c = 3.0000 ms ± 50.0 us (lie.csv, line 5):
     when c showed 2.000000000, UTC was 2.002950000 at the earliest.
   From 2.000000000 to 2.000100000, 100 us, c gains or loses at most 50 ns.
   c sent a message at 2.000100000 that b received at 2.000150000.
   From 2.000000000 to 2.000150000, 150 us, b gains or loses at most 75 ns.
   b claimed UTC - b = 0.0 us ± 50.0 us (lie.csv, line 4):
     when b showed 2.000000000, UTC was 2.000050000 at the latest.

2. Cannot all be true, by at least 2.69 ms:
   c claimed UTC - c = 3.0000 ms ± 50.0 us (lie.csv, line 5):
     when c showed 2.000000000, UTC was 2.002950000 at the earliest.
   From 2.000000000 to 2.000200000, 200 us, c gains or loses at most 100 ns.
   c sent a message at 2.000200000 that a received at 2.000300000.
   From 2.000000000 to 2.000300000, 300 us, a gains or loses at most 150 ns.
   a claimed UTC - a = 0.0 us ± 50.0 us (lie.csv, line 3):
     when a showed 2.000000000, UTC was 2.000050000 at the latest.

c is wrong, or its clock was stepped; or at least 2 others are, of 3 that were tested.
? 3
$ unskew audit -c lie.csv m.csv --json | sed -n '/contradictions/,/^    }/p'
  "contradictions": [
    {
      "gap_ns": 2799850,
      "earliest": {
        "by": "c",
        "clock": "c",
        "file": "lie.csv",
        "line": 5,
        "time_ns": 2000000000,
        "lo_ns": 2950000,
        "hi_ns": 3050000
      },
      "latest": {
        "by": "b",
        "clock": "b",
        "file": "lie.csv",
        "line": 4,
        "time_ns": 2000000000,
        "lo_ns": -50000,
        "hi_ns": 50000
      },
      "steps": [
        {
          "clock": "c",
          "from_ns": 2000000000,
          "to_ns": 2000100000
        },
        {
          "sender": "c",
          "sent_ns": 2000100000,
          "receiver": "b",
          "received_ns": 2000150000
        },
        {
          "clock": "b",
          "from_ns": 2000000000,
          "to_ns": 2000150000
        }
      ]
    },
# Two clocks: nothing decides who.
$ grep -v ^b lie.csv >two.csv; grep -v b m.csv >n.csv; unskew audit -c two.csv n.csv | tail -1
Nothing decides who: in each of these a claim is wrong, or a clock that is named was stepped.
# A clock that contradicts itself needs no other.
$ printf 'clock,time_ns,earliest_ns,latest_ns\na,1000,900,1100\na,2000,99000,99100\n' >self.csv; unskew audit -c self.csv | tail -9

1. Cannot all be true, by at least 96.8 us:
   a claimed UTC - a = 97.050 us ± 50 ns (self.csv, line 3):
     when a showed 0.000002000, UTC was 0.000099000 at the earliest.
   From 0.000001000 to 0.000002000, 1.00 us, a gains or loses at most 1 ns.
   a claimed UTC - a = 0 ns ± 100 ns (self.csv, line 2):
     when a showed 0.000001000, UTC was 0.000001100 at the latest.

a is wrong, or its clock was stepped: no other is needed to tell.
# Clocks that are known to run better are held to more.
$ unskew audit -c true.csv m.csv --max-skew-ppm 10 | grep ^a
a              2  ±50.0 us                  2          0                   211 us
# chrony's logs: whole seconds, the clock by NAME=; what it measured of a source is the source's claim.
$ printf '===\n   Date (UTC) Time     IP Address   St\n===\n2017-08-22 13:22:36 203.0.113.15     2     -3.541      0.075 -8.621e-06 N  2  2.940e-03 -2.084e-04  1.534e-02  3.472e-04  8.304e-03\n2017-08-22 13:22:38 203.0.113.15     2     -3.541      0.075 -8.621e-06 ?  2  2.940e-03 -2.084e-04  1.534e-02  3.472e-04  8.304e-03\n' >tracking.log
$ printf '2017-08-22 13:22:36 203.0.113.15    N  2 111 111 1111  10 10 1.0 -9.966e-01  2.296e-01  1.577e-05  1.615e-01  7.446e-03 CB00717B 4B D K\n' >measurements.log
$ unskew audit -c h=tracking.log -c h=measurements.log
claimant      claims   claimed  bounded by others  confirmed  wrong unseen by at most
h                  1  ±8.31 ms                  1          0                   1.20 s
203.0.113.15       1   ±204 ms                  1          0                   803 ms

Medians. Bounded by others: claims of others and messages leave an interval for UTC there;
confirmed: it lies within the claim; else the claim may be wrong by so much without being found.
Rows that claim nothing, as a clock was not synchronised, or a test failed: 1.

1. Cannot all be true, by at least 784 ms:
   h claimed UTC - h = 0.00 ms ± 8.31 ms (h=tracking.log, line 4):
     when h showed 1503408156.000000000 (or up to 1 s more), UTC was 1503408155.991695000 (and as much more) at the earliest.
   203.0.113.15 claimed UTC - h = -997 ms ± 204 ms (h=measurements.log, line 1):
     when h showed 1503408156.000000000 (or up to 1 s more), UTC was 1503408155.206612780 (and as much more) at the latest.

Nothing decides who: in each of these a claim is wrong, or a clock that is named was stepped.
! unskew: note: measurements.log: chronyd measures its own time, from which the clock of h differs while it is slewed
? 3
# Nothing to hold them against: status 1.
$ unskew audit -c h=tracking.log
claimant  claims   claimed  bounded by others  confirmed  wrong unseen by at most
h              1  ±8.31 ms                  0          0                        -

Medians. Bounded by others: claims of others and messages leave an interval for UTC there;
confirmed: it lies within the claim; else the claim may be wrong by so much without being found.
Rows that claim nothing, as a clock was not synchronised, or a test failed: 1.
! unskew: no claim was tested: no claims of two claimants are connected by messages in both directions, or on one clock
? 1
# What is no claim.
$ unskew audit m.csv
! unskew: audit needs claims: --claims [NAME=]FILE
? 2
$ printf '1795775932.877418121,7F000001,127.0.0.1,4,1795775932.782053309,-0.000001522,0.000000187,0.000000330,0.210,0.022,3.589,0.000006952,0.000000688,0.3,Normal\n1795775933.9,7F000001,127.0.0.1,4,1795775933.0,0.0,0.0,0.0,0.0,0.0,0.0,1.0,1.0,0.3,Not synchronised\n1795775934.9,7F000001,127.0.0.1,4\n' >samples.csv; unskew audit -c h=samples.csv
claimant  claims   claimed  bounded by others  confirmed  wrong unseen by at most
h              1  ±5.69 us                  0          0                        -

Medians. Bounded by others: claims of others and messages leave an interval for UTC there;
confirmed: it lies within the claim; else the claim may be wrong by so much without being found.
Rows that claim nothing, as a clock was not synchronised, or a test failed: 1.
! unskew: note: samples.csv: line 3: it is not a stamp in s and the 14 columns of chronyc -c tracking; 1 row skipped
! unskew: no claim was tested: no claims of two claimants are connected by messages in both directions, or on one clock
? 1
$ printf 'clock,time_ns,offset_ns,error_ns\nh,1795775932900000000,100000,1000\n' >true.utc; unskew audit -c h=samples.csv -c true.utc --max-skew-ppm 20 | sed -n '/^1\./,$p'
1. Cannot all be true, by at least 72.8 us:
   h claimed UTC - h = 100.00 us ± 1.00 us (true.utc, line 2):
     when h showed 1795775932.900000000, UTC was 1795775932.900099000 at the earliest.
   From 1795775932.877418121 to 1795775932.900000000, 22.6 ms, h gains or loses at most 452 ns.
   h claimed UTC - h = 0.00 us ± 5.69 us (h=samples.csv, line 1):
     when h showed 1795775932.877418121 (or up to 1 s more), UTC was 1795775932.877423810 (and as much more) at the latest.

h is wrong, or its clock was stepped: no other is needed to tell.
! unskew: note: samples.csv: line 3: it is not a stamp in s and the 14 columns of chronyc -c tracking; 1 row skipped
$ unskew audit -c tracking.log
! unskew: tracking.log: chrony's tracking log does not name its clock: give it as NAME=FILE
? 1
$ unskew audit -c a=true.csv
! unskew: true.csv: its rows name their clocks: give it without NAME=
? 1
$ unskew audit -c m.csv
! unskew: m.csv: it is no file of claims: neither a CSV with clock, time_ns, earliest_ns, latest_ns or clock, time_ns, offset_ns, error_ns, nor chrony's tracking or measurements log, nor stamped output of chronyc -c tracking
? 1
$ printf 'clock,time_ns,offset_ns,error_ns\na,1,2,-3\n' >bad.csv; unskew audit -c bad.csv
! unskew: bad.csv: it has no claim: line 2: error_ns is negative; 1 row skipped
? 1
$ printf '2017-08-31 16:27:19 10.30.121.252 4.611e-06 3.391e-05 5.239e-06 9.759e-07 9.758e-04 4.9e-04 3 0 3 0.00\n' >statistics.log; unskew audit -c h=statistics.log
! unskew: statistics.log: it is no file of claims: neither a CSV with clock, time_ns, earliest_ns, latest_ns or clock, time_ns, offset_ns, error_ns, nor chrony's tracking or measurements log, nor stamped output of chronyc -c tracking
? 1
$ unskew audit -c true.csv -c x=tracking.log m.csv | tail -1
All claims and messages are consistent.
! unskew: note: tracking.log: no message is of x, the clock of its claims
# A name that begins as banners of logs do.
$ printf 'sender,receiver,sent_ns,received_ns\n=a, b,1000,2000\n b,=a,3000,4000\n' >odd.csv; printf '# by hand\nclock,time_ns,offset_ns,error_ns\n=a,1000,0,50000\n b,3000,5000000,50000\n"#c",1,2,3\n' >oddly.csv; unskew audit -c oddly.csv odd.csv
claimant  claims   claimed  bounded by others  confirmed  wrong unseen by at most
 b             1  ±50.0 us                  1          0                  5.01 ms
=a             1  ±50.0 us                  1          0                  5.01 ms
#c             1     ±3 ns                  0          0                        -

Medians. Bounded by others: claims of others and messages leave an interval for UTC there;
confirmed: it lies within the claim; else the claim may be wrong by so much without being found.

1. Cannot all be true, by at least 4.89 ms:
    b claimed UTC -  b = 5.0000 ms ± 50.0 us (oddly.csv, line 4):
     when  b showed 0.000003000, UTC was 0.004953000 at the earliest.
    b sent a message at 0.000003000 that =a received at 0.000004000.
   From 0.000001000 to 0.000004000, 3.00 us, =a gains or loses at most 2 ns.
   =a claimed UTC - =a = 0.0 us ± 50.0 us (oddly.csv, line 3):
     when =a showed 0.000001000, UTC was 0.000051000 at the latest.

Nothing decides who: in each of these a claim is wrong, or a clock that is named was stepped.
! unskew: note: oddly.csv: no message is of #c, the clock of its claims
? 3
# A clock that was set back 16 s showed second 32 twice, and measured one server in both: who tells the truth is not named.
$ printf '2026-11-22 10:00:%s N 2 111 111 1111 6 6 0.1 %s 1.000e-03 1.000e-06 1.000e-03 1.000e-06\n' '16 10.0.0.1' 0.000e+00 '32 10.0.0.1' 0.000e+00 '32 10.0.0.1' 1.600e+01 >twice.log; unskew audit -q -c h=twice.log
claimant  claims   claimed  bounded by others  confirmed  wrong unseen by at most
10.0.0.1       3  ±2.01 ms                  0          0                        -

Medians. Bounded by others: claims of others and messages leave an interval for UTC there;
confirmed: it lies within the claim; else the claim may be wrong by so much without being found.

1. Cannot all be true, by at least 15.9 s:
   10.0.0.1 claimed UTC - h = 16.0000 s ± 11.1 ms (h=twice.log, line 3):
     when h showed 1795341632.000000000 (or up to 1 s more), UTC was 1795341647.988996998 (and as much more) at the earliest.
   h showed 1795341632.000000000 once only, if it was not set back.
   10.0.0.1 claimed UTC - h = 0.00 ms ± 2.01 ms (h=twice.log, line 2):
     when h showed 1795341632.000000000 (or up to 1 s more), UTC was 1795341632.002003002 (and as much more) at the latest.

Nothing decides who: in each of these a claim is wrong, or a clock that is named was stepped.
? 3
# What lies outside of --to says nothing: before b was set by 5 s its claims hold.
$ printf 'sender,receiver,sent_ns,received_ns\na,b,1000000001,1000100003\nb,a,1000200005,1000300007\na,b,2000000009,2000100011\nb,a,7000200013,2000300015\na,b,2500000009,7500100011\n' >set.csv; printf 'clock,time_ns,offset_ns,error_ns\na,1000000001,0,50000\nb,1000100003,0,50000\nb,7000200013,-5000000000,50000\n' >all.csv; unskew audit -r a -c all.csv set.csv --to 1500000000
claimant  claims   claimed  bounded by others  confirmed  wrong unseen by at most
a              1  ±50.0 us                  1          0                   101 us
b              1  ±50.0 us                  1          0                   101 us

Medians. Bounded by others: claims of others and messages leave an interval for UTC there;
confirmed: it lies within the claim; else the claim may be wrong by so much without being found.

All claims and messages are consistent.
! unskew: note: 1 of 3 claims are not used: they lie outside of what --from and --to leave of their clocks' messages
$ unskew audit -c all.csv --to 1500000000
! unskew: --from and --to are times of the reference, which takes traces to tell
? 2

# Of many files one that cannot be read is told and left out, with status 3.
$ cp $DATA/host?.pcap .; : >empty.pcap; echo hello >text
$ unskew check empty.pcap host0.pcap host1.pcap
direction       messages  inversions   min delay      median         p99         max
host0 -> host1        55           0   1.00005 s   1.00011 s   1.00021 s   1.00021 s
host1 -> host0        57          57  -999.98 ms  -999.92 ms  -999.74 ms  -999.74 ms

Matched 112 messages.
An inversion is a causality violation: a message received before it was sent, by the recorded stamps.
! unskew: note: empty.pcap: is empty; the file is skipped
? 3
$ unskew compare host0.pcap host1.pcap text >/dev/null 2>&1
? 3
$ unskew sync empty.pcap host0.pcap host1.pcap
clock  quality    offset mid-trace (± bound)  drift, ppm      sent  received
host0  reference  0                           0                 55        57
host1  bounded    -1.0000191 s ± 54.8 us      17 (-44 to 93)    57        55

Matched 112 messages.
Causality violations (received before sent): 57 before correction, 0 after.
Uncertainty over the trace: ±52.2 us to ±67.2 us, ±55.8 us on average.
One-way delays, median (99 %): host0 -> host1 1.00 s as recorded, 88.6 us (185 us) corrected;
  back -1.00 s as recorded, 93.9 us (277 us) corrected.
Model wander: the rate of each clock is constant within 5 ppm, no two rates differ by more than
500 ppm, no message takes less than its minimum delay (0 ns).
The bounds are valid while these assumptions hold.
! unskew: note: empty.pcap: is empty; the file is skipped
? 3
# An empty file in a folder is told if it is called as the others are; what is no trace is none of them.
$ mkdir web; cp host0.pcap web/web.pcap1; : >web/web.pcap2; : >web/done; echo hello >web/README; unskew check web=web host1.pcap >/dev/null
! unskew: note: web/web.pcap2: is empty; the file is skipped
? 3
# Of two it is the end, as is one that is not there.
$ unskew sync empty.pcap host0.pcap
! unskew: empty.pcap: is empty
? 1
$ unskew sync host0.pcap host1.pcap nowhere.pcap
! unskew: nowhere.pcap: No such file or directory
? 1
# Zeros amid a capture are stepped over, and apply leaves out what sync did.
$ dd if=/dev/zero of=host1.pcap bs=1 seek=5000 count=700 conv=notrunc status=none
$ unskew sync host0.pcap host1.pcap -o clocks.json
clock  quality    offset mid-trace (± bound)  drift, ppm      sent  received
host0  reference  0                           0                 51        53
host1  bounded    -1.0000188 s ± 55.7 us      18 (-44 to 93)    53        51

Matched 104 messages; not used: 8 without a partner.
Causality violations (received before sent): 53 before correction, 0 after.
Uncertainty over the trace: ±52.2 us to ±67.2 us, ±56.3 us on average.
One-way delays, median (99 %): host0 -> host1 1.00 s as recorded, 87.2 us (185 us) corrected;
  back -1.00 s as recorded, 93.2 us (277 us) corrected.
Note: host1.pcap: damaged: 797 bytes in 1 place, the first at byte 5017, were skipped
Model wander: the rate of each clock is constant within 5 ppm, no two rates differ by more than
500 ppm, no message takes less than its minimum delay (0 ns).
The bounds are valid while these assumptions hold.
! Wrote clocks.json.
$ unskew apply clocks.json host1.pcap -o now.pcap
! Wrote now.pcap.
! unskew: note: host1.pcap: damaged: 797 bytes in 1 place, the first at byte 5017, were skipped
$ unskew check now.pcap host0.pcap
direction     messages  inversions  min delay   median     p99     max
now -> host0        53           0    50.9 us  93.2 us  277 us  277 us
host0 -> now        51           0    49.8 us  87.2 us  185 us  185 us

Matched 104 messages; not used: 8 without a partner.
An inversion is a causality violation: a message received before it was sent, by the recorded stamps.
# Links that cannot be read are named; what libpcap calls them is of builds with it.
$ printf '\303' | dd of=host0.pcap bs=1 seek=20 conv=notrunc status=none
$ unskew sync host0.pcap host1.pcap >said
? 3
$ sed "s/ (IEEE802_15_4)//" said
clock  quality    offset mid-trace (± bound)  drift, ppm  sent  received
host0  reference  0                           0              0         0
host1  absent     -                           -              0         0

Matched 0 messages.
Note: host1.pcap: damaged: 797 bytes in 1 place, the first at byte 5017, were skipped
Note: host0: 112 packets of link type 195, which unskew cannot read, were skipped
Note: host0 and host1 share no message: check that both captures saw the same traffic

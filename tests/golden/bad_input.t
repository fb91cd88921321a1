# What is no trace, or cannot be read: one sentence, status 1, and nothing is left behind.
# needs: nobody
$ mkdir w t; cp $DATA/host?.pcap t
$ : >empty.pcap; unskew sync empty.pcap t/host0.pcap -o w/clocks.json
! unskew: empty.pcap: is empty
? 1
$ echo 'this is no capture' >text.pcap; unskew sync text.pcap t/host0.pcap -o w/clocks.json 2>&1 | sed 's/ captures .*//'
unskew: text.pcap: unknown format: unskew reads
$ unskew sync nowhere.pcap t/host0.pcap -o w/clocks.json
! unskew: nowhere.pcap: No such file or directory
? 1
$ unskew sync t/host0.pcap -o w/clocks.json
! unskew: t/host0.pcap: one capture alone shows only one clock; give the capture of a second machine with it
? 1
$ unskew sync t/host0.pcap t/host0.pcap -o w/clocks.json
! unskew: t/host0.pcap and t/host0.pcap are the same file; give the trace of another machine
? 1
$ ln -s t/host0.pcap alias.pcap; unskew sync t/host0.pcap alias.pcap -o w/clocks.json
! unskew: t/host0.pcap and alias.pcap are the same file; give the trace of another machine
? 1
$ cp t/host0.pcap copy.pcap; unskew sync t/host0.pcap copy.pcap -o w/clocks.json
! unskew: t/host0.pcap and copy.pcap hold the same bytes; give the trace of another machine
? 1
$ head -c 24 t/host1.pcap >quiet1.pcap; cp quiet1.pcap quiet2.pcap; unskew sync t/host0.pcap host1=t/host1.pcap host1=quiet1.pcap host1=quiet2.pcap | head -n 3
clock  quality    offset mid-trace (± bound)  drift, ppm      sent  received
host0  reference  0                           0                 55        57
host1  bounded    -1.0000191 s ± 54.8 us      17 (-44 to 93)    57        55
$ cp t/host1.pcap secret.pcap; chmod 000 secret.pcap; as-nobody unskew check t/host0.pcap secret.pcap
! unskew: secret.pcap: Permission denied
? 1
$ ls w
# A header that claims packets of 4 GiB: what is sound behind it is used, in little memory.
$ (head -c 32 t/host1.pcap; printf '\377\377\377\377\377\377\377\377'; head -c 1000 t/host1.pcap) >giant.pcap
$ (ulimit -Sv 400000; unskew --version >/dev/null 2>&1 || ulimit -Sv unlimited; unskew sync t/host0.pcap giant.pcap -o w/clocks.json)
clock  quality    offset mid-trace (± bound)  drift, ppm        sent  received
host0  reference  0                           0                    4         5
giant  bounded    -999.9863 ms ± 74.1 us      83 (-500 to 500)     5         4

Matched 9 messages; not used: 103 without a partner.
Causality violations (received before sent): 5 before correction, 0 after.
Uncertainty over the trace: ±72.2 us to ±74.7 us, ±73.8 us on average.
One-way delays, median (99 %): host0 -> giant 1.00 s as recorded, 117 us (124 us) corrected;
  back -1.00 s as recorded, 77.7 us (159 us) corrected.
Note: giant.pcap: damaged: 130 bytes in 1 place, the first at byte 24, were skipped; cut short: the incomplete packet at byte 1025, 15 bytes, was skipped
Model wander: the rate of each clock is constant within 5 ppm, no two rates differ by more than
500 ppm, no message takes less than its minimum delay (0 ns).
The bounds are valid while these assumptions hold.
! Wrote w/clocks.json.
$ ls w
clocks.json
# What never ends is not copied to the disk first.
$ timeout 20 unskew check t/host0.pcap /dev/zero 2>&1 | sed 's/ captures .*//'
unskew: /dev/zero: unknown format: unskew reads
$ yes | timeout 20 unskew check t/host0.pcap - 2>&1 | sed 's/ captures .*//'
unskew: -: unknown format: unskew reads
$ timeout 20 unskew convert /dev/zero 1
! unskew: /dev/zero: line 1: not JSON: '[' or '{' expected near end of file
? 1
$ timeout 20 unskew sync t/host0.pcap t/host1.pcap --min-delay @/dev/zero
! unskew: /dev/zero: line 1: has no column "sender"; it begins with the line sender,receiver,model
? 1
$ timeout 20 unskew sync t/host0.pcap t/host1.pcap --truth /dev/zero
! unskew: /dev/zero: line 1: '[' or '{' expected near end of file
? 1
$ head -c 300000 /dev/zero >zeros; timeout 20 unskew sync t/host0.pcap t/host1.pcap --min-delay @zeros
! unskew: zeros: line 1: has no column "sender"; it begins with the line sender,receiver,model
? 1

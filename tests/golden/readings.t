# Two machines that only asked an NTP server are tied by it; host2's stamps were moved by 1.234567890 s.
$ unskew sync -r ntp1 $DATA/ntp1.pcap $DATA/ntp2.pcap
clock  quality    offset mid-trace (± bound)  drift, ppm  sent  received
ntp1   reference  0                           0              0         0
ntp2   absent     -                           -              0         0

Matched 0 messages.
Note: ntp1 and ntp2 share no message: check that both captures saw the same traffic
? 3
$ unskew sync -r ntp1 --readings ntp $DATA/ntp1.pcap $DATA/ntp2.pcap
clock          quality    offset mid-trace (± bound)  drift, ppm         sent  received
ntp:192.0.2.1  bounded    0.7 us ± 10.5 us            0.0 (-5.5 to 5.6)    52        52
ntp1           reference  0                           0                    26        26
ntp2           bounded    -1.2345681 s ± 17.0 us      0.0 (-6.2 to 6.3)    26        26

Matched 104 messages.
Causality violations (received before sent): 26 before correction, 0 after.
Uncertainty over the trace: ±4.14 us to ±17.5 us, ±12.1 us on average.
One-way delays, median (99 %): ntp1 -> ntp:192.0.2.1 7.00 us as recorded, 7.70 us (8.51 us) corrected;
  back 6.71 us as recorded, 5.56 us (188 us) corrected.
One-way delays, median (99 %): ntp2 -> ntp:192.0.2.1 -1.23 s as recorded, 6.15 us (9.04 us) corrected;
  back 1.23 s as recorded, 5.94 us (8.12 us) corrected.
Note: ntp:192.0.2.1 was not recorded: its clock is known only by 104 timestamps inside packets, the coarsest exact to 16 ns
Model wander: the rate of each clock is constant within 5 ppm, no two rates differ by more than
500 ppm, no message takes less than its minimum delay (0 ns).
The bounds are valid while these assumptions hold.
$ unskew sync --json -r ntp1 --readings all -m linear $DATA/ntp1.pcap $DATA/ntp2.pcap | python3 -c 'import json, sys; print(all(int(k["lo_ns"]) <= -1234567890 <= int(k["hi_ns"]) for c in json.load(sys.stdin)["clocks"] if c["name"] == "ntp2" for k in c["knots"]))'
True
! unskew: note: ntp:192.0.2.1 was not recorded: its clock is known only by 104 timestamps inside packets, the coarsest exact to 16 ns
# One capture is tied to the server that its machine asked.
$ unskew sync --readings ntp $DATA/ntp1.pcap | grep -e '^[ch]' -e '^n' -e Note
clock          quality    offset mid-trace (± bound)  drift, ppm         sent  received
ntp:192.0.2.1  reference  0                           0                    26        26
ntp1           bounded    -0.7 us ± 10.5 us           0.0 (-5.6 to 5.5)    26        26
Note: ntp:192.0.2.1 was not recorded: its clock is known only by 52 timestamps inside packets, the coarsest exact to 16 ns
# The answer keeps it, and gives it back.
$ unskew sync -q --readings ntp $DATA/ntp1.pcap -o c.json; grep -A1 '"readings"' c.json; unskew convert c.json --clock ntp:192.0.2.1 1795443770000000000 | wc -l
      "readings": 52,
      "quantum_ns": "16",
1
# What has no readings, and what there is no such thing of.
$ cp $DATA/host0.pcap .; unskew sync --readings ntp host0.pcap
! unskew: host0.pcap: none of its packets holds a timestamp for --readings ntp
? 1
$ unskew sync --readings ntp $DATA/host0.pcap $DATA/host1.pcap | grep Note
Note: --readings ntp: no packet of the captures holds such a timestamp
$ unskew sync --readings npt $DATA/ntp1.pcap
! unskew: --readings npt: "npt" is none of ntp, ptp, rtcp, http, krb5, smb2, wlan, all
? 2

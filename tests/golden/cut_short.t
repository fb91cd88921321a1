# A capture that ends within a packet: what is whole is used, and the loss is told.
$ mkdir t; cp $DATA/host?.pcap t
$ head -c -50 t/host1.pcap >host1.pcap
$ unskew sync t/host0.pcap host1.pcap
clock  quality    offset mid-trace (± bound)  drift, ppm      sent  received
host0  reference  0                           0                 54        57
host1  bounded    -1.0000191 s ± 54.8 us      17 (-44 to 93)    57        54

Matched 111 messages; not used: 1 without a partner.
Causality violations (received before sent): 57 before correction, 0 after.
Uncertainty over the trace: ±52.2 us to ±67.2 us, ±55.8 us on average.
One-way delays, median (99 %): host0 -> host1 1.00 s as recorded, 88.6 us (185 us) corrected;
  back -1.00 s as recorded, 93.9 us (277 us) corrected.
Note: host1.pcap: cut short: the incomplete packet at byte 11365, 56 bytes, was skipped
Model wander: the rate of each clock is constant within 5 ppm, no two rates differ by more than
500 ppm, no message takes less than its minimum delay (0 ns).
The bounds are valid while these assumptions hold.

# A capture that ends within a packet: what is whole is used, and the loss is told.
$ mkdir t; cp $DATA/host?.pcap t
$ head -c -50 t/host1.pcap >host1.pcap
$ unskew sync t/host0.pcap host1.pcap
clock  quality    offset at the middle (± there)  drift, ppm      sent  received
host0  reference  0                               0                 54        57
host1  bounded    -1.0000191 s ± 54.8 us          17 (-44 to 93)    57        54

Matched 111 messages; left out: 1 unmatched.
Received before sent: 57 as recorded, 0 corrected. Half widths: 52.2 us to 67.2 us, 55.8 us on average.
Delays, median (99 %): host0 -> host1 1.00 s as recorded, 88.6 us (185 us) corrected;
  back -1.00 s as recorded, 93.9 us (277 us) corrected.
Note: host1.pcap: cut short in the packet at byte 11365: 56 bytes of it are left out
Model wander: the rate of each clock is constant within 5 ppm, no two clocks differ by more than
500 ppm, no message takes less than its minimum delay (0 ns).
The bounds are valid while these assumptions hold.

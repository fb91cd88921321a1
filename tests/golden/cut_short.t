# A capture that ends within a packet: what is whole is used, and the loss is told.
$ unskew simulate -o t --seconds 2 --rate 20 --seed 7 --quiet
$ head -c -50 t/host1.pcap >host1.pcap
$ unskew sync t/host0.pcap host1.pcap
clock  quality    offset at the middle   drift, ppm      sent  received
host0  reference  0                      0                 52        58
host1  bounded    -1.000019 s ± 51.6 us  21 (-32 to 93)    58        52

Matched 110 messages; left out: 1 unmatched.
Received before sent: 58 as recorded, 0 corrected. Half widths: 51.6 us to 66.9 us.
Note: host1.pcap: cut short in the packet at byte 11267: 51 bytes of it are left out
Model linear: every clock keeps one rate, no two differ by more than 500 ppm, no message takes
less than its minimum delay (0 ns). The bands hold if that does.

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

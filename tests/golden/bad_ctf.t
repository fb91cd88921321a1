# A folder that holds no CTF trace.
# needs: with-babeltrace2
$ mkdir t; unskew sync t t/host0.pcap -o clocks.json
! unskew: t: holds no captures and no tables, and is no CTF trace
? 1

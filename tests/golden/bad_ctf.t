# A folder that holds no CTF trace.
# needs: with-babeltrace2
$ mkdir t; unskew sync t t/host0.pcap -o clocks.json
! unskew: t: is a folder without a CTF trace: there is no file metadata in it
? 1

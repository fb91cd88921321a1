# A folder that holds no CTF trace.
# needs: with-babeltrace2
$ mkdir t; unskew sync t t/host0.pcap -o clocks.json
! unskew: t: is a folder with neither captures nor tables nor a CTF trace in it
? 1

# Files of one host: a folder, a pattern that no shell expands, names that differ by a number.
# needs: editcap
$ unskew simulate -q --seconds 20 --rate 50 -o s; mkdir web; editcap -F nsecpcap -c 100 s/host1.pcap web/part.pcap; ls web | wc -l
24
$ unskew sync -q s/host0.pcap s/host1.pcap --messages one.csv -o one.json; unskew sync -q s/host0.pcap host1=web --messages all.csv -o all.json; cmp one.csv all.csv && echo the same
the same
$ unskew sync -q s/host0.pcap 'host1=web/part_0*' --messages all.csv -o all.json -f; cmp one.csv all.csv && echo the same
the same
$ unskew apply -q all.json s/host0.pcap host1=web -o out; ls out | wc -l
25
$ unskew check 's/host?.pcap' | sed -n 1,3p
direction       messages  inversions   min delay      median         p99         max
host0 -> host1     1,163           0   1.00005 s   1.00031 s   1.00058 s   1.00069 s
host1 -> host0     1,174       1,174  -1.00035 s  -1.00011 s  -999.83 ms  -999.77 ms
$ unskew sync s/host0.pcap web/part_0000[123]* 2>&1 | grep -o 'to web.*have names.*' | sed 's/_2[0-9]*//'
to web/part_00003.pcap, 3 files, have names that differ by numbers alone and times that do not overlap: if one host wrote them, give them one name, NAME=FILE NAME=FILE or NAME='PATTERN'
$ unskew sync s/host0.pcap 'host1=web/nothing*'
! unskew: web/nothing*: no file matches
? 1
$ mkdir empty; unskew sync s/host0.pcap host1=empty
! unskew: empty: is a folder with neither captures nor tables nor a CTF trace in it
? 1

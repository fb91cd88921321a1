# Output that cannot be written: status 1, one sentence, nothing half-written.
$ mkdir w t; cp $DATA/host?.pcap t
$ unskew sync -q t/host0.pcap t/host1.pcap -o /dev/full
! unskew: /dev/full: not written: No space left on device
? 1
$ unskew sync t/host0.pcap t/host1.pcap >/dev/full
! unskew: standard output: No space left on device
? 1
$ unskew sync --json t/host0.pcap t/host1.pcap >/dev/full
! unskew: standard output: No space left on device
? 1
$ (ulimit -f 1; unskew sync -q t/host0.pcap t/host1.pcap -o w/clocks.json)
! unskew: w/clocks.json: not written: File too large
? 1
$ (ulimit -f 1; unskew sync -q t/host0.pcap t/host1.pcap --messages w/messages.csv)
! unskew: w/messages.csv: not written: File too large
? 1
$ unskew sync -q t/host0.pcap t/host1.pcap -o nowhere/clocks.json
! unskew: nowhere/clocks.json: No such file or directory
? 1
$ ls w
# What exists is replaced only when told so.
$ echo precious >w/clocks.json; unskew sync -q t/host0.pcap t/host1.pcap -o w/clocks.json
! unskew: w/clocks.json: exists already; use --force to replace it
? 1
$ cat w/clocks.json
precious
$ unskew sync -q t/host0.pcap t/host1.pcap -o w/clocks.json --force && grep -c precious w/clocks.json
0
? 1
# A reader that goes away is not told off, and neither is one that comes late.
$ unskew sync --json t/host0.pcap t/host1.pcap | head -n 1
{
# Its going away loses no output.
$ (sleep 0.2; exec unskew sync t/host0.pcap t/host1.pcap -o d.json --messages m.csv --merge m.pcapng) | true; ls d.* m.*
d.json
m.csv
m.pcapng
$ (sleep 0.2; exec unskew sync --json t/host0.pcap t/host1.pcap -o e.json) | true; cmp d.json e.json && echo same
same

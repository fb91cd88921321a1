# What is no trace, or cannot be read: one sentence, status 1, and nothing is left behind.
# needs: nobody
$ mkdir w t; cp $DATA/host?.pcap t
$ : >empty.pcap; unskew sync empty.pcap t/host0.pcap -o w/clocks.json
! unskew: empty.pcap: is empty
? 1
$ echo 'this is no capture' >text.pcap; unskew sync text.pcap t/host0.pcap -o w/clocks.json
! unskew: text.pcap: not a trace that unskew reads: neither a capture (pcap, pcapng) nor a CSV message table with the columns sender,receiver,sent_ns,received_ns, nor one of events (clock,time_ns,kind,id) or exchanges (a,b,t1_ns,t2_ns,t3_ns,t4_ns)
? 1
$ unskew sync nowhere.pcap t/host0.pcap -o w/clocks.json
! unskew: nowhere.pcap: No such file or directory
? 1
$ unskew sync t/host0.pcap -o w/clocks.json
! unskew: t/host0.pcap: one capture alone tells nothing of another clock; give the capture of a second machine with it
? 1
$ unskew sync t/host0.pcap t/host0.pcap -o w/clocks.json
! unskew: t/host0.pcap and t/host0.pcap are the same file; give the trace of another machine
? 1
$ ln -s t/host0.pcap alias.pcap; unskew sync t/host0.pcap alias.pcap -o w/clocks.json
! unskew: t/host0.pcap and alias.pcap are the same file; give the trace of another machine
? 1
$ cp t/host0.pcap copy.pcap; unskew sync t/host0.pcap copy.pcap -o w/clocks.json
! unskew: t/host0.pcap and copy.pcap hold the same bytes; give the trace of another machine
? 1
$ cp t/host1.pcap secret.pcap; chmod 000 secret.pcap; as-nobody unskew check t/host0.pcap secret.pcap
! unskew: secret.pcap: Permission denied
? 1
$ ls w
# A header that claims packets of 4 GiB: the file is refused or used as far as it is whole, in little memory.
$ (head -c 32 t/host1.pcap; printf '\377\377\377\377\377\377\377\377'; head -c 1000 t/host1.pcap) >giant.pcap
$ (ulimit -Sv 400000; unskew --version >/dev/null 2>&1 || ulimit -Sv unlimited; unskew sync t/host0.pcap giant.pcap -o w/clocks.json)
clock  quality    offset at the middle (± there)  drift, ppm  sent  received
host0  reference  0                               0              0         0
giant  absent     -                               -              0         0

Matched 0 messages.
Note: giant.pcap: the record at byte 24 claims 4294967295 captured bytes: damaged; the last 1016 bytes are left out
Note: host0 and giant share no message: check that both captures saw the same traffic
Wrote w/clocks.json.
? 3
$ ls w
clocks.json
# What never ends is not copied to the disk first.
$ timeout 20 unskew check t/host0.pcap /dev/zero
! unskew: /dev/zero: not a trace that unskew reads: neither a capture (pcap, pcapng) nor a CSV message table with the columns sender,receiver,sent_ns,received_ns, nor one of events (clock,time_ns,kind,id) or exchanges (a,b,t1_ns,t2_ns,t3_ns,t4_ns)
? 1
$ yes | timeout 20 unskew check t/host0.pcap -
! unskew: -: not a trace that unskew reads: neither a capture (pcap, pcapng) nor a CSV message table with the columns sender,receiver,sent_ns,received_ns, nor one of events (clock,time_ns,kind,id) or exchanges (a,b,t1_ns,t2_ns,t3_ns,t4_ns)
? 1
$ timeout 20 unskew convert /dev/zero 1
! unskew: /dev/zero: line 1: not JSON: '[' or '{' expected near end of file
? 1
$ timeout 20 unskew sync t/host0.pcap t/host1.pcap --min-delay @/dev/zero
! unskew: /dev/zero: line 1: has no column "sender"; it begins with the line sender,receiver,model
? 1
$ timeout 20 unskew sync t/host0.pcap t/host1.pcap --truth /dev/zero
! unskew: /dev/zero: line 1: '[' or '{' expected near end of file
? 1
$ head -c 300000 /dev/zero >zeros; timeout 20 unskew sync t/host0.pcap t/host1.pcap --min-delay @zeros
! unskew: zeros: line 1: has no column "sender"; it begins with the line sender,receiver,model
? 1

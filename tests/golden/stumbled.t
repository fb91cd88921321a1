# What new users stumbled over, each thing once: the reference, a step's clock, notes without cause, where "Wrote" goes, a
# value that was forgotten, causes by name, rotated files.
# needs: editcap
# Of two clocks the first is the reference.
$ unskew simulate -q -o s --seconds 20; mv s/host0.pcap scp_src.pcap; mv s/host1.pcap scp_dest.pcap
$ unskew sync scp_src.pcap scp_dest.pcap | grep reference
scp_src   reference  0                           0             2,282     2,283
$ unskew sync scp_dest.pcap scp_src.pcap | grep reference
scp_dest  reference  0                           0                2,283     2,282
$ unskew sync --help | grep -A2 -e '--reference'
  -r, --reference NAME    the clock on whose time all others are put;
                          otherwise, of two clocks, the first one, of more the
                          one nearest to all others
# A step's clock is the same in the text and in JSON; nothing is noted, and no broadcast counted, that there was not.
$ unskew simulate -q -o step --seconds 60 --hosts 3 --step host1@30s:-5ms
$ unskew sync step/*.pcap -o step.json | grep '^Step:'
Step: host1 was stepped or slewed backward, or stood still (suspended), by 4.993 ms ± 170 us,
! Wrote step.json.
$ tr -d ' \n' <step.json | grep -o '"kind":"jump","of":"[^"]*"\(,"or":"[^"]*"\)\?'
"kind":"jump","of":"host1"
$ unskew simulate -q -o two --seconds 60 --step host1@30s:-5ms
$ unskew sync two/*.pcap -o two.json | grep '^Step '
Step of host1 or host0 (messages cannot tell which): host1 was stepped backward, or host0 stepped forward, by 4.991 ms ± 168 us,
! Wrote two.json.
$ tr -d ' \n' <two.json | grep -o '"kind":"jump","of":"[^"]*"\(,"or":"[^"]*"\)\?'
"kind":"jump","of":"host1","or":"host0"
$ unskew sync step/*.pcap | grep -c -e '^Note' -e roadcast
0
? 1
# "Wrote" goes to standard error, whatever the command.
$ unskew sync scp_src.pcap scp_dest.pcap -o w.json >answer
! Wrote w.json.
$ unskew apply w.json scp_dest.pcap -o w.pcap
! Wrote w.pcap.
$ unskew report scp_src.pcap scp_dest.pcap -o w.html >answer
! Wrote w.html.
$ unskew sync scp_src.pcap scp_dest.pcap -q -o w2.json
# A value that was forgotten.
$ unskew simulate -o --help
! unskew: -o needs a value: -o DIR; --help is an option; if it is the value, write --output=--help
? 2
$ unskew simulate --output --seed 3
! unskew: --output needs a value: --output DIR; --seed is an option; if it is the value, write --output=--seed
? 2
$ unskew simulate -q --output=--seed --seconds 1; ls -d -- --seed
--seed
# Causes by their names.
$ printf 'clock,time_ns,kind,id\na,100,send,1\nb,200,recv,1\nb,300,send,1\na,400,recv,1\n' >one-id.csv
$ unskew sync one-id.csv
clock  quality    offset mid-trace (± bound)  drift, ppm  sent  received
a      reference  0                           0              0         0
b      absent     -                           -              0         0

Matched 0 messages; not used: 2 ambiguous.
Note: a and b share no message: all that might be messages are ambiguous, as an id or a packet occurs more than once; in tables of events give each message its own id, request and reply too
? 3
$ editcap -s 34 scp_src.pcap short0.pcap; editcap -s 34 scp_dest.pcap short1.pcap; unskew sync short0.pcap short1.pcap
clock   quality    offset mid-trace (± bound)  drift, ppm  sent  received
short0  reference  0                           0              0         0
short1  absent     -                           -              0         0

Matched 0 messages; not used: 9,130 cut too short by the snap length.
Note: short0 and short1 share no message: packets were captured too short to tell them apart; record with a snap length of 96 bytes or more (tcpdump -s 96)
? 3
$ printf 'sender,receiver,sent,received\na,b,"2026-11-22T10:00:00,054352Z","2026-11-22T10:00:00,154352Z"\n' >comma.csv
$ unskew sync comma.csv
! unskew: comma.csv: line 2: "2026-11-22T10:00:00,054352Z": write the fraction with a point, as 22:13:20.5Z; 1 row skipped
? 1
# Files that one host rotated.
$ editcap -c 2000 scp_src.pcap rot.pcap
$ unskew sync rot_*.pcap scp_dest.pcap | grep '^Note: .*numbers'
Note: rot_00000_20231114221320.pcap to rot_00002_20231114221337.pcap, 3 files, have names that differ by numbers alone and times that do not overlap: if one host wrote them, give them one name, NAME=FILE NAME=FILE or NAME='PATTERN'
# Others, whose names differ by more than numbers, are two hosts.
$ cp rot_00000_*.pcap web.pcap; cp rot_00002_*.pcap db.pcap; unskew sync web.pcap db.pcap scp_dest.pcap | grep -c '^Note: .*numbers'
0
? 1

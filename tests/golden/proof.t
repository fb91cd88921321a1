# Which messages imply an answer, and a verifier that shares no code with us.
# needs: python3
$ cp $DATA/host?.pcap .; unskew sync -q host0.pcap host1.pcap -o clocks.json --proof proof.txt.gz
$ zcat proof.txt.gz | awk '{ n[$1]++ } END { print n["message"], n["lo"] + n["hi"], n["slow"] + n["fast"], n["band"] }'
10 104 2 2
$ unskew-verify proof.txt.gz clocks.json host0.pcap host1.pcap
10 messages are in the traces, 106 steps follow from them.
host1: lower bounds are proved, upper bounds proved.
# The same bytes again.
$ unskew sync -q host0.pcap host1.pcap -o again.json --proof again.txt.gz; cmp proof.txt.gz again.txt.gz
# A bound that says more than its messages, a message that is not there, a step that is none.
$ zcat proof.txt.gz | sed 's/^\(hi 1 [0-9]* -[0-9]*\)0 message/\11 message/' >false.txt; unskew-verify false.txt clocks.json host0.pcap host1.pcap
! unskew-verify: line 28: the messages and stretches it names imply -999936234000000000000 only: hi 1 1700000001196533576 -999936234000000000001 message 6 1
? 1
$ zcat proof.txt.gz >proof.txt; sed '2s/.$/&1/' proof.txt >false.txt; unskew-verify false.txt clocks.json host0.pcap host1.pcap
! unskew-verify: line 22: the message has another stamp: lo 1 1700000001000149354 -1000051017000000000000 message 0 0
? 1
$ sed '$a hi 1 5 5 because' proof.txt >false.txt; unskew-verify false.txt clocks.json host0.pcap host1.pcap
! unskew-verify: line 120 is not understood: hi 1 5 5 because
? 1
$ sed 's/"lo_ns"/"LO"/g; s/"hi_ns"/"lo_ns"/g; s/"LO"/"hi_ns"/g' clocks.json >false.json; unskew-verify proof.txt false.json host0.pcap host1.pcap
! unskew-verify: line 118: the band is narrower than what steps imply: band lo 10 22 23 24 25 26 27 11 28 29 30 31 12 32 33 34 35 36 13 37 38 39 40 41 42 43 44 45 46 47 4
? 1
# Each trace is of the clock that clocks.json says.
$ unskew-verify proof.txt clocks.json host1.pcap host0.pcap 2>&1 | cut -c 1-60
unskew-verify: line 2: no records show that host0 sent at 17
$ unskew-verify proof.txt clocks.json host0.pcap
! unskew-verify: give as many traces as sync had, in their order
? 1
$ unskew-verify nothing clocks.json host0.pcap host1.pcap
! unskew-verify: cannot read: [Errno 2] No such file or directory: 'nothing'
? 2
# A bound in words, with the numbers that Wireshark shows.
$ unskew sync -q host0.pcap host1.pcap --explain host1:1700000001.5s
When host1 showed 1700000001.500000000, host0 showed at least 1700000000.499936360:
(1) host0 sent a message at 1700000000.388780948 (packet #22 of host0.pcap)
    that host1 received at 1700000001.388841260 (packet #22 of host1.pcap):
    when host1 showed 1700000001.388841260, host0 showed at least 1700000000.388780948.
(2) host0 sent a message at 1700000000.673250791 (packet #45 of host0.pcap)
    that host1 received at 1700000001.673317293 (packet #45 of host1.pcap):
    when host1 showed 1700000001.673317293, host0 showed at least 1700000000.673250791.
(3) by (1), 111 ms before, and (2), 173 ms after,
    as host1's rate is constant within 5 ppm, whatever it is:
    when host1 showed 1700000001.500000000, host0 showed at least 1700000000.499936592.
When host1 showed 1700000001.500000000, host0 showed at most 1700000000.500041380:
(1) host1 sent a message at 1700000001.464220171 (packet #31 of host1.pcap)
    that host0 received at 1700000000.464261620 (packet #31 of host0.pcap):
    when host1 showed 1700000001.464220171, host0 showed at most 1700000000.464261620.
(2) host1 sent a message at 1700000001.988535418 (packet #55 of host1.pcap)
    that host0 received at 1700000000.988568210 (packet #55 of host0.pcap):
    when host1 showed 1700000001.988535418, host0 showed at most 1700000000.988568210.
(3) by (1), 35.8 ms before, and (2), 489 ms after,
    as host1's rate is constant within 5 ppm, whatever it is:
    when host1 showed 1700000001.500000000, host0 showed at most 1700000000.500041192.
$ unskew sync -q host0.pcap host1.pcap --explain host0:1700000001.5s
host0 is the reference: its own time is right.
$ unskew sync -q host0.pcap host1.pcap --explain host1:1800000000s
When host1 showed 1800000000.000000000, host0 showed at least 1799990254.233497946; the rules of doc/proof.md do not prove it.
When host1 showed 1800000000.000000000, host0 showed at most 1800004836.818682077; the rules of doc/proof.md do not prove it.
$ unskew sync -q host0.pcap host1.pcap --explain host2:9999999999s
! unskew: "host2" is not a clock of the table
? 1
$ unskew sync -q host0.pcap host1.pcap --json --explain host1:1700000001.5s 2>&1 >/dev/null | head -n 1
When host1 showed 1700000001.500000000, host0 showed at least 1700000000.499936360:
# In the bracket of a step: the bounds before it and behind that no rate explains. Of two stamps: which was first.
$ unskew simulate -q -o stepped --hosts 2 --seconds 60 --rate 20 --seed 4 --step host1@30s:3ms --format table; unskew sync -q stepped/messages.csv --explain host1:1700000031.02s
When host1 showed 1700000030.939529229, host0 showed at least 1700000029.938802843:
(1) host0 sent a message at 1700000029.936014019 (message #1,222 of stepped/messages.csv)
    that host1 received at 1700000030.936739009 (message #1,222 of stepped/messages.csv):
    when host1 showed 1700000030.936739009, host0 showed at least 1700000029.936014019.
(2) from (1), in the 2.79 ms to 1700000030.939529229, host0 loses at most 1.40 us on host1,
    by --max-skew-ppm:
    when host1 showed 1700000030.939529229, host0 showed at least 1700000029.938802843.
When host1 showed 1700000031.088344495, host0 showed at most 1700000030.084844956:
(1) host1 sent a message at 1700000031.154947395 (message #1,233 of stepped/messages.csv)
    that host0 received at 1700000030.151414554 (message #1,233 of stepped/messages.csv):
    when host1 showed 1700000031.154947395, host0 showed at most 1700000030.151414554.
(2) back from (1), in the 66.6 ms to 1700000031.088344495, host0 gains at most 33.4 us on host1,
    by --max-skew-ppm:
    when host1 showed 1700000031.088344495, host0 showed at most 1700000030.084844956.
So in the 149 ms between, host0 lost at least 2.77 ms on host1, where the skew limit allows 74.5 us: a clock was stepped.
$ unskew sync -q host0.pcap host1.pcap --explain host0:1700000000.9s --explain host1:1700000001.5s | tail -n 1
So host1 showed that before host0 did, by at least 399 ms.
$ unskew sync -q host0.pcap host1.pcap --explain host0:1700000000.5s --explain host1:1700000001.5s | tail -n 1
So these bounds do not decide which of the two was first.
$ unskew simulate -q -o twice --rate 10 --seconds 20 --offset 0s --drift-ppm 0 --step host1@10.021s:-20ms; unskew sync -q twice/host0.pcap twice/host1.pcap --explain host1:1700000010.045s --explain host0:1700000010.05s | tail -n 1
So these bounds do not decide which of the two was first.
# A minimum delay makes each message say more; clocks.json states it.
$ unskew sync -q host0.pcap host1.pcap --min-delay 30us -o clocks.json --proof proof.txt --force; unskew-verify proof.txt clocks.json host0.pcap host1.pcap
9 messages are in the traces, 183 steps follow from them.
host1: lower bounds are proved, upper bounds proved.
$ grep -A 3 min_delays clocks.json; sed 's/"ns": "30000"/"ns": "29999"/' clocks.json >false.json; unskew-verify proof.txt false.json host0.pcap host1.pcap 2>&1 | cut -c 1-75
    "min_delays": [
      {"sender": "host0", "receiver": "host1", "ns": "30000"},
      {"sender": "host1", "receiver": "host0", "ns": "30000"}
    ]
unskew-verify: line 20: the messages and stretches it names imply -10000210
# A clock that was set back has its epochs told by the order of its records.
$ unskew simulate -q -o back --rate 40 --seconds 20 --seed 2 --step host1@10s:-300ms; unskew sync -q back/host0.pcap back/host1.pcap -o clocks.json --proof proof.txt --force
$ unskew-verify proof.txt clocks.json back/host0.pcap back/host1.pcap | grep messages; sed 's/"from_ns": "\([0-9]*\)[0-8]"/"from_ns": "\19"/' clocks.json >false.json; unskew-verify proof.txt false.json back/host0.pcap back/host1.pcap 2>&1 | cut -c 1-80
668 messages are in the traces, 3050 steps follow from them.
unskew-verify: line 2645: the clock was disturbed between: lo 1 1700000011094169
# What no rule is for is not proved.
$ unskew sync -q host0.pcap host1.pcap --min-delay 1us+1us+1ns/B --proof no.txt
! unskew: proofs are without minimum delays that depend on sizes; state the one of the smallest message
? 2
$ unskew sync -q host0.pcap host1.pcap --readings ntp --proof no.txt
! unskew: proofs are without readings, clock logs and anchors
? 2
# Of what is proved in part the verifier says how much.
$ (echo sender,receiver,sent_ns,received_ns; echo 'h3,h2,120355064921,120355123840 h1,h0,120415050894,119412786963 h2,h1,120608021637,120608084133 h3,h2,120641364752,120641425153 h2,h3,120654992738,120655054012 h0,h1,119744341694,120746805586 h1,h2,120747637619,120747692531' | tr ' ' '\n') >few.csv; unskew sync -q few.csv -o few.json --proof few.txt; unskew-verify few.txt few.json few.csv
7 messages are in the traces, 26 steps follow from them.
h0: lower bounds are proved, upper bounds proved.
h2: lower bounds are proved, upper bounds proved.
h3: lower bounds are proved, upper bounds proved for 6.543 % of the time.
? 3

# What was done to stamps is said once for each interface; a merged capture needs no comments beside that to go back.
$ unskew simulate -q -o t --seconds 5 --seed 3 --offset 70ms --resolution ns; unskew sync -q t/host0.pcap t/host1.pcap -o c.json --merge m.pcapng
$ grep -ao 'Stamps are [ -~]*[.]' m.pcapng
Stamps are as recorded in t/host0.pcap, by clock host0, which is the reference.
Stamps are NOT as recorded: unskew 0.1.0 put those of clock host1 on the clock of host0. Added to recorded stamps: -0.070000161 s at 1700000000.070578370, -0.070099814 s at 1700000005.067808606, what clocks.json says between. Recorded stamps are in t/host1.pcap, and each is in its packet's comment, or is the first stamp that becomes this one.
$ for c in all changed needed none; do unskew apply -q c.json t/host0.pcap t/host1.pcap --merge $c.pcapng --comments $c; echo $c $(grep -ao 'recorded 1[0-9]*[.][0-9]*' $c.pcapng | wc -l); done
all 2092
changed 1046
needed 0
none 0
$ cmp m.pcapng needed.pcapng && unskew sync -q t/host0.pcap t/host1.pcap --merge all.pcapng -f --comments all; grep -ao 'recorded 1[0-9]*[.][0-9]*' all.pcapng | wc -l
2092
# Packets of a clock that was stepped fall together in the bracket of the step: these have comments.
$ unskew simulate -q -o s --seconds 9 --seed 7 --resolution ns --rate 40 --step host1@5s:70ms; unskew sync -q s/host0.pcap s/host1.pcap --merge s.pcapng; grep -ao 'recorded 1[0-9]*[.][0-9]*' s.pcapng | wc -l
2
# One capture alone keeps recorded stamps where they changed; the reference's are as they were.
$ unskew simulate -q -o n --format pcapng --seconds 5 --seed 3 --offset 70ms --resolution ns; unskew apply -q c.json n/host0.pcapng n/host1.pcapng -o out; unskew apply -q c.json n/host1.pcapng -o plain.pcapng --comments none
$ cmp n/host0.pcapng out/host0.pcapng && echo the same
the same
$ for f in out/host1 plain; do grep -ao 'stamps of [ -~]*' $f.pcapng; grep -ao 'recorded 1[0-9]*[.][0-9]*' $f.pcapng | wc -l; done
stamps of host1 put on the clock of host0 by unskew: -0.070000161 s at 1700000000.070578370
1046
stamps of host1 put on the clock of host0 by unskew: -0.070000161 s at 1700000000.070578370
0
$ unskew apply c.json t/host1.pcap -o x.pcap --comments some
! unskew: --comments: "some" is not known; did you mean none?
? 2
# What was corrected before is corrected once more, as it may be right; that is said.
$ unskew sync -q n/host0.pcapng n/host1.pcapng -o d.json; unskew apply -q d.json n/host1.pcapng -o once.pcapng; unskew apply d.json host1=once.pcapng -o twice.pcapng
! Wrote twice.pcapng.
! unskew: note: once.pcapng: unskew corrected stamps of host1 in it before, and moves them once more: right only if the corrections were found from this very file

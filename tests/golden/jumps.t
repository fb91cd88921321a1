# Clocks that are stepped: found, told, and corrected in every epoch.
$ unskew simulate --seconds 60 --rate 50 --step host1@20s:1ms --step host1@40s:-5s -o s
! s: 14,340 packets in captures of 2 hosts, 7,170 messages in messages.csv, clocks in truth.json
$ unskew sync --model segments=auto s/host0.pcap s/host1.pcap -o c.json --truth s/truth.json
clock  quality    offset between steps (± bound)  drift, ppm            sent  received
host0  reference  0                               0                    3,591     3,579
host1  bounded    3.9979999 s ± 50.5 us           20.0 (14.7 to 25.5)  3,579     3,591
Clocks were stepped: an offset is that in the middle of the stretch between steps with the most messages.

Matched 7,170 messages.
Causality violations (received before sent): 3,580 before correction, 0 after.
Uncertainty over the trace: ±50.2 us to ±9.20 ms, ±66.1 us on average.
One-way delays, median (99 %): host0 -> host1 1.00 s as recorded, 87.5 us (286 us) corrected;
  back -1.00 s as recorded, 84.1 us (294 us) corrected.
Step of host1 or host0 (messages cannot tell which): host1 was stepped or slewed forward, or host0 stepped or slewed backward, by 995 us ± 111 us,
  between 1700000020.992535745 s and 1700000021.035680494 s on the clock of host1.
Step: host1 was stepped backward by 5.000000 s ± 106 us,
  from 1700000040.994975757 s to 1700000036.013254569 s; its stamps repeat, so those after the step are called its epoch 1.
Disturbed: host1 may have been stepped or slewed in 1 stretch, 49.4 ms in all (0.0824 % of the time);
  there only the skew limit (500 ppm) bounds its rate, so the uncertainty is larger.
Model segments: every clock keeps one rate for as long as one fits, no two rates differ by more than
500 ppm, no message takes less than its minimum delay (0 ns).
Between the two times given for a step only clocks that are named for it are stepped,
and their offsets, also to each other, move in one direction only.
The bounds are valid while these assumptions hold.
Truth: host1's estimate is off by at most 150 ns; its band holds the truth throughout.
! Wrote c.json.
$ unskew convert c.json host1:1700000030.5s
1700000030500000000	1700000029498410005	1700000029498359739	1700000029498460325
$ unskew convert c.json host1:1700000038.5s
1700000038500000000	-	-	-
! unskew: note: stamp 1700000038500000000 of host1 may belong to epoch 0 or 1, as the clock was stepped backward while it recorded: choose with --epoch
? 3
$ unskew convert c.json --epoch 0 host1:1700000038.5s
1700000038500000000	1700000037498250016	1700000037498199760	1700000037498300547
$ unskew convert c.json --epoch 1 host1:1700000038.5s
1700000038500000000	1700000042498149994	1700000042498099620	1700000042498200380
$ unskew convert c.json --epoch 2 host1:1700000038.5s
! unskew: clock host1 has no epoch 2
? 2
$ unskew before c.json host1:1700000038.5s host0:1700000040s
undecidable -
! unskew: note: stamp 1700000038500000000 of host1 may belong to epoch 0 or 1, as the clock was stepped backward while it recorded: choose with --epoch
! unskew: note: "-": one of the two clocks has no bounds at that time, so there is no margin
? 3
$ unskew before c.json --epoch 1 host1:1700000038.5s host0:1700000040s
no 2498099620
$ unskew apply c.json s/host0.pcap s/host1.pcap -o again
! Wrote again/host0.pcap.
! Wrote again/host1.pcap.
$ unskew check again/host0.pcap again/host1.pcap
direction       messages  inversions  min delay   median     p99     max
host0 -> host1     3,591           0    50.0 us  87.5 us  286 us  504 us
host1 -> host0     3,579           0       0 ns  84.1 us  294 us  556 us

Matched 7,170 messages.
An inversion is a causality violation: a message received before it was sent, by the recorded stamps.
# Others need not say where epochs begin: jumps do, else knots.
$ python3 -c "import json; c = json.load(open('c.json')); [k.pop('set_back', 0) for k in c['clocks']]; json.dump(c, open('less.json', 'w')); [k.update(jumps=[]) for k in c['clocks']]; json.dump(c, open('least.json', 'w'))"; for c in less least; do unskew apply -q $c.json s/host0.pcap s/host1.pcap -o $c; cmp $c/host1.pcap again/host1.pcap; unskew convert $c.json --epoch 1 host1:1700000038.5s; unskew convert $c.json host1:1700000038.5s; done
1700000038500000000	1700000042498149994	1700000042498099620	1700000042498200380
1700000038500000000	-	-	-
1700000038500000000	1700000042498149994	1700000042498099620	1700000042498200380
1700000038500000000	-	-	-
! unskew: note: stamp 1700000038500000000 of host1 may belong to epoch 0 or 1, as the clock was stepped backward while it recorded: choose with --epoch
! unskew: note: stamp 1700000038500000000 of host1 may belong to epoch 0 or 1, as the clock was stepped backward while it recorded: choose with --epoch
? 3
# A reference that is set back: corrected time never falls.
$ unskew simulate --seconds 60 --rate 50 --step host0@30s:-3600s -o r
! r: 14,340 packets in captures of 2 hosts, 7,170 messages in messages.csv, clocks in truth.json
$ unskew sync --model segments=auto r/host0.pcap r/host1.pcap -o r.json
clock  quality    offset between steps (± bound)  drift, ppm               sent  received
host0  bounded    3601.0009000 s ± 50.3 us        -19.6 (-23.6 to -16.4)  3,591     3,579
host1  reference  0                               0                       3,579     3,591
Clocks were stepped: an offset is that in the middle of the stretch between steps with the most messages.

Matched 7,170 messages.
Causality violations (received before sent): 3,579 before correction, 0 after.
Uncertainty over the trace: ±50.2 us to ±3.64 ms, ±56.4 us on average.
One-way delays, median (99 %): host1 -> host0 -1.00 s as recorded, 81.3 us (290 us) corrected;
  back 3600 s as recorded, 90.5 us (290 us) corrected.
Step: host0 was stepped backward by 3600.000001 s ± 105 us,
  from 1700000029.997613105 s to 1699996430.004773927 s; its stamps repeat, so those after the step are called its epoch 1.
Model segments: every clock keeps one rate for as long as one fits, no two rates differ by more than
500 ppm, no message takes less than its minimum delay (0 ns).
Between the two times given for a step only clocks that are named for it are stepped,
and their offsets, also to each other, move in one direction only.
The bounds are valid while these assumptions hold.
! Wrote r.json.
$ unskew apply r.json r/host0.pcap r/host1.pcap -o r2
! Wrote r2/host0.pcap.
! Wrote r2/host1.pcap.
$ unskew check r2/host0.pcap r2/host1.pcap
direction       messages  inversions  min delay   median     p99     max
host0 -> host1     3,591           0    50.0 us  90.5 us  290 us  504 us
host1 -> host0     3,579           0    25.6 us  81.3 us  290 us  541 us

Matched 7,170 messages.
An inversion is a causality violation: a message received before it was sent, by the recorded stamps.
# What a table of clocks says of one that was disturbed, and of a step that may be either's.
$ python3 -c "import json;c=json.load(open('c.json'));k=c['clocks'][1];k['disturbed']=[{'from_ns':'1700000010000000000','to_ns':'1700000013000000000'},{'from_ns':'1700000025000000000','to_ns':'1700000028000000000'}];k['jumps'][0]['or']='host0';k['wander']={'assumed_ppm':5,'needed_ppm':24.5123,'used_ppm':49.0246};c['model'].update(name='wander',ppm=5);json.dump(c,open('d.json','w'))"
$ unskew report d.json -q -o d.html; sed 's/<[^>]*>//g' d.html | sed -n '/^Model/,/hold/p;/^Step of/,+1p;/^Disturbed/p'
Model wander: the rate of each clock is constant within 49 ppm (5 assumed, 24.5 needed)
outside of disturbed stretches, no two rates differ by more than
500 ppm, no message takes less than its minimum delay (0 ns).
Between the two times given for a step only clocks that are named for it are stepped,
and their offsets, also to each other, move in one direction only.
The bounds are valid while these assumptions hold.
Step of host1 or host0 (messages cannot tell which): host1 was stepped or slewed forward, or host0 stepped or slewed backward, by 995 us ± 111 us,
  between 2023-11-14 22:13:40.992535745 UTC and 2023-11-14 22:13:41.035680494 UTC on the clock of host1.
Disturbed: host1 may have been stepped or slewed in 2 stretches, 6.00 s in all (10 % of the time);
# Messages under way while their sender was set back, in rows by receipt: apply and sync have one notion of where that was.
$ awk 'BEGIN { print "sender,receiver,sent_ns,received_ns"; for (i = 0; i < 200; i++) { s = 7e9 - (i >= 100) * 1e9; late = i == 97 || i == 99 ? 2e6 : 0; t = i * 5e5; print t + 3e5 + late, (i % 2 ? sprintf("b,a,%.0f,%.0f", t + s, t + 3e5 + late) : sprintf("a,b,%.0f,%.0f", t, t + 2e5 + s)) } }' | sort -n | sed 's/^[0-9]* //' >under_way.csv
$ unskew sync under_way.csv -o under_way.json | grep -A1 -e Step -e Causality
Causality violations (received before sent): 100 before correction, 0 after.
Uncertainty over the trace: ±401 us to ±751 us, ±579 us on average.
--
Step: b was stepped backward by 1.000000 s ± 802 us,
  from 7.049500000 s to 6.050200000 s; its stamps repeat, so those after the step are called its epoch 1.
! Wrote under_way.json.
$ unskew apply under_way.json under_way.csv -o under_way_now.csv; awk -F, '$5 < $3' under_way_now.csv | grep -c -v sender
0
! Wrote under_way_now.csv.
? 1
# A capture and a table in one run, each of a clock that was set back.
$ unskew simulate -q --seed 5 --hosts 3 --topology star --seconds 30 --rate 40 --step host1@10s:-700ms --step host2@20s:-400ms -o both
$ unskew simulate -q --seed 5 --hosts 3 --topology star --seconds 30 --rate 40 --step host1@10s:-700ms --step host2@20s:-400ms --format table -o rows
$ grep -e sender -e host2 rows/messages.csv >two.csv; unskew sync both/host0.pcap both/host1.pcap two.csv --truth both/truth.json -o two.json | grep -e Causality -e Uncertainty -e Step -e epoch -e Truth
Causality violations (received before sent): 2,689 before correction, 0 after.
Uncertainty over the trace: ±51.5 us to ±21.6 ms, ±143 us on average.
Step: host2 was stepped backward by 400.068 ms ± 231 us,
  from 1700000020.980840389 s to 1700000020.623749460 s; its stamps repeat, so those after the step are called its epoch 1.
Step: host1 was stepped backward by 700.000 ms ± 163 us,
  from 1700000010.961132257 s to 1700000010.301134184 s; its stamps repeat, so those after the step are called its epoch 1.
Truth: host2's estimate is off by at most 399 ns; its band holds the truth throughout.
Truth: host1's estimate is off by at most 303 ns; its band holds the truth throughout.
! Wrote two.json.
$ unskew apply two.json both/host0.pcap both/host1.pcap two.csv -o set; unskew check set/host0.pcap set/host1.pcap set/two.csv | grep -e '->'
host0 -> host2     1,192           0    50.0 us  82.9 us  285 us  400 us
host2 -> host0     1,205           0    50.0 us  84.5 us  251 us  472 us
host0 -> host1     1,484           0    50.1 us  84.7 us  284 us  481 us
host1 -> host0     1,484           0    50.1 us  84.4 us  287 us  477 us
! Wrote set/host0.pcap.
! Wrote set/host1.pcap.
! Wrote set/two.csv.
# A clock in a table that was set back between two stamps of its own: what it received meanwhile may be of either epoch.
$ unskew simulate -q -o between --format table --seed 71 --seconds 18 --rate 110.5 --offset 0ns,5ms --step host0@5791287519ns:-20046435ns --dmin 3352620ns --tail 2302800ns; unskew sync between/messages.csv --min-delay 3069us --truth between/truth.json | grep -e Truth -e 'from '
Truth: host1's estimate is off by at most 231 us; its band holds the truth throughout.
# A clock that drifts by 191 ppm was stepped where hardly a message tells when: from the first stamp behind that its estimate goes on as later. 16, 17 and 18 s in truth.
$ awk 'function at(k, t) { return k == "c" ? t - 1.91e-4 * t + (t < 14e9 ? 3e8 : 4e8) : k == "b" ? t - 1.2e-5 * t - 1e8 : t } function say(x, y, t) { printf "%s,%s,%.0f,%.0f\n", x, y, at(x, t), at(y, t + 5e4 + n++ * 7919 % 60000) } BEGIN { print "sender,receiver,sent_ns,received_ns"; for (t = 1e8; t < 30e9; t += 5e8) { say("a", "b", t); say("b", "a", t + 1e8); if (t < 10e9 || t > 20e9) { say("b", "c", t + 2e8); say("c", "b", t + 3e8) } else if (t > 15e9 && t < 18e9) { say("c", "b", t + 3e8) } } }' >rare.csv; unskew sync rare.csv --reference a -q -o rare.json && unskew convert rare.json --clock c 16396944000 17396753000 18396562000
16396944000	16000011742	15998280087	16002657296
17396753000	17000010028	16998588992	17002132822
18396562000	18000008314	17998897896	18001608348
# Two messages that are 0.8 s wrong, and stamps that may repeat: who may have been stepped, and for how long, is told by order alone.
$ (echo sender,receiver,sent_ns,received_ns; echo 'f,a,38461536879,38372093593 j,f,43180000000,55191917682 f,p,55527007556,47015625000 j,f,47630000000,59639901280 p,f,51984375000,60503309854 f,p,70087651800,60781250000 f,j,70096078172,57290000000' | tr ' ' '\n') >order.csv; unskew sync order.csv --reference f | grep -e Disturbed -e 'by 7'
Disturbed: a may have been stepped or slewed in 1 stretch, 63.3 s in all (100 % of the time);
Disturbed: j may have been stepped or slewed in 1 stretch, 14.1 s in all;
Disturbed: p may have been stepped or slewed in 1 stretch, 114 s in all;
  f -> j, sent 70096078172, received 57290000000 (message #7 of order.csv), by 786 ms
  f -> p, sent 70087651800, received 60781250000 (message #6 of order.csv), by 772 ms
# A clock that is right until it is set back by 1 s. One stamp may be from before or after that, and lies beyond all others: it moves the estimate by no more than they say.
$ (echo sender,receiver,sent_ns,received_ns; echo 'c0,c1,376726335,452753330 c1,c2,421704577,533150374 c1,c0,3909885680,3947478863 c0,c1,4049600200,4055211705 c1,c2,3278683189,4281672047 c0,c1,4396080448,3833552614 c0,c1,4440904477,4703033186 c0,c1,4529987248,3678930562 c1,c2,3530600044,4598609493' | tr ' ' '\n') >vague.csv; unskew sync vague.csv --reference c0 --rows knots -q | grep -e local -e '^c1.*,0$' | head -3
clock,local_ns,offset_ns,lo_ns,hi_ns,epoch
c1,421704577,-7311171,-76042520,39337274,0
c1,3909885680,-5528312,-77755564,37594389,0
# A change of rate begins where its own messages say, not where the step before it ended.
$ (echo sender,receiver,sent_ns,received_ns; echo 'a,b,44703449,49738897 b,a,138266954,133404582 a,b,5146866170,5141992023 b,a,5249222821,5254174131 a,b,5734731810,5719879217' | tr ' ' '\n') >bend.csv; unskew sync bend.csv --reference a --rows jumps -q | cut -d, -f1,2,6-9
clock,kind,after_local_ns,before_local_ns,size_lo_ns,size_hi_ns
b,jump,125680454,5154578523,7191850,22629879
b,bend,5229713652,5729911279,,

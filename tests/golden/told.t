# What is told of odd clocks. A step whose direction the band leaves open is not said to be back: b jumps 300 us ahead.
$ awk 'BEGIN { print "sender,receiver,sent_ns,received_ns"; for (i = 0; i < 400; i++) { t = i * 100000; j = i < 200 ? 0 : 300; f = "%s,%s,%d000,%d000\n"; printf f, "a", "b", t, t + 50 + j; printf f, "b", "a", t + 20000 + j, t + 20050; printf f, "b", "c", t + 40000 + j, t + 40100; printf f, "c", "b", t + 60000, t + 62000 + j } }' >ahead.csv
$ unskew sync ahead.csv -r c | sed -n '/^b /p; /^Step/,/on the clock/p'
b      bounded    -1.22 ms ± 1.17 ms              5 (-500 to 500)   800       800
Step, most likely of b, else of a, by 2.77 ms at most,
  between 19.819797564 s and 20.100602461 s on the clock of b.
# Of a clock whose step may be anywhere each side is told where messages bound it.
$ printf '%s\n' sender,receiver,sent_ns,received_ns c0,c1,58849000,58691000 c1,c0,2234000,2232000 c1,c0,24711000,24699000 c1,c0,60673000,64011000 >anywhere.csv
$ unskew sync anywhere.csv | grep '^c1 \|^Step\|^Uncert\|^For'
c1     bounded    -                           -              3         1
Uncertainty over the trace: ±33.5 ms to ±64.4 ms, ±64.4 ms on average.
For 97 % of the time a side has no bound, which is not in that.
Step of c1 or c0 (messages cannot tell which),
$ unskew sync anywhere.csv --rows knots --format csv | grep c1 | sed -n '1p;$p'
c1,2234000,-1000,,-1000,0
c1,60673000,1748000,-63633890,3339000,0
# A clock that was set to and fro, by as much as its messages last: they bound it by as much more.
$ printf '%s\n' sender,receiver,sent_ns,received_ns a,b,978000,979000 b,a,369000,370000 a,b,685000,-214000 a,b,217000,918000 b,a,697000,698000 b,a,-247000,654000 b,a,-343000,558000 >both.csv
$ unskew sync both.csv | grep '^b \|^Note'
b      bounded    0.37 ms ± 2.71 ms           -              4         3
# One that no message bounds which was not sent and received between others while a clock may have been set.
$ printf '%s\n' sender,receiver,sent_ns,received_ns r,a,559000,560000 b,a,328000,329000 a,b,943000,43000 a,b,557000,-343000 a,r,9000,709000 b,a,567000,568000 >neither.csv
$ unskew sync neither.csv | grep '^b \|^Note: b'
b      absent     -                           -              2         2
Note: b is bounded on neither side, though messages went both ways: a clock may have been set by as much as they last, so that none is sure to bound it; record for longer, or give what was recorded before and after the step by itself, with --from and --to
# Of two clocks that talk both ways, and hear a third one only, the way to that is told.
$ printf '%s\n' sender,receiver,sent_ns,received_ns r,a,1000000,2000000 a,b,3000000,4000000 b,a,5000000,6000000 r,a,7000000,8000000 a,b,9000000,10000000 b,a,11000000,12000000 >heard.csv
$ unskew sync heard.csv -r r | grep '^[ab] \|^Note'
a      one-sided  at least -2.01 ms           -              2         4
b      one-sided  at least -4.01 ms           -              2         2
Note: a and b are bounded on one side only: messages connect each of them with r in one direction only; record traffic in the other direction, too
# One side of an offset of years is said to the ms.
$ printf '%s\n' sender,receiver,sent_ns,received_ns a,b,1700000000000000000,123456789 b,a,133456789,1700000000020000000 a,c,1700000000010000000,5000000000 >years.csv
$ unskew sync years.csv | grep '^[bc] '
b      bounded    1699999999.8865 s ± 10.1 ms  0 (-500 to 500)     1         1
c      one-sided  at least 1699999994.009 s    -                   0         1
# Coarse stamps keep order, but for what they were rounded by.
$ printf '%s\n' sender,receiver,sent_ns,received_ns a,b,1012345678,2010000000 b,a,2020000000,1023000000 a,b,1031111111,2030000000 b,a,2040000000,1042222222 a,b,1059999999,2050000000 b,a,2070000000,1071234567 >coarse.csv
$ unskew sync coarse.csv | grep -A1 '^Causality\|^Stamps'
Causality violations (received before sent): 3 before correction, 0 after.
Uncertainty over the trace: ±620 us to ±645 us, ±631 us on average.
Stamps of b have a resolution of 10.0 ms: corrected messages to it may still violate
causality, by 9.39 ms at most.
# Clocks in groups that no message ties.
$ printf '%s\n' sender,receiver,sent_ns,received_ns a,b,100,300 b,a,400,500 b,c,600,800 c,b,900,1000 d,e,100,300 e,d,400,500 >groups.csv
$ unskew sync groups.csv | grep '^Groups\|^Note'
Groups of clocks that no message in use connects: a, b, c; d, e.
Note: d and e share no message with the other clocks: they are put on the time of d, which cannot be compared with that of b
# Datagrams that nothing tells apart.
$ for t in 1 2; do (printf '\324\303\262\241\002\000\004\000\000\000\000\000\000\000\000\000\377\377\000\000\145\000\000\000'; for i in 1 2; do printf '\00'$i'\000\000\000\0'$t'0\000\000\000\044\000\000\000\044\000\000\000\105\000\000\044\000\000\100\000\100\021\046\307\012\000\000\001\012\000\000\002\020\000\020\001\000\020\000\000\000\000\000\000\000\000\000\000'; done) >alike$t.pcap; done
$ unskew sync alike1.pcap alike2.pcap | sed -n '/^Matched/,$p'
Matched 0 messages; not used: 4 indistinguishable.
Note: alike1 and alike2 share no message that can be told from others: datagrams are identical, and neither IP-IDs nor hop counts show which are one packet; record traffic that varies, such as TCP or ping
# A method without a line for these messages leaves the band as it is, and who drew the estimate is told.
$ printf '%s\n' sender,receiver,sent_ns,received_ns a,b,1000,9000 a,b,2000,3000 b,a,3100,9500 b,a,8000,8100 >backwards.csv
$ unskew sync backwards.csv --model linear --method regress | grep '^b\|^Note'
b      bounded    -450 ns ± 652 ns            0 (-500 to 500)     2         2
Note: a and b: by least squares the clock stands still or runs backwards: the messages span too little time for their delays; --method middle is used instead
$ unskew simulate -q -o short --hosts 3 --seconds 20 --rate 10 --seed 3 --format table; for m in $(unskew compare --method none backwards.csv 2>&1 | sed 's/.*from: //; s/,//g'); do for f in backwards.csv short/messages.csv; do for k in linear wander segments=1s; do unskew sync $f --method $m --model $k >out 2>&1; echo $? $(grep -c 'middle is used instead' out); done; done; done | sort -u
0 0
0 1
0 3
# With one rate for each clock nothing says whose step it was, so neither has an answer, nor who is tied to them alone.
$ unskew simulate -q -o stepped --hosts 4 --topology chain --seconds 2 --rate 30 --seed 1 --step host1@1.5s:-400ms --format table; unskew sync stepped/messages.csv --model linear | sed -n '/^Matched/!p'
clock  quality       offset mid-trace (± bound)  drift, ppm  sent  received
host0  contradicted  -                           -             58        57
host1  contradicted  -                           -            122       112
host2  contradicted  -                           -            113       118
host3  contradicted  -                           -             53        59

Groups of clocks that no message in use connects: host0; host1; host2; host3.
The model cannot explain the clocks of host0 and host1; these messages contradict each other:
  (1) host0 sent a message at 1700000001.850042088 s
      that host1 received at 1700000002.450130123 s (message #317 of stepped/messages.csv),
  (2) host1 sent a message at 1700000002.411097531 s
      that host0 received at 1700000001.411124191 s (message #243 of stepped/messages.csv).
  In the 39.0 ms between, host0 would have gained at least 399 ms on host1; the skew limit allows 19.6 us.
The model cannot explain the clocks of host1 and host2; these messages contradict each other:
  (1) host2 sent a message at 1700000002.542227791 s
      that host1 received at 1700000002.142304894 s (message #264 of stepped/messages.csv),
  (2) host1 sent a message at 1700000002.473423561 s
      that host2 received at 1700000002.473484124 s (message #253 of stepped/messages.csv).
  In the 68.7 ms between, host1 would have lost at least 399 ms on host2; the skew limit allows 34.4 us.
Note: 2 messages between host0 and host1 contradict each other if both clocks have constant rates that differ by at most 500 ppm: a clock was stepped or slewed, and as nothing says which, neither has an answer; try --model wander, a part of the trace with --from and --to, or a larger --max-skew-ppm
Note: 2 messages between host1 and host2 contradict each other if both clocks have constant rates that differ by at most 500 ppm: a clock was stepped or slewed, and as nothing says which, neither has an answer; try --model wander, a part of the trace with --from and --to, or a larger --max-skew-ppm
# A clock that shows stamps twice as it was set back unseen: each record's band is held against its own moment.
$ unskew simulate -q -o twice --rate 10 --seconds 20 --offset 0s --drift-ppm 0 --step host1@10.021s:-20ms; unskew sync twice/host0.pcap twice/host1.pcap --truth twice/truth.json | sed -n '/^Truth/p'
Truth: host1's estimate is off by at most 1.33 us; its band holds the truth throughout.
# Rows of a clock that was stepped backward, with messages under way for as long: what is not certain is counted.
$ unskew simulate -q -o vague --seed 3 --hosts 2 --format table --seconds 4 --rate 30 --step host1@2s:-300ms --tail 5ms --heavy 0.1; unskew sync vague/messages.csv | sed -n '/^Note/p'
Note: host1 was stepped backward: of 23 stamps in rows of tables nothing tells for certain whether they are from before or after that. Bounds and the delays shown count them as received as late, and as sent as early, as possible; apply takes the likeliest

# Minimum delays: what they bound, what they forbid, and models that are none.
$ unskew simulate -o t --seconds 20 --rate 10 --seed 3 --format table --dmin 50us -q
$ unskew sync t/messages.csv --min-delay 49us+0.5us+0.1ns/B --truth t/truth.json -o clocks.json; grep '"min_delay":' clocks.json
clock  quality    offset mid-trace (± bound)  drift, ppm           sent  received
host0  reference  0                           0                     208       202
host1  bounded    -1.00020120 s ± 4.82 us     20.1 (14.9 to 25.3)   202       208

Matched 410 messages.
Causality violations (received before sent): 202 before correction, 0 after.
Uncertainty over the trace: ±1.38 us to ±10.5 us, ±6.44 us on average.
One-way delays, median (99 %): host0 -> host1 1.00 s as recorded, 87.5 us (274 us) corrected;
  back -1.00 s as recorded, 86.8 us (270 us) corrected.
Model wander: the rate of each clock is constant within 5 ppm, no two rates differ by more than
500 ppm, no message takes less than its minimum delay (49us+0.5us+0.1ns/B).
The bounds are valid while these assumptions hold.
Truth: host1's estimate is off by at most 1.08 us; its band holds the truth throughout.
    "min_delay": "49us+0.5us+0.1ns/B",
! Wrote clocks.json.
$ (echo sender,receiver,model; echo host0,host1,49us; echo host1,host0,48us; echo host7,host0,1us) >delays.csv; unskew sync t/messages.csv --min-delay @delays.csv
clock  quality    offset mid-trace (± bound)  drift, ppm           sent  received
host0  reference  0                           0                     208       202
host1  bounded    -1.00020068 s ± 5.83 us     20.1 (14.7 to 25.4)   202       208

Matched 410 messages.
Causality violations (received before sent): 202 before correction, 0 after.
Uncertainty over the trace: ±2.46 us to ±11.7 us, ±7.49 us on average.
One-way delays, median (99 %): host0 -> host1 1.00 s as recorded, 88.0 us (274 us) corrected;
  back -1.00 s as recorded, 86.2 us (270 us) corrected.
Note: --min-delay @delays.csv: 1 of its 3 rows name clocks that no trace has, the first is "host7"
Model wander: the rate of each clock is constant within 5 ppm, no two rates differ by more than
500 ppm, no message takes less than its minimum delay (@delays.csv).
The bounds are valid while these assumptions hold.
$ (echo sender,receiver,sent_ns,received_ns; echo a,b,0,40000; echo b,a,90000,170000) >m.csv; unskew check m.csv --min-delay 50us
direction  messages  inversions  min delay   median      p99      max
a -> b            1           0    40.0 us  40.0 us  40.0 us  40.0 us
b -> a            1           0    80.0 us  80.0 us  80.0 us  80.0 us

Matched 2 messages.
An inversion is a causality violation: a message received before it was sent, by the recorded stamps.
Faster than their minimum delay: 1 (50.000 %), by up to 10.0 us, 10.0 us on average.
$ unskew check m.csv --min-delay 50us --json | grep -A6 min_delay
  "min_delay": "50us",
  "too_fast": {
    "count": 1,
    "percent": 50.0,
    "max_ns": "10000",
    "mean_ns": "10000"
  },
$ unskew sync t/messages.csv --min-delay 520us --max-outliers 0
clock  quality       offset mid-trace (± bound)  drift, ppm  sent  received
host0  reference     0                           0            208       202
host1  contradicted  -                           -            202       208

Matched 410 messages.
The model cannot explain the clocks of host0 and host1; these messages contradict each other:
  (1) host0 sent a message at 1700000006.168491566 s
      that host1 received at 1700000007.168665260 s (message #127 of t/messages.csv),
  (2) host1 sent a message at 1700000007.177123958 s
      that host0 received at 1700000006.177051817 s (message #128 of t/messages.csv).
Note: 2 messages between host0 and host1 contradict each other if the clocks' rates never differ by more than 500 ppm and none is faster than --min-delay 520us: that delay is too long, or a clock was stepped or slewed; try a smaller --min-delay
? 3
$ unskew compare t/messages.csv --min-delay 40us --method middle,hull
host1 against host0: 410 messages, 15 on their hulls, half widths 11.0 us to 20.2 us, 16.1 us on average.
method           offset, us  rate - 1, ppm  inversions  too fast, %  there   back  delay there     back
(as recorded)             -              -         202            -      -      -       1.00 s  -1.00 s
middle         -1000201.188      20.084672           0        0.000  0.000  0.000      87.5 us  86.7 us
hull           -1000199.839      20.193831           0        0.000  0.000  0.000      89.7 us  85.3 us

Offset: reference - local at the middle of the trace; add it to a local stamp. Rate: of the clock
against the reference. Inversions: messages received before they were sent, by that line; too fast: in
less than their minimum delay; there is from the reference. Delays: medians.
Lines are judged as drawn; sync settles them into the band.
Matched 410 messages.
$ unskew sync --min-delay 520 t/messages.csv
! unskew: --min-delay 520: "520" needs a unit: ns, us, ms, s, min, h or d
? 2
$ unskew sync --min-delay 1us/B t/messages.csv
! unskew: --min-delay 1us/B: a minimum delay is BASE[+FIRST][+PER_BYTE/B], such as 520us+14us+1.032us/B
? 2
$ unskew sync --min-delay 1us+-2us t/messages.csv
! unskew: --min-delay 1us+-2us: a minimum delay is not negative
? 2
$ unskew sync --min-delay 0.0001ns t/messages.csv
! unskew: --min-delay 0.0001ns: 0.0001ns is finer than 1 ps
? 2
$ unskew sync --min-delay @absent.csv t/messages.csv
! unskew: absent.csv: No such file or directory
? 1
$ (echo sender,receiver,model; echo host0,host1,5) >bad.csv; unskew compare --min-delay @bad.csv t/messages.csv
! unskew: bad.csv: line 2: "5" needs a unit: ns, us, ms, s, min, h or d
? 1
# Estimators with minimum delays by either spelling; where no line fits, the one of least violation.
$ unskew compare t/messages.csv --min-delay 49us --method hull+δ,regress+delta --method two-point+δ,hull | sed -n 1,7p
host1 against host0: 410 messages, 15 on their hulls, half widths 1.97 us to 11.1 us, 6.98 us on average.
method             offset, us  rate - 1, ppm  inversions  too fast, %  there   back  delay there     back
(as recorded)               -              -         202            -      -      -       1.00 s  -1.00 s
hull             -1000199.839      20.193831           0        0.488  0.000  0.990      89.7 us  85.3 us
regress+delta    -1000199.671      20.318074           0        0.732  0.000  1.485      90.4 us  84.9 us
hull+delta       -1000201.326      20.079443           0        0.000  0.000  0.000      87.4 us  86.9 us
two-point+delta  -1000201.789      20.358249           0        0.732  0.962  0.495      88.4 us  87.7 us
$ unskew compare t/messages.csv --min-delay 60us --method hull+delta,hull,two-point+delta,two-point+moved --max-outliers 0
host1 against host0: 410 messages, 15 on their hulls.
method             offset, us  rate - 1, ppm  inversions  too fast, %   there    back  delay there     back
(as recorded)               -              -         202            -       -       -       1.00 s  -1.00 s
hull             -1000199.839      20.193831           0       15.366  15.385  15.347      89.7 us  85.3 us
hull+delta       -1000198.788      19.040044           0       15.122  13.942  16.337      89.8 us  87.5 us
two-point+delta  -1000197.175      19.878119           0       14.878  10.577  19.307      92.6 us  82.7 us
two-point+moved  -1000197.175      19.878119           0       14.878  10.577  19.307      92.6 us  82.7 us
hull+delta: no line fits; this is the one of least violation.

Offset: reference - local at the middle of the trace; add it to a local stamp. Rate: of the clock
against the reference. Inversions: messages received before they were sent, by that line; too fast: in
less than their minimum delay; there is from the reference. Delays: medians.
Lines are judged as drawn; sync settles them into the band.
Matched 410 messages.
Note: 2 messages between host0 and host1 contradict each other if the clocks' rates never differ by more than 500 ppm and none is faster than --min-delay 60us: that delay is too long, or a clock was stepped or slewed; try a smaller --min-delay
? 3
$ unskew sync t/messages.csv --min-delay 49us --method hull+δ --json | grep '"method"'
  "method": "hull+delta",
# host0 is stepped backward by 3.33 s: a minimum delay moves no stamp over that, however short it is.
$ printf '%s\n' sender,receiver,sent_ns,received_ns host0,host1,1700000000988371854,1699999907099754030 host1,host0,1699999907109550890,1700000001005900084 host1,host0,1699999907161168440,1699999997724184301 host1,host0,1699999907162576614,1699999997725592475 host1,host0,1699999907187240489,1699999997750256350 host2,host0,1700000001093254914,1699999997763787265 host0,host1,1699999997780358004,1699999907225073513 >set_back.csv
$ for d in 0 1ns 1ms; do unskew sync set_back.csv --min-delay $d | grep '^Matched\|^Outliers\|^Note'; done
Matched 7 messages.
Note: host2 is bounded on one side only: messages connect it with host1 in one direction only; record traffic in the other direction, too
Matched 7 messages.
Note: host2 is bounded on one side only: messages connect it with host1 in one direction only; record traffic in the other direction, too
Matched 7 messages.
Note: host2 is bounded on one side only: messages connect it with host1 in one direction only; record traffic in the other direction, too

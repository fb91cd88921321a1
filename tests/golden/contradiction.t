# Messages that no clock of constant rate explains: status 3, and the fewest that contradict each other.
$ (echo sender,receiver,sent_ns,received_ns; echo a,b,101,90; echo b,a,143,120) >t.csv; unskew sync t.csv --max-outliers 0
clock  quality       offset mid-trace (± bound)  drift, ppm  sent  received
a      reference     0                           0              1         1
b      contradicted  -                           -              1         1

Matched 2 messages.
The model cannot explain the clocks of a and b; these messages contradict each other:
  (1) a sent a message at 0.000000101 s
      that b received at 0.000000090 s (message #1 of t.csv),
  (2) b sent a message at 0.000000143 s
      that a received at 0.000000120 s (message #2 of t.csv).
  In the 53 ns between, a would have lost at least 34 ns on b; the skew limit allows 1 ns.
Note: 2 messages between a and b contradict each other if the clocks' rates never differ by more than 500 ppm: a clock was set by as much as these messages last, or more often than they tell, its records are in another order than that of time, or two machines go by one name; try a part of the trace with --from and --to, or a larger --max-skew-ppm
? 3
# One side only: status 3, and a bound instead of an offset.
$ (echo sender,receiver,sent_ns,received_ns; echo a,b,100001,130001; echo a,b,1000200000,1000210000) >t.csv; unskew sync t.csv
clock  quality    offset mid-trace (± bound)  drift, ppm  sent  received
a      reference  0                           0              2         0
b      one-sided  at least -24.4 us           -              0         2

Matched 2 messages.
Note: all messages go from a to b, so the offset is bounded on one side only; record traffic in the other direction, too
Model wander: the rate of each clock is constant within 5 ppm, no two rates differ by more than
500 ppm, no message takes less than its minimum delay (0 ns).
The bounds are valid while these assumptions hold.
? 3
# One wrong message among many is left out and named.
$ awk 'BEGIN { print "sender,receiver,sent_ns,received_ns"; for (i = 0; i < 50; i++) { t = i * 1000000000; printf "a,b,%.0f,%.0f\nb,a,%.0f,%.0f\n", t, t + 500050, t + 700000, t + 200080 } print "a,b,20000000000,20000300000" }' >t.csv; unskew sync t.csv -o clocks.json
clock  quality    offset mid-trace (± bound)  drift, ppm         sent  received
a      reference  0                           0                    50        50
b      bounded    -499.97 us ± 2.64 us        0.0 (-5.1 to 5.1)    50        50

Matched 100 messages; not used: 1 as outliers.
Causality violations (received before sent): 50 before correction, 0 after, and 1 among the outliers.
Uncertainty over the trace: ±132 ns to ±502 ms, ±20.6 ms on average.
One-way delays, median (99 %): a -> b 500 us as recorded, 80 ns (80 ns) corrected;
  back -500 us as recorded, 50 ns (50 ns) corrected.
Disturbed: b may have been stepped or slewed in 1 stretch, 2.11 s in all (4.3 % of the time);
  there only the skew limit (500 ppm) bounds its rate, so the uncertainty is larger.
Outliers between a and b, which contradict the other messages and are ignored:
  a -> b, sent 20000000000, received 20000300000 (message #101 of t.csv), by 200 us
Model wander: the rate of each clock is constant within 5 ppm
outside of disturbed stretches, no two rates differ by more than
500 ppm, no message takes less than its minimum delay (0 ns).
The bounds are valid while these assumptions hold.
! Wrote clocks.json.
# Where all that is near goes one way nothing says by how much delays differ: of ten messages the three that are wrong go.
$ (echo sender,receiver,sent_ns,received_ns; echo 'a,b,1015210965,20285343 b,a,797366098,792570874 b,a,869955441,864996040 b,a,1195160336,1189232564 b,a,1852650903,1847833971 a,b,2066945880,2071945074 a,b,2194646758,2199691403 b,a,2212923364,2197983466 a,b,2313649792,2318637095 b,a,2485483513,2483569393' | tr ' ' '\n') >w.csv; unskew sync w.csv --rows outliers
a,b,sender,receiver,sent_ns,received_ns,bytes,excess_ns
a,b,a,b,1015210965,20285343,0,999903748
a,b,b,a,1195160336,1189232564,0,722209
a,b,b,a,2212923364,2197983466,0,9927713
# Two messages between steps there and back are as all others behind a step: right, and not left out.
$ (echo sender,receiver,sent_ns,received_ns; echo b,a,1700000006769362583,1700000006717044611; echo a,b,1700000011725829560,1700000011778401828; echo a,b,1700000040248396656,1700000040301202035; echo b,a,1700000060175545163,1700000060123395853; echo a,b,1700000067809677689,1700000067662880948; echo b,a,1700000069921607149,1700000069869362930; echo a,b,1700000072097240755,1700000070079840471; echo b,a,1700000075106711471,1700000077124574593) >t.csv; unskew sync t.csv
clock  quality    offset mid-trace (± bound)  drift, ppm        sent  received
a      reference  0                           0                    4         4
b      bounded    -53 ms ± 370 ms             -8 (-500 to 500)     4         4

Matched 8 messages.
Causality violations (received before sent): 5 before correction, 0 after.
Uncertainty over the trace: ±280 ms to ±458 ms, ±305 ms on average.
For 90 % of the time a side has no bound, which is not in that.
One-way delays, median (99 %): a -> b 52.6 ms as recorded, 49.7 us (503 us) corrected;
  back -52.1 ms as recorded, 243 us (1.49 ms) corrected.
Step of b or a (messages cannot tell which),
  between 1700000013.369606968 s and 1700000116.860313716 s on the clock of b.
Disturbed: b may have been stepped or slewed in 1 stretch, 68.3 s in all (100 % of the time);
  there only the skew limit (500 ppm) bounds its rate, so the uncertainty is larger.
Model wander: the rate of each clock is constant within 5 ppm
outside of disturbed stretches, no two rates differ by more than
500 ppm, no message takes less than its minimum delay (0 ns).
Between the two times given for a step only clocks that are named for it are stepped,
and their offsets, also to each other, move in one direction only.
The bounds are valid while these assumptions hold.

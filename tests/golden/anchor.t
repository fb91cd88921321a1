# A tie that a person states: messages one way, and one stated moment, bound a clock on both sides.
$ (echo sender,receiver,sent_ns,received_ns; for s in 1 2 3; do echo a,b,${s}000000000,${s}005000000; done) >t.csv
$ unskew sync t.csv --anchor a@2s=b@2.004s+-100us
clock  quality    offset mid-trace (± bound)  drift, ppm       sent  received
a      reference  0                           0                   3         0
b      bounded    -4.000 ms ± 351 us          0 (-500 to 500)     0         3

Matched 3 messages.
Causality violations (received before sent): 0 before correction, 0 after.
Uncertainty over the trace: ±101 us to ±1.11 ms, ±517 us on average.
Model wander: the rate of each clock is constant within 5 ppm, no two rates differ by more than
500 ppm, no message takes less than its minimum delay (0 ns).
The bounds are valid while these assumptions hold.
$ unskew sync t.csv --anchor a@2s=c@2.004s+-100us
! unskew: --anchor a@...=c@...: there is no clock "c"; "a" is one
? 2
$ unskew sync t.csv --anchor a@2s=b
! unskew: --anchor a@2s=b: should be A@TIME=B@TIME±D
? 2
$ (echo sender,receiver,sent_ns,received_ns; for s in 1 2 3 4 5 6; do echo a,b,${s}000000000,${s}005000000; echo b,a,${s}500000000,${s}505000000; done) >both.csv
$ unskew sync both.csv --anchor a@2s=b@9s+-1us
clock  quality    offset mid-trace (± bound)  drift, ppm        sent  received
a      reference  0                           0                    6         6
b      bounded    0.0 ms ± 10.1 ms            30 (-500 to 500)     6         6

Matched 12 messages.
Causality violations (received before sent): 0 before correction, 0 after.
Uncertainty over the trace: ±10.1 ms to ±11.4 ms, ±10.3 ms on average.
One-way delays, median (99 %): a -> b 5.00 ms as recorded, 5.00 ms (5.12 ms) corrected;
  back 5.00 ms as recorded, 5.00 ms (5.12 ms) corrected.
Note: --anchor: what is stated of a and b contradicts their messages or another anchor, and is ignored
Model wander: the rate of each clock is constant within 5 ppm, no two rates differ by more than
500 ppm, no message takes less than its minimum delay (0 ns).
The bounds are valid while these assumptions hold.
# What is stated of a moment long before a clock's only message takes no longer than any other tie.
$ (echo sender,receiver,sent_ns,received_ns; for s in 11 12 15 20 40 60; do echo a,b,${s}000000000,${s}005000000; echo b,a,${s}500000000,${s}505000000; done; echo b,c,50000000000,50001000000; echo c,d,50001000000,50001100000) >long.csv; timeout 30 unskew sync long.csv -r a --anchor c@10s=d@10.004s+-100us | head -5
clock  quality    offset mid-trace (± bound)  drift, ppm       sent  received
a      reference  0                           0                   6         6
b      bounded    0.0 ms ± 10.1 ms            0 (-410 to 418)     7         6
c      one-sided  at least -22.1 ms           -                   1         1
d      one-sided  at least -22.3 ms           -                   0         1
# Around a loop messages contradict each other alone: each is left out once, whatever is stated besides and is wrong.
$ (echo sender,receiver,sent_ns,received_ns; echo c,a,83420000007,83350000003; echo a,b,267380000009,267340000001; echo b,c,267340000001,267450000003; echo c,a,267450000003,267379940007) >loop.csv; unskew sync loop.csv -r a --anchor a@87.15s=c@87.21s+-10ns | grep -E '^(Matched|Note)'
Matched 4 messages; not used: 3 as outliers.
Note: --anchor: what is stated of a and c contradicts their messages or another anchor, and is ignored
Note: 3 messages contradict others over a loop of three or more clocks, and are ignored as outliers
Note: c is bounded on one side only: messages connect it with a in one direction only; record traffic in the other direction, too
# Bounds that need a clock to have fallen are found again as they were, whatever else was tried.
$ (echo sender,receiver,sent_ns,received_ns; echo c,a,35075412343,35012551366; echo a,c,40123635953,40186466877; echo a,b,40597218556,40645094051; echo b,c,40645094051,40660062998; echo c,a,40660062998,40597227860; echo a,c,52468633499,52531294900) >fell.csv; timeout 30 unskew sync fell.csv -r a --min-delay 10us --anchor b@34518856942=a@33814918161+-10ms | head -4
clock  quality    offset mid-trace (± bound)  drift, ppm         sent  received
a      reference  0                           0                     3         2
b      bounded    -47.9 ms ± 27.0 ms          473 (-500 to 500)     1         1
c      bounded    -64.1 ms ± 11.5 ms          -                     2         3

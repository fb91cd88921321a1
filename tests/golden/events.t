# Each machine prints its own table of events, one as CSV, one as JSON lines; equal ids are one message.
$ printf 'clock,time_ns,kind,id,bytes\na,1000000,send,m1,10\na,5000000,recv,m2,\na,6000000,send,m3,5\na,7000000,send,twice,\na,7000001,send,twice,\na,8000000,send,nobody,\n' >a.csv
$ printf '{"clock":"b","time_ns":2100000,"kind":"recv","id":"m1"}\n{"time_s":0.0031,"clock":"b","kind":"send","id":"m2"}\n{"clock":"b","time":"1970-01-01T00:00:00.0071Z","kind":"recv","id":"m3"}\n{"clock":"c","time_ns":8000000,"kind":"recv","id":"m3"}\n{"clock":"b","time_ns":8000000,"kind":"recv","id":"twice"}\n{"clock":"b","time_ns":oops}\n' >b.jsonl
$ unskew sync a.csv b.jsonl -o clocks.json --messages m.csv
clock  quality    offset mid-trace (± bound)  drift, ppm       sent  received
a      reference  0                           0                   3         1
b      bounded    0.35 ms ± 1.56 ms           0 (-500 to 500)     1         2
c      one-sided  at least -3.01 ms           -                   0         1

Matched 4 messages; not used: 1 without a partner, 1 ambiguous.
Causality violations (received before sent): 0 before correction, 0 after.
Uncertainty over the trace: ±1.56 ms to ±1.56 ms, ±1.56 ms on average.
One-way delays, median (99 %): a -> b 1.10 ms as recorded, 1.45 ms (1.45 ms) corrected;
  back 1.90 ms as recorded, 1.55 ms (1.55 ms) corrected.
Note: b.jsonl: line 6: has no kind; 1 row skipped
Note: c is bounded on one side only: messages connect it with a in one direction only; record traffic in the other direction, too
Model wander: the rate of each clock is constant within 5 ppm, no two rates differ by more than
500 ppm, no message takes less than its minimum delay (0 ns).
The bounds are valid while these assumptions hold.
! Wrote clocks.json, m.csv.
? 3
$ cat m.csv
sender,receiver,sent_ns,received_ns,bytes
a,b,1000000,2100000,10
b,a,3100000,5000000,0
a,b,6000000,7100000,5
a,c,6000000,8000000,5
# As re-timed, the recorded stamp stays beside the new one.
$ unskew apply clocks.json a.csv b.jsonl -o out --allow-unbounded; cat out/a.csv out/b.jsonl
clock,time_ns,time_raw_ns,kind,id,bytes
a,1000000,1000000,send,m1,10
a,5000000,5000000,recv,m2,
a,6000000,6000000,send,m3,5
a,7000000,7000000,send,twice,
a,7000001,7000001,send,twice,
a,8000000,8000000,send,nobody,
{"clock":"b","time_ns":2449975,"time_raw_ns":2100000,"kind":"recv","id":"m1"}
{"time_s":0.003449975,"time_raw_ns":3100000,"clock":"b","kind":"send","id":"m2"}
{"clock":"b","time":"1970-01-01T00:00:00.007449975Z","time_raw_ns":7100000,"kind":"recv","id":"m3"}
{"clock":"c","time_ns":8000000,"time_raw_ns":8000000,"kind":"recv","id":"m3"}
{"clock":"b","time_ns":8349975,"time_raw_ns":8000000,"kind":"recv","id":"twice"}
! Wrote out/a.csv.
! Wrote out/b.jsonl.
! unskew: note: b.jsonl: clock c is one-sided: its stamps are left as recorded
! unskew: note: b.jsonl: line 6: has no kind; 1 row skipped
# Exchanges of NTP or PTP; a counter's ticks need its rate.
$ printf 'a,b,t1_ticks,t2_s,t3_s,t4_ticks\nclient,server,1193182,11.010,11.011,1217045\nclient,server,11931820,20.010,20.011,11955683\n' >ntp.csv
$ unskew sync ntp.csv --reference server
! unskew: ntp.csv: line 2: is in ticks of a counter: give its rate with --tick-rate client=HZ; 2 rows skipped, this is the first
? 1
$ unskew sync ntp.csv --reference server --tick-rate client=1193182 -o ntp.json | head -n 3
clock   quality    offset mid-trace (± bound)  drift, ppm       sent  received
client  bounded    10.0010 s ± 10.1 ms         0 (-500 to 500)     2         2
server  reference  0                           0                   2         2
! Wrote ntp.json.
$ unskew apply -q ntp.json ntp.csv --tick-rate client=1193182 -o fixed.csv; cat fixed.csv
a,b,t1_ticks,t1_ns,t2_s,t2_raw_ns,t3_s,t3_raw_ns,t4_ticks,t4_ns
client,server,1193182,11000999849,11.010000000,11010000000,11.011000000,11011000000,1217045,11020999312
client,server,11931820,20000999849,20.010000000,20010000000,20.011000000,20011000000,11955683,20020999312
$ unskew sync ntp.csv --tick-rate clientele=1193182
! unskew: ntp.csv: line 2: is in ticks of a counter: give its rate with --tick-rate client=HZ; 2 rows skipped, this is the first
? 1
$ unskew sync ntp.csv --tick-rate client=fast
! unskew: --tick-rate client=fast: write NAME=HZ, such as 24000000 or 24MHz, with at most 6 decimals of a Hz
? 2
# What is wrong is one sentence with its line.
$ printf 'clock,kind,id\na,send,1\n' >bad.csv; unskew check bad.csv
! unskew: bad.csv: line 1: the event table needs time_ns, time_s, time or time_ticks; found clock,kind,id
? 1
$ printf 'clock,time_ns,kind,id\na,9223372036854775808,send,1\n' >bad.csv; unskew check bad.csv
! unskew: bad.csv: line 2: 9223372036854775808 does not fit into 64 bits
? 1
$ printf 'clock,time_ns,kind,id\na,1,sent,1\n' >bad.csv; unskew check bad.csv
! unskew: bad.csv: line 2: its kind is "sent", neither send nor recv; 1 row skipped
? 1
$ printf 'a,b,t1_ns,t2_ns,t3_ns\n' >bad.csv; unskew check bad.csv
! unskew: bad.csv: line 1: the table of exchanges needs t4_ns, t4_s, t4 or t4_ticks; found a,b,t1_ns,t2_ns,t3_ns
? 1
# What is needed, and what was found instead; ids that do not tell messages apart.
$ printf '{"ts":1,"svc":"a","msg":"x"}\n' >log.jsonl; unskew check log.jsonl
! unskew: log.jsonl: unknown format (JSON with the keys ts, svc, msg): unskew reads tables (CSV or JSON lines) of messages (sender, receiver, sent_ns, received_ns), events (clock, time_ns, kind, id), exchanges (a, b, t1_ns, t2_ns, t3_ns, t4_ns), spans (trace, span, parent, clock, start_ns, end_ns) or collectives (collective, kind, clock, enter_ns, exit_ns); `unskew help sync` has other formats
? 1
$ printf 'clock,time_ms,kind,id\na,1,send,1\n' >ms.csv; unskew check ms.csv
! unskew: ms.csv: line 1: the event table needs time_ns, time_s, time or time_ticks; found clock,time_ms,kind,id
? 1
$ printf 'clock,time_ns,kind,id\na,1,send,7\nb,2,recv,7\nb,3,send,7\na,4,recv,7\n' >twice.csv; unskew check twice.csv | grep Matched; unskew sync twice.csv | grep Note
Matched 0 messages; not used: 2 ambiguous.
Note: a and b share no message: all that might be messages are ambiguous, as an id or a packet occurs more than once; in tables of events give each message its own id, request and reply too

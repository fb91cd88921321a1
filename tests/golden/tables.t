# Message tables in and out: what --messages writes is read again to the same answer, odd names too.
$ (echo sender,receiver,sent_ns,received_ns; echo '"a, ""the first""",b,100000,600050'; echo 'b,"a, ""the first""",1700000,1200080'; echo '"a, ""the first""",b,1000100000,1000600050') >t.csv
$ unskew sync t.csv --messages m.csv -o one.json
clock           quality    offset mid-trace (± bound)  drift, ppm     sent  received
a, "the first"  reference  0                           0                 2         1
b               bounded    -500 us ± 124 us            0 (-242 to 6)     1         2

Matched 3 messages.
Causality violations (received before sent): 1 before correction, 0 after.
Uncertainty over the trace: ±136 ns to ±124 us, ±62.6 us on average.
One-way delays, median (99 %): a, "the first" -> b 500 us as recorded, 80 ns (80 ns) corrected;
  back -500 us as recorded, 50 ns (50 ns) corrected.
Model wander: the rate of each clock is constant within 5 ppm, no two rates differ by more than
500 ppm, no message takes less than its minimum delay (0 ns).
The bounds are valid while these assumptions hold.
! Wrote one.json, m.csv.
$ cat m.csv
sender,receiver,sent_ns,received_ns,bytes
"a, ""the first""",b,100000,600050,0
b,"a, ""the first""",1700000,1200080,0
"a, ""the first""",b,1000100000,1000600050,0
$ unskew sync -q m.csv -o two.json; sed 's/t\.csv/m.csv/' one.json | cmp - two.json && echo same
same
# As recorded, in JSON.
$ unskew check --json t.csv
{
  "unskew_check": 1,
  "messages": {
    "matched": 3,
    "unmatched": 0,
    "ambiguous": 0,
    "expired": 0,
    "direction_unknown": 0
  },
  "min_delay": "0",
  "too_fast": {
    "count": 1,
    "percent": 33.333333333333336,
    "max_ns": "499920",
    "mean_ns": "499920"
  },
  "broadcasts": {
    "count": 0,
    "min_ns": null,
    "max_ns": null,
    "mean_ns": null,
    "sd_ns": null
  },
  "pairs": [
    {
      "a": "a, \"the first\"",
      "b": "b",
      "a_to_b": {
        "messages": 2,
        "inversions": 0,
        "min_ns": "500050",
        "median_ns": "500050",
        "p99_ns": "500050",
        "max_ns": "500050"
      },
      "b_to_a": {
        "messages": 1,
        "inversions": 1,
        "min_ns": "-499920",
        "median_ns": "-499920",
        "p99_ns": "-499920",
        "max_ns": "-499920"
      }
    }
  ],
  "notes": []
}
# The same columns in another order, with more of them, in other units; and what is missing is named.
$ (echo received_s,x,sender,sent,receiver; echo 0.000600050,1,a,1970-01-01T00:00:00.0001Z,b; echo 0.001200080,2,b,1970-01-01T00:00:00.0017Z,a) >t.csv; unskew check t.csv | sed -n 2,3p
a -> b            1           0     500 us   500 us   500 us   500 us
b -> a            1           1    -500 us  -500 us  -500 us  -500 us
$ (echo sender,receiver,sent_ns; echo a,b,1) >t.csv; unskew check t.csv
! unskew: t.csv: line 1: the message table needs received_ns, received_s, received or received_ticks; found sender,receiver,sent_ns
? 1
$ (echo sender,receiver,sent_ns,received_ns; echo a,b,1,9223372036854775807) >t.csv; unskew check t.csv
! unskew: t.csv: line 2: a stamp is over 2^62 ns (146 years)
? 1
# Tables that name the same clocks add up: stamps of both, on the grid of both.
$ for k in 0 1; do awk -v k=$k 'BEGIN { print "sender,receiver,sent_ns,received_ns"; for (i = 0; i < 40; i++) { t = (i + 40 * k) * 1000000000 + 500 * k; printf "a,b,%.0f,%.0f\nb,a,%.0f,%.0f\n", t, t + 50000, t + 700000, t + 760000 } }' >t$k.csv; done; unskew sync t0.csv t1.csv -o clocks.json --quiet; grep -o '"resolution_ns": "[0-9]*"' clocks.json
"resolution_ns": "500"
"resolution_ns": "500"
# All pairs' messages are in the file, however many clocks there are and however often one is read.
$ unskew simulate -o h --hosts 4 --seconds 5 --rate 20 --seed 3 -q
$ unskew sync h/host*.pcap --messages all.csv | sed -n 's/^Matched \([0-9,]*\) messages.*/\1/p' | tr -d ,
1557
! Wrote all.csv.
$ tail -n +2 all.csv | wc -l
1557
$ cut -d, -f1,2 all.csv | sort -u
host0,host1
host0,host2
host0,host3
host1,host0
host1,host2
host1,host3
host2,host0
host2,host1
host2,host3
host3,host0
host3,host1
host3,host2
sender,receiver
$ (cat all.csv; echo host0,host2,1700000002000000000,1700000002000000000,0) >wrong.csv; unskew sync -q wrong.csv --reference host0 --messages right.csv; sort all.csv >a; sort right.csv | cmp - a && echo same
same
# A row that cannot be read is left out, the rows after it are not; the re-timed table lacks it too.
$ (echo sender,receiver,sent_ns,received_ns; echo a,b,100000,600050; echo a,b,xyz,7; echo b; echo b,a,1700000,1200080; echo a,b,1000100000,1000600050) >bad.csv; unskew sync bad.csv -o bad.json | grep -E "Matched|Note"
Matched 3 messages.
Note: bad.csv: line 3: "xyz" is not a whole number; 2 rows skipped, this is the first
! Wrote bad.json.
$ unskew apply bad.json bad.csv -o good.csv; cut -d, -f1,2,4 good.csv
sender,receiver,sent_raw_ns
a,b,100000
b,a,1700000
a,b,1000100000
! Wrote good.csv.
! unskew: note: bad.csv: line 3: "xyz" is not a whole number; 2 rows skipped, this is the first

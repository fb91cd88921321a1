# Who came last for sure: b's clock is 1 ms ahead, and by raw stamps it is always last.
$ awk 'BEGIN { print "collective,kind,clock,enter_ns,exit_ns,root"; for (i = 0; i < 400; i++) { t = i * 1000000; l = i % 4; a = t + (l == 1 ? 90000 : 137 * (i % 7)); b = t + (l == 2 ? 80000 : 131 * (i % 5)); c = t + (l == 3 ? 40000 : 113 * (i % 3)); m = a > b ? a : b; m = m > c ? m : c; kind = i == 5 ? "broadcast" : "allreduce"; root = i == 5 ? "a" : ""; printf "dp/%d,%s,a,%d,%d,%s\n", i, kind, a, m + 5003, root; printf "dp/%d,%s,b,%d,%d,%s\n", i, kind, b + 1000003, m + 1005011, root; printf "dp/%d,%s,c,%d,%d,%s\n", i, kind, c - 7, m + 5102, root } }' >c.csv; unskew late c.csv -r a -m wander=0.1 -o each.csv
rank  last for sure  by at least, all  largest  waited at least  transfer at least   untold
a                99           8.38 ms  85.0 us          10.9 ms             520 us  2.50 ms
b               100           6.99 ms  70.0 us          11.4 ms             501 us  3.04 ms
c               100           2.96 ms  29.9 us          15.5 ms             511 us  3.08 ms

Collectives: 400. Who came last is certain in 299 of 399 (74.9 %) that have a last one, undecidable in 100.
Time in collectives: 78.8 % is waiting for others, 3.2 % is transfer, 18.0 % may be either.
Model wander: the rate of each clock is constant within 0.1 ppm, no two rates differ by more than
500 ppm, no message takes less than its minimum delay (0 ns).
The bounds are valid while these assumptions hold.
! Wrote each.csv.
$ head -8 each.csv
collective,kind,ranks,last,by_ns,waited_ns,transfer_ns,untold_ns,at_ns
dp/0,allreduce,3,undecidable,,0,0,15120,0
dp/1,allreduce,3,a,84855,169728,5003,20145,1090000
dp/2,allreduce,3,b,69741,144448,5008,25164,2079998
dp/3,allreduce,3,c,29473,63942,5109,25265,3039947
dp/4,allreduce,3,undecidable,,0,13,15566,4000548
dp/5,broadcast,3,,,169746,5003,20145,5090000
dp/6,allreduce,3,b,69967,144126,5008,25164,6079998
$ unskew late c.csv -r a -m wander=0.1 --top 1 | sed -n '2,3p'
a                99           8.38 ms  85.0 us          10.9 ms             520 us  2.50 ms
2 more ranks: --top shows them.
$ unskew late c.csv -r a -m wander=0.1 --json | head -12
{
  "unskew_late": 1,
  "collectives": 400,
  "asked": 399,
  "decided": 299,
  "spent": {
    "waited_ns": 37809293,
    "transfer_ns": 1531253,
    "untold_ns": 8619062
  },
  "unmatched": 0,
  "ambiguous": 0,
# Ranks of one clock are compared by its own stamps; one alone tells nothing.
$ printf 'collective,kind,clock,enter_ns,exit_ns,rank\n1,barrier,a,1000,9000,0\n1,barrier,a,4001,9000,1\n1,barrier,b,2000,9500,2\n' >two.csv; unskew late two.csv -o two_each.csv | head -4; cat two_each.csv
rank   last for sure  by at least, all  largest  waited at least  transfer at least   untold
0 (a)              0              0 ns     0 ns          3.00 us               0 ns  5.00 us
1 (a)              0              0 ns     0 ns             0 ns               0 ns  5.00 us
2 (b)              0              0 ns     0 ns             0 ns               0 ns  7.50 us
collective,kind,ranks,last,by_ns,waited_ns,transfer_ns,untold_ns,at_ns
1,barrier,3,undecidable,,2999,0,17500,4001
! Wrote two_each.csv.
$ printf 'sender,receiver,sent_ns,received_ns\na,b,1,2\nb,a,3,4\n' >messages.csv; unskew late messages.csv
! unskew: messages.csv: holds no collective of which two members were recorded
? 1

# OTF2: messages, collectives and their ranks; what says nothing is counted. Ticks of 100 ns.
# needs: with-otf2
$ cp -r $DATA/otf2 .; unskew sync otf2/run.otf2 --messages used.csv; cat used.csv
clock           quality    offset mid-trace (± bound)  drift, ppm          sent  received
run/MPI Rank 0  reference  0                           0                      6         4
run/MPI Rank 1  bounded    -1.0070 ms ± 35.2 us        500 (-500 to 500)      3         4
run/MPI Rank 2  bounded    3.0025 ms ± 53.6 us         -500 (-500 to 500)     1         2

Matched 10 messages.
Causality violations (received before sent): 5 before correction, 0 after.
Uncertainty over the trace: ±31.6 us to ±53.6 us, ±42.7 us on average.
One-way delays, median (99 %): run/MPI Rank 0 -> run/MPI Rank 1 1.08 ms as recorded, 73.3 us (95.1 us) corrected;
  back -950 us as recorded, 56.8 us (102 us) corrected.
One-way delays, median (99 %): run/MPI Rank 0 -> run/MPI Rank 2 -2.90 ms as recorded, 101 us (101 us) corrected;
  back 3.06 ms as recorded, 52.7 us (52.7 us) corrected.
Note: otf2/run.otf2: calls not used: 1 after recording was switched off, as only their order tells which is which, 3 of alltoallv, in which members need not wait
Model wander: the rate of each clock is constant within 5 ppm, no two rates differ by more than
500 ppm, no message takes less than its minimum delay (0 ns).
The bounds are valid while these assumptions hold.
sender,receiver,sent_ns,received_ns,bytes
run/MPI Rank 2,run/MPI Rank 0,97250000,100305000,0
run/MPI Rank 0,run/MPI Rank 2,100200000,97299000,0
run/MPI Rank 0,run/MPI Rank 2,100500000,97550000,0
run/MPI Rank 0,run/MPI Rank 1,100000000,101080000,0
run/MPI Rank 0,run/MPI Rank 1,100010000,101070000,0
run/MPI Rank 1,run/MPI Rank 0,101100000,100150000,0
run/MPI Rank 1,run/MPI Rank 0,101210000,100305000,0
run/MPI Rank 0,run/MPI Rank 1,100200000,101302000,0
run/MPI Rank 0,run/MPI Rank 1,100500000,101540000,0
run/MPI Rank 1,run/MPI Rank 0,101600000,100620000,0
! Wrote used.csv.
# Another name for it, and a reference; both of one command.
$ unskew sync again=$DATA/otf2/run.otf2 -r 'again/MPI Rank 1' | head -4
clock             quality    offset mid-trace (± bound)  drift, ppm          sent  received
again/MPI Rank 0  bounded    1.0045 ms ± 37.6 us         -500 (-500 to 500)     5         3
again/MPI Rank 1  reference  0                           0                      4         5
again/MPI Rank 2  bounded    3.9820 ms ± 72.1 us         0 (-500 to 500)        1         2
# Who was late for sure.
$ unskew late $DATA/otf2/run.otf2 | head -4
rank                         last for sure  by at least, all  largest  waited at least  transfer at least   untold
MPI Rank 0 (run/MPI Rank 0)              0              0 ns     0 ns             0 ns               1 ns   106 us
MPI Rank 1 (run/MPI Rank 1)              0              0 ns     0 ns             0 ns               0 ns   132 us
MPI Rank 2 (run/MPI Rank 2)              0              0 ns     0 ns             0 ns            14.7 us  74.3 us
# It is a file with a folder: neither a pipe nor a packed one will do, nor the anchor alone.
$ cat $DATA/otf2/run.otf2 | unskew check /dev/stdin
! unskew: /dev/stdin: is the anchor of an OTF2 trace, which needs the folder and the definitions beside it: give the path of NAME.otf2, neither packed nor through a pipe
? 1
$ gzip -c $DATA/otf2/run.otf2 >run.otf2.gz; unskew check run.otf2.gz
! unskew: run.otf2.gz: is the anchor of an OTF2 trace, which needs the folder and the definitions beside it: give the path of NAME.otf2, neither packed nor through a pipe
? 1
$ cp $DATA/otf2/run.otf2 .; unskew check run.otf2 2>&1 | sed 's/\(read it\): .*/\1/'
unskew: run.otf2: libotf2 cannot read it
$ cp $DATA/otf2/run.otf2 run; unskew check run
! unskew: run: is the anchor of an OTF2 trace, which needs the folder and the definitions beside it: give the path of NAME.otf2, neither packed nor through a pipe
? 1
# What is cut short is used up to there.
$ rm run; cp $DATA/otf2/run.def .; cp -r $DATA/otf2/run .; head -c 150 $DATA/otf2/run/1.evt >run/1.evt; unskew check run.otf2 | sed 's/ (libotf2: [^)]*)//'
direction                         messages  inversions  min delay     median        p99        max
run/MPI Rank 0 -> run/MPI Rank 1         3           0    1.06 ms    1.08 ms    1.10 ms    1.10 ms
run/MPI Rank 1 -> run/MPI Rank 0         2           2    -950 us    -905 us    -905 us    -905 us
run/MPI Rank 0 -> run/MPI Rank 2         2           2  -2.950 ms  -2.901 ms  -2.901 ms  -2.901 ms
run/MPI Rank 2 -> run/MPI Rank 0         1           0    3.06 ms    3.06 ms    3.06 ms    3.06 ms

Matched 8 messages; not used: 1 without a partner.
An inversion is a causality violation: a message received before it was sent, by the recorded stamps.
Note: run.otf2: "MPI Rank 1" ends after 9 of 12 events, and what follows is lost
Note: run.otf2: calls not used: 1 after recording was switched off, as only their order tells which is which, 3 of alltoallv, in which members need not wait
$ rm run/1.evt; unskew check run.otf2 | sed 's/ (libotf2: [^)]*)//'
direction                         messages  inversions  min delay     median        p99        max
run/MPI Rank 0 -> run/MPI Rank 2         2           2  -2.950 ms  -2.901 ms  -2.901 ms  -2.901 ms
run/MPI Rank 2 -> run/MPI Rank 0         1           0    3.06 ms    3.06 ms    3.06 ms    3.06 ms

Matched 3 messages; not used: 4 without a partner.
An inversion is a causality violation: a message received before it was sent, by the recorded stamps.
Note: run.otf2: "MPI Rank 1" ends after 0 of 12 events, and what follows is lost
Note: run.otf2: calls not used: 1 after recording was switched off, as only their order tells which is which, 2 of alltoallv, in which members need not wait
$ mkfifo run/1.evt; timeout 20 unskew check run.otf2; rm run/1.evt
! unskew: run.otf2: 1.evt, which belongs to it, is no file
$ head -c 100 $DATA/otf2/run.def >run.def; unskew check run.otf2 2>&1 | sed 's/\(read it\): .*/\1/'
unskew: run.otf2: libotf2 cannot read it
$ head -c 30 $DATA/otf2/run.otf2 >run.otf2; unskew check run.otf2 2>&1 | sed 's/\(read it\): .*/\1/'
unskew: run.otf2: libotf2 cannot read it
# Again with offsets of its clocks: a folder with its events as they were; recorded definitions are kept beside.
$ unskew sync -q otf2/run.otf2 -o run.json; unskew apply run.json otf2/run.otf2 -o again; ls again again/run | head -8; cmp otf2/run/0.evt again/run/0.evt && cmp otf2/run/0.def again/run/0.def.recorded && cmp otf2/run.def again/run.def && echo as it was
again:
run
run.def
run.otf2

again/run:
0.def
0.def.recorded
as it was
! Wrote again.
$ unskew apply run.json otf2/run.otf2 -o again
! unskew: again/run: exists already; use --force to replace it
? 1
$ unskew apply run.json otf2/run.otf2 -o again/run.otf2 --force; ls again
run
run.def
run.otf2
! Wrote again/run.
$ cp -r otf2 other; mv other/run.otf2 other/x.otf2; mv other/run.def other/x.def; mv other/run other/x; unskew apply run.json other/x.otf2 -o none; ls none
! unskew: other/x.otf2: the table of clocks corrects none of its processes: is it of this trace? The first is clock x/MPI Rank 0
! ls: cannot access 'none': No such file or directory
? 2
$ cp other/x/0.evt other/x/0.def; sed 's,run/MPI,x/MPI,g' run.json >x.json; unskew apply x.json other/x.otf2 -o none; ls none
! unskew: other/x.otf2: the definitions of thread 0 are damaged, or hold more than mappings and clock offsets, which would be lost
! ls: cannot access 'none': No such file or directory
? 2

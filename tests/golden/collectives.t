# Collectives: who could not leave before whom had come. b is 1 ms ahead; c's two ranks share a clock.
$ printf 'collective,kind,clock,enter_ns,exit_ns,rank,root\n1,allreduce,a,1000001,1100001,0,\n1,allreduce,b,2090003,2100003,1,\n1,allreduce,c,1000002,1110002,2,\n1,allreduce,c,1050007,1100017,3,\n2,all_reduce,a,5090001,5100001,0,\n2,all_reduce,b,6000003,6100003,1,\n2,all_reduce,c,5000002,5100502,2,\n2,all_reduce,c,5080002,5100002,3,\n3,bcast,a,9000001,9010001,0,2\n3,bcast,c,9000002,9000502,2,2\n' >c.csv; unskew sync c.csv
clock  quality    offset mid-trace (± bound)  drift, ppm          sent  received
a      reference  0                           0                      4         5
b      bounded    -1.0000 ms ± 21.1 us        -500 (-500 to 500)     2         2
c      bounded    5.2 us ± 16.9 us            -359 (-500 to 500)     3         2

Matched 9 messages.
Causality violations (received before sent): 2 before correction, 0 after.
Uncertainty over the trace: ±16.0 us to ±21.1 us, ±18.8 us on average.
One-way delays, median (99 %): a -> b 1.10 ms as recorded, 99.0 us (99.0 us) corrected;
  back -900 us as recorded, 99.0 us (99.0 us) corrected.
One-way delays, median (99 %): a -> c 100 us as recorded, 103 us (103 us) corrected;
  back 19.8 us as recorded, 14.6 us (46.8 us) corrected.
Model wander: the rate of each clock is constant within 5 ppm, no two rates differ by more than
500 ppm, no message takes less than its minimum delay (0 ns).
The bounds are valid while these assumptions hold.
$ unskew sync c.csv -r a | head -4
clock  quality    offset mid-trace (± bound)  drift, ppm          sent  received
a      reference  0                           0                      4         5
b      bounded    -1.0000 ms ± 21.1 us        -500 (-500 to 500)     2         2
c      bounded    5.2 us ± 16.9 us            -359 (-500 to 500)     3         2
# What is wrong is one sentence with its place; what cannot be is left out and counted.
$ printf 'collective,kind,clock,enter_ns,exit_ns\n1,alltoallv,a,1,5\n1,alltoallv,b,1,5\n' >bad.csv; unskew sync bad.csv
! unskew: bad.csv: line 2: its kind is "alltoallv", none of allreduce, allgather, reducescatter, alltoall, barrier, broadcast, scatter, reduce, gather, message; 2 rows skipped, this is the first
? 1
$ printf 'collective,kind,clock,enter_ns\n' >bad.csv; unskew sync bad.csv
! unskew: bad.csv: line 1: the table of collectives needs exit_ns, exit_s, exit or exit_ticks; found collective,kind,clock,enter_ns
? 1
$ printf 'collective,kind,clock,enter_ns,exit_ns\n1,barrier,a,11,17\n1,barrier,b,12,18\n2,barrier,a,21,25\n2,barrier,a,22,29\n3,barrier,b,31,37\n' >twice.csv; unskew sync twice.csv | head -6
clock  quality    offset mid-trace (± bound)  drift, ppm       sent  received
a      reference  0                           0                   1         1
b      bounded    -1 ns ± 7 ns                0 (-500 to 500)     1         1

Matched 2 messages; not used: 1 without a partner, 2 ambiguous.
Causality violations (received before sent): 0 before correction, 0 after.
# Kineto's profiles, a file a rank; a file without numbers of collectives.
# needs: with-yajl
$ kernel() { printf '{"ph":"X","cat":"kernel","ts":%s,"dur":%s,"args":{"Collective name":"allreduce","Process Group Name":"0","Seq":%s}}' $1 $2 $3; }; profile() { printf '{"schemaVersion":1,"distributedInfo":{"rank":%s},"traceEvents":[%s,%s],"baseTimeNanoseconds":1700000000000000000}' $1 "$2" "$3" | gzip >rank$1.json.gz; }; profile 0 "$(kernel 100.001 50.5 1)" "$(kernel 900.001 90.5 2)"; profile 1 "$(kernel 1190.001 10.5 1)" "$(kernel 1910.007 130.007 2)"; unskew sync rank*.json.gz | head -5
clock  quality    offset mid-trace (± bound)  drift, ppm          sent  received
rank0  reference  0                           0                      2         2
rank1  bounded    -1.0540 ms ± 46.8 us        -500 (-500 to 500)     2         2

Matched 4 messages.
$ printf '{"schemaVersion":1,"traceEvents":[{"ph":"X","cat":"kernel","name":"ncclKernel_AllReduce","ts":1,"dur":2}]}' >old.json; unskew sync old.json
! unskew: old.json: 1 event was left out, the first before byte 106: it is a kernel of NCCL that has no "Collective name", which newer versions of PyTorch write
? 1
# Re-timed in their own format; what was recorded and bounds are arguments; a process that only names itself has no time.
$ unskew sync -q rank*.json.gz -o rank.json; unskew apply rank.json rank1.json.gz -o again.json; cat again.json; echo
{"schemaVersion":1,"distributedInfo":{"rank":1},"traceEvents":[{"ph":"X","cat":"kernel","ts":135.732,"dur":10.505,"args":{"Collective name":"allreduce","Process Group Name":"0","Seq":1,"unskew.ts.recorded":"1190.001","unskew.dur.recorded":"10.5","unskew.start.earliest_ns":"1700000000000089494","unskew.start.latest_ns":"1700000000000151003","unskew.end.earliest_ns":"1700000000000099988","unskew.end.latest_ns":"1700000000000161509"}},{"ph":"X","cat":"kernel","ts":856.138,"dur":130.080,"args":{"Collective name":"allreduce","Process Group Name":"0","Seq":2,"unskew.ts.recorded":"1910.007","unskew.dur.recorded":"130.007","unskew.start.earliest_ns":"1700000000000809148","unskew.start.latest_ns":"1700000000000871369","unskew.end.earliest_ns":"1700000000000939092","unskew.end.latest_ns":"1700000000001001441"}}],"baseTimeNanoseconds":1700000000000000000}
! Wrote again.json.
$ printf '[{"ph":"s","id":1,"pid":1,"ts":1.25,"cat":"x"},{"ph":"f","id":"1","pid":"b","ts":2.5,"cat":"x","args":{}},\n{"ph":"s","id":2,"pid":"b","ts" : 3,"cat":"x","args": null},{"ph":"f","id":2,"pid":1,"ts":"4.125","cat":"x" , "args" : {"a":[1,{"b":2}] } },{"ph":"M","pid":1,"ts":0},{"ph":"i","pid":"b","ts":-1},{"ph":"i","pid":1,"ts":7,"args":"x"},{"ph":"C","pid":9,"ts":7,"args":{"v":1}},{"ph":"i","ts":4},' >flow.json; unskew sync -q flow.json -o flow.clocks; unskew apply flow.clocks flow.json -o out.json; cat out.json; echo
[{"ph":"s","id":1,"pid":1,"ts":1.250,"cat":"x", "args":{"unskew.ts.recorded":"1.25","unskew.start.earliest_ns":"1250","unskew.start.latest_ns":"1250"}},{"ph":"f","id":"1","pid":"b","ts":2.437,"cat":"x","args":{"unskew.ts.recorded":"2.5","unskew.start.earliest_ns":"1248","unskew.start.latest_ns":"3627"}},
{"ph":"s","id":2,"pid":"b","ts" : 2.937,"cat":"x","args": {"unskew.ts.recorded":"3","unskew.start.earliest_ns":"1748","unskew.start.latest_ns":"5126"}},{"ph":"f","id":2,"pid":1,"ts":"4.125","cat":"x" , "args" : {"a":[1,{"b":2}],"unskew.ts.recorded":"4.125","unskew.start.earliest_ns":"4125","unskew.start.latest_ns":"4125" } },{"ph":"M","pid":1,"ts":0},{"ph":"i","pid":"b","ts":-1.063, "args":{"unskew.ts.recorded":"-1","unskew.start.earliest_ns":"-2254","unskew.start.latest_ns":"1128"}},{"ph":"i","pid":1,"ts":7,"args":"x"},{"ph":"C","pid":9,"ts":7,"args":{"v":1}},{"ph":"i","ts":4},
! Wrote out.json.
! unskew: note: flow.json: 1 event was left out, the first before byte 398: it has no pid; what cannot be read was copied as it is
! unskew: note: flow.json: 1 event of clock flow/1 stays as recorded: attributes that are of another type than the format's cannot keep the recorded stamps
! unskew: note: flow.json: 1 event of clock flow/9 stays as recorded: the table of clocks does not have it
# Corrected again by the same table, what was recorded the first time is kept.
$ unskew apply -q rank.json rank1=again.json -o twice.json; grep -o '"unskew.ts.recorded[^,]*' twice.json
"unskew.ts.recorded":"1190.001"
"unskew.ts.recorded":"1910.007"
# Files of one name are told apart by their folders.
$ mkdir rank0 rank1; for r in 0 1; do gzip -dc rank$r.json.gz >rank$r/trace.json; done; unskew sync -q -o folders.json rank0/trace.json rank1/trace.json; unskew apply folders.json rank0/trace.json rank1/trace.json -o both; sed 's/,"unskew[^}]*//g' both/rank1/trace.json; echo
{"schemaVersion":1,"distributedInfo":{"rank":1},"traceEvents":[{"ph":"X","cat":"kernel","ts":135.732,"dur":10.505,"args":{"Collective name":"allreduce","Process Group Name":"0","Seq":1}},{"ph":"X","cat":"kernel","ts":856.138,"dur":130.080,"args":{"Collective name":"allreduce","Process Group Name":"0","Seq":2}}],"baseTimeNanoseconds":1700000000000000000}
! Wrote both/rank0/trace.json.
! Wrote both/rank1/trace.json.
# What NCCL's Inspector writes.
$ echo '{"header":{"id":"0x9e","rank":31},"metadata":{"inspector_output_format_version":"v4.0","dump_timestamp_us":1748030377748202},"coll_perf":{"coll":"AllReduce","coll_sn":1407,"coll_exec_time_us":61974}}' >nccl.log; unskew sync nccl.log
! unskew: nccl.log: is of NCCL's Inspector, whose lines are not read: they have durations, and with NCCL_INSPECTOR_DUMP_VERBOSE=1 when a thread of the host saw a kernel begin, which may be after others' have ended; a profile of PyTorch (Kineto) has the kernels' own stamps
? 1
# A table of them again, by the common clock.
$ unskew sync c.csv -r a -o clocks.json >/dev/null; unskew apply clocks.json c.csv -o again.csv; head -3 again.csv
collective,kind,clock,enter_ns,enter_raw_ns,exit_ns,exit_raw_ns,rank,root
1,allreduce,a,1000001,1000001,1100001,1100001,0,
1,allreduce,b,1088979,2090003,1098984,2100003,1,
! Wrote clocks.json.
! Wrote again.csv.

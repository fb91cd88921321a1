# Two clocks, b 20 us behind a; its band is 10 us wide.
$ printf 'sender,receiver,sent_ns,received_ns\na,b,100001,85003\nb,a,150002,175007\na,b,1000200001,1000185004\nb,a,1000250003,1000275000\n' >m.csv
$ unskew sync -q --model linear --reference a m.csv -o clocks.json
# A table: b reads what a wrote, and 1 us later by its own clock once more.
$ printf 'clock,process,op,call_ns,return_ns,status,key,input,output\na,0,write,200001,210002,ok,x,1,\nb,1,read,215001,220004,ok,x,,1\nb,1,read,221003,230000,,x,,"[1, 2]"\na,2,write,300000,,info,x,2,\n' >ops.csv
$ unskew history clocks.json ops.csv -o history.edn
Operations: 4; clients: 3; clocks: 2. Ended ok: 3, failed: 0, not known: 1.
Pairs whose order is certain: 6 of 6 (100.0 %). The intervals keep 6 of them (100.0 %); bounds as they are keep 5.
Widest band of a stamp: 10.1 us, of b.
! Wrote history.edn.
$ cat history.edn
{:index 0, :type :invoke, :process 0, :f :write, :key "x", :value 1, :time 200001, :client 0, :clock "a"}
{:index 1, :type :ok, :process 0, :f :write, :key "x", :value 1, :time 200001, :client 0, :clock "a"}
{:index 2, :type :invoke, :process 1, :f :read, :key "x", :value nil, :time 229998, :client 1, :clock "b"}
{:index 3, :type :ok, :process 1, :f :read, :key "x", :value 1, :time 229998, :client 1, :clock "b"}
{:index 4, :type :invoke, :process 1, :f :read, :key "x", :value nil, :time 236000, :client 1, :clock "b"}
{:index 5, :type :ok, :process 1, :f :read, :key "x", :value [1 2], :time 236000, :client 1, :clock "b"}
{:index 6, :type :invoke, :process 2, :f :write, :key "x", :value 2, :time 300000, :client 2, :clock "a"}
{:index 7, :type :info, :process 2, :f :write, :key "x", :value 2, :time 300001, :client 2, :clock "a"}
$ unskew history clocks.json ops.csv --form porcupine -o history.json -q >summary.txt && cat history.json
[{"ClientId": 0, "Input": {"f":"write","key":"x","value":1}, "Call": 200001, "Output": {"type":"ok","value":null}, "Return": 200001, "Metadata": {"client":0,"clock":"a"}},
 {"ClientId": 1, "Input": {"f":"read","key":"x","value":null}, "Call": 229998, "Output": {"type":"ok","value":1}, "Return": 229998, "Metadata": {"client":1,"clock":"b"}},
 {"ClientId": 1, "Input": {"f":"read","key":"x","value":null}, "Call": 236000, "Output": {"type":"ok","value":[1,2]}, "Return": 236000, "Metadata": {"client":1,"clock":"b"}},
 {"ClientId": 2, "Input": {"f":"write","key":"x","value":2}, "Call": 300000, "Output": {"type":"info","value":null}, "Return": 300001, "Metadata": {"client":2,"clock":"a"}}]
$ unskew history clocks.json ops.csv --form elle -o elle.edn -q >summary.txt && cat elle.edn
{:index 0, :type :invoke, :process 0, :f :txn, :value [[:w "x" 1]], :time 200001, :client 0, :clock "a"}
{:index 1, :type :ok, :process 0, :f :txn, :value [[:w "x" 1]], :time 200001, :client 0, :clock "a"}
{:index 2, :type :invoke, :process 1, :f :txn, :value [[:r "x" nil]], :time 229998, :client 1, :clock "b"}
{:index 3, :type :ok, :process 1, :f :txn, :value [[:r "x" 1]], :time 229998, :client 1, :clock "b"}
{:index 4, :type :invoke, :process 1, :f :txn, :value [[:r "x" nil]], :time 236000, :client 1, :clock "b"}
{:index 5, :type :ok, :process 1, :f :txn, :value [[:r "x" [1 2]]], :time 236000, :client 1, :clock "b"}
{:index 6, :type :invoke, :process 2, :f :txn, :value [[:w "x" 2]], :time 300000, :client 2, :clock "a"}
{:index 7, :type :info, :process 2, :f :txn, :value [[:w "x" 2]], :time 300001, :client 2, :clock "a"}
# Bounds as they are: the two reads of one client overlap then, so it becomes two processes.
$ unskew history clocks.json ops.csv --bounds -o bounds.edn -q >summary.txt && cat summary.txt bounds.edn
Operations: 4; clients: 3; clocks: 2. Ended ok: 3, failed: 0, not known: 1.
Pairs whose order is certain: 6 of 6 (100.0 %). The intervals keep 5 of them (83.3 %); bounds as they are keep 5.
Widest band of a stamp: 10.1 us, of b.
{:index 0, :type :invoke, :process 0, :f :write, :key "x", :value 1, :time 200001, :client 0, :clock "a"}
{:index 1, :type :ok, :process 0, :f :write, :key "x", :value 1, :time 210002, :client 0, :clock "a"}
{:index 2, :type :invoke, :process 1, :f :read, :key "x", :value nil, :time 229998, :client 1, :clock "b"}
{:index 3, :type :invoke, :process 2, :f :read, :key "x", :value nil, :time 236000, :client 1, :clock "b"}
{:index 4, :type :ok, :process 1, :f :read, :key "x", :value 1, :time 245009, :client 1, :clock "b"}
{:index 5, :type :ok, :process 2, :f :read, :key "x", :value [1 2], :time 255005, :client 1, :clock "b"}
{:index 6, :type :invoke, :process 3, :f :write, :key "x", :value 2, :time 300000, :client 2, :clock "a"}
{:index 7, :type :info, :process 3, :f :write, :key "x", :value 2, :time 300001, :client 2, :clock "a"}
# Jepsen's form, a file for each machine.
$ printf '{:process 0, :type :invoke, :f :write, :value 1, :time 200000}\n{:process 0, :type :ok, :f :write, :value 1, :time 210000}\n{:process :nemesis, :type :info, :f :start, :time 0}\n' >a.edn; printf '[{:process 0, :type :invoke, :f :read, :value nil, :time 195000}\n {:process 0, :type :ok, :f :read, :value 1, :time 196000, :error nil}]\n' >b.edn
$ unskew history clocks.json a=a.edn b=b.edn -o two.edn && cat two.edn
Operations: 2; clients: 2; clocks: 2. Ended ok: 2, failed: 0, not known: 0.
Pairs whose order is certain: 0 of 1 (0.0 %). The intervals keep 0 of them (100.0 %); bounds as they are keep 0.
Widest band of a stamp: 10.1 us, of b.
Coarsest stamps: a in steps of 10.0 us; a return may be as much later.
Left out, as nobody's operations: lines of the nemesis, 1.
{:index 0, :type :invoke, :process 0, :f :write, :value 1, :time 209997, :client 0, :clock "a"}
{:index 1, :type :invoke, :process 1, :f :read, :value nil, :time 209997, :client 0, :clock "b"}
{:index 2, :type :ok, :process 0, :f :write, :value 1, :time 209997, :client 0, :clock "a"}
{:index 3, :type :ok, :process 1, :f :read, :value 1, :time 209997, :client 0, :clock "b", :error nil}
! Wrote two.edn.
$ unskew history clocks.json a=a.edn b=b.edn --json
{
  "unskew_history": 1,
  "operations": 2,
  "clients": 2,
  "clocks": 2,
  "processes": 2,
  "ok": 2,
  "failed": 0,
  "left_out": 1,
  "apart": 0,
  "open_calls": 0,
  "open_returns": 0,
  "pairs": 1,
  "certain": 0,
  "kept": 0,
  "by_bounds": 0,
  "widest_ns": "10008",
  "widest_clock": "b"
}
# Clocks by the numbers of processes.
$ cat a.edn | unskew history clocks.json /dev/stdin --clock-of 0-4=a | head -1
Operations: 1; clients: 1; clocks: 1. Ended ok: 1, failed: 0, not known: 0.
$ unskew history clocks.json b.edn --nodes a,b | tail -1
Coarsest stamps: a in steps of 1.00 us; a return may be as much later.
# Of a table that is given as one clock's, no row is of another.
$ cut -d, -f2- ops.csv | head -3 >one.csv; unskew history clocks.json b=one.csv | grep -e '^Op' -e '^Widest'
Operations: 2; clients: 2; clocks: 1. Ended ok: 2, failed: 0, not known: 0.
Widest band of a stamp: 10.1 us, of b.
# What proves nothing is refused.
$ unskew history clocks.json b.edn
! unskew: b.edn: line 1: says not which clock its time is of: give the file as CLOCK=FILE, or --clock-of, or --nodes, or a :node in each line
? 1
$ head -c 100 b.edn >cut.edn; unskew history clocks.json b=cut.edn
! unskew: cut.edn: line 1: the file ends within what begins here: a history that lacks operations proves nothing
? 1
$ unskew history clocks.json c=b.edn
! unskew: operations are of c, and clocks.json has no clock of that name
? 1
# A clock that stamps in ms: returns were up to 1 ms later.
$ printf 'clock,process,op,call_s,return_s\na,0,write,0.001,0.002\na,1,read,0.005,0.009\na,1,read,0.012,0.019\n' >ms.csv; unskew history clocks.json ms.csv --bounds
Operations: 3; clients: 2; clocks: 1. Ended ok: 3, failed: 0, not known: 0.
Pairs whose order is certain: 3 of 3 (100.0 %). The intervals keep 3 of them (100.0 %); bounds as they are keep 3.
Widest band of a stamp: 0 ns, of a.
Coarsest stamps: a in steps of 1.00 ms; a return may be as much later.
$ sed 's/215001/225000/' ops.csv >wrong.csv; unskew history clocks.json wrong.csv
! unskew: wrong.csv, line 3: the operation returns before it was called, by the clock of b: its stamps are not of that clock, or it was set back unseen; --bounds does without the order of its stamps
? 1
$ unskew history clocks.json ops.csv a=a.edn --form elle -o x.edn; ls x.edn
! unskew: a.edn, line 1: Elle has no form for it: it is no transaction (:f :txn), and not a read, write or append with a key
! ls: cannot access 'x.edn': No such file or directory
? 2
$ unskew history clocks.json ops.csv --clock-of 0
! unskew: --clock-of 0: is not PROCESS=CLOCK, as 0-4=n1
? 2
$ unskew history clocks.json ops.csv --nodes a,,b
! unskew: --nodes a,,b: has an empty name
? 2
$ unskew history clocks.json ops.csv -o history.edn
! unskew: history.edn: exists already; use --force to replace it
? 1
$ unskew history clocks.json
! unskew: history needs CLOCKS [CLOCK=]OPERATIONS...; see `unskew help history`
? 2
# A clock that only listens is bounded on one side.
$ printf 'b,c,300000,5000\nb,c,1000300000,1000005000\n' >>m.csv; unskew sync -q --model linear --reference a m.csv -o three.json >table.txt; printf 'c,5,read,6000,7000,ok,x,,1\n' >>ops.csv; unskew history three.json ops.csv
Operations: 5; clients: 4; clocks: 3. Ended ok: 4, failed: 0, not known: 1.
Pairs whose order is certain: 9 of 10 (90.0 %). The intervals keep 9 of them (100.0 %); bounds as they are keep 8.
Widest band of a stamp: 10.1 us, of b.
Coarsest stamps: c in steps of 1.00 us; a return may be as much later.
! unskew: note: the time has no bound on that side of 0 calls and 1 returns: they are taken to overlap with all that other clocks have there
? 3

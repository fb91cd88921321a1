# All that happened as Chrome trace JSON; zero is a whole second before the first.
$ (echo sender,receiver,sent_ns,received_ns,bytes; for t in 1 2 3 4; do echo a,b,${t}000000000,${t}000100000,7; echo b,a,${t}000200000,${t}000150000,8; done) >t.csv; unskew sync -q t.csv -o clocks.json
$ unskew apply clocks.json t.csv --timeline t.json; head -n 20 t.json | cut -c 1-140; tail -n 7 t.json
{"traceEvents":[
{"ph":"M","name":"process_name","pid":10,"args":{"name":"a"}},
{"ph":"M","name":"process_labels","pid":10,"args":{"labels":"reference"}},
{"ph":"M","name":"process_sort_index","pid":10,"args":{"sort_index":0}},
{"ph":"M","name":"thread_name","pid":10,"tid":11,"args":{"name":"sent"}},
{"ph":"M","name":"thread_sort_index","pid":10,"tid":11,"args":{"sort_index":1}},
{"ph":"M","name":"thread_name","pid":10,"tid":12,"args":{"name":"received"}},
{"ph":"M","name":"thread_sort_index","pid":10,"tid":12,"args":{"sort_index":2}},
{"ph":"M","name":"thread_name","pid":10,"tid":13,"args":{"name":"events"}},
{"ph":"M","name":"thread_sort_index","pid":10,"tid":13,"args":{"sort_index":3}},
{"ph":"M","name":"process_name","pid":20,"args":{"name":"b"}},
{"ph":"M","name":"process_labels","pid":20,"args":{"labels":"bounded"}},
{"ph":"M","name":"process_sort_index","pid":20,"args":{"sort_index":1}},
{"ph":"M","name":"thread_name","pid":20,"tid":21,"args":{"name":"sent"}},
{"ph":"M","name":"thread_sort_index","pid":20,"tid":21,"args":{"sort_index":1}},
{"ph":"M","name":"thread_name","pid":20,"tid":22,"args":{"name":"received"}},
{"ph":"M","name":"thread_sort_index","pid":20,"tid":22,"args":{"sort_index":2}},
{"ph":"M","name":"thread_name","pid":20,"tid":23,"args":{"name":"events"}},
{"ph":"M","name":"thread_sort_index","pid":20,"tid":23,"args":{"sort_index":3}},
{"ph":"C","name":"error bound","pid":20,"ts":1999999.975,"args":{"ns":100222}},
{"ph":"X","cat":"message","name":"to a","pid":20,"tid":21,"ts":5000099.975,"dur":0.001,"args":{"bytes":8,"message":8,"recorded_ns":"4000200000"}},
{"ph":"s","cat":"message","name":"message","id":8,"pid":20,"tid":21,"ts":5000099.975},
{"ph":"X","cat":"message","name":"from b","pid":10,"tid":12,"ts":5000150.000,"dur":0.001,"args":{"bytes":8,"message":8,"recorded_ns":"4000150000"}},
{"ph":"f","bp":"e","cat":"message","name":"message","id":8,"pid":10,"tid":12,"ts":5000150.000}
],
"displayTimeUnit":"ns",
"otherData":{"unskew":"0.1.0","model":"wander","method":"middle","origin_ns":{"a":"-1000000000"}}}
! Wrote t.json.
$ unskew sync -q t.csv --timeline again.json; cmp again.json t.json
# Nothing is replaced, read and written at once, or written in part.
$ unskew apply clocks.json t.csv --timeline t.json
! unskew: t.json: exists already; use --force to replace it
? 1
$ unskew apply clocks.json t.csv --timeline t.csv --force
! unskew: t.csv: is an input, so it cannot be an output too; write to another
? 2
$ unskew apply clocks.json t.csv --timeline -
! unskew: apply needs the name of a file: its output appears whole or not at all
? 2
$ unskew apply clocks.json t.csv --timeline /dev/full
! unskew: /dev/full: not written: No space left on device
? 1
$ unskew sync -q t.csv --timeline t.json
! unskew: t.json: exists already; use --force to replace it
? 1
# A name may hold anything.
$ (echo sender,receiver,sent_ns,received_ns; echo '"a ""b""","c\{",1,2'; echo '"c\{","a ""b""",3,4') >n.csv; unskew sync -q n.csv -o n.json; unskew apply -q n.json n.csv --timeline nt.json; grep process_name nt.json
{"ph":"M","name":"process_name","pid":10,"args":{"name":"a \"b\""}},
{"ph":"M","name":"process_name","pid":20,"args":{"name":"c\\{"}},
# Events that nobody received are there; a clock that the table does not know is not.
$ (echo clock,time_ns,kind,id; echo a,1000000000,send,1; echo b,1000100000,recv,1; echo a,1500000000,send,2) >e.csv; unskew apply -q clocks.json e.csv --timeline e.json; grep -c '"ph":"i"' e.json; grep -c '"ph":"s"' e.json
3
1
$ (cat e.csv; echo z,1700000000,send,3) >z.csv; unskew apply clocks.json z.csv --timeline z.json; ls z.json
! unskew: z.csv: the table of clocks has no z
! ls: cannot access 'z.json': No such file or directory
? 2
# A clock that is bounded on one side only.
$ (echo sender,receiver,sent_ns,received_ns; echo a,b,100000,130000; echo a,b,1000200000,1000210000) >one.csv; unskew sync -q one.csv -o one.json
? 3
$ unskew apply one.json one.csv --timeline one_t.json
! unskew: one.csv: clock b is one-sided, so its stamps cannot be corrected; --allow-unbounded leaves them as recorded
? 1
$ unskew apply one.json one.csv --timeline one_t.json --allow-unbounded; grep labels one_t.json
{"ph":"M","name":"process_labels","pid":10,"args":{"labels":"reference"}},
{"ph":"M","name":"process_labels","pid":20,"args":{"labels":"one-sided, as recorded"}},
! Wrote one_t.json.
! unskew: note: the messages: clock b is one-sided: its stamps are left as recorded
# Packets by what they are, and their flow.
$ unskew simulate -q -o kinds --hosts 2 --seconds 3 --rate 3 --seed 5 --proto mix; unskew sync kinds/*.pcap -q -o kinds.json --timeline kinds-line.json; python3 -c 'import json, re; print(*sorted({re.sub(r"\d{4,}", "N", e["name"]) for e in json.load(open("kinds-line.json"))["traceEvents"] if e["ph"] == "i"}), sep="\n")'
TCP ACK N > N
TCP N > N
TCP SYN ACK N > N
TCP SYN N > N

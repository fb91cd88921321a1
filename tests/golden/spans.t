# Spans: a client waits for its server, so each call bounds both sides. The server's clock is 5 ms ahead.
# needs: with-yajl
$ printf '{"resourceSpans":[{"resource":{"attributes":[{"key":"host.name","value":{"stringValue":"web"}},{"key":"service.name","value":{"stringValue":"shop"}}]},"scopeSpans":[{"spans":[{"traceId":"0a","spanId":"01","kind":3,"name":"get","startTimeUnixNano":"1700000000000123457","endTimeUnixNano":"1700000000003123457"},{"traceId":"0a","spanId":"03","kind":4,"startTimeUnixNano":"1700000000010123457","endTimeUnixNano":"1700000000010223457"}]}]}]}\n' >web.jsonl
$ printf '{"resourceSpans":[{"resource":{"attributes":[{"key":"host.name","value":{"stringValue":"db"}},{"key":"service.name","value":{"stringValue":"store"}}]},"scopeSpans":[{"spans":[{"traceId":"0a","spanId":"02","parentSpanId":"01","kind":2,"name":"get","startTimeUnixNano":"1700000000006123457","endTimeUnixNano":"1700000000007123457"},{"traceId":"0a","spanId":"04","parentSpanId":"03","kind":5,"startTimeUnixNano":"1700000000095123457","endTimeUnixNano":"1700000000096123457"}]}]}]}\n' >db.jsonl
$ unskew sync web.jsonl db.jsonl
clock  quality    offset mid-trace (± bound)  drift, ppm          sent  received
db     reference  0                           0                      1         2
web    bounded    5.45 ms ± 1.56 ms           -425 (-500 to 500)     2         1

Matched 3 messages.
Causality violations (received before sent): 1 before correction, 0 after.
Uncertainty over the trace: ±1.56 ms to ±1.56 ms, ±1.56 ms on average.
One-way delays, median (99 %): db -> web -4.00 ms as recorded, 1.45 ms (1.45 ms) corrected;
  back 85.0 ms as recorded, 79.5 ms (79.5 ms) corrected.
Note: the bounds are valid if the callee's span ended before the caller's in 1 call: some SDKs end it after the answer was sent, which shows only where other spans leave no room for it
Model wander: the rate of each clock is constant within 5 ppm, no two rates differ by more than
500 ppm, no message takes less than its minimum delay (0 ns).
The bounds are valid while these assumptions hold.
# Jaeger and Zipkin say the same.
$ printf '{"data":[{"traceID":"a","spans":[{"traceID":"a","spanID":"1","operationName":"get","startTime":1700000000000123,"duration":3000,"processID":"p1","tags":[{"key":"span.kind","value":"client"}]},{"traceID":"a","spanID":"2","operationName":"get","references":[{"refType":"CHILD_OF","traceID":"a","spanID":"1"}],"startTime":1700000000006123,"duration":1000,"processID":"p2","tags":[{"key":"span.kind","value":"server"}]}],"processes":{"p1":{"serviceName":"shop","tags":[{"key":"hostname","value":"web"}]},"p2":{"serviceName":"store","tags":[{"key":"hostname","value":"db"}]}}}]}' >jaeger.json; unskew sync jaeger.json | head -3
clock  quality    offset mid-trace (± bound)  drift, ppm       sent  received
db     reference  0                           0                   1         1
web    bounded    5.00 ms ± 1.01 ms           0 (-500 to 500)     1         1
$ python3 -m json.tool jaeger.json | sed '/processes/s/"processes"/processes/' >torn.json; unskew sync torn.json 2>&1 | grep -e JSON -e damaged
unskew: torn.json: is no JSON at byte 1308, so nothing after it was read
$ printf '[{"traceId":"a","id":"1","kind":"CLIENT","timestamp":1700000000000123,"duration":3000,"localEndpoint":{"serviceName":"shop"}},{"traceId":"a","id":"1","kind":"SERVER","shared":true,"timestamp":1700000000006123,"duration":1000,"localEndpoint":{"serviceName":"store"}}]' >zipkin.json; unskew sync zipkin.json | head -3
clock  quality    offset mid-trace (± bound)  drift, ppm       sent  received
shop   reference  0                           0                   1         1
store  bounded    -5.00 ms ± 1.01 ms          0 (-500 to 500)     1         1
# Its API v1 had other spans.
$ printf '[{"traceId":"a","id":"1","name":"get","annotations":[{"timestamp":1700000000000123,"value":"cs","endpoint":{"serviceName":"shop"}}]}]' >v1.json; unskew sync v1.json
! unskew: v1.json: has spans of Zipkin's API v1, which are not read: a Zipkin server that is sent them (POST /api/v1/spans) gives them as v2 (GET /api/v2/traces)
? 1
# A trace out of a wrapper is the same, and so is one in a wrapper of others. What Jaeger moved is no recording.
$ sed 's/^{"data":.//; s/.}$//' jaeger.json >alone.json; (printf '{"code":200,"result":'; cat jaeger.json; printf '}') >wrapped.json; unskew sync alone.json | tail -n +3 | head -1; unskew sync wrapped.json | tail -n +3 | head -1
web    bounded    5.00 ms ± 1.01 ms           0 (-500 to 500)     1         1
web    bounded    5.00 ms ± 1.01 ms           0 (-500 to 500)     1         1
$ sed "s/\"references\"/\"warnings\":[\"This span's timestamps were adjusted by 5ms\"],&/" jaeger.json >moved.json; unskew sync moved.json
! unskew: moved.json: 1 span was left out, the first before byte 632: Jaeger adjusted its stamps: get the trace as recorded, with raw=true
? 1
# A proxy logs in whole ms for a service whose own spans are finer: that call's end may have been up to 1 ms later.
$ printf '[{"traceId":"a","id":"1","kind":"CLIENT","timestamp":1700000000001000,"duration":4000,"localEndpoint":{"serviceName":"shop"}},{"traceId":"a","id":"3","timestamp":1700000000000123,"duration":7001,"localEndpoint":{"serviceName":"shop"}},{"traceId":"a","id":"1","kind":"SERVER","shared":true,"timestamp":1700000000002345,"duration":1111,"localEndpoint":{"serviceName":"store"}}]' >proxy.json; unskew sync proxy.json | grep -e store -e whole
store  bounded    0.60 ms ± 1.95 ms           0 (-500 to 500)     1         1
One-way delays, median (99 %): shop -> store 1.35 ms as recorded, 1.95 ms (1.95 ms) corrected;
Note: 1 span of shop is in whole ms, others are finer: their stamps may be up to 1 ms too early, which the bounds allow for
# An SDK whose clock counts ms; calls that no kind says are waited for count by their beginnings.
$ printf 'trace,span,parent,clock,start_ns,end_ns,kind\n1,1,,web,1000123456,1009123456,client\n1,2,1,ads,1005000400,1007000000,server\n2,3,,web,2000123456,2009123456,internal\n2,4,3,ads,2005000100,2007000000,server\n' >table.csv; unskew sync table.csv
clock  quality    offset mid-trace (± bound)  drift, ppm       sent  received
ads    reference  0                           0                   1         2
web    bounded    1.38 ms ± 4.76 ms           0 (-500 to 500)     2         1

Matched 3 messages.
Causality violations (received before sent): 0 before correction, 0 after.
Uncertainty over the trace: ±4.51 ms to ±4.76 ms, ±4.64 ms on average.
One-way delays, median (99 %): ads -> web 2.12 ms as recorded, 3.50 ms (3.50 ms) corrected;
  back 4.88 ms as recorded, 3.50 ms (3.50 ms) corrected.
Note: ads counts each trace from a whole ms (2 of 2 of its entry spans begin with one): its stamps may be up to 1 ms too early, which the bounds of ads allow for
Note: the bounds are valid if the callee's span ended before the caller's in 1 call: some SDKs end it after the answer was sent, which shows only where other spans leave no room for it
Model wander: the rate of each clock is constant within 5 ppm, no two rates differ by more than
500 ppm, no message takes less than its minimum delay (0 ns).
The bounds are valid while these assumptions hold.
# Both halves of a call with one id, as Zipkin has them: what has that id as parent is of the callee's half, unless the caller's process has it. Spans that came twice are one each, those that called others, too.
$ printf 'trace,span,parent,clock,start_ns,end_ns,kind\n1,a,,x,0,9000,client\n1,a,,y,2000,8000,server\n1,b,a,z,3000,5000,server\n1,c,a,x,1000,7000,internal\n1,c,a,x,1000,7000,internal\n1,d,c,y,1500,6000,server\n1,e,a,y,2500,4000,client\n1,e,,w,2600,3900,server\n1,e,,w,2600,3900,server\n' >halves.csv; unskew check halves.csv
direction  messages  inversions  min delay   median      p99      max
w -> y            1           0     100 ns   100 ns   100 ns   100 ns
y -> w            1           0     100 ns   100 ns   100 ns   100 ns
x -> y            2           0     500 ns  2.00 us  2.00 us  2.00 us
y -> x            1           0    1.00 us  1.00 us  1.00 us  1.00 us
y -> z            1           0    1.00 us  1.00 us  1.00 us  1.00 us
z -> y            0           0          -        -        -        -

Matched 6 messages.
An inversion is a causality violation: a message received before it was sent, by the recorded stamps.
Note: x counts each trace from a whole ms (1 of 1 of its entry spans begin with one): its stamps may be up to 1 ms too early, which the bounds of x allow for
Note: the bounds are valid if the callee's span ended before the caller's in 2 calls: some SDKs end it after the answer was sent, which shows only where other spans leave no room for it
# Two messages have a band, but none is forecast; and there is no proof, as no record is one of them.
$ unskew plan jaeger.json --want 1ms | head -1
web has ±1.00 ms as recorded, but no band as forecast for as many messages as there are.
! unskew: note: the bounds are valid if the callee's span ended before the caller's in 1 call: some SDKs end it after the answer was sent, which shows only where other spans leave no room for it
$ unskew sync -q jaeger.json --explain web:1700000000.001s | grep -c 'by --max-skew-ppm'
2
$ unskew sync jaeger.json -o proved.json --proof proof.txt
! unskew: --proof: no record in jaeger.json is a message; proofs are of captures, and of tables of messages, events and exchanges
? 2
# What is wrong is one sentence with its place.
$ printf '[{"traceId":"a","id":"1","timestamp":5},oops]' >bad.json; unskew check bad.json
! unskew: bad.json: is no JSON at byte 41, so nothing after it was read
? 1
$ printf '{"resourceSpans":[{"scopeSpans":[{"spans":[{"traceId":"1","spanId":"2","startTimeUnixNano":{}}' >bad.json; unskew check bad.json
! unskew: bad.json: ends at byte 94 within a JSON value that began before; what it held in whole was used; 1 span was left out, the first before byte 94: it has no start
? 1
$ printf 'trace,span,clock,start_ns\n' >bad.csv; unskew check bad.csv
! unskew: bad.csv: line 1: the table of spans needs end_ns, end_s, end or end_ticks; found trace,span,clock,start_ns
? 1
# Re-timed in their own format: stamps are corrected, and each span keeps what was recorded beside its bounds.
$ unskew sync -q jaeger.json -o jaeger.clocks; unskew apply jaeger.clocks jaeger.json -o out.json; cat out.json; echo; unskew check out.json
{"data":[{"traceID":"a","spans":[{"traceID":"a","spanID":"1","operationName":"get","startTime":1700000000005122,"duration":3000,"processID":"p1","tags":[{"key":"span.kind","value":"client"},{"key":"unskew.start.recorded_ns","type":"string","value":"1700000000000123000"},{"key":"unskew.start.earliest_ns","type":"string","value":"1700000000004117498"},{"key":"unskew.start.latest_ns","type":"string","value":"1700000000006128001"},{"key":"unskew.end.recorded_ns","type":"string","value":"1700000000003123000"},{"key":"unskew.end.earliest_ns","type":"string","value":"1700000000007118927"},{"key":"unskew.end.latest_ns","type":"string","value":"1700000000009129574"}]},{"traceID":"a","spanID":"2","operationName":"get","references":[{"refType":"CHILD_OF","traceID":"a","spanID":"1"}],"startTime":1700000000006123,"duration":1000,"processID":"p2","tags":[{"key":"span.kind","value":"server"},{"key":"unskew.start.recorded_ns","type":"string","value":"1700000000006123000"},{"key":"unskew.start.earliest_ns","type":"string","value":"1700000000006122000"},{"key":"unskew.start.latest_ns","type":"string","value":"1700000000006124999"},{"key":"unskew.end.recorded_ns","type":"string","value":"1700000000007123000"},{"key":"unskew.end.earliest_ns","type":"string","value":"1700000000007122000"},{"key":"unskew.end.latest_ns","type":"string","value":"1700000000007124999"}]}],"processes":{"p1":{"serviceName":"shop","tags":[{"key":"hostname","value":"web"}]},"p2":{"serviceName":"store","tags":[{"key":"hostname","value":"db"}]}}}]}
direction  messages  inversions  min delay   median      p99      max
db -> web         1           0    1.00 ms  1.00 ms  1.00 ms  1.00 ms
web -> db         1           0    1.00 ms  1.00 ms  1.00 ms  1.00 ms

Matched 2 messages.
An inversion is a causality violation: a message received before it was sent, by the recorded stamps.
Note: the bounds are valid if the callee's span ended before the caller's in 1 call: some SDKs end it after the answer was sent, which shows only where other spans leave no room for it
! Wrote out.json.
$ sed 's/"duration":1000,/&"tags" : null, "annotations":[ {"timestamp" :1700000000006200,"value":"ws"},{"timestamp":"soon"} ],/' zipkin.json >events.json; unskew sync -q events.json -o zipkin.clocks; unskew apply zipkin.clocks events.json -o out-events.json; tail -c 601 out-events.json
st_ns":"1700000000003124999"}},{"traceId":"a","id":"1","kind":"SERVER","shared":true,"timestamp":1700000000001122,"duration":1000,"tags" : {"unskew.start.recorded_ns":"1700000000006123000","unskew.start.earliest_ns":"1700000000000118997","unskew.start.latest_ns":"1700000000002128500","unskew.end.recorded_ns":"1700000000007123000","unskew.end.earliest_ns":"1700000000001118499","unskew.end.latest_ns":"1700000000003128501","unskew.events.recorded_ns":"1700000000006200000"}, "annotations":[ {"timestamp" :1700000000001199,"value":"ws"},{"timestamp":"soon"} ],"localEndpoint":{"serviceName":"store"}}]! Wrote out-events.json.
! unskew: note: events.json: stamps of events that stay as recorded, as they cannot be read or corrected: 1
# Two files, each alone: what else a line holds is as it was, blanks and escapes, too.
$ sed 's/"endTimeUnixNano":"1700000000007/"attributes": [ ], "events":[{"timeUnixNano": 1700000000006500000 }], "endTimeUnixNano" :\n "\\u0031700000000007/' db.jsonl >db2.jsonl; unskew sync -q --reference web web.jsonl db2.jsonl -o clocks.json; mkdir out; unskew apply clocks.json web.jsonl db2.jsonl -o out; cat out/db2.jsonl; unskew check out/web.jsonl out/db2.jsonl | sed 1d | head -2
{"resourceSpans":[{"resource":{"attributes":[{"key":"host.name","value":{"stringValue":"db"}},{"key":"service.name","value":{"stringValue":"store"}}]},"scopeSpans":[{"spans":[{"traceId":"0a","spanId":"02","parentSpanId":"01","kind":2,"name":"get","startTimeUnixNano":"1700000000000342006","attributes": [{"key":"unskew.start.recorded_ns","value":{"stringValue":"1700000000006123457"}},{"key":"unskew.start.earliest_ns","value":{"stringValue":"1699999999999122956"}},{"key":"unskew.start.latest_ns","value":{"stringValue":"1700000000003224446"}},{"key":"unskew.end.recorded_ns","value":{"stringValue":"1700000000007123457"}},{"key":"unskew.end.earliest_ns","value":{"stringValue":"1700000000000122467"}},{"key":"unskew.end.latest_ns","value":{"stringValue":"1700000000004224935"}},{"key":"unskew.events.recorded_ns","value":{"stringValue":"1700000000006500000"}} ], "events":[{"timeUnixNano": 1700000000000718363 }], "endTimeUnixNano" :
 "1700000000001341514"},{"traceId":"0a","spanId":"04","parentSpanId":"03","kind":5,"startTimeUnixNano":"1700000000089298237","endTimeUnixNano":"1700000000090297746","attributes":[{"key":"unskew.start.recorded_ns","value":{"stringValue":"1700000000095123457"}},{"key":"unskew.start.earliest_ns","value":{"stringValue":"1700000000088079443"}},{"key":"unskew.start.latest_ns","value":{"stringValue":"1700000000092267958"}},{"key":"unskew.end.recorded_ns","value":{"stringValue":"1700000000096123457"}},{"key":"unskew.end.earliest_ns","value":{"stringValue":"1700000000089078955"}},{"key":"unskew.end.latest_ns","value":{"stringValue":"1700000000093268458"}}]}]}]}]}
db -> web         1           0    1.78 ms  1.78 ms  1.78 ms  1.78 ms
web -> db         2           0     219 us  79.2 ms  79.2 ms  79.2 ms
! Wrote out/web.jsonl.
! Wrote out/db2.jsonl.
# Packed, the same; corrected again by the same table, recorded stamps stay those of the first time.
$ gzip -c db2.jsonl >db2.jsonl.gz; unskew apply -q clocks.json db2.jsonl.gz -o db3.jsonl.gz; gzip -dc db3.jsonl.gz | cmp - out/db2.jsonl && echo same
same
$ unskew apply clocks.json out/db2.jsonl -o again.jsonl; grep -o '"unskew.start.recorded_ns[^}]*' again.jsonl
"unskew.start.recorded_ns","value":{"stringValue":"1700000000006123457"
"unskew.start.recorded_ns","value":{"stringValue":"1700000000095123457"
! Wrote again.jsonl.
! unskew: note: out/db2.jsonl: unskew corrected stamps in it before, and moves them once more: right only if the corrections were found from this very file
# What cannot be corrected or read stays as it is, and is counted.
$ sed 's/"db"/"cache"/' db.jsonl >cache.jsonl; (cat db.jsonl cache.jsonl; echo '{"resourceSpans":[oops]}'; sed 's/"startTime[^,]*,//' db.jsonl) >mixed.jsonl; unskew apply clocks.json mixed.jsonl -o out-mixed.jsonl
! Wrote out-mixed.jsonl.
! unskew: note: mixed.jsonl: damaged: 6 bytes in 1 place, the first at byte 978, were skipped; 1 span was left out, the first before byte 1420: it has no start; what cannot be read was copied as it is
! unskew: note: mixed.jsonl: 2 spans of clock cache stay as recorded: the table of clocks does not have it
? 3
$ sed -n 2,3p mixed.jsonl >a; sed -n 2,3p out-mixed.jsonl | cmp - a && echo as they were
as they were
$ unskew apply clocks.json cache.jsonl -o out-cache.jsonl
! unskew: cache.jsonl: the table of clocks corrects none of its 2 spans: is it of this trace? The first are of clock cache
? 1
$ printf '{"resourceSpans":[{"resource":{"attributes":[{"key":"host.name","value":{"stringValue":"db"}}]},"scopeSpans":[{"spans":[{"traceId":"0a","spanId":"02","startTimeUnixNano":"5","events":[{"timeUnixNano":"never"},{"timeUnixNano":0}]},{"traceId":"0a","spanId":"03","attributes":5,"startTimeUnixNano":"1700000000000123457","events":[{"timeUnixNano":"never"},{"timeUnixNano":0}]}]}]}]}' >odd.json; unskew apply clocks.json odd.json -o out-odd.json; sed 's/.*"spans"//' out-odd.json; echo
:[{"traceId":"0a","spanId":"02","startTimeUnixNano":"836022216443787","events":[{"timeUnixNano":"never"},{"timeUnixNano":0}],"attributes":[{"key":"unskew.start.recorded_ns","value":{"stringValue":"5"}},{"key":"unskew.start.earliest_ns","value":{"stringValue":"-850000007003558"}},{"key":"unskew.start.latest_ns","value":{"stringValue":"849999997103067"}}]},{"traceId":"0a","spanId":"03","attributes":5,"startTimeUnixNano":"1700000000000123457","events":[{"timeUnixNano":"never"},{"timeUnixNano":0}]}]}]}]}
! Wrote out-odd.json.
! unskew: note: odd.json: 1 span of clock db stays as recorded: attributes that are of another type than the format's cannot keep the recorded stamps
! unskew: note: odd.json: stamps of events that stay as recorded, as they cannot be read or corrected: 1
# Of many processes, or clocks, of which the same is said, eight are told and the others counted.
$ { echo trace,span,parent,clock,start_ns,end_ns,kind; for i in 0 1 2 3 4 5 6 7 8 9; do echo "$i,1,,web,${i}000123456,${i}009123456,client"; echo "$i,2,1,s$i,${i}005000400,${i}007000000,server"; done; } >ten.csv; unskew sync ten.csv | grep -o 's[0-9] counts.*a whole ms\|the same.*'
s0 counts each trace from a whole ms
s1 counts each trace from a whole ms
s2 counts each trace from a whole ms
s3 counts each trace from a whole ms
s4 counts each trace from a whole ms
s5 counts each trace from a whole ms
s6 counts each trace from a whole ms
s7 counts each trace from a whole ms
the same holds for 2 more processes

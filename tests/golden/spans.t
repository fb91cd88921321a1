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
Model wander: the rate of each clock is constant within 5 ppm, no two rates differ by more than
500 ppm, no message takes less than its minimum delay (0 ns).
The bounds are valid while these assumptions hold.
# Jaeger and Zipkin say the same.
$ printf '{"data":[{"traceID":"a","spans":[{"traceID":"a","spanID":"1","operationName":"get","startTime":1700000000000123,"duration":3000,"processID":"p1","tags":[{"key":"span.kind","value":"client"}]},{"traceID":"a","spanID":"2","operationName":"get","references":[{"refType":"CHILD_OF","traceID":"a","spanID":"1"}],"startTime":1700000000006123,"duration":1000,"processID":"p2","tags":[{"key":"span.kind","value":"server"}]}],"processes":{"p1":{"serviceName":"shop","tags":[{"key":"hostname","value":"web"}]},"p2":{"serviceName":"store","tags":[{"key":"hostname","value":"db"}]}}}]}' >jaeger.json; unskew sync jaeger.json | head -3
clock  quality    offset mid-trace (± bound)  drift, ppm       sent  received
db     reference  0                           0                   1         1
web    bounded    5.00 ms ± 1.01 ms           0 (-500 to 500)     1         1
$ printf '[{"traceId":"a","id":"1","kind":"CLIENT","timestamp":1700000000000123,"duration":3000,"localEndpoint":{"serviceName":"shop"}},{"traceId":"a","id":"1","kind":"SERVER","shared":true,"timestamp":1700000000006123,"duration":1000,"localEndpoint":{"serviceName":"store"}}]' >zipkin.json; unskew sync zipkin.json | head -3
clock  quality    offset mid-trace (± bound)  drift, ppm       sent  received
shop   reference  0                           0                   1         1
store  bounded    -5.00 ms ± 1.01 ms          0 (-500 to 500)     1         1
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
Model wander: the rate of each clock is constant within 5 ppm, no two rates differ by more than
500 ppm, no message takes less than its minimum delay (0 ns).
The bounds are valid while these assumptions hold.
# What is wrong is one sentence with its place.
$ printf '[{"traceId":"a","id":"1","timestamp":5},oops]' >bad.json; unskew check bad.json
! unskew: bad.json: is no JSON at byte 41, so nothing behind it was read
? 1
$ printf '{"resourceSpans":[{"scopeSpans":[{"spans":[{"traceId":"1","spanId":"2","startTimeUnixNano":{}}' >bad.json; unskew check bad.json
! unskew: bad.json: ends at byte 94 within a JSON value that began before; what it held in whole was used; 1 span was left out, the first before byte 94: it has no start
? 1
$ printf 'trace,span,clock,start_ns\n' >bad.csv; unskew check bad.csv
! unskew: bad.csv: line 1: the table of spans needs end_ns, end_s, end or end_ticks; found trace,span,clock,start_ns
? 1

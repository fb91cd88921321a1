# The same spans as JSON and as protobuf, as OpenTelemetry's SDK for JavaScript writes them: the same answer.
# needs: with-yajl zstd
$ unskew sync -q $DATA/otlp.jsonl -o json.json; unskew sync $DATA/otlp.binpb -o proto.json
clock  quality    offset mid-trace (± bound)  drift, ppm       sent  received
db     reference  0                           0                   7         9
web    bounded    5.000 ms ± 502 us           0 (-500 to 500)     9         7

Matched 16 messages.
Causality violations (received before sent): 7 before correction, 0 after.
Uncertainty over the trace: ±501 us to ±516 us, ±505 us on average.
One-way delays, median (99 %): db -> web -4.49 ms as recorded, 510 us (520 us) corrected;
  back 5.52 ms as recorded, 520 us (2.00 ms) corrected.
Note: the bounds are valid if the callee's span ended before the caller's in 7 calls: some SDKs end it after the answer was sent, which shows only where other spans leave no room for it
Model wander: the rate of each clock is constant within 5 ppm, no two rates differ by more than
500 ppm, no message takes less than its minimum delay (0 ns).
The bounds are valid while these assumptions hold.
! Wrote proto.json.
$ sed 's/otlp.binpb/otlp.jsonl/' proto.json | cmp - json.json && echo same
same
# Packed, too.
$ gzip -c $DATA/otlp.binpb >otlp.binpb.gz; unskew sync -q otlp.binpb.gz -o gz.json; grep -v '"path"' gz.json >a; grep -v '"path"' proto.json | cmp - a && echo same
same
$ zstd -qc $DATA/otlp.binpb >otlp.binpb.zst; unskew sync -q otlp.binpb.zst -o zst.json; grep -v '"path"' zst.json >a; grep -v '"path"' proto.json | cmp - a && echo same
same
# With `compression: zstd` the collector packs each message alone, and puts the length of that in front.
$ printf '%s\n' 'zstd -qc >m; n=$(wc -c <m)' 'printf "\\0\\0\\$(printf %03o $((n / 256)))\\$(printf %03o $((n % 256)))"; cat m' >each
$ tail -c +5 $DATA/otlp.binpb | head -c 672 | sh each >each.binpb; tail -c +681 $DATA/otlp.binpb | head -c 668 | sh each >>each.binpb; tail -c +1353 $DATA/otlp.binpb | head -c 602 | sh each >>each.binpb; tail -c 564 $DATA/otlp.binpb | sh each >>each.binpb
$ unskew sync -q each.binpb -o each.json; grep -v '"path"' each.json >a; grep -v '"path"' proto.json | cmp - a && echo same
same
$ while read -r line; do echo "$line" | sh each; done <$DATA/otlp.jsonl >each.jsonl; unskew sync -q each.jsonl -o each2.json; grep -v '"path"' each2.json >a; grep -v '"path"' proto.json | cmp - a && echo same
same
$ head -c 700 each.binpb >cut.binpb; unskew check cut.binpb 2>&1 | tail -n 1
unskew: cut.binpb: its zstd data are cut short at byte 700
# The first and the third message without their lengths in front, as objects in a bucket have them.
$ head -c 676 $DATA/otlp.binpb | tail -c +5 >web.binpb; head -c 1954 $DATA/otlp.binpb | tail -c +1353 >db.binpb; unskew check web.binpb db.binpb
direction  messages  inversions  min delay     median        p99        max
db -> web         3           3  -4.500 ms  -4.490 ms  -4.480 ms  -4.480 ms
web -> db         5           0    5.50 ms    5.52 ms    7.00 ms    7.00 ms

Matched 8 messages.
An inversion is a causality violation: a message received before it was sent, by the recorded stamps.
Note: the bounds are valid if the callee's span ended before the caller's in 3 calls: some SDKs end it after the answer was sent, which shows only where other spans leave no room for it
# Cut short, and five bytes too many in the second message.
$ head -c 1700 $DATA/otlp.binpb >cut.binpb; unskew check cut.binpb
direction  messages  inversions  min delay   median      p99      max
db -> web         0           0          -        -        -        -
web -> db         2           0    5.50 ms  7.00 ms  7.00 ms  7.00 ms

Matched 2 messages.
An inversion is a causality violation: a message received before it was sent, by the recorded stamps.
Note: cut.binpb: ends at byte 1700 within a message that began at byte 1348; what it held in whole was used
$ (head -c 1200 $DATA/otlp.binpb; printf 'noise'; tail -c +1201 $DATA/otlp.binpb) >noise.binpb; unskew check noise.binpb
direction  messages  inversions  min delay     median        p99        max
db -> web         5           5  -4.500 ms  -4.490 ms  -4.480 ms  -4.480 ms
web -> db         7           0    5.50 ms    5.52 ms    7.00 ms    7.00 ms

Matched 12 messages; not used: 2 without a partner.
An inversion is a causality violation: a message received before it was sent, by the recorded stamps.
Note: noise.binpb: damaged: 271 bytes in 2 places, the first at byte 1078, were skipped
Note: the bounds are valid if the callee's span ended before the caller's in 5 calls: some SDKs end it after the answer was sent, which shows only where other spans leave no room for it
# What is some other protobuf is no trace.
$ printf '\n\003abc\022\004\001\002\003\004' >other.binpb; unskew check other.binpb 2>&1 | cut -c 1-49
unskew: other.binpb: unknown format: unskew reads
# Re-timed as protobuf: what is said of each span is what its JSON is given, and lengths fit.
$ unskew apply proto.json $DATA/otlp.binpb -o out.binpb; unskew check out.binpb; unskew apply -q json.json $DATA/otlp.jsonl -o out.jsonl
direction  messages  inversions  min delay  median      p99      max
db -> web         7           0     500 us  510 us   520 us   520 us
web -> db         9           0     500 us  520 us  2.00 ms  2.00 ms

Matched 16 messages.
An inversion is a causality violation: a message received before it was sent, by the recorded stamps.
Note: the bounds are valid if the callee's span ended before the caller's in 7 calls: some SDKs end it after the answer was sent, which shows only where other spans leave no room for it
! Wrote out.binpb.
$ grep -ao '17[0-9]\{17\}' out.binpb >a; grep -o 'stringValue":"17[0-9]*' out.jsonl | sed 's/.*"//' | cmp - a && grep -c . a
104
$ head -c 4 out.binpb | od -An -tx1; tail -c +5 out.binpb | head -c 600 | od -An -c | sed -n 18,24p
 00 00 07 40
   n   s   k   e   w   .   s   t   a   r   t   .   r   e   c   o
   r   d   e   d   _   n   s 022 025  \n 023   1   7   0   0   0
   0   0   0   0   0   0   0   0   1   2   3   5   3   5   J   1
  \n 030   u   n   s   k   e   w   .   s   t   a   r   t   .   e
   a   r   l   i   e   s   t   _   n   s 022 025  \n 023   1   7
   0   0   0   0   0   0   0   0   0   0   4   5   9   3   6   4
   5   J   /  \n 026   u   n   s   k   e   w   .   s   t   a   r
# Packed, alone and each message, which are one then; one message without its length; corrected again.
$ unskew apply -q proto.json otlp.binpb.zst -o out.zst; zstd -qdc out.zst | cmp - out.binpb && echo same
same
$ unskew apply -q proto.json each.binpb -o out-each.binpb; unskew check out-each.binpb | sed -n 2,3p; unskew apply -q proto.json db.binpb -o out-db.binpb; od -An -tx1 -N 4 out-db.binpb
db -> web         7           0     500 us  510 us   520 us   520 us
web -> db         9           0     500 us  520 us  2.00 ms  2.00 ms
 0a ca 0f 0a
$ unskew apply -q proto.json out.binpb -o again.binpb; grep -ao '17[0-9]\{17\}' again.binpb | cmp - a && echo the same is said
the same is said
# Damage is copied as it is.
$ unskew apply proto.json cut.binpb -o out-cut.binpb; tail -c 60 cut.binpb >b; tail -c 60 out-cut.binpb | cmp - b && echo as it was
as it was
! Wrote out-cut.binpb.
! unskew: note: cut.binpb: ends at byte 1700 within a message that began at byte 1348; what it held in whole was used; what cannot be read was copied as it is
$ unskew apply proto.json noise.binpb -o out-noise.binpb; grep -ao noise out-noise.binpb; unskew check out-noise.binpb | grep damaged
noise
Note: out-noise.binpb: damaged: 271 bytes in 2 places, the first at byte 2854, were skipped
! Wrote out-noise.binpb.
! unskew: note: noise.binpb: damaged: 271 bytes in 2 places, the first at byte 1078, were skipped; what cannot be read was copied as it is
$ unskew apply json.json other.binpb -o out-other.binpb 2>&1 | cut -c 1-79; ls out-other.binpb 2>&1 | sed 's/.*: //'
unskew: other.binpb: unknown format: only captures (pcapng, pcap), spans (OTLP 
No such file or directory
$ sed 's/"web"/"www"/g; s/"db"/"dd"/g' proto.json >others.json; unskew apply others.json $DATA/otlp.binpb -o none.binpb 2>&1 | sed 's/.*otlp/otlp/'
otlp.binpb: the table of clocks corrects none of its 16 spans: is it of this trace? The first are of clock web

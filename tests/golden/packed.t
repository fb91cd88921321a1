# Files packed by gzip and zstd, each as its name says; the answer is the same.
# needs: zstd
$ printf 'clock,time_ns,kind,id,bytes\na,1000000,send,m1,10\na,5000000,recv,m2,\na,6000000,send,m3,5\na,7000000,send,twice,\na,7000001,send,twice,\na,8000000,send,nobody,\n' >a.csv
$ printf '{"clock":"b","time_ns":2100000,"kind":"recv","id":"m1"}\n{"time_s":0.0031,"clock":"b","kind":"send","id":"m2"}\n{"clock":"b","time":"1970-01-01T00:00:00.0071Z","kind":"recv","id":"m3"}\n' >b.jsonl
$ unskew sync -q a.csv b.jsonl -o clocks.json; unskew apply -q clocks.json a=a.csv -o again.csv
$ unskew apply -q clocks.json a=a.csv --timeline t.json
$ gzip a.csv; zstd -q --rm b.jsonl; unskew sync -q a.csv.gz b.jsonl.zst -o packed.json; sed 's/\.gz//; s/\.zst//' packed.json | cmp - clocks.json && echo same
same
$ unskew apply -q clocks.json a=a.csv.gz -o again.csv.gz; gzip -dc again.csv.gz | cmp - again.csv && echo same
same
$ unskew apply -q clocks.json a=a.csv.gz --timeline t.json.gz; gzip -dc t.json.gz | cmp - t.json && echo same
same
# Cut short.
$ head -c 40 a.csv.gz >cut.csv.gz; unskew check cut.csv.gz
! unskew: cut.csv.gz: its gzip data are cut short at byte 40
? 1
$ head -c 90 a.csv.gz >cut.csv.gz; unskew check cut.csv.gz 2>&1 | tail -n 1
unskew: cut.csv.gz: its gzip data are cut short at byte 90
# What is read whole is refused as a whole.
$ gzip -c clocks.json | head -c 300 >cut.json.gz; unskew convert cut.json.gz a:1
! unskew: cut.json.gz: its gzip data are cut short at byte 300
? 1
$ printf 'seconds,offset_seconds\n0,0\n10,0.000001\n20,0.000003\n' | gzip -nc | head -c 50 >clock.csv.gz; unskew simulate -q -o s --clock-error host1=clock.csv.gz
! unskew: clock.csv.gz: its gzip data are cut short at byte 50
? 1
$ printf 'sender,receiver,model\na,b,50us\nb,a,60us\n' | gzip -nc | head -c 50 >delays.csv.gz; unskew sync -q a.csv.gz b.jsonl.zst --min-delay @delays.csv.gz
! unskew: delays.csv.gz: its gzip data are cut short at byte 50
? 1

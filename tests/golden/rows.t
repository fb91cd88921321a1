# Rows for scripts: their columns are the same whatever the answer holds.
$ printf '%s\n' sender,receiver,sent_ns,received_ns a,'"b, c"',1000,9000 '"b, c"',a,9500,10500 a,'"b, c"',20000,28000 >t.csv
$ unskew sync t.csv --rows clocks | cut -d , -f 1-5
name,reference,quality,resolution_ns,readings
a,a,reference,9500,0
"b, c",a,bounded,500
$ unskew sync t.csv --format tsv | cut -f 1-4
name	reference	quality	resolution_ns
a	a	reference	9500
b, c	a	bounded	500
$ unskew sync t.csv --rows knots
clock,local_ns,offset_ns,lo_ns,hi_ns,epoch
a,1000,0,0,0,0
a,20000,0,0,0,0
"b, c",9000,1000,-8502,10502,0
"b, c",28500,1000,-8502,10512,0
$ unskew sync t.csv --rows jumps
clock,kind,of,or,likely,after_local_ns,before_local_ns,size_lo_ns,size_hi_ns,epoch,end_epoch
$ unskew sync t.csv --rows outliers --format json
[]
$ unskew sync t.csv --rows pairs --format json | python3 -c 'import json, sys; [print(r["a"], r["b"], r["a_to_b"], r["recorded_delay_ns.a_to_b.median"]) for r in json.load(sys.stdin)]'
a b, c 2 8000
$ unskew sync t.csv --rows knots --json
! unskew: --json prints all of clocks.json, --rows a part of it as a table: choose one
? 2

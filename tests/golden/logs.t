# Host b's clock is 7 s behind.
$ for i in 0 1 2 3; do t=$((1795341600 + 10 * i)); echo "a,b,$t.000000,$((t - 7)).000100"; echo "b,a,$((t - 6)).000000,$((t + 1)).000100"; done > rows; (echo sender,receiver,sent_s,received_s; cat rows) > t.csv
$ unskew sync -q --reference a t.csv -o clocks.json > table.txt
# All bytes stay but those of stamps; what follows the learned form inside of a line is text.
$ printf 'begun\n2026-11-22 10:00:02,500 ERROR x\nCaused by: y at 2026-11-22 10:00:00,000\n\tat z 1795341600\r\n2026-11-22 10:00:03,500 INFO done' > b.log
$ unskew convert clocks.json --log b=b.log; echo "<"
begun
2026-11-22 10:00:09,500 ERROR x
Caused by: y at 2026-11-22 10:00:00,000
	at z 1795341600
2026-11-22 10:00:10,500 INFO done<
# Merged: records whole, those of equal time in the order of the files, and a last line that had no end has one.
$ printf '{"ts":1795341609.5,"m":"one"}\n{"ts":1795341610.500000,"m":"two"}\n' > a.log
$ unskew convert clocks.json --merge b=b.log a=a.log
begun
2026-11-22 10:00:09,500 ERROR x
Caused by: y at 2026-11-22 10:00:00,000
	at z 1795341600
{"ts":1795341609.5,"m":"one"}
2026-11-22 10:00:10,500 INFO done
{"ts":1795341610.500000,"m":"two"}
$ gzip -c b.log > b.log.gz; unskew convert clocks.json --merge --names a=a.log b=b.log.gz
b begun
b 2026-11-22 10:00:09,500 ERROR x
b Caused by: y at 2026-11-22 10:00:00,000
b 	at z 1795341600
a {"ts":1795341609.5,"m":"one"}
b 2026-11-22 10:00:10,500 INFO done
a {"ts":1795341610.500000,"m":"two"}
# The stamp keeps as many digits as it has, rounded to the nearest; a zone, or none.
$ printf '[22/Nov/2026:10:59:52 +0100] x\n[22/Nov/2026:10:59:53.1234 +0100] x\n' | unskew convert clocks.json --log -c b
[22/Nov/2026:10:59:59 +0100] x
[22/Nov/2026:11:00:00.1234 +0100] x
$ echo '2026-11-22 10:59:53 x' | unskew convert clocks.json --zone +01:00 -c b
2026-11-22 11:00:00 x
$ echo 'Nov 22 09:59:53 web x' | unskew convert clocks.json --log -c b
Nov 22 10:00:00 web x
# A place that is named: nothing else is a stamp.
$ printf 'id,when\n1795341600,2026-11-22 10:00:00.5\n1795341600,later\n' | unskew convert clocks.json --column when -c b
id,when
1795341600,2026-11-22 10:00:07.5
1795341600,later
$ printf '1795341600 1795341600500 x\n' | unskew convert clocks.json --log --field 2 -c b
1795341600 1795341607500 x
$ printf '{"x":{"t":1},"log":{"n":"1795341600","t":1795341600.25}}\n{"log":{}}\nnot JSON\n' | unskew convert clocks.json --json-key log.t -c b
{"x":{"t":1},"log":{"n":"1795341600","t":1795341607.25}}
{"log":{}}
not JSON
# A reference's own log stays as it is.
$ unskew convert clocks.json --log a=a.log | cmp - a.log
# A stamp of another clock or unit is refused, and numbers that cannot be stamps are none.
$ echo '2020-11-22T10:00:00Z x' | unskew convert clocks.json --log -c b
! unskew: standard input: line 1: stamp 1606039200000000000 ns is years away from the recording of b, so it is not of that clock
? 1
$ printf 'call 5551234567 1795341600 x\n' | unskew convert clocks.json --log -c b
call 5551234567 1795341607 x
$ echo '5551234567 x' | unskew convert clocks.json --log -c b
5551234567 x
! unskew: standard input: no line has a stamp of a known form that is of clock b's years; name its place with --field, --column or --json-key
? 1
$ printf '{"t":1795341600}\n{"t":5551234567}\n' | unskew convert clocks.json --json-key t -c b
{"t":1795341607}
! unskew: standard input: line 2: stamp 4611686018427387904 ns is years away from the recording of b, so it is not of that clock
? 1
# A year of two digits stands first, as Hadoop and Spark write it: where a day does, the date is of another time, and no stamp of this clock.
$ printf '26/11/22 10:00:02 INFO executor.Executor: x\n' | unskew convert clocks.json --log -c b
26/11/22 10:00:09 INFO executor.Executor: x
$ printf '22/11/26 10:00:02 x\n' | unskew convert clocks.json --log -c b
! unskew: standard input: line 1: stamp 1669456802000000000 ns is years away from the recording of b, so it is not of that clock
? 1
# Not enough said, or too much.
$ unskew convert clocks.json --log b.log
! unskew: b.log: whose log is it? Write NAME=b.log, or give --clock
? 2
$ unskew convert clocks.json --log c=b.log
! unskew: c=b.log: the table has no clock c
? 2
$ unskew convert clocks.json --log b=nowhere.log
! unskew: nowhere.log: No such file or directory
? 1
$ unskew convert clocks.json --column when b=b.log
! unskew: b.log: its first line names no column "when"
? 1
$ unskew convert clocks.json --column when --json-key t b=b.log
! unskew: --field, --column and --json-key name one place: give one of them
? 2
$ unskew convert clocks.json --log --zone Mars b=b.log
! unskew: --zone Mars: write it as +01:00 or UTC
? 2
$ unskew convert clocks.json --log --tick-rate b=5 b=b.log
! unskew: --tick-rate is of stamps that are integers, and those of logs are dates or times since 1970
? 2
$ unskew convert --exchange 1,2,3 --exchange 1,2,4 --log b.log
! unskew: --log is of a table of clocks, and --exchange needs none
? 2

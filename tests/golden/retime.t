# A message table is corrected by the names it holds; recorded stamps stay beside the new ones.
$ (echo sender,receiver,sent_ns,received_ns,id; for t in 1 2 3 4; do echo a,b,${t}000000000,${t}000100000,x; echo b,a,${t}000200000,${t}000150000,y; done) >t.csv; unskew sync -q t.csv -o clocks.json
$ unskew apply clocks.json t.csv -o fixed.csv; head -n 3 fixed.csv
sender,receiver,sent_ns,sent_raw_ns,received_ns,received_raw_ns,id
a,b,1000000000,1000000000,999999975,1000100000,x
b,a,1000099975,1000200000,1000150000,1000150000,y
! Wrote fixed.csv.
$ unskew apply -q clocks.json t.csv -o - | cat
! unskew: apply needs the name of a file: its output appears whole or not at all
$ ls; unskew check fixed.csv | sed 1d | head -n 2 | tr -s ' ' | cut -d ' ' -f 1-5
clocks.json
fixed.csv
t.csv
a -> b 4 0
b -> a 4 0
# Two traces of one name keep a folder of theirs; a folder that was made for nothing goes again.
$ mkdir x y; cp t.csv x; cp t.csv y; unskew apply clocks.json x/t.csv y/t.csv -o out; find out -type f | sort
out/x/t.csv
out/y/t.csv
! Wrote out/x/t.csv.
! Wrote out/y/t.csv.
$ unskew apply clocks.json nowhere.csv x/t.csv -o new; ls new
! unskew: nowhere.csv: No such file or directory
! ls: cannot access 'new': No such file or directory
? 2
# A clock that messages bound on one side only.
$ (echo sender,receiver,sent_ns,received_ns; echo a,b,100000,130000; echo a,b,1000200000,1000210000) >one.csv; unskew sync -q one.csv -o one.json
? 3
$ unskew convert one.json b:130000 a:5
130000	-	89902	-
5	5	5	5
! unskew: note: "-": no message bounds the clock on that side
? 3
$ unskew convert -q one.json --clock b 0
0	-	-40163	-
? 3
$ unskew apply one.json one.csv -o two.csv
! unskew: one.csv: clock b is one-sided, so its stamps cannot be corrected; --allow-unbounded leaves them as recorded
? 1
$ unskew apply --allow-unbounded one.json one.csv -o two.csv
! Wrote two.csv.
! unskew: note: one.csv: clock b is one-sided: its stamps are left as recorded
? 3
$ cat two.csv
sender,receiver,sent_ns,sent_raw_ns,received_ns,received_raw_ns
a,b,100000,100000,130000,130000
a,b,1000200000,1000200000,1000210000,1000210000
# Lines of standard input: what can be read is converted, the first that cannot is named.
$ printf '130000\r\n\n1s\nnever\n5\n' | unskew convert -q one.json -c b
130000	-	89902	-
1000000000	-	999979851	-
! unskew: line 4: "never" is not a time: write ns, 1700000000.5s or 2023-11-14T22:13:20.5Z
? 1
$ seq 100000 | unskew convert -q one.json -c a | tail -n 1
100000	100000	100000	100000
$ unskew convert one.json 1:2
! unskew: "1" is not a clock of the table
? 2
$ unskew convert one.json -c a -- -5
-5	-5	-5	-5
# Not enough said, or too much.
$ unskew apply clocks.json t.csv
! unskew: apply needs an output: -o FILE, -o FOLDER, --merge FILE, --timeline FILE or --perfetto-manifest FILE
? 2
$ unskew apply clocks.json c=t.csv -o z.csv
! unskew: c: the table has no clock of that name
? 1
$ unskew apply clocks.json t.csv --merge z.pcapng
! unskew: t.csv: is a message table; only captures can be merged
? 2
$ unskew apply t.csv t.csv -o z.csv
! unskew: t.csv: line 1: not JSON: '[' or '{' expected near 'sender'
? 1
$ unskew apply clocks.json t.csv -o /dev/full
! unskew: /dev/full: not written: No space left on device
? 1
# A table that has been corrected says so.
$ unskew apply -q clocks.json t.csv -o again1.csv; unskew apply clocks.json again1.csv -o again2.csv; head -2 again1.csv again2.csv
==> again1.csv <==
sender,receiver,sent_ns,sent_raw_ns,received_ns,received_raw_ns,id
a,b,1000000000,1000000000,999999975,1000100000,x

==> again2.csv <==
sender,receiver,sent_ns,sent_raw_ns,received_ns,received_raw_ns,id
a,b,1000000000,1000000000,999899950,1000100000,x
! Wrote again2.csv.
! unskew: note: again1.csv: unskew corrected stamps in it before, and moves them once more: right only if the corrections were found from this very file

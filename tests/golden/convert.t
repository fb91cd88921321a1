$ printf 'sender,receiver,sent_ns,received_ns\na,b,100000,130000\nb,a,150000,180000\na,b,1000200000,1000230000\nb,a,1000250000,1000280000\n' > t.csv
$ unskew sync -q --model linear --reference a t.csv -o clocks.json > table.txt
# A column of a text file: the line as it is, then the three.
$ printf 'time,what\n130000,got\n150000,sent\n\n' | unskew convert clocks.json -c b --field 1 --separator ,
time,what,reference_ns,lo_ns,hi_ns
130000,got,129995,79998,180002
150000,sent,149995,100000,200000

$ printf 'x  130000 got\n\ty 150000\n' | unskew convert clocks.json -c b --field 2
x  130000 got 129995 79998 180002
	y 150000 149995 100000 200000
$ printf 'x\tb:130000\t"y z"\n' | unskew convert clocks.json -F 2 -s tab
x	b:130000	"y z"	129995	79998	180002
$ printf '"130000";1\n' | unskew convert clocks.json -c b -F 1 -s ';'
"130000";1;129995;79998;180002
$ printf 'a,5\nb\n' | unskew convert clocks.json -c b -F 2 -s ,
a,5,0,-50010,50020
! unskew: line 2: there is no field 2
? 1
$ printf 'a,5\nb,soon\n' | unskew convert clocks.json -c b -F 2 -s ,
a,5,0,-50010,50020
! unskew: line 2: "soon" is not a time: write ns, 1700000000.5s or 2023-11-14T22:13:20.5Z
? 1
# Not enough said, or too much.
$ unskew convert clocks.json -c b -s ,
! unskew: --separator needs --field N: the field that holds the stamp
? 2
$ unskew convert clocks.json -c b -F 2 -s ,,
! unskew: --separator ,,: is one character, or "tab"
? 2
$ unskew convert clocks.json -c b -F 2 5
! unskew: --field reads standard input; do not pass stamps as well
? 2
$ unskew convert clocks.json -c b -F 0
! unskew: --field: 0 is less than 1
? 2
# Far from all messages it is extrapolated, and says so once.
$ unskew convert clocks.json -c b 1800000000s 1900000000s
1800000000000000000	1799999999999999995	1799820017998250014	1800179982001749986
1900000000000000000	1899999999999999995	1899810018998150014	1900189981001849986
! unskew: note: stamp 1800000000000000000 of b lies 1790000000 s outside the recording, which spans 1.00 s: its time is extrapolated (holdover), and the error bounds are valid if the clock's rate stayed within the same limits until then
$ unskew before clocks.json b:1800000000s a:1s
no 1799820016998230015
! unskew: note: stamp 1800000000000000000 of b lies 1790000000 s outside the recording, which spans 1.00 s: its time is extrapolated (holdover), and the error bounds are valid if the clock's rate stayed within the same limits until then

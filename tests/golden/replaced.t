# What is read is never replaced, whatever it is called and whatever is forced; nor are two outputs one file.
$ mkdir t; cp $DATA/host?.pcap t; ln t/host1.pcap hard; ln -s t/host0.pcap soft; cat t/* | cksum >before
$ unskew sync t/host0.pcap t/host1.pcap -o t/host0.pcap -f
! unskew: t/host0.pcap: is an input, so it cannot be an output too; write to another
? 2
$ unskew sync t/host0.pcap b=t/host1.pcap --merge hard -f
! unskew: hard is the same file as t/host1.pcap, which is an input; write to another
? 2
$ unskew sync t/host0.pcap t/host1.pcap --messages soft -f
! unskew: soft is the same file as t/host0.pcap, which is an input; write to another
? 2
$ unskew sync t/host0.pcap - -o hard -f <t/host1.pcap
! unskew: hard is the same file as -, which is an input; write to another
? 2
$ unskew sync t/host0.pcap t/host1.pcap -o c.json --messages ./c.json
! unskew: c.json and ./c.json are the same file: two outputs cannot share it
? 2
$ unskew sync t/host0.pcap t/host1.pcap -o c.json --merge c.json -f
! unskew: c.json: two outputs cannot share it
? 2
$ unskew sync -q t/host0.pcap t/host1.pcap -o c.json
$ unskew apply c.json t/host0.pcap -o t/host0.pcap -f
! unskew: t/host0.pcap: is an input, so it cannot be an output too; write to another
? 2
$ unskew apply c.json t/host0.pcap -o c.json -f
! unskew: c.json: is an input, so it cannot be an output too; write to another
? 2
$ unskew apply c.json t/host0.pcap t/host1.pcap -o t -f
! unskew: t/host0.pcap: is an input, so it cannot be an output too; write to another
? 2
$ unskew apply c.json t/host0.pcap t/host1.pcap --merge soft -f
! unskew: soft is the same file as t/host0.pcap, which is an input; write to another
? 2
$ unskew apply c.json t/host0.pcap -o x --merge ./x
! unskew: x and ./x are the same file: two outputs cannot share it
? 2
$ cat t/* | cksum | cmp - before && ls
before
c.json
hard
soft
t

# Work that is cut off leaves nothing half-written.
$ mkdir w; timeout -s TERM 0.3 unskew simulate -o w --seconds 100000 --rate 1000 -q
? 124
$ ls w

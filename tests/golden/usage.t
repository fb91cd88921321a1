# Wrong usage: status 2, one sentence, and a way on.
$ unskew snyc
! unskew: snyc: no such command; did you mean sync?
? 2
$ unskew 2>&1 | sed 4q; unskew 2>/dev/null
unskew - put the traces of many machines on one clock, after the fact

usage: unskew COMMAND [options] ...

? 2
$ unskew --frobnicate
! unskew: --frobnicate: a command comes first; see `unskew help`
? 2
$ unskew --version | sed 1q
unskew 0.1.0
$ unskew --version >/dev/full
! unskew: standard output: No space left on device
? 1

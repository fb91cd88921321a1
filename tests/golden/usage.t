# Wrong usage: status 2, one sentence, and a way on.
$ unskew snyc
! unskew: snyc: no such command; did you mean sync?
? 2
$ unskew
! unskew - put the traces of many machines on one clock, after the fact
! 
! usage: unskew COMMAND [options] ...
! 
!   sync      find out how the clocks ran: match, fit, solve; print the table of
!             clocks
!   check     score traces as recorded: messages received before sent, one-way
!             delays
!   simulate  make captures or message tables whose truth is known
!   help      this, or a command's own help: unskew help sync
! 
! unskew --version says what is built in.
! Exit status: 0 done; 1 could not do it; 2 wrong usage; 3 done, but some clock is
! not bounded.
? 2
$ unskew --frobnicate
! unskew: --frobnicate: a command comes first; see `unskew help`
? 2
$ unskew --version | sed 1q
unskew 0.1.0
$ unskew --version >/dev/full
! unskew: standard output: No space left on device
? 1

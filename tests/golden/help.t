# Help, manual and completion come from one table; this shows what it makes of it.
# needs: bash
$ unskew help check
unskew check - score traces as recorded: messages received before sent, one-way delays

usage: unskew check [options] [NAME=]TRACE...

Nothing is corrected. Delays are received - sent, each by its own clock, so
they hold the clocks' offset too. Run it on traces before and after `unskew
apply`.

Output:
      --json              print JSON instead of the table

Delay:
      --min-delay MODEL   no message takes less: BASE[+FIRST][+PER_BYTE/B],
                          such as 50us or 520us+14us+1.032us/B, FIRST for the
                          first byte of payload and PER_BYTE for each further
                          one; or @FILE, a CSV sender,receiver,model [0]

Reading:
      --tick-rate NAME=HZ
                          the integer stamps of clock NAME in tables are ticks
                          of a counter, HZ a second; may be repeated
      --send RULE         EVENT{FIELD,...}: this event of a CTF trace is a
                          send, and the fields are its id; may be repeated
      --recv RULE         the same of a receive; equal ids are one message; may
                          be repeated
      --know RULE         NAME=EVENT{FIELD}: NAME is what that field was in a
                          thread's last such event; may be repeated

Matching:
  -r, --reference NAME    the clock that is the common timeline; otherwise, of
                          two clocks, the first one, of more the one nearest to
                          all others
      --local NAME=ADDR   an address of the machine that recorded NAME, where
                          the captures do not show who sent what; may be
                          repeated
      --clock-of NAME/IFACE=CLOCK
                          an interface of the capture NAME, by its name or
                          number, that has a clock of its own; may be repeated
      --readings LIST     what packets of captures say of clocks that nobody
                          recorded: LIST of ntp, ptp, rtcp, http, krb5, smb2,
                          wlan, or all; these clocks get names such as
                          ntp:192.0.2.1
      --resolution NAME=DURATION
                          what NAME's stamps are rounded down to, if coarser
                          than the file says; may be repeated
      --from TIME         leave out what the reference stamped before
      --to TIME           leave out what the reference stamped after

Common:
  -q, --quiet             print nothing but errors and data
  -h, --help              print this help
$ unskew help check >help; unskew check --help | cmp - help && echo same
same
$ unskew --man check | sed -n 1,8p
.TH UNSKEW\-CHECK 1 "" "unskew 0.1.0" "User Commands"
.SH NAME
unskew\-check \- score traces as recorded: messages received before sent, one\-way delays
.SH SYNOPSIS
.B unskew check
[\fIoptions\fR] [NAME=]TRACE...
.SH DESCRIPTION
Nothing is corrected. Delays are received \- sent, each by its own clock, so they hold the clocks' offset too. Run it on traces before and after `unskew apply`.
$ unskew --completion >complete; bash -c '. ./complete; COMP_WORDS=(unskew sync --me); COMP_CWORD=2; _unskew; echo ${COMPREPLY[@]}'
--merge --messages --method
# Every command has a help, a manual page and completion.
$ for c in $(unskew help | sed -n 's/^  \([a-z]*\) .*/\1/p' | grep -v help); do unskew help $c >/dev/null && unskew --man $c | grep -q "^.B unskew $c" && grep -q "^.*$c) words" complete || echo $c lacks something; done
# Requests of the manual pages stand at the start of a line.
$ for c in "" sync apply convert check simulate; do unskew --man $c; done | grep "[^ ] *\.[A-Z][A-Z]* "
? 1
$ unskew --man sync | sed -n "/ENVIRONMENT/,\$p"
.SH ENVIRONMENT
.TP
.B NO_COLOR
turns colour off.
.TP
.B TMPDIR
is where input that cannot be read twice is kept meanwhile.

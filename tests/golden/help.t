# Help, manual and completion come from one table; this shows what it makes of it.
# needs: bash
$ unskew help check
unskew check - score traces as recorded: causality violations and one-way delays

usage: unskew check [options] [NAME=]TRACE...

Examples:
  how bad is it, before anything is corrected?
      unskew check client.pcap server.pcap
  and after it was
      unskew check client-corrected.pcap server-corrected.pcap
  which messages were faster than the network can be, as JSON
      unskew check messages.csv --min-delay 50us --json

Nothing is corrected. A message that was received before it was sent, by the
stamps as recorded, violates causality (an inversion). A one-way delay is
received - sent, each by its own clock, so it includes the offset between the
clocks. Run it on traces before and after `unskew apply`.

Output:
      --json              print JSON instead of the table

Delay:
      --min-delay MODEL   the network takes at least this long:
                          BASE[+FIRST][+PER_BYTE/B], such as 50us or
                          520us+14us+1.032us/B, FIRST for the first byte of
                          payload and PER_BYTE for each further one; or @FILE,
                          a CSV sender,receiver,model [0]

Reading:
      --tick-rate NAME=HZ
                          the integer stamps of clock NAME in tables are ticks
                          of a counter, HZ a second; may be repeated
      --send RULE         EVENT{FIELD,...}: this event of a CTF trace is a
                          send, and the fields are its id; may be repeated
      --recv RULE         the same for a receive; a send and a receive with
                          equal ids are one message; may be repeated
      --know RULE         NAME=EVENT{FIELD}: in rules NAME stands for the value
                          of that field in the thread's latest such event; may
                          be repeated

Matching:
  -r, --reference NAME    the clock on whose time all others are put;
                          otherwise, of two clocks, the first one, of more the
                          one nearest to all others
      --local NAME=ADDR   an IP address of the machine that recorded NAME, for
                          captures that do not show who sent a packet; may be
                          repeated
      --clock-of NAME/IFACE=CLOCK
                          this interface of the capture NAME, given by its name
                          or number, has a clock of its own, called CLOCK; may
                          be repeated
      --readings LIST     use the timestamps inside packets, too, of servers
                          that nobody recorded: LIST of ntp, ptp, rtcp, http,
                          krb5, smb2, wlan, or all; their clocks get names such
                          as ntp:192.0.2.1
      --resolution NAME=DURATION
                          the resolution of NAME's stamps, to which they are
                          rounded down, if coarser than the file says; may be
                          repeated
      --from TIME         ignore events before TIME by the reference clock
      --to TIME           ignore events after TIME by the reference clock

Common:
  -q, --quiet             print nothing but errors and data
  -h, --help[=all]        print short help, or all of it
$ unskew help check >help; unskew check --help=all | cmp - help && echo same
same
# Short help is a screen: examples, and what is used most.
$ unskew before -h | tail -n 4

Common:
  -q, --quiet             print nothing but errors and data
  -h, --help[=all]        print short help, or all of it
$ unskew check --help | sed -n '/^Options/,$p'
Options that are used most:
      --json              print JSON instead of the table
      --min-delay MODEL   the network takes at least this long:
                          BASE[+FIRST][+PER_BYTE/B], such as 50us or
                          520us+14us+1.032us/B, FIRST for the first byte of
                          payload and PER_BYTE for each further one; or @FILE,
                          a CSV sender,receiver,model [0]
  -r, --reference NAME    the clock on whose time all others are put;
                          otherwise, of two clocks, the first one, of more the
                          one nearest to all others
      --local NAME=ADDR   an IP address of the machine that recorded NAME, for
                          captures that do not show who sent a packet; may be
                          repeated
      --from TIME         ignore events before TIME by the reference clock
      --to TIME           ignore events after TIME by the reference clock

`unskew help check` has all 15 options, and what is printed.
$ for c in $(unskew help | sed -n 's/^  \([a-z]*\) .*/\1/p' | grep -v -e help -e examples); do test $(unskew $c --help | wc -l) -le 44 || echo $c needs more than a screen; done
$ unskew check --help=more
! unskew: --help takes no value but all
? 2
$ unskew check --json=all
! unskew: --json takes no value
? 2
$ unskew --man check | sed -n 1,8p
.TH UNSKEW\-CHECK 1 "" "unskew 0.1.0" "User Commands"
.SH NAME
unskew\-check \- score traces as recorded: causality violations and one\-way delays
.SH SYNOPSIS
.B unskew check
[\fIoptions\fR] [NAME=]TRACE...
.SH EXAMPLES
.TP
$ unskew --completion >complete; bash -c '. ./complete; COMP_WORDS=(unskew sync --me); COMP_CWORD=2; _unskew; echo ${COMPREPLY[@]}'
--messages --merge --method
$ bash -c '. ./complete; t() { COMP_WORDS=(unskew "$@"); COMP_CWORD=$#; _unskew; echo "${COMPREPLY[@]}"; }; touch a.csv b.csv; t sync --solve ""; t sync --solve = j; t sync -o b; t check a.; t help co'
joint tree
joint
b.csv
a.csv
compare convert
$ unskew --completion zsh | grep -c -e '--solve=\[.*:joint|tree:(joint tree)' -e '--output=\[.*:FILE:_files'
15
$ unskew --completion fish | grep "from check' -l [jq]"
complete -c unskew -n '__fish_seen_subcommand_from check' -l json -d 'print JSON instead of the table'
complete -c unskew -n '__fish_seen_subcommand_from check' -l quiet -s q -d 'print nothing but errors and data'
$ unskew --completion csh
! unskew: "csh" is none of bash, zsh, fish
? 2
# Every command has a help, a manual page and completion.
$ for c in $(unskew help | sed -n 's/^  \([a-z]*\) .*/\1/p' | grep -v -e help -e examples); do unskew help $c >/dev/null && unskew --man $c | grep -q "^.B unskew $c" && grep -q "^.*$c) words" complete || echo $c lacks something; done
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
is the folder for temporary copies of input that cannot be read twice.

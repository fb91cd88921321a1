# Every command has three examples, in its help, its manual page and `unskew examples`; the program understands each of them.
$ unskew examples convert
convert: convert stamps of one clock to the reference's time, with error bounds
  one stamp, with its error bounds
      unskew convert clocks.json --clock server 2026-11-22T10:00:00.5Z
  the logs of two hosts as one, in true order
      unskew convert clocks.json --merge --names web=access.log db=postgresql.log
  the third column of a CSV: three columns more
      unskew convert clocks.json --clock db --field 3 --separator , <queries.csv
$ unskew --man convert | sed -n '/^.SH EXAMPLES/,/^.SH DESCRIPTION/p'
.SH EXAMPLES
.TP
one stamp, with its error bounds
.nf
.B unskew convert clocks.json \-\-clock server 2026\-11\-22T10:00:00.5Z
.fi
.TP
the logs of two hosts as one, in true order
.nf
.B unskew convert clocks.json \-\-merge \-\-names web=access.log db=postgresql.log
.fi
.TP
the third column of a CSV: three columns more
.nf
.B unskew convert clocks.json \-\-clock db \-\-field 3 \-\-separator , <queries.csv
.fi
.SH DESCRIPTION
$ unskew examples nothing
! unskew: nothing: no such command; see `unskew help`
? 2
$ unskew help | sed -n 's/^  \([a-z][a-z]*\) .*/\1/p' | grep -v -e help -e examples >commands
$ for c in $(cat commands); do unskew help $c | grep -c "^      unskew $c "; unskew --man $c | grep -c "^.B unskew $c ."; done | sort -u
2
3
# With --help the rest of the line is understood, and nothing is done.
$ touch server.log queries.csv pairs.txt; unskew examples | sed -n 's/^      unskew \([a-z]*\)/unskew \1 --help/p' >all; [ $(wc -l <all) -eq $((3 * $(wc -l <commands))) ]
$ while read -r line; do sh -c "$line" >printed || echo "$line"; done <all
# So it does what README's tables show.
$ sed -n 's/^| //p' "$DATA/../../../README.md" | grep -o '`unskew [a-z]* [^`]*`' | tr -d '`' | sed 's/^unskew [a-z]*/& --help/' >shown; [ $(wc -l <shown) -ge 12 ] || cat shown
$ while read -r line; do sh -c "$line" >printed || echo "$line"; done <shown

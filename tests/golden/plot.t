# A corridor on a terminal: drawn there, or where asked for; in ASCII or beyond, as the locale says.
# needs: script
$ unskew simulate -q --seconds 60 --rate 40 --format table --drift-ppm 21 --step host1@40s:3ms -o d && mv d/messages.csv m.csv
$ unskew sync m.csv --plot host1 | tail -10
          host1 around its estimate: delays to host0 above, from it below
   100 us
          . ....... .................................... ......................
           '       '
                                                        .
        0 ---------------------------------------------------------------------

          '''''''''''''''''''''''''''''''''''''''''''''''''''''''''''''''''''''
  -100 us
          0                                            ^                 60.0 s
$ LC_ALL=C.UTF-8 COLUMNS=60 unskew sync m.csv --plot host1 | tail -10
          host1: delays to host0 above, from it below
   100 us
          ⠄⣀⣀⣀⡠⣀⡀⣀⣀⢄⣀⢄⣀⣀⣀⣀⣀⣀⠤⣀⣀⣀⣀⣀⣀⡠⣀⣀⣀⣀⣀⣀⠄⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀
          ⠈     ⠈
                                          ⢀
        0 ─────────────────────────────────────────────────

          ⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠊⠉⠊⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠑⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠑⠉⠉⠉
  -100 us
          0                               ^          60.0 s
$ unskew sync m.csv --plot host0 | grep -c below
0
! unskew: note: --plot host0 draws nothing: it is the reference
? 1
$ unskew sync m.csv --plot host7 -o c.json
! unskew: --plot host7: there is no such clock; "host0" is one
? 2
$ ls c.json
! ls: cannot access 'c.json': No such file or directory
? 2
$ unskew sync m.csv --json --plot host1 | grep -c 'from it below'
0
? 1
$ COLUMNS=30 unskew sync m.csv --plot host1 | grep -c 'from it below'
0
! unskew: note: --plot host1 draws nothing: it needs 40 columns or more
? 1
$ unskew sync m.csv | grep -c 'from it below'
0
? 1
# On a terminal it comes by itself, as wide as that is; plain where NO_COLOR or --no-plot say so.
$ script -qec 'stty cols 50; unskew sync m.csv' t.log >/dev/null; sed 1d t.log | tr -d '\r' | sed -n '/below/,/0 s/p'
          host1: delays to host0 above, from it below
   100 us
           .... .................... ............
          '    '
                                    .
        0 ---------------------------------------

          '''''''''''''''''''''''''''''''''''''''
  -100 us
          0                        ^       60.0 s
$ script -qec 'unset NO_COLOR; TERM=xterm LC_ALL=C.UTF-8 unskew sync m.csv' t.log >/dev/null; grep -c "$(printf '\033\\[2m   100 us\033\\[0m')" t.log
1
$ script -qec 'unskew sync m.csv --no-plot' t.log >/dev/null; grep -c 'from it below' t.log
0
? 1
$ script -qec 'unskew sync m.csv -q' t.log >/dev/null; sed -e 1d -e '$d' t.log


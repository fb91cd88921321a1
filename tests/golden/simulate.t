# Clocks, networks and jumps as asked for; what contradicts itself is refused.
$ unskew simulate -o a --format table --seconds 5 --rate 10 --step host1@2s:-1ms --suspend host0@3s:500ms
! a: 76 messages in messages.csv, clocks in truth.json
$ grep -A3 jumps a/truth.json
  "jumps": [
    {"clock": "host0", "true_ns": "1700000003500000000", "size_ns": "-500000000"},
    {"clock": "host1", "true_ns": "1700000002000000000", "size_ns": "-1000000"}
  ],
$ unskew simulate -o b --format table --hosts 6 --topology islands --seconds 5 --broadcast 2 -q; ls b; head -n 1 b/broadcasts.csv; cut -d, -f1,2 b/messages.csv | sort -u | wc -l
broadcasts.csv
messages.csv
truth.json
id,sender,receiver,sent_ns,received_ns,bytes
13
$ printf 'seconds,offset_seconds\n10,0.5\n70,0.500006\n' >clock.csv; unskew simulate -o c --format table --offset 0 --drift-ppm 0 --clock-error host1=clock.csv -q; tail -n 5 c/truth.json | cut -d'"' -f 1-5
    "host1": ["1700000000500000000",
  },
  "jumps": [],
  "broadcasts": null
}
$ unskew simulate -o d --step host1@2min:1ms
! unskew: --step and --suspend of host1 must lie within the simulated time, and a suspension cannot be negative
? 2
$ unskew simulate -o d --step host7@2s:1ms
! unskew: there is no host7 to step or suspend
? 2
$ unskew simulate -o d --step 1@2s
! unskew: --step: "2s" lacks a colon and what follows
? 2
$ unskew simulate -o d --suspend one@2s:1s
! unskew: --suspend: "one@2s:1s" does not begin with a host: host1@
? 2
$ unskew simulate -o d --step-sizes 1s
! unskew: --step-sizes takes two, MIN,MAX
? 2
$ unskew simulate -o d --wander-ppb 0,-1
! unskew: the wander of host1 is not 0 to 100 ppm
? 2
$ unskew simulate -o d --clock-error host1=none.csv
! unskew: none.csv: No such file or directory
? 1
$ printf '1,2\n2,3\n' >wild.csv; unskew simulate -o d --clock-error host1=wild.csv
! unskew: wild.csv: line 2: the offset changes by over 1 % of the time between; a jump is two rows of one time
? 1
$ unskew simulate -o d --one-way
! unskew: --one-way needs --proto udp or --format table: all other traffic is answered
? 2
$ unskew simulate -o d --topology islands --islands 2
! unskew: 2 hosts can form 1 to 1 islands of two or more hosts, not 2
? 2
$ unskew simulate -o d --dmin 2us/B
! unskew: --dmin: a minimum delay is BASE[+FIRST][+PER_BYTE/B], such as 520us+14us+1.032us/B
? 2
$ test -e d || echo nothing
nothing

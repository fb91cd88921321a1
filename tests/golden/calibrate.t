# Minimum delays from round trips, and the way back into sync.
$ unskew simulate -o t --seconds 60 --rate 50 --seed 3 --format table --dmin 50us --tail 2us -q
$ unskew calibrate t/messages.csv -o delays.csv
asked by  answered by  protocol  round trips  smallest     half  payload
host0     host1        any             1,488    100 us  50.0 us   79, 87
host1     host0        any             1,480    100 us  50.0 us  25, 179

Measured: the time that a message and one back needed together, by the asker's clock, less what the
other took to answer; payload of the two messages.

between       minimum delay, each direction     payload  smallest  margin   slack
host0, host1  49.366us                       16 to 1399   50.0 us  651 ns  628 ns

Minimum delay: of each direction, as sync --min-delay takes it, if the fastest path there is as fast as that
back: no round trip can show that. Smallest, margin: half of the smallest round trip of the shortest
messages, and what was subtracted, as the smallest that was measured is not quite the smallest possible.
Slack: how much longer all minima could be before messages contradict each other.
Matched 5,873 messages.
$ unskew sync t/messages.csv --model linear --min-delay @delays.csv --truth t/truth.json
clock  quality    offset mid-trace (± bound)  drift, ppm                  sent  received
host0  reference  0                           0                          2,921     2,952
host1  bounded    -1.000600083 s ± 638 ns     20.000 (19.976 to 20.022)  2,952     2,921

Matched 5,873 messages.
Causality violations (received before sent): 2,952 before correction, 0 after.
Uncertainty over the trace: ±636 ns to ±690 ns, ±640 ns on average.
One-way delays, median (99 %): host0 -> host1 1.00 s as recorded, 51.3 us (58.7 us) corrected;
  back -1.00 s as recorded, 51.4 us (59.3 us) corrected.
Model linear: every clock has one constant rate, no two rates differ by more than 500 ppm,
no message takes less than its minimum delay (@delays.csv).
The bounds are valid while these assumptions hold.
Truth: host1's estimate is off by at most 2 ns; its band holds the truth throughout.
$ cat delays.csv
sender,receiver,model
host0,host1,49.366us
host1,host0,49.366us
$ unskew calibrate t/messages.csv --json --margin 10% | sed '/"lengths"/,/\]/d'
{
  "unskew_calibration": 1,
  "asymmetry_ns": "0",
  "margin": 0.1,
  "pairs": [
    {
      "a": "host0",
      "b": "host1",
      "min_delay": "44.859us",
      "failed": null,
      "round_trips": 5872,
      "used": 2968,
      "from_bytes": 16,
      "to_bytes": 1399,
      "first_byte_known": true,
      "smallest_ns": "100094",
      "margin_ns": "10010",
      "halves": {
        "asked": 0,
        "shorter": 0,
        "widened": 1
      },
      "shorter": {
        "count": 0,
        "max_ns": "0"
      },
      "shortened_ns": "0",
      "slack_ns": "5102",
      "directions": [
        {
          "asker": "host0",
          "other": "host1",
          "protocol": "any",
          "asker_interface": null,
          "other_interface": null,
          "there_bytes": 79,
          "back_bytes": 87,
          "round_trips": 1488,
          "smallest_ns": "100029"
        },
        {
          "asker": "host1",
          "other": "host0",
          "protocol": "any",
          "asker_interface": null,
          "other_interface": null,
          "there_bytes": 25,
          "back_bytes": 179,
          "round_trips": 1480,
          "smallest_ns": "100044"
        }
      ],
    }
  ],
  "notes": []
}
# By protocol, where captures know.
$ unskew simulate -o m --seconds 20 --rate 100 --seed 3 --proto mix --dmin 50us --tail 2us -q
$ unskew calibrate m/host0.pcap m/host1.pcap | sed '/^$/,$d'
asked by  answered by  protocol  round trips  smallest     half     payload
host0     host1        ICMP               71    100 us  50.1 us    272, 890
host1     host0        ICMP              202    100 us  50.1 us    977, 977
host0     host1        TCP             1,277    100 us  50.0 us     35, 939
host1     host0        TCP             1,280    100 us  50.0 us      635, 0
host0     host1        UDP               222    100 us  50.0 us  1007, 1052
host1     host0        UDP                91    100 us  50.1 us     145, 41
# The ways may differ by so much.
$ unskew calibrate t/messages.csv --asymmetry 20us | grep -A2 between
between       minimum delay, each direction     payload  smallest  margin    slack
host0, host1  39.366us                       16 to 1399   50.0 us  651 ns  2.60 us

# Too little to tell, nothing to tell, and outputs.
$ printf 'sender,receiver,sent_ns,received_ns,bytes\na,b,0,40001,0\nb,a,50001,90001,0\n' >few.csv; unskew calibrate few.csv
! unskew: only 1 round trip between a and b was answered soon enough to be known to 1 %: 63 more of one kind are needed to find the margin between the smallest measured and the smallest possible (or state a --margin)
? 1
$ unskew calibrate few.csv --margin 5% --quiet -o d.csv; cat d.csv
sender,receiver,model
a,b,37.997us
b,a,37.997us
$ printf 'sender,receiver,sent_ns,received_ns\na,b,0,40000\n' >one.csv; unskew calibrate one.csv
! unskew: a and b made no round trip: a message, and one back that was sent after it had come
? 1
$ unskew calibrate t/messages.csv -o delays.csv
! unskew: delays.csv: exists already; use --force to replace it
? 1
$ unskew calibrate t/messages.csv -o t/messages.csv --force
! unskew: t/messages.csv: is an input, so it cannot be an output too; write to another
? 2
$ unskew calibrate --min-delay 5us t/messages.csv
! unskew: --min-delay: no such option; see `unskew help calibrate`
? 2

# Every estimator side by side: a table, what has no answer and why, errors against the truth.
$ unskew simulate -o t --seconds 20 --rate 10 --seed 3 --format table -q
$ unskew compare t/messages.csv --method middle,hull,regress --method two-point,rate-last; echo status $?
host1 against host0: 410 messages, 202 received before sent as recorded, half widths 50.3 us to 54.8 us.
method       offset, us  rate - 1, ppm  inversions  too fast, %
middle     -1000201.188      20.084722           0        0.000
hull       -1000199.839      20.193831           0        0.000
regress    -1000200.382      20.663050           0        0.000
two-point  -1000201.787      20.357595           0        0.000
rate-last             -              -           -            -
rate-last has no answer: rate-last needs exchanges in two windows of 180 s, and all are in one.

Offset: reference - local at the middle of the trace; add it to a local stamp. Rate: of the clock
against the reference. Inversions: messages received before they were sent, by that line; too fast: in
less than their minimum delay. Lines are judged as drawn; sync settles them into the band.
Matched 410 messages.
status 0
$ unskew compare t/messages.csv --method regress,hull --truth t/truth.json | sed -n 1,4p
host1 against host0: 410 messages, 202 received before sent as recorded, half widths 50.3 us to 54.8 us.
method     offset, us  rate - 1, ppm  inversions  too fast, %  error: start   middle       end      rms
hull     -1000199.839      20.193831           0        0.000       3.05 us  1.11 us   -830 ns  1.58 us
regress  -1000200.382      20.663050           0        0.000       7.22 us   588 ns  -6.04 us  3.88 us
# JSON has every key; a method without an answer its sentence alone.
$ unskew compare t/messages.csv --method hull,rate-last --truth t/truth.json --json | sed 's/"seconds": .*/"seconds": N/'
{
  "pairs": [
    {
      "a": "host0",
      "b": "host1",
      "methods": [
        {
          "name": "hull",
          "a_ns": "1700000010046963641",
          "b_ns": "1700000011047163480.259",
          "beta_minus_one": 2.0193831149286702e-5,
          "inversions": {
            "recorded": 202,
            "corrected": 0
          },
          "too_fast": {
            "count": 0,
            "percent": 0.0,
            "max_ns": "0",
            "mean_ns": "0"
          },
          "half_width_ns": {
            "best": "50201",
            "worst": "54707",
            "mean": "50790"
          },
          "error_ns": {
            "start": "3047",
            "middle": "1109",
            "end": "-830",
            "rms": "1576"
          },
          "seconds": N
        },
        {
          "name": "rate-last",
          "failed": "rate-last needs exchanges in two windows of 180 s, and all are in one"
        }
      ]
    }
  ]
}
$ unskew compare t/messages.csv --method hull,rate-last --truth t/truth.json --csv
a,b,method,a_ns,b_ns,beta_minus_one,inversions_recorded,inversions_corrected,too_fast_count,too_fast_percent,too_fast_max_ns,too_fast_mean_ns,half_best_ns,half_worst_ns,half_mean_ns,error_start_ns,error_middle_ns,error_end_ns,error_rms_ns,failed
host0,host1,hull,1700000010046963641,1700000011047163480.259,2.0193831149286702e-05,202,0,0,0,0,0,50201,54707,50790,3047,1109,-830,1576,
host0,host1,rate-last,,,,,,,,,,,,,,,,,"rate-last needs exchanges in two windows of 180 s, and all are in one"
$ unskew compare t/messages.csv --method hull --csv | awk -F, '{ print NF }'
20
20
# The truth of others says nothing of these.
$ sed 's/host1/host9/g' t/truth.json >other.json; unskew compare t/messages.csv --method hull --truth other.json | grep -A3 method
method    offset, us  rate - 1, ppm  inversions  too fast, %  error: start  middle  end  rms
hull    -1000199.839      20.193831           0        0.000             -       -    -    -
Truth: nothing to compare: it does not know host0 or host1.

# A clock that was stepped: no line fits, and what needs none is judged all the same.
$ (echo sender,receiver,sent_ns,received_ns; echo a,b,0,1000; echo b,a,1000000,2000; echo b,a,2000000,1500000; echo a,b,1000000000,1002000000; echo b,a,1100000000,1090000000) >step.csv
$ unskew compare step.csv --method middle,hull,support,regress,least-violation,interval --max-outliers 0
b against a: 5 messages, 3 received before sent as recorded.
method           offset, us  rate - 1, ppm  inversions  too fast, %
middle                    -              -           -            -
hull                      -              -           -            -
support           -3287.860    5119.119274           4       80.000
regress           -3399.675    5523.888898           5      100.000
least-violation   -5000.500    9173.394495           3       60.000
interval          -3368.180    5263.641061           4       80.000
middle has no answer: middle needs messages in both directions that some line fits.
hull has no answer: hull needs messages in both directions that some line fits.

Offset: reference - local at the middle of the trace; add it to a local stamp. Rate: of the clock
against the reference. Inversions: messages received before they were sent, by that line; too fast: in
less than their minimum delay. Lines are judged as drawn; sync settles them into the band.
Matched 5 messages.
Note: 2 messages between a and b cannot all be true if both clocks run at one rate within 500 ppm: a clock was stepped or slewed (try a part of the trace with --from and --to, or a larger --max-skew-ppm)
? 3
$ unskew compare step.csv --method hull,interval --csv --max-outliers 0
a,b,method,a_ns,b_ns,beta_minus_one,inversions_recorded,inversions_corrected,too_fast_count,too_fast_percent,too_fast_max_ns,too_fast_mean_ns,half_best_ns,half_worst_ns,half_mean_ns,error_start_ns,error_middle_ns,error_end_ns,error_rms_ns,failed
a,b,hull,,,,,,,,,,,,,,,,,hull needs messages in both directions that some line fits
a,b,interval,545000000,548368179.539,0.0052636410614370199,3,4,4,80,3743433,2119658,,,,,,,,
! unskew: note: 2 messages between a and b cannot all be true if both clocks run at one rate within 500 ppm: a clock was stepped or slewed (try a part of the trace with --from and --to, or a larger --max-skew-ppm)
? 3
# One direction only; a clock that sends to itself; one clock.
$ (echo sender,receiver,sent_ns,received_ns; echo a,b,0,1000; echo a,b,1000000000,1000020000; echo c,c,1,2) >few.csv; unskew compare -q few.csv --method middle,regress --json
{
  "pairs": [
    {
      "a": "a",
      "b": "b",
      "methods": [
        {
          "name": "middle",
          "failed": "middle needs messages in both directions that some line fits"
        },
        {
          "name": "regress",
          "failed": "least squares need messages in both directions"
        }
      ]
    }
  ]
}
? 3
$ (echo sender,receiver,sent_ns,received_ns; echo '"a, ""x""",b,0,1000') >odd.csv; unskew compare -q odd.csv --method middle --csv
a,b,method,a_ns,b_ns,beta_minus_one,inversions_recorded,inversions_corrected,too_fast_count,too_fast_percent,too_fast_max_ns,too_fast_mean_ns,half_best_ns,half_worst_ns,half_mean_ns,error_start_ns,error_middle_ns,error_end_ns,error_rms_ns,failed
"a, ""x""",b,middle,,,,,,,,,,,,,,,,,middle needs messages in both directions that some line fits
? 3
# Wrong usage.
$ unskew compare t/messages.csv --method hull,midle
! unskew: --method: "midle" is not known; did you mean middle?
? 2
$ unskew compare t/messages.csv --method hull, 2>&1 | cut -c1-40
unskew: --method: "" is not known; choos
$ unskew compare t/messages.csv --json --csv
! unskew: --json and --csv both want standard output: choose one
? 2
$ unskew compare none.csv
! unskew: none.csv: No such file or directory
? 1

# Every estimator side by side: a table, what has no answer and why, errors against the truth.
$ unskew simulate -o t --seconds 20 --rate 10 --seed 3 --format table -q
$ unskew compare t/messages.csv --method middle,hull,regress --method two-point,rate-last; echo status $?
host1 against host0: 410 messages, 15 on their hulls, half widths 51.0 us to 60.0 us, 56.2 us on average.
method           offset, us  rate - 1, ppm  inversions  too fast, %  there   back  delay there     back
(as recorded)             -              -         202            -      -      -       1.00 s  -1.00 s
middle         -1000201.188      20.084672           0        0.000  0.000  0.000      87.5 us  86.7 us
hull           -1000199.839      20.193831           0        0.000  0.000  0.000      89.7 us  85.3 us
regress        -1000200.382      20.663050           0        0.000  0.000  0.000      88.7 us  84.3 us
two-point      -1000201.787      20.357595           0        0.000  0.000  0.000      88.4 us  87.7 us
rate-last                 -              -           -            -      -      -            -        -
rate-last has no answer: rate-last needs exchanges in two windows of 180 s, and all are in one.

Offset: reference - local at the middle of the trace; add it to a local stamp. Rate: of the clock
against the reference. Inversions: messages received before they were sent, by that line; too fast: in
less than their minimum delay; there is from the reference. Delays: medians.
Lines are judged as drawn; sync settles them into the band.
Matched 410 messages.
status 0
$ unskew compare t/messages.csv --method regress,hull --truth t/truth.json | sed -n 1,4p
host1 against host0: 410 messages, 15 on their hulls, half widths 51.0 us to 60.0 us, 56.2 us on average.
method           offset, us  rate - 1, ppm  inversions  too fast, %  there   back  delay there     back  error: start   middle       end      rms
(as recorded)             -              -         202            -      -      -       1.00 s  -1.00 s             -        -         -        -
hull           -1000199.839      20.193831           0        0.000  0.000  0.000      89.7 us  85.3 us       3.05 us  1.11 us   -830 ns  1.58 us
# JSON has every key; a method without an answer its sentence alone.
$ unskew compare t/messages.csv --method hull,rate-last --truth t/truth.json --json | sed 's/"seconds": .*/"seconds": N/'
{
  "pairs": [
    {
      "a": "host0",
      "b": "host1",
      "messages": {
        "a_to_b": 208,
        "b_to_a": 202
      },
      "recorded": {
        "inversions": 202,
        "delay_ns": {
          "a_to_b": {
            "min": "1000056564",
            "median": "1000308176",
            "p99": "1000576464",
            "max": "1000615274"
          },
          "b_to_a": {
            "min": "-1000344009",
            "median": "-1000092908",
            "p99": "-999799533",
            "max": "-999747174"
          }
        },
        "broadcasts": {
          "count": 0,
          "min_ns": null,
          "max_ns": null,
          "mean_ns": null,
          "sd_ns": null
        }
      },
      "hull_points": {
        "a_to_b": 7,
        "b_to_a": 8
      },
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
            "mean_ns": "0",
            "a_to_b": 0,
            "b_to_a": 0
          },
          "delay_ns": {
            "a_to_b": {
              "min": "51662",
              "median": "89716",
              "p99": "274035",
              "max": "323124"
            },
            "b_to_a": {
              "min": "48266",
              "median": "85311",
              "p99": "267582",
              "max": "290809"
            }
          },
          "broadcasts": {
            "count": 0,
            "min_ns": null,
            "max_ns": null,
            "mean_ns": null,
            "sd_ns": null
          },
          "half_width_ns": {
            "best": "50982",
            "worst": "59995",
            "mean": "56143"
          },
          "error_ns": {
            "start": "3047",
            "middle": "1109",
            "end": "-830",
            "rms": "1576"
          },
          "drawn_by": null,
          "seconds": N
        },
        {
          "name": "rate-last",
          "failed": "rate-last needs exchanges in two windows of 180 s, and all are in one"
        }
      ]
    }
  ],
  "all": {
    "methods": [
      {
        "name": "hull",
        "answers": 1,
        "messages": 410,
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
        "broadcasts": {
          "count": 0,
          "min_ns": null,
          "max_ns": null,
          "mean_ns": null,
          "sd_ns": null
        }
      },
      {
        "name": "rate-last",
        "answers": 0,
        "messages": 0,
        "inversions": {
          "recorded": 0,
          "corrected": 0
        },
        "too_fast": {
          "count": 0,
          "percent": 0.0,
          "max_ns": "0",
          "mean_ns": "0"
        },
        "broadcasts": {
          "count": 0,
          "min_ns": null,
          "max_ns": null,
          "mean_ns": null,
          "sd_ns": null
        }
      }
    ],
    "recorded_broadcasts": {
      "count": 0,
      "min_ns": null,
      "max_ns": null,
      "mean_ns": null,
      "sd_ns": null
    },
    "half_width_ns": {
      "best": "50982",
      "worst": "59995",
      "mean": "56143"
    },
    "accuracy_ns": {
      "best": "101964",
      "worst": "119990",
      "mean": "112286"
    }
  }
}
$ unskew compare t/messages.csv --method hull,rate-last --truth t/truth.json --csv
a,b,method,a_ns,b_ns,beta_minus_one,inversions,too_fast,inversions_recorded,too_fast_percent,too_fast_max_ns,too_fast_mean_ns,half_best_ns,half_worst_ns,half_mean_ns,recorded_a_to_b_min_ns,recorded_a_to_b_median_ns,recorded_b_to_a_min_ns,recorded_b_to_a_median_ns,a_to_b_min_ns,a_to_b_median_ns,a_to_b_p99_ns,b_to_a_min_ns,b_to_a_median_ns,b_to_a_p99_ns,broadcasts,broadcast_min_ns,broadcast_max_ns,broadcast_mean_ns,broadcast_sd_ns,error_start_ns,error_middle_ns,error_end_ns,error_rms_ns,too_fast_a_to_b,too_fast_b_to_a,hull_points_a_to_b,hull_points_b_to_a,exchanges,exchanges_kept,margin_ns,residual_ns,slope_error,intercept_error_ns,failed,drawn_by
host0,host1,hull,1700000010046963641,1700000011047163480.259,2.0193831149286702e-05,0,0,202,0,0,0,50982,59995,56143,1000056564,1000308176,-1000344009,-1000092908,51662,89716,274035,48266,85311,267582,0,,,,,3047,1109,-830,1576,0,0,7,8,,,,,,,,
host0,host1,rate-last,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,"rate-last needs exchanges in two windows of 180 s, and all are in one",
$ unskew compare t/messages.csv --method hull --csv | awk -F, '{ print NF }'
46
46
# The truth of others says nothing of these.
$ sed 's/host1/host9/g' t/truth.json >other.json; unskew compare t/messages.csv --method hull --truth other.json | grep -A3 method
method           offset, us  rate - 1, ppm  inversions  too fast, %  there   back  delay there     back  error: start  middle  end  rms
(as recorded)             -              -         202            -      -      -       1.00 s  -1.00 s             -       -    -    -
hull           -1000199.839      20.193831           0        0.000  0.000  0.000      89.7 us  85.3 us             -       -    -    -
Truth: nothing to compare: it does not know host0 or host1.
# A clock that was stepped: no line fits, and what needs none is judged all the same.
$ (echo sender,receiver,sent_ns,received_ns; echo a,b,0,1000; echo b,a,1000000,2000; echo b,a,2000000,1500000; echo a,b,1000000000,1002000000; echo b,a,1100000000,1090000000) >step.csv
$ unskew compare step.csv --method middle,hull,support,regress,least-violation,interval --max-outliers 0
b against a: 5 messages, 4 on their hulls.
method           offset, us  rate - 1, ppm  inversions  too fast, %    there     back  delay there     back
(as recorded)             -              -           3            -        -        -      2.00 ms  -998 us
middle                    -              -           -            -        -        -            -        -
hull              -4999.995    9170.616962           3      100.000  100.000  100.000     -1.00 us  -479 us
support           -3287.357    5119.119274           4       80.000  100.000   66.667      -494 us  -498 us
regress           -3399.675    5523.888898           5      100.000  100.000  100.000      -386 us  -605 us
least-violation   -4999.995    9170.616962           3      100.000  100.000  100.000     -1.00 us  -479 us
interval          -3368.180    5263.641061           4       80.000  100.000   66.667      -496 us  -496 us
middle has no answer: middle needs messages in both directions that some clock fits.
hull: no line fits; this is the one of least violation.

Offset: reference - local at the middle of the trace; add it to a local stamp. Rate: of the clock
against the reference. Inversions: messages received before they were sent, by that line; too fast: in
less than their minimum delay; there is from the reference. Delays: medians.
Lines are judged as drawn; sync settles them into the band.
Matched 5 messages.
Note: 2 messages between a and b contradict each other if the clocks' rates never differ by more than 500 ppm: a clock was set by as much as these messages last, or more often than they tell, its records are in another order than that of time, or two machines go by one name; try a part of the trace with --from and --to, or a larger --max-skew-ppm
? 3
$ unskew compare step.csv --method hull,interval --csv --max-outliers 0
a,b,method,a_ns,b_ns,beta_minus_one,inversions,too_fast,inversions_recorded,too_fast_percent,too_fast_max_ns,too_fast_mean_ns,half_best_ns,half_worst_ns,half_mean_ns,recorded_a_to_b_min_ns,recorded_a_to_b_median_ns,recorded_b_to_a_min_ns,recorded_b_to_a_median_ns,a_to_b_min_ns,a_to_b_median_ns,a_to_b_p99_ns,b_to_a_min_ns,b_to_a_median_ns,b_to_a_p99_ns,broadcasts,broadcast_min_ns,broadcast_max_ns,broadcast_mean_ns,broadcast_sd_ns,error_start_ns,error_middle_ns,error_end_ns,error_rms_ns,too_fast_a_to_b,too_fast_b_to_a,hull_points_a_to_b,hull_points_b_to_a,exchanges,exchanges_kept,margin_ns,residual_ns,slope_error,intercept_error_ns,failed,drawn_by
a,b,hull,545000000,549999995.415,0.0091706169616046929,3,5,3,100,7107447,1715440,,,,1000,2000000,-10000000,-998000,-7107447,-1000,-1000,-986921,-479018,-2000,0,,,,,,,,,2,3,2,2,,,,,,,,least-violation
a,b,interval,545000000,548368179.539,0.0052636410614370199,4,4,3,80,3743433,2119658,,,,1000,2000000,-10000000,-998000,-3743433,-495885,-495885,-3743432,-495884,7352,0,,,,,,,,,2,2,2,2,,,,,,,,
! unskew: note: 2 messages between a and b contradict each other if the clocks' rates never differ by more than 500 ppm: a clock was set by as much as these messages last, or more often than they tell, its records are in another order than that of time, or two machines go by one name; try a part of the trace with --from and --to, or a larger --max-skew-ppm
? 3
# One direction only; a clock that sends to itself; one clock.
$ (echo sender,receiver,sent_ns,received_ns; echo a,b,0,1000; echo a,b,1000000000,1000020000; echo c,c,1,2) >few.csv; unskew compare -q few.csv --method middle,regress --json
{
  "pairs": [
    {
      "a": "a",
      "b": "b",
      "messages": {
        "a_to_b": 2,
        "b_to_a": 0
      },
      "recorded": {
        "inversions": 0,
        "delay_ns": {
          "a_to_b": {
            "min": "1000",
            "median": "20000",
            "p99": "20000",
            "max": "20000"
          },
          "b_to_a": {
            "min": null,
            "median": null,
            "p99": null,
            "max": null
          }
        },
        "broadcasts": {
          "count": 0,
          "min_ns": null,
          "max_ns": null,
          "mean_ns": null,
          "sd_ns": null
        }
      },
      "hull_points": {
        "a_to_b": 2,
        "b_to_a": 0
      },
      "methods": [
        {
          "name": "middle",
          "failed": "middle needs messages in both directions that some clock fits"
        },
        {
          "name": "regress",
          "failed": "least squares need messages in both directions"
        }
      ]
    }
  ],
  "all": {
    "methods": [
      {
        "name": "middle",
        "answers": 0,
        "messages": 0,
        "inversions": {
          "recorded": 0,
          "corrected": 0
        },
        "too_fast": {
          "count": 0,
          "percent": 0.0,
          "max_ns": "0",
          "mean_ns": "0"
        },
        "broadcasts": {
          "count": 0,
          "min_ns": null,
          "max_ns": null,
          "mean_ns": null,
          "sd_ns": null
        }
      },
      {
        "name": "regress",
        "answers": 0,
        "messages": 0,
        "inversions": {
          "recorded": 0,
          "corrected": 0
        },
        "too_fast": {
          "count": 0,
          "percent": 0.0,
          "max_ns": "0",
          "mean_ns": "0"
        },
        "broadcasts": {
          "count": 0,
          "min_ns": null,
          "max_ns": null,
          "mean_ns": null,
          "sd_ns": null
        }
      }
    ],
    "recorded_broadcasts": {
      "count": 0,
      "min_ns": null,
      "max_ns": null,
      "mean_ns": null,
      "sd_ns": null
    },
    "half_width_ns": {
      "best": null,
      "worst": null,
      "mean": null
    },
    "accuracy_ns": {
      "best": null,
      "worst": null,
      "mean": null
    }
  }
}
? 3
$ (echo sender,receiver,sent_ns,received_ns; echo '"a, ""x""",b,0,1000') >odd.csv; unskew compare -q odd.csv --method middle --csv
a,b,method,a_ns,b_ns,beta_minus_one,inversions,too_fast,inversions_recorded,too_fast_percent,too_fast_max_ns,too_fast_mean_ns,half_best_ns,half_worst_ns,half_mean_ns,recorded_a_to_b_min_ns,recorded_a_to_b_median_ns,recorded_b_to_a_min_ns,recorded_b_to_a_median_ns,a_to_b_min_ns,a_to_b_median_ns,a_to_b_p99_ns,b_to_a_min_ns,b_to_a_median_ns,b_to_a_p99_ns,broadcasts,broadcast_min_ns,broadcast_max_ns,broadcast_mean_ns,broadcast_sd_ns,error_start_ns,error_middle_ns,error_end_ns,error_rms_ns,too_fast_a_to_b,too_fast_b_to_a,hull_points_a_to_b,hull_points_b_to_a,exchanges,exchanges_kept,margin_ns,residual_ns,slope_error,intercept_error_ns,failed,drawn_by
"a, ""x""",b,middle,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,middle needs messages in both directions that some clock fits,
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
# What a third clock sent to both at once is no message between them, but judges every line.
$ printf 'sender,receiver,sent_ns,received_ns\na,b,0,1050\nb,a,11000,10060\nx,a,500,5000\nx,b,500,6020\na,b,20000,21040\nb,a,31000,30050\nx,b,700,26000\nx,a,700,25010\n' >heard.csv; unskew compare heard.csv --reference a --method hull --max-skew-ppm 5000 2>&1 | sed -n '1,4p;/^All/,$p'
b against a: 4 messages, 4 on their hulls, 2 common-view broadcasts, half widths 60 ns to 92 ns, 71 ns on average.
method         offset, us  rate - 1, ppm  inversions  too fast, %  there   back  delay there     back  broadcasts
(as recorded)           -              -           2            -      -      -      1.05 us  -940 ns     1.01 us
hull               -0.995    3989.138815           0        0.000  0.000  0.000       114 ns   105 ns        9 ns
All pairs: half widths 60 ns to 92 ns, 71 ns on average.
method  pairs  messages  inversions  too fast, %  by at most  broadcasts
hull        1         4           0        0.000        0 ns        9 ns

Offset: reference - local at the middle of the trace; add it to a local stamp. Rate: of the clock
against the reference. Inversions: messages received before they were sent, by that line; too fast: in
less than their minimum delay; there is from the reference. Delays: medians.
Broadcasts: the clock's stamp less the reference's, on average.
Lines are judged as drawn; sync settles them into the band.
Matched 8 messages.
Note: all messages go from x to a, so the offset is bounded on one side only; record traffic in the other direction, too
Note: all messages go from x to b, so the offset is bounded on one side only; record traffic in the other direction, too
$ unskew compare heard.csv --reference a --method hull --max-skew-ppm 5000 --json -q | grep -A6 broadcasts | head -8
        "broadcasts": {
          "count": 2,
          "min_ns": "990",
          "max_ns": "1020",
          "mean_ns": "1005",
          "sd_ns": "15"
        }
--
$ unskew sync heard.csv --reference a --model linear --max-skew-ppm 5000 | grep -A1 -E '^(One-way|Common-view)'
One-way delays, median (99 %): a -> b 1.05 us as recorded, 57 ns (57 ns) corrected;
  back -940 ns as recorded, 53 ns (53 ns) corrected.
Common-view broadcasts (one packet received by both clocks): 2; the two receipts differ by 1.01 us as recorded on average,
  12 ns (-3 ns to 27 ns) corrected.
$ unskew check heard.csv --reference a | grep Common-view
Common-view broadcasts (one packet received by both clocks): 2; the two receipts differ by 1.01 us as recorded on average.
# Several sets of the same clocks: how far the rates spread.
$ for i in 4 5; do unskew simulate -o set$i --seconds 20 --rate 10 --seed $i --format table -q; done; unskew compare --repeat t set4 set5 --method middle,hull,rate-last --truth truth.json
host1 against host0, 3 sets:
method     answers  rate - 1, ppm  deviation, ppm  range, ppm  inversions  too fast, %  error rms
middle           3      20.062874        0.051181    0.095144           0        0.000     399 ns
hull             3      20.113924        0.346981    0.680020           0        0.000    2.73 us
rate-last        0              -               -           -           -            -          -

Rate, deviation, range: mean and standard deviation of the clock's rate against the reference, and its
largest less its smallest, over the sets that a method has an answer for. Inversions, too fast: over all
messages of these sets.
# Ashton's range is the largest less the smallest rate of the sets, each compared alone.
$ for s in t set4 set5; do unskew compare $s --method hull --json; done | awk '/"beta_minus_one"/ { b = $2 + 0; lo = n && lo < b ? lo : b; hi = n++ && hi > b ? hi : b } END { printf "%.10g\n", hi - lo }'; unskew compare --repeat t set4 set5 --method hull --csv | awk -F, 'NR > 1 { printf "%.10g\n", $NF }'
6.800196132e-07
6.800196132e-07
$ unskew compare --repeat t set4 --method hull,rate-last --json
{
  "sets": 2,
  "repeated": [
    {
      "a": "host0",
      "b": "host1",
      "method": "hull",
      "answers": 2,
      "failures": 0,
      "beta_minus_one": {
        "mean": 2.030390563084191e-5,
        "sd": 1.5566882468656246e-7,
        "range": 2.2014896311041632e-7
      },
      "messages": 807,
      "inversions": {
        "recorded": 399,
        "corrected": 0
      },
      "too_fast": {
        "count": 0,
        "percent": 0.0
      }
    },
    {
      "a": "host0",
      "b": "host1",
      "method": "rate-last",
      "answers": 0,
      "failures": 2,
      "beta_minus_one": {
        "mean": null,
        "sd": null,
        "range": null
      },
      "messages": 0,
      "inversions": {
        "recorded": 0,
        "corrected": 0
      },
      "too_fast": {
        "count": 0,
        "percent": 0.0
      }
    }
  ]
}
$ unskew compare --repeat t t/messages.csv --method hull --csv
a,b,method,answers,failures,beta_minus_one_mean,beta_minus_one_sd,messages,inversions,too_fast,inversions_recorded,too_fast_percent,error_rms_ns,beta_minus_one_range
host0,host1,hull,2,0,2.0193831149286702e-05,0,820,0,0,404,0,,0
$ mkdir none; unskew compare --repeat t none
! unskew: none: is a folder with neither captures nor tables nor a CTF trace in it
? 1
$ unskew compare --repeat t nowhere
! unskew: nowhere: No such file or directory
? 1
# Windows of another length.
$ unskew compare t/messages.csv --method rate-last,min-window,first-offset --window 5s | sed -n '3,/^$/p'
(as recorded)             -              -         202            -      -       -       1.00 s  -1.00 s
min-window     -1000196.603      20.980662           0        0.000  0.000   0.000      93.5 us  79.0 us
first-offset    -999966.046       0.000000         171       41.707  0.000  84.653       342 us  -127 us
rate-last      -1000198.749      19.615454           0        0.000  0.000   0.000      91.0 us  83.8 us

$ unskew sync t/messages.csv --method rate-segments --window 2s -q; unskew sync t/messages.csv --method rate-segments
clock  quality    offset mid-trace (± bound)  drift, ppm    sent  received
host0  reference  0                           0              208       202
host1  bounded    -1.0002012 s ± 54.6 us      20 (9 to 31)   202       208

Matched 410 messages.
Causality violations (received before sent): 202 before correction, 0 after.
Uncertainty over the trace: ±51.0 us to ±60.0 us, ±56.2 us on average.
One-way delays, median (99 %): host0 -> host1 1.00 s as recorded, 87.5 us (274 us) corrected;
  back -1.00 s as recorded, 86.7 us (270 us) corrected.
Note: host0 and host1: rate-segments needs exchanges in two windows of 180 s, and all are in one; --method middle is used instead
Model wander: the rate of each clock is constant within 5 ppm, no two rates differ by more than
500 ppm, no message takes less than its minimum delay (0 ns).
The bounds are valid while these assumptions hold.
$ unskew compare t/messages.csv --window 0s
! unskew: --window: 0s is less than 1us
? 2
# No line fits: hull rows draw the one of least violation, and say so.
$ unskew simulate -q -o bent --seed 777 --format table --seconds 20 --rate 50 --dmin 2us --wander-ppb 0,500 --tail 1us; unskew compare bent/messages.csv --method hull,hull-or-two-point,hull+delta,least-violation | sed '/^$/,$d'; unskew compare bent/messages.csv --method hull,least-violation --json | grep drawn_by; unskew compare bent/messages.csv --method hull,least-violation --csv | awk -F, '{ print $3, $NF }'
host1 against host0: 1,976 messages, 28 on their hulls, half widths 2.08 us to 3.01 us, 2.42 us on average.
method               offset, us  rate - 1, ppm  inversions  too fast, %   there   back  delay there     back
(as recorded)                 -              -         948            -       -      -       1.00 s  -1.00 s
hull               -1000188.628      17.637351         257       13.006  24.611  0.422      2.90 us  2.96 us
hull-or-two-point  -1000188.628      17.637351         257       13.006  24.611  0.422      2.90 us  2.96 us
hull+delta         -1000188.627      17.637351         256       12.955  24.514  0.422      2.90 us  2.96 us
least-violation    -1000188.628      17.637351         257       13.006  24.611  0.422      2.90 us  2.96 us
hull: no line fits; this is the one of least violation.
hull-or-two-point: no line fits; this is the one of least violation.
hull+delta: no line fits; this is the one of least violation.
          "drawn_by": "least-violation",
          "drawn_by": null,
method drawn_by
hull least-violation
least-violation 
$ for model in wander linear; do unskew sync bent/messages.csv --method hull --model $model --truth bent/truth.json | sed -n '/^host1/p;/^Note/p;/^Truth/p'; done
host1  bounded    -1.00018863 s ± 4.70 us     18.1 (13.8 to 22.7)    948     1,028
Note: host0 and host1: no line fits all messages; hull drew the one of least violation
Truth: host1's estimate is off by at most 2.88 us; its band holds the truth throughout.
host1  bounded    -1.00018863 s ± 4.70 us     18.1 (13.8 to 22.7)    948     1,028
Note: host0 and host1: no line fits all messages; hull drew the one of least violation
Note: no clocks of one rate each fit these messages: the line that hull draws is put into the band of --model wander
Truth: host1's estimate is off by at most 2.88 us; its band holds the truth throughout.
$ unskew compare t/messages.csv --method hull,two-point,hull-or-two-point | sed '/^$/,$d'
host1 against host0: 410 messages, 15 on their hulls, half widths 51.0 us to 60.0 us, 56.2 us on average.
method               offset, us  rate - 1, ppm  inversions  too fast, %  there   back  delay there     back
(as recorded)                 -              -         202            -      -      -       1.00 s  -1.00 s
hull               -1000199.839      20.193831           0        0.000  0.000  0.000      89.7 us  85.3 us
two-point          -1000201.787      20.357595           0        0.000  0.000  0.000      88.4 us  87.7 us
hull-or-two-point  -1000199.839      20.193831           0        0.000  0.000  0.000      89.7 us  85.3 us
hull-or-two-point chose hull.

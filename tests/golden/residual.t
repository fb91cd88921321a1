# Clement's Er as weight: a and c are far from each other but evenly so, both near b but not evenly.
$ awk 'function p(x, y, t, d, e) { print x "," y "," t "000," t + d "000"; print y "," x "," t + d + 2 "000," t + d + 2 + e "000" } BEGIN { print "sender,receiver,sent_ns,received_ns"; for (i = 0; i < 60; i++) { t = 1000000 * (i + 1); u = 7 * i % 60; v = 11 * i % 60; p("a", "c", t, 500, 500); p("a", "b", t + 5000, 10 + u, 10 + v); p("b", "c", t + 9000, 10 + v, 10 + u) } }' >t.csv
# By half widths the way from a to c is over b, by Er it is direct; Er along a path is the sum.
$ unskew sync t.csv -r a --method round-trip-90 --weights half-width | grep -A1 Residual
Residual deviation Er along paths: b 13.4 us, c 26.8 us (2 jumps).
Matched 360 messages.
$ unskew sync t.csv -r a --method round-trip-90 | grep Residual
Residual deviation Er along paths: b 13.4 us, c 1 ns.
$ unskew sync t.csv -r a --method round-trip-90 --weights residual --json | grep residual_ns
      "residual_ns": "13384",
      "residual_ns": "1",
      "residual_ns": "13384",
      "residual_ns": "1",
      "residual_ns": "13384",
$ unskew sync t.csv -r a --method round-trip-90 --weights half-width --json | grep -e residual_ns -e '"path"'
      "path": "t.csv",
      "path": ["a"],
      "path": ["a", "b"],
      "residual_ns": "13384",
      "path": ["a", "b", "c"],
      "residual_ns": "26768",
      "residual_ns": "13384",
      "residual_ns": "1",
      "residual_ns": "13384",
$ unskew compare t.csv -r a --method round-trip-90 | grep -e messages, -e through -e '^round-trip-90 .*us .*[0-9]$'
b against a: 120 messages, 8 on their hulls, half widths 12.0 us to 62.8 us, 29.2 us on average.
through exchanges  exchanges  kept  margin E  residual Er  error of rate, ppm  of offset
c against a: 120 messages, 4 on their hulls, half widths 506 us to 507 us, 506 us on average.
through exchanges  exchanges  kept  margin E  residual Er  error of rate, ppm  of offset
c against b: 120 messages, 8 on their hulls, half widths 11.4 us to 62.3 us, 28.7 us on average.
through exchanges  exchanges  kept  margin E  residual Er  error of rate, ppm  of offset
# The reference of nobody's choice.
$ unskew sync t.csv --method round-trip-90 | grep reference
a      reference  0                           0                   120       120
$ unskew sync t.csv --method round-trip-90 --weights half-width | grep reference
b      reference  0                           0                   120       120
# Other methods have no Er.
$ unskew sync t.csv --weights residual
! unskew: weights by residual need a method through round trips, such as round-trip-90
? 2
$ unskew sync t.csv --method hull --json | grep -c residual
0
? 1
$ unskew sync t.csv --weights other
! unskew: --weights: "other" is not known; choose from: half-width, residual
? 2
# In segments, and what is not said of them.
$ unskew compare t.csv -r a --method round-trip-90,round-trip-segments --model segments=20s --csv | cut -d, -f 1-3,37-46
a,b,method,hull_points_a_to_b,hull_points_b_to_a,exchanges,exchanges_kept,margin_ns,residual_ns,slope_error,intercept_error_ns,failed,drawn_by
a,b,round-trip-90,4,4,60,53,40000,13384.07825976104,1.118685376341713e-07,3826.6161369210672,,
a,b,round-trip-segments,4,4,60,55,40000,13673.360052813303,,,,
a,c,round-trip-90,2,2,60,60,500000,0,0,0,,
a,c,round-trip-segments,2,2,60,60,500000,0,,,,
b,c,round-trip-90,3,5,60,53,40000,13384.07825976104,1.118685376341713e-07,3826.6161369210672,,
b,c,round-trip-segments,3,5,60,55,40000,13673.360052813303,,,,

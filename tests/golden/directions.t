# A pair's lines count by the direction that has fewer messages: a hundred more one way, all of them slow, change nothing.
# needs: with-CLP
$ for slow in 0 1; do awk -v slow=$slow 'function at(k, t) { return t * (1 + rate[k]) + off[k] } function say(x, y, t, d) { printf "%s,%s,%.0f,%.0f\n", x, y, at(x, t), at(y, t + d) } BEGIN { off["b"] = 700000; off["c"] = -400000; rate["b"] = 2e-5; rate["c"] = -1e-5; print "sender,receiver,sent_ns,received_ns"; for (i = 0; i < 36; i++) { x = substr("abc", i % 3 + 1, 1); y = substr("bca", i % 3 + 1, 1); t = i * 333333333; say(x, y, t, 20000 + i * 7919 % 50000); say(y, x, t + 100000000, 20000 + i * 6101 % 50000) } for (i = 0; i < 100 * slow; i++) say("a", "b", i * 100000013, 3000000) }' >$slow.csv; unskew sync $slow.csv --model linear --reference a -q -o $slow.json && unskew convert $slow.json --clock c 1000000000 9000000000; done
1000000000	1000415261	1000378197	1000445429
9000000000	9000488292	9000460994	9000515486
1000000000	1000415261	1000378197	1000445429
9000000000	9000488292	9000460994	9000515486

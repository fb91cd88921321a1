#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""exchange.py UNSKEW - `unskew convert --exchange` against exact fractions

Clocks of known rates exchange stamps; what the program says of the other's stamps is held against
Loeser's equations 2 to 4 (2003) in fractions, and against the truth. The program counts the ticks
of the stamps besides, which he leaves out: its precision may be that much wider, never narrower.
"""
import random, subprocess, sys
from fractions import Fraction

SECOND = 10 ** 9


def case(unskew, r):
    """Largest differences of one pair of exchanges: local, precision beyond his, stamps outside."""
    rate, start = Fraction(r.randrange(10 ** 6 - 200, 10 ** 6 + 201), 10 ** 6), r.randrange(10 ** 18)
    allowance = r.choice([0, 1, 3])

    def theirs(ours):
        return start + int(ours * rate)

    exchanges = []
    for at in (SECOND, SECOND + r.randrange(SECOND // 10, 10 * SECOND)):
        took = r.randrange(2, 40000)
        exchanges.append((at, theirs(at + r.randrange(took)), at + took))
    ages = [r.randrange(90 * SECOND) for _ in range(20)]
    moments = [exchanges[1][2] + age for age in ages]
    rows = subprocess.run(
        [unskew, "convert", "--allowance-ppm", str(allowance)] +
        ["--exchange=%d,%d,%d" % e for e in exchanges] + [str(theirs(t)) for t in moments],
        stdout=subprocess.PIPE, text=True, check=True).stdout.splitlines()
    (time_x, remote_x), (time_y, remote_y) = [(Fraction(b + a, 2), m) for b, m, a in exchanges]
    jitter_x, jitter_y = [Fraction(a - b, 2) for b, _, a in exchanges]
    conv = (time_y - time_x) / (remote_y - remote_x)
    drift = (jitter_x + jitter_y) / (time_y - time_x) + Fraction(allowance, 10 ** 6)  # eq. 3
    off = wider = narrower = 0
    outside = 0
    for truth, row in zip(moments, rows):
        remote, local, low, high = map(int, row.split("\t"))
        exact = conv * (remote - remote_y) + time_y  # eq. 2
        precision = (exact - time_y) * drift + jitter_y  # eq. 4
        off = max(off, abs(local - exact))
        wider = max(wider, high - local - precision)
        narrower = max(narrower, precision - (high - local))
        outside += not low <= truth <= high or high - local != local - low
    if len(rows) != len(moments):
        outside += 1
    return off, wider, narrower, outside


def main(unskew):
    r = random.Random(2003)
    seen = [case(unskew, r) for _ in range(50)]
    off, wider, narrower = (float(max(s[i] for s in seen)) for i in range(3))
    outside = sum(s[3] for s in seen)
    print("1,000 stamps: off by %.2f ns at most, precision up to %.0f ns wider than eq. 4 and %.2f "
          "ns narrower; %d outside" % (off, wider, narrower, outside))
    # The ticks of four stamps over 100 ms, carried on for 90 s, are 2 us at most.
    return 0 if off <= 1 and wider < 2500 and narrower <= 0 and not outside else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))

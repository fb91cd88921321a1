#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""one_way.py UNSKEW [--count N] [--seed S] [--jobs J]: clocks that are slewed while messages go one way.

In    nothing: the tables of slewed.py, but one direction of each pair is silent for a fifth to a half of the time
Out   the same as slewed.py
Why   messages of one direction do not contradict each other, so a slew may go on long before and behind what shows it
"""
import sys

sys.dont_write_bytecode = True  # the source tree stays as it is

import slewed
from asked import trials


def judge(unskew, seed):
	return slewed.judge(unskew, seed, one_way=True)


if __name__ == '__main__':
	few = lambda cases, slews, steps, missed, asked, bounded, clocks: cases >= 80 and (
		not slews or 50 * missed > asked or 100 * bounded < 80 * clocks)
	sys.exit(trials(judge, 100, 'slews', 'steps told', 'moments outside of bands', 'moments', 'clocks have a band', 'clocks', wrong=few))

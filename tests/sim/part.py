# SPDX-License-Identifier: MIT
"""part.py - how many of a test's random cases are tried, and which: as tests/part.h says it"""
import os
import re


def part(first, usual):
	"""(first, count) of the cases to try, where `usual` ones from `first` on are."""
	said = os.environ.get('USK_CASES', '')
	share = re.fullmatch(r'/(\d+)(?:\+(\d+))?', said)
	if share:
		return first + usual * int(share[2] or 0), max(1, usual // int(share[1]))
	return first, int(said) if said else usual

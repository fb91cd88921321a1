/* SPDX-License-Identifier: MIT */
/*
 * part.h - how many of a test's random cases are tried, and which
 *
 * In    USK_CASES: a number of cases; /8, an eighth of the usual ones; /8+2, an eighth of as many
 *       that come after twice the usual ones. Not set: the usual ones
 * Why   a case that passed with one compiler seldom fails with another: so .ci/run tries all with
 *       the first, and others, fewer, with each that is slower
 *
 * Cases are numbered from 1; a case is made by its number alone.
 */
#ifndef USK_TESTS_PART_H
#define USK_TESTS_PART_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

uint64_t case_count(uint64_t usual);
/** What is tried thing by thing, without chance, i from 0: i += case_step(), of "/8" 8, of a number of cases 1. */
size_t case_step(void);
/** Is it so few that what takes long and repeats itself is to be done once? */
bool cases_are_few(void);
/** Where limits are of the usual cases alone: of these the first, whatever is asked for. */
uint64_t case_count_at_most(uint64_t usual);
uint64_t case_first(uint64_t usual);
/** One more than the last. */
uint64_t case_end(uint64_t usual);

/** In tests of cmocka: a case names its seed where it fails. */
#define CHECK(cond, c)                                                                             \
	do {                                                                                       \
		if (!(cond)) {                                                                     \
			fail_msg("case of seed %llu: %s", (unsigned long long)(c)->seed, #cond);   \
		}                                                                                  \
	} while (0)

#endif

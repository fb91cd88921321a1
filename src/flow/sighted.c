/* SPDX-License-Identifier: MIT */
/*
 * sighted.c - samples of all captures together, by what they hold
 *
 * In    surveys
 * Out   samples sorted by content, then by party and number
 * Why   to look for every capture's in every other one would take hours where a few hundred meet
 * Not   what is made of packets that several have (pairs.c, met.c)
 */
#include "flow/flow.h"

#include <stdlib.h>

struct usk_sighted *usk_sighted_all(const struct parties *p, uint64_t mask, size_t *n)
{
	size_t all = 0;
	for (size_t i = 0; i < p->n; i++) {
		all += p->party[i].survey.n_samples;
	}
	struct usk_sighted *s = usk_alloc(all + 1, sizeof *s);
	*n = 0;
	for (size_t i = 0; i < p->n; i++) {
		const struct usk_survey *y = &p->party[i].survey;
		for (size_t k = 0; k < y->n_samples; k++) {
			if (usk_sighted_is(&y->sample[k], mask)) {
				s[(*n)++] = (struct usk_sighted){ y->sample[k].key,
								  (uint64_t)i << 32 | k };
			}
		}
	}
	usk_sort_rows(&s->key, *n, sizeof *s / sizeof s->key);
	return s;
}

size_t usk_sighted_run(const struct usk_sighted *s, size_t n, size_t i, bool party)
{
	size_t k = i + 1;
	while (k < n && s[k].key == s[i].key &&
	       (!party || usk_sighted_party(&s[k]) == usk_sighted_party(&s[i]))) {
		k++;
	}
	return k;
}

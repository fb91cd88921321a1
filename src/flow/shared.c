/* SPDX-License-Identifier: MIT */
/*
 * shared.c - captures that saw the same packets
 *
 * In    the surveys of all captures
 * Out   the pairs of captures that have samples in common, and these samples
 * Why   joining every capture's whole sample with every other's would take hours where a few
 *       hundred meet; all samples sorted once tell who shares what
 * Not   where they lie to each other (match/coarse.c)
 */
#include "flow/flow.h"

#include <stdlib.h>

/* Samples that are handed out, counted once for each pair: beyond, all of both surveys are. */
#define MOST ((uint64_t)1 << 25)

struct sighted {
	uint64_t key, sample; /* the number of its party before its own */
};

static uint32_t party_of(const struct sighted *s)
{
	return (uint32_t)(s->sample >> 32);
}

static struct sighted *all_sighted(const struct parties *p, size_t *n)
{
	*n = 0;
	for (size_t i = 0; i < p->n; i++) {
		*n += p->party[i].survey.n_samples;
	}
	struct sighted *s = usk_alloc(*n + 1, sizeof *s);
	*n = 0;
	for (size_t i = 0; i < p->n; i++) {
		const struct usk_survey *y = &p->party[i].survey;
		for (size_t k = 0; k < y->n_samples; k++) {
			s[(*n)++] = (struct sighted){ y->sample[k].key, (uint64_t)i << 32 | k };
		}
	}
	usk_sort_rows(&s->key, *n, sizeof *s / sizeof s->key);
	return s;
}

/* The end of the run of the same key, and party if that counts, which begins at i. */
static size_t run(const struct sighted *s, size_t n, size_t i, bool party)
{
	size_t k = i + 1;
	while (k < n && s[k].key == s[i].key && (!party || party_of(&s[k]) == party_of(&s[i]))) {
		k++;
	}
	return k;
}

enum pass { FIND_PAIRS, COUNT_SAMPLES, TAKE_SAMPLES };

static void take(struct shared *h, bool of_a, const struct sighted *s, size_t n, enum pass pass)
{
	uint32_t *list = of_a ? h->of_a : h->of_b;
	size_t *have = of_a ? &h->n_a : &h->n_b;
	for (size_t i = 0; i < n && pass == TAKE_SAMPLES; i++) {
		list[*have + i] = (uint32_t)s[i].sample;
	}
	*have += n;
}

static void sort_samples(uint32_t *list, size_t n)
{
	uint64_t *wide = usk_grow(NULL, n + 1, sizeof *wide);
	for (size_t i = 0; i < n; i++) {
		wide[i] = list[i];
	}
	usk_sort_rows(wide, n, 1);
	for (size_t i = 0; i < n; i++) {
		list[i] = (uint32_t)wide[i];
	}
	free(wide);
}

/* One capture's sightings of one key. */
static void note_passing(struct parties *p, const struct sighted *s, size_t n)
{
	enum { ENOUGH = 8 };
	uint32_t sample[ENOUGH];
	if (n == 1) {
		p->party[party_of(s)].survey.passing.once++;
		return;
	}
	for (size_t i = 0; i < n && i < ENOUGH; i++) {
		sample[i] = (uint32_t)s[i].sample;
	}
	usk_survey_passing(&p->party[party_of(s)].survey, sample, n < ENOUGH ? n : ENOUGH);
}

static void go_through(struct parties *p, const struct sighted *s, size_t n, struct shared *out,
		       enum pass pass)
{
	for (size_t i = 0, end; i < n; i = end) {
		end = run(s, n, i, false);
		for (size_t x = i, x_end; x < end; x = x_end) {
			x_end = run(s, n, x, true);
			if (pass == FIND_PAIRS) {
				note_passing(p, s + x, x_end - x);
			}
			for (size_t y = x_end, y_end; y < end; y = y_end) {
				y_end = run(s, n, y, true);
				uint32_t k = usk_pair_number(p, party_of(&s[x]), party_of(&s[y]));
				if (pass != FIND_PAIRS) {
					bool first = p->pair[k].a == party_of(&s[x]);
					take(&out[k], first, s + x, x_end - x, pass);
					take(&out[k], !first, s + y, y_end - y, pass);
				}
			}
		}
	}
}

struct shared *usk_captures_share(struct parties *p)
{
	size_t n;
	uint64_t all = 0;
	struct sighted *s = all_sighted(p, &n);
	go_through(p, s, n, NULL, FIND_PAIRS);
	struct shared *out = usk_alloc(p->n_pairs + 1, sizeof *out);
	go_through(p, s, n, out, COUNT_SAMPLES);
	for (size_t i = 0; i < p->n_pairs; i++) {
		all += out[i].n_a + out[i].n_b;
	}
	for (size_t i = 0; i < p->n_pairs && all <= MOST; i++) {
		out[i].of_a = usk_alloc(out[i].n_a + 1, sizeof *out->of_a);
		out[i].of_b = usk_alloc(out[i].n_b + 1, sizeof *out->of_b);
		out[i].n_a = out[i].n_b = 0;
	}
	if (all <= MOST) {
		go_through(p, s, n, out, TAKE_SAMPLES);
	}
	for (size_t i = 0; i < p->n_pairs && all <= MOST; i++) {
		sort_samples(out[i].of_a, out[i].n_a);
		sort_samples(out[i].of_b, out[i].n_b);
	}
	free(s);
	return out;
}

void usk_shared_free(struct shared *s, size_t n)
{
	for (size_t i = 0; s && i < n; i++) {
		free(s[i].of_a);
		free(s[i].of_b);
	}
	free(s);
}

/* SPDX-License-Identifier: MIT */
/*
 * met.c - packets that clocks share with other clocks' files
 *
 * In    samples of captures (match/survey.c)
 * Out   of each packet that a clock and another one saw once, when both did, and in which file
 * Why   what passes one machine in an order that is known tells the order of another one's files and stamps
 * Not   what that is (arrange.c, falls.c)
 *
 * Of a clock's many samples some thousands do, and of a packet that many clocks saw a few of these.
 */
#include "flow/met.h"

#include <stdlib.h>
#include <string.h>

/* ENOUGH: of a clock's samples; ALL: of those of all. */
enum { OTHERS = 4, ENOUGH = 1 << 13, ALL = 1 << 20 };

static const struct usk_sample *sample_of(const struct parties *p, uint64_t which)
{
	return &p->party[which >> 32].survey.sample[which & UINT32_MAX];
}

uint64_t usk_met_mask(const struct parties *p)
{
	size_t most = 0, all = 0;
	uint64_t mask = 0;
	for (size_t i = 0; i < p->n; i++) {
		size_t samples = p->party[i].survey.n_sampled;
		most = samples > most ? samples : most;
		all += samples;
	}
	while (most / (mask + 1) > ENOUGH || all / (mask + 1) > ALL) {
		mask = mask * 2 + 1;
	}
	return mask;
}

/* A conversation, whichever of its ends sends. */
static uint32_t with_of(const struct usk_ends *way, bool *back)
{
	uint64_t src = usk_fold(way->src.hi, way->src.lo), dst = usk_fold(way->dst.hi, way->dst.lo);
	*back = src > dst;
	return (uint32_t)(*back ? usk_fold(dst, src) : usk_fold(src, dst));
}

static struct met met_of(const struct parties *p, uint64_t mine, uint64_t other, bool run_on)
{
	const struct usk_sample *x = sample_of(p, mine), *y = sample_of(p, other);
	const struct usk_epochs *e = &p->party[mine >> 32].survey.epochs;
	const struct usk_epochs *f = &p->party[other >> 32].survey.epochs;
	bool back;
	const uint32_t with = with_of(&p->party[mine >> 32].survey.way[x->way], &back);
	return (struct met){
		.clock = (uint32_t)(mine >> 32),
		.other = (other >> 32) << 16 | y->part,
		.order = y->record,
		.record = x->record,
		.way = x->way,
		.at_ns = y->time_ns,
		.seen = { .part = x->part,
			  .with = with,
			  .back = back,
			  .p_ns = e->n && !run_on ? usk_epoch_recorded(e, x->time_ns) : x->time_ns,
			  .q_ns = f->n ? usk_epoch_recorded(f, y->time_ns) : y->time_ns },
	};
}

/* Of the sightings of one packet those of clocks that saw it once. */
static size_t only_ones(const struct usk_sighted *s, size_t n, uint64_t *out, size_t cap)
{
	size_t kept = 0;
	for (size_t i = 0, k; i < n && kept < cap; i = k) {
		k = usk_sighted_run(s, n, i, true);
		if (k == i + 1) {
			out[kept++] = s[i].sample;
		}
	}
	return kept;
}

struct met *usk_met_all(const struct parties *p, const bool *those, bool run_on, size_t *n)
{
	size_t n_sighted, cap = 0;
	struct usk_sighted *s = usk_sighted_all(p, usk_met_mask(p), &n_sighted);
	struct met *met = NULL;
	*n = 0;
	for (size_t i = 0, k; i < n_sighted; i = k) {
		uint64_t one[OTHERS];
		k = usk_sighted_run(s, n_sighted, i, false);
		size_t n_ones = only_ones(s + i, k - i, one, OTHERS);
		for (size_t a = 0; a < n_ones; a++) {
			for (size_t b = 0; b < n_ones && those[one[a] >> 32]; b++) {
				if (a != b) {
					*USK_ADD(met, *n, cap) = met_of(p, one[a], one[b], run_on);
				}
			}
		}
	}
	free(s);
	usk_sort(met, *n, sizeof *met, KEYS(BY(met, clock), BY(met, other), BY(met, order)));
	return met;
}

size_t usk_met_group(const struct met *m, size_t n, bool whole)
{
	const unsigned part = whole ? 16 : 0;
	size_t k = 1;
	while (k < n && m[k].other >> part == m->other >> part) {
		k++;
	}
	return k;
}

size_t usk_met_order(const struct met *m, size_t n, bool whole, struct usk_seen *out, int64_t *ways)
{
	struct met *copy = usk_alloc(n + 1, sizeof *copy);
	memcpy(copy, m, n * sizeof *copy);
	if (whole) {
		usk_sort(copy, n, sizeof *copy, KEYS(BY(met, at_ns), BY(met, order)));
	} else {
		usk_sort(copy, n, sizeof *copy, KEYS(BY(met, order)));
	}
	for (size_t i = 0; i < n; i++) {
		out[i] = copy[i].seen;
	}
	free(copy);
	return usk_seen_agreeing(out, n, ways);
}

/* SPDX-License-Identifier: MIT */
/*
 * met.c - packets that clocks of several files share with other clocks' files
 *
 * In    samples of captures (match/survey.c)
 * Out   of each packet that a clock and another one saw once, when both did, and in which file
 * Why   what passes one machine in an order that is known tells the order of another one's files
 * Not   what that is (arrange.c)
 *
 * Of a clock's many samples some thousands do, and of a packet that many clocks saw a few of these.
 */
#include "flow/met.h"

#include <stdlib.h>

enum { OTHERS = 4, ENOUGH = 1 << 13 };

static const struct usk_sample *sample_of(const struct parties *p, uint64_t which)
{
	return &p->party[which >> 32].survey.sample[which & UINT32_MAX];
}

static bool is_joined(const struct parties *p, uint64_t which)
{
	return p->party[which >> 32].survey.n_parts > 1;
}

/* Of many samples those of some contents, the same of all clocks. */
static struct usk_sighted *some_sighted(const struct parties *p, size_t *n)
{
	size_t most = 0;
	uint64_t mask = 0;
	for (size_t i = 0; i < p->n; i++) {
		size_t samples = p->party[i].survey.n_samples;
		most = samples > most ? samples : most;
	}
	while (most / (mask + 1) > ENOUGH) {
		mask = mask * 2 + 1;
	}
	return usk_sighted_all(p, mask, n);
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

struct met *usk_met_all(const struct parties *p, bool run_on, size_t *n)
{
	size_t n_sighted, cap = 0;
	struct usk_sighted *s = some_sighted(p, &n_sighted);
	struct met *met = NULL;
	*n = 0;
	for (size_t i = 0, k; i < n_sighted; i = k) {
		uint64_t one[OTHERS];
		k = usk_sighted_run(s, n_sighted, i, false);
		size_t n_ones = only_ones(s + i, k - i, one, OTHERS);
		for (size_t a = 0; a < n_ones; a++) {
			for (size_t b = 0; b < n_ones && is_joined(p, one[a]); b++) {
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

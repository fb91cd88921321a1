/* SPDX-License-Identifier: MIT */
/*
 * shared.c - packets of which two surveys have samples
 *
 * In    two surveys
 * Out   sightings, and the coarse map that they make; on which ways IP-IDs are kept
 * Why   samples are taken by content alone, so that both captures have the same ones
 * Not   the map (coarse.c)
 */
#include "match/match.h"

#include <stdlib.h>
#include <string.h>

/* A sample by what it is known by: its content, and its IP-ID if that counts. */
struct known {
	uint64_t by, number;
};

static struct known *all_known(const struct usk_survey *s, bool ids)
{
	struct known *k = usk_alloc(s->n_samples + 1, sizeof *k);
	for (size_t i = 0; i < s->n_samples; i++) {
		const struct usk_sample *x = &s->sample[i];
		k[i].by = ids && x->has & USK_HAS_IP_ID ? usk_fold(x->key, x->ip_id) | 1 : x->key;
		k[i].number = i;
	}
	usk_sort_rows(&k->by, s->n_samples, sizeof *k / sizeof k->by);
	return k;
}

/* How many are known by the same, from i on. */
static size_t alike(const struct known *k, size_t n, size_t i)
{
	size_t end = i + 1;
	while (end < n && k[end].by == k[i].by) {
		end++;
	}
	return end - i;
}

/*
 * How long one packet was seen in a capture, in units of USK_SPAN_NS; -1: these are several. A host
 * that forwards sees each packet on every interface it passes: within this time it is the same one,
 * and its first sighting stands.
 */
static int span_of(const struct usk_survey *s, const struct known *k, size_t n)
{
	usk_i128 later = 0;
	for (size_t i = 1; i < n; i++) {
		later = (usk_i128)s->sample[k[i].number].time_ns - s->sample[k->number].time_ns;
		if (later < 0 || later > USK_FORWARDED_NS) {
			return -1;
		}
	}
	return (int)((later + USK_SPAN_NS - 1) / USK_SPAN_NS);
}

/* One that both captures have, by its place in the second. */
struct joined {
	uint64_t number;
	struct usk_sighting seen;
};

_Static_assert(sizeof(struct joined) % sizeof(uint64_t) == 0, "rows of whole words are sorted");

/* left, if not NULL: counts the first one's samples that the second has in any number, by way, of
 * those that have IP-IDs. */
static struct usk_sighting *join(const struct usk_survey *p, const struct usk_survey *q, bool ids,
				 size_t *left, size_t *n)
{
	struct known *a = all_known(p, ids), *b = all_known(q, ids);
	struct joined *found = NULL;
	size_t cap = 0, of_a = 0, of_b = 0;
	*n = 0;
	for (size_t i = 0, k = 0; i < p->n_samples && k < q->n_samples; i += of_a, k += of_b) {
		of_a = a[i].by <= b[k].by ? alike(a, p->n_samples, i) : 0;
		of_b = b[k].by <= a[i].by ? alike(b, q->n_samples, k) : 0;
		if (!of_a || !of_b) {
			continue;
		}
		for (size_t m = i; m < i + of_a && left; m++) {
			const struct usk_sample *x = &p->sample[a[m].number];
			left[x->way] += !!(x->has & USK_HAS_IP_ID);
		}
		int span_a = span_of(p, a + i, of_a), span_b = span_of(q, b + k, of_b);
		const struct usk_sample *x = &p->sample[a[i].number];
		const struct usk_sample *y = &q->sample[b[k].number];
		if (span_a >= 0 && span_b >= 0) {
			*USK_ADD(found, *n, cap) =
				(struct joined){ b[k].number,
						 { .p_ns = x->time_ns,
						   .q_ns = y->time_ns,
						   .way = x->way,
						   .other = x->ip_id != y->ip_id,
						   .ttl_p = x->ttl,
						   .ttl_q = y->ttl,
						   .span = (unsigned)(span_a + span_b) & 0x7fff } };
		}
	}
	if (*n) {
		usk_sort_rows(&found->number, *n, sizeof *found / sizeof found->number);
	}
	struct usk_sighting *s = usk_alloc(*n + 1, sizeof *s);
	for (size_t i = 0; i < *n; i++) {
		s[i] = found[i].seen;
	}
	USK_FREE(found, a, b);
	return s;
}

/* Does something on a way write IP-IDs anew? NAT does so in one direction, too, and most of that
 * one's then differ; else only wrong joins do. */
static bool rewritten(const struct usk_sighting *s, size_t n, size_t n_ways)
{
	enum { FEWEST = 2, SHARE = 8 };
	struct votes {
		size_t all, other;
	} *vote = usk_alloc(n_ways + 1, sizeof *vote);
	bool found = false;
	for (size_t i = 0; i < n; i++) {
		struct votes *v = &vote[s[i].way];
		v->all++;
		v->other += s[i].other;
	}
	for (size_t i = 0; i < n_ways; i++) {
		const struct votes *v = &vote[i];
		found |= v->other >= FEWEST && v->other * 2 > v->all && v->all * SHARE >= n;
	}
	free(vote);
	return found;
}

/* Ways of which no content shows that IP-IDs are kept, as all are repeated, and few of the packets
 * have joins: these may be chance. left: packets that both captures have. */
static bool *doubtful_ways(size_t *left, size_t n_ways, const struct usk_sighting *unique, size_t n,
			   const struct usk_sighting *s, size_t n_ids)
{
	enum { SHARE = 4 };
	bool *doubtful = usk_alloc(n_ways + 1, sizeof *doubtful);
	for (size_t i = 0; i < n_ids; i++) {
		size_t *more = &left[s[i].way];
		*more -= *more > SHARE ? SHARE : *more;
	}
	for (size_t i = 0; i < n_ways; i++) {
		doubtful[i] = left[i] > 0;
	}
	for (size_t i = 0; i < n; i++) {
		doubtful[unique[i].way] &= unique[i].other;
	}
	return doubtful;
}

/* The samples that both have by content, and by content and IP-ID. */
struct joins {
	const struct usk_survey *p, *q;
	struct usk_sighting *seen[2];
	size_t n[2], *left;
};

static void join_some(void *ctx, size_t from, size_t to)
{
	struct joins *x = ctx;
	for (size_t ids = from; ids < to; ids++) {
		x->seen[ids] = join(x->p, x->q, ids, ids ? NULL : x->left, &x->n[ids]);
	}
}

void usk_coarse_join(const struct usk_survey *p, const struct usk_survey *q, struct usk_coarse *out)
{
	/* IP-IDs tell equal contents apart, unless something on the way writes them anew: then
	 * hardly any join is left, or none of one direction. */
	struct joins x = { .p = p, .q = q, .left = usk_alloc(p->n_ways + 1, sizeof *x.left) };
	usk_parallel(2, 1, 0, join_some, &x);
	bool kept = x.n[1] && x.n[1] >= x.n[0] / 2 && !rewritten(x.seen[0], x.n[0], p->n_ways);
	bool *doubtful =
		kept ? doubtful_ways(x.left, p->n_ways, x.seen[0], x.n[0], x.seen[1], x.n[1])
		     : NULL;
	USK_FREE(x.left, x.seen[!kept]);
	usk_coarse_fit(x.seen[kept], x.n[kept], out);
	out->astray = usk_sightings_astray(x.seen[kept], x.n[kept], p->way);
	out->seen = x.seen[kept];
	out->ip_id_kept = kept;
	out->doubtful = doubtful;
}

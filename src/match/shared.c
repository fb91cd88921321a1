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

/* ---- clocks that are of two times at once ------------------------------------------------------ */

/* A join by what one clock shows, and by how much the other one shows more. */
struct shown {
	int64_t ns, off_ns;
	uint64_t talk;	/* the same for both directions of a conversation */
	uint64_t run;	/* of joins that follow each other and agree */
	bool back, few; /* few: in its run */
};

/* How many of s[n] have another one of the other direction of their conversation. */
static size_t answered(struct shown *s, size_t n)
{
	size_t all = 0;
	usk_sort(s, n, sizeof *s, KEYS(BY(shown, talk)));
	for (size_t i = 0, k; i < n; i = k) {
		size_t side[2] = { 0, 0 };
		for (k = i; k < n && s[k].talk == s[i].talk; k++) {
			side[s[k].back]++;
		}
		all += side[0] < side[1] ? side[0] : side[1];
	}
	return all;
}

static bool apart(const struct shown *a, const struct shown *b, int64_t by)
{
	usk_i128 d = (usk_i128)a->off_ns - b->off_ns;
	return d > by || -d > by;
}

static size_t number_runs(struct shown *s, size_t n)
{
	enum { RUN = 4 };
	size_t few = 0;
	usk_sort(s, n, sizeof *s, KEYS(BY(shown, ns)));
	for (size_t i = 0, k, runs = 0; i < n; i = k, runs++) {
		for (k = i + 1; k < n && !apart(&s[k - 1], &s[k], USK_COARSE_FOLLOWS_NS); k++) {
		}
		for (size_t m = i; m < k; m++) {
			s[m].run = runs;
			s[m].few = k - i < RUN;
			few += s[m].few;
		}
	}
	return few;
}

/* s[n] agree. Those that are few between others; all but the most in a row, if they are so again and again. */
static size_t between(struct shown *s, size_t n)
{
	enum { OFTEN = 3 };
	size_t runs = 0, few = 0, longest = 0;
	uint64_t main_run = 0;
	usk_sort(s, n, sizeof *s, KEYS(BY(shown, run)));
	for (size_t i = 0, k; i < n; i = k, runs++) {
		for (k = i + 1; k < n && s[k].run == s[i].run; k++) {
		}
		if (k - i > longest) {
			longest = k - i;
			main_run = s[i].run;
		}
	}
	for (size_t i = 0; i < n; i++) {
		if (s[i].few || (runs >= OFTEN && s[i].run != main_run)) {
			s[few++] = s[i];
		}
	}
	return few;
}

/*
 * In the order of a clock's stamps the other one goes on from packet to packet, but where one of them was set: then
 * some follow each other, and hardly come back to where others were. Of few between others some may look alike and be
 * others, anywhere, or were under way for long, or when a clock was set: these are of one direction.
 */
static size_t between_others(struct shown *s, size_t n)
{
	enum { ENOUGH = 2, NEAR = 4, SHARE = 4 };
	size_t few = number_runs(s, n), most = 0, largest = 0;
	usk_sort(s, n, sizeof *s, KEYS(BY(shown, off_ns)));
	for (int pass = 0; pass < 2; pass++) {
		for (size_t i = 0, k; i < n; i = k) {
			for (k = i + 1;
			     k < n && !apart(&s[k - 1], &s[k], USK_COARSE_FOLLOWS_NS / NEAR); k++) {
			}
			if (!pass) {
				largest = k - i > largest ? k - i : largest;
			} else if (k - i < largest) {
				size_t m = between(s + i, k - i);
				bool many = m * SHARE >= few && answered(s + i, m) >= ENOUGH;
				most = many && m > most ? m : most;
			}
		}
	}
	return most;
}

size_t usk_sightings_astray(const struct usk_sighting *s, size_t n, const struct usk_ends *way)
{
	size_t most = 0;
	usk_i128 least_off = INT64_MAX, most_off = INT64_MIN;
	for (size_t i = 0; i < n; i++) {
		const usk_i128 off = (usk_i128)s[i].p_ns - s[i].q_ns;
		least_off = off < least_off ? off : least_off;
		most_off = off > most_off ? off : most_off;
	}
	if (most_off - least_off <= USK_COARSE_FOLLOWS_NS) {
		return 0;
	}
	struct shown *by = usk_alloc(n + 1, sizeof *by);
	for (int q = 0; q < 2 && !most; q++) {
		for (size_t i = 0; i < n; i++) {
			const struct usk_ends *e = way ? &way[s[i].way] : NULL;
			const uint64_t src = e ? usk_fold(e->src.hi, e->src.lo) : s[i].ttl_p;
			const uint64_t dst = e ? usk_fold(e->dst.hi, e->dst.lo) : !s[i].ttl_p;
			by[i] = (struct shown){ .ns = q ? s[i].q_ns : s[i].p_ns,
						.off_ns = usk_saturate((usk_i128)s[i].p_ns -
								       s[i].q_ns),
						.talk = src + dst,
						.back = src < dst };
		}
		most = between_others(by, n);
	}
	free(by);
	return most;
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

/* SPDX-License-Identifier: MIT */
#include "courses.h"

#include <stdlib.h>

int64_t among(struct usk_rng *r, int64_t from, int64_t to)
{
	return from + (int64_t)usk_rng_below(r, (uint64_t)(to - from) + 1);
}

struct usk_course_point course_point(struct course *k, int64_t x)
{
	const int64_t wide = 1 + (int64_t)(k->seed % 12);
	return (struct usk_course_point){ .x = x,
					  .y = among(&k->r, -wide, wide),
					  .ceiling = usk_rng_below(&k->r, 2) };
}

void course_begin(struct course *k, uint64_t seed)
{
	*k = (struct course){ .seed = seed };
	usk_rng_seed(&k->r, seed);
	const int64_t slow = among(&k->r, -4, 2), fast = slow + among(&k->r, 0, 4);
	k->c = (struct usk_slope_range){ slow * USK_E12 / 4, fast * USK_E12 / 4 };
	k->part = (struct usk_part){ .frame = { .local_ns = 1000, .offset_ns = -300 },
				     .q_ns = { among(&k->r, 0, 2), among(&k->r, 0, 2) },
				     .spread_ns = among(&k->r, 0, 3) };
	k->w = (struct usk_course){ .part = &k->part,
				    .p = k->p,
				    .n = (size_t)among(&k->r, 1, MOST),
				    .skew_e12 = 2 * USK_E12,
				    .cone = k->c };
	int64_t x = 0;
	for (size_t i = 0; i < k->w.n; i++) {
		k->p[i] = course_point(k, x);
		k->p[i].fresh = i && seed % 2 && !usk_rng_below(&k->r, 5);
		x += among(&k->r, 0, 3);
	}
	k->w.happened = k->happened;
	for (k->w.n_happened = usk_rng_below(&k->r, 3), x = 0; x < (int64_t)k->w.n_happened; x++) {
		const int64_t from = among(&k->r, 0, 3 * MOST);
		k->happened[x] = (struct usk_between){ from, from + among(&k->r, 1, 3) };
	}
	k->outlook = usk_course_outlook(&k->w, k->c);
	k->stamps = usk_course_stamps(&k->w);
}

void course_end(struct course *k)
{
	usk_course_outlook_free(k->outlook);
	usk_course_stamps_free(k->stamps);
}

int64_t offset(const struct usk_course_point *p)
{
	return p->ceiling ? -p->y : p->y;
}

int64_t a_stamp(const struct usk_part *part, const struct usk_course_point *p)
{
	const int64_t zero = part->frame.local_ns + part->frame.offset_ns;
	return zero + p->x + offset(p) - (p->ceiling ? part->q_ns[1] : 0);
}

/* Is no slope possible between a floor and a ceiling? */
static bool contradict(struct usk_slope_range c, const struct usk_course_point *first,
		       const struct usk_course_point *second)
{
	const usk_i128 d = second->x - first->x, up = (usk_i128)offset(second) - offset(first);
	return first->ceiling != second->ceiling &&
	       (second->ceiling ? up * USK_E12 < d * c.slow_e12 : up * USK_E12 > d * c.fast_e12);
}

bool against(struct usk_slope_range c, const struct usk_course_point *p,
	     const struct usk_course_point *q, bool behind)
{
	return behind ? contradict(c, p, q) : contradict(c, q, p);
}

bool is_fresh(const struct usk_course_point *p, size_t n, size_t i, bool behind)
{
	return behind ? p[i].fresh : i + 1 < n && p[i + 1].fresh;
}

struct usk_offsets course_look(struct usk_slope_range c, const struct usk_course_point *p, size_t n,
			       const struct usk_course_point *q, size_t next, bool behind)
{
	struct usk_offsets v = { .has = { !q->ceiling, q->ceiling },
				 .lo = usk_e12(offset(q)),
				 .hi = usk_e12(offset(q)) };
	for (size_t i = behind ? next : next - 1; i < n && !is_fresh(p, n, i, behind);
	     i += behind ? 1 : (size_t)-1) {
		const usk_i128 d = (usk_i128)q->x - p[i].x, y = usk_e12(offset(&p[i]));
		struct usk_offsets x = v;
		if (p[i].ceiling) {
			const usk_i128 hi = y + d * (behind ? c.slow_e12 : c.fast_e12);
			x.hi = !x.has[1] || hi < x.hi ? hi : x.hi;
			x.has[1] = true;
		} else {
			const usk_i128 lo = y + d * (behind ? c.fast_e12 : c.slow_e12);
			x.lo = !x.has[0] || lo > x.lo ? lo : x.lo;
			x.has[0] = true;
		}
		if (x.has[0] && x.has[1] && x.lo > x.hi) {
			break;
		}
		v = x;
	}
	return v;
}

bool offsets_alike(struct usk_offsets a, struct usk_offsets b)
{
	return a.has[0] == b.has[0] && a.has[1] == b.has[1] && (!a.has[0] || a.lo == b.lo) &&
	       (!a.has[1] || a.hi == b.hi);
}

/* The nearest point from i on, behind or before, that is a ceiling and, of a, no later or no earlier than a stamp; n: none. */
static size_t next_point(const struct usk_part *part, const struct usk_course_point *p, size_t n,
			 size_t i, bool behind, bool ceiling, int64_t limit)
{
	for (; i < n; i += behind ? 1 : (size_t)-1) {
		const int64_t a = a_stamp(part, &p[i]);
		if (p[i].ceiling == ceiling && (behind ? a >= limit : a <= limit)) {
			return i;
		}
	}
	return n;
}

struct usk_bracket bracket(const struct usk_part *part, const struct usk_course_point *p, size_t n,
			   const struct usk_span *s)
{
	const int64_t first = a_stamp(part, &p[s->from]), last = a_stamp(part, &p[s->to]);
	const size_t from = next_point(part, p, n, s->from, false, true, first);
	const size_t to = next_point(part, p, n, s->to, true, false, last);
	const size_t sent = next_point(part, p, n, s->from, false, false, INT64_MAX);
	const size_t received = next_point(part, p, n, s->to, true, true, INT64_MIN);
	struct usk_bracket b = {
		.b0_ns = from < n ? part->frame.local_ns + p[from].x : INT64_MIN,
		.b1_ns = to < n ? part->frame.local_ns + p[to].x : INT64_MAX,
		.from_ns = part->frame.local_ns + p[s->from].x,
		.to_ns = part->frame.local_ns + p[s->to].x,
		.a0_ns = sent < n ? a_stamp(part, &p[sent]) : INT64_MIN,
		.a1_ns = received < n ? a_stamp(part, &p[received]) : INT64_MAX,
		.rises = s->rises,
		.falls = last < first,
	};
	for (size_t i = 0; i < n; i++) {
		const int64_t a = a_stamp(part, &p[i]);
		if ((from == n || i + 1 >= from) && (to == n || i <= to + 1)) {
			b.a0_ns = a < b.a0_ns ? a : b.a0_ns;
			b.a1_ns = a > b.a1_ns ? a : b.a1_ns;
		}
	}
	return b;
}

bool same_bracket(const struct usk_bracket *a, const struct usk_bracket *b)
{
	return a->b0_ns == b->b0_ns && a->b1_ns == b->b1_ns && a->a0_ns == b->a0_ns &&
	       a->a1_ns == b->a1_ns && a->from_ns == b->from_ns && a->to_ns == b->to_ns &&
	       a->rises == b->rises && a->falls == b->falls && a->doubted == b->doubted &&
	       a->both == b->both && a->open == b->open && a->least_ns == b->least_ns &&
	       a->most_ns == b->most_ns && a->step == b->step;
}

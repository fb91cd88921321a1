/* SPDX-License-Identifier: MIT */
/*
 * corridor.c - what the messages of a pair leave free for the offset, in little memory
 *
 * In    messages of a pair, in any order, a batch at a time
 * Out   per direction the hull, the points that are undominated in their second, count and sum
 * Why   a trace of any length leaves a few points a second
 * Not   which lines fit (lines.c), how stamps are rounded (there too)
 *
 * Points wait in a block, so that late ones are sorted with their neighbours; blocks grow with the
 * number of messages, as there may be thousands of corridors. A block is thinned by itself and its
 * survivors are put behind what there is. Where they come late, the end that
 * they overlap is merged again; where that end is long, they wait until there are enough of them
 * to pay for it. Hull of hulls and undominated of undominated are those of the union, so none of
 * this shows in the result.
 */
#include "fit/fit.h"
#include "fit/cone.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LEAST_BLOCK = 64, BLOCK = 4096 };

enum rule { HULL, CONE, EITHER_SIDE };

/* Points that survived a rule, sorted by x, and late survivors of single blocks, unsorted. */
struct set {
	enum rule rule;
	struct usk_xy *p, *late;
	size_t n, cap, n_late, cap_late;
};

/* x from start on, up to before end. */
struct window {
	int64_t start, end;
};

struct side {
	struct usk_xy *block;
	size_t n_block, cap_block;
	uint64_t count; /* without the block */
	usk_i128 sum;
	struct set hull, kept;
	struct usk_cone cone;
	const struct window *fine; /* whole windows that are thinned by parts, in order */
	size_t n_fine;
	struct usk_point *out[2]; /* kept, hull */
};

struct usk_corridor {
	struct usk_frame frame;
	struct side side[2];
	struct window *fine;
	struct range {
		double least, most;
	} level[2]; /* offsets less what the coarse rate makes of them, by direction */
};

enum { PARTS = 1000 };

/* The fine window that x is in; NULL: none. */
static const struct window *fine_at(const struct side *s, int64_t x)
{
	size_t i;
	USK_FIRST(i, 0, s->n_fine, s->fine[i].end > x);
	return i < s->n_fine && s->fine[i].start <= x ? &s->fine[i] : NULL;
}

/* In which points are thinned, around x. */
static struct window window_of(const struct side *s, int64_t x)
{
	struct window w = { usk_cone_second(&s->cone, x), 0 };
	w.end = w.start + s->cone.window_ns;
	if (fine_at(s, x)) {
		int64_t part = s->cone.window_ns / PARTS;
		w.start += (x - w.start) / part * part;
		w.end = w.end - w.start < part ? w.end : w.start + part;
	}
	return w;
}

static void room(struct usk_xy **p, size_t n, size_t *cap)
{
	if (n > *cap) {
		*cap = n + n / 2 + 8;
		*p = usk_grow(*p, *cap, sizeof **p);
	}
}

/* The undominated of p[n], sorted by x, into k. */
static size_t cone_of_sorted(const struct side *s, const struct usk_xy *p, size_t n,
			     struct usk_xy *k)
{
	size_t m = 0;
	struct window w = { 0, INT64_MIN };
	for (size_t i = 0; i < n; i++) {
		w = p[i].x >= w.end ? window_of(s, p[i].x) : w;
		m = usk_cone_push(&s->cone, k, m, p[i], w.start);
	}
	return m;
}

/* The same of those undominated on either side; k may be p. */
static size_t sides_of_sorted(const struct side *s, const struct usk_xy *p, size_t n,
			      struct usk_xy *k)
{
	size_t m = 0;
	for (size_t i = 0, to; i < n; i = to) {
		int64_t end = window_of(s, p[i].x).end;
		for (to = i; to < n && p[to].x < end; to++) {
			k[m + to - i] = p[to];
		}
		m += usk_cone_either_side(&s->cone, k + m, to - i);
	}
	return m;
}

static size_t thin(const struct side *s, enum rule rule, const struct usk_xy *p, size_t n,
		   struct usk_xy *out)
{
	return rule == HULL   ? usk_hull_of_sorted(p, n, out)
	       : rule == CONE ? cone_of_sorted(s, p, n, out)
			      : sides_of_sorted(s, p, n, out);
}

/* Puts add[n], sorted by x, behind what there is. */
static void append(const struct side *s, struct set *set, const struct usk_xy *add, size_t n)
{
	room(&set->p, set->n + n, &set->cap);
	if (set->rule == EITHER_SIDE) {
		size_t from = usk_xy_find(set->p, set->n, window_of(s, add[0].x).start);
		memcpy(set->p + set->n, add, n * sizeof *add);
		set->n = from + sides_of_sorted(s, set->p + from, set->n + n - from, set->p + from);
		return;
	}
	struct window w = { 0, INT64_MIN };
	for (size_t i = 0; i < n; i++) {
		w = add[i].x >= w.end ? window_of(s, add[i].x) : w;
		set->n = set->rule == HULL
				 ? usk_hull_push(set->p, set->n, add[i])
				 : usk_cone_push(&s->cone, set->p, set->n, add[i], w.start);
	}
}

/* Unite set with add[n], sorted by x. Points left of add stay as they are. */
static void absorb(const struct side *s, struct set *set, const struct usk_xy *add, size_t n)
{
	size_t from = usk_xy_find(set->p, set->n, add[0].x);
	size_t m = set->n - from;
	struct usk_xy *end = usk_alloc(m + n, sizeof *end);
	for (size_t i = 0, j = 0; i < m || j < n;) {
		bool first = j == n || (i < m && set->p[from + i].x <= add[j].x);
		end[i + j] = first ? set->p[from + i] : add[j];
		i += first;
		j += !first;
	}
	set->n = from;
	append(s, set, end, m + n);
	free(end);
}

static void absorb_late(const struct side *s, struct set *set)
{
	if (set->n_late) {
		struct usk_xy *thinned = usk_alloc(set->n_late, sizeof *thinned);
		usk_xy_sort(set->late, set->n_late);
		size_t n = thin(s, set->rule, set->late, set->n_late, thinned);
		absorb(s, set, thinned, n);
		free(thinned);
		set->n_late = 0;
	}
}

/* Add points that are sorted and thinned. */
static void take(const struct side *s, struct set *set, const struct usk_xy *add, size_t n)
{
	if (!n) {
		return;
	}
	if (!set->n || add[0].x >= set->p[set->n - 1].x) {
		append(s, set, add, n);
		return;
	}
	size_t behind = set->n - usk_xy_find(set->p, set->n, add[0].x);
	if (behind <= 2 * n + BLOCK) {
		absorb(s, set, add, n);
		return;
	}
	room(&set->late, set->n_late + n, &set->cap_late);
	memcpy(set->late + set->n_late, add, n * sizeof *add);
	set->n_late += n;
	if (set->n_late > BLOCK + set->n / 4) {
		absorb_late(s, set);
	}
}

/* Sort what waits and add it. */
static void flush(struct side *s)
{
	struct usk_xy *p = s->block;
	size_t n = s->n_block;
	bool sorted = true;
	if (!n) {
		return;
	}
	struct usk_xy *scratch = usk_grow(NULL, n, sizeof *scratch); /* not zeroed */
	for (size_t i = 0; i < n; i++) {
		s->sum += p[i].x;
		sorted &= !i || p[i - 1].x <= p[i].x;
	}
	s->count += n;
	if (!sorted) {
		usk_xy_sort(p, n);
	}
	take(s, &s->hull, scratch, thin(s, HULL, p, n, scratch));
	take(s, &s->kept, scratch, thin(s, s->kept.rule, p, n, scratch));
	free(scratch);
	s->n_block = 0;
}

struct usk_corridor *usk_corridor_new(const struct usk_frame *frame)
{
	struct usk_corridor *c = usk_alloc(1, sizeof *c);
	c->frame = *frame;
	for (int i = 0; i < 2; i++) {
		c->level[i] = (struct range){ HUGE_VAL, -HUGE_VAL };
		struct side *s = &c->side[i];
		s->cone = usk_cone_of(frame);
		s->cone.rate_e12 = i == USK_CEILING ? -s->cone.rate_e12 : s->cone.rate_e12;
		s->hull.rule = HULL;
		s->kept.rule = frame->steps ? EITHER_SIDE : CONE;
	}
	return c;
}

/* No point is as far from the origin as USK_TIME_MAX: what goes on beyond goes on to there. */
static int64_t from_origin(const struct usk_corridor *c, int64_t ns)
{
	return usk_cut((usk_i128)ns - c->frame.local_ns);
}

void usk_corridor_refine(struct usk_corridor *c, const struct usk_set_in *set, size_t n)
{
	c->fine = usk_grow(c->fine, n + 1, sizeof *c->fine);
	size_t m = 0;
	for (size_t i = 0; i < n; i++) {
		const struct usk_cone *cone = &c->side[0].cone;
		struct window w = { usk_cone_second(cone, from_origin(c, set[i].from_ns)),
				    usk_cone_second(cone, from_origin(c, set[i].to_ns)) +
					    cone->window_ns };
		if (m && w.start <= c->fine[m - 1].end) {
			w.end = w.end > c->fine[m - 1].end ? w.end : c->fine[m - 1].end;
			c->fine[m - 1].end = w.end;
		} else {
			c->fine[m++] = w;
		}
	}
	for (int i = 0; i < 2; i++) {
		c->side[i].fine = c->fine;
		c->side[i].n_fine = m;
	}
}

bool usk_corridor_refined(const struct usk_corridor *c, struct usk_set_in set)
{
	const struct window *w = fine_at(&c->side[0], from_origin(c, set.from_ns));
	return w && w->end > from_origin(c, set.to_ns);
}

void usk_corridor_free(struct usk_corridor *c)
{
	if (!c) {
		return;
	}
	free(c->fine);
	for (int i = 0; i < 2; i++) {
		struct side *s = &c->side[i];
		USK_FREE(s->block, s->hull.p, s->hull.late, s->kept.p, s->kept.late, s->out[0],
			 s->out[1]);
	}
	free(c);
}

/* |v| <= 2^62, and |v| < 2^62, without overflow or branch. */
static inline unsigned in_range(uint64_t v)
{
	return v + (uint64_t)USK_TIME_MAX <= 2 * (uint64_t)USK_TIME_MAX;
}

static inline unsigned near_origin(uint64_t v)
{
	return v + ((uint64_t)USK_TIME_MAX - 1) <= 2 * ((uint64_t)USK_TIME_MAX - 1);
}

/*
 * A message as a point: (local stamp, reference's stamp - local stamp), less the origin. All
 * arithmetic wraps; usk_corridor_add() has made sure beforehand that nothing did.
 */
struct seen {
	unsigned floor, ceiling; /* 0 or 1 */
	uint64_t local, remote, offset, x, y;
};

static inline struct seen look(const struct usk_frame *f, uint32_t a, uint32_t b,
			       const struct usk_msg *m)
{
	struct seen s = { .floor = (unsigned)(m->from == a) & (unsigned)(m->to == b),
			  .ceiling = (unsigned)(m->from == b) & (unsigned)(m->to == a) };
	s.local = (uint64_t)(s.floor ? m->received_ns : m->sent_ns);
	s.remote = (uint64_t)(s.floor ? m->sent_ns : m->received_ns);
	s.offset = s.remote - s.local;
	s.x = s.local - (uint64_t)f->local_ns;
	s.y = s.offset - (uint64_t)f->offset_ns;
	return s;
}

static inline unsigned fits(const struct seen *s)
{
	/* With both stamps in range the offset is at most 2^63 in size, where wrapping makes -2^63
	 * of 2^63: neither is in range. The same goes for x and y once local and offset are. */
	return in_range(s->local) & in_range(s->remote) & in_range(s->offset) & near_origin(s->x) &
	       near_origin(s->y);
}

static enum usk_status refuse(const struct usk_frame *f, uint32_t a, uint32_t b,
			      const struct usk_msg *msg, size_t n, struct usk_err *err)
{
	size_t i = 0;
	for (; i + 1 < n; i++) {
		struct seen s = look(f, a, b, &msg[i]);
		if ((s.floor | s.ceiling) && !fits(&s)) {
			break;
		}
	}
	return usk_fail(
		err, USK_ERANGE, i,
		"a message sent at %lld ns and received at %lld ns is 2^62 ns (146 years) or "
		"more from the others, or its clocks are that far apart",
		(long long)msg[i].sent_ns, (long long)msg[i].received_ns);
}

/* How many points may wait. */
static size_t block_size(const struct usk_corridor *c)
{
	uint64_t n = (c->side[0].count + c->side[1].count) / 4;
	return n < LEAST_BLOCK ? LEAST_BLOCK : n > BLOCK ? BLOCK : (size_t)n;
}

static void make_room(struct side *s, size_t n, size_t size)
{
	if (s->n_block + n > size) {
		flush(s);
	}
	if (s->n_block + n > s->cap_block) {
		size_t twice = 2 * (s->n_block + n);
		s->cap_block = twice < size ? twice : size;
		s->block = usk_grow(s->block, s->cap_block, sizeof *s->block);
	}
}

/* Add n <= size messages, which fit. */
static void add_some(struct usk_corridor *c, uint32_t a, uint32_t b, const struct usk_msg *msg,
		     size_t n, size_t size)
{
	struct side *fl = &c->side[USK_FLOOR], *ce = &c->side[USK_CEILING];
	make_room(fl, n, size);
	make_room(ce, n, size);
	const struct usk_frame f = c->frame;
	const double rate = (double)f.rate_e12 / 1e12;
	struct range level[] = { c->level[0], c->level[1] };
	struct usk_xy *pf = fl->block + fl->n_block, *pc = ce->block + ce->n_block;
	for (size_t i = 0; i < n; i++) {
		struct seen s = look(&f, a, b, &msg[i]);
		/* Both are written and one is counted: the direction is a coin's toss. */
		*pf = (struct usk_xy){ (int64_t)s.x, (int64_t)s.y };
		*pc = (struct usk_xy){ (int64_t)s.x, (int64_t)(0 - s.y) };
		pf += s.floor;
		pc += s.ceiling;
		if (s.floor | s.ceiling) {
			struct range *l = &level[s.ceiling];
			const double v = (double)(int64_t)s.y - rate * (double)(int64_t)s.x;
			l->least = v < l->least ? v : l->least;
			l->most = v > l->most ? v : l->most;
		}
	}
	memcpy(c->level, level, sizeof level);
	fl->n_block = (size_t)(pf - fl->block);
	ce->n_block = (size_t)(pc - ce->block);
}

enum usk_status usk_corridor_add(struct usk_corridor *c, uint32_t a, uint32_t b,
				 const struct usk_msg *msg, size_t n, struct usk_err *err)
{
	const struct usk_frame *f = &c->frame;
	if (a == b || !n) {
		return USK_OK;
	}
	unsigned bad = !in_range((uint64_t)f->local_ns) || !in_range((uint64_t)f->offset_ns);
	for (size_t i = 0; i < n; i++) {
		struct seen s = look(f, a, b, &msg[i]);
		bad |= (s.floor | s.ceiling) & (1 ^ fits(&s));
	}
	if (bad) {
		return refuse(f, a, b, msg, n, err);
	}
	for (size_t i = 0, m; i < n; i += m) {
		size_t size = block_size(c);
		m = n - i < size ? n - i : size;
		add_some(c, a, b, msg + i, m, size);
	}
	return USK_OK;
}

static const struct usk_xy *points(struct usk_corridor *c, bool ceiling, bool hull, size_t *n)
{
	struct side *s = &c->side[ceiling];
	const struct set *set = hull ? &s->hull : &s->kept;
	flush(s);
	absorb_late(s, &s->hull);
	absorb_late(s, &s->kept);
	*n = set->n;
	return set->p;
}

static const struct usk_point *absolute(struct usk_corridor *c, bool ceiling, bool hull, size_t *n)
{
	const struct usk_xy *p = points(c, ceiling, hull, n);
	struct usk_point **out = &c->side[ceiling].out[hull];
	*out = usk_grow(*out, *n + 1, sizeof **out);
	for (size_t i = 0; i < *n; i++) {
		(*out)[i] = (struct usk_point){ c->frame.local_ns + p[i].x,
						c->frame.offset_ns + (ceiling ? -p[i].y : p[i].y) };
	}
	return *out;
}

const struct usk_point *usk_corridor_hull(struct usk_corridor *c, bool ceiling, size_t *n)
{
	return absolute(c, ceiling, true, n);
}

const struct usk_point *usk_corridor_kept(struct usk_corridor *c, bool ceiling, size_t *n)
{
	return absolute(c, ceiling, false, n);
}

uint64_t usk_corridor_count(const struct usk_corridor *c, bool ceiling)
{
	return c->side[ceiling].count + c->side[ceiling].n_block;
}

int64_t usk_corridor_spread(const struct usk_corridor *c)
{
	double sum = 0;
	for (int i = 0; i < 2; i++) {
		const struct range *l = &c->level[i];
		sum += l->most > l->least ? ceil(l->most - l->least) : 0;
	}
	return sum < 0x1p62 ? (int64_t)sum : INT64_C(1) << 62;
}

const struct usk_frame *usk_corridor_frame(const struct usk_corridor *c)
{
	return &c->frame;
}

const struct usk_xy *usk_corridor_half(struct usk_corridor *c, bool ceiling, size_t *n)
{
	return points(c, ceiling, true, n);
}

const struct usk_xy *usk_corridor_undominated(struct usk_corridor *c, bool ceiling, size_t *n)
{
	return points(c, ceiling, false, n);
}

usk_i128 usk_corridor_sum(const struct usk_corridor *c, bool ceiling, uint64_t *n)
{
	const struct side *s = &c->side[ceiling];
	usk_i128 sum = s->sum;
	for (size_t i = 0; i < s->n_block; i++) {
		sum += s->block[i].x;
	}
	*n = usk_corridor_count(c, ceiling);
	return sum;
}

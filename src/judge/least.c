/* SPDX-License-Identifier: MIT */
/*
 * least.c - what messages need at least, from round trips
 *
 * In    round trips less the time to answer: sums of two delays, by one clock each
 * Out   a minimum-delay model that is under the truth if both ways are alike
 * Why   sums need no common clock; how a sum divides between the two ways no round trip tells
 * Not   which messages make a round trip, what other messages say (flow/calibrate.c)
 *
 * Source  Ashton 1995, section 4.2.1. The margins are ours.
 *
 * Let the smallest sum for payloads of m and n bytes be S + f c + p l, where c of the two messages
 * are not empty and have l bytes beyond their first. Round trips of one c and neighbouring l make
 * a cell. Its smallest one U is an upper bound of what is possible, never a lower one: with
 * delays that tail off exponentially the smallest of n is still about sqrt(2/n) tails too long. The
 * lower bound is L = U - (R - U), R the 64th smallest: for the smallest to lie too high by more
 * than that, all 64 must have come out unusually close together. (Let the number of round trips
 * less than h too long grow as h^a. L is over the truth if the smallest is at more than half the
 * height of the 64th: chance (1 - 2^-a)^63, 1e-8 for a = 2, that is two exponential delays, 2e-4
 * for a = 3, 2e-2 for a = 4. What all messages together say comes on top, see flow/calibrate.c.)
 *
 * The model's numbers are each a lower bound of the true one: p from a near cell's U and a far
 * one's L, f likewise from cells of different c, and S so that the shortest messages have L.
 * So it is under the truth at all lengths from the shortest on, not only where there is much
 * evidence. The margin is paid twice for long messages; a wrong bound costs more.
 *
 * A cell of few round trips says little of S, all of them together say more: less f c + p l they are
 * the round trips of two messages without bytes, with the margin of so many. Neither f nor p is known,
 * but if more than the true ones is taken away the smallest that are left are those of long messages,
 * more often than by chance, as how long a message waits does not depend on its length. So S is the
 * least that any f and p leave for which that share is possible; of this and of what the cells say
 * it is the larger one. The lower hull of all round trips over the sum of lengths is what the
 * smallest remainders of all f and p run along.
 */
#include "judge/judge.h"

#include <math.h>
#include <stdlib.h>

enum { KINDS = 3, CELLS = 8, WIDEST = 8 };

/* A round trip, less what is sure to be due to its length. */
struct point {
	int64_t low_ps;
	uint64_t length; /* bytes beyond the first ones */
	uint32_t kind;	 /* how many of its messages are not empty */
};

struct cell {
	uint32_t kind;
	int64_t upper_ps, lower_ps;
	uint64_t at;	 /* length of the smallest, */
	uint64_t lo, hi; /* and of all */
};

/* Sum of two minima, ps. */
struct shape {
	usk_i128 sum_ps, first_ps, per_byte_ps;
	bool straight;
	uint32_t kind;	 /* of the shortest messages that count, */
	uint64_t length; /* and their length */
	usk_i128 smallest_ps, margin_ps;
	bool known;
};

static uint32_t kind_of(const struct usk_trip *t)
{
	return (uint32_t)(t->there > 0) + (t->back > 0);
}

/* ---- cells --------------------------------------------------------------------------- */

/* Rounded up. */
static usk_i128 share_of(usk_i128 v, double share)
{
	return (usk_i128)((double)usk_saturate(v) * share) + (share > 0);
}

/* due_ps: what was taken away for each byte. */
static struct cell cell_of(const struct point *p, size_t n, usk_i128 due_ps, double margin,
			   unsigned widened)
{
	struct cell c = { .kind = p[0].kind, .lo = p[0].length, .hi = p[n - 1].length };
	int64_t *low = usk_alloc(n, sizeof *low);
	size_t best = 0;
	for (size_t i = 0; i < n; i++) {
		low[i] = p[i].low_ps;
		best = p[i].low_ps < p[best].low_ps ? i : best;
	}
	qsort(low, n, sizeof *low, usk_by_int64);
	c.upper_ps = low[0];
	c.at = p[best].length;
	usk_i128 off = margin < 0 ? widened * (low[USK_TRIPS_MIN - 1] - (usk_i128)low[0])
				  : share_of(low[0] + due_ps * c.at, margin);
	c.lower_ps = usk_saturate(low[0] - off);
	free(low);
	return c;
}

/* Cuts each kind into cells of neighbouring lengths, one length in one cell. p is sorted. */
static size_t cells_of(const struct point *p, size_t n, usk_i128 due_ps, double margin,
		       unsigned widened, struct cell out[KINDS * CELLS])
{
	size_t fewest = margin < 0 ? USK_TRIPS_MIN : 1, m = 0;
	for (size_t from = 0, end; from < n; from = end) {
		for (end = from; end < n && p[end].kind == p[from].kind; end++) {
		}
		size_t want = (end - from + CELLS - 1) / CELLS;
		/* A cell four times as large has half the margin; but lengths want telling apart.
		 */
		want = want < 4 * fewest ? 4 * fewest : want;
		want = want > (end - from) / 2 ? (end - from) / 2 : want;
		want = want < fewest ? fewest : want;
		for (size_t start = from, stop; start < end; start = stop) {
			stop = start + want < end ? start + want : end;
			while (stop < end && p[stop].length == p[stop - 1].length) {
				stop++;
			}
			/* Too few are left for another: they go along. */
			if (end - stop < fewest) {
				stop = end;
			}
			if (stop - start >= fewest) {
				out[m++] =
					cell_of(p + start, stop - start, due_ps, margin, widened);
			}
		}
	}
	return m;
}

/* ---- bounds of the three numbers --------------------------------------------------------- */

/*
 * Between which rates the sum grows with length; *hi < 0: nothing limits it. Every single round
 * trip says how much it can have been at the most, up to its own length.
 */
static void per_byte(const struct cell *c, size_t m, const struct point *p, size_t n, usk_i128 *lo,
		     usk_i128 *hi)
{
	*lo = 0;
	*hi = -1;
	for (size_t i = 0; i < m; i++) {
		for (size_t k = i + 1; k < m && c[k].kind == c[i].kind; k++) {
			if (c[k].hi > c[i].at) {
				usk_i128 v = usk_floor_div((usk_i128)c[k].lower_ps - c[i].upper_ps,
							   (usk_i128)(c[k].hi - c[i].at));
				*lo = v > *lo ? v : *lo;
			}
		}
		for (size_t k = 0; k < n; k++) {
			if (p[k].kind == c[i].kind && p[k].length > c[i].hi) {
				usk_i128 v = usk_ceil_div((usk_i128)p[k].low_ps - c[i].lower_ps,
							  (usk_i128)(p[k].length - c[i].hi));
				*hi = *hi < 0 || v < *hi ? v : *hi;
				*hi = *hi > 0 ? *hi : 0;
			}
		}
	}
	*hi = *hi >= 0 && *hi < *lo ? *lo : *hi;
}

/* What the first byte costs at least. */
static usk_i128 first_byte(const struct cell *c, size_t n, usk_i128 p_hi)
{
	usk_i128 best = 0;
	for (size_t i = 0; i < n; i++) {
		for (size_t k = i + 1; k < n; k++) {
			usk_i128 longer = (usk_i128)c[k].hi - (usk_i128)c[i].at;
			if (c[k].kind == c[i].kind || (longer > 0 && p_hi < 0)) {
				continue;
			}
			usk_i128 more = (usk_i128)c[k].lower_ps - c[i].upper_ps -
					(longer > 0 ? longer * p_hi : 0);
			more = usk_floor_div(more, (usk_i128)(c[k].kind - c[i].kind));
			best = more > best ? more : best;
		}
	}
	return best;
}

/* What the shortest messages need at least, both together. */
static usk_i128 shortest(const struct cell *c, size_t n, usk_i128 p_hi, struct shape *s)
{
	usk_i128 least = 0;
	s->kind = c[0].kind;
	s->length = c[0].lo;
	for (size_t i = 0; i < n && c[i].kind == s->kind; i++) {
		usk_i128 longer = (usk_i128)(c[i].hi - s->length);
		usk_i128 v = c[i].lower_ps - (p_hi < 0 ? 0 : longer * p_hi);
		if (!i || (p_hi >= 0 && v > least)) {
			least = v;
			s->smallest_ps = c[i].upper_ps;
			s->margin_ps = (usk_i128)c[i].upper_ps - c[i].lower_ps;
		}
	}
	return least;
}

/* ---- all lengths together ----------------------------------------------------------------- */

/* What the first byte and each one after it may cost, as far as is known. */
struct costs {
	usk_i128 first_ps, per_byte_ps;
};

/* Messages are long if they are of a kind, or of so many bytes, or more. */
struct is_long {
	uint32_t kind;
	uint64_t length;
	size_t n; /* how many are */
};

enum { SPLITS = 5 };

/* Points less what is taken away for their bytes, the smallest ones of which count. */
struct rest {
	struct remainder {
		int64_t ps;
		uint32_t at;
	} * r;
	size_t n, some; /* so many of the smallest are like all others */
	struct is_long split[SPLITS];
};

static size_t count_long(const struct rest *x, const struct point *p, const struct is_long *l,
			 size_t n)
{
	size_t count = 0;
	for (size_t i = 0; i < n; i++) {
		const struct point *q = &p[x->r[i].at];
		count += q->kind >= l->kind && q->length >= l->length;
	}
	return count;
}

/* Both kinds that are not the shortest, and quarters of all lengths. */
static void split(struct rest *x, const struct point *p)
{
	int64_t *length = usk_alloc(x->n, sizeof *length);
	for (size_t i = 0; i < x->n; i++) {
		length[i] = (int64_t)p[i].length;
		x->r[i].at = (uint32_t)i;
	}
	qsort(length, x->n, sizeof *length, usk_by_int64);
	for (uint32_t i = 0; i < SPLITS; i++) {
		struct is_long *l = &x->split[i];
		l->kind = i < 2 ? i + 1 : 0;
		l->length = i < 2 ? 0 : (uint64_t)length[(i - 1) * x->n / 4];
		l->n = count_long(x, p, l, x->n);
	}
	free(length);
}

static bool larger(const struct remainder *x, const struct remainder *y)
{
	return x->ps > y->ps;
}

/* The k smallest to the front, the largest of these first. */
static void smallest_first(struct remainder *r, size_t n, size_t k)
{
	for (size_t i = 0, held = 0; i < n; i++) {
		const struct remainder x = r[i];
		if (held == k && larger(&r[0], &x)) {
			held--;
			USK_HEAP_TAKE(r, held, larger);
		}
		if (held < k) {
			USK_HEAP_PUT(r, held, x, larger);
			held++;
		}
	}
}

/* May the share of long ones among some be by chance what it is among all? Else it is so once in 10^8
 * (Chernoff's bound, which holds for sampling without replacement too: Hoeffding 1963). */
static bool by_chance(size_t n_long, size_t some, size_t all_long, size_t all)
{
	const double log_chance = 18.4;
	double q = (double)n_long / (double)some, p = (double)all_long / (double)all;
	if (q <= p) {
		return true;
	}
	double distance = q * log(q / p) + (q < 1 ? (1 - q) * log((1 - q) / (1 - p)) : 0);
	return (double)some * distance <= log_chance;
}

/*
 * How long do two messages without any bytes take at least, if bytes cost so much? How long a
 * message waits does not depend on its length: if bytes cost less than is taken away for them it is
 * long messages that seem to have waited least, by more than chance. False: so it is.
 */
static bool least_if(struct rest *x, const struct point *p, struct costs c, double margin,
		     unsigned widened, usk_i128 *least)
{
	size_t few = USK_TRIPS_MIN < x->n ? USK_TRIPS_MIN : x->n;
	bool possible = true;
	for (size_t i = 0; i < x->n; i++) {
		usk_i128 due = c.first_ps * p[i].kind + c.per_byte_ps * p[i].length;
		x->r[i] = (struct remainder){ usk_saturate(p[i].low_ps - due), (uint32_t)i };
	}
	smallest_first(x->r, x->n, x->some);
	for (size_t i = 0; i < SPLITS; i++) {
		size_t n_long = count_long(x, p, &x->split[i], x->some);
		possible = possible && by_chance(n_long, x->some, x->split[i].n, x->n);
	}
	smallest_first(x->r, x->some, few);
	const int64_t last = x->r[0].ps;
	int64_t smallest = last;
	for (size_t i = 1; i < few; i++) {
		smallest = x->r[i].ps < smallest ? x->r[i].ps : smallest;
	}
	*least = smallest -
		 (margin < 0 ? widened * ((usk_i128)last - smallest) : share_of(smallest, margin));
	return possible;
}

/* The same by messages of all lengths: whatever bytes cost, beyond what is sure and was taken from the
 * points per byte, and up to `most`. */
static usk_i128 together(const struct point *p, size_t n, usk_i128 first_ps, struct costs most,
			 double margin, unsigned widened, const struct shape *s)
{
	enum { STEPS = 24, MOST = 2048, PART = 8, SQUARE = STEPS * STEPS };
	struct rest x = { .r = usk_alloc(n, sizeof *x.r), .n = n };
	usk_i128 least = 0;
	x.some = n / PART < USK_TRIPS_MIN ? USK_TRIPS_MIN : n / PART;
	x.some = x.some > MOST ? MOST : x.some > n ? n : x.some;
	split(&x, p);
	/* Closer where costs are small. The first that is not possible counts too: what may be lies
	 * before it. */
	for (int f = 0, more = 1; f <= STEPS && more; f++) {
		usk_i128 first = (most.first_ps - first_ps) * f * f / SQUARE;
		for (int k = 0; k <= STEPS; k++) {
			usk_i128 per_byte = most.per_byte_ps * k * k / SQUARE, v;
			const struct costs c = { first_ps + first, per_byte };
			bool possible = least_if(&x, p, c, margin, widened, &v);
			v += first * s->kind + per_byte * s->length;
			least = (!f && !k) || v < least ? v : least;
			if (!possible) {
				more = k > 0;
				break;
			}
		}
	}
	free(x.r);
	return least;
}

/* Bytes cost no more than any message took that has some. */
static struct costs most_of(const struct point *p, size_t n, usk_i128 first_ps, usk_i128 per_byte)
{
	struct costs most = { -1, per_byte };
	for (size_t i = 0; i < n; i++) {
		if (p[i].kind && (most.first_ps < 0 || p[i].low_ps / p[i].kind < most.first_ps)) {
			most.first_ps = p[i].low_ps / p[i].kind;
		}
		if (p[i].length && per_byte < 0) {
			usk_i128 v = p[i].low_ps / (int64_t)p[i].length;
			most.per_byte_ps =
				most.per_byte_ps < 0 || v < most.per_byte_ps ? v : most.per_byte_ps;
		}
	}
	most.per_byte_ps = most.per_byte_ps < 0 ? 0 : most.per_byte_ps;
	/* Of one kind nobody knows what the first byte costs, and nobody asks. */
	bool one = p[0].kind == p[n - 1].kind;
	most.first_ps = one || most.first_ps < first_ps ? first_ps : most.first_ps;
	return most;
}

/*
 * Within a cell lengths differ, and times with them, which looks like a larger spread. So what is
 * known to be due to length is taken away, and the rest is asked again.
 */
static struct shape shape_of(struct point *p, size_t n, double margin, unsigned widened)
{
	enum { ROUNDS = 4 };
	struct shape s = { .known = false };
	struct cell c[KINDS * CELLS];
	usk_i128 p_lo = 0, p_hi = -1;
	size_t m = 0;
	usk_sort(p, n, sizeof *p, KEYS(BY(point, kind), BY(point, length), BY(point, low_ps)));
	for (int round = 0; round < ROUNDS; round++) {
		m = cells_of(p, n, s.per_byte_ps, margin, widened, c);
		per_byte(c, m, p, n, &p_lo, &p_hi);
		s.per_byte_ps += p_lo;
		for (size_t i = 0; i < n && p_lo; i++) {
			p[i].low_ps = usk_saturate(p[i].low_ps - p_lo * (usk_i128)p[i].length);
		}
		if (!p_lo) {
			break;
		}
	}
	if (!m) {
		return s;
	}
	if (p_lo) {
		m = cells_of(p, n, s.per_byte_ps, margin, widened, c);
		per_byte(c, m, p, n, &p_lo, &p_hi);
	}
	s.known = true;
	usk_i128 least = shortest(c, m, p_hi, &s);
	/* Kinds that are too few to say how long they take at least say nothing here. */
	size_t few = 0;
	for (; p[few].kind < s.kind; few++) {
	}
	for (size_t i = few; i < n; i++) {
		s.length = p[i].length < s.length ? p[i].length : s.length;
	}
	/* One of the two messages is always empty: what it needs and what the other's first byte
	 * costs are not to be told apart. */
	s.straight = s.kind == 1 && c[m - 1].kind == 1;
	usk_i128 first = s.straight ? 0 : first_byte(c, m, p_hi);
	usk_i128 all = together(p + few, n - few, first, most_of(p + few, n - few, first, p_hi),
				margin, widened, &s) +
		       s.kind * first;
	if (all > least) {
		least = all;
		s.margin_ps = s.smallest_ps - all;
	}
	usk_i128 due = (usk_i128)s.length * s.per_byte_ps;
	s.smallest_ps += due;
	s.first_ps = s.straight ? s.per_byte_ps : first;
	s.sum_ps = least - s.kind * s.first_ps;
	if (s.sum_ps < 0) {
		/* What little is known of the shortest leaves nothing to grow from. */
		s.sum_ps = least + due > 0 ? least + due : 0;
		s.first_ps = s.per_byte_ps = 0;
	}
	return s;
}

static struct usk_delay_model model_of(const struct shape *s, int64_t asymmetry_ns)
{
	usk_i128 twice = s->sum_ps - 1000 * (usk_i128)asymmetry_ns;
	if (twice <= 0) {
		return (struct usk_delay_model){ 0 };
	}
	const usk_i128 most = 53 * INT64_C(86400000000000000); /* what can be written down */
	usk_i128 base = twice / 2000 * 1000;
	return (struct usk_delay_model){
		.base_ps = (int64_t)(base < most ? base : most),
		.first_ps = (int64_t)(s->first_ps < most ? s->first_ps : most),
		.per_byte_ps = (int64_t)(s->per_byte_ps < most ? s->per_byte_ps : most),
	};
}

/* ---- checks ------------------------------------------------------------------------------- */

/* Some of the round trips: the first or the second half, every other one. */
enum part { ALL, EARLY, LATE, EVEN, ODD };

static bool in_part(enum part part, size_t i, size_t n)
{
	const bool in[] = { true, i < n / 2, i >= n / 2, i % 2 == 0, i % 2 == 1 };
	return in[part];
}

static size_t points_of(const struct usk_trip *t, size_t n, enum part part, struct point *out)
{
	size_t m = 0;
	for (size_t i = 0; i < n; i++) {
		if (t[i].used && in_part(part, i, n)) {
			uint32_t kind = kind_of(&t[i]);
			uint64_t bytes = (uint64_t)t[i].there + t[i].back;
			out[m++] = (struct point){ usk_saturate(1000 * (usk_i128)t[i].low_ns),
						   bytes - kind, kind };
		}
	}
	return m;
}

/* Round trips of the other half that are shorter than a model of this half says. */
static uint64_t over_half(const struct usk_trip *t, size_t n, enum part part, unsigned widened,
			  struct point *room, unsigned *asked)
{
	struct shape s = shape_of(room, points_of(t, n, part, room), -1, widened);
	struct usk_delay_model m = model_of(&s, 0);
	uint64_t over = 0;
	*asked += s.known;
	for (size_t i = 0; i < n && s.known; i++) {
		over += t[i].used && !in_part(part, i, n) && usk_trip_over(&t[i], &m) > 0;
	}
	return over;
}

void usk_delay_model_shorten(struct usk_delay_model *m, int64_t ns)
{
	usk_i128 left = m->base_ps - 1000 * (usk_i128)ns;
	if (left > 0) {
		m->base_ps = (int64_t)left;
	} else { /* what is cut at 0 for some lengths is cut for all */
		*m = (struct usk_delay_model){ 0 };
	}
}

static void check(const struct usk_trip *t, size_t n, struct usk_calibrated *out)
{
	for (size_t i = 0; i < n; i++) {
		int64_t over = usk_trip_over(&t[i], &out->model);
		out->over += over > 0;
		out->over_ns = over > out->over_ns ? over : out->over_ns;
	}
	if (out->over) {
		usk_delay_model_shorten(&out->model, out->over_ns / 2 + 1);
	}
}

static void measure(const struct usk_trip *t, size_t n, struct usk_calibrated *out)
{
	uint64_t kinds[KINDS] = { 0 }, most = 0;
	out->from_bytes = UINT32_MAX;
	for (size_t i = 0; i < n; i++) {
		if (!t[i].used) {
			continue;
		}
		uint32_t lo = t[i].there < t[i].back ? t[i].there : t[i].back;
		uint32_t hi = t[i].there < t[i].back ? t[i].back : t[i].there;
		out->from_bytes = lo < out->from_bytes ? lo : out->from_bytes;
		out->to_bytes = hi > out->to_bytes ? hi : out->to_bytes;
		out->used++;
		uint64_t m = ++kinds[kind_of(&t[i])];
		most = m > most ? m : most;
	}
	out->needed = most < USK_TRIPS_MIN ? USK_TRIPS_MIN - most : 0;
	out->from_bytes = out->used ? out->from_bytes : 0;
}

const char *usk_least_of(const struct usk_trip *trip, size_t n,
			 const struct usk_calibrate_options *o, struct usk_calibrated *out)
{
	struct point *p = usk_alloc(n + 1, sizeof *p);
	*out = (struct usk_calibrated){ .a = out->a, .b = out->b };
	measure(trip, n, out);
	for (out->widened = 1; o->margin < 0; out->widened *= 2) {
		out->halves = 0;
		out->halves_over = 0;
		for (enum part part = EARLY; part <= ODD; part++) {
			out->halves_over += over_half(trip, n, part, out->widened, p, &out->halves);
		}
		if (!out->halves_over || out->widened == WIDEST) {
			break;
		}
	}
	struct shape s = shape_of(p, points_of(trip, n, ALL, p), o->margin, out->widened);
	free(p);
	if (!s.known) {
		return "too few round trips";
	}
	out->model = model_of(&s, o->asymmetry_ns);
	out->straight = s.straight;
	out->smallest_ns = usk_saturate(s.smallest_ps / 1000);
	out->margin_ns = usk_saturate(usk_ceil_div(s.margin_ps, 1000));
	check(trip, n, out);
	return out->model.base_ps ? NULL : "nothing is left";
}

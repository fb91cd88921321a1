/* SPDX-License-Identifier: MIT */
#include "cmd.h"
#include "base/io.h"
#include "base/text.h"

#include <jansson.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct truth {
	json_t *root, *clocks;
	size_t n;	/* moments */
	int64_t off_ns; /* between them a clock reads so much off the straight line at most */
};

static enum usk_status read_moments(const json_t *array, size_t n, const char *what, int64_t **out,
				    struct usk_err *err)
{
	if (!json_is_array(array) || json_array_size(array) != n) {
		return usk_fail(err, USK_EINPUT, 0, "\"%s\" is not a list of %zu times", what, n);
	}
	*out = usk_alloc(n, sizeof **out);
	for (size_t i = 0; i < n; i++) {
		const char *text = json_string_value(json_array_get(array, i));
		int64_t *t = &(*out)[i];
		/* Under 2^62 in size, so that differences fit. */
		if (!text || usk_parse_int(text, strlen(text), t, NULL) || *t >= USK_TIME_MAX ||
		    *t <= -USK_TIME_MAX) {
			free(*out);
			*out = NULL;
			return usk_fail(err, USK_EINPUT, 0, "\"%s\" number %zu is not a time in ns",
					what, i);
		}
	}
	return USK_OK;
}

enum usk_status truth_open(const char *path, struct truth **out, struct usk_err *err)
{
	struct usk_input in;
	struct truth *t = usk_alloc(1, sizeof *t);
	json_error_t at;
	enum usk_status status = usk_input_open(&in, path, usk_sniff_json, err);
	if (status) {
		free(t);
		return status;
	}
	status = usk_input_all(&in, err);
	if (status) {
		usk_fail_in(status, err, "%s", path);
	} else {
		t->root = json_loadb((const char *)in.data, in.have, JSON_REJECT_DUPLICATES, &at);
		t->clocks = json_object_get(t->root, "clock_ns");
		t->n = json_array_size(json_object_get(t->root, "true_ns"));
		if (!t->root) {
			status = usk_fail(err, USK_EINPUT, (uint64_t)at.position, "%s: line %d: %s",
					  path, at.line, at.text);
		} else if (!json_is_object(t->clocks) || t->n < 2) {
			status = usk_fail(err, USK_EINPUT, 0,
					  "%s: is not a truth.json, which `unskew simulate` writes",
					  path);
		}
	}
	usk_input_close(&in);
	const char *off = json_string_value(json_object_get(t->root, "off_ns"));
	if (!status && off &&
	    (usk_parse_int(off, strlen(off), &t->off_ns, NULL) || t->off_ns < 0)) {
		status = usk_fail(err, USK_EINPUT, 0, "%s: \"off_ns\" is not a time in ns", path);
	}
	if (status) {
		truth_free(t);
		t = NULL;
	}
	*out = t;
	return status;
}

void truth_free(struct truth *t)
{
	if (t) {
		json_decref(t->root);
		free(t);
	}
}

/* The reference's stamp when the clock shows `local`, on the truth's piece i to i + 1. */
static int64_t true_time(const int64_t *local_ns, const int64_t *ref_ns, size_t i, int64_t local)
{
	usk_i128 span = (usk_i128)local_ns[i + 1] - local_ns[i];
	usk_i128 rise = (usk_i128)ref_ns[i + 1] - ref_ns[i];
	usk_i128 into = (usk_i128)local - local_ns[i];
	usk_i128 ref = ref_ns[i] + (span > 0 ? usk_floor_div(rise * into, span) : 0);
	return (int64_t)ref;
}

/* Moments, what a clock and the reference show at each. */
struct moments {
	const int64_t *local_ns, *ref_ns;
	const int64_t *least; /* that the clock shows from each on; NULL: nobody asks */
	size_t n;
};

struct comparison {
	const struct usk_map *map;
	const struct usk_clock *clock; /* with the knots of one epoch */
	uint32_t epoch;
	int64_t off_ns;	       /* of both clocks */
	struct moments around; /* of the epochs before and behind, too */
	struct truth_score *score;
};

/* By how much the truth lies outside of the band. ref: that of a reference which was set back may
 * be up to 2^63. */
static int64_t outside_by(const struct usk_stamp *s, int64_t ref)
{
	usk_i128 below = s->lo_ns == USK_NONE ? 0 : (usk_i128)s->lo_ns - ref - 1;
	usk_i128 above = s->hi_ns == USK_NONE ? 0 : (usk_i128)ref - s->hi_ns - 1;
	int64_t outside = usk_saturate(below > above ? below : above);
	return outside > 0 ? outside : 0;
}

/* off_ns: the truth may be so far from what is said of it. */
static void compare_at(struct comparison *c, const struct usk_stamp *s, int64_t local, int64_t ref,
		       int64_t off_ns)
{
	int64_t outside = outside_by(s, ref);
	outside = outside > off_ns ? outside - off_ns : 0;
	if (outside > c->score->outside_ns) {
		c->score->outside_ns = outside;
	}
	const struct usk_knot *first = c->clock->knot, *last = first + c->clock->n_knots - 1;
	bool between = local >= first->local_ns && local <= last->local_ns;
	/* When exactly it jumped within a bracket no estimate knows. */
	for (size_t i = 0; i < c->clock->n_jumps; i++) {
		const struct usk_jump *j = &c->clock->jump[i];
		between = between && !usk_jump_spans(j, c->epoch, local, local);
	}
	if (s->reference_ns != USK_NONE && between) {
		usk_i128 off = (usk_i128)s->reference_ns - ref;
		int64_t error = usk_saturate(off < 0 ? -off : off);
		if (error > c->score->worst_ns) {
			c->score->worst_ns = error;
			c->score->worst_at_ns = local;
		}
	}
}

/* The truth of a stamp from piece i on that is nearest to the band; false: it is not shown. */
static bool nearest_truth(const struct moments *m, size_t i, int64_t local,
			  const struct usk_stamp *s, int64_t *nearest)
{
	bool any = false;
	for (; i + 1 < m->n && (!m->least || m->least[i] <= local); i++) {
		if (local >= m->local_ns[i] && local <= m->local_ns[i + 1]) {
			int64_t ref = true_time(m->local_ns, m->ref_ns, i, local);
			bool better = !any || outside_by(s, ref) < outside_by(s, *nearest);
			*nearest = better ? ref : *nearest;
			any = true;
		}
	}
	return any;
}

/* A stamp from piece i on. One that the clock showed again, as it was set back unseen, is that of a
 * record, which nobody knows the truth of: the one that is nearest to the band. So is one that was recorded among
 * those of the epoch before, or behind: it is looked for in these, too. */
static enum usk_status compare_stamp(struct comparison *c, const struct moments *m, size_t i,
				     int64_t local, struct usk_err *err)
{
	struct usk_stamp s;
	enum usk_status status = usk_map_at(c->map, local, &s, err);
	int64_t nearest, other;
	if (!status && nearest_truth(m, i, local, &s, &nearest)) {
		if (outside_by(&s, nearest) > c->off_ns &&
		    nearest_truth(&c->around, 0, local, &s, &other) &&
		    outside_by(&s, other) <= c->off_ns) {
			nearest = other;
		}
		compare_at(c, &s, local, nearest, c->off_ns);
	}
	return status;
}

static enum usk_status compare_all(struct comparison *c, const int64_t *local_ns,
				   const int64_t *ref_ns, size_t n, struct usk_err *err)
{
	enum usk_status status = USK_OK;
	int64_t *least = usk_alloc(n, sizeof *least);
	memcpy(least, local_ns, n * sizeof *least);
	usk_least_behind(least, n);
	const struct moments m = { local_ns, ref_ns, least, n };
	for (size_t i = 0; i < n && !status; i++) {
		struct usk_stamp s;
		status = usk_map_at(c->map, local_ns[i], &s, err);
		if (!status) {
			compare_at(c, &s, local_ns[i], ref_ns[i], 0);
		}
	}
	for (size_t k = 0, i = 0; k < c->clock->n_knots && !status; k++) {
		int64_t local = c->clock->knot[k].local_ns;
		while (i + 2 < n && local_ns[i + 1] < local) {
			i++;
		}
		status = compare_stamp(c, &m, i, local, err);
	}
	free(least);
	return status;
}

/* The stamps between which an epoch ends: those that records show, else its last knot and the first
 * of the next. false: it is the last. */
static bool end_of(const struct usk_clock *k, uint32_t epoch, int64_t *last, int64_t *first)
{
	size_t next = 0;
	while (next < k->n_knots && k->knot[next].epoch <= epoch) {
		next++;
	}
	bool known = epoch < k->n_set_backs, drawn = next && next < k->n_knots;
	*last = known ? k->set_back[epoch].from_ns : drawn ? k->knot[next - 1].local_ns : 0;
	*first = known ? k->set_back[epoch].to_ns : drawn ? k->knot[next].local_ns : 0;
	return known || drawn;
}

/* The first moment from i on at which the clock falls over both stamps, at once or in several steps; n: none. */
static size_t next_fall(const int64_t *local_ns, size_t n, size_t i, int64_t last, int64_t first)
{
	bool falls = false, over = false;
	for (i = i ? i : 1; i < n; i++) {
		if (local_ns[i] < local_ns[i - 1]) {
			falls = falls || last <= local_ns[i - 1];
			over = falls && local_ns[i] <= first;
		} else if (local_ns[i] >= last) {
			falls = false;
		}
		if (over) {
			break;
		}
	}
	return i;
}

/* Where moments from i on fall over both stamps of an epoch's end, unless that is rather the next one's, which has no
 * other; n: nowhere. */
static size_t fall_over(const struct usk_clock *k, uint32_t epoch, const int64_t *local_ns,
			size_t n, size_t i)
{
	int64_t last, first, after, then;
	if (!end_of(k, epoch, &last, &first)) {
		return n;
	}
	i = next_fall(local_ns, n, i, last, first);
	bool next = i < n && end_of(k, epoch + 1, &after, &then) && after > last &&
		    next_fall(local_ns, i + 1, i, after, then) == i;
	return next && next_fall(local_ns, n, i + 1, after, then) == n ? n : i;
}

/* Which epoch each moment is of. Moments stand on both sides of every jump: an epoch ends where they
 * fall over both of its end's stamps. One that late records end, as the clock was not set back there, ends
 * with what it shows; if these are from before a fall, where what is on time goes on. */
static uint32_t *epochs_of(const struct usk_clock *k, const int64_t *local_ns, size_t n)
{
	uint32_t *epoch = usk_alloc(n, sizeof *epoch), now = 0;
	int64_t last, first;
	bool ends = end_of(k, now, &last, &first), fell = false;
	size_t fall = fall_over(k, now, local_ns, n, 0);
	for (size_t i = 0; i < n; i++) {
		while (ends && (fall < n ? i >= fall : local_ns[i] > (fell ? first : last))) {
			fell = fall < n;
			ends = end_of(k, ++now, &last, &first);
			fall = fall_over(k, now, local_ns, n, i + 1);
		}
		epoch[i] = now;
	}
	return epoch;
}

static int64_t offset_in(const struct usk_clock *k, uint32_t epoch)
{
	size_t at = 0;
	while (at + 1 < k->n_knots && k->knot[at].epoch < epoch) {
		at++;
	}
	return k->knot[at].offset_ns;
}

/* Where one epoch of a reference ends and the next begins, in unwrapped time; false: it is no end of one. */
static bool is_end(const struct usk_clock *k, size_t jump, int64_t *last, int64_t *first)
{
	const struct usk_jump *j = &k->jump[jump];
	*last = usk_saturate((usk_i128)j->after_local_ns + offset_in(k, j->epoch));
	*first = usk_saturate((usk_i128)j->before_local_ns + offset_in(k, j->end_epoch));
	return j->epoch != j->end_epoch;
}

/*
 * The unwrapped time of a reference that was set back: its stamps as corrected. What it showed behind the last event
 * of an epoch, and before the first one of the next, has no unwrapped time of its own, as nobody knows when it was set
 * back: it lies between those two.
 */
static void correct_reference(const struct usk_clock *k, int64_t *ref_ns, size_t n)
{
	uint32_t *epoch = epochs_of(k, ref_ns, n);
	for (size_t i = 0; i < n; i++) {
		ref_ns[i] = usk_saturate((usk_i128)ref_ns[i] + offset_in(k, epoch[i]));
	}
	for (size_t m = 0; m < k->n_jumps; m++) {
		int64_t last, first;
		enum { BEFORE, REACHED, OVER } now = BEFORE;
		const bool ends = is_end(k, m, &last, &first);
		for (size_t i = 0; i < n && ends; i++) {
			const bool behind = epoch[i] >= k->jump[m].end_epoch;
			now = behind && ref_ns[i] >= first		       ? OVER
			      : now == BEFORE && (behind || ref_ns[i] >= last) ? REACHED
									       : now;
			ref_ns[i] = now == REACHED && ref_ns[i] < last ? last
				    : !behind && ref_ns[i] > first     ? first
								       : ref_ns[i];
		}
	}
	free(epoch);
}

/* Moments of one epoch after the other. */
static enum usk_status compare_epochs(const struct usk_clock *k, int64_t max_skew_e12,
				      const struct truth *t, const int64_t *local_ns,
				      const int64_t *ref_ns, struct truth_score *score,
				      struct usk_err *err)
{
	const size_t n = t->n;
	uint32_t *epoch = epochs_of(k, local_ns, n);
	struct usk_clock one = *k;
	enum usk_status status = USK_OK;
	one.knot = usk_alloc(k->n_knots, sizeof *one.knot);
	for (size_t i = 0, to; i < n && !status; i = to) {
		for (to = i + 1; to < n && epoch[to] == epoch[i];) {
			to++;
		}
		size_t first = i, last = to;
		while (first && epoch[first - 1] + 1 >= epoch[i]) {
			first--;
		}
		while (last < n && epoch[last] <= epoch[i] + 1) {
			last++;
		}
		one.n_knots = 0;
		for (size_t m = 0; m < k->n_knots; m++) {
			if (k->knot[m].epoch == epoch[i]) {
				one.knot[one.n_knots] = k->knot[m];
				one.knot[one.n_knots++].epoch = 0;
			}
		}
		struct usk_map *map = usk_map_of_epoch(k, epoch[i], max_skew_e12);
		struct comparison comparison = { map,
						 &one,
						 epoch[i],
						 usk_saturate(2 * (usk_i128)t->off_ns),
						 { local_ns + first, ref_ns + first, NULL,
						   last - first },
						 score };
		if (map && to - i > 1) {
			status = compare_all(&comparison, local_ns + i, ref_ns + i, to - i, err);
		}
		usk_map_free(map);
	}
	free(one.knot);
	free(epoch);
	return status;
}

/* What both clocks showed at every moment; malloc'ed, NULL if the truth does not know both. */
static enum usk_status both(const struct truth *t, const char *reference, const char *clock,
			    int64_t **ref_ns, int64_t **local_ns, struct usk_err *err)
{
	const json_t *local = json_object_get(t->clocks, clock);
	const json_t *ref = json_object_get(t->clocks, reference);
	*local_ns = *ref_ns = NULL;
	if (!local || !ref) {
		return USK_OK;
	}
	enum usk_status status = read_moments(local, t->n, clock, local_ns, err);
	status = status ? status : read_moments(ref, t->n, reference, ref_ns, err);
	if (status) {
		free(*local_ns);
	}
	return status;
}

enum usk_status truth_compare(const struct truth *t, const struct usk_clocks *c, size_t clock,
			      struct truth_score *out, struct usk_err *err)
{
	const struct usk_clock *k = &c->clock[clock], *reference = &c->clock[k->reference];
	int64_t *local_ns, *ref_ns;
	*out = (struct truth_score){ .worst_ns = USK_NONE };
	enum usk_status status =
		k->n_knots ? both(t, reference->name, k->name, &ref_ns, &local_ns, err) : USK_OK;
	if (status || !k->n_knots || !ref_ns) {
		return status;
	}
	out->known = true;
	correct_reference(reference, ref_ns, t->n);
	status = compare_epochs(k, c->max_skew_e12, t, local_ns, ref_ns, out, err);
	free(local_ns);
	free(ref_ns);
	return status;
}

enum usk_status truth_errors(const struct truth *t, const char *reference, const char *clock,
			     const struct usk_map *map, struct truth_errors *out,
			     struct usk_err *err)
{
	int64_t *local_ns, *ref_ns;
	long double squares = 0;
	struct truth_errors e = { .known = true };
	enum usk_status status = both(t, reference, clock, &ref_ns, &local_ns, err);
	*out = TRUTH_UNKNOWN;
	if (status || !ref_ns) {
		return status;
	}
	for (size_t i = 0; i < t->n && e.known; i++) {
		struct usk_stamp s;
		/* A line is of unwrapped time, the truth of stamps. */
		bool put_back = i && (local_ns[i] < local_ns[i - 1] || ref_ns[i] < ref_ns[i - 1]);
		e.known = !put_back && !usk_map_at(map, local_ns[i], &s, NULL) &&
			  ref_ns[i] >= -USK_TIME_MAX && ref_ns[i] <= USK_TIME_MAX;
		if (e.known) {
			int64_t off = s.reference_ns - ref_ns[i];
			squares += (long double)off * (long double)off;
			e.ns[AT_START] = i == 0 ? off : e.ns[AT_START];
			e.ns[AT_MIDDLE] = i == t->n / 2 ? off : e.ns[AT_MIDDLE];
			e.ns[AT_END] = off;
		}
	}
	e.ns[RMS] = (int64_t)roundl(sqrtl(squares / (long double)t->n));
	*out = e.known ? e : TRUTH_UNKNOWN;
	free(local_ns);
	free(ref_ns);
	return USK_OK;
}

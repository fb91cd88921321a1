/* SPDX-License-Identifier: MIT */
/*
 * clocks_fields.c - what clocks.json holds: its keys, and what of them has to hold
 *
 * Why   apply and convert trust the knots: what is wrong is found here and nowhere later
 */
#include "write/fields.h"
#include "read/trace.h"

#include <stdlib.h>
#include <string.h>

#define AT(type, member) .at = offsetof(struct type, member)
#define LIST(type, list, n)                                                                        \
	.kind = FIELD_LIST, AT(type, list), .n_at = offsetof(struct type, n),                      \
	.size = sizeof *((struct type *)NULL)->list
#define ROWS(type, list, n, row) LIST(type, list, n), .each = FIELD_OBJECT, .fields = (row)

static const char *quality_name(unsigned q)
{
	return usk_quality_name((enum usk_quality)q);
}

#define QUALITY(type)                                                                              \
	{                                                                                          \
		"quality", FIELD_NAME, AT(type, quality),                                          \
			.name = quality_name, .last = USK_CONTRADICTED,                            \
			.otherwise = "\"%.40s\" is none of reference, bounded, one-sided, "        \
				     "absent, contradicted"                                        \
	}

/* ---- clocks ------------------------------------------------------------------------------------
 */

static const struct usk_field knot_fields[] = {
	{ "local_ns", FIELD_TIME, AT(usk_knot, local_ns) },
	{ "offset_ns", FIELD_TIME_OR_NULL, AT(usk_knot, offset_ns) },
	{ "lo_ns", FIELD_TIME_OR_NULL, AT(usk_knot, lo_ns) },
	{ "hi_ns", FIELD_TIME_OR_NULL, AT(usk_knot, hi_ns) },
	{ "epoch", FIELD_SMALL, FIELD_MAY_MISS | FIELD_OMIT, AT(usk_knot, epoch) },
	{ NULL },
};

/* What usk_map_new() relies on. before: the knot to the left in the same epoch, or NULL. */
static void check_knot(struct reader *r, const struct place *at, const struct usk_clock *k,
		       const struct usk_knot *before, const struct usk_knot *x)
{
	bool full = x->offset_ns != USK_NONE && x->lo_ns != USK_NONE && x->hi_ns != USK_NONE;
	usk_i128 corrected = (usk_i128)x->local_ns + (full ? x->offset_ns : 0);
	if (k->quality == USK_ONE_SIDED && x->offset_ns != USK_NONE) {
		usk_json_wrong(r, at, "offset_ns", "is not null, yet the clock is one-sided");
	} else if (k->quality != USK_ONE_SIDED && !full) {
		usk_json_wrong(r, at, NULL,
			       "a clock that is %s needs offset_ns, lo_ns and hi_ns in each knot",
			       usk_quality_name(k->quality));
	} else if (full && (x->lo_ns > x->offset_ns || x->offset_ns > x->hi_ns)) {
		usk_json_wrong(r, at, NULL, "lo_ns <= offset_ns <= hi_ns does not hold");
	} else if (corrected > USK_TIME_MAX || corrected < -USK_TIME_MAX) {
		usk_json_wrong(r, at, NULL,
			       "its corrected time is more than 2^62 ns (146 years) from 1970");
	} else if (before && x->local_ns <= before->local_ns) {
		usk_json_wrong(r, at, "local_ns", "does not rise from the knot before");
	} else if (before && full &&
		   (usk_i128)x->offset_ns - before->offset_ns <
			   -((usk_i128)x->local_ns - before->local_ns)) {
		usk_json_wrong(r, at, "offset_ns",
			       "falls faster than the clock runs: time would go back");
	}
}

static void check_knots(struct reader *r, const struct place *up, const struct usk_clock *k)
{
	struct place list = { up, "knots", 0 };
	size_t in_epoch = 0;
	for (size_t i = 0; i < k->n_knots && !r->status; i++) {
		struct place at = { &list, NULL, i };
		const struct usk_knot *x = &k->knot[i];
		bool same = i && x->epoch == x[-1].epoch;
		if (i && x->epoch < x[-1].epoch) {
			usk_json_wrong(r, &at, "epoch", "is not in order");
		}
		if (i && !same && in_epoch < 2) {
			usk_json_wrong(r, &at, NULL,
				       "begins an epoch, yet the one before has a single knot");
		}
		in_epoch = same ? in_epoch + 1 : 1;
		check_knot(r, &at, k, same ? x - 1 : NULL, x);
	}
	bool none = k->quality == USK_ABSENT || k->quality == USK_CONTRADICTED;
	bool allowed = none || k->quality == USK_ONE_SIDED;
	if (none && k->n_knots) {
		usk_json_wrong(r, up, "knots", "is not empty, yet the clock is %s",
			       usk_quality_name(k->quality));
	} else if (k->n_knots ? in_epoch < 2 : !allowed) {
		usk_json_wrong(r, up, "knots", "holds fewer than two knots");
	}
}

static const char *jump_name(unsigned kind)
{
	return kind == USK_BEND ? "bend" : "jump";
}

static const struct usk_field jump_fields[] = {
	{ "kind", FIELD_NAME, AT(usk_jump, kind), .name = jump_name, .last = USK_BEND,
	  .otherwise = "is neither \"jump\" nor \"bend\"" },
	{ "of", FIELD_CLOCK_OR_NULL, FIELD_MAY_MISS, AT(usk_jump, of) },
	{ "or", FIELD_CLOCK_OR_NULL, FIELD_MAY_MISS | FIELD_OMIT, AT(usk_jump, or_of) },
	{ "after_local_ns", FIELD_TIME, AT(usk_jump, after_local_ns) },
	{ "before_local_ns", FIELD_TIME, AT(usk_jump, before_local_ns) },
	{ "size_lo_ns", FIELD_SPAN_OR_NULL, AT(usk_jump, size_lo_ns) },
	{ "size_hi_ns", FIELD_SPAN_OR_NULL, AT(usk_jump, size_hi_ns) },
	{ "epoch", FIELD_SMALL, FIELD_MAY_MISS, AT(usk_jump, epoch) },
	{ "end_epoch", FIELD_SMALL, FIELD_MAY_MISS, AT(usk_jump, end_epoch) },
	{ NULL },
};

static const struct usk_field disturbed_fields[] = {
	{ "from_ns", FIELD_TIME, AT(usk_disturbed, from_ns) },
	{ "to_ns", FIELD_TIME, AT(usk_disturbed, to_ns) },
	{ "epoch", FIELD_SMALL, FIELD_MAY_MISS | FIELD_OMIT, AT(usk_disturbed, epoch) },
	{ NULL },
};

static const struct usk_field set_back_fields[] = {
	{ "from_ns", FIELD_TIME, AT(usk_set_back, from_ns) },
	{ "to_ns", FIELD_TIME, AT(usk_set_back, to_ns) },
	{ NULL },
};

static void check_set_backs(struct reader *r, const struct place *up, const struct usk_clock *k)
{
	struct place list = { up, "set_back", 0 };
	for (size_t i = 0; i < k->n_set_backs; i++) {
		struct place at = { &list, NULL, i };
		if (k->set_back[i].from_ns <= k->set_back[i].to_ns) {
			usk_json_wrong(r, &at, NULL, "from_ns > to_ns does not hold");
		}
	}
}

static void check_disturbed(struct reader *r, const struct place *up, const struct usk_clock *k)
{
	struct place list = { up, "disturbed", 0 };
	for (size_t i = 0; i < k->n_stretches; i++) {
		struct place at = { &list, NULL, i };
		const struct usk_disturbed *x = &k->stretch[i];
		if (x->from_ns > x->to_ns) {
			usk_json_wrong(r, &at, NULL, "from_ns <= to_ns does not hold");
		} else if (i && (x->epoch < x[-1].epoch ||
				 (x->epoch == x[-1].epoch && x->from_ns <= x[-1].to_ns))) {
			usk_json_wrong(r, &at, NULL, "is not in order, behind the one before");
		}
	}
}

static const struct usk_field wander_fields[] = {
	{ "assumed_ppm", FIELD_WANDER, AT(usk_wander, assumed_e12) },
	{ "needed_ppm", FIELD_WANDER, AT(usk_wander, needed_e12) },
	{ "used_ppm", FIELD_WANDER, AT(usk_wander, used_e12) },
	{ NULL },
};

static const struct usk_field slope_fields[] = {
	{ "least_ppm", FIELD_RATE, AT(usk_slopes, least_e12) },
	{ "most_ppm", FIELD_RATE, AT(usk_slopes, most_e12) },
	{ NULL },
};

/* Others need not write them: all that the skew limit allows. */
static void check_slopes(struct reader *r, const struct place *up, const char *key,
			 const struct usk_clock *k, struct usk_slopes *s)
{
	const int64_t limit = k->quality == USK_REFERENCE ? 0 : r->c->max_skew_e12;
	struct place at = { up, key, 0 };
	if (s->least_e12 == USK_NONE) {
		*s = (struct usk_slopes){ -limit, limit };
	} else if (s->least_e12 > s->most_e12) {
		usk_json_wrong(r, &at, NULL, "least_ppm <= most_ppm does not hold");
	}
}

static const struct usk_field width_fields[] = {
	{ "best", FIELD_SPAN_OR_NULL, AT(usk_widths, best_ns) },
	{ "worst", FIELD_SPAN_OR_NULL, AT(usk_widths, worst_ns) },
	{ "mean", FIELD_SPAN_OR_NULL, AT(usk_widths, mean_ns) },
	{ NULL },
};

static void put_widths(struct usk_json_out *o, const struct usk_clocks *c, const void *of)
{
	struct usk_widths w = usk_band_widths(of);
	usk_fields_put(o, c, width_fields, &w);
}

static const struct usk_field beyond_fields[] = {
	{ "local_ns", FIELD_TIME, AT(usk_beyond, local_ns) },
	{ "lo_ns", FIELD_TIME, AT(usk_beyond, lo_ns) },
	{ "hi_ns", FIELD_TIME, AT(usk_beyond, hi_ns) },
	{ NULL },
};

/* In order, none among the knots, of a clock with one epoch that is bounded. */
static void check_beyond(struct reader *r, const struct place *up, const struct usk_clock *k)
{
	struct place list = { up, "beyond", 0 };
	const struct usk_knot *end = k->n_knots ? &k->knot[k->n_knots - 1] : NULL;
	if (k->n_beyond && (k->quality != USK_BOUNDED || !end || end->epoch != k->knot->epoch)) {
		usk_json_wrong(r, up, "beyond", "is of a clock without one bounded epoch");
	}
	for (size_t i = 0; i < k->n_beyond && !r->status; i++) {
		struct place at = { &list, NULL, i };
		const struct usk_beyond *x = &k->beyond[i];
		if (i && x->local_ns <= x[-1].local_ns) {
			usk_json_wrong(r, &at, "local_ns", "does not rise from the one before");
		} else if (x->local_ns >= k->knot->local_ns && x->local_ns <= end->local_ns) {
			usk_json_wrong(r, &at, "local_ns", "is not beyond the knots");
		} else if (x->lo_ns > x->hi_ns) {
			usk_json_wrong(r, &at, NULL, "lo_ns <= hi_ns does not hold");
		}
	}
}

const struct usk_field usk_clock_fields[] = {
	{ "name", FIELD_TEXT, AT(usk_clock, name) },
	{ "reference", FIELD_CLOCK, AT(usk_clock, reference) },
	QUALITY(usk_clock),
	{ "path", LIST(usk_clock, path, n_path), .each = FIELD_CLOCK },
	{ "resolution_ns", FIELD_TIME, AT(usk_clock, resolution_ns) },
	{ "readings", FIELD_COUNT, FIELD_MAY_MISS | FIELD_OMIT, AT(usk_clock, readings) },
	{ "quantum_ns", FIELD_TIME, FIELD_MAY_MISS | FIELD_OMIT, AT(usk_clock, quantum_ns) },
	{ "residual_ns", FIELD_TIME, FIELD_MAY_MISS | FIELD_OMIT, AT(usk_clock, residual_ns) },
	{ "drift_ppm", FIELD_NUMBER, AT(usk_clock, drift_ppm) },
	{ "drift_min_ppm", FIELD_NUMBER, AT(usk_clock, drift_min_ppm) },
	{ "drift_max_ppm", FIELD_NUMBER, AT(usk_clock, drift_max_ppm) },
	{ "wander", FIELD_OBJECT, FIELD_MAY_MISS, AT(usk_clock, wander), .fields = wander_fields },
	{ "half_width_ns", FIELD_OWN, .put = put_widths },
	{ "knots", ROWS(usk_clock, knot, n_knots, knot_fields) },
	{ "before", FIELD_OBJECT, FIELD_MAY_MISS, AT(usk_clock, before), .fields = slope_fields },
	{ "after", FIELD_OBJECT, FIELD_MAY_MISS, AT(usk_clock, after), .fields = slope_fields },
	{ "beyond", .flags = FIELD_MAY_MISS | FIELD_OMIT,
	  ROWS(usk_clock, beyond, n_beyond, beyond_fields) },
	{ "jumps", ROWS(usk_clock, jump, n_jumps, jump_fields) },
	{ "disturbed", .flags = FIELD_MAY_MISS,
	  ROWS(usk_clock, stretch, n_stretches, disturbed_fields) },
	{ "set_back", .flags = FIELD_MAY_MISS | FIELD_OMIT,
	  ROWS(usk_clock, set_back, n_set_backs, set_back_fields) },
	{ NULL },
};

static bool falls(struct usk_set_back b)
{
	return b.from_ns > b.to_ns;
}

/* Others need not say where epochs begin: between the ends of the jumps that lead to them, or at
 * their knots. */
static struct usk_set_back set_back_to(const struct usk_clock *k, uint32_t epoch)
{
	struct usk_set_back found = { 0, 0 };
	for (size_t i = 1; i < k->n_knots && !falls(found); i++) {
		if (k->knot[i].epoch == epoch && k->knot[i - 1].epoch + 1 == epoch) {
			found = (struct usk_set_back){ k->knot[i - 1].local_ns,
						       k->knot[i].local_ns };
		}
	}
	for (size_t i = 0; i < k->n_jumps; i++) {
		const struct usk_jump *j = &k->jump[i];
		struct usk_set_back b = { j->after_local_ns, j->before_local_ns };
		if (j->epoch + 1 == epoch && j->end_epoch == epoch && falls(b)) {
			found = b;
			break;
		}
	}
	return found;
}

static void find_set_backs(struct usk_clock *k)
{
	bool said = k->n_set_backs > 0;
	for (struct usk_set_back b; !said; k->n_set_backs++) {
		b = set_back_to(k, (uint32_t)k->n_set_backs + 1);
		if (!falls(b)) {
			break;
		}
		k->set_back = usk_grow(k->set_back, k->n_set_backs + 1, sizeof *k->set_back);
		k->set_back[k->n_set_backs] = b;
	}
}

void usk_clock_check(struct reader *r, const struct place *at, void *clock)
{
	struct usk_clock *k = clock;
	if (k->resolution_ns < 0) {
		usk_json_wrong(r, at, "resolution_ns", "is negative");
	}
	check_slopes(r, at, "before", k, &k->before);
	check_slopes(r, at, "after", k, &k->after);
	check_knots(r, at, k);
	check_beyond(r, at, k);
	check_disturbed(r, at, k);
	check_set_backs(r, at, k);
	for (size_t i = 0; i < k->n_jumps; i++) { /* others need not say whose, nor where it ends */
		struct usk_jump *j = &k->jump[i];
		struct usk_set_back b = { j->after_local_ns, j->before_local_ns };
		j->of = j->of == USK_NO_CLOCK ? (uint32_t)(k - r->c->clock) : j->of;
		if (j->end_epoch < j->epoch + falls(b)) {
			j->end_epoch = j->epoch + falls(b);
		}
	}
	find_set_backs(k);
	if (k->n_knots && k->knot[k->n_knots - 1].epoch > k->n_set_backs) {
		usk_json_wrong(
			r, at, "knots",
			"are of epoch %u, yet neither set_back nor jumps say where it begins",
			k->knot[k->n_knots - 1].epoch);
	}
}

/* ---- pairs -------------------------------------------------------------------------------------
 */

#define MESSAGE_FIELDS(type, msg)                                                                  \
	{ "sender", FIELD_CLOCK, AT(type, msg from) },                                             \
		{ "receiver", FIELD_CLOCK, AT(type, msg to) },                                     \
		{ "sent_ns", FIELD_TIME, AT(type, msg sent_ns) },                                  \
		{ "received_ns", FIELD_TIME, AT(type, msg received_ns) },                          \
	{                                                                                          \
		"bytes", FIELD_SMALL, FIELD_MAY_MISS, AT(type, msg bytes)                          \
	}

static const struct usk_field message_fields[] = { MESSAGE_FIELDS(usk_msg, ), { NULL } };

static const struct usk_field outlier_fields[] = {
	MESSAGE_FIELDS(usk_outlier, msg.),
	{ "excess_ns", FIELD_SPAN_OR_NULL, AT(usk_outlier, excess_ns) },
	{ NULL },
};

static const struct usk_field evidence_fields[] = {
	{ "option", FIELD_COUNT, FIELD_MAY_MISS, AT(usk_evidence, option) },
	{ "link", FIELD_COUNT, FIELD_MAY_MISS, AT(usk_evidence, link) },
	{ "interface", FIELD_COUNT, FIELD_MAY_MISS, AT(usk_evidence, interface) },
	{ "address", FIELD_COUNT, FIELD_MAY_MISS, AT(usk_evidence, address) },
	{ "ttl", FIELD_COUNT, FIELD_MAY_MISS, AT(usk_evidence, ttl) },
	{ "exchange", FIELD_COUNT, FIELD_MAY_MISS, AT(usk_evidence, exchange) },
	{ NULL },
};

static const struct usk_field delay_fields[] = {
	{ "count", FIELD_COUNT, AT(usk_delays, n) },
	{ "inversions", FIELD_COUNT, FIELD_MAY_MISS, AT(usk_delays, inversions) },
	{ "min", FIELD_SPAN_OR_NULL, AT(usk_delays, min_ns) },
	{ "median", FIELD_SPAN_OR_NULL, AT(usk_delays, median_ns) },
	{ "p99", FIELD_SPAN_OR_NULL, AT(usk_delays, p99_ns) },
	{ "max", FIELD_SPAN_OR_NULL, AT(usk_delays, max_ns) },
	{ NULL },
};

static const struct usk_field difference_fields[] = {
	{ "count", FIELD_COUNT, AT(usk_difference, n) },
	{ "min_ns", FIELD_SPAN_OR_NULL, AT(usk_difference, min_ns) },
	{ "max_ns", FIELD_SPAN_OR_NULL, AT(usk_difference, max_ns) },
	{ "mean_ns", FIELD_SPAN_OR_NULL, AT(usk_difference, mean_ns) },
	{ "sd_ns", FIELD_SPAN_OR_NULL, AT(usk_difference, sd_ns) },
	{ NULL },
};

static const struct usk_field recorded_fields[] = {
	{ "a_to_b", FIELD_OBJECT, AT(usk_pair, recorded_a_to_b), .fields = delay_fields },
	{ "b_to_a", FIELD_OBJECT, AT(usk_pair, recorded_b_to_a), .fields = delay_fields },
	{ NULL },
};

static const struct usk_field min_delay_fields[] = {
	{ "a_to_b", FIELD_SPAN_OR_NULL, AT(usk_pair, min_delay_a_to_b_ns) },
	{ "b_to_a", FIELD_SPAN_OR_NULL, AT(usk_pair, min_delay_b_to_a_ns) },
	{ NULL },
};

static const struct usk_field corrected_fields[] = {
	{ "a_to_b", FIELD_OBJECT, AT(usk_pair, corrected_a_to_b), .fields = delay_fields },
	{ "b_to_a", FIELD_OBJECT, AT(usk_pair, corrected_b_to_a), .fields = delay_fields },
	{ NULL },
};

const struct usk_field usk_pair_fields[] = {
	{ "a", FIELD_CLOCK, AT(usk_pair, a) },
	{ "b", FIELD_CLOCK, AT(usk_pair, b) },
	{ "a_to_b", FIELD_COUNT, AT(usk_pair, a_to_b) },
	{ "b_to_a", FIELD_COUNT, AT(usk_pair, b_to_a) },
	QUALITY(usk_pair),
	{ "half_width_ns", FIELD_SPAN_OR_NULL, AT(usk_pair, half_width_ns) },
	{ "half_width_at_ns", FIELD_TIME_OR_NULL, AT(usk_pair, half_width_at_ns) },
	{ "residual_ns", FIELD_TIME, FIELD_MAY_MISS | FIELD_OMIT, AT(usk_pair, residual_ns) },
	{ "wander", FIELD_OBJECT, AT(usk_pair, wander), .fields = wander_fields },
	{ "sender_evidence", FIELD_OBJECT, AT(usk_pair, evidence), .fields = evidence_fields },
	{ "outliers", ROWS(usk_pair, outlier, n_outliers, outlier_fields) },
	{ "contradiction", ROWS(usk_pair, contradiction, n_contradiction, message_fields) },
	{ "recorded_delay_ns", FIELD_OBJECT, FIELD_MAY_MISS, .fields = recorded_fields },
	{ "min_delay_ns", FIELD_OBJECT, FIELD_MAY_MISS, .fields = min_delay_fields },
	{ "corrected_delay_ns", FIELD_OBJECT, FIELD_MAY_MISS, .fields = corrected_fields },
	{ "recorded_broadcasts", FIELD_OBJECT, FIELD_MAY_MISS, AT(usk_pair, heard_recorded),
	  .fields = difference_fields },
	{ "corrected_broadcasts", FIELD_OBJECT, FIELD_MAY_MISS, AT(usk_pair, heard_corrected),
	  .fields = difference_fields },
	{ NULL },
};

static const struct usk_field hull_fields[] = {
	{ "floor", FIELD_COUNT, FIELD_MAY_MISS, AT(usk_pair, hull_floor) },
	{ "ceiling", FIELD_COUNT, FIELD_MAY_MISS, AT(usk_pair, hull_ceiling) },
	{ NULL },
};

const struct usk_field usk_corridor_fields[] = {
	{ "a", FIELD_CLOCK, AT(usk_pair, a) },
	{ "b", FIELD_CLOCK, AT(usk_pair, b) },
	{ "bucket_ns", FIELD_TIME, AT(usk_pair, bucket_ns) },
	{ "hull_vertices", FIELD_OBJECT, FIELD_MAY_MISS, .fields = hull_fields },
	{ "floor", LIST(usk_pair, floor, n_floor), .each = FIELD_POINT },
	{ "ceiling", LIST(usk_pair, ceiling, n_ceiling), .each = FIELD_POINT },
	{ NULL },
};

/* ---- the rest ----------------------------------------------------------------------------------
 */

static const char *model_name(unsigned kind)
{
	return usk_model_name((enum usk_model_kind)kind);
}

static const struct usk_field wander_field = { "ppm", FIELD_WANDER,
					       AT(usk_clocks, model.wander_e12) };

static void put_ppm(struct usk_json_out *o, const struct usk_clocks *c, const void *of)
{
	usk_field_put(o, c, &wander_field, of);
}

static void get_ppm(struct reader *r, const struct place *at, const json_t *o, void *of)
{
	if (((struct usk_clocks *)of)->model.kind == USK_WANDER) {
		usk_field_get(r, at, o, &wander_field, of);
	}
}

static const struct usk_field duration_field = { "duration_ns", FIELD_TIME, FIELD_MAY_MISS,
						 AT(usk_clocks, model.segment_ns) };

static void put_duration(struct usk_json_out *o, const struct usk_clocks *c, const void *of)
{
	if (c->model.kind != USK_SEGMENTS) {
		usk_json_put(o, json_null());
	} else if (c->model.segment_ns) {
		usk_field_put(o, c, &duration_field, of);
	} else {
		usk_json_put(o, usk_json_text("auto"));
	}
}

static void get_duration(struct reader *r, const struct place *at, const json_t *o, void *of)
{
	const struct usk_model *m = &((struct usk_clocks *)of)->model;
	const char *word = json_string_value(json_object_get(o, "duration_ns"));
	if (m->kind == USK_SEGMENTS && !(word && !strcmp(word, "auto"))) {
		usk_field_get(r, at, o, &duration_field, of);
		if (m->segment_ns < 0) {
			usk_json_wrong(r, at, "duration_ns", "is negative");
		}
	}
}

static const struct usk_field model_fields[] = {
	{ "name", FIELD_NAME, AT(usk_clocks, model.kind), .name = model_name, .last = USK_SEGMENTS,
	  .otherwise = "is \"%.40s\", which this version does not know" },
	{ "ppm", FIELD_OWN, .put = put_ppm, .get = get_ppm },
	{ "duration_ns", FIELD_OWN, .put = put_duration, .get = get_duration },
	{ "max_skew_ppm", FIELD_WANDER, AT(usk_clocks, max_skew_e12) },
	{ "min_delay", FIELD_TEXT, AT(usk_clocks, min_delay) },
	{ NULL },
};

static const struct usk_field solve_fields[] = {
	{ "name", FIELD_TEXT, AT(usk_clocks, solve) },
	{ "how", FIELD_TEXT, AT(usk_clocks, how) },
	{ NULL },
};

static void put_kind(struct usk_json_out *o, const struct usk_clocks *c, const void *of)
{
	(void)c;
	usk_json_put(o, usk_json_text(((const struct usk_trace_info *)of)->kind));
}

static void get_kind(struct reader *r, const struct place *at, const json_t *o, void *of)
{
	char *name = usk_json_string(r, at, o, "kind");
	const char *known = "unknown"; /* of another build; nothing depends on it */
	const struct usk_reader_info *info;
	for (size_t i = 0; (info = usk_reader(i)); i++) {
		known = strcmp(info->name, name) ? known : info->name;
	}
	((struct usk_trace_info *)of)->kind = known;
	free(name);
}

static const struct usk_field interface_fields[] = {
	{ "interface", FIELD_TEXT, AT(usk_iface_clock, iface) },
	{ "clock", FIELD_CLOCK, AT(usk_iface_clock, clock) },
	{ NULL },
};

static const struct usk_field trace_fields[] = {
	/* A table is stamped by all the clocks that it names. */
	{ "clock", FIELD_CLOCK_OR_NULL, AT(usk_trace_info, clock) },
	{ "path", FIELD_TEXT, AT(usk_trace_info, path) },
	{ "kind", FIELD_OWN, .put = put_kind, .get = get_kind },
	{ "events", FIELD_COUNT, AT(usk_trace_info, events) },
	{ "truncated", FIELD_BOOL, AT(usk_trace_info, truncated) },
	{ "local", .flags = FIELD_MAY_MISS, LIST(usk_trace_info, local, n_local),
	  .each = FIELD_TEXT },
	{ "interfaces", .flags = FIELD_MAY_MISS,
	  ROWS(usk_trace_info, iface, n_ifaces, interface_fields) },
	{ NULL },
};

static const struct usk_field count_fields[] = {
	{ "matched", FIELD_COUNT, AT(usk_counts, matched) },
	{ "unmatched", FIELD_COUNT, AT(usk_counts, unmatched) },
	{ "ambiguous", FIELD_COUNT, AT(usk_counts, ambiguous) },
	{ "expired", FIELD_COUNT, AT(usk_counts, expired) },
	{ "direction_unknown", FIELD_COUNT, AT(usk_counts, direction_unknown) },
	{ "outliers", FIELD_COUNT, AT(usk_counts, outliers) },
	{ "fragments", FIELD_COUNT, FIELD_MAY_MISS, AT(usk_counts, fragments) },
	{ "not_ip", FIELD_COUNT, FIELD_MAY_MISS, AT(usk_counts, not_ip) },
	{ "loopback", FIELD_COUNT, FIELD_MAY_MISS, AT(usk_counts, loopback) },
	{ "cut_short", FIELD_COUNT, FIELD_MAY_MISS, AT(usk_counts, cut_short) },
	{ "unsure", FIELD_COUNT, FIELD_MAY_MISS, AT(usk_counts, unsure) },
	{ "passed", FIELD_COUNT, FIELD_MAY_MISS, AT(usk_counts, passed) },
	{ "alike", FIELD_COUNT, FIELD_MAY_MISS, AT(usk_counts, alike) },
	{ NULL },
};

static const struct usk_field island_fields[] = {
	{ "reference", FIELD_CLOCK, AT(usk_island, reference) },
	{ "clocks", LIST(usk_island, clock, n_clocks), .each = FIELD_CLOCK },
	{ NULL },
};

const struct usk_field usk_clocks_head[] = {
	{ "model", FIELD_OBJECT, .fields = model_fields },
	{ "method", FIELD_TEXT, AT(usk_clocks, method) },
	{ "solve", FIELD_OBJECT, .fields = solve_fields },
	{ "traces", ROWS(usk_clocks, trace, n_traces, trace_fields) },
	{ "messages", FIELD_OBJECT, AT(usk_clocks, counts), .fields = count_fields },
	{ "islands", ROWS(usk_clocks, island, n_islands, island_fields) },
	{ NULL },
};

static const struct usk_field as_recorded_fields[] = {
	{ "inversions", FIELD_COUNT, AT(usk_evaluation, recorded_inversions) },
	{ "broadcasts", FIELD_OBJECT, FIELD_MAY_MISS, AT(usk_evaluation, heard_recorded),
	  .fields = difference_fields },
	{ NULL },
};

static const struct usk_field too_fast_fields[] = {
	{ "count", FIELD_COUNT, AT(usk_violations, count) },
	{ "percent", FIELD_NUMBER, AT(usk_violations, percent) },
	{ "max_ns", FIELD_SPAN_OR_NULL, AT(usk_violations, max_ns) },
	{ "mean_ns", FIELD_SPAN_OR_NULL, AT(usk_violations, mean_ns) },
	{ NULL },
};

static const struct usk_field as_corrected_fields[] = {
	{ "inversions", FIELD_COUNT, AT(usk_evaluation, corrected_inversions) },
	{ "outlier_inversions", FIELD_COUNT, FIELD_MAY_MISS,
	  AT(usk_evaluation, outlier_inversions) },
	{ "too_fast", FIELD_OBJECT, AT(usk_evaluation, too_fast), .fields = too_fast_fields },
	{ "broadcasts", FIELD_OBJECT, FIELD_MAY_MISS, AT(usk_evaluation, heard_corrected),
	  .fields = difference_fields },
	{ NULL },
};

static const struct usk_field half_width_fields[] = {
	{ "best", FIELD_SPAN_OR_NULL, AT(usk_evaluation, half_best_ns) },
	{ "worst", FIELD_SPAN_OR_NULL, AT(usk_evaluation, half_worst_ns) },
	{ "mean", FIELD_SPAN_OR_NULL, AT(usk_evaluation, half_mean_ns) },
	{ NULL },
};

static const struct usk_field evaluation_fields[] = {
	{ "recorded", FIELD_OBJECT, .fields = as_recorded_fields },
	{ "corrected", FIELD_OBJECT, .fields = as_corrected_fields },
	{ "half_width_ns", FIELD_OBJECT, .fields = half_width_fields },
	{ NULL },
};

const struct usk_field usk_clocks_tail[] = {
	{ "evaluation", FIELD_OBJECT, AT(usk_clocks, evaluation), .fields = evaluation_fields },
	{ "notes", .flags = FIELD_MAY_MISS, LIST(usk_clocks, note, n_notes), .each = FIELD_TEXT },
	{ NULL },
};

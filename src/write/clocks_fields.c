/* SPDX-License-Identifier: MIT */
/*
 * clocks_fields.c - what clocks.json holds: its keys
 *
 * Not   what of them has to hold (clocks_check.c)
 */
#include "write/field_rows.h"
#include "read/trace.h"
#include "write/write.h"

#include <stdlib.h>
#include <string.h>

const char *usk_quality_text(unsigned q)
{
	return usk_quality_name((enum usk_quality)q);
}

/* ---- clocks ------------------------------------------------------------------------------------
 */

static const struct usk_field knot_fields[] = {
	{ "local_ns", FIELD_TIME, AT(usk_knot, local_ns), .help = "A stamp of this clock." },
	{ "offset_ns", FIELD_TIME_OR_NULL, AT(usk_knot, offset_ns),
	  .help = "The correction there: reference time = stamp + offset. null: the clock is "
		  "one-sided." },
	{ "lo_ns", FIELD_TIME_OR_NULL, AT(usk_knot, lo_ns),
	  .help = "The least that the offset can be there. null: nothing bounds it from below." },
	{ "hi_ns", FIELD_TIME_OR_NULL, AT(usk_knot, hi_ns),
	  .help = "The most that it can be. null: nothing bounds it from above." },
	{ "epoch", FIELD_SMALL, FIELD_MAY_MISS | FIELD_OMIT, AT(usk_knot, epoch),
	  .help = "How often the clock was stepped backward before, as its records show." },
	{ .key = NULL },
};

static const char *jump_name(unsigned kind)
{
	return kind == USK_BEND ? "bend" : "jump";
}

static const struct usk_field jump_fields[] = {
	{ "kind", FIELD_NAME, AT(usk_jump, kind), .name = jump_name, .last = USK_BEND,
	  .otherwise = "is neither \"jump\" nor \"bend\"",
	  .help = "jump: a step. bend: its rate changed by more than the model allows." },
	{ "of", FIELD_CLOCK_OR_NULL, FIELD_MAY_MISS, AT(usk_jump, of),
	  .help = "The clock that did it." },
	{ "or", FIELD_CLOCK_OR_NULL, FIELD_MAY_MISS | FIELD_OMIT, AT(usk_jump, or_of),
	  .help = "A clock that may have done it as well, where messages cannot tell." },
	{ "likely", FIELD_BOOL, FIELD_MAY_MISS | FIELD_OMIT, AT(usk_jump, likely),
	  .help = "Beside \"or\": it was more likely the clock in \"of\"." },
	{ "after_local_ns", FIELD_TIME, AT(usk_jump, after_local_ns),
	  .help = "It happened after this stamp of the clock, or at it," },
	{ "before_local_ns", FIELD_TIME, AT(usk_jump, before_local_ns),
	  .help = "and before this one, or at it." },
	{ "size_lo_ns", FIELD_SPAN_OR_NULL, AT(usk_jump, size_lo_ns),
	  .help = "The offset rises by this at least: positive if the clock was stepped backward. "
		  "null: unknown." },
	{ "size_hi_ns", FIELD_SPAN_OR_NULL, AT(usk_jump, size_hi_ns),
	  .help = "The offset rises by this at most. null: unknown." },
	{ "epoch", FIELD_SMALL, FIELD_MAY_MISS, AT(usk_jump, epoch),
	  .help = "The epoch of after_local_ns." },
	{ "end_epoch", FIELD_SMALL, FIELD_MAY_MISS, AT(usk_jump, end_epoch),
	  .help = "The epoch of before_local_ns." },
	{ .key = NULL },
};

static const struct usk_field disturbed_fields[] = {
	{ "from_ns", FIELD_TIME, AT(usk_disturbed, from_ns),
	  .help = "The stretch's first stamp of this clock." },
	{ "to_ns", FIELD_TIME, AT(usk_disturbed, to_ns), .help = "Its last one." },
	{ "epoch", FIELD_SMALL, FIELD_MAY_MISS | FIELD_OMIT, AT(usk_disturbed, epoch),
	  .help = "The epoch of both." },
	{ .key = NULL },
};

static const struct usk_field set_back_fields[] = {
	{ "from_ns", FIELD_TIME, AT(usk_set_back, from_ns),
	  .help = "The highest stamp before the step." },
	{ "to_ns", FIELD_TIME, AT(usk_set_back, to_ns), .help = "The first stamp after it." },
	{ .key = NULL },
};

const struct usk_field usk_wander_fields[] = {
	{ "assumed_ppm", FIELD_WANDER, AT(usk_wander, assumed_e12),
	  .help = "How far a rate may lie from a constant, as was asked for." },
	{ "needed_ppm", FIELD_WANDER, AT(usk_wander, needed_e12),
	  .help = "The least wander with which the messages can all be true." },
	{ "used_ppm", FIELD_WANDER, AT(usk_wander, used_e12),
	  .help = "What the bounds allow for: the larger of what was assumed and twice what is "
		  "needed." },
	{ .key = NULL },
};

static const struct usk_field slope_fields[] = {
	{ "least_ppm", FIELD_RATE, AT(usk_slopes, least_e12),
	  .help = "The offset changes by this at least, ns a ms of the clock." },
	{ "most_ppm", FIELD_RATE, AT(usk_slopes, most_e12),
	  .help = "By this at most. 1000000 both ways: nothing is known of it." },
	{ .key = NULL },
};

static const struct usk_field width_fields[] = {
	{ "best", FIELD_SPAN_OR_NULL, AT(usk_widths, best_ns),
	  .help = "The least half width of the band. null: it has none." },
	{ "worst", FIELD_SPAN_OR_NULL, AT(usk_widths, worst_ns), .help = "The largest." },
	{ "mean", FIELD_SPAN_OR_NULL, AT(usk_widths, mean_ns),
	  .help = "The mean over the clock's time." },
	{ "open", FIELD_SPAN_OR_NULL, FIELD_MAY_MISS | FIELD_OMIT, AT(usk_widths, open_ns),
	  .help = "For so long a side has no bound: that is not in these three. Left out: never." },
	{ .key = NULL },
};

static void put_widths(struct usk_json_out *o, const struct usk_clocks *c, const void *of)
{
	struct usk_widths w = usk_band_widths(of);
	usk_fields_put(o, c, width_fields, &w);
}

static const struct usk_field headline_fields[] = {
	{ "local_ns", FIELD_TIME_OR_NULL, AT(usk_headline, middle_ns),
	  .help = "The middle of the stretch between steps with the most messages." },
	{ "epoch", FIELD_SMALL, FIELD_MAY_MISS | FIELD_OMIT, AT(usk_headline, epoch),
	  .help = "Its epoch." },
	{ "offset_ns", FIELD_TIME_OR_NULL, AT(usk_headline, offset_ns),
	  .help = "The offset there. null: the clock has none." },
	{ "lo_ns", FIELD_TIME_OR_NULL, AT(usk_headline, lo_ns),
	  .help = "The least that it can be. null: nothing bounds it from below." },
	{ "hi_ns", FIELD_TIME_OR_NULL, AT(usk_headline, hi_ns),
	  .help = "The most that it can be. null: nothing bounds it from above." },
	{ .key = NULL },
};

static void put_headline(struct usk_json_out *o, const struct usk_clocks *c, const void *of)
{
	struct usk_headline h = usk_headline_of(c, of);
	usk_fields_put(o, c, headline_fields, &h);
}

static const struct usk_field beyond_fields[] = {
	{ "local_ns", FIELD_TIME, AT(usk_beyond, local_ns),
	  .help = "A stamp of this clock outside of its knots." },
	{ "lo_ns", FIELD_TIME, AT(usk_beyond, lo_ns),
	  .help = "The least that the offset can be there." },
	{ "hi_ns", FIELD_TIME, AT(usk_beyond, hi_ns), .help = "The most that it can be." },
	{ .key = NULL },
};

const struct usk_field usk_clock_fields[] = {
	{ "name", FIELD_TEXT, AT(usk_clock, name), .help = "The clock's name; no two are alike." },
	{ "reference", FIELD_CLOCK, AT(usk_clock, reference),
	  .help = "The clock whose time it is put on: the reference of its island." },
	QUALITY(usk_clock, "reference; bounded: on both sides; one-sided: no offset, but a bound; "
			   "absent: no message; contradicted: its messages cannot all be true."),
	{ "path", LIST(usk_clock, path, n_path), .each = FIELD_CLOCK,
	  .help = "The way from the reference to this clock over messages, both included." },
	{ "resolution_ns", FIELD_TIME, AT(usk_clock, resolution_ns),
	  .help = "What its stamps are rounded down to." },
	{ "readings", FIELD_COUNT, FIELD_MAY_MISS | FIELD_OMIT, AT(usk_clock, readings),
	  .help = "So many packets say what it showed: nobody recorded it (--readings)." },
	{ "quantum_ns", FIELD_TIME, FIELD_MAY_MISS | FIELD_OMIT, AT(usk_clock, quantum_ns),
	  .help = "How much the coarsest of these readings may be off, which the bounds allow "
		  "for." },
	{ "residual_ns", FIELD_TIME, FIELD_MAY_MISS | FIELD_OMIT, AT(usk_clock, residual_ns),
	  .help = "The residual error Er of a method through round trips, summed along the path." },
	{ "drift_ppm", FIELD_NUMBER, AT(usk_clock, drift_ppm),
	  .help = "How much faster the clock runs than the reference, over the whole trace less "
		  "its jumps. null: unknown." },
	{ "drift_min_ppm", FIELD_NUMBER, AT(usk_clock, drift_min_ppm),
	  .help = "The least that it can be. null: unknown." },
	{ "drift_max_ppm", FIELD_NUMBER, AT(usk_clock, drift_max_ppm),
	  .help = "The most that it can be. null: unknown." },
	{ "wander", FIELD_OBJECT, FIELD_MAY_MISS, AT(usk_clock, wander),
	  .fields = usk_wander_fields,
	  .help = "How far its rate may lie from a constant, outside of disturbed stretches." },
	{ "headline", FIELD_OWN, FIELD_MAY_MISS, .fields = headline_fields, .put = put_headline,
	  .help = "The one offset that the table prints. unskew writes it and does not read it." },
	{ "half_width_ns", FIELD_OWN, FIELD_MAY_MISS, .fields = width_fields, .put = put_widths,
	  .help = "Half the width of its band. unskew writes it and does not read it." },
	{ "knots", ROWS(usk_clock, knot, n_knots, knot_fields),
	  .help = "The correction: straight between knots, by stamps that rise; epochs one after "
		  "the other. reference - local." },
	{ "before", FIELD_OBJECT, FIELD_MAY_MISS, AT(usk_clock, before), .fields = slope_fields,
	  .help = "How the band opens before the first knot." },
	{ "after", FIELD_OBJECT, FIELD_MAY_MISS, AT(usk_clock, after), .fields = slope_fields,
	  .help = "How it opens after the last knot." },
	{ "beyond", .flags = FIELD_MAY_MISS | FIELD_OMIT,
	  ROWS(usk_clock, beyond, n_beyond, beyond_fields),
	  .help = "Further points of the band outside of the knots, straight from one to the next "
		  "(linear)." },
	{ "jumps", ROWS(usk_clock, jump, n_jumps, jump_fields),
	  .help = "Where its time jumps, or its rate changes by more than the model allows." },
	{ "disturbed", .flags = FIELD_MAY_MISS,
	  ROWS(usk_clock, stretch, n_stretches, disturbed_fields),
	  .help = "Stretches in which it, or its reference, may have been stepped or slewed: the "
		  "skew limit alone bounds its rate there." },
	{ "set_back", .flags = FIELD_MAY_MISS | FIELD_OMIT,
	  ROWS(usk_clock, set_back, n_set_backs, set_back_fields),
	  .help = "Steps backward that the order of its records shows: the i-th leads from epoch i "
		  "to i + 1." },
	{ .key = NULL },
};

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
		usk_json_put_text(o, "auto");
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

static const struct usk_field stated_delay_fields[] = {
	{ "sender", FIELD_CLOCK, AT(usk_stated_delay, from), .help = "The clock that sent." },
	{ "receiver", FIELD_CLOCK, AT(usk_stated_delay, to), .help = "The one that received." },
	{ "ns", FIELD_TIME, AT(usk_stated_delay, ns),
	  .help = "None of its messages takes less, whatever its size." },
	{ .key = NULL },
};

static const struct usk_field model_fields[] = {
	{ "name", FIELD_NAME, AT(usk_clocks, model.kind), .name = model_name, .last = USK_SEGMENTS,
	  .otherwise = "is \"%.40s\", which this version does not know",
	  .help = "linear, wander or segments: what clocks are assumed to do." },
	{ "ppm", FIELD_OWN, .each = FIELD_NUMBER, .put = put_ppm, .get = get_ppm,
	  .help = "How far a rate may lie from a constant (wander). null: another model." },
	{ "duration_ns", FIELD_OWN, .each = FIELD_TEXT, .put = put_duration, .get = get_duration,
	  .help = "How long a rate lasts (segments), or auto. null: another model." },
	{ "max_skew_ppm", FIELD_WANDER, AT(usk_clocks, max_skew_e12),
	  .help = "No two rates differ by more." },
	{ "min_delay", FIELD_TEXT, AT(usk_clocks, min_delay),
	  .help = "The minimum delay, as it was stated." },
	{ "min_delays", .flags = FIELD_MAY_MISS | FIELD_OMIT,
	  ROWS(usk_clocks, stated_delay, n_stated_delays, stated_delay_fields),
	  .help = "What that is for each two clocks." },
	{ .key = NULL },
};

static const struct usk_field solve_fields[] = {
	{ "name", FIELD_TEXT, AT(usk_clocks, solve), .help = "How many clocks were solved." },
	{ "how", FIELD_TEXT, AT(usk_clocks, how), .help = "The same in words." },
	{ .key = NULL },
};

static void put_kind(struct usk_json_out *o, const struct usk_clocks *c, const void *of)
{
	(void)c;
	usk_json_put_text(o, ((const struct usk_trace_info *)of)->kind);
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
	{ "interface", FIELD_TEXT, AT(usk_iface_clock, iface),
	  .help = "An interface of the file." },
	{ "clock", FIELD_CLOCK, AT(usk_iface_clock, clock), .help = "The clock that stamped it." },
	{ .key = NULL },
};

static const struct usk_field begin_fields[] = {
	{ "clock", FIELD_CLOCK, AT(usk_trace_begin, clock), .help = "A clock that stamped it." },
	{ "epoch", FIELD_SMALL, AT(usk_trace_begin, epoch),
	  .help = "The epoch of its first stamp in it, or one that begins later in it." },
	{ "record", FIELD_COUNT, FIELD_MAY_MISS | FIELD_OMIT, AT(usk_trace_begin, record),
	  .help = "That begins with this record of the clock in it, counted from 0." },
	{ .key = NULL },
};

static const struct usk_field trace_fields[] = {
	/* A table is stamped by all the clocks that it names. */
	{ "clock", FIELD_CLOCK_OR_NULL, AT(usk_trace_info, clock),
	  .help = "The clock that stamped it. null: a table of several." },
	{ "path", FIELD_TEXT, AT(usk_trace_info, path), .help = "The file." },
	{ "kind", FIELD_OWN, .each = FIELD_TEXT, .put = put_kind, .get = get_kind,
	  .help = "Its format." },
	{ "events", FIELD_COUNT, AT(usk_trace_info, events),
	  .help = "Records, rows or events in it." },
	{ "truncated", FIELD_BOOL, AT(usk_trace_info, truncated), .help = "Is its end missing?" },
	{ "local", .flags = FIELD_MAY_MISS, LIST(usk_trace_info, local, n_local),
	  .each = FIELD_TEXT,
	  .help = "Addresses of the machine that recorded it, stated or found." },
	{ "interfaces", .flags = FIELD_MAY_MISS,
	  ROWS(usk_trace_info, iface, n_ifaces, interface_fields),
	  .help = "Interfaces that have clocks of their own (--clock-of)." },
	{ "begins", .flags = FIELD_MAY_MISS | FIELD_OMIT,
	  ROWS(usk_trace_info, begin, n_begins, begin_fields),
	  .help = "Which epochs of clocks that were set back, and have several files, begin in "
		  "it." },
	{ .key = NULL },
};

static const struct usk_field count_fields[] = {
	{ "matched", FIELD_COUNT, AT(usk_counts, matched),
	  .help = "Messages: what one machine sent and another received." },
	{ "unmatched", FIELD_COUNT, AT(usk_counts, unmatched),
	  .help = "Packets or rows without a partner." },
	{ "ambiguous", FIELD_COUNT, AT(usk_counts, ambiguous),
	  .help = "Left out, as several may be the partner." },
	{ "expired", FIELD_COUNT, AT(usk_counts, expired),
	  .help = "No partner was found within the matching window." },
	{ "direction_unknown", FIELD_COUNT, AT(usk_counts, direction_unknown),
	  .help = "Left out, as nothing shows who sent them." },
	{ "outliers", FIELD_COUNT, AT(usk_counts, outliers),
	  .help = "Messages that contradict others and are ignored." },
	{ "fragments", FIELD_COUNT, FIELD_MAY_MISS, AT(usk_counts, fragments),
	  .help = "Fragments of IP but for the first ones." },
	{ "not_ip", FIELD_COUNT, FIELD_MAY_MISS, AT(usk_counts, not_ip),
	  .help = "Packets that are not IP." },
	{ "loopback", FIELD_COUNT, FIELD_MAY_MISS, AT(usk_counts, loopback),
	  .help = "Packets of a machine to itself." },
	{ "cut_short", FIELD_COUNT, FIELD_MAY_MISS, AT(usk_counts, cut_short),
	  .help = "Packets recorded too short to be told apart." },
	{ "unsure", FIELD_COUNT, FIELD_MAY_MISS, AT(usk_counts, unsure),
	  .help = "Matched, though it may be with the wrong copy of a segment that was sent "
		  "twice." },
	{ "passed", FIELD_COUNT, FIELD_MAY_MISS, AT(usk_counts, passed),
	  .help = "Further sightings of packets that a machine saw more than once." },
	{ "alike", FIELD_COUNT, FIELD_MAY_MISS, AT(usk_counts, alike),
	  .help = "Datagrams that nothing tells from each other." },
	{ .key = NULL },
};

static const struct usk_field island_fields[] = {
	{ "reference", FIELD_CLOCK, AT(usk_island, reference), .help = "Its reference." },
	{ "clocks", LIST(usk_island, clock, n_clocks), .each = FIELD_CLOCK,
	  .help = "The clocks that messages tie to it, and itself." },
	{ .key = NULL },
};

const struct usk_field usk_clocks_head[] = {
	{ "model", FIELD_OBJECT, .fields = model_fields, .help = "What was assumed of clocks." },
	{ "method", FIELD_TEXT, AT(usk_clocks, method),
	  .help = "The estimator that drew the offset within the band." },
	{ "solve", FIELD_OBJECT, .fields = solve_fields, .help = "How pairs became clocks." },
	{ "traces", ROWS(usk_clocks, trace, n_traces, trace_fields), .help = "What was read." },
	{ "messages", FIELD_OBJECT, AT(usk_clocks, counts), .fields = count_fields,
	  .help = "How many messages there are, and what was left out." },
	{ "islands", ROWS(usk_clocks, island, n_islands, island_fields),
	  .help = "Clocks that messages tie to each other, and to no others." },
	{ .key = NULL },
};

static const struct usk_field as_recorded_fields[] = {
	{ "inversions", FIELD_COUNT, AT(usk_evaluation, recorded_inversions),
	  .help = "Messages received before they were sent, as recorded." },
	{ "broadcasts", FIELD_OBJECT, FIELD_MAY_MISS, AT(usk_evaluation, broadcasts_recorded),
	  .fields = usk_difference_fields,
	  .help = "Receipts of one broadcast by two clocks, as recorded, over all pairs." },
	{ .key = NULL },
};

static const struct usk_field too_fast_fields[] = {
	{ "count", FIELD_COUNT, AT(usk_violations, count),
	  .help = "Messages that are faster than their minimum delay." },
	{ "percent", FIELD_NUMBER, AT(usk_violations, percent), .help = "In percent of all." },
	{ "max_ns", FIELD_SPAN_OR_NULL, AT(usk_violations, max_ns),
	  .help = "By this at most. null: there is none." },
	{ "mean_ns", FIELD_SPAN_OR_NULL, AT(usk_violations, mean_ns),
	  .help = "By this in the mean." },
	{ .key = NULL },
};

static const struct usk_field as_corrected_fields[] = {
	{ "inversions", FIELD_COUNT, AT(usk_evaluation, corrected_inversions),
	  .help = "Messages received before they were sent, corrected." },
	{ "outlier_inversions", FIELD_COUNT, FIELD_MAY_MISS, AT(usk_evaluation, outlier_inversions),
	  .help = "So many of those that were left out as outliers are." },
	{ "too_fast", FIELD_OBJECT, AT(usk_evaluation, too_fast), .fields = too_fast_fields,
	  .help = "Messages faster than their minimum delay, corrected." },
	{ "broadcasts", FIELD_OBJECT, FIELD_MAY_MISS, AT(usk_evaluation, broadcasts_corrected),
	  .fields = usk_difference_fields,
	  .help = "Receipts of one broadcast by two clocks, corrected." },
	{ .key = NULL },
};

static const struct usk_field half_width_fields[] = {
	{ "best", FIELD_SPAN_OR_NULL, AT(usk_evaluation, half_best_ns),
	  .help = "The least half width of a clock's band. null: no clock is bounded." },
	{ "worst", FIELD_SPAN_OR_NULL, AT(usk_evaluation, half_worst_ns), .help = "The largest." },
	{ "mean", FIELD_SPAN_OR_NULL, AT(usk_evaluation, half_mean_ns),
	  .help = "The mean over clocks and their time." },
	{ .key = NULL },
};

static const struct usk_field evaluation_fields[] = {
	{ "recorded", FIELD_OBJECT, .fields = as_recorded_fields,
	  .help = "The traces as they are." },
	{ "corrected", FIELD_OBJECT, .fields = as_corrected_fields,
	  .help = "The traces, corrected." },
	{ "half_width_ns", FIELD_OBJECT, .fields = half_width_fields,
	  .help = "Half the widths of all bands." },
	{ .key = NULL },
};

const struct usk_field usk_clocks_tail[] = {
	{ "evaluation", FIELD_OBJECT, AT(usk_clocks, evaluation), .fields = evaluation_fields,
	  .help = "How good the answer is." },
	{ "notes", .flags = FIELD_MAY_MISS, LIST(usk_clocks, note, n_notes), .each = FIELD_TEXT,
	  .help = "Sentences on what is not bounded, and what would help." },
	{ .key = NULL },
};

/* SPDX-License-Identifier: MIT */
/*
 * pair_fields.c - what clocks.json holds of a pair: its keys
 */
#include "write/field_rows.h"

#define MESSAGE_FIELDS(type, msg)                                                                  \
	{ "sender", FIELD_CLOCK, AT(type, msg from), .help = "The clock that stamped the send." }, \
		{ "receiver", FIELD_CLOCK, AT(type, msg to),                                       \
		  .help = "The clock that stamped the receipt." },                                 \
		{ "sent_ns", FIELD_TIME, AT(type, msg sent_ns),                                    \
		  .help = "The sender's stamp, as recorded." },                                    \
		{ "received_ns", FIELD_TIME, AT(type, msg received_ns),                            \
		  .help = "The receiver's stamp, as recorded." },                                  \
	{                                                                                          \
		"bytes", FIELD_SMALL, FIELD_MAY_MISS, AT(type, msg bytes),                         \
			.help = "The message's length."                                            \
	}

static const struct usk_field message_fields[] = { MESSAGE_FIELDS(usk_msg, ), { .key = NULL } };

static const struct usk_field outlier_fields[] = {
	MESSAGE_FIELDS(usk_outlier, msg.),
	{ "excess_ns", FIELD_SPAN_OR_NULL, AT(usk_outlier, excess_ns),
	  .help = "It contradicts the others by this at least." },
	{ .key = NULL },
};

static const struct usk_field evidence_fields[] = {
	{ "option", FIELD_COUNT, FIELD_MAY_MISS, AT(usk_evidence, option),
	  .help = "Messages whose sender --local says." },
	{ "link", FIELD_COUNT, FIELD_MAY_MISS, AT(usk_evidence, link),
	  .help = "Those whose packet type in a cooked header says it." },
	{ "interface", FIELD_COUNT, FIELD_MAY_MISS, AT(usk_evidence, interface),
	  .help = "Those whose interface says it." },
	{ "address", FIELD_COUNT, FIELD_MAY_MISS, AT(usk_evidence, address),
	  .help = "Those that end at the address which all packets of a capture have." },
	{ "ttl", FIELD_COUNT, FIELD_MAY_MISS, AT(usk_evidence, ttl),
	  .help = "Those with fewer hops left in one capture." },
	{ "exchange", FIELD_COUNT, FIELD_MAY_MISS, AT(usk_evidence, exchange),
	  .help = "Those told by the times of answers." },
	{ .key = NULL },
};

static const struct usk_field delay_fields[] = {
	{ "count", FIELD_COUNT, AT(usk_delays, n), .help = "So many messages." },
	{ "inversions", FIELD_COUNT, FIELD_MAY_MISS, AT(usk_delays, inversions),
	  .help = "So many of them were received before they were sent." },
	{ "min", FIELD_SPAN_OR_NULL, AT(usk_delays, min_ns),
	  .help = "The shortest delay. null: no message." },
	{ "median", FIELD_SPAN_OR_NULL, AT(usk_delays, median_ns), .help = "The median delay." },
	{ "p99", FIELD_SPAN_OR_NULL, AT(usk_delays, p99_ns), .help = "99 % take no longer." },
	{ "max", FIELD_SPAN_OR_NULL, AT(usk_delays, max_ns), .help = "The longest." },
	{ .key = NULL },
};

const struct usk_field usk_difference_fields[] = {
	{ "count", FIELD_COUNT, AT(usk_difference, n),
	  .help = "So many packets that both clocks received." },
	{ "min_ns", FIELD_SPAN_OR_NULL, AT(usk_difference, min_ns),
	  .help = "The least difference of the two receipts. null: there is none." },
	{ "max_ns", FIELD_SPAN_OR_NULL, AT(usk_difference, max_ns), .help = "The largest." },
	{ "mean_ns", FIELD_SPAN_OR_NULL, AT(usk_difference, mean_ns), .help = "The mean." },
	{ "sd_ns", FIELD_SPAN_OR_NULL, AT(usk_difference, sd_ns),
	  .help = "The standard deviation." },
	{ .key = NULL },
};

static const struct usk_field recorded_fields[] = {
	{ "a_to_b", FIELD_OBJECT, AT(usk_pair, recorded_a_to_b), .fields = delay_fields,
	  .help = "From a to b." },
	{ "b_to_a", FIELD_OBJECT, AT(usk_pair, recorded_b_to_a), .fields = delay_fields,
	  .help = "From b to a." },
	{ .key = NULL },
};

static const struct usk_field min_delay_fields[] = {
	{ "a_to_b", FIELD_SPAN_OR_NULL, AT(usk_pair, min_delay_a_to_b_ns),
	  .help = "No message from a to b is assumed to take less. null: nothing was stated." },
	{ "b_to_a", FIELD_SPAN_OR_NULL, AT(usk_pair, min_delay_b_to_a_ns),
	  .help = "No message from b to a." },
	{ .key = NULL },
};

static const struct usk_field corrected_fields[] = {
	{ "a_to_b", FIELD_OBJECT, AT(usk_pair, corrected_a_to_b), .fields = delay_fields,
	  .help = "From a to b." },
	{ "b_to_a", FIELD_OBJECT, AT(usk_pair, corrected_b_to_a), .fields = delay_fields,
	  .help = "From b to a." },
	{ .key = NULL },
};

const struct usk_field usk_pair_fields[] = {
	{ "a", FIELD_CLOCK, AT(usk_pair, a), .help = "One clock of the pair." },
	{ "b", FIELD_CLOCK, AT(usk_pair, b), .help = "The other one." },
	{ "a_to_b", FIELD_COUNT, AT(usk_pair, a_to_b), .help = "Messages from a to b." },
	{ "b_to_a", FIELD_COUNT, AT(usk_pair, b_to_a), .help = "Messages from b to a." },
	QUALITY(usk_pair, "As a clock's, by the messages of this pair alone."),
	{ "half_width_ns", FIELD_SPAN_OR_NULL, AT(usk_pair, half_width_ns),
	  .help = "Half of the least width that its messages leave between both bounds. null: "
		  "unknown." },
	{ "half_width_at_ns", FIELD_TIME_OR_NULL, AT(usk_pair, half_width_at_ns),
	  .help = "b's stamp at which they do." },
	{ "residual_ns", FIELD_TIME, FIELD_MAY_MISS | FIELD_OMIT, AT(usk_pair, residual_ns),
	  .help = "The residual error Er of a method through round trips." },
	{ "wander", FIELD_OBJECT, AT(usk_pair, wander), .fields = usk_wander_fields,
	  .help = "What its messages need, of both clocks together." },
	{ "sender_evidence", FIELD_OBJECT, AT(usk_pair, evidence), .fields = evidence_fields,
	  .help = "By what the sender of its messages is known." },
	{ "outliers", ROWS(usk_pair, outlier, n_outliers, outlier_fields),
	  .help = "Messages that contradict others and are ignored." },
	{ "contradiction", ROWS(usk_pair, contradiction, n_contradiction, message_fields),
	  .help = "Messages that cannot all be true." },
	{ "recorded_delay_ns", FIELD_OBJECT, FIELD_MAY_MISS, .fields = recorded_fields,
	  .help = "One-way delays as recorded." },
	{ "min_delay_ns", FIELD_OBJECT, FIELD_MAY_MISS, .fields = min_delay_fields,
	  .help = "What --min-delay makes of the pair." },
	{ "corrected_delay_ns", FIELD_OBJECT, FIELD_MAY_MISS, .fields = corrected_fields,
	  .help = "One-way delays, corrected." },
	{ "recorded_broadcasts", FIELD_OBJECT, FIELD_MAY_MISS, AT(usk_pair, broadcasts_recorded),
	  .fields = usk_difference_fields,
	  .help = "By how much the two receipts of one broadcast differ, as recorded." },
	{ "corrected_broadcasts", FIELD_OBJECT, FIELD_MAY_MISS, AT(usk_pair, broadcasts_corrected),
	  .fields = usk_difference_fields, .help = "The same, corrected." },
	{ .key = NULL },
};

static const struct usk_field hull_fields[] = {
	{ "floor", FIELD_COUNT, FIELD_MAY_MISS, AT(usk_pair, hull_floor),
	  .help = "Vertices of the lower hull." },
	{ "ceiling", FIELD_COUNT, FIELD_MAY_MISS, AT(usk_pair, hull_ceiling),
	  .help = "Vertices of the upper hull." },
	{ .key = NULL },
};

const struct usk_field usk_corridor_fields[] = {
	{ "a", FIELD_CLOCK, AT(usk_pair, a),
	  .help = "One clock of the pair; rows are in the order of pairs." },
	{ "b", FIELD_CLOCK, AT(usk_pair, b),
	  .help = "The other one, whose stamps the points have." },
	{ "bucket_ns", FIELD_TIME, AT(usk_pair, bucket_ns),
	  .help = "Of each stretch of this length the points that say most are kept." },
	{ "hull_vertices", FIELD_OBJECT, FIELD_MAY_MISS, .fields = hull_fields,
	  .help = "How many points are on the hulls." },
	{ "floor", LIST(usk_pair, floor, n_floor), .each = FIELD_POINT,
	  .help = "[b's stamp, offset]: the offset of b against a is no less there." },
	{ "ceiling", LIST(usk_pair, ceiling, n_ceiling), .each = FIELD_POINT,
	  .help = "[b's stamp, offset]: the offset of b against a is no more there." },
	{ .key = NULL },
};

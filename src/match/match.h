/* SPDX-License-Identifier: MIT */
/*
 * match.h - the matching stage: two captures -> messages, in two passes
 *
 * Pass 1 (survey) reads each capture once: a sample by key hash, its own addresses, the grid of
 * its stamps. Two surveys join into a coarse map between the two clocks. Pass 2 (walk) reads
 * both captures in step along that map and pairs every packet within a window.
 */
#ifndef USK_MATCH_H
#define USK_MATCH_H

#include "match/epochs.h"

/* ---- pass 1 ---- */

#define USK_SAMPLES ((size_t)1 << 18)

/* One sampled packet. */
struct usk_sample {
	uint64_t key, pick;
	uint64_t record; /* its number in the trace */
	int64_t time_ns;
	uint32_t way; /* from where to where: index into ways */
	uint16_t ip_id;
	uint8_t has, ttl;
};

struct usk_ends {
	struct usk_addr src, dst;
};

/** Neither multicast, broadcast, unspecified nor link-local: an address that says who one is. */
bool usk_addr_is_unicast(struct usk_addr a);

static inline bool usk_addr_is_v4(struct usk_addr a)
{
	return a.hi == 0 && a.lo >> 32 == 0xffff;
}

static inline bool usk_addr_among(struct usk_addr a, const struct usk_addr *list, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (usk_addr_same(list[i], a)) {
			return true;
		}
	}
	return false;
}

/* What one reading of a capture tells. Its stamps, and the samples', are on a time that runs on. */
struct usk_survey {
	struct usk_epochs epochs;
	struct usk_sample *sample;
	size_t n_samples;
	struct usk_ends *way; /* of the samples */
	size_t n_ways;
	uint64_t records, packets;
	int64_t first_ns, last_ns; /* smallest and largest stamp; meaningless if no records */
	int64_t grid_ns;	   /* gcd of stamp differences; 0 if there is no difference */
	struct usk_counts left_out;
	/* Addresses that end every unicast packet: at most two for IPv6 [0] and for IPv4 [1]. */
	struct usk_addr end[2][2];
	size_t n_ends[2];
};

/**
 * The addresses that are surely mine: the one of a family that ends every unicast packet of my
 * capture and not of the other's. Where both captures hold one conversation only, nobody can say
 * (behind NAT, the peer's address too would stand in one capture alone). Returns how many.
 */
size_t usk_survey_own(const struct usk_survey *mine, const struct usk_survey *other,
		      struct usk_addr own[2]);

/** Read trace from its start to its end. depth: see usk_packet_decode(). */
enum usk_status usk_survey_capture(struct usk_trace *t, uint32_t depth,
				   void (*progress)(void *ctx, uint64_t bytes), void *ctx,
				   struct usk_survey *out, struct usk_err *err);
void usk_survey_free(struct usk_survey *s);

/* Two stamps of one moment, nearly: a message, or one packet seen twice. */
struct usk_sighting {
	int64_t p_ns, q_ns;
	uint32_t way; /* p's */
	uint8_t ttl_p, ttl_q;
};

/*
 * How q's clock runs against p's, roughly: knots of medians, a straight line between them, the
 * outer offsets beyond. Steps and slews of either clock are followed.
 */
struct usk_coarse {
	struct usk_coarse_knot {
		int64_t q_ns;
		int64_t p_minus_q_ns;
		double slope; /* of p - q up to the next knot */
	} * knot;
	size_t n_knots;
	size_t joins;
	double rate;	   /* robust slope of p - q against q */
	int64_t spread_ns; /* how far joins lie from the map: delays, and the map's own error */
	bool ip_id_kept;   /* IP-ID survives the way between the two vantage points */
	struct usk_sighting *seen; /* the joins, sorted by q_ns; NULL after usk_coarse_fit() */
};

/** Join two surveys. joins == 0: they share nothing. */
void usk_coarse_join(const struct usk_survey *p, const struct usk_survey *q,
		     struct usk_coarse *out);
/** The same from sightings, which are sorted in place. */
void usk_coarse_fit(struct usk_sighting *s, size_t n, struct usk_coarse *out);
void usk_coarse_free(struct usk_coarse *c);

/** q's stamp on p's clock. *hint speeds up ascending calls; start it at 0. */
static inline int64_t usk_coarse_to_p(const struct usk_coarse *c, int64_t q_ns, size_t *hint)
{
	const struct usk_coarse_knot *k = c->knot;
	size_t last = c->n_knots - 1, i = *hint;
	while (i < last && k[i + 1].q_ns <= q_ns) {
		i++;
	}
	while (i > 0 && k[i].q_ns > q_ns) {
		i--;
	}
	*hint = i;
	int64_t offset = k[i].p_minus_q_ns, p;
	if (q_ns > k[i].q_ns) {
		/* Between two offsets, so it fits. */
		offset += (int64_t)(k[i].slope *
				    (double)(int64_t)((uint64_t)q_ns - (uint64_t)k[i].q_ns));
	}
	if (__builtin_add_overflow(q_ns, offset, &p)) {
		return offset > 0 ? INT64_MAX : INT64_MIN;
	}
	return p;
}

/* ---- pass 2 ---- */

/** Order of messages by their stamps, for qsort and bsearch. */
int usk_msg_order(const void *a, const void *b);

struct usk_walk_options {
	uint32_t depth;
	uint32_t p, q;				  /* clock numbers that go into the messages */
	const struct usk_addr *local_p, *local_q; /* stated by the user */
	size_t n_local_p, n_local_q;
	const struct usk_msg *exclude; /* outliers of an earlier round */
	size_t n_exclude;
	void (*progress)(void *ctx, uint64_t bytes);
	void *progress_ctx;
};

/**
 * Read both captures again and hand every message to sink.
 * counts: matched, unmatched, ambiguous, expired, direction_unknown are added to.
 * Memory: what lies within the window of 2 s + 4 x spread, and the streams alive in it.
 */
enum usk_status usk_walk(struct usk_trace *p, struct usk_trace *q, const struct usk_survey *sp,
			 const struct usk_survey *sq, const struct usk_coarse *coarse,
			 const struct usk_walk_options *opt, const struct usk_sink *sink,
			 struct usk_counts *counts, struct usk_evidence *evidence,
			 struct usk_err *err);

#endif

/* SPDX-License-Identifier: MIT */
/* probe.h - what `unskew probe` has in common: options of both sides, and ways of showing */
#ifndef PROBE_H
#define PROBE_H

#include "cmd.h"
#include "probe/socket.h"

/* --key, --open, --drift-ppm and the like. */
struct probe_side {
	struct usk_probe_key key;
	struct usk_probe_distortion distortion;
	uint16_t port;
	const char *card;
	bool open;
	int64_t end_ns; /* of CLOCK_MONOTONIC; INT64_MAX: never */
	int stop_fd;	/* of end_signals(): once names are looked up, which may take long */
};

/** `unskew probe HOST`. */
void probe_watch(const struct args *args, const char *host, struct probe_side *side);

/* ---- probe_show.c ------------------------------------------------------------------ */

/* What is known of the other clock at the end of a round. */
struct probe_line {
	uint64_t number;
	int64_t here_ns; /* what this clock reads when the other reads there_ns */
	int64_t there_ns, precision_ns;
	bool known;
	double drift_ppm, drift_error_ppm; /* of the other clock */
	int64_t age_ns;			   /* since the exchange that the bound rests on */
	enum usk_probe_news news;
};

/** One line on `out`, text or JSON, flushed. */
void probe_show_round(FILE *out, bool json, const struct probe_line *line,
		      const struct usk_probe_round *round);

enum { PROBE_KEPT = 1 << 14 };

struct probe_total {
	const char *here, *there, *table;
	uint64_t rounds, answered, spaced, attempts, sent, lost, exchanges, kept, set;
	uint64_t kind[2][USK_PROBE_CARD + 1];
	uint64_t count[USK_PROBE_TAKENS];
	/* Precision of rounds that have one: of all, then of every second, fourth, ... */
	int64_t precision_ns[PROBE_KEPT], best_ns, worst_ns;
	size_t n;
	uint64_t seen, stride; /* a power of two; 0: none yet */
};

void probe_total_add(struct probe_total *t, const struct probe_line *line,
		     const struct usk_probe_round *round);
void probe_show_total(FILE *out, bool json, struct probe_total *t);
void probe_show_served(FILE *out, bool json, const struct usk_probe_counts *c);

#endif

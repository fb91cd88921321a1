/* SPDX-License-Identifier: MIT */
/*
 * epochs.h - clocks that were set back while they recorded, seen in the order of records alone
 *
 * From then on its stamps repeat: a new epoch. A shift per epoch makes them a time that runs on;
 * all that follows works on that, and never meets a stamp twice.
 */
#ifndef USK_MATCH_EPOCHS_H
#define USK_MATCH_EPOCHS_H

#include "base/base.h"

/* Where an epoch begins, but the first. */
struct usk_epoch {
	uint64_t record;	     /* its first, counted from 0 */
	int64_t before_ns, after_ns; /* as recorded: the highest stamp before, its first one */
	int64_t lowest_ns;	     /* of all records before */
	int64_t shift_ns;	     /* recorded + shift runs on */
};

struct usk_epochs {
	struct usk_epoch *epoch;
	size_t n;
};

/* Between two epochs on the time that runs on. How long it was nobody knows; it is room for records
 * that come a little late. */
#define USK_EPOCH_GAP_NS INT64_C(100000000)

/* What has been seen of a trace so far. Zeroed is begun. */
struct usk_epoch_watch {
	struct usk_epochs found;
	size_t cap;
	uint64_t n; /* records */
	int64_t highest, lowest;
	/* The widest step forward among the last records: from where, by how much, when. */
	int64_t leap_from, leap_ns;
	uint64_t leap_record;
	struct usk_fall {
		uint64_t n; /* records since; 0: there is none */
		uint64_t record;
		int64_t from, to, reached, widest, lowest;
	} fall;
	/* By the power of two: where the epoch's highest stamp was when one fell by that much. */
	int64_t fell_at[64];
	uint64_t fell; /* those that are known, a bit each */
	bool doubtful; /* the last epoch is none if the like happens again soon */
};

void usk_epoch_out_of_order(struct usk_epoch_watch *w, int64_t t);

/* A stamp that is ahead of all others by that much stands for no time if so few follow it. */
#define USK_EPOCH_AHEAD 16

/** The next record's stamp, in the order of the trace; |t| <= USK_TIME_MAX. */
static inline void usk_epoch_note(struct usk_epoch_watch *w, int64_t t)
{
	if (!w->n++) {
		w->highest = w->lowest = t;
	}
	if (t < w->highest || w->fall.n) {
		usk_epoch_out_of_order(w, t);
		return;
	}
	if (t - w->highest > w->leap_ns || w->n - w->leap_record > USK_EPOCH_AHEAD) {
		w->leap_from = w->highest;
		w->leap_ns = t - w->highest;
		w->leap_record = w->n;
	}
	w->highest = t;
}

/** At the end of the trace: *out is handed over. */
void usk_epoch_finish(struct usk_epoch_watch *w, struct usk_epochs *out);
void usk_epochs_free(struct usk_epochs *e);

/** The shift of a record; *at is where the last one was, 0 at the start of the trace. */
static inline int64_t usk_epoch_shift(const struct usk_epochs *e, uint64_t record, size_t *at)
{
	while (*at < e->n && e->epoch[*at].record <= record) {
		++*at;
	}
	return *at ? e->epoch[*at - 1].shift_ns : 0;
}

/* A trace being read from its start: how far it has come. Zeroed is the start. */
struct usk_epoch_place {
	uint64_t record;
	size_t at;
};

/** The next records of the trace: their stamps run on. */
static inline void usk_epochs_run_on(const struct usk_epochs *e, struct usk_epoch_place *place,
				     struct usk_record *r, size_t n)
{
	for (size_t i = 0; i < n && e->n; i++) {
		r[i].time_ns += usk_epoch_shift(e, place->record++, &place->at);
	}
}

/** The epoch of a time that runs on: 0, or 1 + an index into e->epoch. */
size_t usk_epoch_of(const struct usk_epochs *e, int64_t running_ns);
/** As recorded. */
int64_t usk_epoch_recorded(const struct usk_epochs *e, int64_t running_ns);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * replay.c - a clock's correction for records in the order they were recorded
 *
 * In    a clock's knots and jumps; stamps in the order of a trace
 * Out   corrected stamps
 * Why   stamps of a clock that was set back repeat; the order of records says which is which
 * Not   finding such places (match/epochs.c)
 *
 * Where the clock was set back its highest stamp before and its first one after are known, by S
 * apart. The next epoch begins with the first stamp that lies S/2 or more below the highest one so
 * far, once that has come to within S/2 of what it was: so it begins with the very same record in
 * the trace that showed it, and near it in another trace by the same clock.
 *
 * A trace begins in the epoch in which the answer has it begin, else in the first one that can have
 * shown its first stamp. Where a clock has several traces, a later one may begin in a later such
 * epoch: what follows has to tell, as stamps fall where the one course has them fall, and not the others.
 */
#include "match/match.h"
#include "write/write.h"

#include <stdlib.h>

enum { REPEATS = 256 };

/* Where an epoch begins. */
struct turn {
	int64_t near_ns, fall_ns; /* S/2 below the highest stamp before; S/2 */
	int64_t from_ns, to_ns;	  /* the highest stamp before, the first one after */
};

/* From one of the epochs on. */
struct course {
	size_t epoch;
	int64_t highest;
};

/* The answer has one begin there. */
struct begin {
	size_t epoch;
	uint64_t record;
};

struct usk_replay {
	char *name;
	struct usk_map **map; /* by epoch; NULL: nothing ties it */
	struct turn *turn;    /* turn[i] leads from epoch i to i + 1 */
	size_t n_epochs;
	bool begun, known;   /* known: the answer says in which epoch */
	struct begin *later; /* those that begin later in the trace, as far as the answer says */
	size_t n_later, at;
	uint64_t record;    /* that comes next */
	bool several;	    /* traces are of this clock, or may be */
	struct course is;   /* what is written */
	struct course *may; /* those that it may be, too */
	size_t n_may;
};

bool usk_in_several(const struct usk_clocks *c, uint32_t clock)
{
	size_t n = 0;
	for (size_t i = 0; i < c->n_traces; i++) {
		const struct usk_trace_info *t = &c->trace[i];
		bool of = t->clock == clock || (t->clock == USK_NO_CLOCK && !t->n_ifaces);
		for (size_t k = 0; k < t->n_ifaces; k++) {
			of = of || t->iface[k].clock == clock;
		}
		n += of;
	}
	return n > 1;
}

/* The epochs that begin in the trace, as far as the answer says that. */
static void take_begins(struct usk_replay *r, const struct usk_clocks *c, const char *path,
			uint32_t clock)
{
	const struct usk_trace_info *t = path ? usk_clocks_trace(c, path, USK_NO_CLOCK) : NULL;
	struct begin last = { 0, 0 };
	for (size_t i = 0; t && i < t->n_begins; i++) {
		const struct usk_trace_begin *x = &t->begin[i];
		if (x->clock != clock || x->epoch > c->clock[clock].n_set_backs) {
			continue;
		}
		const struct begin next = { x->epoch, x->record };
		if (!r->known && !x->record) {
			r->known = true;
			r->is.epoch = x->epoch;
			last = next;
		} else if (r->known && next.epoch > last.epoch && next.record > last.record) {
			*USK_APPEND(r->later, r->n_later) = last = next;
		}
	}
}

struct usk_replay *usk_replay_new(const struct usk_clocks *c, uint32_t number, const char *path)
{
	const struct usk_clock *clock = &c->clock[number];
	struct usk_replay *r = usk_alloc(1, sizeof *r);
	bool any = false;
	r->turn = usk_alloc(clock->n_set_backs + 1, sizeof *r->turn);
	for (size_t i = 0; i < clock->n_set_backs; i++) {
		const struct usk_set_back *x = &clock->set_back[i];
		int64_t half = (int64_t)(((usk_i128)x->from_ns - x->to_ns + 1) / 2);
		r->turn[i] = (struct turn){ x->from_ns - half, half, x->from_ns, x->to_ns };
	}
	r->several = usk_in_several(c, number);
	take_begins(r, c, path, number);
	r->n_epochs = 1 + clock->n_set_backs;
	r->map = usk_alloc(r->n_epochs, sizeof(struct usk_map *));
	r->name = usk_strdup(clock->name ? clock->name : "");
	for (size_t i = 0; i < r->n_epochs; i++) {
		r->map[i] = usk_map_of_epoch(clock, (uint32_t)i, c->max_skew_e12);
		any = any || r->map[i];
	}
	if (!any) {
		usk_replay_free(r);
		return NULL;
	}
	return r;
}

void usk_replay_free(struct usk_replay *r)
{
	if (r) {
		for (size_t i = 0; i < r->n_epochs; i++) {
			usk_map_free(r->map[i]);
		}
		USK_FREE(r->map, r->turn, r->may, r->later, r->name, r);
	}
}

size_t usk_replay_epochs(const struct usk_replay *r)
{
	return r->n_epochs;
}

const struct usk_map *usk_replay_map(const struct usk_replay *r, size_t epoch)
{
	return epoch < r->n_epochs ? r->map[epoch] : NULL;
}

enum usk_status usk_replay_in(const struct usk_replay *r, size_t epoch, const int64_t *local_ns,
			      size_t n, int64_t *out, struct usk_err *err)
{
	if (!r->map[epoch]) {
		return usk_fail(err, USK_EINPUT, 0,
				"clock %s was stepped backward while it recorded, and no chain of "
				"messages connects its epoch %zu with the other clocks",
				r->name, epoch);
	}
	return usk_map_many(r->map[epoch], local_ns, n, out, err);
}

/* It fell from one known stamp to another, and may have shown more before and after: how much, match/alone.c
 * says. */
static bool can_have_shown(const struct usk_replay *r, size_t epoch, int64_t t)
{
	const struct turn *from = epoch ? &r->turn[epoch - 1] : NULL, *to = &r->turn[epoch];
	const usk_i128 reach = r->several ? 2 * USK_ALONE_REACH : 0; /* of halves */
	return (!from || t >= from->to_ns - reach * from->fall_ns) &&
	       (epoch + 1 == r->n_epochs || t <= to->from_ns + reach * to->fall_ns);
}

/* The trace begins with this stamp. */
static void begin(struct usk_replay *r, int64_t t)
{
	bool any = false;
	r->may = usk_alloc(r->n_epochs, sizeof *r->may);
	for (size_t i = 0; i < r->n_epochs && !r->known; i++) {
		if (!can_have_shown(r, i, t)) {
			continue;
		}
		if (any && r->several) {
			r->may[r->n_may++] = (struct course){ i, t };
		}
		r->is.epoch = any ? r->is.epoch : i;
		any = true;
	}
	r->begun = true;
	r->is.highest = t;
}

static enum usk_status unsure(const struct usk_replay *r, struct usk_err *err)
{
	return usk_fail(
		err, USK_EINPUT, 0,
		"clock %s was stepped backward, and nothing tells whether the first stamps here "
		"are "
		"from before or after that, as it has other traces; apply all of them as one, "
		"joined in the order in which they were recorded",
		r->name);
}

enum usk_status usk_replay_end(const struct usk_replay *r, struct usk_err *err)
{
	return r && r->n_may ? unsure(r, err) : USK_OK;
}

/* Does a stamp begin the next epoch? */
static bool turns(const struct usk_replay *r, struct course *c, int64_t t)
{
	const struct turn *x = &r->turn[c->epoch];
	if (c->epoch + 1 == r->n_epochs) {
		return false;
	}
	if (c->highest >= x->near_ns && (usk_i128)c->highest - t >= x->fall_ns) {
		c->highest = t;
		c->epoch++;
		return true;
	}
	/* A stamp beyond all of this epoch is none. */
	if (t > c->highest && (usk_i128)t - x->near_ns <= 2 * (usk_i128)x->fall_ns) {
		c->highest = t;
	}
	return false;
}

/* Is that the first stamp of an epoch that the answer has begin here, as the clock was set back to it? */
static bool is_first(const struct usk_replay *r, size_t epoch, int64_t t)
{
	const struct turn *x = &r->turn[epoch - 1];
	return t < r->is.highest && t >= x->to_ns && r->is.highest <= x->from_ns;
}

/* The same of what is written: the answer says with which record. Where that is no such stamp, or another one falls
 * as far, the trace is another one now. What turns comes once more. */
static bool turns_here(struct usk_replay *r, int64_t t)
{
	const struct begin *later = r->at < r->n_later ? &r->later[r->at] : NULL;
	const bool here = later && r->record == later->record;
	bool next = false;
	if (here && is_first(r, later->epoch, t)) {
		r->is = (struct course){ later->epoch, t };
		r->at++;
		next = true;
	} else {
		r->n_later = here ? r->at : r->n_later;
		next = turns(r, &r->is, t);
		r->n_later = next ? r->at : r->n_later;
	}
	r->record += !next;
	return next;
}

static bool goes_on(struct usk_replay *r, int64_t t)
{
	const bool next = turns_here(r, t);
	size_t left = 0;
	for (size_t i = 0; i < r->n_may; i++) {
		struct course c = r->may[i];
		const bool falls = turns(r, &c, t);
		if (falls || !next) {
			r->may[left++] = c;
		}
	}
	r->n_may = left;
	return next;
}

static void find_repeats(const struct usk_replay *r, size_t epoch, const int64_t *local_ns,
			 size_t n, const int64_t *is, bool *repeats)
{
	int64_t before[REPEATS], other[REPEATS];
	for (size_t i = 0; i < n; i++) {
		before[i] = local_ns[i] - 1;
	}
	/* What is next to the end of the range is said to, which is on the safe side. */
	bool all = usk_replay_in(r, epoch, before, n, other, NULL);
	for (size_t i = 0; i < n; i++) {
		repeats[i] = all || other[i] == is[i];
	}
}

enum usk_status usk_replay_undoable(struct usk_replay *r, const int64_t *local_ns, size_t n,
				    int64_t *out, bool *repeats, struct usk_err *err)
{
	if (n && !r->begun) {
		begin(r, local_ns[0]);
	}
	for (size_t from = 0, to; from < n; from = to) {
		bool next = false;
		to = from;
		const size_t epoch = r->is.epoch;
		if (epoch + 1 == r->n_epochs) {
			to = n;
		}
		while (to < n && !next) {
			next = goes_on(r, local_ns[to]);
			to += !next;
		}
		enum usk_status status = to > from ? usk_replay_in(r, epoch, local_ns + from,
								   to - from, out + from, err)
						   : USK_OK;
		if (status) {
			if (err) {
				err->at += from;
			}
			return status;
		}
		if (repeats) {
			find_repeats(r, epoch, local_ns + from, to - from, out + from,
				     repeats + from);
		}
	}
	return USK_OK;
}

enum usk_status usk_replay_many(struct usk_replay *r, const int64_t *local_ns, size_t n,
				int64_t *out, struct usk_err *err)
{
	return usk_replay_undoable(r, local_ns, n, out, NULL, err);
}

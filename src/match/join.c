/* SPDX-License-Identifier: MIT */
/*
 * join.c - sides of messages -> messages, by their ids
 *
 * In    events of any number of clocks and traces, in any order
 * Out   messages, of each sender nearly by time; how many events have no partner
 * Why   an id that is sent once and received is a message, whoever recorded the two sides, and
 *       however their clocks lie to each other; received by several it is a broadcast, which is a
 *       message to each. Two sends of one id are ambiguous: dropped and counted, never guessed
 * Not   ids that are used again (a tag of MPI): readers make them distinct where order does
 *
 * Events are dealt out to lanes by their ids, a lane is sorted and joined alone, and its messages
 * are dealt out again by time. So memory holds a fraction of all; the disk holds the rest.
 */
#include "base/io.h"
#include "match/match.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum { LANES = 256 };

/* First and last send of a clock: its messages are dealt out by their share of that time. */
struct span {
	int64_t first_ns, last_ns;
	bool any;
};

struct usk_join {
	struct usk_spool *events, *messages;
	struct span *span; /* by clock */
	size_t n_spans;
	uint64_t n_messages, handed;
	struct usk_msg *loaded; /* of the lane before this one */
	size_t lane, n, at;
};

struct usk_join *usk_join_new(void)
{
	struct usk_join *j = usk_alloc(1, sizeof *j);
	j->events = usk_spool_new(sizeof(struct usk_event), LANES);
	j->messages = usk_spool_new(sizeof(struct usk_msg), LANES);
	return j;
}

void usk_join_free(struct usk_join *j)
{
	if (j) {
		usk_spool_free(j->events);
		usk_spool_free(j->messages);
		USK_FREE(j->span, j->loaded);
	}
	free(j);
}

void usk_join_expect(struct usk_join *j, uint32_t clock, int64_t first_ns, int64_t last_ns)
{
	if (clock >= j->n_spans) {
		size_t n = (size_t)clock + 1;
		j->span = usk_grow(j->span, n, sizeof *j->span);
		memset(j->span + j->n_spans, 0, (n - j->n_spans) * sizeof *j->span);
		j->n_spans = n;
	}
	struct span *s = &j->span[clock];
	s->first_ns = !s->any || first_ns < s->first_ns ? first_ns : s->first_ns;
	s->last_ns = !s->any || last_ns > s->last_ns ? last_ns : s->last_ns;
	s->any = true;
}

enum usk_status usk_join_add(struct usk_join *j, const struct usk_event *e, size_t n,
			     struct usk_err *err)
{
	enum usk_status status = USK_OK;
	for (size_t i = 0; i < n && !status; i++) {
		if (e[i].side == USK_SIDE_SENT) {
			usk_join_expect(j, e[i].clock, e[i].time_ns, e[i].time_ns);
		}
		size_t lane = usk_fold(e[i].id.word[0], e[i].id.word[1]) % LANES;
		status = usk_spool_put(j->events, lane, &e[i], err);
	}
	return status;
}

static int by_id(const void *pa, const void *pb)
{
	const struct usk_event *a = pa, *b = pb;
	for (int i = 0; i < 2; i++) {
		if (a->id.word[i] != b->id.word[i]) {
			return a->id.word[i] < b->id.word[i] ? -1 : 1;
		}
	}
	/* The send first, then by clock and time. */
	int order = usk_order(a->side, b->side);
	order = order ? order : usk_order(a->clock, b->clock);
	return order ? order : usk_order(a->time_ns, b->time_ns);
}

enum usk_status usk_join_put(struct usk_join *j, const struct usk_msg *m, struct usk_err *err)
{
	const struct span *s = &j->span[m->from];
	usk_i128 all = (usk_i128)s->last_ns - s->first_ns + 1;
	size_t lane = (size_t)(((usk_i128)m->sent_ns - s->first_ns) * LANES / all);
	j->n_messages++;
	return usk_spool_put(j->messages, lane, m, err);
}

/* e[n]: all events of one id. */
static enum usk_status join_id(struct usk_join *j, const struct usk_event *e, size_t n,
			       struct usk_counts *counts, struct usk_err *err)
{
	enum usk_status status = USK_OK;
	size_t sends = 0;
	while (sends < n && e[sends].side == USK_SIDE_SENT) {
		sends++;
	}
	if (sends == n || !sends) {
		counts->unmatched += n;
		return USK_OK;
	}
	if (sends > 1) {
		counts->ambiguous += n - sends;
		return USK_OK;
	}
	for (size_t i = 1; i < n && !status; i++) {
		/* To oneself: true, but it says nothing of clocks. What arrived twice is a copy. */
		if (e[i].clock == e->clock || (i > 1 && e[i].clock == e[i - 1].clock)) {
			continue;
		}
		struct usk_msg m = { .sent_ns = e->time_ns,
				     .received_ns = e[i].time_ns,
				     .from = e->clock,
				     .to = e[i].clock,
				     .bytes = e->bytes ? e->bytes : e[i].bytes };
		status = usk_join_put(j, &m, err);
	}
	return status;
}

_Static_assert(!offsetof(struct usk_msg, sent_ns), "sorted by when they were sent");

/* By usk_msg_order(): by digits of the send stamps, then what was sent at one moment. */
static void sort_lane(struct usk_msg *m, struct usk_msg *more, size_t n)
{
	const uint64_t sign = UINT64_C(1) << 63;
	for (size_t i = 0; i < n; i++) {
		m[i].sent_ns = (int64_t)((uint64_t)m[i].sent_ns ^ sign);
	}
	usk_sort_by_key(m, more, n, sizeof *m);
	for (size_t i = 0; i < n; i++) {
		m[i].sent_ns = (int64_t)((uint64_t)m[i].sent_ns ^ sign);
	}
	for (size_t i = 0, k; i < n; i = k) {
		bool sorted = true;
		for (k = i + 1; k < n && m[k].sent_ns == m[i].sent_ns; k++) {
			sorted = sorted && usk_msg_order(&m[k - 1], &m[k]) <= 0;
		}
		if (!sorted) {
			qsort(m + i, k - i, sizeof *m, usk_msg_order);
		}
	}
}

/* Once, as they are read again and again. */
static enum usk_status sort_messages(struct usk_join *j, struct usk_err *err)
{
	struct usk_spool *sorted = usk_spool_new(sizeof(struct usk_msg), LANES);
	enum usk_status status = USK_OK;
	struct usk_msg *m = NULL;
	size_t room = 0;
	for (size_t lane = 0; lane < LANES && !status; lane++) {
		size_t n = (size_t)usk_spool_count(j->messages, lane);
		if (n > room) {
			room = n + n / 2;
			m = usk_grow(m, room, 2 * sizeof *m);
		}
		status = usk_spool_get(j->messages, lane, 0, m, n, err);
		if (!status && n) {
			sort_lane(m, m + room, n);
		}
		for (size_t i = 0; i < n && !status; i++) {
			status = usk_spool_put(sorted, lane, &m[i], err);
		}
	}
	free(m);
	usk_spool_free(j->messages);
	j->messages = sorted;
	return status;
}

enum usk_status usk_join_run(struct usk_join *j, struct usk_counts *counts, struct usk_err *err)
{
	enum usk_status status = USK_OK;
	for (size_t lane = 0; lane < LANES && !status; lane++) {
		size_t n = (size_t)usk_spool_count(j->events, lane);
		struct usk_event *e = usk_alloc(n, sizeof *e);
		status = usk_spool_get(j->events, lane, 0, e, n, err);
		if (!status) {
			qsort(e, n, sizeof *e, by_id);
		}
		for (size_t i = 0, k; i < n && !status; i = k) {
			for (k = i + 1; k < n && !memcmp(&e[k].id, &e[i].id, sizeof e->id); k++) {
			}
			status = join_id(j, &e[i], k - i, counts, err);
		}
		free(e);
	}
	usk_spool_free(j->events);
	j->events = NULL;
	return status ? status : sort_messages(j, err);
}

/* The messages of the next lane. */
static enum usk_status load(struct usk_join *j, struct usk_err *err)
{
	j->at = 0;
	j->n = (size_t)usk_spool_count(j->messages, j->lane);
	j->loaded = usk_grow(j->loaded, j->n + 1, sizeof *j->loaded);
	enum usk_status status = usk_spool_get(j->messages, j->lane, 0, j->loaded, j->n, err);
	j->lane++;
	return status;
}

enum usk_status usk_join_messages(struct usk_join *j, struct usk_msg *out, size_t cap, size_t *n,
				  struct usk_err *err)
{
	enum usk_status status = USK_OK;
	*n = 0;
	while (!status && j->at == j->n && j->lane < LANES) {
		status = load(j, err);
	}
	if (!status) {
		*n = j->n - j->at < cap ? j->n - j->at : cap;
		memcpy(out, j->loaded + j->at, *n * sizeof *out);
		j->at += *n;
		j->handed += *n;
	}
	return status;
}

void usk_join_rewind(struct usk_join *j)
{
	j->lane = j->at = j->n = 0;
	j->handed = 0;
}

uint64_t usk_join_size(const struct usk_join *j)
{
	return j->n_messages * sizeof(struct usk_msg);
}

uint64_t usk_join_pos(const struct usk_join *j)
{
	return j->handed * sizeof(struct usk_msg);
}

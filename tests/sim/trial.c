/* SPDX-License-Identifier: MIT */
/*
 * trial.c - run a scenario, then ask whether what the answer promises is true
 *
 * Promised, if the relative rate of every pair stays within what its model takes for granted:
 *
 *     the band of every bounded clock holds the true offset at the stamps of all its messages, and
 *     at 1,001 moments from the first to the last of the simulation (to 1 ns, stamps being whole)
 *     no clock is contradicted, no jump is found that was none, and no pair needs more wander
 *     than its clocks had
 *
 * Whatever the clocks do:
 *
 *     knots are in order, their estimate in their band, and time never falls within an epoch
 *     no corrected message is received before it was sent, by integer stamps
 *     no band excludes what a message of its own clock and the reference says
 *
 * Tables are made and read in memory; captures go through files.
 */
#include "trial.h"
#include "band.h"
#include "true_clocks.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOMENTS 1000

struct trial {
	struct scenario *s;
	struct sim_clock clock[SCENARIO_HOSTS];
	struct sim_message *m; /* captures: no true times, and unordered */
	size_t n, cap;
	char *text; /* the table */
	size_t size, room;
	struct usk_clocks *answer;
	const struct usk_clock *of[SCENARIO_HOSTS]; /* the answer's clock of a host, or NULL */
	struct trial_result *out;
};

__attribute__((format(printf, 2, 3))) static void fail(struct trial *t, const char *fmt, ...)
{
	if (!t->out->failed) {
		va_list args;
		va_start(args, fmt);
		vsnprintf(t->out->why, sizeof t->out->why, fmt, args);
		va_end(args);
		t->out->failed = true;
	}
}

/* ---- making ------------------------------------------------------------------------------ */

static void take(void *ctx, const struct sim_message *m)
{
	struct trial *t = ctx;
	t->m = usk_room(t->m, t->n, &t->cap, sizeof *t->m);
	t->m[t->n++] = *m;
	if (t->room - t->size < 200) {
		t->room = 2 * t->room + 4096;
		t->text = usk_grow(t->text, t->room, 1);
	}
	t->size +=
		(size_t)snprintf(t->text + t->size, 200, "host%u,host%u,%lld,%lld,%u\n", m->from,
				 m->to, (long long)m->sent_ns, (long long)m->received_ns, m->bytes);
}

static size_t open_table(struct trial *t, struct usk_trace **trace)
{
	struct usk_err err = { 0 };
	t->text = usk_strdup("sender,receiver,sent_ns,received_ns,bytes\n");
	t->size = t->room = strlen(t->text);
	sim_messages(&t->s->o, t->clock, take, t);
	if (t->n && usk_trace_open_memory(t->text, t->size, NULL, trace, &err)) {
		fail(t, "the table is not read: %s", err.msg);
		return 0;
	}
	return t->n > 0;
}

static void read_messages(struct trial *t, const char *path)
{
	FILE *f = fopen(path, "r");
	char line[256];
	struct sim_message m = { 0 };
	while (f && fgets(line, sizeof line, f)) {
		long long sent, received;
		if (sscanf(line, "host%u,host%u,%lld,%lld,%u", &m.from, &m.to, &sent, &received,
			   &m.bytes) == 5) {
			m.sent_ns = sent;
			m.received_ns = received;
			t->m = usk_room(t->m, t->n, &t->cap, sizeof *t->m);
			t->m[t->n++] = m;
		}
	}
	if (f) {
		fclose(f);
	}
}

static size_t open_captures(struct trial *t, const char *dir, struct usk_trace **trace)
{
	struct usk_err err = { 0 };
	if (sim_run(&t->s->o, dir, true, NULL, &err)) {
		fail(t, "not simulated: %s", err.msg);
		return 0;
	}
	size_t n = 0;
	for (uint32_t h = 0; h < t->s->o.hosts; h++) {
		char *path = usk_format("%s/host%u.%s", dir, h,
					t->s->o.format == SIM_PCAP ? "pcap" : "pcapng");
		/* A host that nothing was sent to has an empty capture. */
		n += !usk_trace_open(path, NULL, &trace[n], &err);
		free(path);
	}
	char *path = usk_format("%s/messages.csv", dir);
	read_messages(t, path);
	free(path);
	return n > 1 ? n : 0;
}

static void synchronise(struct trial *t, const char *dir)
{
	const struct scenario *s = t->s;
	struct usk_trace *trace[SCENARIO_HOSTS] = { NULL };
	bool table = s->o.format == SIM_TABLE;
	size_t n = table ? open_table(t, trace) : open_captures(t, dir, trace);
	char *row[SCENARIO_HOSTS];
	size_t n_rows = 0;
	for (size_t i = 0; i < t->n; i++) {
		t->s->named[t->m[i].from] = t->s->named[t->m[i].to] = true;
	}
	for (uint32_t h = 0; h < s->o.hosts && s->resolution; h++) {
		if (s->named[h]) {
			row[n_rows++] = usk_format("host%u=1us", h);
		}
	}
	struct usk_sync_options o = {
		.resolution = (const char *const *)row,
		.n_resolution = n_rows,
		.model = s->model,
		.method = s->method,
		.solve = s->solve,
		.reference = s->reference,
		.max_skew_e12 = s->max_skew_e12,
		.max_outliers = -1,
		.from_ns = USK_NONE,
		.to_ns = USK_NONE,
		.min_delay = s->min_delay,
	};
	struct usk_err err = { 0 };
	if (n && usk_sync(trace, n, &o, &t->answer, &err)) {
		/* A host that has no message is no clock of a table. */
		bool lone = s->reference && !s->named[s->reference[strlen("host")] - '0'];
		/* An estimator may need what there is not; the default always has an answer. */
		lone = lone || (s->method && strstr(err.msg, "needs messages"));
		if (!lone) {
			fail(t, "no answer: %s", err.msg);
		}
	}
	for (size_t i = 0; i < n_rows; i++) {
		free(row[i]);
	}
	for (size_t i = 0; i < SCENARIO_HOSTS; i++) {
		usk_trace_close(trace[i]);
	}
	for (size_t i = 0; t->answer && i < t->answer->n_clocks; i++) {
		const struct usk_clock *c = &t->answer->clock[i];
		size_t host = strtoul(c->name + strlen("host"), NULL, 10);
		t->of[host] = c;
		t->out->bounded = t->out->bounded || c->quality == USK_BOUNDED;
		t->out->contradicted = t->out->contradicted || c->quality == USK_CONTRADICTED;
	}
}

/* ---- what is promised ------------------------------------------------------------------------ */

static uint32_t host_of(const struct trial *t, uint32_t clock)
{
	return (uint32_t)strtoul(t->answer->clock[clock].name + strlen("host"), NULL, 10);
}

static int64_t skew_limit(const struct trial *t)
{
	return t->answer->max_skew_e12;
}

/* Whether the pair keeps to its model, and to the skew limit. Slopes are of either offset. */
static bool keeps(struct trial *t, const struct usk_pair *p)
{
	const struct sim_options *o = &t->s->o;
	const struct sim_clock *a = &t->clock[host_of(t, p->a)], *b = &t->clock[host_of(t, p->b)];
	int64_t end = o->start_ns + o->duration_ns;
	struct sim_slopes x = sim_clocks_slopes(a, b, o->start_ns, end);
	struct sim_slopes y = sim_clocks_slopes(b, a, o->start_ns, end);
	usk_i128 limit = (usk_i128)skew_limit(t) * 1000000;
	int64_t half = sim_clocks_wander_e18(a, b, o->start_ns, end);
	usk_i128 may = t->answer->model.kind == USK_WANDER
			       ? (usk_i128)(p->wander.used_e12 > t->answer->model.wander_e12
						    ? p->wander.used_e12
						    : t->answer->model.wander_e12) *
					 1000000
			       : 1; /* one rate, rounded outwards */
	bool within = half <= may && x.max_e18 <= limit && -x.min_e18 <= limit &&
		      y.max_e18 <= limit && -y.min_e18 <= limit;
	/* The needed is the least there is, so the true clocks need no less. */
	if (t->answer->model.kind == USK_WANDER && !t->out->stepped && p->quality == USK_BOUNDED &&
	    x.max_e18 <= limit && -x.min_e18 <= limit &&
	    (usk_i128)p->wander.needed_e12 * 1000000 > (usk_i128)half + 1000000) {
		fail(t,
		     "host%u and host%u are said to need %lld e-12 of wander, they had %lld e-18",
		     host_of(t, p->a), host_of(t, p->b), (long long)p->wander.needed_e12,
		     (long long)half);
	}
	return within;
}

static void find_promise(struct trial *t)
{
	bool all = !t->out->stepped;
	for (size_t i = 0; i < t->answer->n_pairs; i++) {
		all = keeps(t, &t->answer->pair[i]) && all;
	}
	t->out->promised = all;
	for (size_t i = 0; i < t->answer->n_clocks && all; i++) {
		const struct usk_clock *c = &t->answer->clock[i];
		if (c->quality == USK_CONTRADICTED) {
			fail(t, "%s is contradicted", c->name);
		}
		for (size_t k = 0; k < c->n_jumps; k++) {
			if (c->jump[k].kind == USK_JUMP) {
				fail(t, "%s has a jump after %lld that is none", c->name,
				     (long long)c->jump[k].after_local_ns);
			}
		}
	}
}

/* ---- moments -----------------------------------------------------------------------------------
 */

static struct band band_then(const struct trial *t, const struct usk_clock *c, uint32_t epoch)
{
	return band_of(c->knot, c->n_knots, epoch, skew_limit(t));
}

static void check_moment(struct trial *t, uint32_t host, int64_t true_ns)
{
	const struct usk_clock *c = t->of[host];
	uint32_t reference = host_of(t, c->reference);
	int64_t y = sim_clock_read(&t->clock[host], true_ns);
	int64_t truth = sim_clock_read(&t->clock[reference], true_ns) - y;
	struct band b = band_then(t, c, true_epoch(&t->clock[host], true_ns));
	if (b.n < 2) {
		fail(t, "%s: no two knots for its epoch", c->name);
		return;
	}
	int64_t lo = band_at(&b, y, BAND_LO), hi = band_at(&b, y, BAND_HI);
	t->out->moments++;
	if ((lo != USK_NONE && truth < lo - 1) || (hi != USK_NONE && truth > hi + 1)) {
		fail(t, "%s at local %lld: the true offset %lld is %lld ns outside [%lld, %lld]",
		     c->name, (long long)y, (long long)truth,
		     (long long)(lo != USK_NONE && truth < lo ? lo - truth : truth - hi),
		     (long long)lo, (long long)hi);
	}
	if (lo != USK_NONE && hi != USK_NONE && hi > lo) {
		double half = ((double)hi - (double)lo) / 2;
		double left = (double)(truth - lo < hi - truth ? truth - lo : hi - truth);
		t->out->nearest = left / half < t->out->nearest ? left / half : t->out->nearest;
		t->out->width += half;
	}
}

static void check_moments(struct trial *t)
{
	const struct sim_options *o = &t->s->o;
	for (uint32_t h = 0; h < o->hosts; h++) {
		const struct usk_clock *c = t->of[h];
		if (!c || !c->n_knots || c->quality == USK_REFERENCE) {
			continue;
		}
		for (int64_t i = 0; i <= MOMENTS; i++) {
			check_moment(t, h,
				     o->start_ns +
					     (int64_t)((usk_i128)o->duration_ns * i / MOMENTS));
		}
		for (size_t i = 0; i < t->n && o->format == SIM_TABLE; i++) {
			if (t->m[i].from == h) {
				check_moment(t, h, t->m[i].left_ns);
			}
			if (t->m[i].to == h) {
				check_moment(t, h, t->m[i].arrived_ns);
			}
		}
	}
}

/* ---- messages
 * ------------------------------------------------------------------------------------ */

static void check_knots(struct trial *t, const struct usk_clock *c)
{
	for (size_t i = 0; i < c->n_knots; i++) {
		const struct usk_knot *k = &c->knot[i], *before = k - 1;
		bool one_sided = c->quality == USK_ONE_SIDED;
		if (!one_sided && (k->lo_ns > k->offset_ns || k->offset_ns > k->hi_ns)) {
			fail(t, "%s: knot %zu: %lld is not within [%lld, %lld]", c->name, i,
			     (long long)k->offset_ns, (long long)k->lo_ns, (long long)k->hi_ns);
		}
		if (!i || k->epoch != before->epoch) {
			continue;
		}
		if (k->local_ns <= before->local_ns) {
			fail(t, "%s: knot %zu is not after the one before", c->name, i);
		}
		if (!one_sided &&
		    k->local_ns + k->offset_ns < before->local_ns + before->offset_ns) {
			fail(t, "%s: time falls at knot %zu", c->name, i);
		}
	}
}

static bool corrected(const struct usk_clock *c)
{
	return c && (c->quality == USK_REFERENCE || c->quality == USK_BOUNDED);
}

/* What a stamp is on the timeline, by one side of its clock; the reference has its own. */
static int64_t on_timeline(const struct trial *t, const struct usk_clock *c, int64_t local_ns,
			   enum band_side side)
{
	if (c->quality == USK_REFERENCE) {
		return local_ns;
	}
	struct band b = band_then(t, c, 0);
	return local_ns + band_at(&b, local_ns, side);
}

/* Whether all pairs were looked at together. */
static bool jointly(const struct trial *t)
{
	return !strcmp(t->answer->solve, "joint") && strcmp(t->answer->how, "pairs") != 0;
}

/* Whether the answer puts the messages of these two in order: jointly all, else those that one
 * clock is tied to the reference by. */
static bool tied(const struct trial *t, const struct usk_clock *from, const struct usk_clock *to)
{
	if (from->reference != to->reference || jointly(t)) {
		return from->reference == to->reference;
	}
	const struct usk_clock *clock = t->answer->clock;
	for (int turn = 0; turn < 2; turn++) {
		const struct usk_clock *far = turn ? to : from, *near = turn ? from : to;
		if (far->n_path > 1 && &clock[far->path[far->n_path - 2]] == near) {
			return true;
		}
	}
	return false;
}

/*
 * In order by integer stamps, to the receiver's resolution. And the receiver may have been late
 * enough, the sender early enough, for the message to be possible: its stamps may be anything up to
 * their resolution more.
 */
static void check_message(struct trial *t, const struct sim_message *m)
{
	const struct usk_clock *from = t->of[m->from], *to = t->of[m->to];
	if (!corrected(from) || !corrected(to) || !tied(t, from, to)) {
		return;
	}
	int64_t q = to->resolution_ns > 1 ? to->resolution_ns : 0;
	int64_t sent = on_timeline(t, from, m->sent_ns, BAND_OFFSET);
	int64_t received = on_timeline(t, to, m->received_ns, BAND_OFFSET);
	t->out->messages++;
	if (received < sent - q) {
		fail(t, "host%u,host%u,%lld,%lld is received %lld ns before it is sent", m->from,
		     m->to, (long long)m->sent_ns, (long long)m->received_ns,
		     (long long)(sent - received));
	}
	int64_t early = on_timeline(t, from, m->sent_ns, BAND_LO);
	int64_t late = on_timeline(t, to, m->received_ns, BAND_HI);
	if (late + q + q / 1000 + 2 < early) {
		fail(t, "the bands exclude host%u,host%u,%lld,%lld by %lld ns", m->from, m->to,
		     (long long)m->sent_ns, (long long)m->received_ns, (long long)(early - late));
	}
}

static bool put_back(const struct trial *t)
{
	for (size_t i = 0; i < t->s->o.n_steps; i++) {
		if (t->s->step[i].size_ns < 0) {
			return true;
		}
	}
	return false;
}

static bool left_out(const struct trial *t)
{
	return t->answer->counts.outliers > 0;
}

void trial_run(struct scenario *s, const char *dir, struct trial_result *out)
{
	struct trial t = { .s = s, .out = out };
	struct usk_err err = { 0 };
	memset(out, 0, sizeof *out);
	out->nearest = 1;
	out->stepped = s->o.n_steps > 0;
	if (sim_options_check(&s->o, &err)) {
		fail(&t, "the scenario is wrong: %s", err.msg);
		return;
	}
	for (uint32_t h = 0; h < s->o.hosts; h++) {
		sim_options_clock(&s->o, h, &t.clock[h]);
	}
	synchronise(&t, dir);
	if (t.answer) {
		find_promise(&t);
		if (out->promised && left_out(&t)) {
			fail(&t, "%llu messages are taken for wrong",
			     (unsigned long long)t.answer->counts.outliers);
		}
		for (size_t i = 0; i < t.answer->n_clocks; i++) {
			check_knots(&t, &t.answer->clock[i]);
		}
		if (out->promised && !out->failed) {
			check_moments(&t);
		}
		for (size_t i = 0; i < t.n && !put_back(&t) && !left_out(&t); i++) {
			check_message(&t, &t.m[i]);
		}
		if ((s->o.hosts == 2 || jointly(&t)) && t.answer->evaluation.corrected_inversions) {
			fail(&t, "%llu inversions are counted after correction",
			     (unsigned long long)t.answer->evaluation.corrected_inversions);
		}
	}
	out->width /= out->moments ? (double)out->moments : 1;
	usk_clocks_free(t.answer);
	for (uint32_t h = 0; h < s->o.hosts; h++) {
		sim_clock_free(&t.clock[h]);
	}
	free(t.m);
	free(t.text);
}

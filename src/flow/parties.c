/* SPDX-License-Identifier: MIT */
/*
 * parties.c - who takes part: the clocks of all traces, and where their messages come from
 *
 * In    opened traces
 * Out   clocks with names, spans and resolutions; for a pair, its messages as often as needed
 * Why   captures and tables differ only here: beyond, a pair is a stream of messages
 * Not   what the messages say (pair.c)
 */
#include "flow/flow.h"

#include "base/text.h"
#include "match/heard.h"

#include <stdlib.h>
#include <string.h>

enum { BATCH = 512, TABLE_SAMPLES = 1 << 16, ENOUGH_STAMPS = 32 };

void usk_parties_progress(struct parties *p, uint64_t bytes)
{
	const struct usk_sync_options *o = p->opt;
	if (o->progress && p->work_all) {
		double done = (double)(p->work_done + bytes) / (double)p->work_all;
		o->progress(o->progress_ctx, done < 1 ? done : 1, p->doing);
	}
}

static void report(void *ctx, uint64_t bytes)
{
	usk_parties_progress(ctx, bytes);
}

static uint32_t party_of(struct parties *p, const char *name, size_t *cap)
{
	for (size_t i = 0; i < p->n; i++) {
		if (!strcmp(p->party[i].name, name)) {
			return (uint32_t)i;
		}
	}
	p->party = usk_room(p->party, p->n, cap, sizeof *p->party);
	p->party[p->n] = (struct party){ .name = usk_strdup(name), .trace = SIZE_MAX };
	return (uint32_t)p->n++;
}

/* A clock may be in several traces: what they tell of it adds up. */
static void note_span(struct party *y, int64_t first_ns, int64_t last_ns)
{
	y->first_ns = !y->stamped || first_ns < y->first_ns ? first_ns : y->first_ns;
	y->last_ns = !y->stamped || last_ns > y->last_ns ? last_ns : y->last_ns;
	y->stamped = true;
}

static void note_stamp(struct party *y, int64_t t)
{
	if (!y->stamped) {
		y->previous_ns = t;
	}
	note_span(y, t, t);
	y->stamps++;
	y->grid_ns = usk_grid(y->grid_ns, t, y->previous_ns);
	y->previous_ns = t;
}

static enum usk_status scan_table(struct parties *p, size_t which, size_t *cap, struct usk_err *err)
{
	struct usk_trace *t = p->trace[which];
	struct usk_msg msg[BATCH];
	size_t known = 0, n = 1;
	enum usk_status status = usk_trace_rewind(t, err);
	while (!status && n) {
		status = usk_trace_messages(t, msg, BATCH, &n, err);
		size_t names = usk_trace_clocks(t);
		if (names > known) {
			p->clock[which] = usk_grow(p->clock[which], names, sizeof **p->clock);
			for (size_t i = known; i < names; i++) {
				p->clock[which][i] = party_of(p, usk_trace_clock_name(t, i), cap);
			}
			known = names;
		}
		for (size_t i = 0; i < n; i++) {
			uint32_t from = p->clock[which][msg[i].from];
			uint32_t to = p->clock[which][msg[i].to];
			note_stamp(&p->party[from], msg[i].sent_ns);
			note_stamp(&p->party[to], msg[i].received_ns);
		}
		p->events[which] += n;
		usk_parties_progress(p, usk_trace_pos(t));
	}
	return status;
}

static enum usk_status scan_capture(struct parties *p, size_t which, size_t *cap,
				    struct usk_err *err)
{
	struct usk_trace *t = p->trace[which];
	uint32_t number = party_of(p, usk_trace_name(t), cap);
	struct party *y = &p->party[number];
	if (y->trace != SIZE_MAX) {
		return usk_fail(err, USK_EUSAGE, 0,
				"%s and %s have the same name \"%s\": name them apart with "
				"NAME=PATH",
				usk_trace_path(p->trace[y->trace]), usk_trace_path(t), y->name);
	}
	y->trace = which;
	enum usk_status status = usk_survey_capture(t, p->depth, report, p, &y->survey, err);
	if (status) {
		return status;
	}
	const struct usk_survey *s = &y->survey;
	p->events[which] = s->records;
	if (s->records) {
		note_span(y, s->first_ns, s->last_ns);
		y->previous_ns = s->last_ns;
		y->grid_ns = usk_gcd(y->grid_ns, s->grid_ns);
		y->stamps += s->records;
	}
	size_t n;
	const struct usk_iface *iface = usk_trace_ifaces(t, &n);
	for (size_t i = 0; i < n; i++) {
		y->resolution_ns = iface[i].resolution_ns > y->resolution_ns
					   ? iface[i].resolution_ns
					   : y->resolution_ns;
	}
	p->left_out.fragments += s->left_out.fragments;
	p->left_out.not_ip += s->left_out.not_ip;
	p->left_out.loopback += s->left_out.loopback;
	p->left_out.cut_short += s->left_out.cut_short;
	return USK_OK;
}

/* "NAME=VALUE" -> party and value; the sentence names the clocks that exist. */
static enum usk_status named(const struct parties *p, const char *row, const char *option,
			     uint32_t *which, const char **value, struct usk_err *err)
{
	const char *equals = strchr(row, '=');
	for (size_t i = 0; equals && i < p->n; i++) {
		const char *name = p->party[i].name;
		if (strlen(name) == (size_t)(equals - row) &&
		    !strncmp(name, row, (size_t)(equals - row))) {
			*which = (uint32_t)i;
			*value = equals + 1;
			return USK_OK;
		}
	}
	return usk_fail(err, USK_EUSAGE, 0, "%s %s: there is no such clock; \"%s\" is one", option,
			row, p->n ? p->party[0].name : "");
}

static enum usk_status settings(struct parties *p, struct usk_err *err)
{
	const struct usk_sync_options *o = p->opt;
	for (size_t i = 0; i < p->n; i++) {
		struct party *y = &p->party[i];
		/* A few stamps lie on some grid by chance. */
		if (y->stamps >= ENOUGH_STAMPS && y->grid_ns > y->resolution_ns) {
			y->resolution_ns = y->grid_ns;
		}
	}
	for (size_t i = 0; i < o->n_resolution; i++) {
		uint32_t which;
		const char *value;
		int64_t q;
		enum usk_status status =
			named(p, o->resolution[i], "--resolution", &which, &value, err);
		if (!status) {
			status = usk_parse_duration(value, strlen(value), &q, err);
		}
		if (!status && q < 0) {
			status = usk_fail(err, USK_EUSAGE, 0, "--resolution %s: is negative",
					  o->resolution[i]);
		}
		if (status) {
			return status;
		}
		struct party *y = &p->party[which];
		y->resolution_ns = q > y->resolution_ns ? q : y->resolution_ns;
	}
	for (size_t i = 0; i < p->n; i++) {
		p->party[i].resolution_ns =
			p->party[i].resolution_ns > 1 ? p->party[i].resolution_ns : 0;
	}
	for (size_t i = 0; i < o->n_local; i++) {
		uint32_t which;
		const char *value;
		struct usk_addr a;
		enum usk_status status = named(p, o->local[i], "--local", &which, &value, err);
		if (status) {
			return status;
		}
		if (!usk_addr_parse(value, &a)) {
			return usk_fail(err, USK_EUSAGE, 0,
					"--local %s: \"%s\" is not an IPv4 or IPv6 address",
					o->local[i], value);
		}
		struct party *y = &p->party[which];
		y->stated = usk_grow(y->stated, y->n_stated + 1, sizeof *y->stated);
		y->stated[y->n_stated++] = a;
	}
	p->reference = 0;
	if (o->reference) {
		uint32_t i = 0;
		while (i < p->n && strcmp(p->party[i].name, o->reference)) {
			i++;
		}
		if (i == p->n) {
			return usk_fail(err, USK_EUSAGE, 0,
					"--reference %s: there is no such clock; \"%s\" is one",
					o->reference, p->n ? p->party[0].name : "");
		}
		p->reference = i;
	}
	return USK_OK;
}

enum usk_status usk_parties_open(struct usk_trace *const *trace, size_t n,
				 const struct usk_sync_options *opt, struct parties *out,
				 struct usk_err *err)
{
	memset(out, 0, sizeof *out);
	out->trace = trace;
	out->n_traces = n;
	out->opt = opt;
	out->doing = "reading";
	out->events = usk_alloc(n, sizeof *out->events);
	out->clock = usk_alloc(n, sizeof *out->clock);
	out->depth = UINT32_MAX;
	enum usk_status status = usk_model_parse(opt->model, &out->model, err);
	for (size_t i = 0; i < n && !status; i++) {
		/* Every trace is read twice at the least. */
		out->work_all += 2 * usk_trace_size(trace[i]);
		if (usk_trace_class(trace[i]) == USK_TRACE_CAPTURE) {
			uint32_t depth = UINT32_MAX;
			status = usk_trace_depth(trace[i], &depth, err);
			out->depth = depth < out->depth ? depth : out->depth;
		}
	}
	size_t cap = 0;
	for (size_t i = 0; i < n && !status; i++) {
		status = usk_trace_class(trace[i]) == USK_TRACE_CAPTURE
				 ? scan_capture(out, i, &cap, err)
				 : scan_table(out, i, &cap, err);
		out->work_done += usk_trace_size(trace[i]);
	}
	if (!status) {
		status = settings(out, err);
	}
	if (!status) {
		status = usk_delays_of(opt->min_delay, &out->delays, err);
	}
	if (status) {
		usk_parties_free(out);
	}
	return status;
}

const struct usk_delay_model *usk_parties_delay(const struct parties *p, uint32_t from, uint32_t to)
{
	return usk_delays_find(&p->delays, p->party[from].name, p->party[to].name);
}

static int compare_names(const void *pa, const void *pb)
{
	return strcmp(*(const char *const *)pa, *(const char *const *)pb);
}

char *usk_parties_delay_note(const struct parties *p)
{
	const char **name = usk_alloc(p->n + 1, sizeof *name), *first = NULL;
	size_t unknown = 0;
	for (size_t i = 0; i < p->n; i++) {
		name[i] = p->party[i].name;
	}
	qsort(name, p->n, sizeof *name, compare_names);
	for (size_t i = 0; i < p->delays.n; i++) {
		const char *pair[] = { p->delays.row[i].sender, p->delays.row[i].receiver };
		for (size_t k = 0; k < 2; k++) {
			if (!bsearch(&pair[k], name, p->n, sizeof *name, compare_names)) {
				first = first ? first : pair[k];
				unknown++;
				break;
			}
		}
	}
	free(name);
	return !unknown ? NULL
			: usk_format("--min-delay %s: %zu of its %zu rows name clocks that no "
				     "trace has, the first is \"%s\"",
				     p->opt->min_delay, unknown, p->delays.n, first);
}

void usk_parties_free(struct parties *p)
{
	usk_delays_free(&p->delays);
	for (size_t i = 0; i < p->n; i++) {
		free(p->party[i].name);
		free(p->party[i].stated);
		usk_survey_free(&p->party[i].survey);
	}
	for (size_t i = 0; i < p->n_traces && p->clock; i++) {
		free(p->clock[i]);
	}
	free(p->clock);
	free(p->events);
	free(p->party);
	memset(p, 0, sizeof *p);
}

/* ---- the messages of one pair ------------------------------------------------------ */

/* Messages of all tables between the two, numbered as parties. */
static enum usk_status read_tables(struct pair_source *s, const struct usk_sink *sink,
				   struct usk_counts *counts, struct usk_err *err)
{
	struct parties *p = s->parties;
	struct usk_msg msg[BATCH];
	enum usk_status status = USK_OK;
	bool more = true;
	for (size_t i = 0; i < p->n_traces && !status && more; i++) {
		struct usk_trace *t = p->trace[i];
		if (usk_trace_class(t) != USK_TRACE_TABLE) {
			continue;
		}
		struct usk_heard heard;
		usk_heard_init(&heard, s->a, s->b);
		status = usk_trace_rewind(t, err);
		for (size_t n = 1; !status && n && more;) {
			status = usk_trace_messages(t, msg, BATCH, &n, err);
			size_t kept = 0;
			for (size_t k = 0; k < n; k++) {
				struct usk_msg m = msg[k];
				m.from = p->clock[i][m.from];
				m.to = p->clock[i][m.to];
				struct usk_reception both;
				if (sink->heard && usk_heard_add(&heard, &m, &both)) {
					sink->heard(sink->ctx, &both, 1);
				}
				bool ours = (m.from == s->a && m.to == s->b) ||
					    (m.from == s->b && m.to == s->a);
				if (ours && !(s->n_exclude && bsearch(&m, s->exclude, s->n_exclude,
								      sizeof m, usk_msg_order))) {
					msg[kept++] = m;
				}
			}
			counts->matched += kept;
			more = !kept || sink->put(sink->ctx, msg, kept);
			usk_parties_progress(p, usk_trace_pos(t));
		}
		usk_heard_free(&heard);
	}
	return status;
}

static enum usk_status read_captures(struct pair_source *s, const struct usk_sink *sink,
				     struct usk_counts *counts, struct usk_evidence *evidence,
				     struct usk_err *err)
{
	struct parties *p = s->parties;
	const struct party *a = &p->party[s->a], *b = &p->party[s->b];
	struct usk_walk_options o = {
		.depth = p->depth,
		.p = s->a,
		.q = s->b,
		.local_p = a->stated,
		.n_local_p = a->n_stated,
		.local_q = b->stated,
		.n_local_q = b->n_stated,
		.exclude = s->exclude,
		.n_exclude = s->n_exclude,
		.progress = report,
		.progress_ctx = p,
	};
	return usk_walk(p->trace[a->trace], p->trace[b->trace], &a->survey, &b->survey, &s->coarse,
			&o, sink, counts, evidence, err);
}

static bool both_captured(const struct pair_source *s)
{
	const struct party *y = s->parties->party;
	return y[s->a].trace != SIZE_MAX && y[s->b].trace != SIZE_MAX;
}

enum usk_status usk_pair_read(struct pair_source *s, const struct usk_sink *sink,
			      struct usk_counts *counts, struct usk_evidence *evidence,
			      struct usk_err *err)
{
	struct usk_counts own_counts = { 0 };
	struct usk_evidence own_evidence = { 0 };
	counts = counts ? counts : &own_counts;
	evidence = evidence ? evidence : &own_evidence;
	if (s->n_exclude) {
		qsort(s->exclude, s->n_exclude, sizeof *s->exclude, usk_msg_order);
	}
	if (sink->start && !sink->start(sink->ctx)) {
		return USK_OK;
	}
	/* The walk starts sinks too; once is enough. */
	struct usk_sink put = {
		.ctx = sink->ctx, .origins = sink->origins, .heard = sink->heard, .put = sink->put
	};
	enum usk_status status = USK_OK;
	if (both_captured(s) && s->coarse.joins) {
		status = read_captures(s, &put, counts, evidence, err);
	}
	return status ? status : read_tables(s, &put, counts, err);
}

/* A thinned-out sample of a table's messages: every 2^k-th, k growing as they come. */
struct thinner {
	uint32_t a;
	struct usk_sighting *s;
	size_t n, cap;
	uint64_t seen, stride;
};

static bool thin(void *ctx, const struct usk_msg *m, size_t n)
{
	struct thinner *t = ctx;
	for (size_t i = 0; i < n; i++) {
		if (t->seen++ % t->stride) {
			continue;
		}
		if (t->n == TABLE_SAMPLES) {
			for (size_t k = 0; k < t->n / 2; k++) {
				t->s[k] = t->s[2 * k];
			}
			t->n /= 2;
			t->stride *= 2;
			if ((t->seen - 1) % t->stride) {
				continue;
			}
		}
		bool forth = m[i].from == t->a;
		t->s = usk_room(t->s, t->n, &t->cap, sizeof *t->s);
		t->s[t->n++] =
			(struct usk_sighting){ forth ? m[i].sent_ns : m[i].received_ns,
					       forth ? m[i].received_ns : m[i].sent_ns, 0, 0, 0 };
	}
	return true;
}

/*
 * Two copies of one file fit perfectly and mean nothing: every packet that both hold has one stamp
 * and one TTL, to the coarser unit. One of them may be cut short.
 */
static bool same_capture(const struct usk_coarse *c, int64_t unit_ns)
{
	enum { ENOUGH = 8 };
	bool same = c->joins >= ENOUGH;
	unit_ns = unit_ns > 1 ? unit_ns : 1;
	for (size_t i = 0; i < c->joins && same; i++) {
		const struct usk_sighting *s = &c->seen[i];
		same = s->p_ns / unit_ns == s->q_ns / unit_ns && s->ttl_p == s->ttl_q;
	}
	return same;
}

enum usk_status usk_pair_open(struct parties *p, uint32_t a, uint32_t b, struct pair_source *out,
			      struct usk_err *err)
{
	*out = (struct pair_source){ .parties = p, .a = a, .b = b };
	const struct party *x = &p->party[a], *y = &p->party[b];
	if (both_captured(out)) {
		usk_coarse_join(&x->survey, &y->survey, &out->coarse);
		int64_t unit =
			x->resolution_ns > y->resolution_ns ? x->resolution_ns : y->resolution_ns;
		if (same_capture(&out->coarse, unit)) {
			usk_pair_close(out);
			return usk_fail(err, USK_EINPUT, 0,
					"%s and %s are the same capture: two are needed, one from "
					"each machine",
					usk_trace_path(p->trace[x->trace]),
					usk_trace_path(p->trace[y->trace]));
		}
		if (out->coarse.joins) {
			return USK_OK;
		}
	}
	struct thinner t = { .a = a, .stride = 1 };
	struct usk_counts counts = { 0 };
	struct usk_sink sink = { .ctx = &t, .put = thin };
	enum usk_status status = read_tables(out, &sink, &counts, err);
	if (!status) {
		usk_coarse_free(&out->coarse);
		usk_coarse_fit(t.s, t.n, &out->coarse);
		if (both_captured(out)) {
			out->coarse.joins = 0; /* from a table: nothing to walk along */
		}
	}
	free(t.s);
	return status;
}

void usk_pair_close(struct pair_source *s)
{
	usk_coarse_free(&s->coarse);
	free(s->exclude);
	memset(s, 0, sizeof *s);
}

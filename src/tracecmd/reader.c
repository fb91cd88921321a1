/* SPDX-License-Identifier: MIT */
/*
 * reader.c - trace.dat of trace-cmd: events of a kernel, of one machine a file
 *
 * In    a file; rules of --send and --recv
 * Out   sides of messages in the order of their stamps, a clock for each file
 * Why   ftrace's network events name a buffer by its address and nothing of the packet, so they tie no two
 *       machines; what does is a guest's timer (virtual.c), or events whose fields say which they are
 * Not   the format itself (libtracecmd, in a process of its own). Stamps are those that `trace-cmd report` shows
 */
#include "base/child.h"
#include "tracecmd/tracecmd.h"

#include <stdlib.h>
#include <sys/stat.h>

struct state {
	struct usk_child child;
	struct rule *rule;
	size_t n_send, n_rules;
	char *path;
	uint64_t size;
	bool decoded;
	struct usk_event *side;
	size_t n, cap, at;
	char *damage, *remark;
};

static void work(void *ctx, FILE *out)
{
	enum { LEAST_S = 10, LEAST_BYTES = 256 << 20, MB = 1 << 20 };
	const struct state *s = ctx;
	usk_child_limit(LEAST_S + s->size / MB, LEAST_BYTES + 8 * s->size);
	usk_tracecmd_decode(s->path, s->rule, s->n_send, s->n_rules, out);
}

static int by_time(const void *pa, const void *pb)
{
	const struct usk_event *a = pa, *b = pb;
	int order = usk_order(a->time_ns, b->time_ns);
	order = order ? order : memcmp(&a->id, &b->id, sizeof a->id);
	return order ? order : usk_order(a->side, b->side);
}

static enum usk_status over(struct state *s, bool ended, const struct tracecmd_item *end,
			    struct usk_err *err)
{
	const char *how = usk_child_end(&s->child);
	if (!ended || end->text[0]) {
		s->damage = ended ? usk_format("%.*s", (int)sizeof end->text, end->text)
				  : usk_format("libtracecmd died of it (%s)", how);
	}
	if (!s->n) {
		return usk_fail(
			err, USK_EINPUT, 0, "%s",
			s->damage ? s->damage
			: s->n_rules
				? "has no event that --send or --recv names, with these fields"
				: "has no event that says which other one it belongs to: neither "
				  "kvm_msr nor write_msr of a guest's timer; --send and --recv "
				  "name events by their fields (ftrace's network events have no "
				  "fields of the packet)");
	}
	if (ended && end->missed) {
		s->remark = usk_format("the recorder lost events in %llu places",
				       (unsigned long long)end->missed);
	}
	qsort(s->side, s->n, sizeof *s->side, by_time);
	return USK_OK;
}

static enum usk_status decode(struct usk_trace *t, struct usk_err *err)
{
	struct state *s = t->state;
	struct tracecmd_item item;
	bool ended = false;
	const uint32_t clock =
		usk_trace_clock(t, (struct usk_csv_field){ t->name, strlen(t->name) });
	enum usk_status status = usk_child_start(&s->child, work, s, err);
	while (!status && !ended && usk_child_read(&s->child, &item, sizeof item)) {
		ended = item.kind == TRACECMD_END;
		if (!ended) {
			s->side = usk_room(s->side, s->n, &s->cap, sizeof *s->side);
			s->side[s->n] = item.side;
			s->side[s->n++].clock = clock;
		}
	}
	s->decoded = true;
	return status ? status : over(s, ended, &item, err);
}

/* ---- the reader ------------------------------------------------------------------------------ */

static enum usk_status add_rules(struct state *s, const char *const *text, size_t n,
				 struct usk_err *err)
{
	enum usk_status status = USK_OK;
	for (size_t i = 0; i < n && !status; i++) {
		s->rule = usk_grow(s->rule, s->n_rules + 1, sizeof *s->rule);
		status = usk_rule_parse(text[i], false, &s->rule[s->n_rules], err);
		s->n_rules += !status;
	}
	return status;
}

static enum usk_status start(struct usk_trace *t, struct usk_err *err)
{
	struct state *s = t->state;
	struct stat st;
	if (s) {
		s->at = 0;
		return USK_OK;
	}
	if (t->in.memory || t->in.packed || stat(t->path, &st) || !S_ISREG(st.st_mode)) {
		return usk_fail(err, USK_EINPUT, 0,
				"%s: is a trace.dat, which cannot be read packed or from a pipe",
				t->path);
	}
	s = t->state = usk_alloc(1, sizeof *s);
	s->path = usk_strdup(t->path);
	s->size = (uint64_t)st.st_size;
	enum usk_status status = add_rules(s, t->opt.send, t->opt.n_send, err);
	s->n_send = s->n_rules;
	return status ? status : add_rules(s, t->opt.receive, t->opt.n_receive, err);
}

static enum usk_status events(struct usk_trace *t, struct usk_event *out, size_t cap, size_t *n,
			      struct usk_err *err)
{
	struct state *s = t->state;
	enum usk_status status = s->decoded ? USK_OK : decode(t, err);
	if (status) {
		return usk_fail_in(status, err, "%s", t->path);
	}
	for (; *n < cap && s->at < s->n; s->at++) {
		out[(*n)++] = s->side[s->at];
	}
	if (s->at == s->n) {
		usk_trace_finished(t, s->damage, s->remark);
	}
	return USK_OK;
}

static void stop(struct usk_trace *t)
{
	struct state *s = t->state;
	if (s) {
		usk_child_kill(&s->child);
		for (size_t i = 0; i < s->n_rules; i++) {
			usk_rule_free(&s->rule[i]);
		}
		USK_FREE(s->rule, s->side, s->path, s->damage, s->remark);
	}
	free(s);
	t->state = NULL;
}

static void place(const struct usk_trace *t, uint64_t *size, uint64_t *pos)
{
	const struct state *s = t->state;
	*size = s->size;
	*pos = s->n ? (uint64_t)((usk_u128)s->size * s->at / s->n) : s->decoded ? s->size : 0;
}

const struct reader usk_reader_tracecmd = {
	.info = { "trace.dat", "trace.dat of trace-cmd", NULL, USK_TRACE_EVENTS },
	.sniff = usk_is_tracecmd,
	.start = start,
	.events = events,
	.stop = stop,
	.place = place,
};

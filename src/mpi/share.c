/* SPDX-License-Identifier: MIT */
/*
 * share.c - captures and pairs of them shared out among ranks
 *
 * In    captures, each at the rank that reads it
 * Out   what src/flow/share.c asks for: bytes of other ranks, and their captures
 * Why   a capture is walked where its pair is matched: on its own machine the file itself, elsewhere
 *       its part, which is small against it
 * Not   who matches what (flow/share.c)
 */
#include "mpi/share.h"

#include "cli/units.h"
#include "flow/share.h"
#include "mpi/gather.h"
#include "mpi/guard.h"
#include "mpi/team.h"
#include "read/part.h"

#include <stdlib.h>
#include <string.h>

static struct {
	const struct args *args;
	const struct files *files;
	struct usk_trace **trace; /* as the flow knows them: of other ranks' their heads */
	struct usk_trace **real;  /* those that can be walked here */
	struct scratch *parts; /* of traces that are read here, as far as somebody asked for them */
	uint64_t *at, *size;   /* of each; size 0: it has not been made */
} work;

static const char *path_of(size_t i)
{
	const char *name;
	return args_split_name(args_operand(work.args, i), &name);
}

static bool reads(size_t i)
{
	return work.files->reader[i] == team_rank();
}

/* ---- what the flow asks for ------------------------------------------------------------------ */

static void failed(void *ctx, enum usk_status status, const struct usk_err *err)
{
	(void)ctx;
	why = *err;
	must(status);
}

static void take(void *ctx, int rank, const void *data, size_t n)
{
	usk_bytes_put((struct usk_bytes *)ctx + rank, data, n);
}

static void exchange(void *ctx, const struct usk_bytes *to, bool all, struct usk_bytes *from)
{
	struct team_bytes *out = usk_alloc((size_t)team_size(), sizeof *out);
	(void)ctx;
	for (int i = 0; i < (all ? 1 : team_size()); i++) {
		out[i] = team_bytes_of(to[i].data, to[i].n);
	}
	team_agree();
	if (all) {
		team_collect(out, true, take, from);
	} else {
		team_exchange(out, take, from);
	}
	free(out);
}

static bool ask(void *ctx)
{
	(void)ctx;
	return team_ask();
}

static void alone(void *ctx)
{
	(void)ctx;
	team_alone();
}

static void at_work(void *ctx, size_t trace)
{
	(void)ctx;
	guard_file(path_of(trace));
}

static struct usk_trace *capture(void *ctx, size_t trace)
{
	(void)ctx;
	return work.real[trace];
}

/* ---- captures of other ranks ------------------------------------------------------------------- */

/* The same file can be opened there; both of them see it. */
static bool is_near(const struct usk_want *w)
{
	const int *machine = work.files->machine;
	return machine[w->rank] == machine[work.files->reader[w->trace]] &&
	       is_regular(path_of(w->trace));
}

/* Of all wants the parts from one rank to another, one behind the other. */
struct delivery {
	const struct usk_want *want;
	size_t n;
	int to;
};

static bool is_in(const struct delivery *d, size_t i, int from)
{
	const struct usk_want *w = &d->want[i];
	return (int)w->rank == d->to && work.files->reader[w->trace] == from && !is_near(w);
}

static void read_parts(void *ctx, uint64_t at, void *out, size_t n)
{
	const struct delivery *d = ctx;
	char *p = out;
	for (size_t i = 0; i < d->n && n; i++) {
		uint64_t size = work.size[d->want[i].trace];
		if (!is_in(d, i, team_rank())) {
			continue;
		}
		if (at >= size) {
			at -= size;
			continue;
		}
		size_t m = size - at < n ? (size_t)(size - at) : n;
		scratch_read(work.parts, work.at[d->want[i].trace] + at, p, m);
		p += m;
		n -= m;
		at = 0;
	}
}

static void make_parts(const struct usk_want *want, size_t n)
{
	for (size_t k = 0; k < n; k++) {
		size_t i = want[k].trace;
		if (reads(i) && !work.size[i] && !is_near(&want[k])) {
			work.parts = work.parts ? work.parts : scratch_new();
			work.at[i] = work.parts->size;
			work.size[i] = gather_part(work.args, i, work.real[i], work.parts);
			scratch_flush(work.parts);
			scratch_must(work.parts);
		}
	}
}

/* Where in the file of what arrives each part will be: by ranks, then in their order. */
static uint64_t place_parts(const struct delivery *mine, const uint64_t *size, uint64_t *begin,
			    uint64_t *place)
{
	uint64_t all = 0;
	for (int r = 0; r < team_size(); r++) {
		begin[r] = all;
		for (size_t i = 0; i < mine->n; i++) {
			if (is_in(mine, i, r)) {
				place[i] = all;
				all += size[mine->want[i].trace];
			}
		}
	}
	return all;
}

static void open_parts(const struct delivery *mine, const uint64_t *size, const uint64_t *place,
		       const uint8_t *bytes)
{
	for (size_t i = 0; i < mine->n; i++) {
		size_t t = mine->want[i].trace;
		const char *name = usk_trace_name(work.trace[t]);
		if ((int)mine->want[i].rank != team_rank() || work.real[t]) {
			continue;
		}
		if (is_near(&mine->want[i])) {
			work.real[t] = gather_open(work.args, t, name);
		} else {
			must(usk_part_open_memory(bytes + place[i], (size_t)size[t], name,
						  &work.real[t], &why));
		}
	}
}

static void bring(void *ctx, const struct usk_want *want, size_t n)
{
	const size_t ranks = (size_t)team_size();
	struct delivery *to = usk_alloc(ranks, sizeof *to), *mine = &to[team_rank()];
	struct team_bytes *out = usk_alloc(ranks, sizeof *out);
	uint64_t *size = usk_alloc(work.files->n, sizeof *size);
	uint64_t *place = usk_alloc(n + 1, sizeof *place);
	struct arriving a = { NULL, usk_alloc(ranks, sizeof *a.at) };
	(void)ctx;
	make_parts(want, n);
	for (size_t r = 0; r < ranks; r++) {
		to[r] = (struct delivery){ want, n, (int)r };
		out[r] = (struct team_bytes){ 0, read_parts, &to[r] };
		for (size_t i = 0; i < n; i++) {
			out[r].size += is_in(&to[r], i, team_rank()) ? work.size[want[i].trace] : 0;
		}
	}
	memcpy(size, work.size, work.files->n * sizeof *size);
	team_agree();
	team_sum(size, work.files->n);
	uint64_t all = place_parts(mine, size, a.at, place);
	a.to = all ? scratch_new() : NULL;
	team_exchange(out, scratch_arrive, &a);
	if (work.parts) {
		scratch_must(work.parts);
	}
	if (all) {
		scratch_must(a.to);
	}
	open_parts(mine, size, place, all ? scratch_look(a.to, all) : NULL);
	scratch_free(a.to);
	USK_FREE(a.at, place, size, out, to);
}

/* ---- who is who ---------------------------------------------------------------------------------- */

/* What has to see all messages, or rows of a file that one machine has, is for one place. */
static bool may_share(const struct task *t)
{
	const struct usk_sync_options *o = &t->options;
	const char *method = args_string(t->args, "method");
	const struct usk_estimator *by = usk_estimator_find(method ? method : "middle");
	struct usk_model model;
	return !o->n_clock_of && !o->n_clock_log && o->from_ns == USK_NONE &&
	       o->to_ns == USK_NONE && !(o->min_delay && *o->min_delay == '@') && by &&
	       !by->together && !usk_model_parse(o->model, &model, NULL) &&
	       !(by->violates && model.kind == USK_LINEAR);
}

static void put_head(void *ctx, const void *data, size_t n)
{
	usk_bytes_put(ctx, data, n);
}

/* A byte that is 1 if all that is read here are captures, then of each its size and head. */
static struct usk_bytes heads_of(bool good)
{
	struct usk_bytes all = { 0 };
	for (size_t i = 0; i < work.files->n; i++) {
		good = good && (!reads(i) || usk_trace_class(work.real[i]) == USK_TRACE_CAPTURE);
	}
	usk_bytes_put(&all, &good, sizeof good);
	for (size_t i = 0; i < work.files->n && good; i++) {
		struct usk_bytes head = { 0 };
		const struct usk_part_sink sink = { put_head, &head };
		const char *name;
		if (reads(i)) {
			args_split_name(args_operand(work.args, i), &name);
			usk_part_write_head(work.real[i], name != NULL, &sink);
			usk_bytes_put(&all, &head.n, sizeof head.n);
			usk_bytes_put(&all, head.data, head.n);
		}
		free(head.data);
	}
	return all;
}

static struct usk_trace *open_head(void *ctx, size_t i, const char *name)
{
	const struct usk_bytes *head = ctx;
	struct usk_trace *t;
	must(usk_part_open_memory(head[i].data, head[i].n, name, &t, &why));
	return t;
}

/* Captures of one name are of one clock. */
static bool all_apart(struct usk_trace *const *trace, size_t n)
{
	const char **name = usk_alloc(n + 1, sizeof *name);
	bool apart = true;
	for (size_t i = 0; i < n; i++) {
		name[i] = usk_trace_name(trace[i]);
	}
	qsort(name, n, sizeof *name, usk_by_string);
	for (size_t i = 1; i < n; i++) {
		apart = apart && strcmp(name[i - 1], name[i]);
	}
	free(name);
	return apart;
}

/* The heads of all captures, under names that tell them apart; false: they cannot be shared out. */
static bool hear_heads(bool may)
{
	struct usk_bytes mine = heads_of(may);
	team_agree();
	const struct team_text *text = team_texts((const char *)mine.data, mine.n, true);
	struct usk_bytes *head = kept(usk_alloc(work.files->n, sizeof *head));
	struct usk_bytes *from = usk_alloc((size_t)team_size(), sizeof *from);
	bool good = true, is;
	for (int r = 0; r < team_size(); r++) {
		from[r] = (struct usk_bytes){ (uint8_t *)text[r].text, text[r].n, 0, 0 };
		good = usk_bytes_get(&from[r], &is, sizeof is) && is && good;
	}
	for (size_t i = 0; i < work.files->n && good; i++) {
		struct usk_bytes *b = &from[work.files->reader[i]];
		good = usk_bytes_get(b, &head[i].n, sizeof head[i].n);
		head[i].data = b->data + b->at;
		b->at += head[i].n;
		work.trace[i] = open_head(head, i, NULL);
	}
	free(mine.data);
	free(from);
	if (good) {
		parts_tell_apart(work.trace, work.files->n, open_head, head);
	}
	return good && all_apart(work.trace, work.files->n);
}

void share_show(void *ctx, double done, const char *what)
{
	team_look();
	if (!team_rank()) {
		progress_show(ctx, done, what);
	}
}

void share_open(struct task *t, const struct files *files)
{
	static struct usk_share share = { .failed = failed,
					  .exchange = exchange,
					  .bring = bring,
					  .capture = capture,
					  .ask = ask,
					  .alone = alone,
					  .at_work = at_work };
	work.args = t->args;
	work.files = files;
	work.trace = kept(usk_alloc(files->n, sizeof(struct usk_trace *)));
	work.real = kept(usk_alloc(files->n, sizeof(struct usk_trace *)));
	work.at = kept(usk_alloc(files->n, sizeof *work.at));
	work.size = kept(usk_alloc(files->n, sizeof *work.size));
	for (size_t i = 0; i < files->n; i++) {
		work.real[i] = reads(i) ? gather_open(t->args, i, NULL) : NULL;
	}
	t->n = files->n;
	if (!hear_heads(may_share(t))) {
		t->trace = gather_parts(t->args, files, work.real);
		if (team_rank()) {
			leave(EXIT_DONE);
		}
		return;
	}
	for (size_t i = 0; i < files->n; i++) {
		if (reads(i)) {
			usk_trace_call(work.real[i], usk_trace_name(work.trace[i]));
			usk_trace_close(work.trace[i]);
			work.trace[i] = work.real[i];
		}
	}
	share.rank = (unsigned)team_rank();
	share.ranks = (unsigned)team_size();
	share.reader = files->reader;
	t->options.progress = share_show;
	t->trace = work.trace;
	t->share = &share;
}

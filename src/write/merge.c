/* SPDX-License-Identifier: MIT */
/*
 * merge.c - the captures of several hosts as one pcapng in corrected order
 *
 * In    captures, and the clocks that stamped them
 * Out   a pcapng with an interface per clock and link type, ns stamps on the reference's clock; what
 *       was done to stamps is said at each interface, recorded ones in comments where they do not
 *       follow from that, or where asked for
 * Why   what analysers want: one file in which nothing arrives before it was sent
 * Not   leaving out packets that two hosts saw: both sightings are the point
 *
 * Each trace has a queue (queue.c) that is kept filled for one second of its trace, so that
 * records out of order by less come out sorted; the earliest head of all queues is written next.
 */
#include "write/block.h"
#include "write/moved.h"
#include "write/queue.h"
#include "write/ties.h"
#include "write/write.h"

#include <stdlib.h>
#include <string.h>

enum { BATCH = 256 };
static const int64_t window_ns = 1000000000;
static const size_t budget_bytes = (size_t)64 << 20;

/* An interface of the output. */
struct face {
	uint32_t clock;
	uint16_t link_type;
};

/* The interfaces of a trace that one clock stamps. */
struct view {
	const struct usk_trace_info *info;
	uint32_t clock, rest; /* rest: of those that have no clock of their own */
};

struct source {
	struct usk_trace *trace;
	struct view *view; /* what of a trace this is; NULL: all of it */
	uint32_t clock;
	struct usk_replay *map; /* NULL: stamps stay as recorded */
	struct usk_addr *local; /* of the clock's host */
	size_t n_local;
	struct queue queue;
	bool ended;
	uint64_t late;	/* packets that came after their place was written */
	uint32_t *face; /* of the output, by interface of the trace; UINT32_MAX unknown */
	size_t n_faces;
};

struct merge {
	struct source *source;
	size_t n;
	size_t *heap; /* of sources that have a head, earliest first */
	size_t n_heap;
	const struct usk_clocks *clocks;
	struct face *face;
	size_t n_faces, cap_faces;
	uint32_t snap_length;
	int64_t written_ns; /* of the last packet */
	struct usk_output out;
	struct block block;
	struct usk_record *batch;
	struct tie *tie;
	size_t cap_ties;
	const struct usk_write_options *opt;
	enum usk_comments comments;
	struct usk_err *err;
};

/* ---- reading ------------------------------------------------------------------ */

static enum usk_status read_batch(struct merge *m, struct source *s)
{
	size_t n;
	enum usk_status status = usk_trace_records(s->trace, m->batch, BATCH, &n, m->err);
	if (status) {
		return status;
	}
	int64_t local_ns[BATCH], time_ns[BATCH];
	bool repeats[BATCH] = { false };
	for (size_t i = 0; i < n; i++) {
		local_ns[i] = time_ns[i] = m->batch[i].time_ns;
	}
	status = s->map ? usk_replay_undoable(s->map, local_ns, n, time_ns, repeats, m->err)
			: USK_OK;
	if (status) {
		return usk_fail_in(status, m->err, "%s", usk_trace_path(s->trace));
	}
	for (size_t i = 0; i < n; i++) {
		if (time_ns[i] < 0) {
			char text[USK_RECORDED_MAX];
			usk_seconds_text(time_ns[i], text);
			return usk_fail(
				m->err, USK_ERANGE, m->batch[i].at,
				"%s: the packet at byte %llu would be stamped %s s, before "
				"1970, which pcapng cannot hold; another --reference may help",
				usk_trace_path(s->trace), (unsigned long long)m->batch[i].at, text);
		}
		usk_queue_put(&s->queue, &m->batch[i], time_ns[i], repeats[i]);
	}
	s->ended = n == 0;
	return USK_OK;
}

/* Until what comes out is surely in order, the budget is used up, or the trace ends. */
static enum usk_status fill(struct merge *m, struct source *s)
{
	while (!s->ended) {
		const struct packet *head = usk_queue_head(&s->queue);
		/* Thrice, as lines double, and up to a third of one is gone by then. */
		size_t waiting = (s->queue.n + s->queue.n_heap) * 3 * sizeof *head;
		if (head && ((usk_i128)s->queue.newest_ns - head->time_ns >= window_ns ||
			     s->queue.bytes + waiting > budget_bytes / m->n)) {
			break;
		}
		enum usk_status status = read_batch(m, s);
		if (status) {
			return status;
		}
	}
	return USK_OK;
}

/* ---- choosing ----------------------------------------------------------------- */

/* Earlier head first; of the same time, the trace that was named first. */
static bool earlier(const struct merge *m, size_t a, size_t b)
{
	int64_t x = usk_queue_head(&m->source[a].queue)->time_ns;
	int64_t y = usk_queue_head(&m->source[b].queue)->time_ns;
	return x != y ? x < y : a < b;
}

static void sift_down(struct merge *m, size_t i)
{
	size_t moving = m->heap[i];
	for (;;) {
		size_t child = 2 * i + 1;
		if (child >= m->n_heap) {
			break;
		}
		if (child + 1 < m->n_heap && earlier(m, m->heap[child + 1], m->heap[child])) {
			child++;
		}
		if (!earlier(m, m->heap[child], moving)) {
			break;
		}
		m->heap[i] = m->heap[child];
		i = child;
	}
	m->heap[i] = moving;
}

/* The head of the first source was taken: fill its queue and find its new place. */
static enum usk_status advance(struct merge *m)
{
	struct source *s = &m->source[m->heap[0]];
	enum usk_status status = fill(m, s);
	if (status) {
		return status;
	}
	if (!usk_queue_head(&s->queue)) {
		m->heap[0] = m->heap[--m->n_heap];
	}
	if (m->n_heap) {
		sift_down(m, 0);
	}
	return USK_OK;
}

/* ---- writing ------------------------------------------------------------------ */

static void write_section(struct merge *m)
{
	static const char application[] = "unskew " USK_VERSION;
	const struct usk_clocks *c = m->clocks;
	struct block *b = &m->block;
	usk_block_begin(b, NG_SECTION);
	usk_block_32(b, NG_BYTE_ORDER);
	usk_block_16(b, 1);
	usk_block_16(b, 0);
	usk_block_64(b, UINT64_MAX); /* length of the section: not stated */
	char *text =
		usk_format("stamps corrected to the clock of %s; clock model %s, method %s",
			   c->n_islands ? c->clock[c->island[0].reference].name : "the reference",
			   usk_model_name(c->model.kind), c->method ? c->method : "");
	usk_block_option(b, NG_COMMENT, text, strlen(text));
	usk_block_option(b, NG_SECTION_APPLICATION, application, sizeof application - 1);
	usk_block_option(b, NG_END_OF_OPTIONS, NULL, 0);
	usk_block_end(b, &m->out);
	free(text);
}

static void write_interface(struct merge *m, const struct face *f, const char *path,
			    uint32_t snap_length)
{
	static const uint8_t nanoseconds = 9;
	const char *name = m->clocks->clock[f->clock].name;
	struct block *b = &m->block;
	char *mark = usk_moved_mark(m->clocks, f->clock);
	char *text = usk_format("recorded in %s%s%s", path, mark ? "; " : "", mark ? mark : "");
	char *comment = usk_moved_text(m->clocks, f->clock, mark, path, m->comments);
	usk_block_begin(b, NG_INTERFACE);
	usk_block_16(b, f->link_type);
	usk_block_16(b, 0);
	usk_block_32(b, snap_length);
	usk_block_option(b, NG_COMMENT, comment, strlen(comment));
	usk_block_option(b, NG_IF_NAME, name, strlen(name));
	usk_block_option(b, NG_IF_DESCRIPTION, text, strlen(text));
	usk_block_option(b, NG_IF_RESOLUTION, &nanoseconds, 1);
	usk_block_option(b, NG_END_OF_OPTIONS, NULL, 0);
	usk_block_end(b, &m->out);
	USK_FREE(mark, text, comment);
}

/* The output's interface for one of the source's; described when it is first needed. */
static uint32_t face_of(struct merge *m, struct source *s, uint32_t iface)
{
	if (iface < s->n_faces && s->face[iface] != UINT32_MAX) {
		return s->face[iface];
	}
	size_t n;
	const struct usk_iface *faces = usk_trace_ifaces(s->trace, &n);
	if (s->n_faces < n) {
		s->face = usk_grow(s->face, n, sizeof *s->face);
		memset(s->face + s->n_faces, 0xff, (n - s->n_faces) * sizeof *s->face);
		s->n_faces = n;
	}
	struct face f = { s->clock, faces[iface].link_type };
	size_t i = 0;
	while (i < m->n_faces &&
	       (m->face[i].clock != f.clock || m->face[i].link_type != f.link_type)) {
		i++;
	}
	if (i == m->n_faces) {
		m->face = usk_room(m->face, i, &m->cap_faces, sizeof *m->face);
		m->face[m->n_faces++] = f;
		/* The same for all: libpcap refuses files whose interfaces differ in it. */
		uint32_t snap = faces[iface].snap_length;
		write_interface(m, &f, usk_trace_path(s->trace),
				snap > m->snap_length ? snap : m->snap_length);
	}
	s->face[iface] = (uint32_t)i;
	return (uint32_t)i;
}

static void write_packet(struct merge *m, struct source *s, const struct packet *p)
{
	static const uint32_t flags[] = { [USK_SIDE_RECEIVED] = 1, [USK_SIDE_SENT] = 2 };
	uint32_t face = face_of(m, s, p->iface); /* may write a block of its own */
	struct block *b = &m->block;
	bool comment = usk_moved_comments(m->comments, p->local_ns, p->time_ns, p->repeats);
	usk_block_begin(b, NG_PACKET);
	usk_block_32(b, face);
	usk_block_stamp(b, (uint64_t)p->time_ns);
	usk_block_32(b, p->captured);
	usk_block_32(b, p->length);
	usk_block_bytes(b, p->data, p->captured);
	usk_block_pad(b);
	if (comment) {
		char text[USK_RECORDED_MAX];
		usk_block_option(b, NG_COMMENT, text, usk_recorded_text(p->local_ns, text));
	}
	if (p->side != USK_SIDE_UNKNOWN) {
		uint32_t v = usk_swap32_if(flags[p->side], b->swap);
		usk_block_option(b, NG_PACKET_FLAGS, &v, sizeof v);
	}
	if (comment || p->side != USK_SIDE_UNKNOWN) {
		usk_block_option(b, NG_END_OF_OPTIONS, NULL, 0);
	}
	usk_block_end(b, &m->out);
	s->late += p->time_ns < m->written_ns;
	m->written_ns = p->time_ns > m->written_ns ? p->time_ns : m->written_ns;
}

/* ---- the way through ------------------------------------------------------------ */

/* All packets of one corrected time, of several traces: the sends first. */
static enum usk_status write_tied(struct merge *m, int64_t time_ns)
{
	enum usk_status status = USK_OK;
	size_t n = 0;
	while (!status && m->n_heap && n < USK_TIES_MAX) {
		struct source *s = &m->source[m->heap[0]];
		if (usk_queue_head(&s->queue)->time_ns != time_ns) {
			break;
		}
		*USK_ADD(m->tie, n, m->cap_ties) = (struct tie){ .packet = usk_queue_pop(&s->queue),
								 .trace = s->trace,
								 .source = m->heap[0],
								 .local = s->local,
								 .n_local = s->n_local };
		status = advance(m);
	}
	usk_ties_order(m->tie, n);
	for (size_t i = 0; i < n; i++) {
		struct source *s = &m->source[m->tie[i].source];
		write_packet(m, s, &m->tie[i].packet);
		usk_queue_drop(&s->queue, &m->tie[i].packet);
	}
	return status;
}

/* Is the second earliest head of the same time? It is one of the heap's next two. */
static bool tied(const struct merge *m)
{
	int64_t t = usk_queue_head(&m->source[m->heap[0]].queue)->time_ns;
	for (size_t i = 1; i < 3 && i < m->n_heap; i++) {
		if (usk_queue_head(&m->source[m->heap[i]].queue)->time_ns == t) {
			return true;
		}
	}
	return false;
}

static void show_progress(const struct merge *m)
{
	if (m->opt && m->opt->progress) {
		double read = 0, all = 0;
		for (size_t i = 0; i < m->n; i++) {
			read += (double)usk_trace_pos(m->source[i].trace);
			all += (double)usk_trace_size(m->source[i].trace);
		}
		m->opt->progress(m->opt->progress_ctx, all > 0 ? read / all : 1, "merging");
	}
}

static enum usk_status run(struct merge *m)
{
	enum usk_status status = USK_OK;
	for (size_t i = 0; i < m->n && !status; i++) {
		struct source *s = &m->source[i];
		status = usk_trace_rewind(s->trace, m->err);
		status = status ? status : fill(m, s);
		size_t n;
		const struct usk_iface *face = usk_trace_ifaces(s->trace, &n);
		for (size_t k = 0; k < n && !status; k++) {
			m->snap_length = face[k].snap_length > m->snap_length ? face[k].snap_length
									      : m->snap_length;
		}
		if (!status && usk_queue_head(&s->queue)) {
			m->heap[m->n_heap++] = i;
		}
	}
	for (size_t i = m->n_heap; i-- > 0 && !status;) {
		sift_down(m, i);
	}
	write_section(m);
	for (size_t i = 0; i < m->n && !status; i++) { /* interfaces in the order of the traces */
		const struct packet *head = usk_queue_head(&m->source[i].queue);
		if (head) {
			face_of(m, &m->source[i], head->iface);
		}
	}
	for (uint64_t turn = 0; !status && m->n_heap; turn++) {
		struct source *s = &m->source[m->heap[0]];
		if (tied(m)) {
			status = write_tied(m, usk_queue_head(&s->queue)->time_ns);
		} else {
			struct packet p = usk_queue_pop(&s->queue);
			write_packet(m, s, &p);
			usk_queue_drop(&s->queue, &p);
			status = advance(m);
		}
		if (turn % 65536 == 65535) {
			show_progress(m);
		}
		if (m->out.failed) {
			break; /* a full disk: commit says so */
		}
	}
	return status;
}

static void find_local(struct source *s, const struct usk_clocks *c)
{
	size_t cap = 0;
	for (size_t i = 0; i < c->n_traces; i++) {
		const struct usk_trace_info *t = &c->trace[i];
		for (size_t k = 0; t->clock == s->clock && k < t->n_local; k++) {
			struct usk_addr own;
			if (usk_addr_parse(t->local[k], &own)) {
				*USK_ADD(s->local, s->n_local, cap) = own;
			}
		}
	}
}

/* Is the interface in the view? */
static bool takes(void *ctx, uint32_t number, const char *name)
{
	const struct view *v = ctx;
	return usk_trace_iface_clock(v->info, number, name, v->rest) == v->clock;
}

static enum usk_status open_view(struct source *s, struct usk_trace *t, struct view view,
				 struct usk_err *err)
{
	struct usk_trace_part part = { .own = true, .takes = takes };
	s->view = usk_alloc(1, sizeof *s->view);
	*s->view = view;
	part.ctx = s->view;
	enum usk_status status = usk_trace_again(t, &part.trace, err);
	if (!status) {
		status = usk_trace_join(&part, 1, usk_trace_name(t), &s->trace, err);
	}
	return status;
}

/* A trace, or what of it one clock has stamped. */
static enum usk_status add_source(struct merge *m, struct usk_trace *t,
				  const struct usk_trace_info *info, uint32_t rest, uint32_t clock,
				  const struct usk_write_options *opt, struct usk_notes *notes)
{
	struct source *s = &m->source[m->n++];
	struct view view = { info, clock, rest };
	usk_queue_init(&s->queue);
	s->trace = info ? NULL : t;
	s->clock = clock;
	enum usk_status status = info ? open_view(s, t, view, m->err) : USK_OK;
	find_local(s, m->clocks);
	return status ? status
		      : usk_write_map(m->clocks, clock, usk_trace_path(t), opt, &s->map, notes,
				      m->err);
}

static enum usk_status add_trace(struct merge *m, struct usk_trace *t, const uint32_t *given,
				 const struct usk_write_options *opt, struct usk_notes *notes)
{
	const char *path = usk_trace_path(t);
	if (usk_trace_class(t) != USK_TRACE_CAPTURE) {
		return usk_fail(m->err, USK_EUSAGE, 0,
				"%s: is a message table; only captures can be merged", path);
	}
	uint32_t clock = given ? *given : usk_clocks_find(m->clocks, NULL, path, usk_trace_name(t));
	const struct usk_trace_info *info = usk_clocks_trace(m->clocks, path, clock);
	size_t n = info ? info->n_ifaces : 0;
	enum usk_status status = USK_OK;
	m->source = usk_grow(m->source, m->n + n + 1, sizeof *m->source);
	memset(m->source + m->n, 0, (n + 1) * sizeof *m->source);
	if (!n || clock != USK_NO_CLOCK) {
		status = add_source(m, t, n ? info : NULL, clock, clock, opt, notes);
	}
	for (size_t i = 0; i < n && !status; i++) {
		bool before = info->iface[i].clock == clock;
		for (size_t k = 0; k < i; k++) {
			before |= info->iface[k].clock == info->iface[i].clock;
		}
		if (!before) {
			status = add_source(m, t, info, clock, info->iface[i].clock, opt, notes);
		}
	}
	return status;
}

static void add_notes(const struct merge *m, struct usk_notes *notes)
{
	for (size_t i = 0; i < m->n; i++) {
		const struct source *s = &m->source[i];
		const char *damage = usk_trace_damage(s->trace);
		if (damage) {
			usk_note(notes, "%s", damage);
		}
		if (s->late) {
			usk_note(notes,
				 "%s: %llu packets are not in order, as they came later than the "
				 "merge waits (1 s of trace, at most 64 MiB)",
				 usk_trace_path(s->trace), (unsigned long long)s->late);
		}
	}
}

enum usk_status usk_merge(struct usk_trace *const *trace, const uint32_t *clock, size_t n,
			  const struct usk_clocks *c, const char *path,
			  const struct usk_write_options *opt, struct usk_notes *notes,
			  struct usk_err *err)
{
	struct merge m = { .clocks = c, .opt = opt, .err = err, .written_ns = INT64_MIN };
	/* The same bytes from every machine: the lowest first. */
	m.block.swap = !USK_SWAP_NETWORK;
	m.comments = opt && opt->comments ? opt->comments : USK_COMMENTS_NEEDED;
	m.batch = usk_alloc(BATCH, sizeof *m.batch);
	enum usk_status status = USK_OK;
	for (size_t i = 0; i < n && !status; i++) {
		status = add_trace(&m, trace[i], clock ? &clock[i] : NULL, opt, notes);
	}
	m.heap = usk_alloc(m.n + 1, sizeof *m.heap);
	if (!status) {
		status = usk_output_open(&m.out, path, opt && opt->force, err);
		if (!status) {
			status = run(&m);
			for (size_t i = 0; i < m.n && !status; i++) {
				status = usk_replay_end(m.source[i].map, err);
				usk_fail_in(status, err, "%s", usk_trace_path(m.source[i].trace));
			}
			status = status ? status : usk_output_commit(&m.out, err);
			usk_output_close(&m.out);
		}
	}
	if (!status) {
		add_notes(&m, notes);
	}
	for (size_t i = 0; i < m.n; i++) {
		if (m.source[i].view) {
			usk_trace_close(m.source[i].trace);
			free(m.source[i].view);
		}
		usk_replay_free(m.source[i].map);
		usk_queue_free(&m.source[i].queue);
		USK_FREE(m.source[i].face, m.source[i].local);
	}
	usk_block_free(&m.block);
	USK_FREE(m.source, m.heap, m.batch, m.face, m.tie);
	return status;
}

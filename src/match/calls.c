/* SPDX-License-Identifier: MIT */
/*
 * calls.c - spans -> messages: what a parent and its child in another process say of their clocks
 *
 * In    spans of any number of processes and traces, in any order
 * Out   messages: from a parent's start to its child's and, where the parent waits, from the child's
 *       end to the parent's; what the stamps of each process are worth
 * Why   a child cannot begin before its parent. That a parent waits is what client and server mean,
 *       but callers give up, servers go on behind their answers, and many spans tell no kind. So of
 *       the calls from one service to another for one thing each is looked at: none may end behind
 *       its caller by more than all starts near it leave room for
 * Not   bounds (graph/); reading (read/)
 *
 * An SDK whose clock is one of ms takes it once for each local trace, and counts ns from there:
 * then spans that others asked for begin just behind a whole ms, where of others 1 in 500 does. All
 * stamps of such a process may be up to 1 ms too early. Of others so may spans of whole ms, such as
 * proxies log for the services before them. Doubles at today's epoch step by 256 ns and
 * are rounded to the nearest.
 *
 * Spans are dealt out to lanes by their traces, a lane is sorted and joined alone, and its calls
 * are dealt out again by clocks: memory holds a fraction of all, the disk the rest.
 */
#include "match/calls.h"

#include "base/index.h"

#include <stdlib.h>
#include <string.h>

/* Calls of one kind from which on that they all end in time says something. */
enum { LANES = 256, MOST_CLASSES = 1 << 16, ENOUGH = 10 };

#define MS_NS	  INT64_C(1000000)
#define NEAR_NS	  2000		  /* what passes from taking the anchor to the first stamp */
#define ANCHOR_NS (MS_NS + 10000) /* and from ms to ns, as they are not read at once */
#define NEARBY_NS 100000000	  /* offsets do not change by more than DRIFT_NS meanwhile */
#define DRIFT_NS  100000

enum { ONE_WAY = 1, LINK = 2, CLIENT_SERVER = 4, COARSE = 8, PARENT_COARSE = 16 };

struct call {
	int64_t parent_start, parent_end, start, end;
	uint32_t from, to;   /* processes */
	uint32_t between[2]; /* their clocks; where that is one, the processes */
	uint32_t class, flags;
};

struct usk_calls {
	struct usk_spool *spans, *calls;
	struct usk_call_process *process;
	size_t n_processes, cap_processes;
	struct usk_call_class *class;
	size_t n_classes, cap_classes;
	struct usk_index classes;
	struct usk_call_clock *clock;
	size_t n_clocks, cap_clocks;
};

struct usk_calls *usk_calls_new(void)
{
	struct usk_calls *c = usk_alloc(1, sizeof *c);
	c->spans = usk_spool_new(sizeof(struct usk_span), LANES);
	c->calls = usk_spool_new(sizeof(struct call), LANES);
	return c;
}

void usk_calls_free(struct usk_calls *c)
{
	if (c) {
		usk_spool_free(c->spans);
		usk_spool_free(c->calls);
		usk_index_free(&c->classes);
		USK_FREE(c->process, c->class, c->clock);
	}
	free(c);
}

const struct usk_call_process *usk_calls_processes(const struct usk_calls *c, size_t *n)
{
	*n = c->n_processes;
	return c->process;
}

const struct usk_call_class *usk_calls_classes(const struct usk_calls *c, size_t *n)
{
	*n = c->n_classes;
	return c->class;
}

const struct usk_call_clock *usk_calls_clocks(const struct usk_calls *c, size_t *n)
{
	*n = c->n_clocks;
	return c->clock;
}

/* ---- spans as they come -------------------------------------------------------------------- */

static void note_stamp(struct usk_call_process *y, int64_t t)
{
	y->first_ns = !y->stamped || t < y->first_ns ? t : y->first_ns;
	y->last_ns = !y->stamped || t > y->last_ns ? t : y->last_ns;
	y->stamped = true;
	usk_grid_add(&y->grid, t);
}

enum usk_status usk_calls_add(struct usk_calls *c, const struct usk_span *s, size_t n,
			      const uint32_t *service, struct usk_err *err)
{
	enum usk_status status = USK_OK;
	for (size_t i = 0; i < n && !status; i++) {
		while (c->n_processes <= s[i].process) {
			*USK_ADD(c->process, c->n_processes, c->cap_processes) =
				(struct usk_call_process){ 0 };
		}
		while (c->n_clocks <= s[i].clock) {
			*USK_ADD(c->clock, c->n_clocks, c->cap_clocks) =
				(struct usk_call_clock){ 0 };
		}
		struct usk_call_process *y = &c->process[s[i].process];
		y->clock = s[i].clock;
		y->service = service[i];
		y->microseconds |= (s[i].flags & USK_SPAN_MICROSECONDS) != 0;
		y->coarse += usk_span_coarse(&s[i], 0) && s[i].end_ns > s[i].start_ns;
		note_stamp(y, s[i].start_ns);
		if (s[i].end_ns != USK_NONE) {
			note_stamp(y, s[i].end_ns);
		}
		status = usk_spool_put(c->spans, usk_mix(s[i].trace) % LANES, &s[i], err);
	}
	return status;
}

/* ---- who called whom ----------------------------------------------------------------------- */

static int compare(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

/* By id; of one id the side that called first. */
static int by_id(const void *pa, const void *pb)
{
	const struct usk_span *a = pa, *b = pb;
	int order = compare(a->trace, b->trace);
	order = order ? order : compare(a->id, b->id);
	order = order ? order : compare(b->kind, a->kind);
	order = order ? order : compare(a->process, b->process);
	order = order ? order : usk_order(a->start_ns, b->start_ns);
	order = order ? order : usk_order(a->end_ns, b->end_ns);
	return order ? order : compare(a->parent, b->parent);
}

static bool calls_others(const struct usk_span *s)
{
	return s->kind == USK_SPAN_CLIENT || s->kind == USK_SPAN_PRODUCER;
}

static bool is_called(const struct usk_span *s)
{
	return s->kind == USK_SPAN_SERVER || s->kind == USK_SPAN_CONSUMER;
}

/* All of one id in s[n], *found of them. */
static const struct usk_span *of_id(const struct usk_span *s, size_t n, uint64_t trace, uint64_t id,
				    size_t *found)
{
	size_t low;
	USK_FIRST(low, 0, n, s[low].trace > trace || (s[low].trace == trace && s[low].id >= id));
	*found = 0;
	while (low + *found < n && s[low + *found].trace == trace && s[low + *found].id == id) {
		++*found;
	}
	return s + low;
}

/*
 * The parent of a span; NULL: it has none here. Zipkin gives both halves of a call one id: the
 * callee's parent is the caller's half, and what has that id as parent is of the callee's, unless
 * the caller's process has it.
 */
static const struct usk_span *parent_of(const struct usk_span *s, const struct usk_span *all,
					size_t n, bool *ambiguous)
{
	size_t found;
	const struct usk_span *of =
		s->id && is_called(s) ? of_id(all, n, s->trace, s->id, &found) : NULL;
	*ambiguous = false;
	if (of && calls_others(of)) {
		*ambiguous = found > 1 && calls_others(&of[1]);
		return *ambiguous ? NULL : of;
	}
	if (!s->parent || s->parent == s->id) {
		return NULL;
	}
	of = of_id(all, n, s->trace, s->parent, &found);
	if (found < 2) {
		return found ? of : NULL;
	}
	if (found == 2 && calls_others(&of[0]) && is_called(&of[1])) {
		return s->process == of[0].process ? &of[0] : &of[1];
	}
	*ambiguous = true;
	return NULL;
}

static uint32_t class_of(struct usk_calls *c, const struct usk_span *parent,
			 const struct usk_span *s)
{
	const struct usk_call_class class = { .from = c->process[parent->process].service,
					      .to = c->process[s->process].service,
					      .operation = s->operation };
	bool full = c->n_classes >= MOST_CLASSES;
	uint64_t *number =
		usk_index_value(&c->classes, full ? 0 : (uint64_t) class.from << 32 | class.to,
				full ? 0 : 1 + (uint64_t) class.operation);
	if (!*number) {
		*USK_ADD(c->class, c->n_classes, c->cap_classes) = class;
		*number = c->n_classes;
	}
	return (uint32_t)*number - 1;
}

/* Did the caller wait, as far as the two spans tell? */
static uint32_t flags_of(const struct usk_span *parent, const struct usk_span *s)
{
	bool link = s->flags & USK_SPAN_LINK,
	     told = parent->kind == USK_SPAN_CLIENT && s->kind == USK_SPAN_SERVER;
	/* Where kinds are told at all, others than these two do not say that anybody waits. */
	bool silent = !parent->kind && !s->kind && (s->flags & USK_SPAN_NO_KINDS);
	bool one_way = link || (s->flags & USK_SPAN_FOLLOWS) || (parent->flags & USK_SPAN_FAILED) ||
		       !(told || silent) || parent->end_ns == USK_NONE || s->end_ns == USK_NONE;
	return (one_way ? ONE_WAY : 0u) | (link ? LINK : 0u) | (told ? CLIENT_SERVER : 0u);
}

static enum usk_status put_call(struct usk_calls *c, const struct usk_span *parent,
				const struct usk_span *s, struct usk_err *err)
{
	bool within = parent->clock == s->clock;
	const struct call call = { .parent_start = parent->start_ns,
				   .parent_end = parent->end_ns,
				   .start = s->start_ns,
				   .end = s->end_ns,
				   .from = parent->process,
				   .to = s->process,
				   .between = { within ? parent->process : parent->clock,
						within ? s->process : s->clock },
				   .class = class_of(c, parent, s),
				   .flags = flags_of(parent, s) |
					    (usk_span_coarse(parent, 0) ? PARENT_COARSE : 0) |
					    (usk_span_coarse(s, 0) ? COARSE : 0) };
	uint64_t between = (uint64_t)call.between[0] << 32 | call.between[1];
	/* Those within one clock apart from the others, whose numbers are of another kind. */
	size_t lane = usk_mix(between) % (LANES / 2) * 2 + within;
	return usk_spool_put(c->calls, lane, &call, err);
}

static void note_entry(struct usk_call_process *y, const struct usk_span *s)
{
	y->entries++;
	y->at_ms += s->start_ns % MS_NS < NEAR_NS;
}

/* Of sorted spans each once: who exports them sends a batch again if no answer came. */
static size_t each_once(struct usk_span *s, size_t n)
{
	size_t kept = 0;
	for (size_t i = 0; i < n; i++) {
		if (!kept || by_id(&s[kept - 1], &s[i])) {
			s[kept++] = s[i];
		}
	}
	return kept;
}

/* Does the span begin what its process does? One that asks others, and whose parent is missing, went on
 * from a span that was lost. */
static bool is_entry(const struct usk_span *s, const struct usk_span *parent)
{
	const bool asks = s->kind == USK_SPAN_CLIENT || s->kind == USK_SPAN_PRODUCER;
	return !(s->flags & USK_SPAN_LINK) &&
	       (parent ? parent->process != s->process : !(s->parent && asks));
}

static enum usk_status join(struct usk_calls *c, const struct usk_span *all, size_t n,
			    struct usk_counts *counts, struct usk_err *err)
{
	enum usk_status status = USK_OK;
	for (size_t i = 0; i < n && !status; i++) {
		const struct usk_span *s = &all[i];
		bool ambiguous;
		const struct usk_span *parent = parent_of(s, all, n, &ambiguous);
		counts->ambiguous += ambiguous;
		counts->unmatched += !parent && !ambiguous && s->parent;
		if (is_entry(s, parent)) {
			note_entry(&c->process[s->process], s);
		}
		if (parent && parent->process != s->process) {
			status = put_call(c, parent, s, err);
		}
	}
	return status;
}

/* ---- what stamps are worth ------------------------------------------------------------------ */

static void judge_process(struct usk_call_process *y)
{
	int64_t grid = usk_grid_ns(&y->grid);
	bool doubles = grid >= 16 && !(grid & (grid - 1));
	y->anchored = grid < MS_NS && y->entries &&
		      (y->at_ms == y->entries || (y->at_ms > 1 && y->at_ms > y->entries / 50));
	y->resolution_ns = y->anchored ? ANCHOR_NS + grid : grid > 1 ? grid : 1;
	y->early_ns = doubles ? grid : y->microseconds ? 1000 : 0;
	y->resolution_ns += y->microseconds ? 1000 : 0;
	y->coarse = y->resolution_ns < MS_NS ? y->coarse : 0;
}

/* By how much a span's stamps may be too early besides. */
static int64_t late_by(const struct usk_call_process *y, bool coarse)
{
	return y->coarse && coarse ? MS_NS : 0;
}

/* By clocks, then by time, then in one order whatever order they came in. */
static int by_moment(const void *pa, const void *pb)
{
	const struct call *a = pa, *b = pb;
	int order = compare(a->between[0], b->between[0]);
	order = order ? order : compare(a->between[1], b->between[1]);
	order = order ? order : usk_order(a->start / NEARBY_NS, b->start / NEARBY_NS);
	order = order ? order : usk_order(a->start, b->start);
	order = order ? order : usk_order(a->parent_start, b->parent_start);
	order = order ? order : usk_order(a->end, b->end);
	order = order ? order : usk_order(a->parent_end, b->parent_end);
	return order ? order : compare(a->class, b->class);
}

static bool are_near(const struct call *a, const struct call *b)
{
	return !memcmp(a->between, b->between, sizeof a->between) &&
	       a->start / NEARBY_NS == b->start / NEARBY_NS;
}

/* Calls of one lane that two clocks shared within a short time. */
struct nearby {
	struct usk_calls *c;
	const struct call *call;
	size_t n;
	bool first; /* count; else hand out */
	enum usk_status (*put)(void *ctx, const struct usk_msg *m, struct usk_err *err);
	void *ctx;
	struct usk_err *err;
};

static int64_t room(const struct usk_call_process *a, const struct usk_call_process *b)
{
	return a->resolution_ns + a->early_ns + b->resolution_ns + b->early_ns;
}

static enum usk_status send(const struct nearby *x, uint32_t from, int64_t sent, uint32_t to,
			    int64_t received, bool coarse)
{
	const usk_i128 limit = USK_TIME_MAX, early = x->c->process[from].early_ns,
		       late = late_by(&x->c->process[to], coarse);
	const struct usk_msg m = { .sent_ns = (int64_t)usk_clamp(sent - early, -limit, limit),
				   .received_ns =
					   (int64_t)usk_clamp(received + late, -limit, limit),
				   .from = from,
				   .to = to };
	return x->put(x->ctx, &m, x->err);
}

static void count_call(struct usk_calls *c, const struct call *k, bool late)
{
	struct usk_call_class *class = &c->class[k->class];
	class->n++;
	class->late += late;
	class->told |= (k->flags & CLIENT_SERVER) != 0;
}

static enum usk_status hand_out(const struct nearby *x, const struct call *k, bool late)
{
	bool link = k->flags & LINK;
	if (link && k->end == USK_NONE) {
		return USK_OK;
	}
	enum usk_status status = send(x, k->from, k->parent_start, k->to, link ? k->end : k->start,
				      k->flags & COARSE);
	if (!status && !(k->flags & ONE_WAY) && x->c->class[k->class].waits && !late) {
		status = send(x, k->to, k->end, k->from, k->parent_end, k->flags & PARENT_COARSE);
	}
	return status;
}

/* The callee's end is behind the caller's: for sure, whatever stamps are rounded by; where nobody
 * says that a caller waits at all, by stamps as they are. least: from a start to the next,
 * likewise. */
static bool is_late(const struct usk_calls *c, const struct call *k, usk_i128 least)
{
	bool told = k->flags & CLIENT_SERVER;
	usk_i128 slack =
		told ? DRIFT_NS + 2 * (usk_i128)room(&c->process[k->from], &c->process[k->to]) +
				late_by(&c->process[k->from], k->flags & PARENT_COARSE) +
				late_by(&c->process[k->to], k->flags & COARSE)
		     : 0;
	return (usk_i128)k->parent_end - k->end + least + slack < 0;
}

static enum usk_status look(const struct nearby *x)
{
	enum usk_status status = USK_OK;
	usk_i128 least = INT64_MAX;
	for (size_t i = 0; i < x->n; i++) {
		const struct call *k = &x->call[i];
		usk_i128 d = (usk_i128)k->start - k->parent_start;
		least = !(k->flags & LINK) && d < least ? d : least;
	}
	for (size_t i = 0; i < x->n && !status; i++) {
		const struct call *k = &x->call[i];
		bool both = !(k->flags & ONE_WAY), late = both && is_late(x->c, k, least);
		if (!x->first) {
			status = hand_out(x, k, late);
		} else if (both) {
			count_call(x->c, k, late);
		}
	}
	return status;
}

/* Two processes of one clock: do their spans speak against that? */
static void look_within(struct usk_calls *c, const struct call *k)
{
	struct usk_call_clock *y = &c->clock[c->process[k->from].clock];
	usk_i128 d = (usk_i128)k->start - k->parent_start +
		     room(&c->process[k->from], &c->process[k->to]) +
		     late_by(&c->process[k->to], k->flags & COARSE);
	y->n++;
	y->early += !(k->flags & LINK) && d < 0;
}

static enum usk_status load(struct usk_calls *c, size_t lane, struct call **call, size_t *n,
			    struct usk_err *err)
{
	*n = (size_t)usk_spool_count(c->calls, lane);
	*call = usk_alloc(*n, sizeof **call);
	return usk_spool_get(c->calls, lane, 0, *call, *n, err);
}

static enum usk_status look_through(struct nearby *x, size_t lane)
{
	struct usk_calls *c = x->c;
	struct call *call;
	size_t n;
	enum usk_status status = load(c, lane, &call, &n, x->err);
	if (!status) {
		qsort(call, n, sizeof *call, by_moment);
	}
	for (size_t i = 0, k; i < n && !status; i = k) {
		for (k = i + 1; k < n && are_near(&call[i], &call[k]); k++) {
		}
		bool within = c->process[call[i].from].clock == c->process[call[i].to].clock;
		if (!within || c->clock[c->process[call[i].from].clock].split) {
			x->call = call + i;
			x->n = k - i;
			status = look(x);
		}
	}
	free(call);
	return status;
}

static enum usk_status look_all(struct nearby *x)
{
	enum usk_status status = USK_OK;
	for (size_t lane = 0; lane < LANES && !status; lane++) {
		status = look_through(x, lane);
	}
	return status;
}

static enum usk_status split_clocks(struct usk_calls *c, struct usk_err *err)
{
	enum usk_status status = USK_OK;
	for (size_t lane = 1; lane < LANES && !status; lane += 2) {
		struct call *call;
		size_t n;
		status = load(c, lane, &call, &n, err);
		for (size_t i = 0; i < n && !status; i++) {
			look_within(c, &call[i]);
		}
		free(call);
	}
	for (size_t i = 0; i < c->n_clocks; i++) {
		c->clock[i].split = c->clock[i].early * 100 > c->clock[i].n;
	}
	return status;
}

enum usk_status usk_calls_run(struct usk_calls *c, struct usk_counts *counts, struct usk_err *err)
{
	enum usk_status status = USK_OK;
	for (size_t lane = 0; lane < LANES && !status; lane++) {
		size_t n = (size_t)usk_spool_count(c->spans, lane);
		struct usk_span *s = usk_alloc(n, sizeof *s);
		status = usk_spool_get(c->spans, lane, 0, s, n, err);
		if (!status) {
			qsort(s, n, sizeof *s, by_id);
			status = join(c, s, each_once(s, n), counts, err);
		}
		free(s);
	}
	usk_spool_free(c->spans);
	c->spans = NULL;
	for (size_t i = 0; i < c->n_processes; i++) {
		judge_process(&c->process[i]);
	}
	status = status ? status : split_clocks(c, err);
	struct nearby x = { .c = c, .first = true, .err = err };
	status = status ? status : look_all(&x);
	for (size_t i = 0; i < c->n_classes; i++) {
		struct usk_call_class *k = &c->class[i];
		k->waits = k->told ? k->late * 100 <= k->n : !k->late && k->n >= ENOUGH;
	}
	return status;
}

enum usk_status usk_calls_messages(struct usk_calls *c,
				   enum usk_status (*put)(void *ctx, const struct usk_msg *m,
							  struct usk_err *err),
				   void *ctx, struct usk_err *err)
{
	struct nearby x = { .c = c, .put = put, .ctx = ctx, .err = err };
	return look_all(&x);
}

/* SPDX-License-Identifier: MIT */
/*
 * chrome.c - collectives and flows from traces in Chrome's JSON, Kineto's (PyTorch) among them
 *
 * In    events: kernels with the arguments that Kineto copies from the call: "Collective name",
 *       "Process Group Name", "Process Group Ranks", "Seq"; flow events ("s", "f")
 * Out   parts of collectives, one clock a file; flows as messages, a clock for each process of a file
 *       that Kineto did not write; where all are wanted, every event that has a stamp
 * Why   it is what profilers of GPU programs write, a file for each rank; a kernel runs on the device,
 *       so it begins and ends with its part of the collective, while calls only queue it
 * Not   the JSON (chrome_json.c); broadcast, scatter, reduce and gather, whose root Kineto does not
 *       write; send and recv, which nothing numbers alike on both sides; files of older versions,
 *       which have no "Seq"
 *
 * Stamps are us. Kineto writes three decimals of whole ns, from baseTimeNanoseconds on. What others
 * write went through doubles: of so large a number these are rounded to the nearest 2^k us. Whole us
 * were cut off, of start and duration alike.
 * Flows of several files may have one number by chance, so they are not joined.
 */
#include "read/chrome.h"
#include "read/span_json.h"

#include <stdlib.h>

static bool is(const struct chrome *r, enum chrome_field field, const char *text)
{
	return usk_csv_is(usk_chrome_value(r, field), text);
}

/* ---- times --------------------------------------------------------------------------------- */

/* NULL, or why not. Without a dur it is 0. */
static const char *read_times(const struct chrome *r, struct usk_us *ts, struct usk_us *dur)
{
	*dur = (struct usk_us){ 0 };
	if (!usk_us_read(usk_chrome_value(r, CHROME_TS), ts)) {
		return "it has no ts in us";
	}
	if (r->said[CHROME_DUR].any &&
	    (!usk_us_read(usk_chrome_value(r, CHROME_DUR), dur) || dur->ns < 0)) {
		return "its dur is no time";
	}
	return NULL;
}

static const char far_away[] = "it is further than 146 years from 1970";

/* From when to when an event was, no shorter than it can have been; NULL, or why not. */
static const char *times(const struct chrome *r, struct usk_collective *x)
{
	struct usk_us ts, dur;
	const char *why = read_times(r, &ts, &dur);
	if (why) {
		return why;
	}
	usk_i128 enter = (usk_i128)r->t->base_ns + ts.ns - ts.off_ns;
	usk_i128 exit = (usk_i128)r->t->base_ns + ts.ns + ts.off_ns + dur.ns + dur.off_ns;
	/* What both were cut by adds up. A receipt may be this late; a send is not late as it is. */
	exit += ts.more_ns + dur.more_ns;
	if (!usk_is_time(enter) || !usk_is_time(exit)) {
		return far_away;
	}
	x->slack_ns = (uint16_t)(2 * (ts.off_ns + dur.off_ns) + ts.more_ns + dur.more_ns);
	x->enter_ns = (int64_t)enter;
	x->exit_ns = (int64_t)exit;
	return NULL;
}

/* From when to when it says that it was, and how it says so. */
static const char *times_as_said(struct chrome *r, struct usk_span *s)
{
	struct usk_us ts, dur;
	const char *why = read_times(r, &ts, &dur);
	if (why) {
		return why;
	}
	const usk_i128 start = (usk_i128)r->t->base_ns + ts.ns, end = start + dur.ns;
	if (!usk_is_time(start) || !usk_is_time(end)) {
		return far_away;
	}
	const bool ends = r->said[CHROME_DUR].any;
	s->start_ns = (int64_t)start;
	s->end_ns = ends ? (int64_t)end : USK_NONE;
	r->t->event = (struct usk_event_text){
		.ts = usk_chrome_value(r, CHROME_TS),
		.dur = usk_chrome_value(r, CHROME_DUR),
		.early_ns = { ts.off_ns, ts.off_ns + dur.off_ns },
		.late_ns = { ts.off_ns + ts.more_ns,
			     ts.off_ns + ts.more_ns + dur.off_ns + dur.more_ns },
	};
	return NULL;
}

/* ---- events -------------------------------------------------------------------------------- */

static void bad(struct chrome *r, const char *why)
{
	r->bad_at = r->n_bad ? r->bad_at : r->fed;
	r->bad = r->n_bad ? r->bad : why;
	r->n_bad++;
}

static void found(struct chrome *r, struct usk_collective x, struct usk_csv_field clock,
		  struct usk_csv_field rank)
{
	x.clock = usk_trace_clock(r->t, clock);
	x.rank = usk_trace_rank(r->t, x.clock, rank);
	*USK_ADD(r->found, r->n, r->cap) = x;
}

static struct usk_csv_field of_text(const char *text)
{
	return (struct usk_csv_field){ text, strlen(text) };
}

/* Texts one after the other, each with its length. */
static struct usk_event_id id_of(const struct usk_csv_field *part, size_t n)
{
	struct usk_event_id id = { { n, n } };
	for (size_t i = 0; i < n; i++) {
		struct usk_event_id more = usk_event_id(part[i].text, part[i].n);
		id.word[0] = usk_mix(id.word[0] ^ more.word[0]) + more.word[1];
		id.word[1] = usk_fold(id.word[1] + more.word[0], more.word[1] ^ id.word[0]);
	}
	return id;
}

static void take_kernel(struct chrome *r)
{
	struct usk_csv_field name = usk_chrome_value(r, CHROME_COLLECTIVE);
	enum usk_collective_kind kind = usk_collective_kind(name.text, name.n);
	if (kind == USK_NO_COLLECTIVE || usk_collective_shape(kind) != USK_FROM_ALL_TO_ALL) {
		return;
	}
	const struct usk_csv_field part[] = { usk_chrome_value(r, CHROME_GROUP),
					      usk_chrome_value(r, CHROME_RANKS),
					      usk_chrome_value(r, CHROME_SEQ) };
	struct usk_collective x = { .kind = (uint8_t)kind, .id = id_of(part, COUNT(part)) };
	const char *why = !part[0].n ? "it has no \"Process Group Name\""
			  : !part[2].n
				  ? "it has no \"Seq\", which newer versions of PyTorch write, so "
				    "nothing tells which of other ranks' kernels are of the same "
				    "collective"
				  : times(r, &x);
	if (why) {
		bad(r, why);
		return;
	}
	struct usk_csv_field rank = usk_chrome_value(r, CHROME_RANK);
	found(r, x, of_text(r->t->name), rank.n ? rank : of_text(r->t->name));
}

/* The clock of the event's process. */
static char *clock_of_process(const struct chrome *r)
{
	struct usk_csv_field pid = usk_chrome_value(r, CHROME_PID);
	return usk_format("%s/%.*s", r->t->name, (int)pid.n, pid.text);
}

static void take_flow(struct chrome *r, bool start)
{
	const struct usk_csv_field part[] = { of_text(r->t->path), usk_chrome_value(r, CHROME_CAT),
					      usk_chrome_value(r, CHROME_NAME),
					      usk_chrome_value(r, CHROME_ID) };
	struct usk_collective x = { .kind = USK_MESSAGE,
				    .id = id_of(part, COUNT(part)),
				    .root = start };
	r->said[CHROME_DUR].any = false;
	const char *why = !part[3].n			       ? "it has no id"
			  : !usk_chrome_value(r, CHROME_PID).n ? "it has no pid"
							       : times(r, &x);
	if (why) {
		bad(r, why);
		return;
	}
	char *clock = clock_of_process(r);
	found(r, x, of_text(clock), of_text(clock));
	free(clock);
}

/* Those that tie clocks. */
static void take_tie(struct chrome *r)
{
	bool kernel = is(r, CHROME_PH, "X") &&
		      (is(r, CHROME_CAT, "kernel") || is(r, CHROME_CAT, "mtia_ccp_events"));
	struct usk_csv_field name = usk_chrome_value(r, CHROME_NAME);
	if (kernel && r->said[CHROME_COLLECTIVE].any) {
		take_kernel(r);
	} else if (kernel && name.n > 4 && !memcmp(name.text, "nccl", 4)) {
		bad(r, "it is a kernel of NCCL that has no \"Collective name\", which newer "
		       "versions of PyTorch write");
	} else if (!r->kineto && (is(r, CHROME_PH, "s") || is(r, CHROME_PH, "f"))) {
		take_flow(r, is(r, CHROME_PH, "s"));
	}
}

/* Any that is of a time; names of processes and threads are not, whatever stamp they have. */
static void take_any(struct chrome *r)
{
	struct usk_span s = { .id = 1 };
	if (is(r, CHROME_PH, "M")) {
		return;
	}
	if (!is(r, CHROME_PH, "X")) {
		r->said[CHROME_DUR].any = false;
	}
	const char *why = !r->kineto && !usk_chrome_value(r, CHROME_PID).n ? "it has no pid"
									   : times_as_said(r, &s);
	if (why) {
		bad(r, why);
		return;
	}
	char *clock = r->kineto ? NULL : clock_of_process(r);
	s.clock = usk_trace_clock(r->t, of_text(clock ? clock : r->t->name));
	s.process = s.clock;
	free(clock);
	r->status = r->t->take_span(r->t->span_ctx, &s, r->place, r->n_places, r->err);
}

bool usk_chrome_event(struct chrome *r)
{
	if (r->t->take_span) {
		take_any(r);
	} else {
		take_tie(r);
	}
	return !r->status;
}

/* ---- the reader ---------------------------------------------------------------------------- */

static enum usk_status collectives(struct usk_trace *t, struct usk_collective *out, size_t cap,
				   size_t *n, struct usk_err *err)
{
	struct chrome *r = t->state;
	enum usk_status status = USK_OK;
	bool more = true; /* who takes all is to see how far this is, now and then */
	while (!status && r->at == r->n && !r->ended && more) {
		r->at = r->n = 0;
		status = usk_chrome_feed(r, err);
		more = !t->take_span;
		r->ended = t->done;
	}
	for (; !status && *n < cap && r->at < r->n; r->at++) {
		out[(*n)++] = r->found[r->at];
	}
	t->done = r->ended && r->at == r->n; /* all was handed out, too */
	return status;
}

/* Kineto has much before its events, but its schema first of all. */
static bool sniff(const uint8_t *d, size_t n)
{
	return (usk_span_opens(d, n, "{\"") && usk_has_text(d, n, "\"traceEvents\"")) ||
	       usk_span_opens(d, n, "{\"schemaVersion\"") ||
	       (usk_span_opens(d, n, "[{") && usk_has_text(d, n, "\"ph\""));
}

static const struct usk_span_form form = {
	"event", true, true, " \"args\":{", "\"", "\":\"", "\""
};

const struct reader usk_reader_chrome = {
	.info = { "chrome", "Chrome JSON, Kineto", "profiles", USK_TRACE_COLLECTIVES },
	.sniff = sniff,
	.start = usk_chrome_start,
	.collectives = collectives,
	.stop = usk_chrome_stop,
	.form = &form,
};

/* SPDX-License-Identifier: MIT */
/*
 * explain.c - why a bound holds: the messages and stretches that imply it
 *
 * In    a proof (doc/proof.md), the answer, the traces
 * Out   its steps, each from earlier ones, with the numbers that records have in their files, which
 *       are those that Wireshark shows: in words, and for a page as a picture too
 * Not   proofs of others: the text is the one that this process made
 */
#include "explain.h"
#include "explain_steps.h"
#include "match/match.h"
#include "twice.h"

#include <stdlib.h>
#include <string.h>

static const char *const rules[] = { "reference", "message", "cone", "chord", "pair", "sum" };

/* ---- the proof ---------------------------------------------------------------------------------
 */

static usk_i128 number(const char *text)
{
	bool minus = *text == '-';
	usk_i128 v = 0;
	for (text += minus; *text >= '0' && *text <= '9'; text++) {
		v = 10 * v + (*text - '0');
	}
	return minus ? -v : v;
}

/* What stamps of a clock that was set back are lifted by, which in a proof go on. */
static int64_t lifted(const struct explaining *e, uint32_t clock, int64_t x)
{
	const struct usk_clock *k = &e->c->clock[clock];
	int64_t shift = 0;
	for (size_t i = 0; i < k->n_set_backs; i++) {
		const struct usk_set_back *b = &k->set_back[i];
		int64_t more = b->from_ns - b->to_ns + USK_EPOCH_GAP_NS;
		if (x < b->to_ns + shift + more) {
			break;
		}
		shift += more;
	}
	return shift;
}

/* "SCALE M:K ... STEP ...": the messages. */
static void take_terms(struct explaining *e, const char *at, struct step *s)
{
	char *next;
	double scale = strtod(at, &next);
	s->term = (uint32_t)e->n_terms;
	for (at = next; *at == ' '; at = next) {
		uint32_t m = (uint32_t)strtoul(at, &next, 10);
		if (*next != ':') {
			break;
		}
		*USK_ADD(e->term, e->n_terms, e->cap_terms) =
			(struct term){ m, strtod(next + 1, &next) / scale };
	}
	s->n_terms = (uint32_t)e->n_terms - s->term;
}

static void take_step(struct explaining *e, const char *line)
{
	char what[8], at[48], rule[16], last[16] = "";
	struct step s = { .a = NO_STEP, .b = NO_STEP, .message = NO_STEP };
	unsigned first = NO_STEP;
	bool slope = *line == 's' || *line == 'f';
	long long x = 0;
	if (slope) {
		sscanf(line, "%7s %u %47s %15s %u %15s", what, &s.clock, at, rule, &first, last);
	} else {
		sscanf(line, "%7s %u %lld %47s %15s %u %15s", what, &s.clock, &x, at, rule, &first,
		       last);
	}
	s.x = x;
	s.slope = slope;
	s.upper = *what == 'h' || *what == 'f';
	s.at = number(at);
	while (strcmp(rules[s.rule], rule) != 0 && s.rule < SUM) {
		s.rule++;
	}
	if (!slope) {
		int64_t shift = lifted(e, s.clock, x);
		s.x -= shift;
		s.at += (usk_i128)shift * USK_E12;
	}
	if (s.rule == SUM) {
		take_terms(e, strstr(line, " sum ") + strlen(" sum "), &s);
	} else {
		*(s.rule == MESSAGE ? &s.message : &s.a) = first;
		*(s.rule == MESSAGE ? &s.a : &s.b) =
			*last >= '0' && *last <= '9' ? (uint32_t)number(last) : NO_STEP;
	}
	*USK_ADD(e->step, e->n_steps, e->cap_steps) = s;
}

static void take_message(struct explaining *e, const char *line)
{
	struct message m;
	long long sent = 0, received = 0;
	sscanf(line, "message %u %lld %u %lld", &m.clock[0], &sent, &m.clock[1], &received);
	m.x[0] = sent - lifted(e, m.clock[0], sent);
	m.x[1] = received - lifted(e, m.clock[1], received);
	*USK_ADD(e->message, e->n_messages, e->cap_messages) = m;
}

/* The steps of a band around a stamp; false: none are on this line. */
static bool take_band(const struct explaining *e, const char *line, bool upper, uint32_t clock,
		      int64_t x, uint32_t step[2])
{
	const char *at = line + strlen("band lo");
	bool found = false;
	step[0] = NO_STEP;
	while (*at == ' ' && !found && (line[5] == 'h') == upper) {
		uint32_t next = (uint32_t)strtoul(at, (char **)&at, 10);
		bool here = e->step[next].clock == clock;
		found = here && step[0] != NO_STEP && e->step[step[0]].x <= x &&
			x <= e->step[next].x;
		step[found] = next;
	}
	if (found && e->step[step[0]].x == x) {
		step[1] = step[0];
	} else if (found && e->step[step[1]].x == x) {
		step[0] = step[1];
	}
	return found;
}

static bool read_proof(struct explaining *e, const char *text, bool upper, uint32_t clock,
		       int64_t x, uint32_t step[2])
{
	bool found = false;
	for (const char *line = text; line && !found; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (!strncmp(line, "band", 4)) {
			found = take_band(e, line, upper, clock, x, step);
		}
	}
	return found;
}

static void read_steps(struct explaining *e, const char *text)
{
	for (const char *line = strchr(text, '\n'); line && line[1]; line = strchr(line, '\n')) {
		line++;
		if (!strncmp(line, "message", 7)) {
			take_message(e, line);
		} else if (strncmp(line, "band", 4) != 0) {
			take_step(e, line);
		}
	}
}

/* What the steps rest on, each once, in their order. */
static void need(struct explaining *e, const uint32_t step[2])
{
	uint32_t said = 0;
	for (size_t i = 0; i < e->n_steps; i++) {
		e->step[i].said = i == step[0] || i == step[1];
	}
	for (size_t i = e->n_steps; i-- > 0;) {
		struct step *s = &e->step[i];
		if (s->said && s->a != NO_STEP) {
			e->step[s->a].said = 1;
		}
		if (s->said && s->b != NO_STEP) {
			e->step[s->b].said = 1;
		}
	}
	for (size_t i = 0; i < e->n_steps; i++) {
		e->step[i].said = e->step[i].said && e->step[i].rule != REFERENCE ? ++said : 0;
	}
}

static void want_message(struct explaining *e, uint32_t message)
{
	const struct usk_msg msg = explain_msg(&e->message[message]);
	located_want(&e->located, &msg);
}

static void want_messages(struct explaining *e)
{
	e->located.n = 0;
	for (size_t i = 0; i < e->n_steps; i++) {
		const struct step *s = &e->step[i];
		if (s->said && s->message != NO_STEP) {
			want_message(e, s->message);
		}
		for (uint32_t k = 0; k < s->n_terms && s->said; k++) {
			want_message(e, e->term[s->term + k].message);
		}
	}
}

static bool disturbed(const struct usk_clock *k, int64_t from, int64_t to)
{
	bool any = false;
	for (size_t i = 0; i < k->n_stretches; i++) {
		any = any || (k->stretch[i].from_ns < to && from < k->stretch[i].to_ns);
	}
	for (size_t i = 0; i < k->n_jumps; i++) {
		any = any || (k->jump[i].after_local_ns < to && from < k->jump[i].before_local_ns);
	}
	return any;
}

/* Bounds as upper ones, as in the proof. */
static usk_i128 chord(const struct usk_clock *k, const struct step *a, const struct step *b,
		      int64_t x)
{
	usk_i128 before = (usk_i128)x - a->x, behind = (usk_i128)b->x - x;
	usk_i128 u = a->upper ? a->at : -a->at, v = b->upper ? b->at : -b->at;
	return u + usk_ceil_share(v - u + 2 * k->wander.used_e12 * behind, before, before + behind);
}

/* The steps say so of stamps around x; maybe one chord of what they rest on says it of x itself. */
static void shorten(struct explaining *e, int64_t x, int64_t bound, uint32_t step[2])
{
	const struct step like = e->step[step[0]];
	const struct usk_clock *k = &e->c->clock[like.clock];
	usk_i128 most = ((usk_i128)bound - x) * USK_E12;
	struct step best = { .rule = CHORD, .upper = like.upper, .clock = like.clock, .x = x };
	best.at = most;
	best.a = NO_STEP;
	for (uint32_t i = 0; i < e->n_steps; i++) {
		const struct step *a = &e->step[i];
		bool left = a->said && !a->slope && a->upper == like.upper &&
			    a->clock == like.clock && a->x < x;
		for (uint32_t j = 0; j < e->n_steps && left; j++) {
			const struct step *b = &e->step[j];
			if (!b->said || b->slope || b->upper != like.upper ||
			    b->clock != like.clock || b->x <= x || disturbed(k, a->x, b->x)) {
				continue;
			}
			usk_i128 at = chord(k, a, b, x);
			if (at <= (like.upper ? best.at : -best.at)) {
				best.at = like.upper ? at : -at;
				best.a = i;
				best.b = j;
			}
		}
	}
	if (best.a != NO_STEP) {
		best.message = NO_STEP;
		e->step = usk_room(e->step, e->n_steps, &e->cap_steps, sizeof *e->step);
		e->step[e->n_steps] = best;
		step[0] = step[1] = (uint32_t)e->n_steps++;
	}
}

/* Steps, with the numbers of their records; *found is false if the proof does not have the bound. */
static enum usk_status find(struct explaining *e, const char *proof, size_t n_traces,
			    struct explained *b, bool *found, struct usk_err *err)
{
	*found = read_proof(e, proof, b->upper, b->clock, b->x, b->step);
	if (!*found) {
		return USK_OK;
	}
	need(e, b->step);
	if (b->step[0] != b->step[1] && !e->c->clock[b->clock].n_set_backs) {
		shorten(e, b->x, b->bound_ns, b->step);
		need(e, b->step);
	}
	const struct step *last = &e->step[b->step[0]];
	if (b->steps_alone && b->step[0] == b->step[1]) {
		b->bound_ns = usk_saturate(b->x + (b->upper ? usk_ceil_div(last->at, USK_E12)
							    : usk_floor_div(last->at, USK_E12)));
	}
	want_messages(e);
	return located_find(&e->located, e->c, e->trace, n_traces, err);
}

static void say_heading(FILE *out, const struct explaining *e, const struct explained *b)
{
	const char *reference = explain_reference(e, b->clock), *name = explain_name(e, b->clock);
	if (b->bound_ns == USK_NONE) {
		fprintf(out, "Nothing bounds from %s what %s showed when %s showed %s",
			b->upper ? "above" : "below", reference, name, unit_seconds(b->x).s);
	} else {
		fprintf(out, "When %s showed %s, %s showed %s %s", name, unit_seconds(b->x).s,
			reference, b->upper ? "at most" : "at least", unit_seconds(b->bound_ns).s);
	}
}

static void put_text(FILE *out, const struct explaining *e, const struct explained *b, bool found)
{
	say_heading(out, e, b);
	if (found) {
		fputs(":\n", out);
		explain_in_words(out, e, b);
	} else {
		fputs(b->bound_ns == USK_NONE ? ".\n"
					      : "; the rules of doc/proof.md do not prove it.\n",
		      out);
	}
}

static void put_in_page(FILE *out, const struct explaining *e, const struct explained *b,
			bool found)
{
	struct usk_stream text;
	fputs("<h3>", out);
	say_heading(usk_stream_begin(&text), e, b);
	put_html(out, kept(usk_stream_end(&text)));
	fputs("</h3>\n", out);
	if (found) {
		if (!explain_as_picture(out, e, b)) {
			fputs("<p>There are too many steps for a picture.</p>\n", out);
		}
		fputs("<details><summary>In words</summary>\n<pre>", out);
		explain_in_words(usk_stream_begin(&text), e, b);
		put_html(out, kept(usk_stream_end(&text)));
		fputs("</pre></details>\n", out);
	} else if (b->bound_ns != USK_NONE) {
		fputs("<p>The rules of doc/proof.md do not prove it.</p>\n", out);
	}
}

/* Two bounds, what each of them rests on. */
static enum usk_status explain(const struct usk_clocks *c, struct usk_trace **trace,
			       size_t n_traces, const char *proof, struct explained bound[2],
			       bool page, FILE *out)
{
	struct explaining e = { .c = c, .trace = trace };
	enum usk_status status = USK_OK;
	read_steps(&e, proof);
	for (int i = 0; i < 2 && !status; i++) {
		struct explained *b = &bound[i];
		bool found = false;
		if (b->bound_ns != USK_NONE) {
			status = find(&e, proof, n_traces, b, &found, &why);
		}
		if (!status) {
			(page ? put_in_page : put_text)(out, &e, b, found);
		}
	}
	USK_FREE(e.step, e.message, e.term, e.located.end);
	return status;
}

/* ---- what is asked ----------------------------------------------------------------------------
 */

struct asked {
	uint32_t clock;
	int64_t x;
};

static enum usk_status bounds_at(const struct usk_clocks *c, uint32_t clock, int64_t x,
				 struct usk_stamp *at)
{
	enum usk_status status = USK_OK;
	*at = (struct usk_stamp){ USK_NONE, USK_NONE, USK_NONE };
	struct usk_map *map = usk_map_new(&c->clock[clock], c->max_skew_e12);
	if (map) {
		status = usk_map_at(map, x, at, &why);
		usk_map_free(map);
	}
	return status;
}

static void put_sentence(FILE *out, bool page, const char *text)
{
	if (page) {
		fputs("<p>", out);
		put_html(out, text);
		fputs("</p>\n", out);
	} else {
		fprintf(out, "%s\n", text);
	}
}

/* The step whose bracket holds a stamp, and has a direction; NULL: none. */
static const struct usk_jump *step_at(const struct usk_clock *k, int64_t x)
{
	for (size_t i = 0; i < k->n_jumps; i++) {
		const struct usk_jump *j = &k->jump[i];
		bool rose = j->size_lo_ns != USK_NONE && j->size_lo_ns > 0;
		bool fell = j->size_hi_ns != USK_NONE && j->size_hi_ns < 0;
		if (j->kind == USK_JUMP && !j->epoch && !j->end_epoch && (rose || fell) &&
		    j->after_local_ns <= x && x <= j->before_local_ns) {
			return j;
		}
	}
	return NULL;
}

/* What no rate explains: a bound before it, and the other one behind. */
static enum usk_status explain_step(const struct usk_clocks *c, struct usk_trace **trace,
				    size_t n_traces, const char *proof, uint32_t clock,
				    const struct usk_jump *j, bool page, FILE *out)
{
	const char *name = printable(c->clock[clock].name);
	const char *reference = printable(c->clock[c->clock[clock].reference].name);
	bool rose = j->size_lo_ns != USK_NONE && j->size_lo_ns > 0;
	struct usk_stamp before, behind;
	enum usk_status status = bounds_at(c, clock, j->after_local_ns, &before);
	status = status ? status : bounds_at(c, clock, j->before_local_ns, &behind);
	if (status) {
		return status;
	}
	struct explained bound[] = {
		{ .clock = clock,
		  .x = j->after_local_ns,
		  .bound_ns = rose ? before.hi_ns : before.lo_ns,
		  .upper = rose,
		  .steps_alone = true },
		{ .clock = clock,
		  .x = j->before_local_ns,
		  .bound_ns = rose ? behind.lo_ns : behind.hi_ns,
		  .upper = !rose,
		  .steps_alone = true },
	};
	status = explain(c, trace, n_traces, proof, bound, page, out);
	usk_i128 apart = (usk_i128)bound[1].x - bound[0].x;
	usk_i128 gained = (usk_i128)bound[1].bound_ns - bound[0].bound_ns - apart;
	usk_i128 most = usk_ceil_div(apart * c->max_skew_e12, USK_E12);
	gained = rose ? gained : -gained;
	if (!status && bound[0].bound_ns != USK_NONE && bound[1].bound_ns != USK_NONE &&
	    gained > most) {
		put_sentence(out, page,
			     kept(usk_format("So in the %s between, %s %s at least %s on %s, where "
					     "the skew limit allows %s: a clock was stepped.",
					     unit_span(usk_saturate(apart)).s, reference,
					     rose ? "gained" : "lost",
					     unit_at_least(usk_saturate(gained)).s, name,
					     unit_bound(usk_saturate(most)).s)));
	}
	return status;
}

static enum usk_status explain_stamp(const struct usk_clocks *c, struct usk_trace **trace,
				     size_t n_traces, const char *proof, const struct asked *a,
				     bool page, FILE *out)
{
	const struct usk_clock *k = &c->clock[a->clock];
	const struct usk_jump *step = step_at(k, a->x);
	struct usk_stamp at;
	if (k->reference == a->clock) {
		put_sentence(out, page,
			     kept(usk_format("%s is the reference: its own time is right.",
					     printable(k->name))));
		return USK_OK;
	}
	if (step) {
		return explain_step(c, trace, n_traces, proof, a->clock, step, page, out);
	}
	enum usk_status status = bounds_at(c, a->clock, a->x, &at);
	struct explained bound[] = {
		{ .clock = a->clock, .x = a->x, .bound_ns = at.lo_ns },
		{ .clock = a->clock, .x = a->x, .bound_ns = at.hi_ns, .upper = true },
	};
	return status ? status : explain(c, trace, n_traces, proof, bound, page, out);
}

/* Of two stamps of two clocks, which was first. */
static enum usk_status say_order(struct stamps *s, const struct asked a[2], bool page, FILE *out)
{
	const struct usk_clock *k[] = { &s->clocks->clock[a[0].clock],
					&s->clocks->clock[a[1].clock] };
	struct twice twice = { .n = 0 };
	struct stamps_answer at[2];
	int64_t margin;
	if (k[0] == k[1] || k[0]->reference != k[1]->reference) {
		return USK_OK;
	}
	twice_find(&twice, s);
	for (int i = 0; i < 2; i++) {
		if (twice_at(&twice, s, a[i].clock, a[i].x, &at[i], &why)) {
			return why.code;
		}
	}
	enum usk_order order = usk_before(&at[0].at, &at[1].at, &margin);
	bool second = order == USK_NOT_BEFORE;
	char *text = order == USK_UNDECIDABLE
			     ? usk_format("So these bounds do not decide which of the two was "
					  "first.")
			     : usk_format("So %s showed that before %s did, by at least %s.",
					  printable(k[second]->name), printable(k[!second]->name),
					  unit_at_least(margin).s);
	put_sentence(out, page, kept(text));
	return USK_OK;
}

enum usk_status explain_stamps(struct usk_clocks *c, struct usk_trace **trace, size_t n_traces,
			       const char *proof, const char *const *text, size_t n, bool page,
			       FILE *out)
{
	struct stamps stamps;
	struct asked *a = kept(usk_alloc(n + 1, sizeof *a));
	enum usk_status status = USK_OK;
	stamps_of(&stamps, c);
	kept(stamps.of);
	for (size_t i = 0; i < n && !status; i++) {
		status =
			stamps_parse(&stamps, text[i], strlen(text[i]), &a[i].clock, &a[i].x, &why);
	}
	for (size_t i = 0; i < n && !status; i++) {
		status = explain_stamp(c, trace, n_traces, proof, &a[i], page, out);
	}
	return status || n != 2 ? status : say_order(&stamps, a, page, out);
}

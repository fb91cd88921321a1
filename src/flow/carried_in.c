/* SPDX-License-Identifier: MIT */
/*
 * carried_in.c - clocks that were logged: their logs, and messages on their raw clocks
 *
 * In    --clock-log, what is known of the clocks' stamps
 * Out   messages as the raw clocks saw them
 * Why   no stage behind has to know that a clock was steered
 * Not   what a log says (clock_log.c, carry.c), the answer by stamps (carried.c)
 */
#include "flow/reading.h"
#include "flow/clock_log.h"

#include <stdlib.h>
#include <string.h>

/* Quartz by itself, for as long as logs tell that nothing else was done (doc/guarantees.md). */
#define RAW_WANDER_E12 INT64_C(100000)

/* ---- logs -------------------------------------------------------------------------------------
 */

/* Where the log goes on the raw clock was never set back; where it does not, by its time. */
static void keep_breaks(struct party *y)
{
	size_t n = 0;
	for (size_t i = 0; i < y->n_back && y->carry; i++) {
		const struct usk_log_epoch *e = &y->carry->epoch[i];
		if (e[0].before || e[1].behind) {
			y->back[n++] = (struct usk_gap){ usk_carried_to(y, y->back[i].before_ns),
							 usk_carried_to(y, y->back[i].after_ns),
							 y->back[i].late_ns };
		}
	}
	y->n_back = y->carry ? n : y->n_back;
}

static enum usk_status open_log(struct parties *p, const char *row, struct usk_err *err)
{
	struct usk_clock_log log;
	struct usk_input in;
	uint32_t which;
	const char *path;
	enum usk_status status = usk_party_named(p, row, "--clock-log", &which, &path, err);
	status = status ? status : usk_input_open(&in, path, usk_sniff_text, err);
	if (status) {
		return status;
	}
	struct party *y = &p->party[which];
	status = usk_clock_log_read(&in, &log, err);
	usk_input_close(&in);
	if (status) {
		return usk_fail_in(status, err, "%s", path);
	}
	if (y->carry) {
		usk_clock_log_free(&log);
		return usk_fail(err, USK_EUSAGE, 0, "--clock-log %s: %s has a log already", row,
				y->name);
	}
	for (size_t i = 0; i < p->n; i++) {
		const struct usk_carry *c = p->party[i].carry;
		if (c && *log.boot && !strcmp(log.boot, c->log.boot)) {
			usk_clock_log_free(&log);
			return usk_fail(
				err, USK_EUSAGE, 0,
				"--clock-log %s: this log is of the same machine as the log of %s",
				row, p->party[i].name);
		}
	}
	if (log.damage) {
		usk_flow_note_log(p, usk_format("%s: %s", path, log.damage));
	}
	char *why = usk_carry_of(&log, &y->survey.epochs, y->first_ns, y->last_ns, &y->carry);
	if (why) {
		usk_flow_note_log(p, usk_format("%s: not used, %s", path, why));
	} else if (!y->carry->whole) {
		usk_flow_note_log(
			p, usk_format("%s: %s; there %s counts as a clock without a log", path,
				      y->carry->log.holes
					      ? "lines are missing"
					      : "it does not cover all of the clock's stamps",
				      y->name));
	}
	free(why);
	keep_breaks(y);
	return USK_OK;
}

enum usk_status usk_carried_open(struct parties *p, struct usk_err *err)
{
	const struct usk_sync_options *o = p->opt;
	enum usk_status status = USK_OK;
	size_t whole = 0;
	for (size_t i = 0; i < o->n_clock_log && !status; i++) {
		status = open_log(p, o->clock_log[i], err);
	}
	for (size_t i = 0; i < p->n; i++) {
		whole += p->party[i].carry && p->party[i].carry->whole;
	}
	/* One that is not known to keep its rate counts against all others. */
	bool stated = o->model && strchr(o->model, '=');
	if (whole == p->n && p->model.kind == USK_WANDER && !stated) {
		p->model.wander_e12 = RAW_WANDER_E12;
	}
	return status;
}

/* ---- stamps -----------------------------------------------------------------------------------
 */

bool usk_carried_pair(const struct parties *p, uint32_t a, uint32_t b)
{
	return p->party[a].carry || p->party[b].carry;
}

struct usk_msg usk_carried_msg(const struct parties *p, const struct usk_msg *m)
{
	const struct usk_carry *from = p->party[m->from].carry, *to = p->party[m->to].carry;
	struct usk_msg out = *m;
	out.sent_ns = from ? usk_carry_raw(from, m->sent_ns).lo_ns : m->sent_ns;
	out.received_ns = to ? usk_carry_raw(to, m->received_ns).hi_ns : m->received_ns;
	return out;
}

int64_t usk_carried_to(const struct party *y, int64_t ns)
{
	if (!y->carry) {
		return ns;
	}
	return usk_raw_middle(usk_carry_raw(y->carry, ns));
}

int64_t usk_carried_from(const struct party *y, int64_t raw_ns)
{
	return y->carry && raw_ns != USK_NONE ? usk_carry_shown(y->carry, raw_ns) : raw_ns;
}

void usk_carried_frame(const struct parties *p, uint32_t a, uint32_t b, const struct usk_coarse *c,
		       struct usk_frame *f)
{
	if (!c->n_knots || !usk_carried_pair(p, a, b)) {
		return;
	}
	const struct usk_coarse_knot *k[] = { c->knot, &c->knot[c->n_knots - 1] };
	int64_t x[2], y[2];
	for (int i = 0; i < 2; i++) {
		int64_t on_a = usk_saturate((usk_i128)k[i]->q_ns + k[i]->p_minus_q_ns);
		x[i] = usk_carried_to(&p->party[b], k[i]->q_ns);
		y[i] = usk_saturate((usk_i128)usk_carried_to(&p->party[a], on_a) - x[i]);
	}
	f->local_ns = x[0];
	f->offset_ns = y[0];
	if (x[1] > x[0]) {
		usk_i128 rate = ((usk_i128)y[1] - y[0]) * 1000000000000 / ((usk_i128)x[1] - x[0]);
		int64_t limit = p->max_skew_e12;
		f->rate_e12 = (int64_t)(rate > limit ? limit : rate < -limit ? -limit : rate);
	}
}

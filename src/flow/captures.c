/* SPDX-License-Identifier: MIT */
/*
 * captures.c - which clock stamped which capture, and which of its interfaces
 *
 * In    captures by the names of their clocks, --clock-of
 * Out   of each clock one capture to be read: all that it stamped
 * Why   files are rotated, a host records on several interfaces, and network cards have clocks of
 *       their own: matching knows of clocks only
 * Not   joining records (read/join.c)
 */
#include "flow/flow.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --clock-of NAME/IFACE=CLOCK, pointing into the option. */
struct clock_rule {
	const char *row;
	size_t n_name, n_iface;
	const char *iface, *clock;
	atomic_bool met; /* there is such an interface */
};

/* What of a trace is a clock's. */
struct view {
	struct parties *p;
	size_t trace;
	const char *clock;
};

static bool rule_names(const struct clock_rule *r, const struct usk_trace *t)
{
	const char *name = usk_trace_name(t);
	return strlen(name) == r->n_name && !strncmp(name, r->row, r->n_name);
}

static bool rule_takes(const struct clock_rule *r, uint32_t number, const char *name)
{
	char text[12];
	size_t n = (size_t)snprintf(text, sizeof text, "%u", number);
	return (n == r->n_iface && !strncmp(text, r->iface, n)) ||
	       (name && strlen(name) == r->n_iface && !strncmp(name, r->iface, r->n_iface));
}

/* Is an interface of the view's trace stamped by its clock? */
static bool takes(void *ctx, uint32_t number, const char *name)
{
	const struct view *v = ctx;
	const struct usk_trace *t = v->p->trace[v->trace];
	for (size_t i = 0; i < v->p->n_rules; i++) {
		struct clock_rule *r = &v->p->rule[i];
		if (rule_names(r, t) && rule_takes(r, number, name)) {
			r->met = true;
			return !strcmp(r->clock, v->clock);
		}
	}
	return !strcmp(usk_trace_name(t), v->clock);
}

static enum usk_status read_rules(struct parties *p, struct usk_err *err)
{
	const struct usk_sync_options *o = p->opt;
	p->rule = usk_alloc(o->n_clock_of + 1, sizeof *p->rule);
	for (size_t i = 0; i < o->n_clock_of; i++) {
		const char *row = o->clock_of[i], *equals = strrchr(row, '=');
		const char *slash = equals ? memrchr(row, '/', (size_t)(equals - row)) : NULL;
		if (!slash || slash == row || slash + 1 == equals || !equals[1]) {
			return usk_fail(err, USK_EUSAGE, 0,
					"--clock-of %s: should be NAME/INTERFACE=CLOCK", row);
		}
		struct clock_rule *r = &p->rule[p->n_rules++];
		*r = (struct clock_rule){
			.row = row,
			.n_name = (size_t)(slash - row),
			.iface = slash + 1,
			.n_iface = (size_t)(equals - slash - 1),
			.clock = equals + 1,
		};
		bool known = false;
		for (size_t k = 0; k < p->n_traces; k++) {
			known |= usk_trace_class(p->trace[k]) == USK_TRACE_CAPTURE &&
				 rule_names(r, p->trace[k]);
		}
		if (!known) {
			return usk_fail(err, USK_EUSAGE, 0,
					"--clock-of %s: no capture has the name %.*s", row,
					(int)r->n_name, row);
		}
	}
	return USK_OK;
}

/* A trace, or what of it is this clock's, to those of the clock. */
static void add_part(struct parties *p, size_t trace, const char *clock)
{
	uint32_t number = usk_party_of(p, clock);
	struct party *y = &p->party[number];
	for (size_t i = 0; i < y->n_parts; i++) {
		if (y->part[i] == trace) {
			return;
		}
	}
	y->trace = y->n_parts ? y->trace : trace;
	*USK_APPEND(y->part, y->n_parts) = trace;
}

static bool has_rules(const struct parties *p, size_t trace)
{
	for (size_t i = 0; i < p->n_rules; i++) {
		if (rule_names(&p->rule[i], p->trace[trace])) {
			return true;
		}
	}
	return false;
}

enum usk_status usk_captures_find(struct parties *p, struct usk_err *err)
{
	enum usk_status status = read_rules(p, err);
	for (size_t i = 0; i < p->n_traces && !status; i++) {
		if (usk_trace_class(p->trace[i]) != USK_TRACE_CAPTURE) {
			continue;
		}
		add_part(p, i, usk_trace_name(p->trace[i]));
		for (size_t k = 0; k < p->n_rules; k++) {
			if (rule_names(&p->rule[k], p->trace[i])) {
				add_part(p, i, p->rule[k].clock);
			}
		}
	}
	return status;
}

/* The capture of a clock: the trace itself, where it is all of it and nothing else. */
enum usk_status usk_capture_open(struct parties *p, struct party *y, struct usk_err *err)
{
	if (y->n_parts == 1 && !has_rules(p, y->part[0])) {
		y->capture = p->trace[y->part[0]];
		return USK_OK;
	}
	struct usk_trace_part *part = usk_alloc(y->n_parts, sizeof *part);
	enum usk_status status = USK_OK;
	y->view = usk_alloc(y->n_parts, sizeof *y->view);
	size_t n = 0;
	for (; n < y->n_parts && !status; n++) {
		size_t i = y->part[n];
		const struct usk_trace *t = p->trace[i];
		part[n].trace = p->trace[i];
		if (!has_rules(p, i)) {
			continue;
		}
		y->view[n] = (struct view){ p, i, y->name };
		part[n].takes = takes;
		part[n].ctx = &y->view[n];
		/* Walked against each other, clocks of one file each need a place in it. */
		if (strcmp(usk_trace_name(t), y->name) != 0) {
			status = usk_trace_again(t, &part[n].trace, err);
			part[n].own = !status;
		}
	}
	for (size_t i = 0; i < n && status; i++) {
		if (part[i].own) {
			usk_trace_close(part[i].trace);
		}
	}
	if (!status) {
		status = usk_trace_join(part, n, y->name, &y->capture, err);
	}
	y->joined = !status;
	free(part);
	return status;
}

enum usk_status usk_captures_check(const struct parties *p, struct usk_err *err)
{
	for (size_t i = 0; i < p->n_rules; i++) {
		const struct clock_rule *r = &p->rule[i];
		if (r->met) {
			continue;
		}
		for (size_t k = 0; k < p->n_traces; k++) {
			size_t n = 0;
			if (usk_trace_class(p->trace[k]) != USK_TRACE_CAPTURE ||
			    !rule_names(r, p->trace[k])) {
				continue;
			}
			const struct usk_iface *f = usk_trace_ifaces(p->trace[k], &n);
			char *names = usk_strdup("");
			for (size_t m = 0; m < n && m < 8; m++) {
				char *longer = usk_format("%s%s%u%s%s", names, m ? ", " : "",
							  (unsigned)m, f[m].name ? " " : "",
							  f[m].name ? f[m].name : "");
				free(names);
				names = longer;
			}
			enum usk_status status =
				usk_fail(err, USK_EUSAGE, 0,
					 "--clock-of %s: %s has no such interface; it has %s",
					 r->row, usk_trace_path(p->trace[k]), names);
			free(names);
			return status;
		}
	}
	return USK_OK;
}

void usk_captures_describe(const struct parties *p, size_t trace, struct usk_trace_info *out)
{
	out->iface = usk_alloc(p->n_rules + 1, sizeof *out->iface);
	for (size_t i = 0; i < p->n_rules; i++) {
		const struct clock_rule *r = &p->rule[i];
		for (uint32_t k = 0; k < p->n && rule_names(r, p->trace[trace]); k++) {
			if (!strcmp(p->party[k].name, r->clock)) {
				out->iface[out->n_ifaces++] = (struct usk_iface_clock){
					usk_format("%.*s", (int)r->n_iface, r->iface), k
				};
			}
		}
	}
}

/* SPDX-License-Identifier: MIT */
/*
 * decode.c - events of trace.dat -> sides of messages, by libtracecmd
 *
 * In    the path of a file; rules that name events and fields, if there are any
 * Out   sides to a pipe, as events come: merged of all CPUs by stamps
 * Why   formats of events are told by the file, in a language that the library knows
 * Not   what sides mean (virtual.c; match/)
 *
 * This runs in a process of its own that may die (child.h).
 */
#include "tracecmd/tracecmd.h"
#include "base/child.h"
#include "base/index.h"

#include <stdlib.h>
#include <trace-cmd.h>

enum { DEADLINE = 0x6e0, IRQS_OFF = 1, NMI = 0x40 };

struct decoder {
	FILE *out;
	bool good; /* somebody reads what is written */
	const struct rule *rule;
	size_t n_send, n_rules;
	struct virtual_cpus cpus;
	struct usk_index tally;
	uint64_t events, missed;
};

static void give(struct decoder *d, const struct tracecmd_item *item)
{
	d->good = d->good && fwrite(item, sizeof *item, 1, d->out) == 1;
}

static void give_side(struct decoder *d, struct usk_event side)
{
	struct tracecmd_item item = { .kind = TRACECMD_SIDE, .side = side };
	give(d, &item);
}

/* 0: it has no such number. */
static uint64_t number(struct tep_event *event, struct tep_record *r, const char *field)
{
	unsigned long long x = 0;
	struct tep_format_field *f = tep_find_field(event, field);
	return f && !tep_read_number_field(f, r->data, &x) ? x : 0;
}

/* ---- hosts and guests ------------------------------------------------------------------------ */

static bool is(const struct tep_event *event, const char *system, const char *name)
{
	return !strcmp(event->system, system) && !strcmp(event->name, name);
}

static void take_virtual(struct decoder *d, struct tep_event *event, struct tep_record *r,
			 struct virtual_event e)
{
	struct usk_event side[2];
	if (is(event, "kvm", "kvm_msr") && number(event, r, "ecx") == DEADLINE &&
	    number(event, r, "write") && !number(event, r, "exception")) {
		e.kind = VIRTUAL_HOST;
		e.value = number(event, r, "data");
	} else if (is(event, "msr", "write_msr") && number(event, r, "msr") == DEADLINE &&
		   !number(event, r, "failed")) {
		e.kind = VIRTUAL_GUEST;
		e.value = number(event, r, "val");
	}
	const size_t n = usk_virtual_take(&d->cpus, &e, side);
	for (size_t i = 0; i < n; i++) {
		give_side(d, side[i]);
	}
}

/* ---- rules ----------------------------------------------------------------------------------- */

/* "system:name" or "name". */
static bool names(const struct rule *rule, const struct tep_event *event)
{
	const size_t n = strlen(event->system);
	return !strcmp(rule->event, event->name) ||
	       (!strncmp(rule->event, event->system, n) && rule->event[n] == ':' &&
		!strcmp(rule->event + n + 1, event->name));
}

/* A field's text behind what is there; NULL: it has none. "#" says nothing yet. */
static char *add_field(char *text, struct tep_event *event, struct tep_record *r, const char *name)
{
	struct tep_format_field *f = tep_find_any_field(event, name);
	unsigned long long x;
	int n = 0;
	char *more = NULL;
	if (f && f->flags & TEP_FIELD_IS_STRING) {
		const char *raw = tep_get_field_raw(NULL, event, name, r, &n, 0);
		more = raw && n > 0 ? usk_format("%s%s%.*s", text, *text ? "," : "", n, raw) : NULL;
	} else if (f && !tep_read_number_field(f, r->data, &x)) {
		more = f->flags & TEP_FIELD_IS_SIGNED
			       ? usk_format("%s%s%lld", text, *text ? "," : "", (long long)x)
			       : usk_format("%s%s%llu", text, *text ? "," : "", x);
	}
	free(text);
	return more;
}

static char *id_of(struct decoder *d, size_t which, struct tep_event *event, struct tep_record *r)
{
	const struct rule *rule = &d->rule[which];
	char *text = usk_strdup("");
	bool counted = false;
	for (size_t i = 0; i < rule->n && text; i++) {
		if (!strcmp(rule->field[i], "#")) {
			counted = true;
		} else {
			text = add_field(text, event, r, rule->field[i]);
		}
	}
	if (text && counted) {
		/* Sends and receives are counted apart. */
		struct usk_event_id id = usk_event_id(text, strlen(text));
		uint64_t side = which < d->n_send;
		uint64_t n = (*usk_index_value(&d->tally, id.word[0], id.word[1] ^ side))++;
		char *more = usk_format("%s%s%llu", text, *text ? "," : "", (unsigned long long)n);
		free(text);
		text = more;
	}
	return text;
}

static void take_rules(struct decoder *d, struct tep_event *event, struct tep_record *r)
{
	for (size_t i = 0; i < d->n_rules; i++) {
		char *text = names(&d->rule[i], event) ? id_of(d, i, event, r) : NULL;
		if (text) {
			give_side(d,
				  (struct usk_event){ .time_ns = (int64_t)r->ts,
						      .id = usk_event_id(text, strlen(text)),
						      .side = i < d->n_send ? USK_SIDE_SENT
									    : USK_SIDE_RECEIVED });
		}
		free(text);
	}
}

/* ---- a file ---------------------------------------------------------------------------------- */

static int take(struct tracecmd_input *in, struct tep_record *r, int cpu, void *ctx)
{
	struct decoder *d = ctx;
	struct tep_handle *tep = tracecmd_get_tep(in);
	struct tep_event *event = tep_find_event_by_record(tep, r);
	d->events++;
	d->missed += r->missed_events != 0;
	if (!event || r->ts > USK_TIME_MAX || cpu < 0) {
		return !d->good;
	}
	if (d->n_rules) {
		take_rules(d, event, r);
	} else {
		const int flags = tep_data_flags(tep, r);
		take_virtual(d, event, r,
			     (struct virtual_event){ .time_ns = (int64_t)r->ts,
						     .cpu = (uint32_t)cpu,
						     .irqs_off = flags & IRQS_OFF,
						     .nmi = flags & NMI });
	}
	return !d->good;
}

void usk_tracecmd_decode(const char *path, const struct rule *rule, size_t n_send, size_t n,
			 FILE *out)
{
	struct decoder d = {
		.out = out, .good = true, .rule = rule, .n_send = n_send, .n_rules = n
	};
	struct tracecmd_item end = { .kind = TRACECMD_END };
	tracecmd_set_loglevel(TEP_LOG_NONE);
	struct tracecmd_input *in = tracecmd_open(path, TRACECMD_FL_LOAD_NO_PLUGINS);
	if (!in) {
		snprintf(end.text, sizeof end.text, "libtracecmd cannot read it");
	} else if (tracecmd_iterate_events(in, NULL, 0, take, &d) < 0) {
		snprintf(end.text, sizeof end.text, "libtracecmd stopped after %llu events",
			 (unsigned long long)d.events);
	}
	end.events = d.events;
	end.missed = d.missed;
	give(&d, &end);
	/* Everything else goes with the process. */
}

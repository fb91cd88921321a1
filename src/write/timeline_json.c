/* SPDX-License-Identifier: MIT */
#include "write/fields.h"
#include "write/timeline.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* As JSON: quoted, what is no UTF-8 shown as bytes. */
static char *quoted(const char *text)
{
	char *shown = usk_shown(text ? text : "");
	json_t *v = usk_json_had(json_string(shown));
	char *s = json_dumps(v, JSON_ENCODE_ANY);
	usk_json_had(s ? v : NULL);
	json_decref(v);
	free(shown);
	return s;
}

enum usk_status usk_drawing_open(struct drawing *d, const struct usk_clocks *c, const char *path,
				 bool force, struct usk_err *err)
{
	memset(d, 0, sizeof *d);
	enum usk_status status = usk_output_open(&d->out, path, force, err);
	if (status) {
		return status;
	}
	d->clocks = c;
	d->origin_ns = usk_alloc(c->n_clocks + 1, sizeof *d->origin_ns);
	d->name = usk_alloc(c->n_clocks + 1, sizeof *d->name);
	for (size_t i = 0; i < c->n_clocks; i++) {
		d->name[i] = quoted(c->clock[i].name);
	}
	usk_output_format(&d->out, "{\"traceEvents\":[\n");
	return USK_OK;
}

/* Numbers of processes and threads must differ among each other too: Perfetto tells them apart by
 * the number alone. */
static uint32_t pid_of(uint32_t clock)
{
	return 10 * (clock + 1);
}

static uint32_t tid_of(uint32_t clock, enum lane lane)
{
	return pid_of(clock) + lane;
}

struct when {
	char text[32];
};

/* Microseconds with three digits since the clock's origin. */
static struct when when(struct drawing *d, uint32_t clock, int64_t time_ns)
{
	struct when w;
	int64_t t = time_ns - d->origin_ns[clock]; /* both within 2^62 */
	uint64_t size = t < 0 ? (uint64_t)-t : (uint64_t)t;
	d->early += t < 0;
	snprintf(w.text, sizeof w.text, "%s%" PRIu64 ".%03u", t < 0 ? "-" : "", size / 1000,
		 (unsigned)(size % 1000));
	return w;
}

static void begin(struct drawing *d)
{
	if (d->events++) {
		usk_output_write(&d->out, ",\n", 2);
	}
}

static void name_thread(struct drawing *d, uint32_t clock, enum lane lane, const char *name)
{
	begin(d);
	usk_output_format(&d->out,
			  "{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":%" PRIu32
			  ",\"tid\":%" PRIu32 ",\"args\":{\"name\":\"%s\"}}",
			  pid_of(clock), tid_of(clock, lane), name);
	begin(d);
	usk_output_format(&d->out,
			  "{\"ph\":\"M\",\"name\":\"thread_sort_index\",\"pid\":%" PRIu32
			  ",\"tid\":%" PRIu32 ",\"args\":{\"sort_index\":%d}}",
			  pid_of(clock), tid_of(clock, lane), (int)lane);
}

void usk_drawing_names(struct drawing *d, uint32_t clock, bool corrected)
{
	const struct usk_clock *k = &d->clocks->clock[clock];
	begin(d);
	usk_output_format(&d->out,
			  "{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":%" PRIu32
			  ",\"args\":{\"name\":%s}}",
			  pid_of(clock), d->name[clock]);
	begin(d);
	usk_output_format(&d->out,
			  "{\"ph\":\"M\",\"name\":\"process_labels\",\"pid\":%" PRIu32
			  ",\"args\":{\"labels\":\"%s%s\"}}",
			  pid_of(clock), usk_quality_name(k->quality),
			  corrected ? "" : ", as recorded");
	begin(d);
	usk_output_format(&d->out,
			  "{\"ph\":\"M\",\"name\":\"process_sort_index\",\"pid\":%" PRIu32
			  ",\"args\":{\"sort_index\":%" PRIu32 "}}",
			  pid_of(clock), clock);
	name_thread(d, clock, LANE_SENT, "sent");
	name_thread(d, clock, LANE_RECEIVED, "received");
	name_thread(d, clock, LANE_EVENTS, "events");
}

void usk_drawing_band(struct drawing *d, uint32_t clock, int64_t time_ns, int64_t half_width_ns,
		      int64_t since_ns)
{
	struct when w = when(d, clock, time_ns);
	begin(d);
	usk_output_format(&d->out,
			  "{\"ph\":\"C\",\"name\":\"error bound\",\"pid\":%" PRIu32
			  ",\"ts\":%s,\"args\":{\"ns\":%" PRId64 "}}",
			  pid_of(clock), w.text, half_width_ns);
	begin(d);
	usk_output_format(&d->out,
			  "{\"ph\":\"C\",\"name\":\"offset since the start\",\"pid\":%" PRIu32
			  ",\"ts\":%s,\"args\":{\"ns\":%" PRId64 "}}",
			  pid_of(clock), w.text, since_ns);
}

static void slice(struct drawing *d, uint32_t clock, enum lane lane, const struct when *w,
		  const char *word, uint32_t other, int64_t recorded_ns, uint32_t bytes)
{
	begin(d);
	/* "to " and the other's name, whose opening quote is taken off. 1 ns: it overlaps no other
	 * that began elsewhere, and arrows need a slice to begin and end at. */
	usk_output_format(&d->out,
			  "{\"ph\":\"X\",\"cat\":\"message\",\"name\":\"%s %s,\"pid\":%" PRIu32
			  ",\"tid\":%" PRIu32
			  ",\"ts\":%s,\"dur\":0.001,\"args\":{\"bytes\":%" PRIu32
			  ",\"message\":%" PRIu64 ",\"recorded_ns\":\"%" PRId64 "\"}}",
			  word, d->name[other] + 1, pid_of(clock), tid_of(clock, lane), w->text,
			  bytes, d->messages, recorded_ns);
}

void usk_drawing_message(struct drawing *d, const struct usk_msg *m, int64_t sent_ns,
			 int64_t received_ns)
{
	struct when sent = when(d, m->from, sent_ns), got = when(d, m->to, received_ns);
	d->messages++;
	slice(d, m->from, LANE_SENT, &sent, "to", m->to, m->sent_ns, m->bytes);
	begin(d);
	usk_output_format(&d->out,
			  "{\"ph\":\"s\",\"cat\":\"message\",\"name\":\"message\",\"id\":%" PRIu64
			  ",\"pid\":%" PRIu32 ",\"tid\":%" PRIu32 ",\"ts\":%s}",
			  d->messages, pid_of(m->from), tid_of(m->from, LANE_SENT), sent.text);
	slice(d, m->to, LANE_RECEIVED, &got, "from", m->from, m->received_ns, m->bytes);
	begin(d);
	usk_output_format(&d->out,
			  "{\"ph\":\"f\",\"bp\":\"e\",\"cat\":\"message\",\"name\":\"message\","
			  "\"id\":%" PRIu64 ",\"pid\":%" PRIu32 ",\"tid\":%" PRIu32 ",\"ts\":%s}",
			  d->messages, pid_of(m->to), tid_of(m->to, LANE_RECEIVED), got.text);
}

void usk_drawing_event(struct drawing *d, uint32_t clock, int64_t time_ns, int64_t recorded_ns,
		       const char *name, const char *args)
{
	struct when w = when(d, clock, time_ns);
	begin(d);
	usk_output_format(
		&d->out,
		"{\"ph\":\"i\",\"s\":\"t\",\"cat\":\"event\",\"name\":\"%s\",\"pid\":%" PRIu32
		",\"tid\":%" PRIu32 ",\"ts\":%s,\"args\":{%s%s\"recorded_ns\":\"%" PRId64 "\"}}",
		name, pid_of(clock), tid_of(clock, LANE_EVENTS), w.text, args, *args ? "," : "",
		recorded_ns);
}

uint32_t usk_drawing_thread(struct drawing *d, uint32_t clock, const char *name)
{
	/* Behind all processes and their own threads. */
	uint32_t row = pid_of((uint32_t)d->clocks->n_clocks) + d->threads++;
	char *text = quoted(name);
	begin(d);
	usk_output_format(&d->out,
			  "{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":%" PRIu32
			  ",\"tid\":%" PRIu32 ",\"args\":{\"name\":%s}}",
			  pid_of(clock), row, text);
	begin(d);
	usk_output_format(&d->out,
			  "{\"ph\":\"M\",\"name\":\"thread_sort_index\",\"pid\":%" PRIu32
			  ",\"tid\":%" PRIu32 ",\"args\":{\"sort_index\":%" PRIu32 "}}",
			  pid_of(clock), row, LANE_EVENTS + d->threads);
	free(text);
	return row;
}

void usk_drawing_state(struct drawing *d, uint32_t clock, uint32_t row, int64_t from_ns,
		       int64_t to_ns, int64_t recorded_ns, const char *name, int64_t cpu)
{
	struct when w = when(d, clock, from_ns);
	uint64_t took = (uint64_t)to_ns - (uint64_t)from_ns;
	char on[40] = "";
	if (cpu >= 0) {
		snprintf(on, sizeof on, "\"cpu\":%" PRId64 ",", cpu);
	}
	begin(d);
	usk_output_format(&d->out,
			  "{\"ph\":\"X\",\"cat\":\"state\",\"name\":\"%s\",\"pid\":%" PRIu32
			  ",\"tid\":%" PRIu32 ",\"ts\":%s,\"dur\":%" PRIu64
			  ".%03u,\"args\":{%s\"recorded_ns\":\"%" PRId64 "\"}}",
			  name, pid_of(clock), row, w.text, took / 1000, (unsigned)(took % 1000),
			  on, recorded_ns);
}

enum usk_status usk_drawing_commit(struct drawing *d, struct usk_err *err)
{
	const struct usk_clocks *c = d->clocks;
	char *method = quoted(c->method);
	usk_output_format(&d->out,
			  "\n],\n\"displayTimeUnit\":\"ns\",\n\"otherData\":{\"unskew\":\"%s\","
			  "\"model\":\"%s\",\"method\":%s,\"origin_ns\":{",
			  USK_VERSION, usk_model_name(c->model.kind), method);
	free(method);
	/* Clocks of different islands cannot be compared: each has its own zero. */
	for (size_t i = 0, shown = 0; i < c->n_clocks; i++) {
		if (c->clock[i].reference == i) {
			usk_output_format(&d->out, "%s%s:\"%" PRId64 "\"", shown++ ? "," : "",
					  d->name[i], d->origin_ns[i]);
		}
	}
	usk_output_format(&d->out, "}}}\n");
	return usk_output_commit(&d->out, err);
}

void usk_drawing_close(struct drawing *d)
{
	for (size_t i = 0; d->clocks && i < d->clocks->n_clocks; i++) {
		free(d->name[i]);
	}
	USK_FREE(d->name, d->origin_ns);
	if (d->out.path) {
		usk_output_close(&d->out);
	}
}

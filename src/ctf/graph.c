/* SPDX-License-Identifier: MIT */
/*
 * graph.c - all streams of CTF traces, merged by time
 *
 * In    folders of traces; which classes of events are of interest
 * Out   what was kept of their events, in the order of time; totals over all events
 * Why   libbabeltrace2's own muxer gives up on traces whose packets begin before the previous one
 *       ends, as older LTTng wrote them: here each stream is read by itself, and only events count
 * Not   what events mean (net.c, key.c)
 *
 * The stream that is furthest behind is advanced, so what waits is a batch per stream. What waits
 * is handed out once no stream can have anything earlier.
 */
#include "base/tick.h"
#include "ctf/ctf.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct stream {
	struct ctf_graph *graph;
	bt_message_iterator *iterator;
	const bt_stream_class *timed; /* cycles are of its clock */
	struct usk_cycles cycles;
	int64_t at_ns; /* all before this was seen */
	bool ended;
	struct ctf_item *item; /* first .. first + n wait */
	size_t first, n, cap;
};

struct ctf_graph {
	bt_graph *graph;
	struct ctf_visitor visitor;
	struct ctf_totals totals;
	struct stream *stream;
	size_t n_streams;
	struct usk_index roles; /* of classes of events: 2^16 + kind 2^8 + rule */
	size_t turn;		/* stream that consume() advances */
	enum usk_status status;
	struct usk_err err;
};

/* ---- what libbabeltrace2 has to say ----------------------------------------------------- */

/* "No room: stream-id=1, stream-addr=0x5571" -> "No room": what follows is for the library's own.
 */
static void drop_details(char *text)
{
	for (char *p = text; (p = strstr(p, ": ")) != NULL; p++) {
		size_t n = strspn(p + 2, "abcdefghijklmnopqrstuvwxyz0123456789-");
		if (n && p[2 + n] == '=') {
			*p = 0;
			break;
		}
	}
}

/* The innermost of the causes, in one line; it belongs to the caller. */
char *usk_ctf_cause(void)
{
	const bt_error *error = bt_current_thread_take_error();
	if (!error) {
		return usk_strdup("it does not say why");
	}
	const bt_error_cause *cause = bt_error_borrow_cause_by_index(error, 0);
	char *text = usk_strdup(bt_error_cause_get_message(cause));
	for (char *p = text; *p; p++) {
		*p = *p == '\n' ? ' ' : *p;
	}
	text[strcspn(text, "\r")] = 0;
	drop_details(text);
	size_t n = strlen(text);
	while (n && (text[n - 1] == '.' || text[n - 1] == ' ')) {
		text[--n] = 0;
	}
	bt_error_release(error);
	return text;
}

static enum usk_status refused(struct ctf_graph *g, const char *folder)
{
	char *cause = usk_ctf_cause();
	g->status = usk_fail(&g->err, USK_EINPUT, 0,
			     "%s%slibbabeltrace2 cannot read this trace: %.300s", folder,
			     *folder ? ": " : "", cause);
	free(cause);
	return g->status;
}

/* A stream that breaks off: the others go on. */
static void broken(struct ctf_graph *g, struct stream *s, const char *why)
{
	s->ended = true;
	if (!g->totals.damage[0]) {
		snprintf(g->totals.damage, sizeof g->totals.damage,
			 "stream %zu breaks off after %llu events: %.160s",
			 (size_t)(s - g->stream) + 1, (unsigned long long)g->totals.events, why);
	}
}

/* ---- events ------------------------------------------------------------------------------- */

static struct ctf_role role_of(struct ctf_graph *g, const bt_event_class *class)
{
	uint64_t *known = usk_index_value(&g->roles, (uintptr_t) class, 0);
	if (!*known) {
		struct ctf_role role = g->visitor.classify(g->visitor.ctx, class);
		g->totals.kinds |= UINT32_C(1) << role.kind;
		*known = UINT32_C(1) << 16 | (uint32_t)role.kind << 8 | role.rule;
	}
	return (struct ctf_role){ (uint8_t)(*known >> 8), (uint8_t)*known };
}

/* The clock of a stream; false if its events have no time. */
static bool set_timing(struct ctf_graph *g, struct stream *s, const bt_stream_class *class)
{
	const bt_clock_class *clock = bt_stream_class_borrow_default_clock_class_const(class);
	if (!clock) {
		g->status = usk_fail(&g->err, USK_EINPUT, 0,
				     "its events have no time: there is no clock in it");
		return false;
	}
	struct usk_cycles *t = &s->cycles;
	s->timed = class;
	t->hz = bt_clock_class_get_frequency(clock);
	bt_clock_class_get_offset(clock, &t->offset_s, &t->offset_cycles);
	int64_t tick = t->hz < 1000000000 ? (int64_t)((1000000000 + t->hz - 1) / t->hz) : 0;
	g->totals.resolution_ns = tick > g->totals.resolution_ns ? tick : g->totals.resolution_ns;
	return true;
}

/* After others that are in range it is damage, and the stream ends here. */
static bool time_of(struct ctf_graph *g, struct stream *s, uint64_t cycles, int64_t *ns)
{
	if (usk_cycles_time(&s->cycles, cycles, ns)) {
		return true;
	}
	if (s->at_ns != INT64_MIN) {
		broken(g, s, "a stamp is more than 146 years from zero");
		return false;
	}
	g->status = usk_fail(&g->err, USK_ERANGE, g->totals.events,
			     "the stamp of event %llu is more than 2^62 ns (146 years) from zero: "
			     "not a time that unskew can correct",
			     (unsigned long long)g->totals.events);
	return false;
}

/* Room for one more item, which counts once s->n does. A stream goes on once all that waited was handed
 * out, as none of that is later than it: so it begins anew. */
static struct ctf_item *new_item(struct stream *s, int64_t time_ns, struct ctf_role role)
{
	s->item = usk_room(s->item, s->n, &s->cap, sizeof *s->item);
	struct ctf_item *item = &s->item[s->n];
	item->time_ns = time_ns;
	item->kind = role.kind;
	item->rule = role.rule;
	item->n = 0;
	item->length = 0;
	item->key = 0;
	return item;
}

static void take_event(struct ctf_graph *g, struct stream *s, const bt_message *message)
{
	const bt_event *event = bt_message_event_borrow_event_const(message);
	const bt_stream_class *class =
		bt_stream_borrow_class_const(bt_event_borrow_stream_const(event));
	int64_t ns;
	if (class != s->timed && !set_timing(g, s, class)) {
		return;
	}
	uint64_t cycles = bt_clock_snapshot_get_value(
		bt_message_event_borrow_default_clock_snapshot_const(message));
	if (!time_of(g, s, cycles, &ns)) {
		return;
	}
	struct ctf_totals *t = &g->totals;
	t->first_ns = !t->events || ns < t->first_ns ? ns : t->first_ns;
	t->last_ns = !t->events || ns > t->last_ns ? ns : t->last_ns;
	t->events++;
	s->at_ns = ns > s->at_ns ? ns : s->at_ns;
	struct ctf_role role = role_of(g, bt_event_borrow_class_const(event));
	if (role.kind == CTF_IGNORED) {
		return;
	}
	s->n += g->visitor.take(g->visitor.ctx, event, new_item(s, ns, role));
}

/* A trace begins to speak: all classes of its events, and whose it is. */
static void meet(struct ctf_graph *g, const bt_stream *stream)
{
	const bt_stream_class *class = bt_stream_borrow_class_const(stream);
	for (uint64_t i = 0; i < bt_stream_class_get_event_class_count(class); i++) {
		role_of(g, bt_stream_class_borrow_event_class_by_index_const(class, i));
	}
	const bt_value *name = bt_trace_borrow_environment_entry_value_by_name_const(
		bt_stream_borrow_trace_const(stream), "hostname");
	if (!name || !bt_value_is_string(name)) {
		return;
	}
	const char *text = bt_value_string_get(name);
	if (!g->totals.hostname[0]) {
		snprintf(g->totals.hostname, sizeof g->totals.hostname, "%s", text);
	} else if (strncmp(g->totals.hostname, text, sizeof g->totals.hostname - 1) != 0 &&
		   !g->status) {
		g->status = usk_fail(&g->err, USK_EINPUT, 0,
				     "holds traces of the machines %s and %s: give those of each "
				     "machine separately",
				     g->totals.hostname, text);
	}
}

static void take_message(struct ctf_graph *g, struct stream *s, const bt_message *message)
{
	uint64_t count;
	switch (bt_message_get_type(message)) {
	case BT_MESSAGE_TYPE_EVENT:
		take_event(g, s, message);
		break;
	case BT_MESSAGE_TYPE_STREAM_BEGINNING:
		meet(g, bt_message_stream_beginning_borrow_stream_const(message));
		break;
	case BT_MESSAGE_TYPE_DISCARDED_EVENTS:
		if (bt_message_discarded_events_get_count(message, &count) ==
		    BT_PROPERTY_AVAILABILITY_AVAILABLE) {
			g->totals.discarded += count;
		}
		if (s->at_ns != INT64_MIN) {
			new_item(s, s->at_ns, (struct ctf_role){ CTF_LOST, 0 });
			s->n++;
		}
		break;
	default:
		break; /* packets begin and end, and in old traces do so in the wrong order */
	}
}

static void advance(struct ctf_graph *g, struct stream *s)
{
	bt_message_array_const message;
	uint64_t n = 0;
	/* The plugin may leave an error behind and say that all is well; the next call would abort.
	 */
	bt_current_thread_clear_error();
	bt_message_iterator_next_status status =
		bt_message_iterator_next(s->iterator, &message, &n);
	if (status == BT_MESSAGE_ITERATOR_NEXT_STATUS_END) {
		s->ended = true;
	} else if (status != BT_MESSAGE_ITERATOR_NEXT_STATUS_OK &&
		   status != BT_MESSAGE_ITERATOR_NEXT_STATUS_AGAIN) {
		char *cause = usk_ctf_cause();
		broken(g, s, cause);
		free(cause);
	}
	for (uint64_t i = 0; i < n; i++) {
		if (!g->status && !s->ended) {
			take_message(g, s, message[i]);
		}
		bt_message_put_ref(message[i]);
	}
	bt_current_thread_clear_error();
}

/* ---- the graph ----------------------------------------------------------------------------- */

static enum usk_status add_sources(struct ctf_graph *g, char *const *folder, size_t n,
				   const bt_component_source **source)
{
	enum usk_status status = USK_OK;
	if (!usk_ctf_plugin()) {
		bt_current_thread_clear_error();
		return usk_fail(&g->err, USK_EIO, 0,
				"libbabeltrace2 does not find its plugin ctf; is the package "
				"babeltrace2 whole?");
	}
	for (size_t i = 0; i < n && !status; i++) {
		status = usk_ctf_metadata(folder[i], NULL, &g->err);
		if (status) {
			break;
		}
		char *name = usk_format("trace%zu", i);
		source[i] = usk_ctf_source(g->graph, name, folder[i]);
		if (!source[i]) {
			status = refused(g, folder[i]);
		} else {
			g->n_streams += bt_component_source_get_output_port_count(source[i]);
		}
		free(name);
	}
	return status;
}

static bt_graph_simple_sink_component_initialize_func_status
sink_begins(bt_message_iterator *iterator, void *data)
{
	struct stream *s = data;
	s->iterator = iterator;
	return BT_GRAPH_SIMPLE_SINK_COMPONENT_INITIALIZE_FUNC_STATUS_OK;
}

/* Whichever sink it is that babeltrace2 calls: the stream whose turn it is. */
static bt_graph_simple_sink_component_consume_func_status
sink_consumes(bt_message_iterator *iterator, void *data)
{
	const struct stream *s = data;
	(void)iterator;
	advance(s->graph, &s->graph->stream[s->graph->turn]);
	return BT_GRAPH_SIMPLE_SINK_COMPONENT_CONSUME_FUNC_STATUS_OK;
}

/* One for each stream. */
static enum usk_status add_sinks(struct ctf_graph *g, const bt_component_source *const *source,
				 size_t n)
{
	struct stream *s = g->stream = usk_alloc(g->n_streams, sizeof *g->stream);
	bool good = true;
	for (size_t i = 0; i < n && good; i++) {
		uint64_t ports = bt_component_source_get_output_port_count(source[i]);
		for (uint64_t k = 0; k < ports && good; k++, s++) {
			const bt_component_sink *sink = NULL;
			char *name = usk_format("stream%zu", (size_t)(s - g->stream));
			s->graph = g;
			s->at_ns = INT64_MIN;
			good = !bt_graph_add_simple_sink_component(g->graph, name, sink_begins,
								   sink_consumes, NULL, s, &sink) &&
			       !bt_graph_connect_ports(
				       g->graph,
				       bt_component_source_borrow_output_port_by_index_const(
					       source[i], k),
				       bt_component_sink_borrow_input_port_by_index_const(sink, 0),
				       NULL);
			free(name);
		}
	}
	return good ? USK_OK : refused(g, "graph");
}

/* Advance stream i. */
static enum usk_status turn(struct ctf_graph *g, size_t i)
{
	g->turn = i;
	if (bt_graph_run_once(g->graph) != BT_GRAPH_RUN_ONCE_STATUS_OK && !g->status) {
		refused(g, "");
	}
	return g->status;
}

bool usk_ctf_opens(const char *folder)
{
	struct ctf_graph g = { .graph = bt_graph_create(0) };
	const bt_component_source *source = NULL;
	char *copy = (char *)(uintptr_t)folder;
	return g.graph && !add_sources(&g, &copy, 1, &source);
}

enum usk_status usk_ctf_open(char *const *folder, size_t n, const struct ctf_visitor *visitor,
			     struct ctf_graph **out, struct usk_err *err)
{
	struct ctf_graph *g = *out = usk_alloc(1, sizeof *g);
	const bt_component_source **source = usk_alloc(n, sizeof(bt_component_source *));
	g->visitor = *visitor;
	g->graph = bt_graph_create(0);
	enum usk_status status =
		g->graph ? add_sources(g, folder, n, source)
			 : usk_fail(&g->err, USK_EIO, 0, "libbabeltrace2 does not work");
	status = status ? status : add_sinks(g, source, n);
	for (size_t i = 0; i < g->n_streams && !status; i++) {
		status = turn(g, i);
	}
	*err = g->err;
	free(source);
	return status;
}

enum usk_status usk_ctf_next(struct ctf_graph *g, struct ctf_item *out, size_t cap, size_t *n,
			     struct usk_err *err)
{
	*n = 0;
	while (*n < cap && !g->status) {
		size_t behind = SIZE_MAX, head = SIZE_MAX;
		for (size_t i = 0; i < g->n_streams; i++) {
			const struct stream *s = &g->stream[i];
			if (!s->ended &&
			    (behind == SIZE_MAX || s->at_ns < g->stream[behind].at_ns)) {
				behind = i;
			}
			if (s->n && (head == SIZE_MAX ||
				     s->item[s->first].time_ns <
					     g->stream[head].item[g->stream[head].first].time_ns)) {
				head = i;
			}
		}
		if (head != SIZE_MAX) {
			struct stream *s = &g->stream[head];
			const struct ctf_item *item = &s->item[s->first];
			if (behind == SIZE_MAX || item->time_ns <= g->stream[behind].at_ns) {
				memcpy(&out[(*n)++], item, usk_ctf_item_size(item));
				s->first++;
				s->n--;
				s->first = s->n ? s->first : 0;
				continue;
			}
		}
		if (behind == SIZE_MAX) {
			break;
		}
		turn(g, behind);
	}
	if (g->status && err) {
		*err = g->err;
	}
	return g->status;
}

const struct ctf_totals *usk_ctf_totals(const struct ctf_graph *g)
{
	return &g->totals;
}

void usk_ctf_close(struct ctf_graph *g)
{
	if (g) {
		bt_graph_put_ref(g->graph);
		for (size_t i = 0; i < g->n_streams && g->stream; i++) {
			free(g->stream[i].item);
		}
		free(g->stream);
		usk_index_free(&g->roles);
		free(g);
	}
}

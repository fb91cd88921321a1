/* SPDX-License-Identifier: MIT */
/*
 * fuzz_ctf - the reader of CTF, fed by a source of our own in its own process
 *
 * In    how many streams and traces, what clock, what shapes of events, whether rules are stated
 *       (3 bytes); then what streams say in the order in which they are asked: events with any
 *       fields at any time, events that were discarded, packets' ends, failures
 * Out   packets and sides of messages that hold what trace.h asks for
 * Why   libbabeltrace2 reads a few files a second (fuzz_ctf_files); what it says of them comes here
 *       in thousands
 *
 * The functions of src/ctf/source.c and src/ctf/child.c are ours here: a source that needs no
 * files, and a child that is no process.
 */
#include "ctf_any.h"
#include "memory.h"
#include "ctf/ctf.h"
#include "trace.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { CLASSES = 30, STREAMS = 3, TRACES = 2, ROOM = 8, SHAPES = 4, CLOCKS = 8 };

/* What a stream says next: up to these numbers, and above the last that it failed. */
enum { EVENT = 219, DISCARDED = 229, PACKET = 239, NOTHING = 245, ENDS = 250 };

static void need(bool good)
{
	if (!good) {
		abort();
	}
}

/* ---- a source -------------------------------------------------------------------------------- */

struct stream {
	bt_stream *stream;
	bt_packet *packet;
	uint64_t cycles;
	bool begun, over;
};

/* Made when first needed, and kept: they take far longer to make than to use. */
static struct classes {
	bt_trace_class *trace;
	bt_stream_class *stream;
	bt_event_class *event[CLASSES];
} classes[SHAPES][CLOCKS];

static struct {
	struct trace {
		struct stream stream[STREAMS];
		size_t n;
	} trace[TRACES];
	size_t n;
	uint8_t streams, clock, shapes;
} made;

static bt_clock_class *clock_of(bt_self_component *component, size_t which)
{
	static const struct {
		uint64_t hz;
		int64_t offset_s;
		uint64_t offset_cycles;
	} kinds[] = {
		{ 1000000000, 1700000000, 0 }, { 1000, 1700000000, 999 },
		{ 3000000001, 0, 17 },	       { 1000000000, 4611686018, 0 },
		{ 1, INT64_MAX, 0 },	       { UINT64_MAX - 1, INT64_MIN, 5 },
		{ 32768, -4611686018, 32767 },
	};
	_Static_assert(COUNT(kinds) + 1 == CLOCKS, "and none at all");
	if (which == COUNT(kinds)) {
		return NULL;
	}
	bt_clock_class *c = bt_clock_class_create(component);
	bt_clock_class_set_frequency(c, kinds[which].hz);
	bt_clock_class_set_offset(c, kinds[which].offset_s, kinds[which].offset_cycles);
	return c;
}

static struct classes *classes_now(void)
{
	return &classes[made.shapes % SHAPES][made.clock % CLOCKS];
}

static void make_classes(bt_self_component *component, struct classes *c)
{
	bt_clock_class *clock = clock_of(component, made.clock % CLOCKS);
	struct usk_rng rng;
	c->trace = bt_trace_class_create(component);
	c->stream = bt_stream_class_create(c->trace);
	need(!clock || !bt_stream_class_set_default_clock_class(c->stream, clock));
	bt_stream_class_set_supports_packets(c->stream, BT_TRUE, BT_FALSE, BT_FALSE);
	bt_stream_class_set_supports_discarded_events(c->stream, BT_TRUE, BT_FALSE);
	usk_rng_seed(&rng, made.shapes % SHAPES);
	any_classes(c->trace, c->stream, &rng, c->event, CLASSES);
	bt_clock_class_put_ref(clock);
}

static bt_component_class_initialize_method_status
source_init(bt_self_component_source *self, bt_self_component_source_configuration *configuration,
	    const bt_value *params, void *data)
{
	bt_self_component *component = bt_self_component_source_as_self_component(self);
	struct trace *trace = &made.trace[made.n++];
	struct classes *c = classes_now();
	(void)configuration;
	(void)params;
	(void)data;
	if (!c->trace) {
		make_classes(component, c);
	}
	bt_trace *whole = bt_trace_create(c->trace);
	/* One name of two traces; the other is of another machine, or of nobody. */
	if (!(made.streams & 4) || made.n == 1) {
		need(!bt_trace_set_environment_entry_string(whole, "hostname", "a"));
	} else if (made.streams & 8) {
		need(!bt_trace_set_environment_entry_string(whole, "hostname", "b"));
	}
	trace->n = made.streams % (STREAMS + 1);
	for (size_t i = 0; i < trace->n; i++) {
		struct stream *s = &trace->stream[i];
		char name[8];
		snprintf(name, sizeof name, "%zu", i);
		*s = (struct stream){ .stream = bt_stream_create(c->stream, whole) };
		s->packet = bt_packet_create(s->stream);
		need(!bt_self_component_source_add_output_port(self, name, s, NULL));
	}
	bt_trace_put_ref(whole);
	return BT_COMPONENT_CLASS_INITIALIZE_METHOD_STATUS_OK;
}

static bt_message_iterator_class_initialize_method_status
iterator_init(bt_self_message_iterator *self, bt_self_message_iterator_configuration *configuration,
	      bt_self_component_port_output *port)
{
	(void)configuration;
	bt_self_message_iterator_set_data(
		self, bt_self_component_port_get_data(
			      bt_self_component_port_output_as_self_component_port(port)));
	return BT_MESSAGE_ITERATOR_CLASS_INITIALIZE_METHOD_STATUS_OK;
}

/* Later by little, by much, earlier, or whenever. */
static void move_on(struct stream *s)
{
	uint64_t b = any_byte();
	if (b < 128) {
		s->cycles += b;
	} else if (b < 192) {
		s->cycles += (b - 128) << 20;
	} else if (b < 240) {
		s->cycles -= (b - 191) << 16;
	} else {
		s->cycles = any_number();
	}
}

static bt_message *new_event(bt_self_message_iterator *self, struct stream *s, uint64_t kind)
{
	const bt_event_class *class = classes_now()->event[kind % CLASSES];
	bool timed = bt_stream_class_borrow_default_clock_class_const(
		bt_stream_borrow_class_const(s->stream));
	move_on(s);
	bt_message *m = timed ? bt_message_event_create_with_packet_and_default_clock_snapshot(
					self, class, s->packet, s->cycles)
			      : bt_message_event_create_with_packet(self, class, s->packet);
	any_fill_event(m);
	return m;
}

static bt_message *new_discarded(bt_self_message_iterator *self, struct stream *s)
{
	bt_message *m = bt_message_discarded_events_create(self, s->stream);
	bt_message_discarded_events_set_count(m, 1 + any_number() % UINT32_MAX);
	return m;
}

static bt_message_iterator_class_next_method_status
source_next(bt_self_message_iterator *self, bt_message_array_const out, uint64_t room, uint64_t *n)
{
	struct stream *s = bt_self_message_iterator_get_data(self);
	*n = 0;
	if (s->over) {
		return BT_MESSAGE_ITERATOR_CLASS_NEXT_METHOD_STATUS_END;
	}
	if (!s->begun) {
		s->begun = true;
		out[(*n)++] = bt_message_stream_beginning_create(self, s->stream);
		out[(*n)++] = bt_message_packet_beginning_create(self, s->packet);
		return BT_MESSAGE_ITERATOR_CLASS_NEXT_METHOD_STATUS_OK;
	}
	for (room = room < ROOM ? room : ROOM; any_left() && *n + 2 <= room;) {
		uint64_t what = any_byte();
		if (what <= EVENT) {
			out[(*n)++] = new_event(self, s, what);
		} else if (what <= DISCARDED) {
			out[(*n)++] = new_discarded(self, s);
		} else if (what <= PACKET) {
			out[(*n)++] = bt_message_packet_end_create(self, s->packet);
			out[(*n)++] = bt_message_packet_beginning_create(self, s->packet);
		} else if (what <= NOTHING || *n) {
			return *n ? BT_MESSAGE_ITERATOR_CLASS_NEXT_METHOD_STATUS_OK
				  : BT_MESSAGE_ITERATOR_CLASS_NEXT_METHOD_STATUS_AGAIN;
		} else if (what <= ENDS) {
			break;
		} else {
			s->over = true;
			bt_current_thread_error_append_cause_from_message_iterator(
				self, __FILE__, __LINE__, "No room:\nstream-id=%d.", 1);
			return BT_MESSAGE_ITERATOR_CLASS_NEXT_METHOD_STATUS_ERROR;
		}
	}
	if (!*n) {
		s->over = true;
		out[(*n)++] = bt_message_packet_end_create(self, s->packet);
		out[(*n)++] = bt_message_stream_end_create(self, s->stream);
	}
	return BT_MESSAGE_ITERATOR_CLASS_NEXT_METHOD_STATUS_OK;
}

static void forget_made(void)
{
	for (size_t i = 0; i < made.n; i++) {
		for (size_t k = 0; k < made.trace[i].n; k++) {
			bt_packet_put_ref(made.trace[i].stream[k].packet);
			bt_stream_put_ref(made.trace[i].stream[k].stream);
		}
	}
	made.n = 0;
}

/* ---- in place of src/ctf/source.c
 * -----------------------------------------------------------------
 */

const bt_plugin *usk_ctf_plugin(void)
{
	return (const bt_plugin *)&made; /* it is there */
}

const bt_component_source *usk_ctf_source(bt_graph *graph, const char *name, const char *folder)
{
	static bt_component_class_source *class;
	const bt_component_source *source = NULL;
	(void)folder;
	if (!class) {
		bt_message_iterator_class *iterator = bt_message_iterator_class_create(source_next);
		bt_message_iterator_class_set_initialize_method(iterator, iterator_init);
		class = bt_component_class_source_create("any", iterator);
		bt_component_class_source_set_initialize_method(class, source_init);
	}
	need(!bt_graph_add_source_component(graph, class, name, NULL, BT_LOGGING_LEVEL_NONE,
					    &source));
	return source;
}

/* ---- in place of src/ctf/child.c
 * ------------------------------------------------------------------
 */

struct ctf_child {
	struct ctf_graph *graph;
};

enum usk_status usk_ctf_start(struct ctf_traces *t, const struct ctf_visitor *visitor,
			      struct ctf_child **out, struct usk_err *err)
{
	struct ctf_child *c = usk_alloc(1, sizeof *c);
	enum usk_status status = usk_ctf_open(t->folder, t->n, visitor, &c->graph, err);
	if (status) {
		usk_ctf_stop(c);
	} else {
		*out = c;
	}
	return status;
}

enum usk_status usk_ctf_read(struct ctf_child *c, struct ctf_item *out, size_t cap, size_t *n,
			     struct usk_err *err)
{
	return usk_ctf_next(c->graph, out, cap, n, err);
}

const struct ctf_totals *usk_ctf_read_totals(const struct ctf_child *c)
{
	return usk_ctf_totals(c->graph);
}

void usk_ctf_stop(struct ctf_child *c)
{
	if (c) {
		usk_ctf_close(c->graph);
		forget_made();
	}
	free(c);
}

bool usk_ctf_is_readable(const char *folder)
{
	(void)folder;
	return true;
}

/* ---- all of it ---------------------------------------------------------------------------------
 */

/* Folders of one trace and of two, of which nothing but metadata is there. */
static const char *const folders[] = { "/one", "/two", "/two/a", "/two/b" };

static void make_folders(void)
{
	for (size_t i = 0; i < COUNT(folders); i++) {
		char path[128];
		snprintf(path, sizeof path, "%s%s", memory_folder(), folders[i]);
		need(!mkdir(path, 0700));
		if (i != 1) {
			strcat(path, "/metadata");
			FILE *f = fopen(path, "w");
			need(f && fputs("/* CTF 1.8 */\n", f) >= 0 && !fclose(f));
		}
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const send[] = { "msg:send{channel,text}", "net_dev_queue{name,#}" };
	static const char *const receive[] = { "msg:recv{channel,text}", "net_if_rx{name,#}" };
	static const char *const know[] = { "me=msg:whoami{name}" };
	static const struct usk_read_options known = { 0 }, stated = { .send = send,
								       .n_send = 2,
								       .receive = receive,
								       .n_receive = 2,
								       .know = know,
								       .n_know = 1 };
	if (size < 3 || size > 4096) {
		return -1;
	}
	static bool there;
	if (!there) {
		make_folders();
		there = true;
	}
	made.streams = data[0];
	made.clock = data[1];
	made.shapes = data[2];
	any_input(data + 3, size - 3);
	char path[128];
	snprintf(path, sizeof path, "%s/%s", memory_folder(), data[0] & 16 ? "two" : "one");
	struct usk_trace *t = NULL;
	struct usk_err err = { 0 };
	if (usk_trace_open_with(path, NULL, data[0] & 32 ? &stated : &known, &t, &err)) {
		need(err.msg[0] && !strchr(err.msg, '\n'));
		return 0;
	}
	fuzz_opened(t, 0);
	usk_trace_close(t);
	return 0;
}

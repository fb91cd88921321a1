/* SPDX-License-Identifier: MIT */
/*
 * merge.c - messages of all ports, corrected and put in order
 *
 * A message is handed out once no port can have an earlier one: what comes on a port is not earlier
 * than what came last, on its own clock, and corrections do not change the order of one clock. So
 * what waits is what the clocks are apart, if several come through one port, and a batch per port
 * if each has its own.
 */

#include "ctf/filter.h"

#include <stdlib.h>

/* ---- what waits ---------------------------------------------------------------------------- */

static bool before(const struct waiting *a, const struct waiting *b)
{
	return a->ns != b->ns ? a->ns < b->ns : a->number < b->number;
}

void usk_merge_put(struct merge *m, int64_t ns, const bt_message *message)
{
	struct waiting w = { ns, m->number++, message };
	m->heap = usk_room(m->heap, m->n, &m->cap, sizeof *m->heap);
	USK_HEAP_PUT(m->heap, m->n, w, before);
	m->n++;
}

static const bt_message *take(struct merge *m)
{
	const bt_message *first = m->heap[0].message;
	m->n--;
	USK_HEAP_TAKE(m->heap, m->n, before);
	return first;
}

/* Nothing that comes on this port will be earlier. */
static int64_t bound(const struct port *p)
{
	int64_t least = INT64_MAX;
	if (p->reached_ns == INT64_MIN) {
		return INT64_MIN;
	}
	for (size_t i = 0; i < p->n_sides; i++) {
		const struct side *s = &p->side[i];
		int64_t ns = p->reached_ns;
		if (s->put_back) {
			ns = s->last_ns;
		} else if (s->map && usk_map_many(s->map, &p->reached_ns, 1, &ns, NULL)) {
			ns = s->last_ns;
		}
		least = ns < least ? ns : least;
	}
	return least;
}

/* ---- the iterator ---------------------------------------------------------------------------- */

bt_message_iterator_class_initialize_method_status
usk_merge_init(bt_self_message_iterator *self,
	       bt_self_message_iterator_configuration *configuration,
	       bt_self_component_port_output *port)
{
	bt_self_component *component = bt_self_message_iterator_borrow_component(self);
	bt_self_component_filter *filter = (bt_self_component_filter *)component;
	struct sync *sync = bt_self_component_get_data(component);
	struct merge *m = usk_alloc(1, sizeof *m);
	(void)configuration;
	(void)port;
	m->self = self;
	m->sync = sync;
	m->ir = usk_ir_new(component, sync->zero_s);
	m->port = usk_alloc(sync->n_ports, sizeof *m->port);
	bt_self_message_iterator_set_data(self, m);
	bool good = m->ir != NULL;
	for (uint64_t i = 0; i < sync->n_ports && good; i++) {
		bt_self_component_port_input *in =
			bt_self_component_filter_borrow_input_port_by_index(filter, i);
		if (!bt_port_is_connected(bt_port_input_as_port_const(
			    bt_self_component_port_input_as_port_input(in)))) {
			continue;
		}
		struct port *p = &m->port[m->n_ports++];
		p->reached_ns = p->bound_ns = INT64_MIN;
		good = !bt_message_iterator_create_from_message_iterator(self, in, &p->iterator);
	}
	if (!good) {
		usk_merge_finalize(self);
		return BT_MESSAGE_ITERATOR_CLASS_INITIALIZE_METHOD_STATUS_ERROR;
	}
	return BT_MESSAGE_ITERATOR_CLASS_INITIALIZE_METHOD_STATUS_OK;
}

void usk_merge_finalize(bt_self_message_iterator *self)
{
	struct merge *m = bt_self_message_iterator_get_data(self);
	if (!m) {
		return;
	}
	while (m->n) {
		bt_message_put_ref(take(m));
	}
	for (size_t i = 0; i < m->n_streams; i++) {
		usk_stream_free(&m->stream[i]);
	}
	for (size_t i = 0; i < m->n_ports; i++) {
		bt_message_iterator_put_ref(m->port[i].iterator);
		for (size_t k = 0; k < m->port[i].n_sides; k++) {
			usk_map_free(m->port[i].side[k].map);
		}
		free(m->port[i].side);
	}
	usk_ir_free(m->ir);
	USK_FREE(m->stream, m->heap, m->port, m);
	bt_self_message_iterator_set_data(self, NULL);
}

/* The next batch of a port. */
static bt_message_iterator_class_next_method_status pull(struct merge *m, struct port *p)
{
	bt_message_array_const message;
	uint64_t n = 0;
	bool good = true;
	bt_message_iterator_next_status status =
		bt_message_iterator_next(p->iterator, &message, &n);
	if (status == BT_MESSAGE_ITERATOR_NEXT_STATUS_END) {
		p->ended = true;
		return BT_MESSAGE_ITERATOR_CLASS_NEXT_METHOD_STATUS_OK;
	}
	if (status != BT_MESSAGE_ITERATOR_NEXT_STATUS_OK) {
		/* All statuses of libbabeltrace2 that have one name are one number. */
		return (bt_message_iterator_class_next_method_status)status;
	}
	for (uint64_t i = 0; i < n; i++) {
		good = good && usk_message_take_in(m, p, message[i]);
		bt_message_put_ref(message[i]);
	}
	p->bound_ns = bound(p);
	return good ? BT_MESSAGE_ITERATOR_CLASS_NEXT_METHOD_STATUS_OK
		    : BT_MESSAGE_ITERATOR_CLASS_NEXT_METHOD_STATUS_ERROR;
}

bt_message_iterator_class_next_method_status usk_merge_next(bt_self_message_iterator *self,
							    bt_message_array_const messages,
							    uint64_t capacity, uint64_t *count)
{
	struct merge *m = bt_self_message_iterator_get_data(self);
	*count = 0;
	while (*count < capacity) {
		struct port *behind = NULL;
		int64_t least = INT64_MAX;
		for (size_t i = 0; i < m->n_ports; i++) {
			struct port *p = &m->port[i];
			if (!p->ended && (!behind || p->bound_ns < least)) {
				behind = p;
				least = p->bound_ns;
			}
		}
		if (m->n && (!behind || m->heap[0].ns <= least)) {
			messages[(*count)++] = take(m);
			continue;
		}
		if (!behind) {
			break;
		}
		bt_message_iterator_class_next_method_status status = pull(m, behind);
		if (status != BT_MESSAGE_ITERATOR_CLASS_NEXT_METHOD_STATUS_OK) {
			if (*count &&
			    status == BT_MESSAGE_ITERATOR_CLASS_NEXT_METHOD_STATUS_AGAIN) {
				break;
			}
			while (*count) {
				bt_message_put_ref(messages[--*count]);
			}
			return status;
		}
	}
	return *count ? BT_MESSAGE_ITERATOR_CLASS_NEXT_METHOD_STATUS_OK
		      : BT_MESSAGE_ITERATOR_CLASS_NEXT_METHOD_STATUS_END;
}

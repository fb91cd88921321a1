/* SPDX-License-Identifier: MIT */
#include "read/rule.h"

#include <stdlib.h>
#include <string.h>

/* To add a tracer: a row. Its rules count where a trace has one of the two events. */
static const struct known_tracer tracers[] = {
	/* Messages of one tag between two ranks do not overtake each other. */
	{ "MPI by LTTng-UST", "mpi:mpi_send_entry{rank,dest,tg,#}",
	  "mpi:mpi_recv_exit{source,rank,tg,#}", "rank=mpi:mpi_init_exit{res}" },
	/* TCP as lttng-modules 2.8 and the older add-ons record it: without the IP header. */
	{ "TCP by LTTng add-ons", "inet_sock_local_out{seq,ack_seq,flags}",
	  "inet_sock_local_in{seq,ack_seq,flags}", NULL },
	{ "TCP by LTTng 2.8",
	  "net_dev_queue{transport_header.seq,transport_header.ack_seq,transport_header.flags}",
	  "net_if_receive_skb{transport_header.seq,transport_header.ack_seq,"
	  "transport_header.flags}",
	  NULL },
	/* The stamp of the middleware goes with the message. */
	{ "ROS 2", "ros2:rmw_publish{timestamp}", "ros2:rmw_take{source_timestamp}", NULL },
};

const struct known_tracer *usk_known_tracer(size_t i)
{
	return i < COUNT(tracers) ? &tracers[i] : NULL;
}

static char *part(const char *s, size_t n)
{
	char *p = usk_alloc(n + 1, 1);
	memcpy(p, s, n);
	return p;
}

static enum usk_status wrong(const char *text, bool knowledge, const char *why, struct usk_err *err)
{
	return usk_fail(err, USK_EUSAGE, 0, "\"%.200s\": %s; write %s", text, why,
			knowledge ? "NAME=EVENT{FIELD}" : "EVENT{FIELD,FIELD,...}");
}

enum usk_status usk_rule_parse(const char *text, bool knowledge, struct rule *out,
			       struct usk_err *err)
{
	memset(out, 0, sizeof *out);
	const char *at = text, *open = strchr(text, '{'), *end = text + strlen(text);
	const char *equals = knowledge ? strchr(text, '=') : NULL;
	if (knowledge && (!equals || equals == text || (open && equals > open))) {
		return wrong(text, knowledge, "nothing is named", err);
	}
	if (!open || end[-1] != '}') {
		return wrong(text, knowledge, "its fields do not stand in braces", err);
	}
	if (equals) {
		out->name = part(text, (size_t)(equals - text));
		at = equals + 1;
	}
	if (open == at) {
		usk_rule_free(out);
		return wrong(text, knowledge, "no event is named", err);
	}
	out->event = part(at, (size_t)(open - at));
	for (at = open + 1; at < end;) {
		size_t n = strcspn(at, ",}");
		const char *why = !n			  ? "a field has no name"
				  : out->n == RULE_FIELDS ? "it has more than 8 fields"
				  : at[n] == '}' && at + n + 1 != end
					  ? "something follows its fields"
					  : NULL;
		if (why) {
			usk_rule_free(out);
			return wrong(text, knowledge, why, err);
		}
		out->field[out->n++] = part(at, n);
		at += n + 1;
	}
	if (knowledge && out->n != 1) {
		usk_rule_free(out);
		return wrong(text, knowledge, "it takes one field", err);
	}
	return USK_OK;
}

void usk_rule_free(struct rule *r)
{
	free(r->name);
	free(r->event);
	for (size_t i = 0; i < r->n; i++) {
		free(r->field[i]);
	}
	memset(r, 0, sizeof *r);
}

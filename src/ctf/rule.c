/* SPDX-License-Identifier: MIT */
#include "ctf/rule.h"

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

enum usk_status usk_rule_parse(const char *text, bool knowledge, struct rule *out,
			       struct usk_err *err)
{
	char *at = usk_strdup(text), *open = strchr(at, '{'), *end = at + strlen(at);
	char *equals = knowledge ? strchr(at, '=') : NULL;
	*out = (struct rule){ .text = at };
	const char *why = knowledge && (!equals || equals == at || (open && equals > open))
				  ? "nothing is named"
			  : !open || end[-1] != '}'	       ? "its fields do not stand in braces"
			  : open == (equals ? equals + 1 : at) ? "no event is named"
							       : NULL;
	if (!why) {
		out->name = equals ? at : NULL;
		out->event = equals ? equals + 1 : at;
		*(equals ? equals : open) = 0;
		*open = 0;
	}
	for (at = why ? end : open + 1; !why && at < end; at += strlen(at) + 1) {
		size_t n = strcspn(at, ",}");
		why = !n				  ? "a field has no name"
		      : out->n == RULE_FIELDS		  ? "it has more than 8 fields"
		      : at[n] == '}' && at + n + 1 != end ? "something follows its fields"
							  : NULL;
		if (!why) {
			at[n] = 0;
			out->field[out->n++] = at;
		}
	}
	why = !why && knowledge && out->n != 1 ? "it takes one field" : why;
	if (why) {
		usk_rule_free(out);
		return usk_fail(err, USK_EUSAGE, 0, "\"%.200s\": %s; write %s", text, why,
				knowledge ? "NAME=EVENT{FIELD}" : "EVENT{FIELD,FIELD,...}");
	}
	return USK_OK;
}

void usk_rule_free(struct rule *r)
{
	free(r->text);
	memset(r, 0, sizeof *r);
}

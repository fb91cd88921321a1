/* SPDX-License-Identifier: MIT */
/*
 * rule.h - key rules: which event is a send, which a receive, and what makes their ids equal
 *
 * In    "mpi:mpi_send_entry{rank,dest,tg,#}", "rank=mpi:mpi_init_exit{res}"
 * Out   the names of the event and of its fields
 * Why   an event of any tracer can be one side of a message, if only somebody says how the two
 *       sides know each other
 * Not   the values of fields (field.c)
 *
 * A field is a member of the event's payload or contexts, or of the trace's environment (hostname);
 * "a.b" is a member of a member. "#" counts the events of the rule whose other fields were the
 * same: for ids that are used again in the order of time. A name that a row of knowledge gives is
 * the value that this thread's last event of that row had.
 */
#ifndef USK_RULE_H
#define USK_RULE_H

#include "base/base.h"

enum { RULE_FIELDS = 8 };

struct rule {
	char *text;	  /* in which all else is */
	const char *name; /* knowledge: what is known; NULL */
	const char *event;
	const char *field[RULE_FIELDS];
	size_t n;
};

/** USK_EUSAGE: it is none, or has no field or too many. */
enum usk_status usk_rule_parse(const char *text, bool knowledge, struct rule *out,
			       struct usk_err *err);
void usk_rule_free(struct rule *r);

/* What is known of a tracer: a row of rules, as the options would give them. */
struct known_tracer {
	const char *name;		   /* "MPI, by LTTng-UST" */
	const char *send, *receive, *know; /* know may be NULL */
};
/** The i-th, static; NULL behind the last. */
const struct known_tracer *usk_known_tracer(size_t i);

#endif

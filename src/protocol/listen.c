/* SPDX-License-Identifier: MIT */
/*
 * listen.c - the records of a capture -> readings of clocks that nobody recorded
 *
 * In    records in the order of the capture; which protocols are asked for
 * Out   for each packet what it says: a clock showed this before, or after, we saw that
 * Why   protocols[] is the only place that knows which there are; each remembers its questions in
 *       the same table of fixed size
 * Not   what becomes of readings (flow/inside.c)
 */
#include "protocol/protocol.h"
#include "read/read.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { QUESTIONS = 4096, WAYS = 4, MOST_READINGS = 64 };

static const struct usk_protocol *const protocols[] = {
	&usk_protocol_ntp,  &usk_protocol_ptp,	&usk_protocol_rtcp, &usk_protocol_http,
	&usk_protocol_krb5, &usk_protocol_smb2, &usk_protocol_wlan,
};

struct usk_listener {
	uint32_t rows;
	size_t row; /* whose packet is being taken */
	uint64_t n_asked;
	struct usk_question question[QUESTIONS];
	uint64_t asked[QUESTIONS]; /* in this order */
	struct usk_reading reading[MOST_READINGS];
	size_t n;
};

const struct usk_protocol *usk_protocol(size_t i)
{
	return i < COUNT(protocols) ? protocols[i] : NULL;
}

static char *names(void)
{
	char *all = usk_strdup("");
	for (size_t i = 0; i < COUNT(protocols); i++) {
		char *longer = usk_format("%s%s, ", all, protocols[i]->name);
		free(all);
		all = longer;
	}
	return all;
}

enum usk_status usk_protocols_parse(const char *text, uint32_t *rows, struct usk_err *err)
{
	*rows = 0;
	for (const char *at = text; text && at;) {
		size_t n = strcspn(at, ","), i = 0;
		while (i < COUNT(protocols) && (strlen(protocols[i]->name) != n ||
						strncmp(protocols[i]->name, at, n) != 0)) {
			i++;
		}
		if (n == 3 && !strncmp(at, "all", n)) {
			*rows |= (uint32_t)((UINT64_C(1) << COUNT(protocols)) - 1);
		} else if (i < COUNT(protocols)) {
			*rows |= UINT32_C(1) << i;
		} else {
			char *known = names();
			enum usk_status status = usk_fail(
				err, USK_EUSAGE, 0, "--readings %s: \"%.*s\" is none of %sall",
				text, (int)(n < 40 ? n : 40), at, known);
			free(known);
			return status;
		}
		at = at[n] ? at + n + 1 : NULL;
	}
	return USK_OK;
}

struct usk_listener *usk_listener_new(uint32_t rows)
{
	struct usk_listener *l = usk_alloc(1, sizeof *l);
	l->rows = rows;
	return l;
}

void usk_listener_free(struct usk_listener *l)
{
	free(l);
}

/* Its place; NULL: there is none, and *oldest is the place that a new one may have. */
static struct usk_question *find(struct usk_listener *l, uint64_t key, size_t *oldest)
{
	size_t first = (size_t)key % (QUESTIONS / WAYS) * WAYS;
	*oldest = first;
	for (size_t i = first; i < first + WAYS; i++) {
		if (l->asked[i] && l->question[i].key == key) {
			return &l->question[i];
		}
		*oldest = l->asked[i] < l->asked[*oldest] ? i : *oldest;
	}
	return NULL;
}

struct usk_question *usk_question_of(struct usk_listener *l, uint64_t key)
{
	size_t oldest;
	struct usk_question *q = find(l, usk_fold(key, l->row), &oldest);
	return q && q->our_ns != USK_NONE ? q : NULL;
}

void usk_question_ask(struct usk_listener *l, uint64_t key, const struct usk_packet *p,
		      int64_t value)
{
	size_t at;
	struct usk_question *q = find(l, usk_fold(key, l->row), &at);
	if (!q || q->our_ns == USK_NONE) {
		at = q ? (size_t)(q - l->question) : at;
		l->asked[at] = ++l->n_asked;
		l->question[at] =
			(struct usk_question){ usk_fold(key, l->row), p->time_ns, value, p->side };
	}
}

void usk_question_done(struct usk_question *q)
{
	q->our_ns = USK_NONE;
}

uint64_t usk_question_key(const struct usk_packet *p, bool answer, uint64_t what)
{
	const struct usk_addr *from = answer ? &p->dst : &p->src, *to = answer ? &p->src : &p->dst;
	uint32_t ports =
		answer ? (uint32_t)p->dport << 16 | p->sport : (uint32_t)p->sport << 16 | p->dport;
	uint64_t who = usk_fold(usk_fold(from->hi, from->lo), usk_fold(to->hi, to->lo) + ports);
	return usk_fold(who, what);
}

void usk_tell_named(struct usk_listener *l, const char *of, bool told, int64_t ns,
		    int64_t quantum_ns, int64_t our_ns)
{
	if (l->n == MOST_READINGS || !usk_is_time(ns) || !usk_is_time(our_ns)) {
		return;
	}
	struct usk_reading *r = &l->reading[l->n];
	*r = (struct usk_reading){ .told = told, .our_ns = our_ns, .quantum_ns = quantum_ns };
	r->clock_ns = told ? ns - quantum_ns : ns + quantum_ns;
	snprintf(r->of, sizeof r->of, "%s", of);
	l->n += usk_is_time(r->clock_ns);
}

void usk_tell(struct usk_listener *l, struct usk_addr of, int64_t ns, int64_t quantum_ns,
	      int64_t our_ns)
{
	char name[46];
	usk_addr_text(of, name);
	usk_tell_named(l, name, true, ns, quantum_ns, our_ns);
}

void usk_tell_later(struct usk_listener *l, struct usk_addr of, int64_t ns, int64_t quantum_ns,
		    int64_t our_ns)
{
	char name[46];
	usk_addr_text(of, name);
	usk_tell_named(l, name, false, ns, quantum_ns, our_ns);
}

static bool is_of(const struct usk_protocol *row, const struct usk_packet *p)
{
	bool any = !row->port[0];
	for (size_t i = 0; i < COUNT(row->port) && row->port[i] && !any; i++) {
		any = p->sport == row->port[i] || p->dport == row->port[i];
	}
	return any && (p->proto == row->proto || p->proto == row->also);
}

const struct usk_reading *usk_listen(struct usk_listener *l, const struct usk_record *r,
				     uint16_t link_type, size_t *row, size_t *n)
{
	struct usk_packet ip = { 0 };
	struct usk_heard_packet p = { .ip = &ip };
	const uint8_t *payload = usk_packet_payload(r, link_type, &ip, &p.n);
	l->n = 0;
	for (size_t i = 0; i < COUNT(protocols) && !l->n; i++) {
		const struct usk_protocol *of = protocols[i];
		if (!(l->rows >> i & 1)) {
			continue;
		}
		p.data = payload && is_of(of, &ip) ? payload : NULL;
		if (!payload && of->in_frame) {
			ip = (struct usk_packet){ .time_ns = r->time_ns };
			p.data = of->in_frame(r, link_type, &p.n, &ip.side);
		}
		if (p.data) {
			l->row = i;
			of->take(l, &p);
		}
	}
	*row = l->row;
	*n = l->n;
	return l->reading;
}

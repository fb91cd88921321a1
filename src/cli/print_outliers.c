/* SPDX-License-Identifier: MIT */
/*
 * print_outliers.c - messages that no clock of the model explains
 *
 * In    those left out, those that forbid an answer; the numbers of their records
 * Out   each with its stamps and records; of two that contradict each other, by how much
 */
#include "print.h"
#include "fit/cone.h"

#include <string.h>

/* "m -> n, sent 17... (packet #812 of m.pcap), received 17... (packet #4,711 of n.pcap)"; a row of
 * a table is named once. */
static void print_message(FILE *out, const struct usk_clocks *c, const struct usk_msg *m,
			  const struct located *where)
{
	const char *sent = located_at(where, m, false);
	const char *received = located_at(where, m, true);
	fprintf(out, "  %s -> %s, sent %lld%s, received %lld%s", printable(c->clock[m->from].name),
		printable(c->clock[m->to].name), (long long)m->sent_ns,
		strcmp(sent, received) ? sent : "", (long long)m->received_ns, received);
}

/* Of outliers so many are told. */
enum { MOST_OUTLIERS = 5 };

void print_wants(const struct usk_clocks *c, struct located *where)
{
	for (size_t i = 0; i < c->n_pairs; i++) {
		const struct usk_pair *p = &c->pair[i];
		for (size_t k = 0; k < p->n_contradiction; k++) {
			located_want(where, &p->contradiction[k]);
		}
		for (size_t k = 0; k < p->n_outliers && k < MOST_OUTLIERS; k++) {
			located_want(where, &p->outlier[k].msg);
		}
	}
}

/* "(1) m sent a message at 17... s (packet #812 of m.pcap) that n received at 17... s (...)", as --explain
 * has it. */
static void print_evidence(FILE *out, const struct usk_clocks *c, const struct usk_msg *m,
			   const struct located *where, size_t number)
{
	const char *sent = located_at(where, m, false), *got = located_at(where, m, true);
	fprintf(out, "  (%zu) %s sent a message at ", number, printable(c->clock[m->from].name));
	print_seconds(out, m->sent_ns);
	fprintf(out, "%s\n      that %s received at ", strcmp(sent, got) ? sent : "",
		printable(c->clock[m->to].name));
	print_seconds(out, m->received_ns);
	fputs(got, out);
}

/* What a message says of a's time less b's: by b's stamp, at least so much, or at most. */
struct said {
	usk_i128 at_ns, offset_ns;
	bool floor;
};

static struct said said_by(const struct usk_clocks *c, const struct usk_pair *p,
			   const struct usk_msg *m)
{
	bool floor = m->from == p->a;
	int64_t q = c->clock[m->to].resolution_ns;
	usk_i128 received = (usk_i128)m->received_ns + (q > 1 ? q : 0);
	return floor ? (struct said){ received, m->sent_ns - received, true }
		     : (struct said){ m->sent_ns, received - m->sent_ns, false };
}

/* Of two messages, if they alone contradict each other by the skew limit: by how much. */
static void print_conclusion(FILE *out, const struct usk_clocks *c, const struct usk_pair *p)
{
	struct said x = said_by(c, p, &p->contradiction[0]);
	struct said y = said_by(c, p, &p->contradiction[1]);
	struct said first = x.at_ns <= y.at_ns ? x : y, last = x.at_ns <= y.at_ns ? y : x;
	usk_i128 gained = last.offset_ns - first.offset_ns, apart = last.at_ns - first.at_ns;
	usk_i128 most = usk_ceil_div(apart * c->max_skew_e12, USK_E12);
	usk_i128 by = last.floor ? gained : -gained;
	if (first.floor == last.floor || by <= most || strcmp(c->min_delay, "0") != 0) {
		return;
	}
	fprintf(out, "  In the %s between, %s would have %s at least %s on %s; ",
		unit_span(usk_saturate(apart)).s, printable(c->clock[p->a].name),
		last.floor ? "gained" : "lost", unit_at_least(usk_saturate(by)).s,
		printable(c->clock[p->b].name));
	fprintf(out, "the skew limit allows %s.\n", unit_bound(usk_saturate(most)).s);
}

static void print_contradiction(FILE *out, const struct usk_clocks *c, const struct usk_pair *p,
				const struct located *where)
{
	fprintf(out,
		"The model cannot explain the clocks of %s and %s; these messages contradict each "
		"other:\n",
		printable(c->clock[p->a].name), printable(c->clock[p->b].name));
	for (size_t k = 0; k < p->n_contradiction; k++) {
		print_evidence(out, c, &p->contradiction[k], where, k + 1);
		fputs(k + 1 < p->n_contradiction ? ",\n" : ".\n", out);
	}
	if (p->n_contradiction == 2) {
		print_conclusion(out, c, p);
	}
}

void print_outliers(FILE *out, const struct usk_clocks *c, const struct located *where)
{
	for (size_t i = 0; i < c->n_pairs; i++) {
		const struct usk_pair *p = &c->pair[i];
		const char *a = printable(c->clock[p->a].name), *b = printable(c->clock[p->b].name);
		if (p->n_contradiction) {
			print_contradiction(out, c, p, where);
		}
		if (p->n_outliers) {
			fprintf(out,
				"Outliers between %s and %s, which contradict the other messages "
				"and are ignored:\n",
				a, b);
		}
		for (size_t k = 0; k < p->n_outliers && k < MOST_OUTLIERS; k++) {
			print_message(out, c, &p->outlier[k].msg, where);
			fprintf(out, ", by %s\n", unit_span(p->outlier[k].excess_ns).s);
		}
		if (p->n_outliers > MOST_OUTLIERS) {
			fprintf(out, "  and %s more, listed in clocks.json\n",
				unit_count(p->n_outliers - MOST_OUTLIERS).s);
		}
	}
}

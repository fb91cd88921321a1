/* SPDX-License-Identifier: MIT */
/*
 * client.c - asks, and which of the packets that come are answers to them
 *
 * In    packets from anybody
 * Out   exchanges with their four stamps; how many packets were none, and why
 * Why   a false or repeated answer would be a false bound
 * Not   sockets and waiting (ask.c)
 */
#include "probe/probe.h"

#include <assert.h>
#include <string.h>

void usk_probe_client_init(struct usk_probe_client *c, const struct usk_probe_key *key)
{
	memset(c, 0, sizeof *c);
	c->key = *key;
}

static void say_it(struct usk_probe_client *c, enum usk_probe_type type,
		   uint8_t out[USK_PROBE_BYTES])
{
	struct usk_probe_packet p = { .type = type, .sequence = ++c->sequence };
	memcpy(p.session, c->session, sizeof p.session);
	memcpy(p.cookie, c->cookie, sizeof p.cookie);
	usk_probe_encode(&p, out);
	usk_probe_seal(&c->key, out);
}

void usk_probe_hello(struct usk_probe_client *c, uint8_t out[USK_PROBE_BYTES])
{
	usk_probe_random(c->session, sizeof c->session);
	memset(c->cookie, 0, sizeof c->cookie);
	c->sequence = 0;
	c->open = false;
	c->n = 0;
	say_it(c, USK_PROBE_HELLO, out);
	c->hello = c->sequence;
}

void usk_probe_burst(struct usk_probe_client *c)
{
	c->n = 0;
}

void usk_probe_ask(struct usk_probe_client *c, struct usk_probe_stamp t1,
		   uint8_t out[USK_PROBE_BYTES])
{
	assert(c->n < COUNT(c->asked));
	say_it(c, USK_PROBE_ASK, out);
	c->asked[c->n++] = (struct usk_probe_exchange){ .sequence = c->sequence, .t1 = t1 };
}

static struct usk_probe_exchange *find(struct usk_probe_client *c, uint64_t sequence)
{
	for (size_t i = 0; i < c->n; i++) {
		if (c->asked[i].sequence == sequence) {
			return &c->asked[i];
		}
	}
	return NULL;
}

/* Departures of earlier answers: never before what the clock read just before them. */
static void take_gone(struct usk_probe_client *c, const struct usk_probe_packet *p)
{
	for (int i = 0; i < USK_PROBE_GONE; i++) {
		const struct usk_probe_gone *g = &p->gone[i];
		struct usk_probe_exchange *e = g->sequence ? find(c, g->sequence) : NULL;
		if (e && e->answered && g->at.kind != USK_PROBE_PROCESS &&
		    usk_probe_one_clock(e->t3, g->at) && g->at.ns >= e->t3.ns) {
			e->t3 = g->at;
		}
	}
}

/* With another server or a clock that was set, what was learned before says nothing. */
static void take_life(struct usk_probe_client *c, const uint8_t life[USK_PROBE_LIFE])
{
	bool anew = c->met && memcmp(c->life, life, USK_PROBE_LIFE - 1);
	c->anew = c->anew || anew;
	c->there_set = c->there_set || (c->met && !anew && memcmp(c->life, life, USK_PROBE_LIFE));
	c->met = true;
	memcpy(c->life, life, USK_PROBE_LIFE);
}

static enum usk_probe_taken take(struct usk_probe_client *c, const uint8_t *data, size_t n,
				 struct usk_probe_stamp t4)
{
	struct usk_probe_packet p;
	if (!usk_probe_decode(data, n, &p) ||
	    (p.type != USK_PROBE_COOKIES && p.type != USK_PROBE_ANSWER)) {
		return USK_PROBE_NOT_OURS;
	}
	if (!usk_probe_sealed(&c->key, data)) {
		return USK_PROBE_NOT_SEALED;
	}
	if (memcmp(p.session, c->session, sizeof p.session)) {
		return USK_PROBE_NOT_ASKED;
	}
	struct usk_probe_exchange *e = find(c, p.sequence);
	if (p.type == USK_PROBE_COOKIES) {
		if (!(e && !e->answered) && (c->open || p.sequence != c->hello)) {
			return USK_PROBE_NOT_ASKED;
		}
		memcpy(c->cookie, p.cookie, sizeof c->cookie);
		c->open = true;
		take_life(c, p.life);
		return USK_PROBE_COOKIE_TAKEN;
	}
	if (!e || e->answered) {
		return USK_PROBE_NOT_ASKED;
	}
	if (p.before_ns < p.received.ns && p.received.kind != USK_PROBE_CARD) {
		return USK_PROBE_NOT_POSSIBLE;
	}
	e->answered = true;
	e->t2 = p.received;
	/* The process cannot read the card's clock: it says when the ask arrived instead. */
	e->t3 = (struct usk_probe_stamp){ p.before_ns, p.received.kind == USK_PROBE_CARD
							       ? USK_PROBE_CARD
							       : USK_PROBE_PROCESS };
	e->t4 = t4;
	take_gone(c, &p);
	return USK_PROBE_TAKEN;
}

enum usk_probe_taken usk_probe_take(struct usk_probe_client *c, const uint8_t *data, size_t n,
				    struct usk_probe_stamp t4)
{
	enum usk_probe_taken taken = take(c, data, n, t4);
	c->count[taken]++;
	return taken;
}

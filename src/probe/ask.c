/* SPDX-License-Identifier: MIT */
/*
 * ask.c - a round of probes: bursts until one is good
 *
 * In    a session with a server, how patient to be
 * Out   exchanges, and what they say together
 * Why   Loeser's procedure: every wait is guarded by a timeout, what went badly is dropped and
 *       asked again
 * Not   which answers count (client.c); when the next round is due (the command)
 *
 * A burst is sent back to back, then one more ask collects when the answers left. That one is an
 * exchange too, only that its own departure there stays unknown.
 */
#include "probe/socket.h"

#include <string.h>

struct burst {
	struct usk_probe_client *c;
	struct usk_probe_socket *s;
	const struct usk_probe_asking *how;
	struct usk_probe_round *round;
	uint32_t number[USK_PROBE_BURST + 1]; /* of departures, by ask */
	bool again;			      /* the server wants a new cookie */
};

static void take_departures(struct burst *b)
{
	uint32_t number;
	struct usk_probe_stamp at;
	while (usk_probe_departed(b->s, &number, &at)) {
		for (size_t i = 0; i < b->c->n; i++) {
			struct usk_probe_exchange *e = &b->c->asked[i];
			bool after = at.kind == USK_PROBE_CARD || at.ns >= e->t1.ns;
			if (b->number[i] == number && after) {
				e->t1 = at;
			}
		}
	}
}

static void take_arrivals(struct burst *b)
{
	/* One byte more than a packet: what is longer shows. */
	uint8_t data[USK_PROBE_BYTES + 1];
	struct usk_probe_from from;
	struct usk_probe_stamp at;
	long n;
	while ((n = usk_probe_receive(b->s, data, sizeof data, &from, &at)) >= 0) {
		bool open = b->c->open;
		if (usk_probe_take(b->c, data, (size_t)n, at) == USK_PROBE_COOKIE_TAKEN && open) {
			b->again = true;
		}
	}
}

static bool all_answered(const struct burst *b)
{
	for (size_t i = 0; i < b->c->n; i++) {
		if (!b->c->asked[i].answered) {
			return false;
		}
	}
	return true;
}

static bool opened(const struct burst *b)
{
	return b->c->open;
}

/* False: to be stopped. */
static bool await(struct burst *b, bool (*done)(const struct burst *))
{
	int64_t until = usk_probe_mono_ns() + b->how->timeout_ns;
	for (;;) {
		take_departures(b);
		take_arrivals(b);
		if (done(b) || b->again || b->s->refused || usk_probe_mono_ns() >= until) {
			b->round->refused = b->round->refused || b->s->refused;
			return true;
		}
		if (!usk_probe_wait(b->s, 1, b->how->stop_fd, until)) {
			b->round->stopped = true;
			return false;
		}
	}
}

static void send_ask(struct burst *b)
{
	uint8_t packet[USK_PROBE_BYTES];
	uint32_t number = 0;
	usk_probe_ask(b->c, usk_probe_now(b->s), packet);
	bool sent = usk_probe_send(b->s, packet, sizeof packet, NULL, &number);
	b->number[b->c->n - 1] = number;
	b->round->sent += sent;
}

/* Is the session open, maybe after saying hello? */
static bool greet(struct burst *b)
{
	if (!b->c->open) {
		uint8_t packet[USK_PROBE_BYTES];
		uint32_t number;
		usk_probe_hello(b->c, packet);
		(void)usk_probe_send(b->s, packet, sizeof packet, NULL, &number); /* lost, then */
		await(b, opened);
	}
	return b->c->open;
}

static int64_t trip(const struct usk_probe_exchange *e)
{
	return (e->t4.ns - e->t1.ns) - (e->t3.ns - e->t2.ns);
}

/* Which of the asks are worth a row? */
static size_t keep(const struct burst *b, struct usk_probe_exchange *out)
{
	const struct usk_probe_exchange *e = b->c->asked;
	size_t burst = b->how->burst < b->c->n ? b->how->burst : b->c->n, n = 0;
	for (size_t i = 0; i < burst; i++) {
		bool good = b->how->burst == 1 && usk_probe_whole(&e[i]);
		good = good || (i > 0 && usk_probe_spaced(&e[i - 1], &e[i], b->how->slack_ns));
		good = good ||
		       (i + 1 < burst && usk_probe_spaced(&e[i], &e[i + 1], b->how->slack_ns));
		if (good) {
			out[n++] = e[i];
		}
	}
	return n;
}

/* Without a good pair: the quickest exchange of all, so that a rough network ties clocks too. */
static size_t keep_quickest(const struct burst *b, struct usk_probe_exchange *out)
{
	size_t n = 0;
	for (size_t i = 0; i < b->c->n; i++) {
		const struct usk_probe_exchange *e = &b->c->asked[i];
		if (usk_probe_whole(e) && (!n || trip(e) < trip(out))) {
			*out = *e;
			n = 1;
		}
	}
	return n;
}

/* What the card missed has the kernel's clock, which must not get among the card's. */
static void drop_unstamped(struct burst *b)
{
	for (size_t i = 0; b->s->card && i < b->c->n; i++) {
		struct usk_probe_exchange *e = &b->c->asked[i];
		e->answered =
			e->answered && e->t1.kind == USK_PROBE_CARD && e->t4.kind == USK_PROBE_CARD;
	}
}

static void count(struct burst *b)
{
	struct usk_probe_round *r = b->round;
	for (size_t i = 0; i < b->c->n; i++) {
		const struct usk_probe_exchange *e = &b->c->asked[i];
		r->answered += e->answered;
		r->lost += !e->answered;
		/* The last one only collects. */
		if (e->answered && i < b->how->burst) {
			r->kind[0][e->t1.kind]++;
			r->kind[0][e->t4.kind]++;
			r->kind[1][e->t2.kind]++;
			r->kind[1][e->t3.kind]++;
		}
		if (usk_probe_whole(e) && (r->trip_ns == USK_NONE || trip(e) < r->trip_ns)) {
			r->trip_ns = trip(e);
		}
	}
}

static usk_i128 width(const struct usk_three_stamps *s)
{
	return (usk_i128)s->after - s->before;
}

/* Is this the best burst so far? One with a good pair is better than any without. */
static void judge(struct burst *b)
{
	struct usk_probe_round *r = b->round;
	struct usk_three_stamps stamps;
	count(b);
	if (!usk_probe_stamps(b->c->asked, b->c->n, b->how->skew_e12, &stamps)) {
		return;
	}
	struct usk_probe_exchange kept[USK_PROBE_BURST + 1];
	size_t n = keep(b, kept);
	bool spaced = n > 0;
	if (r->known && !spaced && width(&stamps) >= width(&r->stamps)) {
		return;
	}
	if (!spaced) {
		n = keep_quickest(b, kept);
	}
	r->known = true;
	r->spaced = spaced;
	r->stamps = stamps;
	r->n_kept = n;
	memcpy(r->kept, kept, n * sizeof *kept);
}

/* False: what was learned so far, also in this burst, may be of other clocks than what comes. */
static bool same_clocks(struct burst *b)
{
	struct usk_probe_round *r = b->round;
	bool set = (!b->s->card && !usk_probe_steady(&b->c->steady)) || b->c->there_set;
	bool same = !set && !b->c->anew;
	r->set = r->set || set;
	r->anew = r->anew || b->c->anew;
	if (!same) {
		r->known = r->spaced = false;
		r->n_kept = 0;
	}
	b->c->there_set = b->c->anew = false;
	return same;
}

static bool try_once(struct burst *b)
{
	bool any = false;
	b->round->attempts++;
	b->again = b->s->refused = false;
	usk_probe_burst(b->c);
	if (!greet(b) || b->round->stopped) {
		return !b->round->stopped;
	}
	(void)same_clocks(b);
	for (size_t i = 0; i < b->how->burst; i++) {
		send_ask(b);
	}
	bool go_on = await(b, all_answered);
	for (size_t i = 0; i < b->c->n; i++) {
		any = any || b->c->asked[i].answered;
	}
	if (go_on && any && !b->again) {
		send_ask(b);
		go_on = await(b, all_answered);
	}
	if (same_clocks(b)) {
		drop_unstamped(b);
		judge(b);
	}
	/* Nobody answers: that may be a new server, which knows nothing of this session. */
	if (!any && !b->again) {
		b->c->open = false;
	}
	return go_on;
}

void usk_probe_round(struct usk_probe_client *c, struct usk_probe_socket *s,
		     const struct usk_probe_asking *how, struct usk_probe_round *out)
{
	struct burst b = { .c = c, .s = s, .how = how, .round = out };
	*out = (struct usk_probe_round){ .trip_ns = USK_NONE };
	for (size_t i = 0; i < how->attempts && !out->spaced; i++) {
		if (!try_once(&b)) {
			break;
		}
	}
	out->dropped = out->answered - out->n_kept;
}

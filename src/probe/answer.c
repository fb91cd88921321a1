/* SPDX-License-Identifier: MIT */
/*
 * answer.c - a server's loop: wait, answer, learn when answers left
 *
 * In    sockets, a server (server.c)
 * Out   answers; counts of what came
 * Not   what to answer
 */
#include "probe/socket.h"

#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

bool usk_probe_wait(const struct usk_probe_socket *s, size_t n, int stop_fd, int64_t until_ns)
{
	struct pollfd p[USK_PROBE_SOCKETS + 1];
	for (size_t i = 0; i < n; i++) {
		p[i] = (struct pollfd){ .fd = s[i].fd, .events = POLLIN };
	}
	p[n] = (struct pollfd){ .fd = stop_fd, .events = POLLIN };
	int64_t left = until_ns - usk_probe_mono_ns();
	left = left > 0 ? left : 0;
	struct timespec t = { .tv_sec = left / 1000000000, .tv_nsec = left % 1000000000 };
	(void)ppoll(p, n + 1, &t, NULL);
	return !(p[n].revents & POLLIN);
}

/* Answers whose departures are not known yet. */
enum { ON_THE_WAY = 64 };

struct on_the_way {
	bool waits;
	uint32_t number;
	uint8_t packet[USK_PROBE_BYTES];
	struct usk_probe_peer to;
};

struct serving {
	struct usk_probe_server *server;
	struct usk_probe_socket *s;
	struct on_the_way way[ON_THE_WAY];
	struct usk_probe_counts *counts;
	struct usk_probe_steady *steady; /* one for all */
};

/* After each stamp, before it goes anywhere: stamps of a clock before and after it was set must
 * not meet. */
static void look_at_clock(struct serving *v)
{
	if (!v->s->card && !usk_probe_steady(v->steady)) {
		usk_probe_server_set(v->server, usk_probe_mono_ns());
	}
}

static void take_departures(struct serving *v)
{
	uint32_t number;
	struct usk_probe_stamp at;
	while (usk_probe_departed(v->s, &number, &at)) {
		struct on_the_way *w = &v->way[number % ON_THE_WAY];
		look_at_clock(v);
		if (w->waits && w->number == number) {
			usk_probe_server_gone(v->server, w->packet, &w->to, at);
			v->counts->kind[1][at.kind]++;
			w->waits = false;
		}
	}
}

static void take_one(struct serving *v, const uint8_t *data, long n,
		     const struct usk_probe_from *from, struct usk_probe_stamp at)
{
	/* The card's clock cannot be read in passing; an answer leaves after its ask came. */
	struct usk_probe_stamp now = v->s->card ? at : usk_probe_now(v->s);
	look_at_clock(v);
	struct usk_probe_heard heard = { .data = data,
					 .n = (size_t)n,
					 .from = from->peer,
					 .received = at,
					 .before_ns = now.ns,
					 .now_ns = usk_probe_mono_ns() };
	uint8_t out[USK_PROBE_BYTES];
	/* A card that missed one: its clock and the kernel's do not mix. */
	if (v->s->card != (at.kind == USK_PROBE_CARD)) {
		v->counts->unsent++;
		return;
	}
	enum usk_probe_verdict verdict = usk_probe_serve(v->server, &heard, out);
	v->counts->verdict[verdict]++;
	if (verdict != USK_PROBE_ANSWERED && verdict != USK_PROBE_WELCOMED) {
		return;
	}
	v->counts->kind[0][at.kind]++;
	uint32_t number;
	if (!usk_probe_send(v->s, out, sizeof out, from, &number)) {
		v->counts->unsent++;
		return;
	}
	struct on_the_way *w = &v->way[number % ON_THE_WAY];
	*w = (struct on_the_way){ .waits = true, .number = number, .to = from->peer };
	memcpy(w->packet, out, sizeof out);
	take_departures(v);
}

/* So many at most before the other sockets and the end have their turn. */
enum { AT_ONCE = 256 };

static void take_arrivals(struct serving *v)
{
	uint8_t data[USK_PROBE_BYTES + 1];
	struct usk_probe_from from;
	struct usk_probe_stamp at;
	take_departures(v);
	for (int i = 0; i < AT_ONCE; i++) {
		long n = usk_probe_receive(v->s, data, sizeof data, &from, &at);
		if (n < 0) {
			break;
		}
		take_one(v, data, n, &from, at);
	}
}

void usk_probe_answer(struct usk_probe_server *server, struct usk_probe_socket *s, size_t n,
		      int stop_fd, int64_t until_ns, struct usk_probe_counts *counts)
{
	struct serving *v = usk_alloc(n, sizeof *v);
	struct usk_probe_steady steady = { .has = false };
	for (size_t i = 0; i < n; i++) {
		v[i].server = server;
		v[i].s = &s[i];
		v[i].counts = counts;
		v[i].steady = &steady;
	}
	while (usk_probe_wait(s, n, stop_fd, until_ns) && usk_probe_mono_ns() < until_ns) {
		for (size_t i = 0; i < n; i++) {
			take_arrivals(&v[i]);
		}
	}
	free(v);
}

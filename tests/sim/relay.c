/* SPDX-License-Identifier: MIT */
/*
 * relay.c - a bad network between two programs: relay PORT HOST HOSTPORT SEED SECONDS [FROM
 * FOR|slow]
 *
 * In    datagrams to 127.0.0.1 PORT, and the answers of HOST HOSTPORT to them
 * Out   the same for the other side, or lost, late by 50 ms, out of order, twice, long after,
 *       changed, cut short, or sent back to where it came from
 * Why   a bound must hold whatever lies between; nothing passes FOR seconds from second FROM on; or
 *       nothing but late and out of order for most
 *
 * Prints what it did to how many.
 */
#include "base/base.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { ROOM = 256, WAITING = 1024, OLD = 64 };

enum fault { LOST, LATE, REORDERED, REPLAYED, CHANGED, CUT, REFLECTED, SILENT, PASSED, FAULTS };

static const char *const names[] = { "lost",	  "late",      "reordered", "replayed", "changed",
				     "cut short", "sent back", "kept back", "passed" };

/* Chance in 100 of each but the last two. */
static const unsigned bad[REFLECTED + 1] = { 8, 8, 8, 8, 5, 5, 3 };
static const unsigned slow[REFLECTED + 1] = { [LATE] = 30, [REORDERED] = 50 };

struct datagram {
	uint8_t data[ROOM];
	size_t n;
	bool up; /* to HOST */
};

struct relay {
	int down, up;
	struct sockaddr_in client;
	struct usk_rng rng;
	struct {
		struct datagram d;
		int64_t due_ns; /* 0: free */
	} waiting[WAITING];
	struct datagram old[OLD];
	size_t n_old;
	const unsigned *chance;
	uint64_t count[FAULTS];
	int64_t silent_from, silent_to;
};

static int64_t now_ns(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void deliver(const struct relay *r, const struct datagram *d, bool up)
{
	ssize_t sent;
	if (up) {
		sent = send(r->up, d->data, d->n, MSG_DONTWAIT);
	} else {
		sent = sendto(r->down, d->data, d->n, MSG_DONTWAIT,
			      (const struct sockaddr *)&r->client, sizeof r->client);
	}
	(void)sent; /* lost, then */
}

static void later(struct relay *r, const struct datagram *d, int64_t by_ns)
{
	for (size_t i = 0; i < WAITING; i++) {
		if (!r->waiting[i].due_ns) {
			r->waiting[i].d = *d;
			r->waiting[i].due_ns = now_ns() + by_ns;
			return;
		}
	}
}

static void deliver_due(struct relay *r)
{
	int64_t now = now_ns();
	for (size_t i = 0; i < WAITING; i++) {
		if (r->waiting[i].due_ns && r->waiting[i].due_ns <= now) {
			deliver(r, &r->waiting[i].d, r->waiting[i].d.up);
			r->waiting[i].due_ns = 0;
		}
	}
}

static void remember(struct relay *r, const struct datagram *d)
{
	size_t at = r->n_old < OLD ? r->n_old++ : usk_rng_below(&r->rng, OLD);
	r->old[at] = *d;
}

static void spoil(struct relay *r, struct datagram *d)
{
	/* A bit, or a whole number: stamps that are off by a second, say. */
	size_t at = usk_rng_below(&r->rng, d->n);
	if (usk_rng_below(&r->rng, 2) || at + 8 > d->n) {
		d->data[at] ^= (uint8_t)(1 << usk_rng_below(&r->rng, 8));
	} else {
		uint64_t x = usk_rng_next(&r->rng);
		memcpy(d->data + at, &x, sizeof x);
	}
}

static enum fault draw(struct relay *r)
{
	int64_t now = now_ns();
	if (now >= r->silent_from && now < r->silent_to) {
		return SILENT;
	}
	uint64_t x = usk_rng_below(&r->rng, 100);
	for (size_t i = 0; i <= REFLECTED; i++) {
		if (x < r->chance[i]) {
			return (enum fault)i;
		}
		x -= r->chance[i];
	}
	return PASSED;
}

static void treat(struct relay *r, struct datagram d)
{
	enum fault fault = d.n ? draw(r) : LOST;
	r->count[fault]++;
	switch (fault) {
	case LATE:
		later(r, &d, 50000000);
		break;
	case REORDERED:
		later(r, &d, (int64_t)usk_rng_below(&r->rng, 2000000));
		break;
	case REPLAYED:
		deliver(r, &d, d.up);
		if (r->n_old) {
			const struct datagram *old = &r->old[usk_rng_below(&r->rng, r->n_old)];
			deliver(r, old, old->up);
		}
		break;
	case CHANGED:
		spoil(r, &d);
		deliver(r, &d, d.up);
		break;
	case CUT:
		d.n = usk_rng_below(&r->rng, d.n);
		deliver(r, &d, d.up);
		break;
	case REFLECTED:
		deliver(r, &d, !d.up);
		deliver(r, &d, d.up);
		break;
	case PASSED:
		deliver(r, &d, d.up);
		break;
	default:
		break;
	}
	remember(r, &d);
}

static void receive(struct relay *r, bool up)
{
	struct datagram d = { .up = up };
	struct sockaddr_in from;
	socklen_t n_from = sizeof from;
	ssize_t n;
	while ((n = recvfrom(up ? r->down : r->up, d.data, sizeof d.data, MSG_DONTWAIT,
			     (struct sockaddr *)&from, &n_from)) >= 0) {
		d.n = (size_t)n;
		if (up) {
			r->client = from;
		}
		treat(r, d);
		n_from = sizeof from;
	}
}

static struct sockaddr_in address(const char *host, const char *port)
{
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(port)) };
	if (inet_pton(AF_INET, host, &a.sin_addr) != 1) {
		fprintf(stderr, "relay: %s is no address\n", host);
		exit(2);
	}
	return a;
}

int main(int argc, char **argv)
{
	if (argc < 6 || argc > 8 || (argc == 7 && strcmp(argv[6], "slow"))) {
		fprintf(stderr, "usage: relay PORT HOST HOSTPORT SEED SECONDS [FROM FOR|slow]\n");
		return 2;
	}
	static struct relay r;
	struct sockaddr_in here = address("127.0.0.1", argv[1]), there = address(argv[2], argv[3]);
	usk_rng_seed(&r.rng, strtoull(argv[4], NULL, 10));
	int64_t begun = now_ns(), end = begun + atoll(argv[5]) * 1000000000;
	r.chance = argc == 7 ? slow : bad;
	if (argc == 8) {
		r.silent_from = begun + atoll(argv[6]) * 1000000000;
		r.silent_to = r.silent_from + atoll(argv[7]) * 1000000000;
	}
	r.down = socket(AF_INET, SOCK_DGRAM, 0);
	r.up = socket(AF_INET, SOCK_DGRAM, 0);
	if (r.down < 0 || r.up < 0 || bind(r.down, (struct sockaddr *)&here, sizeof here) ||
	    connect(r.up, (struct sockaddr *)&there, sizeof there)) {
		perror("relay");
		return 1;
	}
	while (now_ns() < end) {
		struct pollfd p[] = { { r.down, POLLIN, 0 }, { r.up, POLLIN, 0 } };
		/* What waits is due within a few ms at the earliest worth caring for. */
		poll(p, 2, 1);
		receive(&r, true);
		receive(&r, false);
		deliver_due(&r);
	}
	for (int i = 0; i < FAULTS; i++) {
		printf("%s%llu %s", i ? ", " : "relay: ", (unsigned long long)r.count[i], names[i]);
	}
	putchar('\n');
	return 0;
}

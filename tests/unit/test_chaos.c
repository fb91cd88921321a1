/* SPDX-License-Identifier: MIT */
/*
 * Connections that no stack would make: everything is resent, cut anew, lost, doubled, delayed
 * and said again at random. Both captures are complete for what their own host sends; then no
 * message may be wrong, whatever is missing.
 */
#include "../part.h"
#include "scene.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { MSS = 1448, STEPS = 1500, FLOWS = 3 };

struct chaos {
	struct scene scene;
	struct usk_rng rng;
	unsigned loss, twice; /* per cent */
	int64_t delay_ns;
	uint32_t next[FLOWS][2];
	struct {
		uint32_t seq, bytes;
	} past[FLOWS][2][16];
	unsigned n_past[FLOWS][2];
};

static uint64_t below(struct chaos *c, uint64_t n)
{
	return usk_rng_below(&c->rng, n);
}

/* What is seen at the other end: nothing, once or twice; each is a true message. */
static void arrive(struct chaos *c, int from, int64_t sent, struct packet p)
{
	unsigned times = below(c, 100) < c->loss ? 0 : below(c, 100) < c->twice ? 2 : 1;
	for (; times; times--) {
		int64_t at =
			sent + 20000 + (int64_t)usk_rng_exponential(&c->rng, (double)c->delay_ns);
		scene_see(&c->scene, !from, at, &p);
		scene_allow(&c->scene, from, sent, at);
	}
}

static void send(struct chaos *c, int from, int64_t t, struct packet p)
{
	unsigned pieces = p.proto == TCP ? (p.payload + MSS - 1) / MSS : 1;
	p.ip_id = 0;
	scene_see(&c->scene, from, t, &p);
	if (pieces < 2) {
		arrive(c, from, t, p);
		return;
	}
	/* IP-ID counts on, and so does the host's next packet. */
	uint32_t left = p.payload;
	for (unsigned i = 0; i < pieces; i++) {
		struct packet q = p;
		q.seq += i * MSS;
		q.payload = left < MSS ? left : MSS;
		left -= q.payload;
		q.ip_id = (uint16_t)(p.ip_id ? p.ip_id + i : 0);
		arrive(c, from, t, q);
	}
	c->scene.id[from] = (uint16_t)(c->scene.id[from] + pieces - 1);
}

static void step(struct chaos *c, int64_t t)
{
	static const uint32_t lengths[] = { 1, 100, MSS, MSS, 10 * MSS, 3000, 0 };
	int from = (int)below(c, 2);
	unsigned f = (unsigned)below(c, FLOWS);
	unsigned *n = &c->n_past[f][from];
	struct packet p = scene_tcp(&c->scene, from, t, c->next[f][from],
				    c->next[f][!from] - (uint32_t)below(c, 3) * 100, 0);
	*(from ? &p.dport : &p.sport) = (uint16_t)(40000 + f);
	switch (below(c, 8)) {
	case 0: /* something of before again, as it was or in another cut */
		if (*n) {
			unsigned k = (unsigned)below(c, *n < 16 ? *n : 16);
			p.seq = c->past[f][from][k].seq;
			p.payload = c->past[f][from][k].bytes;
			if (below(c, 2)) {
				p.seq += (uint32_t)below(c, p.payload);
				p.payload = 1 + (uint32_t)below(c, 2 * MSS);
			}
		}
		break;
	case 1: /* an acknowledgement of often the same byte */
	case 2:
		p.ack = c->next[f][!from] & ~UINT32_C(4095);
		p.timestamps = !c->scene.no_ticks;
		p.tsval &= ~UINT32_C(15);
		break;
	case 3: /* datagrams of few contents, and of many */
		p = scene_udp(&c->scene, from, below(c, 2) ? below(c, 4) : usk_rng_next(&c->rng));
		break;
	default:
		p.payload = lengths[below(c, COUNT(lengths))];
		if (p.payload) {
			c->past[f][from][*n % 16].seq = p.seq;
			c->past[f][from][*n % 16].bytes = p.payload;
			*n += 1;
			c->next[f][from] += p.payload;
		}
		break;
	}
	send(c, from, t, p);
}

static void test_chaos(void **state)
{
	(void)state;
	for (uint64_t seed = case_first(96); seed < case_end(96); seed++) {
		struct chaos *c = usk_alloc(1, sizeof *c);
		char what[100];
		usk_rng_seed(&c->rng, seed);
		c->scene.no_ids = seed & 1;
		c->scene.no_ticks = seed & 2;
		c->scene.v6 = (seed & 5) == 5;
		c->scene.snap = seed & 8 ? 68 : 0;
		c->scene.offset_ns = seed & 16 ? -3600 * SECOND : 0;
		c->loss = (unsigned)(seed % 3) * 10;
		c->twice = (unsigned)(seed % 5) * 3;
		/* From 10 us, where all is in order, to 20 ms, where nothing is. */
		c->delay_ns = seed % 7 < 3 ? 10000 : seed % 7 < 5 ? 500000 : 20 * MS;
		c->scene.eye[0].local = c->scene.v6 ? "fd00::a00:1" : "10.0.0.1";
		c->scene.eye[1].local = c->scene.v6 ? "fd00::a00:2" : "10.0.0.2";
		for (unsigned f = 0; f < FLOWS; f++) {
			c->next[f][0] = (uint32_t)usk_rng_next(&c->rng);
			c->next[f][1] = (uint32_t)usk_rng_next(&c->rng);
		}
		int64_t t = START;
		for (int i = 0; i < STEPS; i++) {
			t += 1 + (int64_t)usk_rng_exponential(&c->rng, 1e6);
			step(c, t);
		}
		snprintf(what, sizeof what, "seed %llu", (unsigned long long)seed);
		scene_check(&c->scene, what);
		/* And it is not by finding nothing. */
		assert_true(c->scene.n_got * 5 > c->scene.n_may);
		scene_free(&c->scene);
		free(c);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_chaos) };
	return cmocka_run_group_tests(tests, NULL, NULL);
}

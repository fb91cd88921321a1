/* SPDX-License-Identifier: MIT */
/*
 * Packets of probes, for either side: pieces of a length byte and as many bytes. As they are, and
 * with the session, sequence and tag put right, so that what is behind those is reached, too.
 */
#include "probe/probe.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct usk_probe_key no_key;

static void check_wire(const uint8_t *data, size_t n)
{
	struct usk_probe_packet p;
	uint8_t again[USK_PROBE_BYTES];
	if (usk_probe_decode(data, n, &p)) {
		usk_probe_encode(&p, again);
		if (n != sizeof again || memcmp(again, data, sizeof again - USK_PROBE_TAG)) {
			abort();
		}
	}
}

static void check_answer(const uint8_t out[USK_PROBE_BYTES], enum usk_probe_verdict verdict)
{
	struct usk_probe_packet p;
	bool answered = verdict == USK_PROBE_ANSWERED || verdict == USK_PROBE_WELCOMED;
	if (answered &&
	    (!usk_probe_decode(out, USK_PROBE_BYTES, &p) || !usk_probe_sealed(&no_key, out) ||
	     p.type == USK_PROBE_ASK || p.type == USK_PROBE_HELLO)) {
		abort();
	}
}

static void check_client(const struct usk_probe_client *c)
{
	struct usk_three_stamps s;
	if (usk_probe_stamps(c->asked, c->n, 500000000, &s)) {
		struct usk_probe_track t = { .allowance_e12 = 1000000,
					     .skew_e12 = 500000000,
					     .max_age_ns = INT64_C(100000000000),
					     .period_ns = INT64_C(2000000000) };
		struct usk_live_time at;
		usk_probe_track_add(&t, &s);
		if (t.has && usk_live_map_at(&t.map, s.remote, &at) == USK_LIVE &&
		    ((usk_i128)at.local + at.precision < s.after ||
		     (usk_i128)at.local - at.precision > s.before)) {
			abort();
		}
	}
	for (size_t i = 1; i < c->n; i++) {
		(void)usk_probe_spaced(&c->asked[i - 1], &c->asked[i], 10000);
	}
}

static void try_server(struct usk_probe_server *server, const uint8_t *data, size_t n, int64_t now)
{
	uint8_t out[USK_PROBE_BYTES];
	struct usk_probe_heard heard = { .data = data,
					 .n = n,
					 .from = { { 0, n }, 7 },
					 .received = { now, USK_PROBE_KERNEL },
					 .before_ns = now + 1,
					 .now_ns = now };
	enum usk_probe_verdict verdict = usk_probe_serve(server, &heard, out);
	check_answer(out, verdict);
	if (verdict == USK_PROBE_ANSWERED) {
		struct usk_probe_stamp gone = { now + 2, USK_PROBE_KERNEL };
		usk_probe_server_gone(server, out, &heard.from, gone);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct usk_probe_server *server = usk_probe_server_new(&no_key, 1000, 1000);
	struct usk_probe_client c;
	uint8_t packet[USK_PROBE_BYTES], piece[256];
	int64_t now = 1000;
	usk_probe_client_init(&c, &no_key);
	usk_probe_hello(&c, packet);
	try_server(server, packet, sizeof packet, now);
	while (size) {
		size_t n = data[0] < size - 1 ? data[0] : size - 1;
		memcpy(piece, data + 1, n);
		data += n + 1;
		size -= n + 1;
		check_wire(piece, n);
		try_server(server, piece, n, ++now);
		(void)usk_probe_take(&c, piece, n,
				     (struct usk_probe_stamp){ now, USK_PROBE_KERNEL });
		if (n != USK_PROBE_BYTES) {
			continue;
		}
		usk_probe_burst(&c);
		usk_probe_ask(&c, (struct usk_probe_stamp){ now, USK_PROBE_KERNEL }, packet);
		memcpy(piece + 8, packet + 8, 24); /* session and sequence */
		usk_probe_seal(&no_key, piece);
		try_server(server, piece, n, ++now);
		struct usk_probe_stamp t4 = { now + 100, USK_PROBE_KERNEL };
		(void)usk_probe_take(&c, piece, n, t4);
		check_client(&c);
	}
	usk_probe_server_free(server);
	return 0;
}

/* SPDX-License-Identifier: MIT */
#include "heard.h"
#include "../fence.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define CLIENT UINT32_C(0x0a000001)
#define SERVER UINT32_C(0xc0000201)

static struct usk_listener *listener, *twin;
const struct usk_reading *got;
size_t n_got;
enum usk_side side;
const char *padding = "";

void listen_for(const char *protocols)
{
	struct usk_err err;
	uint32_t rows;
	usk_listener_free(listener);
	usk_listener_free(twin);
	assert_int_equal(usk_protocols_parse(protocols, &rows, &err), USK_OK);
	listener = usk_listener_new(rows);
	twin = usk_listener_new(rows);
}

/* What lies in memory behind a packet that was cut is not part of it: a twin that has the rest of
 * it there hears the same. The listener has it of its own size, so that a sanitizer sees who reads
 * beyond. */
void hear_frame(const struct bytes *b, size_t cut, struct usk_record r, uint16_t link)
{
	const size_t n = b->n < cut ? b->n : cut;
	size_t row, n_too;
	r.captured = (uint32_t)n;
	r.length = r.length ? r.length : (uint32_t)b->n;
	r.data = b->data;
	const struct usk_reading *too = usk_listen(twin, &r, link, &row, &n_too);
	uint8_t *copy = fence_new(b->data, n);
	r.data = copy;
	got = usk_listen(listener, &r, link, &row, &n_got);
	fence_free(copy, n);
	assert_int_equal(n_got, n_too);
	for (size_t i = 0; i < n_got; i++) {
		assert_int_equal(got[i].told, too[i].told);
		assert_int_equal(got[i].our_ns, too[i].our_ns);
		assert_int_equal(got[i].clock_ns, too[i].clock_ns);
		assert_int_equal(got[i].quantum_ns, too[i].quantum_ns);
		assert_string_equal(got[i].of, too[i].of);
	}
}

/* One packet, as much of it as cut leaves, seen at ns. */
void hear_cut(bool answer, uint8_t proto, uint16_t client_port, uint16_t server_port,
	      const struct bytes *payload, int64_t ns, size_t cut)
{
	struct bytes b = { .big = true };
	uint32_t header = proto == TCP ? 20 : 8;
	put16(&b, 0x4500);
	put16(&b, (unsigned)(20 + header + payload->n));
	put32(&b, 0x10000);
	put8(&b, 64);
	put8(&b, proto);
	put16(&b, 0);
	put32(&b, answer ? SERVER : CLIENT);
	put32(&b, answer ? CLIENT : SERVER);
	put16(&b, answer ? server_port : client_port);
	put16(&b, answer ? client_port : server_port);
	if (proto == TCP) {
		put64(&b, 0);
		put16(&b, 0x5018);
		put_zeros(&b, 6);
	} else {
		put16(&b, (unsigned)(8 + payload->n));
		put16(&b, 0);
	}
	put(&b, payload->data, payload->n);
	put(&b, padding, strlen(padding));
	hear_frame(&b, cut, (struct usk_record){ .time_ns = ns, .side = side }, LINK_RAW);
	bytes_free(&b);
}

void hear(bool answer, uint8_t proto, uint16_t client_port, uint16_t server_port,
	  const struct bytes *payload, int64_t ns)
{
	hear_cut(answer, proto, client_port, server_port, payload, ns, SIZE_MAX);
}

void expect_reading(size_t i, bool told, int64_t our_ns, int64_t clock_ns)
{
	assert_true(i < n_got);
	assert_int_equal(got[i].told, told);
	assert_int_equal(got[i].our_ns, our_ns);
	assert_int_equal(got[i].clock_ns, clock_ns);
}

int stop_listening(void **state)
{
	(void)state;
	usk_listener_free(listener);
	usk_listener_free(twin);
	return 0;
}

/* SPDX-License-Identifier: MIT */
/* OTLP as protobuf: any bytes, bare or behind a length, and behind a span that shows what they are; and
 * where lengths and stamps are said to stand, they stand. */
#include "trace.h"
#include "base/protobuf.h"
#include "read/read.h"

#include <stdlib.h>
#include <string.h>

/* A TracesData of one span: ids, start and end. */
static const uint8_t span[] = "\x0a\x32\x12\x30\x12\x2e\x0a\x10\1\2\3\4\5\6\7\x08\1\2\3\4\5\6\7\x08"
			      "\x12\x08\1\2\3\4\5\6\7\x08\x39\0\0\0\0\0\0\0\1\x41\0\0\0\0\0\0\1\1";
enum { SPAN = sizeof span - 1, HEAD = 4, STAMP = 8 };

static void put_length(uint8_t *d, size_t n)
{
	for (size_t i = 0; i < HEAD; i++) {
		d[i] = (uint8_t)(n >> 8 * (HEAD - 1 - i));
	}
}

/* ---- places -------------------------------------------------------------------------------- */

/* A varint that says how long the message behind it is. */
static void check_length(const struct fuzz_bytes *b, const struct usk_place *p)
{
	uint8_t bytes[USK_VARINT_LONGEST];
	const size_t n = (size_t)(p->to - p->from);
	if (!n || n > sizeof bytes || usk_wire_varint((uint64_t)p->ns, n, bytes) != n ||
	    memcmp(bytes, b->data + p->from, n) != 0) {
		abort();
	}
}

static void check_place(const struct fuzz_bytes *b, const struct usk_place *p)
{
	const uint64_t n = p->to - p->from;
	uint8_t head[HEAD];
	switch (p->kind) {
	case USK_PLACE_LENGTH:
		check_length(b, p);
		break;
	case USK_PLACE_LENGTH_32:
		put_length(head, (size_t)p->ns);
		if (n != HEAD || memcmp(head, b->data + p->from, HEAD) != 0) {
			abort();
		}
		break;
	case USK_PLACE_EVENT: /* one that cannot be read stands nowhere */
		if (n != STAMP && (n || p->ns != USK_NONE)) {
			abort();
		}
		break;
	case USK_PLACE_LAST:
	case USK_PLACE_RECORDED:
		if (n) {
			abort();
		}
		break;
	default:
		if (n != STAMP) {
			abort();
		}
	}
}

static void check_places(const struct fuzz_bytes *b, const struct usk_place *p, size_t n)
{
	size_t lengths = 0;
	while (lengths < n && p[lengths].kind >= USK_PLACE_LENGTH) {
		lengths++;
	}
	if (lengths < 2 ||
	    p[n - 1].kind != USK_PLACE_LAST) { /* its own, and one that it stands in */
		abort();
	}
	for (size_t i = 0; i < n; i++) {
		check_place(b, &p[i]);
	}
}

static void look(const uint8_t *data, size_t size)
{
	fuzz_trace(data, size, "otlp");
	fuzz_places(data, size, true, check_places);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	look(data, size);
	uint8_t *all = malloc(HEAD + SPAN + HEAD + size);
	if (!all) {
		return 0;
	}
	put_length(all, SPAN);
	memcpy(all + HEAD, span, SPAN);
	put_length(all + HEAD + SPAN, size);
	memcpy(all + HEAD + SPAN + HEAD, data, size);
	look(all, HEAD + SPAN + HEAD + size);
	memmove(all, all + HEAD, SPAN);
	memcpy(all + SPAN, data, size);
	look(all, SPAN + size);
	free(all);
	return 0;
}

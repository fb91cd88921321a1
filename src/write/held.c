/* SPDX-License-Identifier: MIT */
#include "write/held.h"
#include "base/protobuf.h"

#include <stdlib.h>
#include <string.h>

enum { PIECE = 1 << 14, WIDTH_32 = 4 };

struct mark {
	struct usk_length was;
	uint64_t before; /* so many bytes that are held */
	uint64_t grown;
	size_t in; /* the one that it stands in; its own number: none */
};

struct usk_held {
	struct usk_spool *spool; /* pieces that are full; NULL: none is yet */
	uint8_t piece[PIECE];
	size_t n;	     /* bytes in the last piece */
	uint8_t read[PIECE]; /* one that was full, again: */
	uint64_t of;	     /* its number + 1; 0: none */
	struct mark *mark;   /* of all that began, in order */
	size_t n_marks, cap_marks;
	size_t depth, open; /* the one that began last */
};

struct usk_held *usk_held_new(void)
{
	return usk_alloc(1, sizeof(struct usk_held));
}

void usk_held_free(struct usk_held *h)
{
	if (h) {
		usk_spool_free(h->spool);
		free(h->mark);
	}
	free(h);
}

static uint64_t pieces(const struct usk_held *h)
{
	return h->spool ? usk_spool_count(h->spool, 0) : 0;
}

void usk_held_open(struct usk_held *h, struct usk_length was)
{
	const size_t k = h->n_marks;
	*USK_ADD(h->mark, h->n_marks, h->cap_marks) =
		(struct mark){ was, pieces(h) * PIECE + h->n, 0, h->depth++ ? h->open : k };
	h->open = k;
}

void usk_held_close(struct usk_held *h)
{
	h->open = h->mark[h->open].in;
	h->depth--;
}

size_t usk_held_depth(const struct usk_held *h)
{
	return h->depth;
}

void usk_held_grow(struct usk_held *h, uint64_t bytes)
{
	h->mark[h->open].grown += bytes;
}

enum usk_status usk_held_put(struct usk_held *h, const void *data, size_t n, struct usk_err *err)
{
	const uint8_t *from = data;
	enum usk_status status = USK_OK;
	while (n && !status) {
		const size_t room = PIECE - h->n, m = n < room ? n : room;
		memcpy(h->piece + h->n, from, m);
		h->n += m;
		from += m;
		n -= m;
		if (h->n == PIECE) {
			h->spool = h->spool ? h->spool : usk_spool_new(PIECE, 1);
			status = usk_spool_put(h->spool, 0, h->piece, err);
			h->n = 0;
		}
	}
	return status;
}

/* ---- out ---------------------------------------------------------------------------------- */

/* The length as it has to be; *n bytes. */
static enum usk_status length(const struct mark *m, uint8_t out[USK_VARINT_LONGEST], size_t *n,
			      struct usk_err *err)
{
	const uint64_t value = m->was.value + m->grown;
	if (value < m->grown || (m->was.fixed && value > UINT32_MAX)) {
		return usk_fail(
			err, USK_ERANGE, m->was.at,
			"with corrected stamps the message whose length stands at byte %llu "
			"would be longer than that can say",
			(unsigned long long)m->was.at);
	}
	*n = m->was.width;
	for (size_t i = 0; m->was.fixed && i < WIDTH_32; i++) {
		out[i] = (uint8_t)(value >> 8 * (WIDTH_32 - 1 - i));
	}
	if (!m->was.fixed) {
		*n = usk_wire_varint(value, m->was.width, out);
	}
	return USK_OK;
}

/* Inner ones first: a longer length makes the outer message longer, too. */
static enum usk_status settle(struct usk_held *h, struct usk_err *err)
{
	uint8_t bytes[USK_VARINT_LONGEST];
	enum usk_status status = USK_OK;
	for (size_t k = h->n_marks; k-- > 0 && !status;) {
		const struct mark *m = &h->mark[k];
		size_t n = 0;
		status = length(m, bytes, &n, err);
		if (!status && m->in != k) {
			h->mark[m->in].grown += m->grown + n - m->was.width;
		}
	}
	return status;
}

/* Bytes [from..to) of those that are held. */
static enum usk_status write_some(struct usk_held *h, uint64_t from, uint64_t to,
				  struct usk_output *out, struct usk_err *err)
{
	const uint64_t full = pieces(h) * PIECE;
	enum usk_status status = USK_OK;
	while (from < to && !status) {
		const size_t in = (size_t)(from % PIECE);
		const uint64_t left = to - from;
		const size_t n = left < PIECE - in ? (size_t)left : PIECE - in;
		if (from < full && h->of != from / PIECE + 1) {
			status = usk_spool_get(h->spool, 0, from / PIECE, h->read, 1, err);
			h->of = from / PIECE + 1;
		}
		usk_output_write(out, (from < full ? h->read : h->piece) + in, status ? 0 : n);
		from += n;
	}
	return status;
}

enum usk_status usk_held_write(struct usk_held *h, struct usk_output *out, struct usk_err *err)
{
	uint8_t bytes[USK_VARINT_LONGEST];
	uint64_t at = 0;
	enum usk_status status = settle(h, err);
	for (size_t k = 0; k < h->n_marks && !status; k++) {
		const struct mark *m = &h->mark[k];
		size_t n = 0;
		status = write_some(h, at, m->before, out, err);
		status = status ? status : length(m, bytes, &n, err);
		usk_output_write(out, bytes, n);
		at = m->before;
	}
	status = status ? status : write_some(h, at, pieces(h) * PIECE + h->n, out, err);
	h->n_marks = h->n = 0;
	h->of = 0;
	if (!status && h->spool) {
		status = usk_spool_cut(h->spool, 0, 0, err);
	}
	return status;
}

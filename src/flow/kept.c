/* SPDX-License-Identifier: MIT */
/*
 * kept.c - messages of pairs, kept in few bytes while they are read
 *
 * In    messages of pairs, a batch at a time; where a pair's begin anew
 * Out   the same ones once more, in the order in which they came
 * Why   who wants messages beside the answer needs both, and traces that are read and matched once
 *       more for it take as long as all else together
 * Not   the length of a message, which nobody asks for who gets them here
 *
 * A row of 8 bytes is a message: by how much b's stamp, and how far a's is from it, differ from
 * those of the message of its pair before (of its pair and direction). What does not fit is a row
 * that says so and two more with both stamps. Rows beyond some MB are in a temporary file.
 */
#include "flow/kept.h"

#include "base/io.h"

#include <stdlib.h>
#include <string.h>

/* x: twice how far b's stamp moved, folded to be no less than 0, and the direction. */
struct row {
	uint32_t x, y;
};

/* Values of x that are no message: y says of which pair the next rows are, or which direction the
 * message has whose stamps the next two rows are. */
static const uint32_t OF_PAIR = UINT32_MAX, STAMPS = UINT32_MAX - 1, MOST_X = UINT32_MAX - 2;

enum { PIECE = 2048, BATCH = 512 }; /* rows, messages */

/* In memory, and in all. */
static const size_t in_memory = (size_t)16 << 20;
static const uint64_t most_rows = UINT64_C(1) << 27; /* 1 GiB */

/* Where a pair's last message stands. */
struct place {
	uint64_t b, behind[2]; /* behind: a's stamp less b's, by direction */
};

struct usk_kept {
	struct usk_spool *spool; /* pieces that are full; NULL: too many, or no file for them */
	struct row piece[PIECE];
	uint64_t n;	      /* rows in all */
	struct place *place;  /* by number of pair, while they come */
	uint64_t *from;	      /* the row that a pair's messages begin at */
	size_t n_pairs, pair; /* pair: of the next rows; n_pairs: none yet */
};

struct usk_kept *usk_kept_new(size_t n_pairs)
{
	struct usk_kept *k = usk_alloc(1, sizeof *k);
	k->spool = usk_spool_new(sizeof k->piece, 1);
	usk_spool_limit(k->spool, in_memory);
	k->place = usk_alloc(n_pairs + 1, sizeof *k->place);
	k->from = usk_alloc(n_pairs + 1, sizeof *k->from);
	k->n_pairs = k->pair = n_pairs;
	return k;
}

void usk_kept_free(struct usk_kept *k)
{
	if (k) {
		usk_spool_free(k->spool);
		USK_FREE(k->place, k->from, k);
	}
}

bool usk_kept_all(const struct usk_kept *k)
{
	return k->spool;
}

void usk_kept_begin(struct usk_kept *k, size_t pair)
{
	k->place[pair] = (struct place){ 0 };
	k->from[pair] = k->n;
}

/* ---- while they come ------------------------------------------------------------------- */

static void put_row(struct usk_kept *k, uint32_t x, uint32_t y)
{
	k->piece[k->n++ % PIECE] = (struct row){ x, y };
	if (k->n % PIECE == 0 && k->spool &&
	    (k->n > most_rows || usk_spool_put(k->spool, 0, k->piece, NULL))) {
		usk_spool_free(k->spool);
		k->spool = NULL;
	}
}

static void put_stamps(struct usk_kept *k, uint64_t b, uint64_t a, bool back)
{
	put_row(k, STAMPS, back);
	put_row(k, (uint32_t)(b >> 32), (uint32_t)b);
	put_row(k, (uint32_t)(a >> 32), (uint32_t)a);
}

/* 0, -1, 1, -2, ... as 0, 1, 2, 3, ... */
static uint64_t folded(uint64_t v)
{
	return v << 1 ^ (0 - (v >> 63));
}

static uint64_t unfolded(uint64_t v)
{
	return v >> 1 ^ (0 - (v & 1));
}

void usk_kept_add(struct usk_kept *k, size_t pair, uint32_t a, const struct usk_msg *msg, size_t n)
{
	struct place *p = &k->place[pair];
	if (k->pair != pair) {
		k->pair = pair;
		put_row(k, OF_PAIR, (uint32_t)pair);
	}
	for (size_t i = 0; i < n && k->spool; i++) {
		const struct usk_msg *m = &msg[i];
		bool back = m->from != a;
		uint64_t on_a = (uint64_t)(back ? m->received_ns : m->sent_ns);
		uint64_t on_b = (uint64_t)(back ? m->sent_ns : m->received_ns);
		uint64_t x = folded(on_b - p->b) << 1 | back;
		uint64_t y = folded(on_a - on_b - p->behind[back]);
		bool fits = x <= MOST_X && folded(on_b - p->b) <= MOST_X && y <= UINT32_MAX;
		p->b = on_b;
		p->behind[back] = on_a - on_b;
		if (fits) {
			put_row(k, (uint32_t)x, (uint32_t)y);
		} else {
			put_stamps(k, on_b, on_a, back);
		}
	}
}

/* ---- once more ------------------------------------------------------------------------- */

struct again {
	struct usk_kept *kept;
	usk_kept_take *take;
	void *ctx;
	const struct usk_kept_pair *of; /* by number of pair */
	size_t pair;
	struct usk_msg msg[BATCH];
	size_t n;
	unsigned left; /* rows of stamps that are still to come */
	bool back;     /* of these */
	uint64_t on_b; /* the first */
	bool stopped;
};

static void hand_over(struct again *g)
{
	g->stopped = g->stopped || (g->n && !g->take(g->ctx, g->pair, g->msg, g->n));
	g->n = 0;
}

static void message(struct again *g, uint64_t on_a, uint64_t on_b, bool back)
{
	const struct usk_kept_pair *of = &g->of[g->pair];
	struct place *p = &g->kept->place[g->pair];
	p->b = on_b;
	p->behind[back] = on_a - on_b;
	g->msg[g->n++] = (struct usk_msg){ .sent_ns = (int64_t)(back ? on_b : on_a),
					   .received_ns = (int64_t)(back ? on_a : on_b),
					   .from = back ? of->b : of->a,
					   .to = back ? of->a : of->b };
	if (g->n == BATCH) {
		hand_over(g);
	}
}

/* old: of messages that came again later. */
static void take_row(struct again *g, struct row r, bool old)
{
	if (g->left) {
		uint64_t stamp = (uint64_t)r.x << 32 | r.y;
		if (--g->left) {
			g->on_b = stamp;
		} else if (!old) {
			message(g, stamp, g->on_b, g->back);
		}
	} else if (r.x == OF_PAIR) {
		hand_over(g);
		g->pair = r.y;
	} else if (r.x == STAMPS) {
		g->left = 2;
		g->back = r.y;
	} else if (!old) {
		const struct place *p = &g->kept->place[g->pair];
		bool back = r.x & 1;
		uint64_t on_b = p->b + unfolded(r.x >> 1);
		message(g, on_b + p->behind[back] + unfolded(r.y), on_b, back);
	}
}

enum usk_status usk_kept_read(struct usk_kept *k, const struct usk_kept_pair *of,
			      usk_kept_take *take, void *ctx, struct usk_err *err)
{
	struct again *g = usk_alloc(1, sizeof *g);
	struct row *piece = usk_alloc(PIECE, sizeof *piece);
	enum usk_status status = USK_OK;
	*g = (struct again){ .kept = k, .take = take, .ctx = ctx, .of = of, .pair = k->n_pairs };
	memset(k->place, 0, k->n_pairs * sizeof *k->place);
	for (uint64_t i = 0; i < k->n && !status && !g->stopped; i += PIECE) {
		bool last = k->n - i < PIECE;
		size_t n = last ? (size_t)(k->n - i) : PIECE;
		const struct row *row = last ? k->piece : piece;
		status = last ? USK_OK : usk_spool_get(k->spool, 0, i / PIECE, piece, 1, err);
		for (size_t m = 0; m < n && !status; m++) {
			take_row(g, row[m], i + m < k->from[g->pair]);
		}
	}
	if (!status) {
		hand_over(g);
	}
	free(piece);
	free(g);
	return status;
}

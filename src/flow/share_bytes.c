/* SPDX-License-Identifier: MIT */
/*
 * share_bytes.c - surveys and fits of pairs as bytes, and back
 *
 * In    what one rank found out
 * Out   the same at another one
 * Why   both are one program: rows go as they lie in memory, and only what they point to is looked up
 * Not   who sends what to whom (share.c)
 */
#include "flow/share.h"

#include <stdlib.h>
#include <string.h>

void usk_bytes_put(struct usk_bytes *b, const void *data, size_t n)
{
	if (b->n + n > b->cap) {
		b->cap = (b->n + n) * 2;
		b->data = usk_grow(b->data, b->cap, 1);
	}
	if (n) {
		memcpy(b->data + b->n, data, n);
	}
	b->n += n;
}

bool usk_bytes_get(struct usk_bytes *b, void *out, size_t n)
{
	bool there = b->n - b->at >= n;
	if (there && n) {
		memcpy(out, b->data + b->at, n);
	}
	b->at += there ? n : 0;
	return there;
}

void usk_bytes_free(struct usk_bytes *b, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		free(b[i].data);
	}
	free(b);
}

static void put_rows(struct usk_bytes *b, const void *row, size_t n, size_t size)
{
	usk_bytes_put(b, &n, sizeof n);
	usk_bytes_put(b, row, n * size);
}

/* Never NULL: there is room for one row more, and nothing is in it. */
static void *get_rows(struct usk_bytes *b, size_t size, size_t *n, bool *good)
{
	*good = *good && usk_bytes_get(b, n, sizeof *n) && *n <= (b->n - b->at) / size;
	*n = *good ? *n : 0;
	void *row = usk_alloc(*n + 1, size);
	*good = *good && usk_bytes_get(b, row, *n * size);
	return row;
}

static void put_text(struct usk_bytes *b, const char *text)
{
	put_rows(b, text, text ? strlen(text) + 1 : 0, 1);
}

static char *get_text(struct usk_bytes *b, bool *good)
{
	size_t n;
	char *text = get_rows(b, 1, &n, good); /* ends with 0 */
	if (!n) {
		free(text);
	}
	return n ? text : NULL;
}

/* ---- surveys --------------------------------------------------------------------------------- */

void usk_bytes_put_survey(struct usk_bytes *b, const struct usk_survey *s, bool samples)
{
	usk_bytes_put(b, s, sizeof *s);
	put_rows(b, s->epochs.epoch, s->epochs.n, sizeof *s->epochs.epoch);
	put_rows(b, s->drops.drop, s->drops.n, sizeof *s->drops.drop);
	put_rows(b, s->sample, samples ? s->n_samples : 0, sizeof *s->sample);
	put_rows(b, s->way, samples ? s->n_ways : 0, sizeof *s->way);
}

bool usk_bytes_get_survey(struct usk_bytes *b, struct usk_survey *out, bool samples)
{
	bool good = usk_bytes_get(b, out, sizeof *out);
	if (!good) {
		*out = (struct usk_survey){ .n_samples = 0 };
	}
	out->part = NULL;
	out->n_parts = 0;
	out->epochs.epoch = get_rows(b, sizeof *out->epochs.epoch, &out->epochs.n, &good);
	out->drops.drop = get_rows(b, sizeof *out->drops.drop, &out->drops.n, &good);
	out->sample = get_rows(b, sizeof *out->sample, &out->n_samples, &good);
	out->way = get_rows(b, sizeof *out->way, &out->n_ways, &good);
	for (size_t i = 0; i < out->n_samples && good; i++) {
		good = !samples || out->sample[i].way < out->n_ways;
	}
	return good;
}

/* ---- fits -------------------------------------------------------------------------------------- */

/* Which of a clock's epochs its messages were of. */
static void put_epochs(struct usk_bytes *b, const struct party *y)
{
	put_rows(b, y->in_epoch, y->in_epoch ? y->survey.epochs.n + 1 : 0, sizeof *y->in_epoch);
}

static void get_epochs(struct usk_bytes *b, const struct party *y, bool *good)
{
	size_t n;
	bool *in = get_rows(b, sizeof *in, &n, good);
	*good = *good && n == (y->in_epoch ? y->survey.epochs.n + 1 : 0);
	for (size_t i = 0; i < n && *good; i++) {
		y->in_epoch[i] |= in[i];
	}
	free(in);
}

static void put_pair(struct usk_bytes *b, const struct usk_pair *k)
{
	usk_bytes_put(b, k, sizeof *k);
	put_rows(b, k->outlier, k->n_outliers, sizeof *k->outlier);
	put_rows(b, k->contradiction, k->n_contradiction, sizeof *k->contradiction);
	put_rows(b, k->floor, k->n_floor, sizeof *k->floor);
	put_rows(b, k->ceiling, k->n_ceiling, sizeof *k->ceiling);
}

static void get_pair(struct usk_bytes *b, struct usk_pair *k, bool *good)
{
	*good = *good && usk_bytes_get(b, k, sizeof *k);
	k->outlier = get_rows(b, sizeof *k->outlier, &k->n_outliers, good);
	k->contradiction = get_rows(b, sizeof *k->contradiction, &k->n_contradiction, good);
	k->floor = get_rows(b, sizeof *k->floor, &k->n_floor, good);
	k->ceiling = get_rows(b, sizeof *k->ceiling, &k->n_ceiling, good);
}

static void put_fitted(struct usk_bytes *b, const struct fitted *f)
{
	usk_bytes_put(b, f, sizeof *f);
	for (int side = 0; side < 2; side++) {
		put_rows(b, f->part.point[side], f->part.n[side], sizeof *f->part.point[side]);
	}
	put_rows(b, f->line, f->line ? f->n_line : 0, sizeof *f->line);
	put_rows(b, f->samples.msg, f->samples.n_msgs, sizeof *f->samples.msg);
	put_rows(b, f->samples.broadcasts, f->samples.n_broadcasts, sizeof *f->samples.broadcasts);
	put_text(b, f->drawn_by);
	put_text(b, f->failed);
}

static void get_fitted(struct usk_bytes *b, struct fitted *f, bool *good)
{
	*good = *good && usk_bytes_get(b, f, sizeof *f);
	for (int side = 0; side < 2; side++) {
		f->part.point[side] =
			get_rows(b, sizeof *f->part.point[side], &f->part.n[side], good);
	}
	f->line = get_rows(b, sizeof *f->line, &f->n_line, good);
	if (!f->n_line) {
		free(f->line);
		f->line = NULL;
	}
	f->samples.msg = get_rows(b, sizeof *f->samples.msg, &f->samples.n_msgs, good);
	f->samples.broadcasts =
		get_rows(b, sizeof *f->samples.broadcasts, &f->samples.n_broadcasts, good);
	char *by = get_text(b, good);
	const struct usk_estimator *row = by ? usk_estimator_find(by) : NULL;
	f->drawn_by = row ? row->name : NULL;
	*good = *good && !by == !row;
	free(by);
	f->failed = get_text(b, good);
}

void usk_bytes_put_fit(struct usk_bytes *b, const struct pair_source *s,
		       const struct usk_pair *pair, const struct fitted *fitted)
{
	const struct party *y = s->parties->party;
	put_epochs(b, &y[s->a]);
	put_epochs(b, &y[s->b]);
	put_rows(b, s->exclude, s->n_exclude, sizeof *s->exclude);
	put_rows(b, s->left_out, s->n_left_out, sizeof *s->left_out);
	put_pair(b, pair);
	put_fitted(b, fitted);
}

bool usk_bytes_get_fit(struct usk_bytes *b, struct pair_source *s, struct usk_pair *pair,
		       struct fitted *fitted)
{
	const struct party *y = s->parties->party;
	bool good = true;
	get_epochs(b, &y[s->a], &good);
	get_epochs(b, &y[s->b], &good);
	s->exclude = get_rows(b, sizeof *s->exclude, &s->n_exclude, &good);
	s->left_out = get_rows(b, sizeof *s->left_out, &s->n_left_out, &good);
	get_pair(b, pair, &good);
	get_fitted(b, fitted, &good);
	fitted->part.left_out = s->left_out;
	fitted->part.n_left_out = s->n_left_out;
	return good;
}

/* SPDX-License-Identifier: MIT */
/* What ranks send each other comes out as it went in, and is refused where it is cut short (flow/share_bytes.c). */
#include "../part.h"
#include "flow/share.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { MOST = 5 };

/* Any bytes, so that every field counts. */
static void *rows(struct usk_rng *r, size_t n, size_t size)
{
	uint8_t *row = usk_alloc(n + 1, size);
	for (size_t i = 0; i < n * size; i++) {
		row[i] = (uint8_t)usk_rng_below(r, 256);
	}
	return row;
}

static void assert_rows(const void *a, const void *b, size_t n, size_t size)
{
	assert_non_null(a);
	assert_non_null(b);
	assert_memory_equal(a, b, n * size);
}

static void test_surveys(void **state)
{
	(void)state;
	for (uint64_t seed = case_first(40); seed < case_end(40); seed++) {
		struct usk_rng r;
		struct usk_survey s = { .records = seed, .packets = seed / 2, .first_ns = -1 }, got;
		struct usk_bytes b = { 0 };
		const bool samples = seed % 2;
		usk_rng_seed(&r, seed);
		s.epochs.n = usk_rng_below(&r, MOST);
		s.epochs.epoch = rows(&r, s.epochs.n, sizeof *s.epochs.epoch);
		s.n_ways = 1 + usk_rng_below(&r, MOST);
		s.way = rows(&r, s.n_ways, sizeof *s.way);
		s.n_samples = usk_rng_below(&r, MOST);
		s.sample = rows(&r, s.n_samples, sizeof *s.sample);
		for (size_t i = 0; i < s.n_samples; i++) {
			s.sample[i].way = (uint32_t)(i % s.n_ways) & 0x3fffffff;
		}
		usk_bytes_put_survey(&b, &s, samples);
		assert_true(usk_bytes_get_survey(&b, &got, samples));
		assert_int_equal(b.at, b.n);
		assert_int_equal(got.records, s.records);
		assert_int_equal(got.first_ns, s.first_ns);
		assert_int_equal(got.epochs.n, s.epochs.n);
		assert_int_equal(got.n_samples, samples ? s.n_samples : 0);
		assert_int_equal(got.n_ways, samples ? s.n_ways : 0);
		assert_rows(got.epochs.epoch, s.epochs.epoch, s.epochs.n, sizeof *s.epochs.epoch);
		assert_rows(got.sample, s.sample, got.n_samples, sizeof *s.sample);
		assert_rows(got.way, s.way, got.n_ways, sizeof *s.way);
		usk_survey_free(&got);
		for (size_t n = 0; n < b.n; n++) {
			struct usk_bytes cut = { b.data, n, 0, 0 };
			assert_false(usk_bytes_get_survey(&cut, &got, samples));
			usk_survey_free(&got);
		}
		usk_survey_free(&s);
		free(b.data);
	}
}

/* Two clocks, the second of which was set back. */
static void make_pair(struct usk_rng *r, struct party *party, struct parties *p,
		      struct pair_source *s)
{
	party[0] = (struct party){ .name = NULL };
	party[1] = (struct party){ .survey.epochs.n = 2 };
	party[1].in_epoch = usk_alloc(3, sizeof(bool));
	*p = (struct parties){ .party = party, .n = 2 };
	*s = (struct pair_source){ .parties = p, .a = 0, .b = 1 };
	s->n_exclude = usk_rng_below(r, MOST);
	s->exclude = rows(r, s->n_exclude, sizeof *s->exclude);
	s->n_left_out = usk_rng_below(r, MOST);
	s->left_out = rows(r, s->n_left_out, sizeof *s->left_out);
}

/* Not where the reader's own table has it: at another rank it may lie anywhere. */
static const char elsewhere[] = "middle";

static void make_fit(struct usk_rng *r, struct usk_pair *k, struct fitted *f)
{
	*k = (struct usk_pair){ .a_to_b = 7, .half_width_ns = -3 };
	k->n_outliers = usk_rng_below(r, MOST);
	k->outlier = rows(r, k->n_outliers, sizeof *k->outlier);
	k->n_contradiction = usk_rng_below(r, MOST);
	k->contradiction = rows(r, k->n_contradiction, sizeof *k->contradiction);
	k->n_floor = usk_rng_below(r, MOST);
	k->floor = rows(r, k->n_floor, sizeof *k->floor);
	k->n_ceiling = usk_rng_below(r, MOST);
	k->ceiling = rows(r, k->n_ceiling, sizeof *k->ceiling);
	*f = (struct fitted){ .too_many = 11, .found.matched = 13 };
	for (int side = 0; side < 2; side++) {
		f->part.n[side] = usk_rng_below(r, MOST);
		f->part.point[side] = rows(r, f->part.n[side], sizeof *f->part.point[side]);
	}
	f->n_line = usk_rng_below(r, MOST);
	f->line = f->n_line ? rows(r, f->n_line, sizeof *f->line) : NULL;
	f->samples.n_msgs = usk_rng_below(r, MOST);
	f->samples.msg = rows(r, f->samples.n_msgs, sizeof *f->samples.msg);
	f->samples.n_broadcasts = usk_rng_below(r, MOST);
	f->samples.broadcasts = rows(r, f->samples.n_broadcasts, sizeof *f->samples.broadcasts);
	f->drawn_by = usk_rng_below(r, 2) ? elsewhere : NULL;
	f->failed = usk_rng_below(r, 2) ? usk_strdup("no exchange") : NULL;
}

static void free_fit(struct pair_source *s, struct usk_pair *k, struct fitted *f)
{
	free(s->exclude);
	free(s->left_out);
	usk_gathered_wrong_free(k, 1);
	free(k->floor);
	free(k->ceiling);
	usk_fitted_free(f);
}

static void assert_fit(const struct pair_source *s, const struct usk_pair *k,
		       const struct fitted *f, const struct pair_source *s2,
		       const struct usk_pair *k2, const struct fitted *f2)
{
	assert_int_equal(s2->n_exclude, s->n_exclude);
	assert_rows(s2->exclude, s->exclude, s->n_exclude, sizeof *s->exclude);
	assert_ptr_equal(f2->part.left_out, s2->left_out);
	assert_int_equal(f2->part.n_left_out, s->n_left_out);
	assert_rows(s2->left_out, s->left_out, s->n_left_out, sizeof *s->left_out);
	assert_int_equal(f2->samples.n_msgs, f->samples.n_msgs);
	assert_int_equal(f2->samples.n_broadcasts, f->samples.n_broadcasts);
	assert_int_equal(f2->found.matched, f->found.matched);
	assert_int_equal(k2->a_to_b, k->a_to_b);
	assert_int_equal(k2->half_width_ns, k->half_width_ns);
	assert_int_equal(k2->n_outliers, k->n_outliers);
	assert_rows(k2->outlier, k->outlier, k->n_outliers, sizeof *k->outlier);
	assert_int_equal(k2->n_contradiction, k->n_contradiction);
	assert_int_equal(k2->n_floor, k->n_floor);
	assert_int_equal(k2->n_ceiling, k->n_ceiling);
	assert_rows(k2->contradiction, k->contradiction, k->n_contradiction,
		    sizeof *k->contradiction);
	assert_rows(k2->floor, k->floor, k->n_floor, sizeof *k->floor);
	assert_rows(k2->ceiling, k->ceiling, k->n_ceiling, sizeof *k->ceiling);
	assert_int_equal(f2->too_many, f->too_many);
	for (int side = 0; side < 2; side++) {
		assert_int_equal(f2->part.n[side], f->part.n[side]);
		assert_rows(f2->part.point[side], f->part.point[side], f->part.n[side],
			    sizeof *f->part.point[side]);
	}
	assert_true(!f2->line == !f->line);
	assert_int_equal(f2->n_line, f->n_line);
	if (f->n_line) {
		assert_rows(f2->line, f->line, f->n_line, sizeof *f->line);
	}
	assert_rows(f2->samples.msg, f->samples.msg, f->samples.n_msgs, sizeof *f->samples.msg);
	assert_rows(f2->samples.broadcasts, f->samples.broadcasts, f->samples.n_broadcasts,
		    sizeof *f->samples.broadcasts);
	assert_ptr_equal(f2->drawn_by, f->drawn_by ? usk_estimator_find("middle")->name : NULL);
	assert_true(f->failed ? !strcmp(f2->failed, f->failed) : !f2->failed);
}

static void test_fits(void **state)
{
	(void)state;
	for (uint64_t seed = case_first(40); seed < case_end(40); seed++) {
		struct usk_rng r;
		struct party party[2], party2[2];
		struct parties p, p2;
		struct pair_source s, s2;
		struct usk_pair k, k2;
		struct fitted f, f2;
		struct usk_bytes b = { 0 };
		usk_rng_seed(&r, seed);
		make_pair(&r, party, &p, &s);
		make_fit(&r, &k, &f);
		party[1].in_epoch[1] = true;
		usk_bytes_put_fit(&b, &s, &k, &f);
		for (size_t n = 0; n <= b.n; n++) {
			struct usk_bytes cut = { b.data, n, 0, 0 };
			make_pair(&r, party2, &p2, &s2);
			free(s2.exclude);
			free(s2.left_out);
			party2[1].in_epoch[2] = true;
			k2 = (struct usk_pair){ .a = 0 };
			f2 = (struct fitted){ .too_many = 0 };
			assert_int_equal(usk_bytes_get_fit(&cut, &s2, &k2, &f2), n == b.n);
			if (n == b.n) {
				const bool *in = party2[1].in_epoch;
				assert_fit(&s, &k, &f, &s2, &k2, &f2);
				assert_true(!in[0] && in[1] && in[2]);
			}
			free_fit(&s2, &k2, &f2);
			free(party2[1].in_epoch);
		}
		free_fit(&s, &k, &f);
		free(party[1].in_epoch);
		free(b.data);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_surveys),
		cmocka_unit_test(test_fits),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: MIT */
/* The ground everything stands on: division, random numbers, keys, the input window, whole outputs.
 */
#include "base/index.h"
#include "base/io.h"
#include "base/tick.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static void test_division(void **state)
{
	(void)state;
	static const struct {
		int64_t a, b, floor, ceil;
	} cases[] = {
		{ 7, 2, 3, 4 },	   { -7, 2, -4, -3 }, { 6, 3, 2, 2 },
		{ -6, 3, -2, -2 }, { 0, 5, 0, 0 },    { INT64_MIN, 1, INT64_MIN, INT64_MIN },
	};
	for (size_t i = 0; i < COUNT(cases); i++) {
		assert_int_equal((int64_t)usk_floor_div(cases[i].a, cases[i].b), cases[i].floor);
		assert_int_equal((int64_t)usk_ceil_div(cases[i].a, cases[i].b), cases[i].ceil);
	}
}

static void test_grid(void **state)
{
	(void)state;
	static const struct {
		int64_t stamp[4];
		size_t n;
		int64_t want;
	} cases[] = {
		{ { 7 }, 1, 1 }, /* one alone: decimal */
		{ { 7000 }, 1, 1000 },
		{ { -1700000000000000000 }, 1, 1000000000 },
		{ { 0 }, 1, 1 },
		{ { 3000, -2000 }, 2, 1000 },
		{ { 0, 4000 }, 2, 1000 },
		{ { 3001, -999 }, 2, 1 },
		{ { 3001, -999, 3001, -999 }, 4, 1 },
		{ { 3001, -999, 1001 }, 3, 2000 }, /* three: by how far they are apart */
		{ { 3001, -999, 1001, 1002 }, 4, 1 },
		{ { 6, 0, 12, INT64_MAX }, 4, 1 },
		{ { 6, USK_TIME_MAX, -USK_TIME_MAX, 0 }, 4, 2 },
		{ { INT64_MIN, 0, 6, INT64_MIN + 12 }, 4, 2 }, /* 2^63: left out */
	};
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct usk_grid all = { 0 }, back = { 0 }, part[2] = { { 0 }, { 0 } };
		for (size_t k = 0; k < cases[i].n; k++) {
			usk_grid_add(&all, cases[i].stamp[k]);
			usk_grid_add(&back, cases[i].stamp[cases[i].n - 1 - k]);
			usk_grid_add(&part[k % 2], cases[i].stamp[k]);
		}
		usk_grid_join(&part[0], &part[1]);
		assert_int_equal(usk_grid_ns(&all), cases[i].want);
		assert_int_equal(usk_grid_ns(&back), cases[i].want);
		assert_int_equal(usk_grid_ns(&part[0]), cases[i].want);
	}
}

static void test_random_is_seeded(void **state)
{
	(void)state;
	struct usk_rng a, b;
	double sum = 0;
	usk_rng_seed(&a, 1);
	usk_rng_seed(&b, 1);
	for (int i = 0; i < 100000; i++) {
		double x = usk_rng_unit(&a);
		assert_true(x >= 0 && x < 1);
		assert_true(x == usk_rng_unit(&b));
		sum += usk_rng_exponential(&a, 3.0);
		usk_rng_exponential(&b, 3.0);
		assert_true(usk_rng_below(&a, 10) < 10);
		usk_rng_below(&b, 10);
	}
	assert_true(sum / 100000 > 2.9 && sum / 100000 < 3.1);
}

/* The window shows the same bytes as the file, whatever is asked for and wherever it slides. */
/* Against a table with a place for every key: each key keeps its value while others come. */
static void test_index(void **state)
{
	(void)state;
	enum { SIDE = 40, PUTS = 3000 };
	for (uint64_t seed = 1; seed <= 20; seed++) {
		uint64_t want[SIDE][SIDE] = { 0 };
		struct usk_index x = { .n = 0 };
		struct usk_texts texts = { .n = 0 };
		struct usk_rng r;
		usk_rng_seed(&r, seed);
		/* Close together, or far apart. */
		uint64_t apart = seed % 2 ? 1 : UINT64_C(0x100000000000);
		for (uint64_t i = 0; i < PUTS; i++) {
			uint64_t a = usk_rng_below(&r, SIDE), b = usk_rng_below(&r, SIDE);
			uint64_t *value = usk_index_value(&x, a * apart, b);
			assert_int_equal(*value, want[a][b]);
			*value = want[a][b] = want[a][b] ? want[a][b] : texts.n + 1;
			char text[40];
			int n = snprintf(text, sizeof text, "%llu of %llu", (unsigned long long)a,
					 (unsigned long long)b);
			assert_int_equal(usk_texts_number(&texts, a * apart, b, text, (size_t)n),
					 want[a][b] - 1);
			assert_string_equal(texts.text[want[a][b] - 1], text);
			if ((i & (i - 1)) == 0 || i + 1 == PUTS) {
				for (uint64_t k = 0; k < SIDE * SIDE; k++) {
					assert_int_equal(
						usk_index_find(&x, k / SIDE * apart, k % SIDE),
						want[k / SIDE][k % SIDE]);
				}
			}
		}
		assert_int_equal(x.n, texts.n);
		usk_index_free(&x);
		usk_texts_free(&texts);
	}
}

static void test_window(void **state)
{
	(void)state;
	char path[] = "/tmp/unskew-test-XXXXXX";
	int fd = mkstemp(path);
	assert_true(fd >= 0);
	size_t size = 3000000;
	uint8_t *bytes = usk_alloc(size, 1);
	struct usk_rng r;
	usk_rng_seed(&r, 7);
	for (size_t i = 0; i < size; i++) {
		bytes[i] = (uint8_t)usk_rng_next(&r);
	}
	assert_int_equal(write(fd, bytes, size), (ssize_t)size);
	close(fd);

	struct usk_input in;
	assert_int_equal(usk_input_open(&in, path, NULL, NULL), USK_OK);
	size_t pos = 0;
	while (pos < size) {
		size_t want = (size_t)usk_rng_below(&r, usk_rng_below(&r, 50) ? 3000 : 2500000) + 1;
		assert_int_equal(usk_input_need(&in, 0, want, NULL), USK_OK);
		assert_true(in.have >= want || (in.end && in.have == size - pos));
		size_t n = want < in.have ? want : in.have;
		assert_int_equal(in.at, pos);
		assert_memory_equal(in.data, bytes + pos, n);
		pos += n;
		assert_int_equal(usk_input_need(&in, n, 0, NULL), USK_OK);
	}
	usk_input_rewind(&in);
	assert_int_equal(usk_input_need(&in, 0, 10, NULL), USK_OK);
	assert_memory_equal(in.data, bytes, 10);
	/* More than there is, of a window that holds all there is: that is the end. */
	assert_int_equal(usk_input_need(&in, 0, size + 1, NULL), USK_OK);
	assert_true(in.end && in.have == size);
	usk_input_close(&in);
	unlink(path);
	free(bytes);
}

/* What has no end is not copied, if its beginning is not what is looked for. */
static void test_endless(void **state)
{
	(void)state;
	struct usk_input in;
	assert_int_equal(usk_input_open(&in, "/dev/zero", usk_sniff_text, NULL), USK_OK);
	assert_in_range(in.size, 4096, 1 << 20);
	usk_input_close(&in);
	assert_int_equal(usk_input_open(&in, "/dev/zero", usk_sniff_json, NULL), USK_OK);
	assert_in_range(in.size, 4096, 1 << 20);
	usk_input_close(&in);
	const uint8_t *spaced = (const uint8_t *)"\xef\xbb\xbf \n\t{";
	assert_true(usk_sniff_json(spaced, 7));
	assert_false(usk_sniff_json(spaced, 6));
	assert_false(usk_sniff_json(spaced, 0));
}

static void test_output_is_whole_or_absent(void **state)
{
	(void)state;
	char dir[] = "/tmp/unskew-test-XXXXXX";
	assert_non_null(mkdtemp(dir));
	char *path = usk_format("%s/out", dir);
	struct usk_output out;
	struct usk_err err;

	assert_int_equal(usk_output_open(&out, path, false, &err), USK_OK);
	usk_output_format(&out, "%d\n", 42);
	assert_int_equal(access(path, F_OK), -1);
	usk_output_close(&out);
	assert_int_equal(access(path, F_OK), -1);

	assert_int_equal(usk_output_open(&out, path, false, &err), USK_OK);
	usk_output_write(&out, "kept", 4);
	assert_int_equal(usk_output_commit(&out, &err), USK_OK);
	struct usk_input in;
	assert_int_equal(usk_input_open(&in, path, NULL, &err), USK_OK);
	assert_int_equal(in.size, 4);
	usk_input_close(&in);

	assert_int_equal(usk_output_open(&out, path, false, &err), USK_EIO);
	assert_non_null(strstr(err.msg, "--force"));
	assert_int_equal(usk_output_open(&out, path, true, &err), USK_OK);
	usk_output_close(&out);

	assert_int_equal(usk_output_open(&out, "/dev/full", false, &err), USK_OK);
	usk_output_write(&out, "x", 1);
	assert_int_equal(usk_output_commit(&out, &err), USK_EIO);
	assert_non_null(strstr(err.msg, "No space"));

	/* One that appears meanwhile is replaced only when told so. The rights are open(2)'s. */
	unlink(path);
	for (int force = 0; force < 2; force++) {
		mode_t mask = umask(027);
		assert_int_equal(usk_output_open(&out, path, force, &err), USK_OK);
		usk_output_write(&out, "new", 3);
		if (!force) {
			FILE *other = fopen(path, "w");
			assert_non_null(other);
			fputs("precious", other);
			fclose(other);
		}
		umask(mask);
		assert_int_equal(usk_output_commit(&out, &err), force ? USK_OK : USK_EIO);
		assert_true(force || strstr(err.msg, "--force"));
		struct stat st;
		assert_int_equal(stat(path, &st), 0);
		assert_int_equal(st.st_size, force ? 3 : 8);
		assert_int_equal(st.st_mode & 07777, 0640);
	}

	unlink(path);
	rmdir(dir); /* fails, and the next line with it, if a temporary file was left */
	assert_int_equal(access(dir, F_OK), -1);
	free(path);
}

static void test_ticks(void **state)
{
	(void)state;
	static const struct {
		unsigned resolution;
		uint64_t ticks;
		int64_t offset_s, ns, length_ns;
	} cases[] = {
		{ 6, 1700000000500000, 0, 1700000000500000000, 1000 },
		{ 9, 1700000000500000001, 0, 1700000000500000001, 0 },
		{ 0, 5, -3, 2000000000, 1000000000 },
		{ 0x80, 5, 0, 5000000000, 1000000000 },
		{ 0x81, 5, 1, 3500000000, 500000000 },
		{ 0x94, 1, 0, 953, 954 },
		{ 0x9d, 3, 0, 5, 2 },
		{ 0x9e, 3, 0, 2, 0 },
		{ 0xff, UINT64_MAX, 0, 0, 0 },
		{ 12, 1999, 0, 1, 0 },
		{ 28, UINT64_MAX, 0, 1, 0 },
		{ 29, UINT64_MAX, 0, 0, 0 },
		{ 127, UINT64_MAX, 7, 7000000000, 0 },
	};
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct usk_tick t = usk_tick((uint8_t)cases[i].resolution);
		int64_t ns = -1;
		t.offset_s = cases[i].offset_s;
		if (!usk_tick_time(&t, cases[i].ticks, &ns) || ns != cases[i].ns ||
		    usk_tick_ns(&t) != cases[i].length_ns ||
		    usk_tick_is_ns(&t) != (cases[i].resolution == 9)) {
			fail_msg("%u: %lld ns, %lld", cases[i].resolution, (long long)ns,
				 (long long)usk_tick_ns(&t));
		}
	}
	int64_t ns;
	struct usk_tick t = usk_tick(9);
	assert_true(usk_tick_time(&t, UINT64_C(1) << 62, &ns));
	assert_false(usk_tick_time(&t, (UINT64_C(1) << 62) + 1, &ns));
	t.offset_s = INT64_MIN;
	assert_false(usk_tick_time(&t, UINT64_MAX, &ns));
}

static void count(void *ctx)
{
	++*(unsigned *)ctx;
}

/* However many helpers there are: each job is done once, by then. */
static void test_jobs(void **state)
{
	(void)state;
	enum { JOBS = 100, ROUNDS = 20 };
	for (unsigned helpers = 0; helpers < 4; helpers++) {
		struct usk_helpers *h = usk_helpers_new(helpers);
		struct usk_job job[JOBS] = { 0 };
		unsigned done[JOBS] = { 0 };
		assert_true(usk_helpers_number(h) <= helpers);
		for (unsigned round = 1; round <= ROUNDS; round++) {
			for (size_t i = 0; i < JOBS; i++) {
				usk_job_begin(h, &job[i], count, &done[i]);
			}
			for (size_t i = JOBS; i--;) {
				size_t k = round % 2 ? i : (i * 37) % JOBS;
				usk_job_end(h, &job[k]);
				assert_int_equal(done[k], round);
			}
		}
		usk_job_end(h, &job[0]);
		assert_int_equal(done[0], ROUNDS);
		usk_helpers_free(h);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_division),
		cmocka_unit_test(test_grid),
		cmocka_unit_test(test_random_is_seeded),
		cmocka_unit_test(test_index),
		cmocka_unit_test(test_window),
		cmocka_unit_test(test_endless),
		cmocka_unit_test(test_output_is_whole_or_absent),
		cmocka_unit_test(test_ticks),
		cmocka_unit_test(test_jobs),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: MIT */
/* Packed input and output: the same bytes, wherever they are cut or damaged; and the spool. */
#include "../part.h"
#include "base/io.h"
#include "base/pack.h"

#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cmocka.h>

static const enum usk_packing packings[] = { USK_GZIP, USK_ZSTD };

struct blob {
	uint8_t *data;
	size_t n;
};

static void append(void *ctx, const void *data, size_t n)
{
	struct blob *b = ctx;
	b->data = usk_grow(b->data, b->n + n + 1, 1);
	memcpy(b->data + b->n, data, n);
	b->n += n;
}

/* Text that packs well here and not there. */
static struct blob make(size_t n, uint64_t seed)
{
	struct blob b = { usk_alloc(n + 1, 1), n };
	struct usk_rng r;
	usk_rng_seed(&r, seed);
	for (size_t i = 0; i < n; i++) {
		b.data[i] = (uint8_t)(i / 5000 % 2 ? usk_rng_next(&r) : i % 7);
	}
	return b;
}

static struct blob packed(enum usk_packing p, const struct blob *plain)
{
	struct usk_pack *k = usk_pack_new(p);
	struct blob out = { 0 };
	size_t half = plain->n / 2;
	assert_true(usk_pack(k, plain->data, half, false, append, &out));
	assert_true(usk_pack(k, plain->data + half, plain->n - half, true, append, &out));
	usk_pack_free(k);
	return out;
}

/* All of an input, in steps of any size. */
static struct blob read_all(struct usk_input *in, struct usk_rng *r)
{
	struct blob b = { 0 };
	for (size_t used = 0;;) {
		size_t want = (size_t)usk_rng_below(r, usk_rng_below(r, 20) ? 3000 : 900000) + 1;
		uint64_t at = in->at + used;
		assert_int_equal(usk_input_need(in, used, want, NULL), USK_OK);
		assert_int_equal(in->at, at);
		assert_true(in->have >= want || in->end);
		used = want < in->have ? want : in->have;
		if (!used) {
			return b;
		}
		append(&b, in->data, used);
	}
}

static char path[] = "/tmp/unskew-test-pack-XXXXXX";

static void save(const struct blob *b)
{
	FILE *f = fopen(path, "wb");
	assert_non_null(f);
	assert_int_equal(fwrite(b->data, 1, b->n, f), b->n);
	assert_int_equal(fclose(f), 0);
}

static void open_door(bool file, const struct blob *b, struct usk_input *in)
{
	if (file) {
		save(b);
		assert_int_equal(usk_input_open(in, path, NULL, NULL), USK_OK);
	} else {
		usk_input_memory(in, b->data, b->n);
	}
}

static void test_window(void **state)
{
	(void)state;
	struct usk_rng r;
	usk_rng_seed(&r, 3);
	static const size_t sizes[] = { 0, 1, 4999, 65536, 1300000 };
	for (size_t i = 0; i < COUNT(sizes) * COUNT(packings) * 2; i++) {
		struct blob plain = make(sizes[i / 4], i);
		struct blob file = packed(packings[i / 2 % 2], &plain);
		struct usk_input in;
		open_door(i % 2, &file, &in);
		assert_int_equal(usk_input_bytes(&in), file.n);
		for (int round = 0; round < 2; round++) {
			struct blob got = read_all(&in, &r);
			assert_int_equal(got.n, plain.n);
			assert_true(!got.n || !memcmp(got.data, plain.data, got.n));
			assert_null(in.lost);
			assert_int_equal(in.size, plain.n);
			assert_int_equal(usk_input_pos(&in, 0), file.n);
			free(got.data);
			usk_input_rewind(&in);
		}
		usk_input_close(&in);
		free(file.data);
		free(plain.data);
	}
}

/* Several files behind one another, as `cat a.gz b.gz` makes them; and zeros behind a member. */
static void test_members(void **state)
{
	(void)state;
	struct usk_rng r;
	usk_rng_seed(&r, 5);
	for (size_t i = 0; i < COUNT(packings); i++) {
		struct blob plain = make(70000, i), one = packed(packings[i], &plain);
		struct blob all = { 0 };
		for (int k = 0; k < 3; k++) {
			append(&all, one.data, one.n);
		}
		if (packings[i] == USK_GZIP) {
			append(&all, "\0\0\0\0\0", 5);
		}
		struct usk_input in;
		open_door(true, &all, &in);
		struct blob got = read_all(&in, &r);
		assert_int_equal(got.n, 3 * plain.n);
		for (size_t k = 0; k < 3; k++) {
			assert_memory_equal(got.data + k * plain.n, plain.data, plain.n);
		}
		assert_null(in.lost);
		usk_input_close(&in);
		free(got.data);
		free(all.data);
		free(one.data);
		free(plain.data);
	}
}

/* Each packed alone behind its length, as OpenTelemetry's collector does; one of them has no bytes. */
static void test_each(void **state)
{
	static const size_t sizes[] = { 70000, 1, 0, 300000, 5 };
	struct blob all = { 0 }, file = { 0 };
	struct usk_rng r;
	size_t end[COUNT(sizes)];
	(void)state;
	usk_rng_seed(&r, 6);
	for (size_t i = 0; i < COUNT(sizes); i++) {
		struct blob plain = make(sizes[i], i), one = packed(USK_ZSTD, &plain);
		const uint8_t length[] = { 0, (uint8_t)(one.n >> 16), (uint8_t)(one.n >> 8),
					   (uint8_t)one.n };
		append(&all, plain.data, plain.n);
		append(&file, length, sizeof length);
		append(&file, one.data, one.n);
		end[i] = file.n;
		free(plain.data);
		free(one.data);
	}
	const size_t far = 397 * case_step();
	for (size_t n = file.n, k = COUNT(sizes); n > 8; n -= n > 400 + far ? far
							      : n > 400	    ? 397
									    : 1) {
		struct blob part = { .data = file.data, .n = n };
		struct usk_input in;
		while (k && end[k - 1] > n) {
			k--;
		}
		open_door(n & 1, &part, &in);
		struct blob got = read_all(&in, &r);
		assert_true(got.n <= all.n);
		assert_true(!got.n || !memcmp(got.data, all.data, got.n));
		assert_true((k && end[k - 1] == n) == !in.lost);
		assert_true(n < file.n || got.n == all.n);
		usk_input_close(&in);
		free(got.data);
	}
	free(all.data);
	free(file.data);
}

/* Cut anywhere or damaged anywhere: what comes out is a beginning, and what is lost is said. */
static void test_damage(void **state)
{
	(void)state;
	struct usk_rng r;
	usk_rng_seed(&r, 8);
	for (int turn = 0; turn < (int)case_count(300); turn++) {
		struct blob plain = make(20000, (uint64_t)turn);
		struct blob file = packed(packings[turn % 2], &plain);
		bool cut = turn % 3 != 0;
		size_t at = 6 + (size_t)usk_rng_below(&r, file.n - 6);
		if (cut) {
			file.n = at;
		} else {
			file.data[at] ^= (uint8_t)(1 + usk_rng_below(&r, 255));
		}
		struct usk_input in;
		open_door(turn % 5 == 0, &file, &in);
		struct blob got = read_all(&in, &r);
		if (cut) {
			assert_true(got.n <= plain.n);
			assert_true(!got.n || !memcmp(got.data, plain.data, got.n));
			assert_non_null(in.lost);
			assert_non_null(strstr(in.lost, "cut short"));
			struct usk_err err;
			usk_input_rewind(&in);
			assert_int_equal(usk_input_all(&in, &err), USK_EINPUT);
			assert_non_null(strstr(err.msg, "cut short"));
		}
		usk_input_close(&in);
		free(got.data);
		free(file.data);
		free(plain.data);
	}
}

/* Megabytes of zeros in a few bytes: the window stays small. */
static void test_bomb(void **state)
{
	(void)state;
	static const uint8_t zeros[1 << 20];
	for (size_t i = 0; i < COUNT(packings); i++) {
		struct blob file = { 0 };
		struct usk_pack *k = usk_pack_new(packings[i]);
		for (int m = 0; m < 24; m++) {
			assert_true(usk_pack(k, zeros, sizeof zeros, false, append, &file));
		}
		assert_true(usk_pack(k, zeros, 1, true, append, &file));
		usk_pack_free(k);
		struct usk_input in;
		open_door(false, &file, &in);
		while (!in.end) {
			assert_int_equal(usk_input_need(&in, in.have, 1 << 20, NULL), USK_OK);
			assert_true(in.capacity <= 4 << 20);
		}
		assert_int_equal(in.size, 24 * sizeof zeros + 1);
		usk_input_close(&in);
		free(file.data);
	}
}

/* What one thread makes of the pieces in which an output is packed. */
static struct blob packed_in_place(enum usk_packing p, const struct blob *plain)
{
	struct usk_pack *k = usk_pack_new(p);
	struct blob out = { 0 };
	for (size_t at = 0, n; at < plain->n; at += n) {
		n = plain->n - at < USK_IO_BLOCK ? plain->n - at : USK_IO_BLOCK;
		assert_true(usk_pack(k, plain->data + at, n, at + n == plain->n, append, &out));
	}
	usk_pack_free(k);
	return out;
}

static void test_output(void **state)
{
	(void)state;
	static const char *const suffixes[] = { ".gz", ".zst" };
	struct blob plain = make(700000, 77);
	for (size_t i = 0; i < COUNT(packings); i++) {
		char *name = usk_format("%s%s", path, suffixes[i]);
		assert_int_equal(usk_packing_of_name(name), packings[i]);
		assert_int_equal(usk_packing_stem(name), strlen(path));
		struct blob first = packed_in_place(packings[i], &plain);
		for (int round = 0; round < 2; round++) {
			struct usk_output out;
			struct usk_err err;
			assert_int_equal(usk_output_open(&out, name, true, &err), USK_OK);
			usk_output_write(&out, plain.data, plain.n);
			assert_int_equal(usk_output_commit(&out, &err), USK_OK);
			struct usk_input in;
			assert_int_equal(usk_input_open(&in, name, NULL, &err), USK_OK);
			assert_int_equal(usk_input_all(&in, &err), USK_OK);
			assert_int_equal(in.have, plain.n);
			assert_memory_equal(in.data, plain.data, plain.n);
			usk_input_close(&in);
			/* No date, no name: the same bytes again. */
			FILE *f = fopen(name, "rb");
			static uint8_t bytes[1 << 20];
			assert_non_null(f);
			size_t n = fread(bytes, 1, sizeof bytes, f);
			fclose(f);
			assert_true(n < plain.n);
			assert_int_equal(n, first.n);
			assert_memory_equal(bytes, first.data, n);
			unlink(name);
		}
		free(first.data);
		free(name);
	}
	free(plain.data);
}

/* A disk that is full, and an output that nobody commits: a sentence, and nothing is left. */
static void test_output_ends(void **state)
{
	(void)state;
	struct blob plain = make(3000000, 78);
	struct rlimit was, small = { .rlim_cur = 10000 };
	char *name = usk_format("%s.gz", path);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &was), 0);
	small.rlim_max = was.rlim_max;
	signal(SIGXFSZ, SIG_IGN);
	for (int full = 0; full < 2; full++) {
		struct usk_output out;
		struct usk_err err = { 0 };
		assert_int_equal(usk_output_open(&out, name, true, &err), USK_OK);
		assert_int_equal(setrlimit(RLIMIT_FSIZE, full ? &small : &was), 0);
		usk_output_write(&out, plain.data, plain.n);
		char *temporary = usk_strdup(out.temporary);
		if (full) {
			assert_true(out.failed);
			assert_int_equal(usk_output_commit(&out, &err), USK_EIO);
			assert_non_null(strstr(err.msg, strerror(EFBIG)));
		} else {
			usk_output_close(&out);
		}
		assert_int_equal(access(name, F_OK), -1);
		assert_int_equal(access(temporary, F_OK), -1);
		free(temporary);
	}
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &was), 0);
	free(name);
	free(plain.data);
}

/* More than is kept in memory, in lanes of different lengths. */
static void test_spool(void **state)
{
	(void)state;
	enum { ITEM = 6000, LANES = 5, N = 15000 };
	static uint8_t item[ITEM], got[3 * ITEM];
	struct usk_spool *s = usk_spool_new(ITEM, LANES);
	for (int i = 0; i < N; i++) {
		size_t lane = (size_t)(i % 7 % LANES);
		memcpy(item, &i, sizeof i);
		memcpy(item + ITEM - sizeof i, &i, sizeof i);
		assert_int_equal(usk_spool_put(s, lane, item, NULL), USK_OK);
	}
	for (size_t lane = 0; lane < LANES; lane++) {
		int i = (int)lane;
		uint64_t count = usk_spool_count(s, lane);
		for (uint64_t k = 0; k < count; k += 3) {
			size_t n = count - k < 3 ? (size_t)(count - k) : 3;
			assert_int_equal(usk_spool_get(s, lane, k, got, n, NULL), USK_OK);
			for (size_t m = 0; m < n; m++) {
				int a, b;
				memcpy(&a, got + m * ITEM, sizeof a);
				memcpy(&b, got + (m + 1) * ITEM - sizeof b, sizeof b);
				assert_int_equal(a, i);
				assert_int_equal(b, i);
				do {
					i++;
				} while ((size_t)(i % 7 % LANES) != lane);
			}
		}
	}
	usk_spool_free(s);
	usk_spool_free(NULL);
}

struct item {
	uint32_t number, more[15];
};

static void put_numbers(struct usk_spool *s, uint32_t from, uint32_t to)
{
	for (struct item x = { from, { 0 } }; x.number < to; x.number++) {
		assert_int_equal(usk_spool_put(s, 0, &x, NULL), USK_OK);
	}
}

/* Cut back into what is on the disk, at a block's end and within one, and filled again. */
static void test_spool_cut(void **state)
{
	(void)state;
	enum { IN_BLOCK = 256, N = 5200 * IN_BLOCK };
	static const uint32_t cuts[] = { N, N - 1, 600 * IN_BLOCK + 7, 7, 3 * IN_BLOCK, 0 };
	struct usk_spool *s = usk_spool_new(sizeof(struct item), 1);
	put_numbers(s, 0, N);
	for (size_t k = 0; k < COUNT(cuts); k++) {
		uint32_t now = (uint32_t)usk_spool_count(s, 0), cut = cuts[k] < now ? cuts[k] : now;
		assert_int_equal(usk_spool_cut(s, 0, cut, NULL), USK_OK);
		assert_int_equal(usk_spool_count(s, 0), cut);
		put_numbers(s, cut, cut + 5 * IN_BLOCK);
		for (uint32_t i = 0; i < cut + 5 * IN_BLOCK; i += 97) {
			struct item got;
			assert_int_equal(usk_spool_get(s, 0, i, &got, 1, NULL), USK_OK);
			assert_int_equal(got.number, i);
		}
	}
	usk_spool_free(s);
}

static int make_path(void **state)
{
	(void)state;
	int fd = mkstemp(path);
	return fd < 0 || close(fd);
}

static int remove_path(void **state)
{
	(void)state;
	return unlink(path);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_window),	    cmocka_unit_test(test_members),
		cmocka_unit_test(test_each),	    cmocka_unit_test(test_damage),
		cmocka_unit_test(test_bomb),	    cmocka_unit_test(test_output),
		cmocka_unit_test(test_output_ends), cmocka_unit_test(test_spool),
		cmocka_unit_test(test_spool_cut),
	};
	return cmocka_run_group_tests(tests, make_path, remove_path);
}

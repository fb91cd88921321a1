/* SPDX-License-Identifier: MIT */
/*
 * CTF traces that are cut, overwritten, empty or none at all: what is whole comes out, or one sentence
 * says what is wrong.
 */
#include "../part.h"
#include "base/io.h"
#include "ctf/ctf.h"
#include "ctf_folder.h"
#include "ctf_making.h"
#include "match/match.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#define START INT64_C(1700000000000000000)

static void make_plain(const char *path, const char *hostname)
{
	struct ctf c = ctf_begin(path, hostname, 1000000000, START);
	for (int i = 0; i < 300; i++) {
		ctf_message(&c, i % 2, 10000 + (uint64_t)i * 100, true, 1, i, "x", 0);
		if (i % 40 > 37) {
			ctf_flush(&c, i % 2, 0);
		}
	}
	ctf_end(&c);
}

/* How many events of a plain trace's second stream a cut from its end costs: those it touches. */
static size_t lost_by(long cut)
{
	enum { HEADER = 76, EVENT = 24, EVENTS = 20, LAST = 10, PACKETS = 8 };
	size_t lost = 0;
	for (int i = 0; i < PACKETS && cut > 0; i++) {
		long events = i ? EVENTS : LAST, touched = (cut + EVENT - 1) / EVENT;
		/* Of the only packet there is nobody knows how long it should be. */
		bool all = i == PACKETS - 1 || touched > events;
		lost += (size_t)(all ? events : touched);
		cut -= HEADER + EVENT * events;
	}
	return lost;
}

static void overwrite(const char *path, const char *name, long at, const void *data, size_t n)
{
	char *file = usk_format("%s/%s", path, name);
	FILE *f = fopen(file, "r+b");
	assert_non_null(f);
	assert_int_equal(fseek(f, at, SEEK_SET), 0);
	assert_int_equal(fwrite(data, 1, n, f), n);
	assert_int_equal(fclose(f), 0);
	free(file);
}

static void refuse_by(const char *send, const char *path, const char *says)
{
	struct usk_read_options o = { .send = &send, .n_send = 1 };
	struct usk_trace *t = NULL;
	struct usk_err err = { 0 };
	enum usk_status status = usk_trace_open_with(path, NULL, &o, &t, &err);
	if (status != USK_EINPUT || !strstr(err.msg, says) ||
	    strncmp(err.msg, path, strlen(path)) != 0 || strchr(err.msg, '\n')) {
		fail_msg("%s: %d, %s", says, status, err.msg);
	}
}

static void refuse(const char *path, const char *says)
{
	refuse_by("msg:send{channel}", path, says);
}

/* Metadata in packets: cut anywhere it is refused, and nothing waits for the rest. */
static void test_packed_metadata(const char *path)
{
	enum { PACKET = 1000 };
	for (int cut = 0; cut < 4; cut++) {
		make_plain(path, "a");
		char *file = usk_format("%s/metadata", path);
		struct usk_input in;
		struct bytes packed = { 0 };
		assert_int_equal(usk_input_open(&in, file, NULL, NULL), USK_OK);
		assert_int_equal(usk_input_all(&in, NULL), USK_OK);
		/* The text says of itself that it is text. */
		const char *text = memchr(in.data, '\n', in.have);
		size_t left = in.have - (size_t)(text - (const char *)in.data);
		for (size_t n; left; left -= n, text += n) {
			n = left < PACKET ? left : PACKET;
			put32(&packed, 0x75d11d57);
			for (int i = 0; i < 5; i++) {
				put32(&packed, 0);
			}
			put32(&packed, (uint32_t)(37 + n) * 8);
			put32(&packed, (uint32_t)(37 + n + 11) * 8);
			put(&packed, "\0\0\0\1\10", 5);
			put(&packed, text, n);
			put(&packed, "pad pad pad", 11);
		}
		usk_input_close(&in);
		FILE *f = fopen(file, "wb");
		static const size_t off[] = { 0, 1, 200, 1300 };
		assert_non_null(f);
		assert_int_equal(fwrite(packed.data, 1, packed.n - off[cut], f),
				 packed.n - off[cut]);
		assert_int_equal(fclose(f), 0);
		if (cut) {
			refuse(path, "metadata are cut short or damaged in the packet at byte");
		} else {
			static const char *send = "msg:send{channel}";
			struct usk_read_options o = { .send = &send, .n_send = 1 };
			usk_trace_close(ctf_open(path, &o));
		}
		bytes_free(&packed);
		free(file);
		ctf_remove(path);
	}
}

static void test_damage(void **state)
{
	(void)state;
	static const char *send = "msg:send{channel}";
	struct usk_read_options o = { .send = &send, .n_send = 1 };
	char *path = ctf_folder("damage");
	/* Cut anywhere, or a bad packet: those before are there, and the other stream is whole. */
	for (uint64_t k = case_first(11); k < case_end(11); k++) {
		long cut = 1 + (long)(k % 11) * 411;
		make_plain(path, "a");
		char *file = usk_format("%s/channel0_1", path);
		struct stat st;
		assert_int_equal(stat(file, &st), 0);
		if (cut % 2 && cut < st.st_size) {
			assert_int_equal(truncate(file, st.st_size - cut), 0);
		} else {
			/* Zeros over a whole packet's header. */
			char zeros[400] = { 0 };
			long at = st.st_size - cut;
			overwrite(path, "channel0_1", at > 400 ? at - 400 : 0, zeros, 400);
		}
		struct usk_trace *t = ctf_open(path, &o);
		struct usk_event e[64];
		size_t all = 0;
		for (size_t n = 1; n; all += n) {
			assert_int_equal(usk_trace_sides(t, e, 64, &n, NULL), USK_OK);
		}
		const char *damage = usk_trace_damage(t);
		bool silent = !damage && !(cut % 2 && cut < st.st_size);
		/* Zeros within a packet may pass for events. */
		if (all < 150 || all >= 300 ||
		    (!silent && (!damage || !strstr(damage, path) || strchr(damage, '\n')))) {
			fail_msg("cut by %ld: %zu events, %s", cut, all,
				 damage ? damage : "no word of it");
		}
		if (cut % 2 && all != 300 - lost_by(cut)) {
			fail_msg("cut by %ld: %zu events of 300, not all but %zu", cut, all,
				 lost_by(cut));
		}
		usk_trace_close(t);
		free(file);
		ctf_remove(path);
	}
	/* A packet of no bytes, at which the library would stay. */
	make_plain(path, "a");
	char nothing[76] = { 0 };
	overwrite(path, "channel0_1", 7 * 556 + 20, nothing, 56);
	struct usk_trace *stuck = ctf_open(path, &o);
	usk_trace_close(stuck);
	ctf_remove(path);

	make_plain(path, "a");
	overwrite(path, "channel0_0", 0, "\0\0\0\0", 4);
	struct usk_trace *half = ctf_open(path, &o);
	usk_trace_close(half);
	overwrite(path, "channel0_1", 0, "\0\0\0\0", 4);
	refuse(path, "none of its streams can be read");
	ctf_remove(path);

	make_plain(path, "a");
	overwrite(path, "metadata", 200, "{{{{{{{", 7);
	refuse(path, "cannot read its metadata");
	ctf_remove(path);
	test_packed_metadata(path);

	make_plain(path, "a");
	char *file = usk_format("%s/metadata", path);
	refuse(file, "give the folder");
	unlink(file);
	refuse(path, "no file metadata");
	free(file);
	file = usk_format("%s/channel0_0", path);
	refuse(file, "give the folder");
	free(file);
	ctf_remove(path);

	/* A session of two domains is one trace; of two machines it is none. */
	for (int same = 0; same < 2; same++) {
		assert_int_equal(mkdir(path, 0777), 0);
		char *kernel = usk_format("%s/kernel", path), *user = usk_format("%s/user", path);
		make_plain(kernel, "a");
		make_plain(user, same ? "a" : "b");
		if (same) {
			struct usk_trace *t = ctf_open(path, &o);
			struct usk_event e[64];
			size_t all = 0;
			for (size_t n = 1; n; all += n) {
				assert_int_equal(usk_trace_sides(t, e, 64, &n, NULL), USK_OK);
			}
			assert_int_equal(all, 600);
			usk_trace_close(t);
		} else {
			refuse(path, "each machine");
		}
		free(kernel);
		free(user);
		ctf_remove(path);
	}

	make_plain(path, "a");
	for (int i = 0; i < 2; i++) {
		file = usk_format("%s/channel0_%d", path, i);
		assert_int_equal(truncate(file, 0), 0);
		free(file);
	}
	refuse(path, "streams are empty");
	ctf_remove(path);

	/* Nothing in it that anyone knows. */
	struct ctf c = ctf_begin(path, "a", 1000000000, START);
	ctf_noise(&c, 0, 1);
	ctf_end(&c);
	refuse_by("other:send{x}", path, "--send and --recv");
	ctf_remove(path);
	free(path);
}

/* What keeps sessions is looked through as deep as LTTng lays them out. What is deeper may be anything: it
 * is not read, and what it is in is more than traces, which nothing replaces. */
static void test_depth(void **state)
{
	(void)state;
	char *path = ctf_folder("deep");
	for (int deeper = 0; deeper < 2; deeper++) {
		char *trace = usk_format("%s/session/archives/chunk/ust/uid/1000/64-bit%s", path,
					 deeper ? "/more" : "");
		struct ctf_traces found;
		assert_true(usk_folder_make(trace));
		make_plain(trace, "a");
		assert_int_equal(usk_ctf_find(path, &found, NULL), deeper ? USK_EINPUT : USK_OK);
		assert_int_equal(found.n, !deeper);
		assert_int_equal(found.only, !deeper);
		usk_ctf_traces_free(&found);
		ctf_remove(path);
		free(trace);
	}
	free(path);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_damage),
		cmocka_unit_test(test_depth),
	};
	return cmocka_run_group_tests(tests, ctf_folders_make, ctf_folders_remove);
}

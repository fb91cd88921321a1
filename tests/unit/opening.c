/* SPDX-License-Identifier: MIT */
#include "opening.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

char trace_path[] = "/tmp/unskew-test-read-XXXXXX";

void save(const struct bytes *b)
{
	FILE *f = fopen(trace_path, "wb");
	assert_non_null(f);
	assert_true(!b->n || fwrite(b->data, 1, b->n, f) == b->n);
	assert_int_equal(fclose(f), 0);
}

struct usk_trace *open_file(const struct bytes *b)
{
	struct usk_trace *t = NULL;
	struct usk_err err = { 0 };
	save(b);
	if (usk_trace_open(trace_path, NULL, &t, &err)) {
		fail_msg("%s", err.msg);
	}
	return t;
}

struct usk_trace *open_memory(const struct bytes *b)
{
	struct usk_trace *t = NULL;
	struct usk_err err = { 0 };
	if (usk_trace_open_memory(b->data, b->n, NULL, &t, &err)) {
		fail_msg("%s", err.msg);
	}
	return t;
}

void assert_same(const char *what, uint64_t i, const struct usk_record *a,
		 const struct usk_record *b)
{
	if (a->time_ns != b->time_ns || a->captured != b->captured || a->length != b->length ||
	    a->iface != b->iface || a->side != b->side || a->at != b->at ||
	    memcmp(a->data, b->data, a->captured) != 0) {
		fail_msg("%s: record %llu: %lld ns, %u of %u bytes at %llu; %lld ns, %u of %u "
			 "bytes at %llu",
			 what, (unsigned long long)i, (long long)a->time_ns, a->captured, a->length,
			 (unsigned long long)a->at, (long long)b->time_ns, b->captured, b->length,
			 (unsigned long long)b->at);
	}
}

struct usk_record *next(struct cursor *c)
{
	if (c->at == c->n) {
		struct usk_err err = { 0 };
		if (usk_trace_records(c->t, c->record, c->batch, &c->n, &err)) {
			fail_msg("%s", err.msg);
		}
		assert_true(c->n <= c->batch);
		c->at = 0;
	}
	return c->at < c->n ? &c->record[c->at++] : NULL;
}

static const char *behind_path(const struct usk_trace *t)
{
	const char *damage = usk_trace_damage(t);
	return damage ? damage + strlen(usk_trace_path(t)) : "";
}

uint64_t check_doors(const char *what, const struct bytes *b)
{
	struct cursor c[3] = { { .t = open_file(b), .batch = 64 },
			       { .t = open_file(b), .batch = 1 },
			       { .t = open_memory(b), .batch = 7 } };
	uint64_t n = 0;
	for (int round = 0; round < 2; round++) {
		n = 0;
		for (;; n++) {
			struct usk_record *r[3] = { next(&c[0]), next(&c[1]), next(&c[2]) };
			assert_true(!r[0] == !r[1] && !r[0] == !r[2]);
			if (!r[0]) {
				break;
			}
			assert_same(what, n, r[0], r[1]);
			assert_same(what, n, r[0], r[2]);
		}
		for (int i = 2; i >= 0; i--) {
			assert_string_equal(behind_path(c[0].t), behind_path(c[i].t));
			assert_int_equal(usk_trace_rewind(c[i].t, NULL), USK_OK);
			c[i].n = c[i].at = 0;
			c[i].batch = 64 - c[i].batch + 1;
		}
	}
	for (int i = 0; i < 3; i++) {
		usk_trace_close(c[i].t);
	}
	return n;
}

void flagged(struct bytes *b, uint32_t iface, uint64_t ticks, uint32_t flags)
{
	size_t at = ng_begin(b, NG_PACKET);
	put32(b, iface);
	put32(b, (uint32_t)(ticks >> 32));
	put32(b, (uint32_t)ticks);
	put32(b, 5);
	put32(b, 500);
	put(b, "hello\0\0\0", 8);
	ng_option(b, 1, "a comment", 9);
	size_t o = b->n;
	ng_option(b, 2, "1234", 4);
	b->n = o + 4;
	put32(b, flags);
	ng_option(b, 0, NULL, 0);
	ng_end(b, at);
}

int make_trace_path(void **state)
{
	(void)state;
	int fd = mkstemp(trace_path);
	return fd < 0 ? -1 : close(fd);
}

int remove_trace_path(void **state)
{
	(void)state;
	return unlink(trace_path);
}

/* SPDX-License-Identifier: MIT */
#include "base/base.h"

#ifdef __GLIBC__
#include <malloc.h>
#endif
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static void (*out_of_memory)(size_t);

void usk_on_out_of_memory(void (*handler)(size_t bytes))
{
	out_of_memory = handler;
}

static void *checked(void *p, size_t bytes)
{
	if (!p && bytes) {
		if (out_of_memory) {
			out_of_memory(bytes);
		}
		abort();
	}
	return p;
}

static size_t product(size_t n, size_t size)
{
	size_t bytes;
	if (__builtin_mul_overflow(n, size, &bytes)) {
		checked(NULL, SIZE_MAX);
	}
	return bytes;
}

void *usk_alloc(size_t n, size_t size)
{
	size_t bytes = product(n, size);
	return checked(calloc(1, bytes ? bytes : 1), bytes);
}

void *usk_grow(void *p, size_t n, size_t size)
{
	size_t bytes = product(n, size);
	return checked(realloc(p, bytes ? bytes : 1), bytes);
}

/* Whose heap it is decides: to a program that goes on with other things it would be a loss. */
static bool gives_back;

void usk_give_back_arrays(void)
{
	gives_back = true;
#ifdef __GLIBC__
	mallopt(M_MMAP_THRESHOLD, 1 << 20); /* which otherwise grows with what is freed */
#endif
}

void usk_give_back(void)
{
#ifdef __GLIBC__
	if (gives_back) {
		malloc_trim(0);
	}
#endif
}

void usk_free_all(void *const *p, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		free(p[i]);
	}
}

void *usk_more_room(void *p, size_t *cap, size_t size)
{
	*cap = *cap ? *cap * 2 : 16;
	return usk_grow(p, *cap, size);
}

char *usk_strdup(const char *s)
{
	size_t n = strlen(s) + 1;
	return memcpy(usk_alloc(n, 1), s, n);
}

char *usk_vformat(const char *fmt, va_list ap)
{
	char *s = NULL;
	return checked(vasprintf(&s, fmt, ap) < 0 ? NULL : s, 1);
}

char *usk_format(const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	char *s = usk_vformat(fmt, ap);
	va_end(ap);
	return s;
}

enum usk_status usk_fail(struct usk_err *err, enum usk_status code, uint64_t at, const char *fmt,
			 ...)
{
	if (err) {
		va_list ap;
		err->code = code;
		err->at = at;
		va_start(ap, fmt);
		vsnprintf(err->msg, sizeof err->msg, fmt, ap);
		va_end(ap);
	}
	return code;
}

enum usk_status usk_fail_in(enum usk_status status, struct usk_err *err, const char *fmt, ...)
{
	if (status && err) {
		va_list ap;
		va_start(ap, fmt);
		char *context = usk_vformat(fmt, ap), *was = usk_strdup(err->msg);
		va_end(ap);
		snprintf(err->msg, sizeof err->msg, "%s: %s", context, was);
		USK_FREE(context, was);
	}
	return status;
}

int usk_by_int64(const void *pa, const void *pb)
{
	return usk_order(*(const int64_t *)pa, *(const int64_t *)pb);
}

int usk_by_double(const void *pa, const void *pb)
{
	double a = *(const double *)pa, b = *(const double *)pb;
	return (a > b) - (a < b);
}

int usk_by_string(const void *pa, const void *pb)
{
	return strcmp(*(const char *const *)pa, *(const char *const *)pb);
}

int64_t usk_clock_ns(clockid_t id)
{
	struct timespec t;
	clock_gettime(id, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

void usk_sleep_ns(int64_t ns)
{
	const struct timespec t = { ns / 1000000000, ns % 1000000000 };
	nanosleep(&t, NULL);
}

/* xoshiro256** (Blackman, Vigna 2018), seeded by SplitMix64 as its authors advise. */
void usk_rng_seed(struct usk_rng *r, uint64_t seed)
{
	for (int i = 0; i < 4; i++) {
		seed += UINT64_C(0x9e3779b97f4a7c15);
		r->s[i] = usk_mix(seed);
	}
}

static uint64_t rotl(uint64_t x, int k)
{
	return x << k | x >> (64 - k);
}

uint64_t usk_rng_next(struct usk_rng *r)
{
	uint64_t *s = r->s;
	uint64_t out = rotl(s[1] * 5, 7) * 9;
	uint64_t t = s[1] << 17;
	s[2] ^= s[0];
	s[3] ^= s[1];
	s[1] ^= s[2];
	s[0] ^= s[3];
	s[2] ^= t;
	s[3] = rotl(s[3], 45);
	return out;
}

uint64_t usk_rng_below(struct usk_rng *r, uint64_t n)
{
	/* Reject the short last block, so that every value is equally likely. */
	uint64_t limit = UINT64_MAX - UINT64_MAX % n;
	uint64_t x;
	do {
		x = usk_rng_next(r);
	} while (x >= limit);
	return x % n;
}

double usk_rng_unit(struct usk_rng *r)
{
	return (double)(usk_rng_next(r) >> 11) * 0x1p-53;
}

double usk_rng_exponential(struct usk_rng *r, double mean)
{
	return -mean * log1p(-usk_rng_unit(r));
}

double usk_rng_normal(struct usk_rng *r)
{
	/* Box and Muller; the second value is not kept, so that a draw has no hidden state. */
	double radius = sqrt(usk_rng_exponential(r, 2.0));
	return radius * cos(6.283185307179586 * usk_rng_unit(r));
}

void usk_grid_join(struct usk_grid *g, const struct usk_grid *more)
{
	for (int k = 0; k < 2 && k < more->distinct; k++) {
		usk_grid_add(g, more->few[k]);
	}
	g->ns = usk_gcd(g->ns, more->ns);
	g->distinct = more->distinct > g->distinct ? more->distinct : g->distinct;
}

int64_t usk_grid_ns(const struct usk_grid *g)
{
	int64_t first = g->few[0] == INT64_MIN ? 0 : llabs(g->few[0]);
	int64_t all = usk_gcd(g->ns, first), unit = 1;
	if (g->distinct > 2) {
		return g->ns;
	}
	while (all && unit < 1000000000 && all % (10 * unit) == 0) {
		unit *= 10;
	}
	return unit;
}

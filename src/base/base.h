/* SPDX-License-Identifier: MIT */
/*
 * base.h - errors, memory, integers, hashing and random numbers: know nothing of clocks
 */
#ifndef USK_BASE_H
#define USK_BASE_H

#include "base/answer.h"

#include <stdarg.h>
#include <sys/types.h>

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

#if defined(__SIZEOF_INT128__)
__extension__ typedef __int128 usk_i128;
__extension__ typedef unsigned __int128 usk_u128;
#else
#error "unskew needs a 64-bit machine with __int128"
#endif

/** Format one sentence into err, if there is one, and return code: a failure is one statement. */
enum usk_status usk_fail(struct usk_err *err, enum usk_status code, uint64_t at, const char *fmt,
			 ...) __attribute__((format(printf, 4, 5)));
/** Put "context: " before the sentence of a failure, if err has one; returns the status, which may be
 * USK_OK: then nothing is done. */
enum usk_status usk_fail_in(enum usk_status status, struct usk_err *err, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* Allocation that does not return on exhaustion. Sizes are checked against overflow. */
void *usk_alloc(size_t n, size_t size);		/* zeroed */
void *usk_grow(void *p, size_t n, size_t size); /* realloc to n items */
char *usk_strdup(const char *s);
char *usk_format(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
char *usk_vformat(const char *fmt, va_list ap) __attribute__((format(printf, 1, 0)));

/* Where the C library can do it: from now on arrays of a MB and more go back to the system once
 * they are freed, for the whole program; then, whenever it says so, all that was freed in between
 * what is kept. */
void usk_give_back_arrays(void);
void usk_give_back(void);

/** All that a struct holds, say: free() of each. */
#define USK_FREE(...) usk_free_all((void *[]){ __VA_ARGS__ }, COUNT(((void *[]){ __VA_ARGS__ })))
void usk_free_all(void *const *p, size_t n);

/** Room for one more item behind the n of an array that has some for *cap, nearly always. */
void *usk_more_room(void *p, size_t *cap, size_t size);
static inline void *usk_room(void *p, size_t n, size_t *cap, size_t size)
{
	return n < *cap ? p : usk_more_room(p, cap, size);
}
/* One item more, which n counts: *USK_ADD(p, n, cap) = item; where p and n are not in the item. */
#define USK_ADD(p, n, cap) ((p) = usk_room((p), (n), &(cap), sizeof *(p)), &(p)[(n)++])
/* The same of a list that is short, so that nobody counts room for it: *USK_APPEND(p, n) = item; */
#define USK_APPEND(p, n) ((p) = usk_grow((p), (n) + 1, sizeof *(p)), &(p)[(n)++])

/** Sort n rows of so many words by the first; rows of the same one stay in their order. O(n), and
 * as much memory again. */
void usk_sort_rows(uint64_t *row, size_t n, size_t words);
/** The same of n items of so many bytes, by the key at their front; room has as many more. */
void usk_sort_by_key(void *item, void *room, size_t n, size_t size);
/** Sort numbers; short lists without memory. */
void usk_sort_numbers(int64_t *v, size_t n);
/** The same, and each once: how many are left. */
size_t usk_sort_distinct(int64_t *v, size_t n);
/** Each becomes the most of it and all before, or the least of it and all behind: so they rise. */
void usk_most_before(int64_t *v, size_t n);
void usk_least_behind(int64_t *v, size_t n);

/** How many leaves a tree of halves has that is of n: a power of two. */
static inline size_t usk_leaves(size_t n)
{
	size_t leaves = 1;
	while (leaves < n) {
		leaves *= 2;
	}
	return leaves;
}

/*
 * i becomes the first of from..to - 1 for which an expression in i holds, as it then does for all
 * behind it; `to` if it holds for none.
 */
#define USK_FIRST(i, from, to, holds)                                                              \
	do {                                                                                       \
		__typeof__(i) low_ = (from), high_ = (to);                                         \
		while (low_ < high_) {                                                             \
			(i) = low_ + (high_ - low_) / 2;                                           \
			if (holds) {                                                               \
				high_ = (i);                                                       \
			} else {                                                                   \
				low_ = (i) + 1;                                                    \
			}                                                                          \
		}                                                                                  \
		(i) = low_;                                                                        \
	} while (0)

/* A heap whose first item is before all others by before(&a, &b): one more behind the n that are in it,
 * which it has room for; and without its first one, so that n are left. */
#define USK_HEAP_PUT(heap, n, item, before)                                                        \
	do {                                                                                       \
		size_t at_ = (n);                                                                  \
		for (; at_ && before(&(item), &(heap)[(at_ - 1) / 2]); at_ = (at_ - 1) / 2) {      \
			(heap)[at_] = (heap)[(at_ - 1) / 2];                                       \
		}                                                                                  \
		(heap)[at_] = (item);                                                              \
	} while (0)
#define USK_HEAP_TAKE(heap, n, before)                                                             \
	do {                                                                                       \
		const __typeof__(*(heap)) last_ = (heap)[n];                                       \
		size_t at_ = 0;                                                                    \
		for (size_t next_; (next_ = 2 * at_ + 1) < (n); at_ = next_) {                     \
			next_ += next_ + 1 < (n) && before(&(heap)[next_ + 1], &(heap)[next_]);    \
			if (!before(&(heap)[next_], &last_)) {                                     \
				break;                                                             \
			}                                                                          \
			(heap)[at_] = (heap)[next_];                                               \
		}                                                                                  \
		(heap)[at_] = last_;                                                               \
	} while (0)

/* Floor and ceiling of a / b for b > 0. */
static inline usk_i128 usk_floor_div(usk_i128 a, usk_i128 b)
{
	if (a == (int64_t)a && b == (int64_t)b && b > 0) { /* many times faster */
		int64_t x = (int64_t)a, y = (int64_t)b;
		return x / y - (x % y < 0);
	}
	usk_i128 q = a / b;
	return a % b < 0 ? q - 1 : q;
}

static inline usk_i128 usk_ceil_div(usk_i128 a, usk_i128 b)
{
	if (a == (int64_t)a && b == (int64_t)b && b > 0) {
		int64_t x = (int64_t)a, y = (int64_t)b;
		return x / y + (x % y > 0);
	}
	usk_i128 q = a / b;
	return a % b > 0 ? q + 1 : q;
}

/* The ceiling of b a / whole, 0 <= a <= whole, 0 < whole < 2^63: never out of range. */
static inline usk_i128 usk_ceil_share(usk_i128 b, usk_i128 a, usk_i128 whole)
{
	usk_i128 q = usk_floor_div(b, whole);
	return q * a + usk_ceil_div((b - q * whole) * a, whole);
}

/* <0, 0, >0 as a is before, at, behind b. */
static inline int usk_order(int64_t a, int64_t b)
{
	return (a > b) - (a < b);
}

static inline usk_i128 usk_clamp(usk_i128 v, usk_i128 least, usk_i128 most)
{
	return v < least ? least : v > most ? most : v;
}

/* The greatest common divisor of a and b, both >= 0; gcd(0, b) is b. */
static inline int64_t usk_gcd(int64_t a, int64_t b)
{
	while (b) {
		int64_t r = a % b;
		a = b;
		b = r;
	}
	return a;
}

/* What stamps may have been rounded down to. */
struct usk_grid {
	int64_t ns; /* gcd of their differences; 0: there is none */
	int64_t few[2], last;
	uint8_t distinct; /* so many different ones, of three */
};

static inline void usk_grid_add(struct usk_grid *g, int64_t t)
{
	/* Most are 1 within a few numbers: then there is no more to learn. */
	if (g->ns == 1 && g->distinct == 3) {
		return;
	}
	int64_t d, last = g->distinct ? g->last : t;
	if (g->distinct < 3 && !(g->distinct && t == g->few[0]) &&
	    !(g->distinct > 1 && t == g->few[1])) {
		if (g->distinct < 2) {
			g->few[g->distinct] = t;
		}
		g->distinct++;
	}
	g->last = t;
	/* A difference of 2^63 is left out. */
	if (t != last && !__builtin_sub_overflow(t > last ? t : last, t > last ? last : t, &d)) {
		g->ns = g->ns && d % g->ns == 0 ? g->ns : usk_gcd(d, g->ns);
	}
}

/** Stamps of both. */
void usk_grid_join(struct usk_grid *g, const struct usk_grid *more);
/** The coarsest that they may have been rounded down to; of less than three a decimal unit, 1 s at
 * most. A band is too wide by one that is too coarse, and may be wrong by one that is too fine; and
 * two differences have a divisor by chance as seldom as it is large. */
int64_t usk_grid_ns(const struct usk_grid *g);

static inline bool usk_is_time(usk_i128 ns)
{
	return ns >= -USK_TIME_MAX && ns <= USK_TIME_MAX;
}

/* A value cut at +-USK_TIME_MAX. */
static inline int64_t usk_cut(usk_i128 v)
{
	return v > USK_TIME_MAX ? USK_TIME_MAX : v < -USK_TIME_MAX ? -USK_TIME_MAX : (int64_t)v;
}

/* The nearest int64_t. */
static inline int64_t usk_saturate(usk_i128 x)
{
	return x > INT64_MAX ? INT64_MAX : x < INT64_MIN ? INT64_MIN : (int64_t)x;
}

/* Addresses are 128 bits in two big-endian words; IPv4 as ::ffff:a.b.c.d. */
struct usk_addr {
	uint64_t hi, lo;
};

static inline bool usk_addr_same(struct usk_addr a, struct usk_addr b)
{
	return a.hi == b.hi && a.lo == b.lo;
}

/* A strong 64-bit finaliser (Steele's SplitMix64): every input bit moves every output bit. */
static inline uint64_t usk_mix(uint64_t x)
{
	x ^= x >> 30;
	x *= UINT64_C(0xbf58476d1ce4e5b9);
	x ^= x >> 27;
	x *= UINT64_C(0x94d049bb133111eb);
	return x ^ x >> 31;
}

/* Two words into one: the halves of their 128-bit product, folded. One multiplication. */
static inline uint64_t usk_fold(uint64_t a, uint64_t b)
{
	usk_u128 p =
		(usk_u128)(a ^ UINT64_C(0x9e3779b97f4a7c15)) * (b ^ UINT64_C(0xd1b54a32d192ed03));
	return (uint64_t)p ^ (uint64_t)(p >> 64);
}

/* ---- sort.c: rows by their members ---------------------------------------------------------- */

/* A member that rows are sorted by. */
struct usk_key {
	enum {
		KEYS_END,
		KEY_INT64,
		KEY_INT,
		KEY_UINT64,
		KEY_UINT32,
		KEY_UINT8,
		KEY_DOUBLE,
		KEY_TEXT
	} kind;
	bool falling; /* the greatest first */
	size_t at;
};

#define KEY_KIND(value)                                                                            \
	_Generic((value),                                                                          \
		int64_t: KEY_INT64,                                                                \
		int: KEY_INT,                                                                      \
		uint64_t: KEY_UINT64,                                                              \
		uint32_t: KEY_UINT32,                                                              \
		uint8_t: KEY_UINT8,                                                                \
		bool: KEY_UINT8,                                                                   \
		double: KEY_DOUBLE,                                                                \
		char *: KEY_TEXT,                                                                  \
		const char *: KEY_TEXT)
/* Of struct `type`, its least or its greatest first. */
#define BY(type, member)                                                                           \
	{                                                                                          \
		KEY_KIND(((struct type *)NULL)->member), false, offsetof(struct type, member)      \
	}
#define FALLING(type, member)                                                                      \
	{                                                                                          \
		KEY_KIND(((struct type *)NULL)->member), true, offsetof(struct type, member)       \
	}
/* Several, the first counts most. */
#define KEYS(...) ((const struct usk_key[]){ __VA_ARGS__, { .kind = KEYS_END } })
#define KEYS_CALLED(name, ...)                                                                     \
	static const struct usk_key name[] = { __VA_ARGS__, { .kind = KEYS_END } }

/** row[n] in the order of these keys. */
void usk_sort(void *row, size_t n, size_t size, const struct usk_key *key);
/** The row of row[n], so sorted, that has the members of `like`; NULL: there is none. */
void *usk_find(const void *like, const void *row, size_t n, size_t size, const struct usk_key *key);
/** <0, 0, >0 as row a is before, at, behind b. */
int usk_order_by(const void *a, const void *b, const struct usk_key *key);

/* For qsort() of int64_t, double, and const char *. */
int usk_by_int64(const void *a, const void *b);
int usk_by_double(const void *a, const void *b);
int usk_by_string(const void *a, const void *b);

/** What a clock of the kernel reads, ns. */
int64_t usk_clock_ns(clockid_t id);
/** A signal may end it early. */
void usk_sleep_ns(int64_t ns);

/* Own seeded generator, so that the same seed gives the same bytes everywhere. */
struct usk_rng {
	uint64_t s[4];
};
void usk_rng_seed(struct usk_rng *r, uint64_t seed);
uint64_t usk_rng_next(struct usk_rng *r);
uint64_t usk_rng_below(struct usk_rng *r, uint64_t n); /* 0 <= x < n, n > 0, unbiased */
double usk_rng_unit(struct usk_rng *r);		       /* 0 <= x < 1 */
double usk_rng_exponential(struct usk_rng *r, double mean);
double usk_rng_normal(struct usk_rng *r);

/* ---- parallel.c: the same done to many things, by several threads ------------------------ */

/** As many as the system has processors for this process, 1 at least. */
unsigned usk_processors(void);

/**
 * Calls work(ctx, from, to) for stretches of 0..n of `step` each, in any order and at the same
 * time; returns when all are done. What a stretch does must not depend on others, so that the
 * number of threads shows nowhere. threads 0: usk_processors(); the caller's is one of them.
 */
void usk_parallel(size_t n, size_t step, unsigned threads,
		  void (*work)(void *ctx, size_t from, size_t to), void *ctx);

/* A piece of work beside the caller's own; zeroed: none. */
struct usk_job {
	void (*work)(void *ctx);
	void *ctx;
	struct usk_job *next;
	enum { USK_JOB_NONE, USK_JOB_WAITS, USK_JOB_RUNS } state;
};

struct usk_helpers; /* threads that do jobs, in the order in which these were begun */

/** So many, but no more than there are processors beside the caller's, or threads to be had. All jobs
 * are begun and ended by one thread. */
struct usk_helpers *usk_helpers_new(unsigned most);
/** NULL is allowed. All jobs that were begun have ended. */
void usk_helpers_free(struct usk_helpers *h);
unsigned usk_helpers_number(const struct usk_helpers *h);
/** Begin work(ctx). */
void usk_job_begin(struct usk_helpers *h, struct usk_job *j, void (*work)(void *ctx), void *ctx);
/** Until it is done, if one was begun: what no helper has come to is done by the caller. */
void usk_job_end(struct usk_helpers *h, struct usk_job *j);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * Two processes tied by a page as a line (Loeser 2003), their clocks the processor's counter run
 * too fast and an hour off: the precision of each round against the truth, and a partner that is
 * killed. With more rounds: test_tie N.
 *
 * The machine may be busy, so that rounds are dropped; of those that are not, none may be wrong.
 */
#include "line/line.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* What both clocks are made of; one for the whole machine. */
static int64_t truth_now(void)
{
#if defined(__x86_64__)
	return (int64_t)__builtin_ia32_rdtsc();
#else
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC_RAW, &t);
	return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
#endif
}

static int64_t raw_ns(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC_RAW, &t);
	return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

/* So many parts per million of the truth, from an origin that both share. */
struct distorted {
	int64_t origin, from, per_million;
};

static int64_t shows(const struct distorted *d, usk_i128 truth)
{
	return d->from + (int64_t)usk_floor_div((truth - d->origin) * d->per_million, 1000000);
}

static int64_t read_distorted(void *ctx)
{
	return shows(ctx, truth_now());
}

/* The first true count at which d shows at least `ticks`. */
static usk_i128 first_at(const struct distorted *d, int64_t ticks)
{
	return d->origin + usk_ceil_div(((usk_i128)ticks - d->from) * 1000000, d->per_million);
}

/* Is local the time of `ours` while `theirs` shows remote, within precision? */
static bool holds(const struct distorted *ours, const struct distorted *theirs, int64_t remote,
		  int64_t local, int64_t precision)
{
	usk_i128 first = first_at(theirs, remote), last = first_at(theirs, remote + 1) - 1;
	usk_i128 lo = shows(ours, first), hi = shows(ours, last);
	return local - lo <= precision && lo - local <= precision && local - hi <= precision &&
	       hi - local <= precision;
}

static void serve(const char *path, struct distorted *clock)
{
	struct line *l;
	struct usk_err err;
	if (line_page_open(path, LINE_ANSWERS, (struct line_counter){ read_distorted, clock }, &l,
			   &err)) {
		fprintf(stderr, "%s\n", err.msg);
		_exit(1);
	}
	const struct line_limits limits = { .stamp_ns = 20000, .wake_ns = 10000000 };
	for (;;) { /* until killed */
		line_answer(l, &limits, 1000000000);
	}
}

static int ascending(const void *pa, const void *pb)
{
	double a = *(const double *)pa, b = *(const double *)pb;
	return (a > b) - (a < b);
}

struct result {
	double *claim_ns, *ahead_ns; /* of each round, at once and before the exchange */
	size_t n, n_ahead, wrong;
};

static void tie(struct line_tie *t, const struct distorted *ours, const struct distorted *theirs,
		double ns_per_tick, long rounds, int64_t until_ns, struct result *out)
{
	for (long i = 0; i < rounds && line_boot_time_ns(t->line) < until_ns; i++) {
		struct line_round r;
		line_tie_round(t, &r);
		if (!r.good) {
			continue;
		}
		bool good = !r.jumped &&
			    holds(ours, theirs, r.s.remote, r.s.remote + r.offset, r.precision);
		out->claim_ns[out->n++] = (double)r.precision * ns_per_tick;
		if (r.foretold) {
			good = good &&
			       holds(ours, theirs, r.s.remote, r.before.local, r.before.precision);
			out->ahead_ns[out->n_ahead++] = (double)r.before.precision * ns_per_tick;
		}
		struct usk_live_time later;
		int64_t in_a_second = r.s.remote + (int64_t)(1e9 / ns_per_tick);
		if (r.mapped && usk_live_map_at(&t->map, in_a_second, &later) == USK_LIVE) {
			good = good &&
			       holds(ours, theirs, in_a_second, later.local, later.precision);
		}
		if (!good && !out->wrong++) {
			printf("round %ld: off by more than %lld ticks\n", i,
			       (long long)r.precision);
		}
	}
}

/* Milliseconds until a partner that is gone is missed; the shortest of some, as a busy machine may
 * hold us up in between. */
static double missed_after_ms(struct line_tie *t, double limit_ms, bool *always)
{
	enum { TRIES = 3, MOST = 30 };
	double best = 1e9;
	*always = true;
	for (int i = 0; i < TRIES || (i < MOST && best > limit_ms); i++) {
		struct usk_three_stamps s;
		line_sleep(t->line, LINE_REST_NS + 1000000);
		int64_t start = line_boot_time_ns(t->line);
		*always = line_ask(t->line, &t->limits, (uint32_t)i, &s) != LINE_DONE && *always;
		double took = (double)(line_boot_time_ns(t->line) - start) / 1e6;
		best = took < best ? took : best;
	}
	return best;
}

/* In the middle of whatever exchange. */
static void kill_amid(struct line_tie *t, pid_t partner)
{
	pid_t killer = fork();
	if (!killer) {
		line_sleep(NULL, 2345678);
		kill(partner, SIGKILL);
		_exit(0);
	}
	while (!waitpid(partner, NULL, WNOHANG)) {
		struct usk_three_stamps s;
		line_ask(t->line, &t->limits, t->number++, &s);
	}
	waitpid(killer, NULL, 0);
}

static double quantile(double *v, size_t n, double q)
{
	qsort(v, n, sizeof *v, ascending);
	return n ? v[(size_t)(q * (double)(n - 1))] : 0;
}

int main(int argc, char **argv)
{
	long rounds = argc > 1 ? atol(argv[1]) : 3000;
	if (sysconf(_SC_NPROCESSORS_ONLN) < 2) {
		puts("needs two processors");
		return 77;
	}
	char path[] = "/dev/shm/unskew-line.XXXXXX", elsewhere[] = "/tmp/unskew-line.XXXXXX";
	char *page = path;
	int fd = mkstemp(page);
	if (fd < 0) {
		page = elsewhere;
		fd = mkstemp(page);
	}
	close(fd);
	int64_t origin = truth_now(), origin_ns = raw_ns();
	struct distorted ours = { origin, 0, 1000000 },
			 theirs = { origin, INT64_C(10000000000000), 1000080 };
	pid_t child = fork();
	if (!child) {
		serve(page, &theirs);
	}
	struct line *l;
	struct usk_err err;
	if (line_page_open(page, LINE_ASKS, (struct line_counter){ read_distorted, &ours }, &l,
			   &err)) {
		puts(err.msg);
		return 1;
	}
	struct line_tie t = line_tie_of(l);
	line_sleep(l, 200000000);
	double ns_per_tick = (double)(raw_ns() - origin_ns) / (double)(truth_now() - origin);
	t.good_ticks = (int64_t)(10000 / ns_per_tick);
	t.max_age_ns = INT64_C(100000000000);
	struct result r = { usk_alloc((size_t)rounds, sizeof(double)),
			    usk_alloc((size_t)rounds, sizeof(double)), 0, 0, 0 };
	/* Each round that is dropped costs a rest, and on a busy machine most are. */
	int64_t longest_ns = argc > 1 ? INT64_C(1800000000000) : INT64_C(8000000000);
	tie(&t, &ours, &theirs, ns_per_tick, rounds, line_boot_time_ns(l) + longest_ns, &r);
	printf("%llu rounds, %llu dropped, %zu wrong; claimed: median %.0f ns, 99 %% %.0f ns; "
	       "before "
	       "the exchange: median %.0f ns\n",
	       (unsigned long long)t.rounds, (unsigned long long)t.dropped, r.wrong,
	       quantile(r.claim_ns, r.n, 0.5), quantile(r.claim_ns, r.n, 0.99),
	       quantile(r.ahead_ns, r.n_ahead, 0.5));
	for (int i = 0; i < LINE_OUTCOMES; i++) {
		if (t.why[i]) {
			printf("%s: %llu\n", line_outcome_text((enum line_outcome)i),
			       (unsigned long long)t.why[i]);
		}
	}
	kill_amid(&t, child);
	bool always;
	double limit_ms = (double)(3 * t.limits.wake_ns + t.limits.stamp_ns) / 1e6;
	double missed_ms = missed_after_ms(&t, limit_ms, &always);
	printf("killed partner %s after %.2f ms, at most %.2f allowed\n",
	       always ? "missed" : "not missed", missed_ms, limit_ms);
	line_close(l);
	unlink(page);
	free(r.claim_ns);
	free(r.ahead_ns);
	if (!r.n) {
		puts("no round was good: the machine has something else to do");
	}
	bool failed = r.wrong || !always || missed_ms > limit_ms;
	return failed ? 1 : r.n ? 0 : 77;
}

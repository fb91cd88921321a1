/* SPDX-License-Identifier: MIT */
/*
 * sources.c - the clocks of this machine, and how good each is
 *
 * In    the kernel's clocks, the processor's counter, PTP devices
 * Out   what a read costs, the smallest step, repeats, steps back on one core and between cores,
 *       drift against CLOCK_MONOTONIC_RAW
 * Not   compensation for the cost (net.c)
 */
#include "clock/clock.h"

#include <fcntl.h>
#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/timex.h>
#include <time.h>
#include <unistd.h>

/* ---- what there is ---------------------------------------------------------------- */

static int64_t read_posix(const struct source *s)
{
	return usk_clock_ns(s->id);
}

#if defined(__x86_64__)
#define COUNTER "tsc"
static int64_t read_counter(const struct source *s)
{
	(void)s;
	return (int64_t)__builtin_ia32_rdtsc();
}
#elif defined(__aarch64__)
#define COUNTER "cntvct"
static int64_t read_counter(const struct source *s)
{
	(void)s;
	int64_t v;
	__asm__ volatile("mrs %0, cntvct_el0" : "=r"(v));
	return v;
}
#endif

static const struct {
	const char *name;
	clockid_t id;
} posix[] = {
	{ "monotonic_raw", CLOCK_MONOTONIC_RAW },
	{ "monotonic", CLOCK_MONOTONIC },
	{ "realtime", CLOCK_REALTIME },
	{ "boottime", CLOCK_BOOTTIME },
	{ "tai", CLOCK_TAI },
	{ "monotonic_coarse", CLOCK_MONOTONIC_COARSE },
	{ "realtime_coarse", CLOCK_REALTIME_COARSE },
};

/* The kernel's own rule for the clock behind a descriptor. */
static clockid_t clock_of(int fd)
{
	return (clockid_t)(~(unsigned)fd << 3 | 3);
}

/* fd: what goes with it, -1 if nothing does. Returns how many there are now. */
static size_t add_clock(struct source *out, size_t n, const char *name, clockid_t id, int fd)
{
	struct timespec t;
	if (clock_gettime(id, &t)) {
		return n;
	}
	out[n] = (struct source){ .read = read_posix, .id = id, .fd = fd, .ns_per_tick = 1 };
	snprintf(out[n].name, sizeof out->name, "%s", name);
	return n + 1;
}

size_t sources_open(struct source out[SOURCES_MAX])
{
	enum { PTP_MAX = 16 };
	size_t n = 0;
	for (size_t i = 0; i < COUNT(posix); i++) {
		n = add_clock(out, n, posix[i].name, posix[i].id, -1);
	}
#ifdef COUNTER
	out[n++] = (struct source){ .name = COUNTER, .read = read_counter, .fd = -1 };
#endif
	for (int i = 0; i < PTP_MAX && n < SOURCES_MAX; i++) {
		char path[32];
		snprintf(path, sizeof path, "/dev/ptp%d", i);
		int fd = open(path, O_RDONLY | O_CLOEXEC);
		size_t before = n;
		n = fd < 0 ? n : add_clock(out, n, strrchr(path, '/') + 1, clock_of(fd), fd);
		if (fd >= 0 && n == before) {
			close(fd);
		}
	}
	return n;
}

void sources_close(struct source *s, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (s[i].fd >= 0) {
			close(s[i].fd);
		}
	}
}

size_t cpus_usable(int cpu[CPUS_MAX])
{
	cpu_set_t set;
	size_t n = 0;
	if (!sched_getaffinity(0, sizeof set, &set)) {
		for (size_t i = 0; i < CPU_SETSIZE && n < CPUS_MAX; i++) {
			if (CPU_ISSET(i, &set)) {
				cpu[n++] = (int)i;
			}
		}
	}
	return n;
}

void cpu_pin(int cpu)
{
	cpu_set_t set;
	CPU_ZERO(&set);
	CPU_SET((size_t)cpu, &set);
	pthread_setaffinity_np(pthread_self(), sizeof set, &set);
}

/* ---- drift -------------------------------------------------------------------------- */

struct bracket source_bracket(const struct source *s, const struct source *raw, int tries)
{
	struct bracket best = { 0 };
	for (int i = 0; i < tries; i++) {
		int64_t before = raw->read(raw), ticks = s->read(s), after = raw->read(raw);
		if (!i || after - before < best.after - best.before) {
			best = (struct bracket){ before, ticks, after };
		}
	}
	return best;
}

enum { TRIES = 100 };

static void drift(struct source *s, const struct bracket *a, const struct bracket *b,
		  struct source_figures *f)
{
	double ticks = (double)(b->time - a->time);
	double ns = (double)((b->before + b->after) - (a->before + a->after)) / 2;
	struct rate r;
	f->drift_ppm = f->drift_error_ppm = NAN;
	if (!(ns > 0)) {
		return;
	}
	if (!(s->ns_per_tick > 0)) {
		s->ns_per_tick = ns / ticks;
		f->hz = ticks / ns * 1e9;
	} else if (bracket_rate(a, b, 1, f->resolution_ns > 1 ? f->resolution_ns : 0, &r)) {
		f->drift_ppm = r.ppm;
		f->drift_error_ppm = r.error_ppm;
	}
}

/* ---- steps ------------------------------------------------------------------------- */

/* Ticks from one read to the next. */
static void steps(const struct source *s, struct samples *step, struct source_figures *f)
{
	enum { READS = 100000 };
	const int64_t long_enough = 30000000; /* coarse clocks step every few ms */
	int64_t start = usk_clock_ns(CLOCK_MONOTONIC), now = start, reads = 0;
	uint64_t repeats = 0;
	int64_t least = INT64_MAX, back = 0;
	while (reads < READS || now - start < long_enough) {
		int64_t seen[256];
		seen[0] = s->read(s);
		for (size_t i = 1; i < COUNT(seen); i++) {
			seen[i] = s->read(s);
		}
		for (size_t i = 1; i < COUNT(seen); i++) {
			int64_t d = seen[i] - seen[i - 1];
			repeats += !d;
			f->backwards += d < 0;
			back = d < back ? d : back;
			least = d > 0 && d < least ? d : least;
			if (reads < READS) {
				samples_add(step, (double)d);
			}
		}
		reads += (int64_t)COUNT(seen) - 1;
		int64_t was = now;
		now = usk_clock_ns(CLOCK_MONOTONIC);
		double cost = (double)(now - was) / (double)COUNT(seen);
		f->cost_ns = f->cost_ns > 0 && f->cost_ns < cost ? f->cost_ns : cost;
	}
	f->repeats = (double)repeats / (double)reads;
	f->resolution_ns = least == INT64_MAX ? NAN : (double)least;
	f->backwards_ns = (double)-back;
}

/* ---- two cores in turn --------------------------------------------------------------- */

struct turns {
	const struct source *source;
	int cpu[2];
	_Atomic unsigned players, turn;
	atomic_bool off;
	int64_t until_ns; /* fewer turns where cores have so much else to do that they take longer */
	int64_t last;	  /* handed over with the turn */
	uint64_t n, backwards;
	int64_t worst;
};

enum { TURNS = 4000, PATIENCE_NS = 200000000 };

static void *play(void *ctx)
{
	struct turns *t = ctx;
	unsigned me = atomic_fetch_add(&t->players, 1);
	cpu_pin(t->cpu[me]);
	for (unsigned i = me; i < TURNS; i += 2) {
		/* Both may have to share one core after all: then spinning alone gets nowhere. */
		for (unsigned spun = 0; atomic_load(&t->turn) != i; spun++) {
			if (atomic_load(&t->off)) {
				return NULL;
			}
			if (spun > 500) {
				if (usk_clock_ns(CLOCK_MONOTONIC) > t->until_ns) {
					atomic_store(&t->off, true);
				}
				sched_yield();
				spun = 0;
			}
		}
		int64_t now = t->source->read(t->source);
		if (i && now < t->last) {
			t->backwards++;
			t->worst = t->last - now > t->worst ? t->last - now : t->worst;
		}
		t->last = now;
		t->n++;
		atomic_store(&t->turn, i + 1);
	}
	return NULL;
}

static void across_cores(const struct source *s, struct source_figures *f)
{
	enum { PAIRS = 8 };
	int cpu[CPUS_MAX];
	size_t n = cpus_usable(cpu);
	/* With one alone there is no other to compare it with. */
	size_t step = n > 1 ? (n + PAIRS - 2) / PAIRS : 1;
	for (size_t i = step; i < n; i += step) {
		struct turns t = { .source = s,
				   .cpu = { cpu[0], cpu[i] },
				   .until_ns = usk_clock_ns(CLOCK_MONOTONIC) + PATIENCE_NS };
		pthread_t thread[2];
		int started = 0;
		while (started < 2 && !pthread_create(&thread[started], NULL, play, &t)) {
			started++;
		}
		/* Alone, the first would wait for its turn for ever. */
		atomic_store(&t.off, started < 2);
		while (started) {
			pthread_join(thread[--started], NULL);
		}
		f->turns += t.n;
		f->turns_backwards += t.backwards;
		double worst = (double)t.worst;
		f->turns_backwards_ns =
			worst > f->turns_backwards_ns ? worst : f->turns_backwards_ns;
	}
}

void sources_measure(struct source *s, size_t n, double seconds, struct source_figures *out)
{
	struct bracket start[SOURCES_MAX];
	memset(out, 0, n * sizeof *out);
	for (size_t i = 0; i < n; i++) {
		start[i] = source_bracket(&s[i], &s[0], TRIES);
	}
	usk_sleep_ns((int64_t)(seconds * 1e9));
	for (size_t i = 0; i < n; i++) {
		struct samples step = { .n = 0 };
		steps(&s[i], &step, &out[i]);
		across_cores(&s[i], &out[i]);
		struct bracket end = source_bracket(&s[i], &s[0], TRIES);
		drift(&s[i], &start[i], &end, &out[i]);
		if (!i) {
			out[i].drift_ppm = out[i].drift_error_ppm = NAN;
		}
		double ns = s[i].ns_per_tick;
		for (size_t k = 0; k < step.n; k++) {
			step.v[k] *= ns;
		}
		out[i].resolution_ns *= ns;
		out[i].backwards_ns *= ns;
		out[i].turns_backwards_ns *= ns;
		out[i].step = samples_figures(&step);
	}
}

struct discipline discipline_now(void)
{
	struct timex t = { .modes = 0 };
	struct discipline d = { .known = false };
	int state = adjtimex(&t);
	if (state < 0) {
		return d;
	}
	double unit = t.status & STA_NANO ? 1 : 1000;
	d = (struct discipline){ .known = true,
				 .synchronised = state != TIME_ERROR && !(t.status & STA_UNSYNC),
				 .frequency_ppm = (double)t.freq / 65536,
				 .offset_ns = (double)t.offset * unit,
				 .error_ns = (double)t.esterror * 1000,
				 .max_error_ns = (double)t.maxerror * 1000,
				 .tai_s = t.tai };
	return d;
}

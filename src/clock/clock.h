/* SPDX-License-Identifier: MIT */
/*
 * clock.h - this machine's own clocks, measured: what the files of this folder share
 *
 * All of it is statistics of what one machine did for a second, so it is in doubles, in ns.
 */
#ifndef USK_CLOCK_CLOCK_H
#define USK_CLOCK_CLOCK_H

#include "base/base.h"
#include "clock/counter.h"
#include "unskew_clock.h"

#include <pthread.h>
#include <stdatomic.h>

/* ---- samples.c ----------------------------------------------------------------- */

/* Values, in the order in which they came. */
struct samples {
	double *v;
	size_t n, cap;
};

enum { OCTAVES = 40, BINS = 32 };

struct figures {
	size_t n;
	double mean, deviation, trimmed; /* trimmed: mean without 1 % at either end */
	double min, median, p99, max;
	uint64_t octave[OCTAVES]; /* how many were under 2^(i + 1) ns, and not under 2^i */
	/* How many lay in each of BINS equal parts of the values without 1 % at either end. */
	double bins_from, bin_width;
	uint64_t bin[BINS];
};

void samples_add(struct samples *s, double v);
void samples_free(struct samples *s);
/** Sorts and frees them. All NAN if there is none. */
struct figures samples_figures(struct samples *s);
/** Of two runs of one length; NAN if one does not vary. */
double samples_correlation(const double *a, const double *b, size_t n);
/** Of the line with the least squares; NAN if x does not vary, or a y is NAN. */
double samples_slope(const double *x, const double *y, size_t n);

/* ---- sources.c ------------------------------------------------------------------ */

struct source {
	char name[32];
	int64_t (*read)(const struct source *s);
	clockid_t id;
	int fd;		    /* of a PTP device, else -1 */
	double ns_per_tick; /* 1 for all but the processor's counter */
};

enum { SOURCES_MAX = 32, CPUS_MAX = 1024 };

/** Those that this machine has, CLOCK_MONOTONIC_RAW first; returns how many. */
size_t sources_open(struct source out[SOURCES_MAX]);
void sources_close(struct source *s, size_t n);

/* What a clock showed between two readings of another. */
struct bracket {
	int64_t before, time, after;
};
/** Of a few tries the narrowest: the others were interrupted. */
struct bracket source_bracket(const struct source *s, const struct source *raw, int tries);

/* ---- drift.c: rates, and how they change (Loeser 2003, section 3.2.3) --------------------- */

/* Of one clock against another, from one moment to another: positive runs fast. */
struct rate {
	double ppm, error_ppm; /* no further off: eq. 3 */
	double seconds;	       /* between the moments */
	double at_s;	       /* its end, from the first moment of all */
	unsigned load;	       /* threads that loaded the machine meanwhile */
};

/** coarse_ns: what the clock steps by, beyond what the brackets allow for. False: b is not later.
 */
bool bracket_rate(const struct bracket *a, const struct bracket *b, double ns_per_tick,
		  double coarse_ns, struct rate *out);

struct drift {
	double ns_per_tick;
	uint64_t n_moments;
	struct bracket first, last;
	struct rate *rate;
	size_t n, cap;
};

/* NAN if there is no rate at all. */
struct drift_figures {
	double mean_ppm; /* from the first moment to the last */
	struct rate least, most;
	double change_ppm,
		certain_ppm; /* most - least; at least so much, whatever the errors are */
};

void drift_add(struct drift *d, const struct bracket *b, unsigned load);
struct drift_figures drift_figures(const struct drift *d);
void drift_free(struct drift *d);

struct source_figures {
	struct figures step; /* from one read to the next, ns */
	double cost_ns;
	double resolution_ns; /* smallest step that was seen */
	double repeats;	      /* share of reads that show what the one before showed */
	uint64_t backwards, turns, turns_backwards; /* on one core; reads in turn by two cores */
	double backwards_ns, turns_backwards_ns;    /* the largest */
	double drift_ppm, drift_error_ppm;	    /* against MONOTONIC_RAW; NAN for itself */
	double hz;				    /* of the processor's counter, else 0 */
};

/** Measure all of them; takes `seconds` and a little more. */
void sources_measure(struct source *s, size_t n, double seconds, struct source_figures *out);

/* How the kernel steers CLOCK_REALTIME. */
struct discipline {
	bool known, synchronised;
	double frequency_ppm, offset_ns, error_ns, max_error_ns;
	int tai_s;
};
struct discipline discipline_now(void);

/** CPUs that this process may use. */
size_t cpus_usable(int cpu[CPUS_MAX]);
void cpu_pin(int cpu);

/* ---- load.c: messages between threads, and the load under which something is measured ------- */

enum channel { CHANNEL_PIPE, CHANNEL_UNIX, CHANNEL_TCP, CHANNELS };
const char *channel_name(enum channel c);

enum work { WORK_READ, WORK_MESSAGE };

/* Threads that do what is measured, too: they are the load (Kong 1986, section 4.1). */
struct load_plan {
	enum work work;
	unsigned n;		     /* readers, or pairs that send each other messages */
	const struct source *source; /* of readers */
	enum channel channel;	     /* of messages */
	size_t bytes;
};

struct load;
/** Returns once they are under way. */
struct load *load_start(const struct load_plan *p);
void load_stop(struct load *l);

/* ---- sampler.c: a thread that reads the clock beside what is measured (method II) --------- */

struct sampler;

/**
 * On a processor of its own, as far as the caller goes, who is kept off it until the end. NULL:
 * this process has one processor only, or may start no thread.
 */
struct sampler *sampler_start(const struct source *source);
void sampler_stop(struct sampler *p);
/** Before a run: signals the thread, and waits until it reads, but not for ever. */
void sampler_run(struct sampler *p);
/** After a run. */
void sampler_rest(struct sampler *p);

/* Two reads of the thread: the first, how long they took, how far from a moment they lie; ticks. */
struct beside {
	int64_t at, took, away;
};
/** Of the last run, those nearest to `at`; infinitely far away if there are none. */
struct beside sampler_nearest(const struct sampler *p, int64_t at);

/* ---- net.c: what is measured, less what reading the clock costs -------------------- */

enum compensation { RAW, LONG_TERM, METHOD_1, METHOD_2, COMPENSATIONS };

const char *compensation_name(enum compensation c);

/* Runs of something between two pairs of reads. */
struct runs {
	const struct source *source;
	struct sampler *sampler; /* borrowed; NULL: method II has nothing to go by */
	bool nothing;		 /* what is measured is nothing: a run can be split, too */
	struct run {
		struct usk_four_stamps s;
		struct beside beside[2]; /* nearest to the second read and to the third */
	} * run;
	size_t n, cap;
};

void runs_begin(struct runs *r, const struct source *source, struct sampler *sampler);
/** Before a run and after it; returns where its stamps go: two before the work, two after it. */
int64_t *runs_before(struct runs *r);
void runs_after(struct runs *r);
/* Nothing but the reads: a call more would lie within what is measured. */
static inline void two_reads(const struct source *s, int64_t *t)
{
	t[0] = s->read(s);
	t[1] = s->read(s);
}
/** A run of nothing. */
void runs_nothing(struct runs *r);
/** A run whose stamps were taken during the last one of whoever has the same sampler. */
void runs_add(struct runs *r, const struct usk_four_stamps *s);
void runs_free(struct runs *r);

/**
 * Net times in ns of the runs that the compensation can answer for, in their order. All but RAW
 * leave out runs of which one pair of reads was split: something else had the processor in between.
 * METHOD_2 judges the sampler's pairs instead, and leaves out runs that have none nearby.
 */
void runs_net(const struct runs *r, enum compensation c, struct samples *out);
/** Is what is left of n runs enough to speak for them? Half of them, or 30 and a tenth. */
bool runs_enough(size_t kept, size_t n);

/* Zero elapsed time, measured (sections 4.4 and 4.5). */
struct zero {
	struct zero_row {
		uint64_t runs, kept;
		struct figures net; /* of those that were kept; of none if too few were */
		double k, k1;	    /* V(T_m) / V(T_A), V(T_1) / V(T_A) */
		double k_calm;	    /* k without runs that have one of the longest 1 % */
		double predicted;   /* both, by eq. 5; NAN for the first two */
		double rho[3];	    /* of T_1 and T_m, T_m and T_4, T_1 and T_4; NAN, too */
		double rho_next;    /* of T_1 and the next run's */
	} row[COMPENSATIONS];
	enum compensation best; /* of the largest k_calm; LONG_TERM if none is over 1 */
};

/** Of runs of nothing. */
void zero_figures(const struct runs *r, struct zero *out);
void zero_measure(const struct source *s, size_t n, struct zero *out);

/* ---- routines.c: a clock that only a word can be read of at a time (section 3.2) ------------- */

/* The source, as if its lowest 32 bits stood in two registers. */
enum { WORD_BITS = 16 };

struct routine_figures {
	struct figures took; /* from one call to the next, by the clock itself, ns: as printed */
	double words;	     /* read for a value, on average */
	uint64_t pairs;	     /* of calls, one after the other */
	uint64_t wrong[2]; /* pairs with what the clock did not show meanwhile: enum counter_form */
};

/** Each routine n times in pairs, in both forms. */
void routines_measure(const struct source *s, size_t n, struct routine_figures out[ROUTINES]);

/* ---- experiments.c ---------------------------------------------------------------- */

struct core {
	int cpu;
	double work_ns; /* for the same work, the fastest of some */
};
/** The same work on each core, one after the other; returns how many. */
size_t cores_measure(struct core out[CPUS_MAX]);

/**
 * The longest tick, a power of two in ns, that costs nothing where what a read takes varies by so
 * much (standard deviation, ns): 0 if that is under 1 ns (Kong, section 3.3: commensurate with the
 * uncertainty). Rounding two stamps down adds tick^2 / 6 to a variance, so 8 % to the deviation at
 * most.
 */
double tick_for(double deviation_ns);

/** How late a timer of 1 ms wakes, n times (Clement 2009, figure 3). */
struct figures wakeups_measure(size_t n);

/* ---- load.c again: messages that are measured --------------------------------------------- */

/* Requests and answers with another thread, while others do the same. */
struct exchange_plan {
	enum channel channel;
	size_t bytes, n;
	unsigned load; /* how many pairs of threads more */
	const struct source *source;
	enum compensation how;
	bool best; /* instead: by the one that measures zero best in the same run */
};

struct exchange_figures {
	bool known;
	/* Round trip; one way, by one clock: net, of those that could be compensated; of none if
	 * they are too few. */
	struct figures rpc, latency;
	uint64_t runs, rpc_kept, latency_kept;
	struct zero zero; /* measured between the round trips */
	enum compensation how;
};

void exchange_measure(const struct exchange_plan *p, struct exchange_figures *out);

#endif

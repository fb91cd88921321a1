/* SPDX-License-Identifier: MIT */
/*
 * unskew_clock.h - reading clocks: what it costs
 *
 *     Kong, Spector and Siewiorek 1986, "Measuring time in Cm*"
 *     Loeser 2003, "Measuring microsecond delays"
 *
 * A correction is never better than its stamps. Reading a clock takes time that depends on the
 * load, so an interval that is measured by two reads is too long by about one read; four reads tell
 * by how much.
 *
 * And a machine can know another's clock at any moment, with the error of what it knows.
 *
 * Units, errors and memory as in unskew.h. Only the functions on struct usk_live can fail.
 */
#ifndef UNSKEW_CLOCK_H
#define UNSKEW_CLOCK_H

#include "unskew.h"

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/* ---- the net time between two reads (section 4.2) ---------------------------- */

/*
 * Four successive reads: two before what is measured, two after it (method I). With method II the
 * outer two intervals are those of a sampling thread, nearest in time: state them by stamps whose
 * differences they are.
 */
struct usk_four_stamps {
	int64_t t_ns[4];
};

/* A measured interval. All in half nanoseconds, so that the halves of eq. 1 are exact. */
struct usk_elapsed {
	int64_t measured_2; /* T_m, twice */
	int64_t cost_2;	    /* (T_1 + T_4) / 2, twice */
	int64_t net_2;	    /* T_A = T_m - (T_1 + T_4) / 2, twice: eq. 1 */
};

/** Differences must be under 2^61 ns. */
struct usk_elapsed usk_elapsed(const struct usk_four_stamps *s);

/*
 * How the parts of a measurement vary: standard deviations of T_1 .. T_4 (T_2: from the first
 * inner read to the start of what is measured, T_3: from its end to the last inner read), and the
 * correlation coefficient of each two, -1 to 1.
 */
struct usk_read_noise {
	double sigma[4];
	double rho_12, rho_13, rho_14, rho_23, rho_24, rho_34;
};

/** V(T_A) / V(T_1) for what takes no time: T_2 + T_3 is one read, called T_3 here: eq. 5. */
double usk_elapsed_variance_short(const struct usk_read_noise *n);

/* ---- another machine's clock, now (Loeser 2003, sections 3.2 and 4) -------------- */

/* This side's stamp, the other's while it answered, this side's again; ticks of any unit each. */
struct usk_three_stamps {
	int64_t before, remote, after;
};

#define USK_DRIFT_ALLOWANCE_E12 INT64_C(1000000) /* 10^-6: section 3.2.3 */
#define USK_TICKS_MAX		(INT64_C(1) << 62)

/*
 * From the other clock to this one, by two exchanges X and Y, in fixed point:
 *
 *     local = local_Y + conv (remote - remote_Y)                              eq. 2, 7
 *     precision = |local - local_Y| (drift + allowance) + jitter_Y + rounding  eq. 4, 8
 *
 * precision bounds |local - truth|, truth being what this clock shows at any moment at which the
 * other shows `remote`, if the rates of the two stay within the allowance of the one
 * that they had from X to Y. Every rounding is counted in it, those of the stamps too: a stamp is
 * the last whole tick, so each may be a tick late, and one of theirs can be 80 of ours.
 */
struct usk_live_map {
	int64_t remote, local_2; /* Y: the other's stamp, twice the middle of ours */
	int64_t jitter_2;	 /* Y: after - before */
	uint64_t conv;		 /* our ticks for one of theirs, 2^-56: under 2^7 */
	uint64_t drift;		 /* with the allowance, 2^-32, rounded up */
	int64_t max_age;	 /* no answer further than so many of their ticks from Y */
};

/**
 * USK_EINPUT: Y is not after X on both clocks, an exchange ended before it began, or the rates
 * differ by more than a factor of 100 (50 MHz against 4 GHz is 80). USK_ERANGE: a stamp of
 * USK_TICKS_MAX or more in size. allowance_e12 >= 0; max_age > 0.
 */
enum usk_status usk_live_map_of(const struct usk_three_stamps *x, const struct usk_three_stamps *y,
				int64_t allowance_e12, int64_t max_age, struct usk_live_map *out,
				struct usk_err *err);

enum usk_live_state {
	USK_LIVE,	/* an answer */
	USK_LIVE_NONE,	/* nothing was published yet */
	USK_LIVE_STALE, /* the last exchange is too far away */
	USK_LIVE_CUT,	/* the file was cut short: usk_live_open() it anew, or hear why not */
};

struct usk_live_time {
	int64_t local;	   /* to the nearest */
	int64_t precision; /* no further off than this, rounded up */
};

enum usk_live_state usk_live_map_at(const struct usk_live_map *m, int64_t remote,
				    struct usk_live_time *out);

/*
 * A map in shared memory: one writer, any number of readers in any processes. Root and the file's
 * owner can cut it short. So that this ends nobody, a process that opened one catches SIGBUS from
 * then on; what has other reasons goes to whoever caught it before. A handler that is set later has
 * to call this one.
 */
struct usk_live;

/** Writer: makes the file, or goes on with one that is there. Put it in memory: /dev/shm/NAME.
 * USK_EIO: cannot be made, or another writer has it; USK_EINPUT: it is something else, or others
 * than root and this user could write to it. */
enum usk_status usk_live_create(const char *path, struct usk_live **out, struct usk_err *err);
/** Reader. USK_EINPUT: it is no such file, or others could write to it. */
enum usk_status usk_live_open(const char *path, struct usk_live **out, struct usk_err *err);
void usk_live_close(struct usk_live *l);
/** From now on this map holds; NULL: none does, and readers get USK_LIVE_STALE. Never waits.
 * USK_EIO: the file was cut short. */
enum usk_status usk_live_publish(struct usk_live *l, const struct usk_live_map *m,
				 struct usk_err *err);
/** usk_live_map_at() of the map that holds now. No system call; waits for a write that is under
 * way, which takes some ns. */
enum usk_live_state usk_live_convert(const struct usk_live *l, int64_t remote,
				     struct usk_live_time *out);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif

/* SPDX-License-Identifier: MIT */
/*
 * team.h - the ranks of one job: what they tell each other, and how they fail together
 *
 * Between two calls of team_*() a rank works for itself; it may leave() at any point of that. The next
 * call of the others is team_agree(), where all learn of it: rank 0 says the sentence, and the job ends.
 */
#ifndef USK_MPI_TEAM_H
#define USK_MPI_TEAM_H

#include "base/base.h"

void team_begin(void);
int team_rank(void);
int team_size(void);
/** The lowest rank that shares this one's machine. */
int team_first_here(void);

/** Waits for all; where one failed meanwhile, the job ends here. */
void team_agree(void);
/** Another rank failed, and nothing of this is needed any more: the job ends. Costs little; to be called
 * during long work. */
void team_look(void);

/** Rank 0 wants something of the others, which wait for that: true. False: it wants nothing any more,
 * and is done; then they only end. */
bool team_ask(void);
/** The others wait for rank 0, which works alone: it may have the processors of all ranks of its machine.
 */
void team_alone(void);

/* Bytes of each rank for others; of any length. read() fills out[n] from byte `at` of them on. */
struct team_bytes {
	uint64_t size;
	void (*read)(void *ctx, uint64_t at, void *out, size_t n);
	void *ctx;
};
/** data[n], which stay where they are. */
struct team_bytes team_bytes_of(const void *data, size_t n);
/**
 * Every rank's bytes to rank 0, or to all: take() gets them in pieces, those of one rank in their order.
 */
void team_collect(const struct team_bytes *mine, bool to_all,
		  void (*take)(void *ctx, int rank, const void *data, size_t n), void *ctx);

/** to[team_size()], each for one rank; take() gets what comes, likewise. */
void team_exchange(const struct team_bytes *to,
		   void (*take)(void *ctx, int rank, const void *data, size_t n), void *ctx);

struct team_text {
	char *text; /* ends with 0, and may hold more of these */
	size_t n, cap;
};
/** The text of each rank, in order of ranks, at rank 0 or at all; [team_size()], kept. */
struct team_text *team_texts(const char *mine, size_t n, bool to_all);
/** v[n], each the sum over ranks, at all. */
void team_sum(uint64_t *v, size_t n);

/** For struct program: the sentence of a failure, which is said when all know of it. */
void team_failed(const char *sentence);
/** The end of this rank, with what leave() was given. */
_Noreturn void team_end(int status);

#endif

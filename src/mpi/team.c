/* SPDX-License-Identifier: MIT */
/*
 * team.c - what ranks tell each other, on MPI
 *
 * In    bytes and statuses of every rank
 * Out   the same at rank 0, or at all; where a rank failed, one sentence and the end of the job
 * Why   commands are written as if there was one process, and leave() wherever they cannot go on: here
 *       this becomes an end of all ranks, none of which waits for one that went
 * Not   which work is whose (files.c); ranks that die (guard.c)
 *
 * Whoever waits for work of others sleeps: MPI's own waiting takes a processor, which rank 0 can use. Other
 * calls come right after such a wait, when all are there.
 */
#include "mpi/team.h"

#include "cli/units.h"
#include "mpi/guard.h"

#include <mpi.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* What is sent at once, as counts are ints; tests make it small, so that everything is in pieces. */
#ifndef TEAM_ROUND
#define TEAM_ROUND (64 << 20)
#endif
/* Tests: no rank shares a machine with another one. */
#ifndef TEAM_APART
#define TEAM_APART false
#endif

enum {
	STOPPED = -1,
	ASKS = -2,
	TAG_FAILED = 1,
	TAG_BYTES,
	SENTENCE = 4096,
	ROUND = TEAM_ROUND,
	LEAST = 4096 < ROUND ? 4096 : ROUND
};

static struct {
	int rank, size, first_here;
	char sentence[SENTENCE]; /* of a failure that the others do not know yet */
	int64_t looked_ns;
	MPI_Request *told; /* to the others: this rank failed */
	bool over;	   /* rank 0 is done */
	cpu_set_t all;	   /* processors of all ranks here */
} team;

/* The longer it has lasted, the longer each nap; of a barrier, which takes few steps. */
static void await(MPI_Request *r)
{
	enum { LEAST_NS = 10000, MOST_NS = 20000000, SHARE = 32 };
	struct timespec nap = { 0, LEAST_NS };
	int64_t waited_ns = 0;
	int there = 0;
	for (MPI_Test(r, &there, MPI_STATUS_IGNORE); !there;
	     MPI_Test(r, &there, MPI_STATUS_IGNORE)) {
		nanosleep(&nap, NULL);
		waited_ns += nap.tv_nsec;
		int64_t next = waited_ns / SHARE;
		nap.tv_nsec = next < LEAST_NS ? LEAST_NS : next < MOST_NS ? next : MOST_NS;
	}
}

void team_begin(void)
{
	int given;
	MPI_Comm here;
	MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &given);
	MPI_Comm_rank(MPI_COMM_WORLD, &team.rank);
	MPI_Comm_size(MPI_COMM_WORLD, &team.size);
	MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, team.rank, MPI_INFO_NULL, &here);
	team.first_here = team.rank;
	MPI_Bcast(&team.first_here, 1, MPI_INT, 0, here);
	if (sched_getaffinity(0, sizeof team.all, &team.all)) {
		CPU_ZERO(&team.all);
	}
	MPI_Allreduce(MPI_IN_PLACE, &team.all, sizeof team.all, MPI_BYTE, MPI_BOR, here);
	MPI_Comm_free(&here);
	team.first_here = TEAM_APART ? team.rank : team.first_here;
	guard_rank(team.rank);
	if (team.rank && !freopen("/dev/null", "w", stdout)) {
		fclose(stdout);
	}
}

int team_rank(void)
{
	return team.rank;
}

int team_size(void)
{
	return team.size;
}

int team_first_here(void)
{
	return team.first_here;
}

/* ---- failures ---------------------------------------------------------------------------- */

void team_failed(const char *sentence)
{
	team.sentence[0] = 0;
	strncat(team.sentence, sentence, SENTENCE - 1);
}

static bool is_failure(int status)
{
	return status == EXIT_FAILED || status == EXIT_USAGE;
}

static void tell_others(void)
{
	team.told = usk_alloc((size_t)team.size, sizeof *team.told);
	for (int i = 0; i < team.size; i++) {
		team.told[i] = MPI_REQUEST_NULL;
		if (i != team.rank) {
			MPI_Isend(NULL, 0, MPI_BYTE, i, TAG_FAILED, MPI_COMM_WORLD, &team.told[i]);
		}
	}
}

static _Noreturn void finish(int status)
{
	int before = front_end(status);
	guard_done();
	MPI_Finalize();
	exit(team.rank ? EXIT_DONE : before); /* mpirun's status is the first that is not 0 */
}

/* status[size] has failures. */
static _Noreturn void fail_together(const int *status)
{
	int first = -1, failed = 0;
	for (int i = 0; i < team.size; i++) {
		failed += is_failure(status[i]);
		first = first < 0 && is_failure(status[i]) ? i : first;
	}
	for (int i = is_failure(status[team.rank]); i < failed; i++) {
		MPI_Recv(NULL, 0, MPI_BYTE, MPI_ANY_SOURCE, TAG_FAILED, MPI_COMM_WORLD,
			 MPI_STATUS_IGNORE);
	}
	for (int i = 0; team.told && i < team.size; i++) {
		MPI_Wait(&team.told[i], MPI_STATUS_IGNORE);
	}
	MPI_Bcast(team.sentence, SENTENCE, MPI_CHAR, first, MPI_COMM_WORLD);
	progress_end();
	if (!team.rank) {
		char who[32] = "";
		if (failed < team.size && status[first] != EXIT_USAGE) {
			snprintf(who, sizeof who, "rank %d: ", first);
		}
		fprintf(stderr, "%s%s:%s %s%s\n", colour(stderr, "red"), program()->name,
			colour(stderr, "off"), who, team.sentence);
	}
	finish(status[first]);
}

/* All statuses; does not come back where one is a failure. */
static int *settle(int mine)
{
	int *status = kept(usk_alloc((size_t)team.size, sizeof *status));
	MPI_Request r;
	guard_file("");
	MPI_Ibarrier(MPI_COMM_WORLD, &r);
	await(&r);
	MPI_Allgather(&mine, 1, MPI_INT, status, 1, MPI_INT, MPI_COMM_WORLD);
	for (int i = 0; i < team.size; i++) {
		if (is_failure(status[i])) {
			fail_together(status);
		}
	}
	return status;
}

void team_agree(void)
{
	settle(EXIT_DONE);
}

bool team_ask(void)
{
	const int *status = settle(team.rank ? EXIT_DONE : ASKS);
	team.over = status[0] != ASKS;
	return !team.over;
}

void team_alone(void)
{
	/* Where it may not, it has what it had. */
	if (CPU_COUNT(&team.all)) {
		sched_setaffinity(0, sizeof team.all, &team.all);
	}
}

void team_look(void)
{
	enum { EVERY_NS = 20000000 };
	int64_t now = usk_clock_ns(CLOCK_MONOTONIC);
	int failed = 0;
	if (now - team.looked_ns >= EVERY_NS) {
		team.looked_ns = now;
		MPI_Iprobe(MPI_ANY_SOURCE, TAG_FAILED, MPI_COMM_WORLD, &failed, MPI_STATUS_IGNORE);
	}
	if (failed) {
		settle(STOPPED);
	}
}

void team_end(int status)
{
	if (team.over) {
		finish(status);
	}
	if (is_failure(status)) {
		tell_others();
	}
	const int *all = settle(status);
	for (int i = 0; i < team.size; i++) {
		status = status ? status : all[i];
	}
	finish(status);
}

/* ---- bytes ------------------------------------------------------------------------------- */

/* What a round holds of each rank. */
struct round {
	uint64_t *size; /* [team.size], of all rounds */
	int *n, *at;	/* [team.size] */
};

static size_t plan_round(struct round *x, uint64_t from, size_t most)
{
	size_t all = 0;
	for (int i = 0; i < team.size; i++) {
		uint64_t left = x->size[i] > from ? x->size[i] - from : 0;
		x->n[i] = (int)(left < most ? left : most);
		x->at[i] = (int)all;
		all += (size_t)x->n[i];
	}
	return all;
}

void team_collect(const struct team_bytes *mine, bool to_all,
		  void (*take)(void *ctx, int rank, const void *data, size_t n), void *ctx)
{
	const size_t ranks = (size_t)team.size,
		     most = ROUND / ranks > LEAST ? ROUND / ranks : LEAST;
	struct round x = { usk_alloc(ranks, sizeof *x.size), usk_alloc(ranks, sizeof *x.n),
			   usk_alloc(ranks, sizeof *x.at) };
	char *out = usk_alloc(most, 1), *in = NULL;
	size_t cap = 0;
	MPI_Allgather(&mine->size, 1, MPI_UINT64_T, x.size, 1, MPI_UINT64_T, MPI_COMM_WORLD);
	size_t all;
	for (uint64_t from = 0; (all = plan_round(&x, from, most)); from += most) {
		int n = x.n[team.rank];
		if (all > cap && (to_all || !team.rank)) {
			cap = all;
			in = usk_grow(in, cap, 1);
		}
		if (n) {
			mine->read(mine->ctx, from, out, (size_t)n);
		}
		if (to_all) {
			MPI_Allgatherv(out, n, MPI_BYTE, in, x.n, x.at, MPI_BYTE, MPI_COMM_WORLD);
		} else {
			MPI_Gatherv(out, n, MPI_BYTE, in, x.n, x.at, MPI_BYTE, 0, MPI_COMM_WORLD);
		}
		for (int i = 0; i < team.size && (to_all || !team.rank); i++) {
			if (x.n[i]) {
				take(ctx, i, in + x.at[i], (size_t)x.n[i]);
			}
		}
	}
	USK_FREE(x.size, x.n, x.at, out, in);
}

/* The next piece of what one rank sends and of what another one does, at the same time. */
static void swap_piece(const struct team_bytes *to, int receiver, uint64_t in, int sender,
		       uint64_t at, char *piece[2])
{
	MPI_Request r[2] = { MPI_REQUEST_NULL, MPI_REQUEST_NULL };
	uint64_t out = to->size > at ? to->size - at : 0;
	in = in > at ? in - at : 0;
	int n_out = (int)(out < ROUND ? out : ROUND), n_in = (int)(in < ROUND ? in : ROUND);
	if (n_in) {
		piece[1] = usk_grow(piece[1], (size_t)n_in, 1);
		MPI_Irecv(piece[1], n_in, MPI_BYTE, sender, TAG_BYTES, MPI_COMM_WORLD, &r[1]);
	}
	if (n_out) {
		piece[0] = usk_grow(piece[0], (size_t)n_out, 1);
		to->read(to->ctx, at, piece[0], (size_t)n_out);
		MPI_Isend(piece[0], n_out, MPI_BYTE, receiver, TAG_BYTES, MPI_COMM_WORLD, &r[0]);
	}
	for (int i = 0; i < 2; i++) {
		MPI_Wait(&r[i], MPI_STATUS_IGNORE);
	}
}

/*
 * In the k-th step each rank sends to the k-th behind it: whoever has something for another one meets it
 * in one step, and those that have nothing for each other do not wait.
 */
void team_exchange(const struct team_bytes *to,
		   void (*take)(void *ctx, int rank, const void *data, size_t n), void *ctx)
{
	const int ranks = team.size;
	uint64_t *out = usk_alloc((size_t)ranks, sizeof *out);
	uint64_t *in = usk_alloc((size_t)ranks, sizeof *in);
	char *piece[2] = { NULL, NULL };
	for (int i = 0; i < ranks; i++) {
		out[i] = to[i].size;
	}
	MPI_Alltoall(out, 1, MPI_UINT64_T, in, 1, MPI_UINT64_T, MPI_COMM_WORLD);
	for (int k = 0; k < ranks; k++) {
		int receiver = (team.rank + k) % ranks, sender = (team.rank - k + ranks) % ranks;
		uint64_t longest = out[receiver] > in[sender] ? out[receiver] : in[sender];
		for (uint64_t at = 0; at < longest; at += ROUND) {
			swap_piece(&to[receiver], receiver, in[sender], sender, at, piece);
			if (in[sender] > at) {
				uint64_t n = in[sender] - at;
				take(ctx, sender, piece[1], (size_t)(n < ROUND ? n : ROUND));
			}
		}
	}
	USK_FREE(piece[0], piece[1], out, in);
}

static void read_text(void *ctx, uint64_t at, void *out, size_t n)
{
	memcpy(out, (const char *)ctx + at, n);
}

struct team_bytes team_bytes_of(const void *data, size_t n)
{
	return (struct team_bytes){ n, read_text, (void *)(uintptr_t)data };
}

static void take_text(void *ctx, int rank, const void *data, size_t n)
{
	struct team_text *t = (struct team_text *)ctx + rank;
	if (t->n + n + 1 > t->cap) {
		t->cap = (t->n + n + 1) * 2;
		t->text = usk_grow(t->text, t->cap, 1);
	}
	memcpy(t->text + t->n, data, n);
	t->n += n;
	t->text[t->n] = 0;
}

struct team_text *team_texts(const char *mine, size_t n, bool to_all)
{
	const struct team_bytes bytes = team_bytes_of(mine, n);
	struct team_text *t = kept(usk_alloc((size_t)team.size, sizeof *t));
	team_collect(&bytes, to_all, take_text, t);
	return t;
}

void team_sum(uint64_t *v, size_t n)
{
	enum { AT_ONCE = 1 << 20 };
	for (size_t i = 0; i < n; i += AT_ONCE) {
		MPI_Allreduce(MPI_IN_PLACE, v + i, (int)(n - i < AT_ONCE ? n - i : AT_ONCE),
			      MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
	}
}

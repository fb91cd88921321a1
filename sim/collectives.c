/* SPDX-License-Identifier: MIT */
/*
 * collectives.c - a cluster that computes and then waits for all: parts of collectives
 *
 * In    options: ranks (hosts), how long they compute, who computes longer, transfers, clocks
 * Out   collectives in their order, each with when every rank came and went; collectives.csv, and
 *       late.csv with who truly came last, and what its time was
 * Why   a rank goes on when data of all has come, so one that is late holds up all others
 * Not   what the network between does: a transfer is the smallest delay and a tail, for each rank
 *
 * All begin at once; a rank is in its next collective as soon as it has left the last one and
 * computed. Roots of collectives that have one change from each to the next.
 */
#include "world.h"

#include <stdlib.h>

/* In a mix one of these after the other, so that each shape is there often enough. */
static const enum usk_collective_kind mix[] = {
	USK_ALLREDUCE, USK_ALLGATHER, USK_REDUCESCATTER, USK_BROADCAST, USK_ALLREDUCE, USK_BARRIER,
	USK_ALLREDUCE, USK_REDUCE,    USK_ALLTOALL,	 USK_SCATTER,	USK_ALLREDUCE, USK_GATHER,
};

struct cluster {
	const struct sim_options *o;
	struct usk_rng rng;
	int64_t *enter_ns, *exit_ns;
};

static int64_t erlang(struct usk_rng *r, uint32_t stages, int64_t mean_ns)
{
	double sum = 0;
	for (uint32_t i = 0; i < stages && mean_ns; i++) {
		sum += usk_rng_exponential(r, (double)mean_ns / stages);
	}
	return (int64_t)sum;
}

static int64_t transfer(struct cluster *x)
{
	return usk_delay_model_ns(&x->o->dmin, x->o->bytes) +
	       erlang(&x->rng, x->o->tail_stages, x->o->tail_ns);
}

/* All come; then each goes, by what the kind says. */
static void happen(struct cluster *x, const struct sim_collective *c)
{
	const struct sim_options *o = x->o;
	enum usk_collective_shape shape = usk_collective_shape(c->kind);
	int64_t last_ns = INT64_MIN;
	for (uint32_t h = 0; h < o->hosts; h++) {
		x->enter_ns[h] = x->exit_ns[h] + o->compute_ns +
				 erlang(&x->rng, 4, o->compute_spread_ns) +
				 sim_list_at(&o->straggle_ns, h);
		last_ns = x->enter_ns[h] > last_ns ? x->enter_ns[h] : last_ns;
	}
	for (uint32_t h = 0; h < o->hosts; h++) {
		bool root = h == c->root;
		int64_t from = shape == USK_FROM_ALL_TO_ALL || (shape == USK_TO_ROOT && root)
				       ? last_ns
			       : shape == USK_FROM_ROOT ? x->enter_ns[c->root]
							: x->enter_ns[h];
		from = from > x->enter_ns[h] ? from : x->enter_ns[h];
		x->exit_ns[h] = from + transfer(x);
	}
}

void sim_collectives(const struct sim_options *o,
		     void (*take)(void *ctx, const struct sim_collective *c), void *ctx)
{
	struct cluster x = { .o = o };
	struct sim_collective c = { 0 };
	int64_t end_ns = o->start_ns + o->duration_ns, last_ns = o->start_ns;
	usk_rng_seed(&x.rng, o->seed);
	c.enter_ns = x.enter_ns = usk_alloc(o->hosts, sizeof *x.enter_ns);
	c.exit_ns = x.exit_ns = usk_alloc(o->hosts, sizeof *x.exit_ns);
	for (uint32_t h = 0; h < o->hosts; h++) {
		x.exit_ns[h] = o->start_ns;
	}
	for (;; c.number++) {
		c.kind = o->collectives == SIM_MIXED ? mix[c.number % COUNT(mix)] : USK_ALLREDUCE;
		c.root = (uint32_t)(c.number / COUNT(mix) % o->hosts);
		happen(&x, &c);
		for (uint32_t h = 0; h < o->hosts; h++) {
			last_ns = x.exit_ns[h] > last_ns ? x.exit_ns[h] : last_ns;
		}
		if (last_ns > end_ns) {
			break;
		}
		take(ctx, &c);
	}
	free(x.enter_ns);
	free(x.exit_ns);
}

/* ---- files ------------------------------------------------------------------------------- */

struct files {
	const struct sim_options *o;
	const struct sim_clock *clock;
	struct usk_output parts, late;
	struct sim_result *result;
};

/* Until the last of those that a member waits for had come, over all members; all their time. */
static void add_up(uint32_t hosts, const struct sim_collective *c, int64_t *waited_ns,
		   int64_t *all_ns)
{
	enum usk_collective_shape shape = usk_collective_shape(c->kind);
	int64_t last_ns = c->enter_ns[c->root];
	*waited_ns = *all_ns = 0;
	for (uint32_t h = 0; h < hosts && shape != USK_FROM_ROOT; h++) {
		last_ns = c->enter_ns[h] > last_ns ? c->enter_ns[h] : last_ns;
	}
	for (uint32_t h = 0; h < hosts; h++) {
		bool waits = shape != USK_TO_ROOT || h == c->root;
		*all_ns += c->exit_ns[h] - c->enter_ns[h];
		*waited_ns += waits && c->enter_ns[h] < last_ns ? last_ns - c->enter_ns[h] : 0;
	}
}

static void write_late(struct files *f, const struct sim_collective *c)
{
	uint32_t last = 0;
	int64_t second_ns = INT64_MIN, waited_ns, all_ns;
	add_up(f->o->hosts, c, &waited_ns, &all_ns);
	for (uint32_t h = 1; h < f->o->hosts; h++) {
		last = c->enter_ns[h] > c->enter_ns[last] ? h : last;
	}
	for (uint32_t h = 0; h < f->o->hosts; h++) {
		second_ns = h != last && c->enter_ns[h] > second_ns ? c->enter_ns[h] : second_ns;
	}
	usk_output_format(&f->late, "%llu,host%u,%lld,%lld,%lld\n", (unsigned long long)c->number,
			  last, (long long)(c->enter_ns[last] - second_ns), (long long)waited_ns,
			  (long long)(all_ns - waited_ns));
}

static void write_collective(void *ctx, const struct sim_collective *c)
{
	struct files *f = ctx;
	bool rooted = usk_collective_shape(c->kind) != USK_FROM_ALL_TO_ALL;
	for (uint32_t h = 0; h < f->o->hosts; h++) {
		const struct sim_clock *clock = &f->clock[h];
		int64_t q = f->o->resolution_ns;
		if (sim_clock_asleep(clock, c->enter_ns[h]) ||
		    sim_clock_asleep(clock, c->exit_ns[h])) {
			continue;
		}
		usk_output_format(&f->parts, "%llu,%s,host%u,%lld,%lld,",
				  (unsigned long long)c->number, usk_collective_name(c->kind), h,
				  (long long)sim_stamp(sim_clock_read(clock, c->enter_ns[h]), q),
				  (long long)sim_stamp(sim_clock_read(clock, c->exit_ns[h]), q));
		if (rooted) {
			usk_output_format(&f->parts, "host%u", c->root);
		}
		usk_output_format(&f->parts, "\n");
		f->result->messages++;
	}
	write_late(f, c);
	if (f->o->progress) {
		f->o->progress(f->o->progress_ctx,
			       (double)(c->enter_ns[0] - f->o->start_ns) /
				       (double)f->o->duration_ns,
			       "simulating");
	}
}

enum usk_status collectives_run(const struct sim_options *o, const char *dir, bool force,
				struct sim_result *result, struct usk_err *err)
{
	struct files f = { .o = o, .result = result };
	enum usk_status status = world_file(&f.parts, dir, "collectives.csv", force, err);
	status = status ? status : world_file(&f.late, dir, "late.csv", force, err);
	if (!status) {
		struct sim_clock *clock = sim_options_clocks(o);
		f.clock = clock;
		usk_output_format(&f.parts, "collective,kind,clock,enter_ns,exit_ns,root\n");
		usk_output_format(&f.late, "collective,last,by_ns,waited_ns,transfer_ns\n");
		sim_collectives(o, write_collective, &f);
		sim_clocks_free(clock, o->hosts);
		status = usk_output_commit(&f.parts, err);
	}
	status = status ? status : usk_output_commit(&f.late, err);
	usk_output_close(&f.parts);
	usk_output_close(&f.late);
	return status;
}

/* SPDX-License-Identifier: MIT */
/*
 * delay.c - how long a message takes
 *
 * In    options, the way, the message's length
 * Out   ns of true time
 *
 *     smallest delay by length + asymmetry            never less
 *     + Erlang(tail) + a heavy share of Pareto        what the network adds
 *     + constant + Exp(load) + a heavy share          at each of the two hosts that is loaded
 */
#include "world.h"

#include <math.h>

#define DELAY_MAX INT64_C(2000000000)

/* Pareto of shape 1.5: no variance, as measured tails of queues under load. */
static double heavy(struct usk_rng *r, double share, double mean)
{
	if (share <= 0 || usk_rng_unit(r) >= share) {
		return 0;
	}
	double u = 1 - usk_rng_unit(r);
	return 10 * (mean > 0 ? mean : 1000) * pow(u, -1 / 1.5);
}

static double at_host(const struct sim_options *o, struct usk_rng *r, uint32_t host)
{
	int64_t mean = sim_list_at(&o->load_ns, host), least = sim_list_at(&o->load_least_ns, host);
	if (!mean && !least) {
		return 0;
	}
	double more = mean ? usk_rng_exponential(r, (double)mean) : 0;
	return (double)least + more + heavy(r, o->load_heavy, (double)(mean ? mean : least));
}

static double on_the_way(const struct sim_options *o, struct usk_rng *r)
{
	double tail = (double)o->tail_ns, extra = 0;
	for (uint32_t i = 0; i < o->tail_stages && tail > 0; i++) {
		extra += usk_rng_exponential(r, tail / o->tail_stages);
	}
	return extra + heavy(r, o->heavy, tail);
}

static int64_t whole(double extra)
{
	return extra < (double)DELAY_MAX ? (int64_t)extra : DELAY_MAX;
}

/* By how much longer messages take longer than empty ones. */
static int64_t by_length(const struct sim_options *o, uint32_t bytes)
{
	return usk_delay_model_ns(&o->dmin, bytes) - usk_delay_model_ns(&o->dmin, 0);
}

int64_t net_delay(const struct sim_options *o, struct usk_rng *r, const struct path *path,
		  uint32_t bytes)
{
	double extra = on_the_way(o, r);
	extra += (o->load_receivers ? 0 : at_host(o, r, path->from)) + at_host(o, r, path->to);
	return path->dmin_ns + by_length(o, bytes) + whole(extra);
}

int64_t net_delay_shared(const struct sim_options *o, struct usk_rng *r, uint32_t from,
			 uint32_t bytes)
{
	double sender = o->load_receivers ? 0 : at_host(o, r, from);
	return by_length(o, bytes) + whole(on_the_way(o, r) + sender);
}

int64_t net_delay_own(const struct sim_options *o, struct usk_rng *r, const struct path *path)
{
	double apart = usk_rng_exponential(r, (double)o->tail_ns / 10 + 1);
	return path->dmin_ns + whole(apart + at_host(o, r, path->to));
}

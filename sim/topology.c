/* SPDX-License-Identifier: MIT */
/*
 * topology.c - who talks to whom
 *
 * In    options; the seed decides where chance does
 * Out   two paths for each pair of hosts that talk: there (even numbers) and back
 * Not   how long the way is (delay.c)
 */
#include "world.h"

#include <stdlib.h>

/* A bit for each pair of hosts, the lower one first. */
struct links {
	uint32_t hosts;
	uint8_t *bit;
	uint32_t *degree;
};

static bool linked(const struct links *l, uint32_t a, uint32_t b)
{
	size_t i = a < b ? (size_t)a * l->hosts + b : (size_t)b * l->hosts + a;
	return l->bit[i / 8] >> i % 8 & 1;
}

static void set_link(struct links *l, uint32_t a, uint32_t b)
{
	if (a == b || linked(l, a, b)) {
		return;
	}
	size_t i = a < b ? (size_t)a * l->hosts + b : (size_t)b * l->hosts + a;
	l->bit[i / 8] = (uint8_t)(l->bit[i / 8] | 1u << i % 8);
	l->degree[a]++;
	l->degree[b]++;
}

/* A circle through all hosts in random order, so that nobody is left out; then pairs of hosts
 * that have fewer neighbours than wanted, as long as some are found. */
static void sparse(struct links *l, uint32_t wanted, struct usk_rng *r)
{
	uint32_t n = l->hosts, *open = usk_alloc(n, sizeof *open), misses = 0;
	for (uint32_t i = 0; i < n; i++) {
		uint32_t k = (uint32_t)usk_rng_below(r, i + 1);
		open[i] = open[k];
		open[k] = i;
	}
	for (uint32_t i = 0; i < n && wanted > 1; i++) {
		set_link(l, open[i], open[(i + 1) % n]);
	}
	while (n > 1 && misses < 1000) {
		uint32_t a = (uint32_t)usk_rng_below(r, n), b = (uint32_t)usk_rng_below(r, n);
		if (l->degree[open[a]] >= wanted) {
			open[a] = open[--n];
		} else if (a == b || l->degree[open[b]] >= wanted || linked(l, open[a], open[b])) {
			misses++;
		} else {
			set_link(l, open[a], open[b]);
			misses = 0;
		}
	}
	free(open);
}

static bool talks(const struct sim_options *o, uint32_t i, uint32_t j, struct usk_rng *r)
{
	bool beside = j == i + 1 || (i == 0 && j == o->hosts - 1);
	switch (o->topology) {
	case SIM_MESH:
		return true;
	case SIM_CHAIN:
		return j == i + 1;
	case SIM_STAR:
		return i == 0;
	case SIM_RING:
		return beside;
	case SIM_TREE:
		return i == (j - 1) / 2;
	case SIM_ISLANDS:
		return (uint64_t)i * o->islands / o->hosts == (uint64_t)j * o->islands / o->hosts;
	case SIM_DENSE:
		return usk_rng_below(r, 4) > 0 || beside;
	case SIM_SPARSE:
		break;
	}
	return false;
}

size_t sim_paths(const struct sim_options *o, struct path **out)
{
	size_t n = 0, cap = 0, bits = (size_t)o->hosts * o->hosts;
	struct links l = { o->hosts, usk_alloc(bits / 8 + 1, 1),
			   usk_alloc(o->hosts, sizeof *l.degree) };
	struct usk_rng r;
	usk_rng_seed(&r, usk_mix(o->seed ^ UINT64_C(0x6c696e6b73)));
	if (o->topology == SIM_SPARSE) {
		sparse(&l, o->neighbours, &r);
	}
	int64_t dmin = usk_delay_model_ns(&o->dmin, 0);
	struct path *path = NULL;
	for (uint32_t i = 0; i < o->hosts; i++) {
		for (uint32_t j = i + 1; j < o->hosts; j++) {
			if (!linked(&l, i, j) && !talks(o, i, j, &r)) {
				continue;
			}
			/* One way round: the last host sends to the first. */
			bool turned = o->topology == SIM_RING && o->one_way && j > i + 1;
			uint32_t a = turned ? j : i, b = turned ? i : j;
			int64_t asym[2] = { turned ? 0 : o->asym_ns, turned ? o->asym_ns : 0 };
			path = usk_room(path, n, &cap, sizeof *path);
			path[n++] = (struct path){ a, b, dmin + asym[0], INT64_MIN };
			path = usk_room(path, n, &cap, sizeof *path);
			path[n++] = (struct path){ b, a, dmin + asym[1], INT64_MIN };
		}
	}
	free(l.bit);
	free(l.degree);
	*out = path;
	return n;
}

void sim_outgoing(struct outgoing *out, const struct path *path, size_t n_paths, uint32_t hosts,
		  bool one_way)
{
	*out = (struct outgoing){ usk_alloc(hosts + 1, sizeof *out->first),
				  usk_alloc(n_paths + 1, sizeof *out->path) };
	size_t step = one_way ? 2 : 1;
	for (size_t i = 0; i < n_paths; i += step) {
		out->first[path[i].from + 1]++;
	}
	for (uint32_t h = 0; h < hosts; h++) {
		out->first[h + 1] += out->first[h];
	}
	uint32_t *next = usk_alloc(hosts, sizeof *next);
	for (size_t i = 0; i < n_paths; i += step) {
		uint32_t from = path[i].from;
		out->path[out->first[from] + next[from]++] = (uint32_t)i;
	}
	free(next);
}

void sim_outgoing_free(struct outgoing *out)
{
	free(out->first);
	free(out->path);
}

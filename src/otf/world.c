/* SPDX-License-Identifier: MIT */
/*
 * world.c - who is who in an OTF2 trace
 *
 * In    definitions, in any order
 * Out   processes by their threads, and by their ranks in communicators; stamps in ns
 * Why   events name ranks; what has a clock is a process (a location group), whose threads share it
 * Not   names of communicators; groups of threads or of other paradigms
 *
 * Ranks of a communicator are places in a group, whose members are ranks of the world; those of the
 * world are locations.
 */
#include "otf/otf.h"

#include <stdlib.h>
#include <string.h>

static uint32_t number_of(const struct usk_index *x, uint64_t id)
{
	uint64_t found = usk_index_find(x, id, 0);
	return found ? (uint32_t)found - 1 : OTF2_NOWHERE;
}

static uint32_t process_of_group(struct otf2_world *w, uint64_t location_group)
{
	uint64_t *number = usk_index_value(&w->processes, location_group, 0);
	if (!*number) {
		w->process =
			usk_room(w->process, w->n_processes, &w->cap_processes, sizeof *w->process);
		w->process[w->n_processes] = (struct otf2_process){ 0 };
		*number = ++w->n_processes;
	}
	return (uint32_t)*number - 1;
}

static void name_process(struct otf2_world *w, const struct otf2_item *item)
{
	uint32_t number = process_of_group(w, item->value); /* may move all */
	struct otf2_process *p = &w->process[number];
	if (!p->name) {
		p->name = usk_format("%.*s", (int)item->n, item->text);
	}
}

static void add_location(struct otf2_world *w, const struct otf2_item *item)
{
	uint32_t process = process_of_group(w, item->request);
	uint64_t *number = usk_index_value(&w->locations, item->value, 0);
	if (!*number) {
		*number = process + UINT64_C(1);
		w->process[process].threads++;
	}
}

static void add_members(struct otf2_world *w, const struct otf2_item *item)
{
	uint64_t *number = usk_index_value(&w->groups, item->value, 0);
	if (!*number) {
		w->group = usk_room(w->group, w->n_groups, &w->cap_groups, sizeof *w->group);
		w->group[w->n_groups] =
			(struct otf2_group){ .kind = item->op, .global = item->flag & OTF2_GLOBAL };
		*number = ++w->n_groups;
	} else if (!(item->flag & OTF2_MORE)) {
		return; /* EZTrace defines the world a second time, as a part of itself */
	}
	struct otf2_group *g = &w->group[*number - 1];
	for (size_t i = 0; i < item->n / sizeof *item->member; i++) {
		*USK_ADD(g->member, g->n, g->cap) = item->member[i];
	}
}

static void add_comm(struct otf2_world *w, const struct otf2_item *item)
{
	uint64_t *number = usk_index_value(&w->comms, item->value, 0);
	if (!*number) {
		w->comm = usk_room(w->comm, w->n_comms, &w->cap_comms, sizeof *w->comm);
		w->comm[w->n_comms] = (struct otf2_comm){ item->who, item->tag };
		*number = ++w->n_comms;
	}
}

/* ---- once all are there ---------------------------------------------------------------------- */

/* Members of the world are locations; of a part of it, places in the world, which is settled. */
static void settle_group(const struct otf2_world *w, struct otf2_group *g)
{
	const struct otf2_group *all = w->world < w->n_groups ? &w->group[w->world] : NULL;
	for (size_t i = 0; i < g->n; i++) {
		uint64_t m = g->member[i];
		g->member[i] = g->kind == OTF2_WORLD ? number_of(&w->locations, m)
			       : all && m < all->n   ? all->member[m]
						     : OTF2_NOWHERE;
	}
}

static void settle(struct otf2_world *w)
{
	w->world = w->n_groups;
	for (size_t i = w->n_groups; i--;) {
		w->world = w->group[i].kind == OTF2_WORLD ? i : w->world;
	}
	for (int parts = 0; parts < 2; parts++) {
		for (size_t i = 0; i < w->n_groups; i++) {
			if ((w->group[i].kind != OTF2_WORLD) == parts) {
				settle_group(w, &w->group[i]);
			}
		}
	}
	for (size_t i = 0; i < w->n_comms; i++) {
		struct otf2_comm *c = &w->comm[i];
		c->a = number_of(&w->groups, c->a);
		/* A second group that is not defined is still no first one alone. */
		c->b = c->b == OTF2_NOWHERE ? OTF2_NOWHERE : usk_index_find(&w->groups, c->b, 0);
		c->b = c->b == OTF2_NOWHERE ? c->b : c->b ? c->b - 1 : w->n_groups;
	}
	w->settled = true;
}

void usk_otf2_define(struct otf2_world *w, const struct otf2_item *item)
{
	if (w->settled) {
		return;
	}
	switch ((enum otf2_kind)item->kind) {
	case ITEM_CLOCK:
		w->hz = item->value;
		break;
	case ITEM_INCOMPLETE:
		w->incomplete = true;
		break;
	case ITEM_PROCESS:
		name_process(w, item);
		break;
	case ITEM_LOCATION:
		add_location(w, item);
		break;
	case ITEM_GROUP:
		add_members(w, item);
		break;
	case ITEM_COMM:
		add_comm(w, item);
		break;
	case ITEM_READY:
		settle(w);
		break;
	default:
		break;
	}
}

void usk_otf2_world_free(struct otf2_world *w)
{
	for (size_t i = 0; i < w->n_processes; i++) {
		free(w->process[i].name);
	}
	for (size_t i = 0; i < w->n_groups; i++) {
		free(w->group[i].member);
	}
	USK_FREE(w->process, w->group, w->comm);
	usk_index_free(&w->processes);
	usk_index_free(&w->locations);
	usk_index_free(&w->groups);
	usk_index_free(&w->comms);
}

/* ---- questions ------------------------------------------------------------------------------- */

uint32_t usk_otf2_process_of(const struct otf2_world *w, uint64_t location)
{
	return number_of(&w->locations, location);
}

uint32_t usk_otf2_comm_of(const struct otf2_world *w, uint32_t comm)
{
	return number_of(&w->comms, comm);
}

bool usk_otf2_is_between(const struct otf2_world *w, uint32_t comm)
{
	return w->comm[comm].b != OTF2_NOWHERE;
}

/* NULL: not defined. */
static const struct otf2_group *group_of(const struct otf2_world *w, uint32_t comm, bool second)
{
	uint64_t number = second ? w->comm[comm].b : w->comm[comm].a;
	return number < w->n_groups ? &w->group[number] : NULL;
}

uint32_t usk_otf2_peer(const struct otf2_world *w, uint32_t comm, uint32_t process, uint32_t rank,
		       bool second)
{
	const struct otf2_group *g = group_of(w, comm, second);
	if (g && g->kind == OTF2_SELF) {
		return process;
	}
	if (g && g->global) {
		g = w->world < w->n_groups ? &w->group[w->world] : NULL;
	}
	return g && rank < g->n ? (uint32_t)g->member[rank] : OTF2_NOWHERE;
}

uint32_t usk_otf2_rank(const struct otf2_world *w, uint32_t comm, uint32_t process, bool second)
{
	const struct otf2_group *g = group_of(w, comm, second);
	if (g && g->kind == OTF2_SELF) {
		return 0;
	}
	for (size_t i = 0; g && i < g->n; i++) {
		if (g->member[i] == process) {
			return (uint32_t)i;
		}
	}
	return OTF2_NOWHERE;
}

uint32_t usk_otf2_size(const struct otf2_world *w, uint32_t comm)
{
	const struct otf2_group *g = group_of(w, comm, false);
	return !g ? 0 : g->kind == OTF2_SELF ? 1 : (uint32_t)g->n;
}

bool usk_otf2_time(const struct otf2_world *w, uint64_t ticks, int64_t *ns)
{
	usk_i128 t = (usk_i128)ticks * 1000000000 / (w->hz ? w->hz : 1);
	*ns = (int64_t)(t < USK_TIME_MAX ? t : USK_TIME_MAX);
	return t <= USK_TIME_MAX;
}

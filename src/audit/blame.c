/* SPDX-License-Identifier: MIT */
/*
 * blame.c - who must be wrong, as far as that follows from what cannot all be true
 *
 * In    clashes: in each, one of its claimants is wrong, or one of its clocks was stepped
 * Out   how many must be wrong at least, and how many if a given one is right
 * Why   naming a node by its likeliest guilt accuses innocent ones now and then; a least hitting
 *       set is a statement that holds whatever happened
 * Not   more than 64 names in clashes: of others nothing is said
 */
#include "audit/audit.h"

#include <stdlib.h>
#include <string.h>

enum { NAMES = 64, TRIES = 200000 };

struct search {
	uint64_t *set;
	size_t n;
	uint64_t right; /* these are not to be chosen */
	size_t tries;
};

/* Do `left` more names hit what `chosen` does not? Out of tries: they may. */
static bool hit(struct search *s, uint64_t chosen, size_t left)
{
	size_t i = 0;
	while (i < s->n && s->set[i] & chosen) {
		i++;
	}
	if (i == s->n || !s->tries) {
		return true;
	}
	s->tries--;
	bool can = false;
	for (uint64_t rest = s->set[i] & ~s->right; rest && left && !can; rest &= rest - 1) {
		can = hit(s, chosen | (rest & -rest), left - 1);
	}
	return can;
}

/* A lower bound where tries end. */
static size_t least(struct search *s, uint64_t right)
{
	s->right = right;
	for (size_t i = 0; i < s->n; i++) {
		if (!(s->set[i] & ~right)) {
			return USK_ALL_WRONG;
		}
	}
	size_t k = 0;
	s->tries = TRIES;
	while (k < NAMES && !hit(s, 0, k)) {
		k++;
	}
	return k;
}

static uint64_t bit(const uint32_t *name, size_t n, uint32_t which)
{
	size_t i = 0;
	while (i < n && name[i] != which) {
		i++;
	}
	return i < n ? UINT64_C(1) << i : 0;
}

/* The names in a clash; false: there are too many to be all there. */
static bool names_of(const struct usk_audit *a, const struct usk_clash *c, uint32_t *name,
		     size_t *n, uint64_t *set)
{
	const uint32_t claim[] = { c->low, c->high };
	uint64_t all = 0;
	for (size_t i = 0; i < c->n_links + 2; i++) {
		uint32_t who = i >= 2			  ? c->link[i - 2].clock
			       : claim[i] == USK_NO_CLAIM ? UINT32_MAX
							  : a->claim[claim[i]].by;
		if (who == UINT32_MAX || (i >= 2 && c->link[i - 2].message != UINT32_MAX)) {
			continue;
		}
		if (!bit(name, *n, who) && *n == NAMES) {
			return false;
		}
		if (!bit(name, *n, who)) {
			name[(*n)++] = who;
		}
		all |= bit(name, *n, who);
	}
	*set = all;
	return all != 0;
}

void usk_audit_blame(struct usk_audit *a)
{
	uint32_t name[NAMES];
	size_t n = 0;
	struct search s = { .set = usk_alloc(a->n_clashes + 1, sizeof *s.set) };
	a->without = usk_alloc(a->n_names + 1, sizeof *a->without);
	for (size_t i = 0; i < a->n_clashes; i++) {
		s.n += names_of(a, &a->clash[i], name, &n, &s.set[s.n]);
	}
	a->n_wrong = least(&s, 0);
	for (size_t i = 0; i < a->n_names; i++) {
		a->without[i] = a->n_wrong;
	}
	for (size_t i = 0; i < n; i++) {
		a->without[name[i]] = least(&s, UINT64_C(1) << i);
	}
	free(s.set);
}

bool usk_audit_named(const struct usk_audit *a, uint32_t name)
{
	size_t k = a->without[name];
	return k == USK_ALL_WRONG || (2 * a->n_wrong < a->n_tested && 2 * k >= a->n_tested);
}

/* SPDX-License-Identifier: MIT */
/*
 * verdict.c - whose numbers cannot be right, and what a user should know of it
 *
 * In    how many sends, receives and collectives there were, once all were counted
 * Out   keys that are left out whole; a sentence
 * Why   where more was received than sent, or two members called a collective differently often, some
 *       were not recorded, and nothing tells which; where several threads of a process did the same,
 *       their stamps do not tell whose MPI took first
 *
 * A process whose file is cut short has all up to there, and what it lacks is no sign of more.
 */
#include "otf/otf.h"

#include <stdlib.h>
#include <string.h>

/* Was all of it recorded and read? */
static bool is_whole(const struct otf2_numbers *x, uint32_t process)
{
	const struct otf2_process *p = &x->world->process[process];
	return p->over >= p->threads && !p->stopped && !p->falls;
}

static bool is_message(const struct otf2_key *k)
{
	return k->process != OTF2_NOWHERE && k->base == OTF2_NOWHERE;
}

static bool is_share(const struct otf2_key *k)
{
	return k->base != OTF2_NOWHERE;
}

/* The fewest and the most collectives of a member that lacks none; then who has another number. */
static void compare_shares(struct otf2_numbers *x)
{
	for (size_t i = 0; i < x->n_keys; i++) {
		const struct otf2_key *k = &x->key[i];
		if (is_share(k) && is_whole(x, k->process) && !x->world->process[k->process].open) {
			struct otf2_key *all = &x->key[k->base];
			all->n[0] = !all->n[0] || k->n[0] < all->n[0] ? k->n[0] : all->n[0];
			all->n[1] = k->n[0] > all->n[1] ? k->n[0] : all->n[1];
		}
	}
	for (size_t i = 0; i < x->n_keys; i++) {
		const struct otf2_key *k = &x->key[i];
		struct otf2_key *all = is_share(k) ? &x->key[k->base] : NULL;
		if (all && all->verdict == OTF2_SOUND &&
		    (all->n[0] != all->n[1] || (all->n[1] && k->n[0] > all->n[1]))) {
			all->verdict = OTF2_FEW;
		}
		if (all && k->verdict == OTF2_THREADS) {
			all->verdict = OTF2_THREADS;
		}
	}
}

void usk_otf2_judge(struct otf2_numbers *x)
{
	compare_shares(x);
	for (size_t i = 0; i < x->n_keys; i++) {
		struct otf2_key *k = &x->key[i];
		if (is_message(k) && k->verdict == OTF2_SOUND && k->n[1] > k->n[0] &&
		    is_whole(x, k->process)) {
			k->verdict = OTF2_FEW;
		}
		uint32_t verdict = is_share(k) ? x->key[k->base].verdict : k->verdict;
		uint64_t n = is_message(k) ? (uint64_t)k->n[0] + k->n[1]
			     : is_share(k) ? k->n[0]
					   : 0;
		if (verdict != OTF2_SOUND) {
			x->left[verdict == OTF2_FEW ? OTF2_LACKING : OTF2_BY_THREADS] += n;
		}
	}
}

bool usk_otf2_holds(const struct otf2_numbers *x, const struct otf2_row *row)
{
	return x->key[row->key].verdict == OTF2_SOUND && !x->world->process[row->x.clock].falls;
}

/* ---- the sentence ---------------------------------------------------------------------------- */

static const char *const why_left[OTF2_LEFTS] = {
	[OTF2_UNPLACED] = "of communicators or ranks that are not defined",
	[OTF2_UNBEGUN] = "whose beginning or end was not recorded in time",
	[OTF2_NO_BYTES] = "of collectives in which nobody waits, as no bytes are moved",
	[OTF2_BETWEEN] = "of collectives between two groups",
	[OTF2_AFTER_OFF] = ("after recording was switched off, as only their order tells "
			    "which is which"),
	[OTF2_LACKING] = "whose counterparts are fewer than they are, though all files are whole",
	[OTF2_BY_THREADS] = "of several threads of a process, whose order is not known",
};

/* text, which may be NULL, and one clause more; both are freed. */
static char *joined(char *text, char *more)
{
	char *all = text ? usk_format("%s%s", text, more) : usk_strdup(more);
	free(text);
	free(more);
	return all;
}

/* Calls of MPI, so many and which; a list that *any begins. */
static char *listed(char *text, bool *any, uint64_t n, const char *which, const char *more)
{
	if (!n) {
		return text;
	}
	char *clause = usk_format("%s%llu %s%s",
				  *any	 ? ", "
				  : text ? "; calls not used: "
					 : "calls not used: ",
				  (unsigned long long)n, which, more);
	*any = true;
	return joined(text, clause);
}

static char *say_left(const struct otf2_numbers *x, char *text)
{
	bool any = false;
	for (size_t i = 0; i < OTF2_LEFTS; i++) {
		text = listed(text, &any, x->left[i], why_left[i], "");
	}
	for (size_t i = 0; i < OTF2_OPERATIONS; i++) {
		char *which = usk_format("of %s", usk_otf2_operation[i].name);
		text = listed(text, &any, x->passed[i], which, ", in which members need not wait");
		free(which);
	}
	return text;
}

char *usk_otf2_damage(const struct otf2_numbers *x)
{
	return !x->damage	   ? NULL
	       : x->n_damaged == 1 ? usk_strdup(x->damage)
				   : usk_format("%s; of %llu more threads not all is used",
						x->damage, (unsigned long long)(x->n_damaged - 1));
}

char *usk_otf2_remark(const struct otf2_numbers *x)
{
	return say_left(x, x->world->incomplete
				   ? usk_strdup("it says that not all of MPI was recorded "
						"(MPI_COMMUNICATION_COMPLETE): bounds hold if what "
						"is missing is missing on all ranks alike")
				   : NULL);
}

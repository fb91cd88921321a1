/* SPDX-License-Identifier: MIT */
/* leads.h - how far what is known of UTC at one stamp leads to others */
#ifndef USK_AUDIT_LEADS_H
#define USK_AUDIT_LEADS_H

#include "audit/audit.h"

#define USK_E12	 INT64_C(1000000000000)
#define USK_FAR	 ((usk_i128)1 << 124) /* no bound */
#define USK_HERE UINT32_MAX	      /* a bound came from no other event */

/* A bound of UTC - stamp at an event, parts per 10^12 of a ns. */
struct usk_lead {
	usk_i128 at;
	uint32_t from, message; /* the event it came from; UINT32_MAX: along the clock */
	uint32_t claim;		/* it began with; where from is USK_HERE */
};

/* Stamps of messages and claims, by clock, each once. */
struct usk_leads {
	const struct usk_audit *a;
	uint32_t n, *first;   /* first[n_names + 1] */
	int64_t *x;	      /* [n] */
	uint32_t *owner;      /* [n] */
	uint32_t *order;      /* [n] by stamp */
	bool *broken;	      /* [n] nothing leads from this one to the next on its clock */
	uint32_t *end[2];     /* [n_msgs] events of sending and receiving */
	uint32_t *at;	      /* [n_claims] */
	const bool *still;    /* [n_names] nothing leads along these clocks; NULL: along all */
	uint32_t *met, *meet; /* messages at an event: meet[met[i]..met[i + 1]) */
	struct usk_lead *lo, *hi;
};

void usk_leads_open(struct usk_leads *w, const struct usk_audit *a);
void usk_leads_close(struct usk_leads *w);
/** No event is bounded. */
void usk_leads_clear(struct usk_leads *w);
/** What the claim says of its event. */
void usk_leads_claim(struct usk_leads *w, uint32_t claim);
/** Lead all bounds as far as they go. */
void usk_leads_settle(struct usk_leads *w);
/** The steps that the bound at a claim's event came by, in order of time; the claim it began with. */
uint32_t usk_leads_back(const struct usk_leads *w, uint32_t claim, bool upper,
			struct usk_link **link, size_t *n_links);
/** Messages and stretches that cannot all be true, whatever is claimed: out, and nothing leads
 * along its stretches from now on. false: there is none. */
bool usk_leads_circle(struct usk_leads *w, struct usk_clash *out);
/** What a claim allows at least or at most, as widely as its stamp is known. */
usk_i128 usk_leads_claimed(const struct usk_audit *a, uint32_t claim, bool upper);

#endif

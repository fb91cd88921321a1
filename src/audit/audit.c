/* SPDX-License-Identifier: MIT */
/*
 * audit.c - every claimant's claims against those of all others
 *
 * In    claims, messages, the skew limit
 * Out   what others leave of UTC at each claim; of any two claimants the two claims that contradict
 *       each other most
 * Why   each claimant's claims lead to all other events by messages and rates alone, so a claim
 *       outside of where they lead contradicts one of them, and a path says which
 */
#include "audit/leads.h"

#include <stdlib.h>

enum { CIRCLES = 1000, DIRECT = 1000 };

/* The claim that misses most what another claimant leaves. */
struct worst {
	usk_i128 gap;
	uint32_t claim;
	bool early; /* it says that UTC was before what is possible */
};

static void add_clash(struct usk_audit *a, const struct usk_clash *x)
{
	*USK_ADD(a->clash, a->n_clashes, a->cap_clashes) = *x;
}

static void clash_of(struct usk_audit *a, const struct usk_leads *w, const struct worst *x)
{
	struct usk_clash c = { .gap_ns = usk_saturate(usk_floor_div(x->gap, USK_E12)) };
	uint32_t from = usk_leads_back(w, x->claim, !x->early, &c.link, &c.n_links);
	c.low = x->early ? from : x->claim;
	c.high = x->early ? x->claim : from;
	add_clash(a, &c);
}

/* What is left by one claimant more. */
static void narrow(struct usk_tested *t, const struct usk_lead *lo, const struct usk_lead *hi)
{
	if (lo->at > -USK_FAR) {
		int64_t at = usk_saturate(usk_floor_div(lo->at, USK_E12));
		t->lo_ns = t->lo_ns == USK_NONE || at > t->lo_ns ? at : t->lo_ns;
	}
	if (hi->at < USK_FAR) {
		int64_t at = usk_saturate(usk_ceil_div(hi->at, USK_E12));
		t->hi_ns = t->hi_ns == USK_NONE || at < t->hi_ns ? at : t->hi_ns;
	}
}

static void hold(struct usk_audit *a, const struct usk_leads *w, uint32_t i, struct worst *x)
{
	usk_i128 over = w->lo[w->at[i]].at - usk_leads_claimed(a, i, true);
	usk_i128 under = usk_leads_claimed(a, i, false) - w->hi[w->at[i]].at;
	if (over > x->gap) {
		*x = (struct worst){ over, i, true };
	}
	if (under > x->gap) {
		*x = (struct worst){ under, i, false };
	}
}

static void lead(struct usk_audit *a, struct usk_leads *w, uint32_t by)
{
	usk_leads_clear(w);
	for (uint32_t i = 0; i < a->n_claims; i++) {
		if (a->claim[i].by == by) {
			usk_leads_claim(w, i);
		}
	}
	usk_leads_settle(w);
}

static uint32_t by_of(const struct usk_audit *a, uint32_t claim)
{
	return a->claim[claim].by;
}

/* Does the way of a clash go along clocks of neither claim? */
static bool strays(const struct usk_audit *a, const struct usk_clash *c)
{
	bool any = false;
	for (size_t i = 0; i < c->n_links; i++) {
		uint32_t k = c->link[i].clock;
		any = any || (c->link[i].message == UINT32_MAX && k != a->claim[c->low].clock &&
			      k != a->claim[c->high].clock);
	}
	return any;
}

/* A step of a third clock explains a clash whose way goes along it. So is there one without, by
 * less? */
static void clash_directly(struct usk_audit *a, struct usk_leads *w, size_t which)
{
	const struct usk_clash c = a->clash[which];
	bool *still = usk_alloc(a->n_names + 1, sizeof *still);
	uint32_t by = by_of(a, c.low), other = by_of(a, c.high);
	struct worst worst = { .gap = 0 };
	for (size_t k = 0; k < a->n_names; k++) {
		still[k] = k != a->claim[c.low].clock && k != a->claim[c.high].clock;
	}
	w->still = still;
	lead(a, w, by);
	for (uint32_t i = 0; i < a->n_claims; i++) {
		if (by_of(a, i) == other) {
			hold(a, w, i, &worst);
		}
	}
	if (worst.gap > 0) {
		clash_of(a, w, &worst);
	}
	w->still = NULL;
	free(still);
}

/* Two claimants contradict each other both ways by the same: those with larger numbers are told. */
static void audit_by(struct usk_audit *a, struct usk_leads *w, uint32_t by, struct worst *worst)
{
	lead(a, w, by);
	for (uint32_t i = 0; i < a->n_claims; i++) {
		uint32_t other = by_of(a, i);
		if (other != by) {
			narrow(&a->tested[i], &w->lo[w->at[i]], &w->hi[w->at[i]]);
		}
		if (other >= by) {
			hold(a, w, i, &worst[other]);
		}
	}
	for (size_t k = by; k < a->n_names; k++) {
		if (worst[k].gap > 0) {
			clash_of(a, w, &worst[k]);
		}
		worst[k].gap = 0;
	}
}

static enum usk_status take_circles(struct usk_audit *a, struct usk_leads *w, struct usk_err *err)
{
	struct usk_clash c;
	while (a->n_msgs && usk_leads_circle(w, &c)) {
		add_clash(a, &c);
		if (a->n_clashes > CIRCLES) {
			return usk_fail(err, USK_EINPUT, 0,
					"messages contradict each other in more than %d places, "
					"whatever is claimed: `unskew sync` tells why",
					CIRCLES);
		}
	}
	return USK_OK;
}

/* Claimants of whom others bound a claim. */
static void count_tested(struct usk_audit *a)
{
	bool *been = usk_alloc(a->n_names + 1, sizeof *been);
	for (size_t i = 0; i < a->n_claims; i++) {
		const struct usk_tested *t = &a->tested[i];
		bool is = t->lo_ns != USK_NONE || t->hi_ns != USK_NONE;
		a->n_tested += is && !been[a->claim[i].by];
		been[a->claim[i].by] |= is;
	}
	free(been);
}

enum usk_status usk_audit_run(struct usk_audit *a, struct usk_err *err)
{
	struct usk_leads w;
	struct worst *worst = usk_alloc(a->n_names + 1, sizeof *worst);
	bool *claims = usk_alloc(a->n_names + 1, sizeof *claims);
	a->tested = usk_grow(NULL, a->n_claims + 1, sizeof *a->tested);
	for (size_t i = 0; i < a->n_claims; i++) {
		a->tested[i] = (struct usk_tested){ USK_NONE, USK_NONE };
		claims[a->claim[i].by] = true;
	}
	usk_leads_open(&w, a);
	enum usk_status status = take_circles(a, &w, err);
	for (uint32_t k = 0; k < a->n_names && !status; k++) {
		if (claims[k]) {
			audit_by(a, &w, k, worst);
		}
	}
	for (size_t i = 0, n = a->n_clashes; i < n && i < DIRECT && !status; i++) {
		if (a->clash[i].low != USK_NO_CLAIM && strays(a, &a->clash[i])) {
			clash_directly(a, &w, i);
		}
	}
	count_tested(a);
	usk_sort(a->clash, a->n_clashes, sizeof *a->clash,
		 KEYS(FALLING(usk_clash, gap_ns), BY(usk_clash, low), BY(usk_clash, high)));
	usk_audit_blame(a);
	usk_leads_close(&w);
	free(worst);
	free(claims);
	return status;
}

void usk_audit_free(struct usk_audit *a)
{
	for (size_t i = 0; i < a->n_clashes; i++) {
		free(a->clash[i].link);
	}
	USK_FREE(a->clash, a->tested, a->without);
}

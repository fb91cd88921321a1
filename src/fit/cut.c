/* SPDX-License-Identifier: MIT */
/*
 * cut.c - one cut between two pieces: jump or bend, and how large
 *
 * In    a bracket, what both pieces say of the offset at its ends
 * Out   kind and size
 * Why   how much rates can have changed the offset within a bracket depends on how long it was, and
 *       that on who jumped
 * Not   where the cuts are (pieces.c), who jumped (cross.c)
 */
#include "fit/pieces.h"
#include "num/cone.h"

/*
 * The two bands, extended over the bracket at the skew limit, keep their distance all along it:
 * what one falls the other rises. So they are disjoint everywhere if they are at one end.
 *
 * How long it was by a clock that was put back no stamp of its own says: as long as the other clock
 * showed, which T is, and the skew limit more.
 */
void usk_cut_judge(struct usk_cut *c, struct usk_bounds left, struct usk_bounds right, int64_t skew)
{
	usk_i128 run = (usk_i128)c->to - c->from;
	bool has_lo = right.has_lo && left.has_hi, has_hi = right.has_hi && left.has_lo;
	if (c->back && has_hi) {
		run += right.hi - left.lo;
		run = run > 0 ? run : 0;
		run += usk_ceil_div(run * skew, USK_E12 - skew);
	}
	usk_i128 slack = usk_ceil_div(run * skew, USK_E12);
	usk_i128 lo = right.lo - left.hi - slack, hi = right.hi - left.lo + slack;
	has_lo = has_lo && (has_hi || !c->back);
	c->size_lo = has_lo ? usk_cut(lo) : USK_NONE;
	c->size_hi = has_hi ? usk_cut(hi) : USK_NONE;
	c->kind = c->back || (has_lo && lo > 0) || (has_hi && hi < 0) ? USK_JUMP : USK_BEND;
}

struct usk_cut usk_cut_back(const struct usk_fit *fit, const struct usk_part *p, size_t i)
{
	struct usk_cut c = { .from = USK_TIME_MAX, .to = USK_TIME_MAX };
	if (i < fit->n_back) {
		c.from = usk_cut((usk_i128)fit->back[i].before_ns - p->frame.local_ns);
		c.to = usk_cut((usk_i128)fit->back[i].after_ns - p->frame.local_ns);
		c.back = true;
		c.kind = USK_JUMP;
		c.size_lo = c.size_hi = USK_NONE;
	}
	c.last = c.from;
	c.next = c.to;
	return c;
}

void usk_cut_forward(struct usk_cut *c, int64_t max_skew_e12)
{
	usk_i128 run = (usk_i128)c->to - c->from;
	usk_i128 slack = usk_ceil_div(max_skew_e12 * run, USK_E12);
	if (c->size_lo == USK_NONE || c->size_hi == USK_NONE) {
		return;
	}
	usk_i128 lo = c->size_lo + slack, hi = c->size_hi - slack, rest = run + hi;
	usk_i128 less = usk_ceil_div(max_skew_e12 * (rest > 0 ? rest : 0), USK_E12);
	if (less < slack) {
		c->size_lo = usk_cut(lo - less);
		c->size_hi = usk_cut(hi + less);
	}
}

void usk_cut_unseen(struct usk_cut *c, int64_t max_skew_e12)
{
	if (c->size_lo != USK_NONE && c->size_hi != USK_NONE) {
		usk_i128 slack = usk_ceil_div((usk_i128)c->size_hi * max_skew_e12, USK_E12);
		c->size_lo = usk_cut(c->size_lo - slack);
		c->size_hi = usk_cut(c->size_hi + slack);
	}
}

/* SPDX-License-Identifier: MIT */
/*
 * verdict.c - is what an answer promises true?
 *
 * Promised, where the true clocks keep to what the answer says that it assumes of them
 * (verdict_assumed.c), or break it by a step alone that is beyond doubt:
 *
 *     the band of every clock, of its one side or both, holds the true offset at the stamps of all
 *     its messages, at 1,001 moments from the first to the last of the simulation, and around every
 *     jump of any clock, outside its brackets (held.c; to 1 ns, stamps being whole)
 *     no message is taken for wrong
 *
 * Where they do not, the bands that hold all the same are counted.
 *
 * Promised wherever the clocks keep to the skew limit:
 *
 *     no clock is contradicted if one of the model exists
 *     no pair, no clock needs more wander than the clocks had
 *     a jump that is reported was one (verdict_jumps.c), if the rates are as assumed
 *
 * Whatever the clocks do:
 *
 *     knots are in order, their estimate in their band, and time never falls within an epoch
 *     no corrected message is received before it was sent, by integer stamps
 *     no band excludes what a message says
 */
#include "verdict.h"
#include "band.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOMENTS 1000

void trial_fail(struct trial *t, enum trial_wrong kind, const char *fmt, ...)
{
	t->out->wrong[kind] = true;
	if (!t->out->failed) {
		va_list args;
		va_start(args, fmt);
		vsnprintf(t->out->why, sizeof t->out->why, fmt, args);
		va_end(args);
		t->out->failed = true;
	}
}

/* ---- moments ----------------------------------------------------------------------------- */

static void check_moments(struct trial *t)
{
	const struct sim_options *o = &t->s->o;
	int64_t end = o->start_ns + o->duration_ns;
	struct held_moments moments[SCENARIO_HOSTS] = { { 0 } };
	for (uint32_t i = 0; i < t->answer->n_clocks; i++) {
		uint32_t host = trial_host_of(t, i);
		moments[i].resolution_ns = o->resolution_ns;
		held_grid(&moments[i], o->start_ns, end, MOMENTS);
		for (uint32_t h = 0; h < o->hosts; h++) {
			held_around(&moments[i], &t->clock[h], o->start_ns, end);
		}
		struct held_moments *m = &moments[i];
		for (size_t k = 0; k < t->n; k++) {
			bool sent = t->m[k].from == host;
			int64_t at = sent ? t->m[k].left_ns : t->m[k].arrived_ns;
			if (sent || t->m[k].to == host) {
				held_moment(m, at);
				m->first_ns = !m->last_ns || at < m->first_ns ? at : m->first_ns;
				m->last_ns = !m->last_ns || at > m->last_ns ? at : m->last_ns;
			}
		}
	}
	/* Of captures it is the messages that were used that tell where they end, and of which
	 * epochs they are. */
	for (size_t i = 0; i < t->n_used && !t->n; i++) {
		const struct usk_msg *u = &t->used[i].msg;
		held_stamp(&moments[u->from], (struct held_stamp){ u->sent_ns, USK_NONE, true });
		held_stamp(&moments[u->to], (struct held_stamp){ u->received_ns, USK_NONE, false });
	}
	held_check(t->answer, t->truth, moments, t->held);
	for (uint32_t i = 0; i < t->answer->n_clocks; i++) {
		free(moments[i].true_ns);
		free(moments[i].stamp);
	}
}

static void fail_outside(struct trial *t, const struct usk_clock *c, const struct held *h,
			 bool kept)
{
	static const char missed[] = "; a step that messages show beyond doubt was missed";
	if (!h->by_ns) {
		trial_fail(t, TRIAL_BAND, "%s: no two knots for an epoch%s", c->name,
			   kept ? "" : missed);
		return;
	}
	trial_fail(t, TRIAL_BAND,
		   "%s at local %lld, %.9f s: the true offset %lld is %lld ns outside [%lld, "
		   "%lld]; %llu of %llu moments are%s",
		   c->name, (long long)h->local_ns, (double)(h->true_ns - t->s->o.start_ns) * 1e-9,
		   (long long)h->truth_ns, (long long)h->by_ns, (long long)h->lo_ns,
		   (long long)h->hi_ns, (unsigned long long)h->outside,
		   (unsigned long long)h->moments, kept ? "" : missed);
}

/* ---- what is promised -------------------------------------------------------------------- */

/* Does a clock show less epochs than it had, in a capture? There late records look like a set-back:
 * only stamps of other clocks could tell, and which packets these belong to, stamps tell, too. */
static bool may_look_late(const struct trial *t)
{
	for (uint32_t i = 0; i < t->answer->n_clocks && t->s->o.format != SIM_TABLE; i++) {
		const struct sim_clock *c = t->truth[i];
		size_t set_back = 0;
		for (size_t k = 0; k < c->n_jumps; k++) {
			set_back += !c->jump[k].still_ns && c->jump[k].size_ns < 0;
		}
		if (set_back > (size_t)__builtin_popcount(t->held[i].seen)) {
			return true;
		}
	}
	return false;
}

/* The most that a rate strays from one constant, of any two clocks of an island, 10^-18. */
static int64_t widest_wander(const struct trial *t, uint32_t reference)
{
	int64_t most = 0;
	for (uint32_t a = 0; a < t->answer->n_clocks; a++) {
		for (uint32_t b = 0; b < a; b++) {
			if (t->answer->clock[a].reference == reference &&
			    t->answer->clock[b].reference == reference) {
				int64_t x = trial_wander_e18(t, a, b);
				most = x > most ? x : most;
			}
		}
	}
	return most;
}

static void check_contradicted(struct trial *t, uint32_t reference)
{
	/* A clock that was set is on no line. */
	bool line = t->answer->model.kind != USK_LINEAR || !t->out->stepped;
	bool one_rate = line && widest_wander(t, reference) <= 1;
	for (uint32_t i = 0; i < t->answer->n_clocks; i++) {
		const struct usk_clock *c = &t->answer->clock[i];
		if (c->quality == USK_CONTRADICTED && c->reference == reference &&
		    (one_rate || t->answer->model.kind == USK_WANDER) && !may_look_late(t)) {
			trial_fail(t, TRIAL_CONTRADICTED, "%s is contradicted", c->name);
		}
	}
}

/* The needed is the least there is, so the true clocks need no less. */
static void check_needed(struct trial *t, uint32_t reference)
{
	const struct usk_clocks *a = t->answer;
	int64_t most = widest_wander(t, reference);
	for (uint32_t i = 0; i < a->n_clocks; i++) {
		const struct usk_clock *c = &a->clock[i];
		if (c->reference == reference &&
		    (usk_i128)(c->wander.needed_e12 - 1) * 1000000 > most) {
			trial_fail(t, TRIAL_REST,
				   "%s is said to need %lld e-12 of wander, none had %lld e-18",
				   c->name, (long long)c->wander.needed_e12, (long long)most);
		}
	}
	for (size_t i = 0; i < a->n_pairs; i++) {
		const struct usk_pair *p = &a->pair[i];
		if (p->quality == USK_BOUNDED && a->clock[p->a].reference == reference &&
		    a->clock[p->b].reference == reference &&
		    (usk_i128)(p->wander.needed_e12 - 1) * 1000000 >
			    trial_wander_e18(t, p->a, p->b)) {
			trial_fail(t, TRIAL_REST,
				   "%s and %s are said to need %lld e-12 of wander, they had %lld "
				   "e-18",
				   a->clock[p->a].name, a->clock[p->b].name,
				   (long long)p->wander.needed_e12,
				   (long long)trial_wander_e18(t, p->a, p->b));
		}
	}
}

static void add_width(struct trial *t, const struct held *h)
{
	t->out->moments += h->moments;
	t->out->width += h->half_ns;
	t->out->nearest = h->nearest < t->out->nearest ? h->nearest : t->out->nearest;
}

static void check_bands(struct trial *t, uint32_t reference, bool promised, bool kept)
{
	for (uint32_t i = 0; i < t->answer->n_clocks; i++) {
		const struct usk_clock *c = &t->answer->clock[i];
		const struct held *h = &t->held[i];
		if (i == reference || c->reference != reference || !c->n_knots) {
			continue;
		}
		if (promised && h->outside) {
			fail_outside(t, c, h, kept);
		}
		if (promised) {
			add_width(t, h);
		}
		if (!kept) {
			t->out->loose++;
			t->out->loose_held += !h->outside;
		}
	}
}

static bool check_island(struct trial *t, uint32_t reference)
{
	const struct usk_clocks *a = t->answer;
	bool limit = trial_within_limit(t, reference), one_way = trial_jumps_one_way(t, reference);
	bool rates = one_way && trial_rates_kept(t, reference) && trial_delays_kept(t, reference);
	struct trial_missed missed = trial_missed_jumps(t, reference);
	bool kept = rates && !missed.doubtful && !missed.beyond_doubt;
	if (limit) {
		check_contradicted(t, reference);
	}
	if (limit && !t->out->stepped && a->model.kind == USK_WANDER) {
		check_needed(t, reference);
	}
	check_bands(t, reference, rates && !missed.doubtful, kept);
	for (uint32_t i = 0; i < a->n_clocks && rates; i++) {
		if (a->clock[i].reference == reference && a->clock[i].n_knots) {
			trial_check_jumps(t, i, !missed.doubtful);
		}
	}
	return kept;
}

/* A stamp that stands for two moments of one epoch, as its clock was set back unseen, may be in
 * no order with others: a map has one time for it. */
static bool stands_for_two(const struct trial *t, uint32_t clock, int64_t stamp)
{
	return held_stands_for_two(t->truth[clock], t->held[clock].seen, stamp,
				   t->s->o.resolution_ns);
}

/* Does the reference show what it shows then twice, as it was set back unseen? With it the time of
 * all others falls, which nothing that is written does. */
static bool reference_repeats(const struct trial *t, uint32_t clock, int64_t true_ns)
{
	uint32_t reference = t->answer->clock[clock].reference;
	return stands_for_two(t, reference, sim_clock_read(t->truth[reference], true_ns));
}

/* The moments of a message of a table; false: there is none with these stamps. */
static bool moments_of(const struct trial *t, const struct usk_msg *m, int64_t *left_ns,
		       int64_t *arrived_ns)
{
	uint32_t from = trial_host_of(t, m->from), to = trial_host_of(t, m->to);
	for (size_t i = 0; i < t->n; i++) {
		const struct sim_message *x = &t->m[i];
		if (x->from == from && x->to == to && x->sent_ns == m->sent_ns &&
		    x->received_ns == m->received_ns) {
			*left_ns = x->left_ns;
			*arrived_ns = x->arrived_ns;
			return true;
		}
	}
	return false;
}

static bool may_be_left_out(const struct trial *t, const struct usk_msg *m)
{
	int64_t left, arrived;
	return stands_for_two(t, m->from, m->sent_ns) || stands_for_two(t, m->to, m->received_ns) ||
	       (moments_of(t, m, &left, &arrived) &&
		(reference_repeats(t, m->from, left) || reference_repeats(t, m->from, arrived)));
}

static uint64_t wrongly_left_out(const struct trial *t)
{
	uint64_t n = 0;
	for (size_t i = 0; i < t->answer->n_pairs; i++) {
		const struct usk_pair *p = &t->answer->pair[i];
		for (size_t k = 0; k < p->n_outliers; k++) {
			n += !may_be_left_out(t, &p->outlier[k].msg);
		}
	}
	return n;
}

static void check_promise(struct trial *t)
{
	t->out->kept = true;
	for (uint32_t i = 0; i < t->answer->n_clocks; i++) {
		if (t->answer->clock[i].quality == USK_REFERENCE) {
			t->out->kept = check_island(t, i) && t->out->kept;
		}
	}
	uint64_t wrong = t->out->kept ? wrongly_left_out(t) : 0;
	if (wrong) {
		trial_fail(t, TRIAL_REST, "%llu messages are taken for wrong",
			   (unsigned long long)wrong);
	}
}

/* ---- messages ---------------------------------------------------------------------------- */

static void check_knots(struct trial *t, const struct usk_clock *c)
{
	for (size_t i = 0; i < c->n_knots; i++) {
		const struct usk_knot *k = &c->knot[i], *before = k - 1;
		bool one_sided = c->quality == USK_ONE_SIDED;
		bool over = k->hi_ns != USK_NONE && k->offset_ns > k->hi_ns;
		if (!one_sided && (k->lo_ns > k->offset_ns || over)) {
			trial_fail(t, TRIAL_SELF, "%s: knot %zu: %lld is not within [%lld, %lld]",
				   c->name, i, (long long)k->offset_ns, (long long)k->lo_ns,
				   (long long)k->hi_ns);
		}
		if (!i || k->epoch != before->epoch) {
			continue;
		}
		if (k->local_ns <= before->local_ns) {
			trial_fail(t, TRIAL_SELF, "%s: knot %zu is not after the one before",
				   c->name, i);
		}
		if (!one_sided &&
		    k->local_ns + k->offset_ns < before->local_ns + before->offset_ns) {
			trial_fail(t, TRIAL_SELF, "%s: time falls at knot %zu", c->name, i);
		}
	}
}

static bool known(const struct usk_clock *c)
{
	return c->quality == USK_REFERENCE || c->n_knots;
}

/* What a stamp is on the timeline, by one side of its clock. False: that side is not known. */
static bool on_timeline(const struct trial *t, const struct usk_clock *c, uint32_t epoch,
			int64_t local_ns, enum band_side side, int64_t *at)
{
	*at = local_ns;
	if (c->quality == USK_REFERENCE && !epoch) {
		return true;
	}
	struct band b = band_of(c, epoch, t->answer->max_skew_e12);
	int64_t offset = b.n < 2 ? USK_NONE : band_at(&b, local_ns, side);
	if (offset == USK_NONE) {
		return false;
	}
	*at += offset;
	return true;
}

/* Is a pair a step of the way to the reference, which is all that a tree is made of? */
static bool is_used(const struct trial *t, const struct usk_msg *m)
{
	const uint32_t both[] = { m->from, m->to };
	bool used = strcmp(t->answer->solve, "tree") != 0;
	for (int k = 0; k < 2; k++) {
		const struct usk_clock *c = &t->answer->clock[both[k]];
		used = used || (c->n_path > 1 && c->path[c->n_path - 2] == both[!k]);
	}
	return used;
}

static const struct usk_pair *pair_of(const struct trial *t, const struct usk_msg *m)
{
	const struct usk_pair *p = t->answer->pair;
	while ((p->a != m->from || p->b != m->to) && (p->a != m->to || p->b != m->from)) {
		p++;
	}
	return p;
}

/* The answer says that it is made of others: where a clock was set back unseen, and shows stamps
 * twice, no map puts all messages in order. Where all that it assumes is kept there is none. */
static bool is_left_out(const struct trial *t, const struct usk_msg *m)
{
	const struct usk_pair *p = pair_of(t, m);
	bool found = false;
	for (size_t k = 0; k < p->n_outliers && !found; k++) {
		const struct usk_msg *o = &p->outlier[k].msg;
		found = o->from == m->from && o->to == m->to && o->sent_ns == m->sent_ns &&
			o->received_ns == m->received_ns;
	}
	return found;
}

/* By how much a message is out of order by integer stamps, to the receiver's resolution; by how
 * much the bands exclude it. 0: not. */
struct lacks {
	int64_t order_ns, bands_ns;
};

/*
 * The receiver may have been late enough, the sender early enough, for the message to be possible:
 * its stamps may be anything up to their resolution more.
 */
static struct lacks lacks_of(const struct trial *t, const struct usk_msg *m, struct trial_epochs at)
{
	const struct usk_clock *from = &t->answer->clock[m->from], *to = &t->answer->clock[m->to];
	int64_t q = to->resolution_ns > 1 ? to->resolution_ns : 0, sent, received, early, late;
	struct lacks l = { 0 };
	if (on_timeline(t, from, at.sent, m->sent_ns, BAND_OFFSET, &sent) &&
	    on_timeline(t, to, at.received, m->received_ns, BAND_OFFSET, &received) &&
	    received < sent - q) {
		l.order_ns = sent - received;
	}
	if (on_timeline(t, from, at.sent, m->sent_ns, BAND_LO, &early) &&
	    on_timeline(t, to, at.received, m->received_ns, BAND_HI, &late) &&
	    late + q + q / 1000 + 2 < early) {
		l.bands_ns = early - late;
	}
	return l;
}

/* Do both clocks show its stamps in these epochs, so that nothing tells that it is of others? */
static bool may_be_of(const struct trial *t, const struct usk_msg *m, struct trial_epochs at)
{
	return held_shows(t->truth[m->from], t->held[m->from].seen,
			  (struct held_place){ at.sent, m->sent_ns }, t->s->o.resolution_ns) &&
	       held_shows(t->truth[m->to], t->held[m->to].seen,
			  (struct held_place){ at.received, m->received_ns },
			  t->s->o.resolution_ns);
}

/*
 * Of those that the answer is made of. A stamp that a clock shows in several epochs the answer
 * takes for one of that which says least: of this it promises all, and of that in which it was
 * stamped if clocks do what is assumed of them, and it is not one of those of which some have to be
 * left out.
 */
static void check_message(struct trial *t, const struct trial_used *u)
{
	const struct usk_msg *m = &u->msg;
	const struct usk_clock *from = &t->answer->clock[m->from], *to = &t->answer->clock[m->to];
	if (!known(from) || !known(to) || from->reference != to->reference || !is_used(t, m)) {
		return;
	}
	if (t->answer->counts.outliers && is_left_out(t, m)) {
		t->out->left_out++;
		return;
	}
	t->out->messages++;
	bool told = may_be_of(t, m, u->told);
	struct lacks l = lacks_of(t, m, told && !t->out->kept ? u->told : u->truth);
	if (told && (l.order_ns || l.bands_ns) && may_be_left_out(t, m)) {
		l = lacks_of(t, m, u->told);
	}
	if (l.order_ns) {
		trial_fail(t, TRIAL_ORDER, "%s,%s,%lld,%lld is received %lld ns before it is sent",
			   from->name, to->name, (long long)m->sent_ns, (long long)m->received_ns,
			   (long long)l.order_ns);
	}
	/* What contradicts itself no band is made of, which the answer says of a pair. */
	if (l.bands_ns && pair_of(t, m)->quality != USK_CONTRADICTED) {
		trial_fail(t, TRIAL_MESSAGE, "the bands exclude %s,%s,%lld,%lld by %lld ns",
			   from->name, to->name, (long long)m->sent_ns, (long long)m->received_ns,
			   (long long)l.bands_ns);
	}
}

/* By what identifies it in a table: clocks of the answer, stamps. */
static int by_stamps(const void *a, const void *b)
{
	const struct trial_used *x = a, *y = b;
	int64_t pairs[][2] = { { x->msg.from, y->msg.from },
			       { x->msg.to, y->msg.to },
			       { x->msg.sent_ns, y->msg.sent_ns },
			       { x->msg.received_ns, y->msg.received_ns } };
	for (size_t i = 0; i < COUNT(pairs); i++) {
		if (pairs[i][0] != pairs[i][1]) {
			return pairs[i][0] < pairs[i][1] ? -1 : 1;
		}
	}
	return 0;
}

/* In which epoch a table's messages were stamped, the truth tells. */
static void find_epochs(struct trial *t)
{
	struct trial_used *true_one = usk_alloc(t->n + 1, sizeof *true_one);
	uint32_t clock_of[SCENARIO_HOSTS] = { 0 };
	for (uint32_t i = 0; i < t->answer->n_clocks; i++) {
		clock_of[trial_host_of(t, i)] = i;
	}
	for (size_t i = 0; i < t->n; i++) {
		const struct sim_message *m = &t->m[i];
		uint32_t from = clock_of[m->from], to = clock_of[m->to];
		true_one[i] = (struct trial_used){
			.msg = { m->sent_ns, m->received_ns, from, to, m->bytes },
			.truth = {
				held_place(t->truth[from], t->held[from].seen, m->left_ns).epoch,
				held_place(t->truth[to], t->held[to].seen, m->arrived_ns).epoch,
			},
		};
	}
	qsort(true_one, t->n, sizeof *true_one, by_stamps);
	for (size_t i = 0; i < t->n_kept; i++) {
		const struct trial_used *found =
			bsearch(&t->used[i], true_one, t->n, sizeof *true_one, by_stamps);
		if (found) {
			t->used[i].truth = found->truth;
		}
	}
	free(true_one);
}

void trial_verdict(struct trial *t)
{
	for (uint32_t i = 0; i < t->answer->n_clocks; i++) {
		t->truth[i] = &t->clock[trial_host_of(t, i)];
		check_knots(t, &t->answer->clock[i]);
	}
	check_moments(t);
	check_promise(t);
	if (t->n) {
		find_epochs(t);
	}
	for (size_t i = 0; i < t->n_kept; i++) {
		check_message(t, &t->used[i]);
	}
	if (t->answer->evaluation.corrected_inversions) {
		trial_fail(t, TRIAL_ORDER, "%llu inversions are counted after correction",
			   (unsigned long long)t->answer->evaluation.corrected_inversions);
	}
}

/* SPDX-License-Identifier: MIT */
/*
 * calibrate.c - what messages need at least, pair by pair, from round trips
 *
 * In    opened traces
 * Out   per pair the smallest round trips, and a minimum-delay model that --min-delay takes
 * Why   a band is as wide as the two minima together: what is known of them comes off it
 * Not   how a round trip divides between its two ways: half each, or as the caller says
 *
 * The model is drawn from round trips (judge/least.c) and then asked of all messages. Where both
 * clocks run as their model says, the whole trace tells more of the two minima than any round trip
 * does: the fastest message there and the fastest one back need not belong together. So the
 * messages must fit with the model, and still fit if every delay were longer by half of the margin:
 * a model that only just fits makes a band of no width in the wrong place.
 */
#include "flow/reading.h"

#include <stdlib.h>

/* ---- what all messages say ------------------------------------------------------------------ */

/* What disturbs the pair by these messages. */
static void look(const struct usk_fit *fit, struct usk_corridor *c, struct usk_calm *out)
{
	const struct usk_graph_back back[2] = { { fit->other_back, fit->n_other_back },
						{ fit->back, fit->n_back } };
	struct usk_part part;
	usk_part_of(c, fit->lines->q_ns, &part);
	const struct usk_calm_model m = { .wander_e12 = fit->model.wander_e12,
					  .clocks = 1,
					  .max_skew_e12 = fit->max_skew_e12,
					  .own_rates = fit->model.kind == USK_SEGMENTS };
	usk_calm_of(&part, &m, &back[0], &back[1], out);
	usk_part_free(&part);
}

/* Do the messages fit as they did without, if each needs this and so much more? */
static bool fits_with(const struct usk_fit *fit, const struct usk_calm *without,
		      const struct usk_delay_model *m, int64_t more_ns)
{
	struct usk_corridor *delayed = usk_corridor_new(&fit->lines->frame);
	bool good = true;
	for (size_t i = 0; i < fit->n_msgs && good; i++) {
		struct usk_msg x = fit->msg[i];
		usk_i128 least = (usk_i128)usk_delay_model_ns(m, x.bytes) + more_ns;
		bool forth = x.from == fit->a;
		x.sent_ns = forth ? usk_saturate(x.sent_ns + (least > 0 ? least : 0)) : x.sent_ns;
		x.received_ns = forth ? x.received_ns
				      : usk_saturate(x.received_ns - (least > 0 ? least : 0));
		good = !usk_corridor_add(delayed, fit->a, fit->b, &x, 1, NULL);
	}
	if (good) {
		struct usk_calm c;
		look(fit, delayed, &c);
		good = !c.contradicted && !c.n_outliers && c.n_brackets <= without->n_brackets &&
		       c.wander_e12 <= without->wander_e12;
		usk_calm_free(&c);
	}
	usk_corridor_free(delayed);
	return good;
}

/* The most that may come on top, up to a bound; less than nothing if some has to come off. */
static int64_t room_of(const struct usk_fit *fit, const struct usk_calm *without,
		       const struct usk_delay_model *m, int64_t least_ns, int64_t most_ns)
{
	int64_t lo = least_ns, hi = most_ns;
	if (fits_with(fit, without, m, hi)) {
		return hi;
	}
	/* To 1 %. */
	while (hi - lo > 1 + (most_ns - least_ns) / 128) {
		int64_t mid = lo + (hi - lo) / 2;
		if (fits_with(fit, without, m, mid)) {
			lo = mid;
		} else {
			hi = mid;
		}
	}
	return lo;
}

/*
 * All delays must be able to be longer by half of the margin. What is missing comes off, if it is
 * no more than another margin: so much the smallest round trip leaves open. Where it is more, the
 * clocks do not run as their model says, as round trips know nothing of that. A minimum delay cut
 * short would hide it, and the bands would be wrong all the same: so it stays, and is told.
 */
static void give_room(const struct usk_fit *fit, const struct usk_calm *without,
		      struct usk_calibrated *out)
{
	int64_t want = out->margin_ns / 4 + 1; /* of a sum: half of half of it */
	int64_t most = out->margin_ns / 2 + 1;
	out->judged = true;
	if (fits_with(fit, without, &out->model, want)) {
		out->room_ns = room_of(fit, without, &out->model, want, out->margin_ns + 4 * want);
		return;
	}
	bool little = fits_with(fit, without, &out->model, want - most);
	int64_t base = out->model.base_ps / 1000 + 1;
	out->room_ns = room_of(fit, without, &out->model, little ? want - most : -base, want - 1);
	if (little) {
		out->shortened_ns = want - out->room_ns;
		out->room_ns = want;
		usk_delay_model_shorten(&out->model, out->shortened_ns);
	}
}

/* ---- pairs ----------------------------------------------------------------------------------- */

static char *why_none(const struct usk_calibrated *l, const struct usk_calibrate_options *how,
		      const char *a, const char *b)
{
	if (!l->round_trips) {
		return usk_format("%s and %s made no round trip: a message, and one back that was "
				  "sent after it had come",
				  a, b);
	}
	if (!l->used) {
		return usk_format("no round trip between %s and %s was answered soon enough to be "
				  "known to 1 %%",
				  a, b);
	}
	if (l->needed && how->margin < 0) {
		return usk_format("only %llu round trip%s between %s and %s %s answered soon "
				  "enough to be known to 1 %%: %llu more of one kind are needed to "
				  "find the margin between the smallest measured and the smallest "
				  "possible (or state a --margin)",
				  (unsigned long long)l->used, l->used == 1 ? "" : "s", a, b,
				  l->used == 1 ? "was" : "were", (unsigned long long)l->needed);
	}
	return usk_format("round trips between %s and %s leave no minimum delay: the smallest took "
			  "%lld ns, the margin is %lld ns, the asymmetry %lld ns",
			  a, b, (long long)l->smallest_ns, (long long)l->margin_ns,
			  (long long)how->asymmetry_ns);
}

static enum usk_status calibrate(struct pair_source *s, const struct usk_calibrate_options *how,
				 struct usk_calibrated *out, struct gathered *g,
				 struct usk_err *err)
{
	const struct party *y = s->parties->party;
	struct usk_fit fit = usk_gathered_fit(g, s);
	struct trips t[2] = { usk_trips_by(&fit, s, s->a), usk_trips_by(&fit, s, s->b) };
	struct trips all = usk_trips_merge(&t[0], &t[1]);
	bool none = usk_least_of(all.trip, all.n, how, out) != NULL;
	usk_trips_lengths(t, s, out);
	free(t[0].trip);
	free(t[1].trip);
	out->round_trips = all.n;
	free(all.trip);
	if (!none && g->bounded) {
		struct usk_calm without;
		look(&fit, g->corridor, &without);
		give_room(&fit, &without, out);
		usk_calm_free(&without);
	}
	if (!out->model.base_ps) {
		out->why = why_none(out, how, y[s->a].name, y[s->b].name);
	}
	return usk_trips_ways(&fit, s, out, err);
}

struct calibrating {
	struct parties *p;
	const struct usk_calibrate_options *how;
	struct usk_calibration *c;
};

static enum usk_status take_pair(void *ctx, size_t pair, struct gathered *g, struct usk_err *err)
{
	struct calibrating *x = ctx;
	struct usk_calibration *c = x->c;
	struct pair_source *s = &x->p->pair[pair];
	if (!g->n_msgs) {
		return USK_OK;
	}
	c->pair = usk_grow(c->pair, c->n_pairs + 1, sizeof *c->pair);
	struct usk_calibrated *out = &c->pair[c->n_pairs++];
	*out = (struct usk_calibrated){ .a = s->a, .b = s->b };
	usk_counts_add(&c->counts, &g->found);
	return calibrate(s, x->how, out, g, err);
}

enum usk_status usk_calibrate(struct usk_trace *const *trace, size_t n,
			      const struct usk_sync_options *opt,
			      const struct usk_calibrate_options *how, struct usk_calibration **out,
			      struct usk_err *err)
{
	static const struct usk_calibrate_options as_they_spread = { .margin = -1 };
	struct usk_sync_options o = opt ? *opt : usk_sync_defaults;
	struct parties p;
	o.min_delay = NULL;
	o.method = NULL;
	enum usk_status status = usk_flow_open(trace, n, &o, NULL, &p, err);
	if (status) {
		return status;
	}
	struct usk_calibration *c = usk_alloc(1, sizeof *c);
	c->counts = p.left_out;
	c->n_clocks = p.n;
	c->clock = usk_flow_names(&p, &c->note, &c->n_notes);
	struct calibrating x = { &p, how ? how : &as_they_spread, c };
	status = usk_gather(&p, GATHER_KEEP, NULL, take_pair, &x, err);
	usk_parties_free(&p);
	if (status) {
		usk_calibration_free(c);
		return status;
	}
	*out = c;
	return USK_OK;
}

void usk_calibration_free(struct usk_calibration *c)
{
	if (!c) {
		return;
	}
	for (size_t i = 0; i < c->n_pairs; i++) {
		struct usk_calibrated *p = &c->pair[i];
		for (size_t k = 0; k < p->n_ways; k++) {
			USK_FREE(p->way[k].asker_iface, p->way[k].other_iface);
		}
		USK_FREE(p->way, p->length, p->why);
	}
	usk_flow_texts_free(c->clock, c->n_clocks);
	usk_flow_texts_free(c->note, c->n_notes);
	free(c->pair);
	free(c);
}

/* SPDX-License-Identifier: MIT */
/*
 * clock_json.c - this machine's clocks, for machines: every figure and histogram, and read again
 *
 * In    what was measured; or a text that anyone may have written, edited or damaged
 * Out   JSON; or the figures as they were measured, to the last bit, or a sentence naming the key
 * Why   a report shows several machines' clocks, and each can be asked on its own machine only
 * Not   keys that it does not know: they are passed over
 */
#include "clock_show.h"
#include "json.h"
#include "write/json_get.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static json_t *figures(const struct figures *f)
{
	json_t *octaves = json_array();
	int last = 0;
	for (int i = 0; i < OCTAVES; i++) {
		last = f->octave[i] ? i + 1 : last;
	}
	for (int i = 0; i < last; i++) {
		json_array_append_new(octaves, json_integer((json_int_t)f->octave[i]));
	}
	json_t *bins = json_array();
	for (int i = 0; i < BINS && f->n; i++) {
		json_array_append_new(bins, json_integer((json_int_t)f->bin[i]));
	}
	return json_pack("{s:I,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o}", "count",
			 (json_int_t)f->n, "mean", json_number(f->mean), "trimmed_mean",
			 json_number(f->trimmed), "deviation", json_number(f->deviation), "min",
			 json_number(f->min), "median", json_number(f->median), "p99",
			 json_number(f->p99), "max", json_number(f->max), "octaves", octaves,
			 "bins_from", json_number(f->bins_from), "bin_width",
			 json_number(f->bin_width), "bins", bins);
}

static json_t *sources(const struct clock_report *r)
{
	json_t *a = json_array();
	for (size_t i = 0; i < r->n_sources; i++) {
		const struct source_figures *f = &r->figures[i];
		json_array_append_new(
			a, json_pack("{s:s,s:o,s:o,s:o,s:I,s:o,s:I,s:I,s:o,s:o,s:o,s:o,s:o}",
				     "name", r->source[i].name, "read_ns", json_number(f->cost_ns),
				     "resolution_ns", json_number(f->resolution_ns), "repeats",
				     json_number(f->repeats), "backwards", (json_int_t)f->backwards,
				     "backwards_ns", json_number(f->backwards_ns), "turns",
				     (json_int_t)f->turns, "turns_backwards",
				     (json_int_t)f->turns_backwards, "turns_backwards_ns",
				     json_number(f->turns_backwards_ns), "drift_ppm",
				     json_number(f->drift_ppm), "drift_error_ppm",
				     json_number(f->drift_error_ppm), "hz",
				     f->hz > 0 ? json_number(f->hz) : json_null(), "step_ns",
				     figures(&f->step)));
	}
	return a;
}

static json_t *zero_of(const struct zero *zero)
{
	json_t *a = json_array();
	for (int c = 0; c < COMPENSATIONS; c++) {
		const struct zero_row *z = &zero->row[c];
		json_array_append_new(
			a,
			json_pack("{s:s,s:I,s:I,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o}",
				  "compensation", compensation_name((enum compensation)c), "runs",
				  (json_int_t)z->runs, "kept", (json_int_t)z->kept, "ns",
				  figures(&z->net), "k", json_number(z->k), "k_trimmed",
				  json_number(z->k_calm), "k1", json_number(z->k1), "predicted",
				  json_number(z->predicted), "rho_before", json_number(z->rho[0]),
				  "rho_after", json_number(z->rho[1]), "rho_around",
				  json_number(z->rho[2]), "rho_next", json_number(z->rho_next)));
	}
	return a;
}

static json_t *routines(const struct under *u)
{
	json_t *a = json_array();
	for (int i = 0; i < ROUTINES && u->has_routines; i++) {
		const struct routine_figures *f = &u->routine[i];
		json_array_append_new(a, json_pack("{s:s,s:I,s:o,s:I,s:I,s:o}", "routine",
						   routine_name((enum counter_routine)i), "pairs",
						   (json_int_t)f->pairs, "words",
						   json_number(f->words), "wrong_as_printed",
						   (json_int_t)f->wrong[AS_PRINTED],
						   "wrong_hardened", (json_int_t)f->wrong[HARDENED],
						   "ns", figures(&f->took)));
	}
	return a;
}

/* They follow from the messages, and are not read again. */
static json_t *words(const struct under *u)
{
	json_t *a = json_array();
	for (int c = 0; c < CHANNELS; c++) {
		double trip = clock_per_word(u, (enum channel)c, false);
		double way = clock_per_word(u, (enum channel)c, true);
		json_array_append_new(a, json_pack("{s:s,s:o,s:o}", "channel",
						   channel_name((enum channel)c),
						   "round_trip_ns_per_word", json_number(trip),
						   "one_way_ns_per_word", json_number(way)));
	}
	return a;
}

static json_t *under(const struct under *u)
{
	json_t *messages = json_array();
	for (int c = 0; c < CHANNELS; c++) {
		for (size_t k = 0; k < SIZES; k++) {
			const struct exchange_figures *e = &u->exchange[c][k];
			if (e->known) {
				json_array_append_new(
					messages,
					json_pack("{s:s,s:I,s:I,s:I,s:I,s:o,s:o,s:o,s:s}",
						  "channel", channel_name((enum channel)c), "bytes",
						  (json_int_t)clock_sizes[k], "runs",
						  (json_int_t)e->runs, "round_trip_kept",
						  (json_int_t)e->rpc_kept, "one_way_kept",
						  (json_int_t)e->latency_kept, "round_trip_ns",
						  figures(&e->rpc), "one_way_ns",
						  figures(&e->latency), "zero", zero_of(&e->zero),
						  "compensation", compensation_name(e->how)));
			}
		}
	}
	double uncertain = clock_uncertainty(u);
	return json_pack("{s:I,s:o,s:s,s:o,s:o,s:o,s:o,s:o,s:o}", "load", (json_int_t)u->load,
			 "zero", zero_of(&u->zero), "best", compensation_name(u->zero.best),
			 "uncertainty_ns", json_number(uncertain), "tick_ns",
			 json_number(tick_for(uncertain)), "routines", routines(u), "timer_late_ns",
			 figures(&u->wakeup), "messages", messages, "words", words(u));
}

void clock_print_json(FILE *out, const struct clock_report *r)
{
	const struct discipline *d = &r->discipline;
	json_t *cores = json_array(), *loads = json_array();
	for (size_t i = 0; i < r->n_cores; i++) {
		json_array_append_new(cores, json_pack("{s:i,s:o}", "cpu", r->core[i].cpu,
						       "work_ns", json_number(r->core[i].work_ns)));
	}
	for (size_t i = 0; i < r->n_under; i++) {
		json_array_append_new(loads, under(&r->under[i]));
	}
	json_t *steered =
		d->known
			? json_pack("{s:b,s:o,s:o,s:o,s:o,s:i}", "synchronised", d->synchronised,
				    "frequency_ppm", json_number(d->frequency_ppm), "offset_ns",
				    json_number(d->offset_ns), "error_ns", json_number(d->error_ns),
				    "max_error_ns", json_number(d->max_error_ns), "tai_s", d->tai_s)
			: json_null();
	json_t *root = json_pack("{s:i,s:s,s:s,s:o,s:o,s:o,s:o,s:o}", "unskew_clock", 1, "source",
				 r->source[r->which].name, "work",
				 r->work == WORK_READ ? "read" : "message", "seconds",
				 json_number(r->seconds), "clocks", sources(r), "realtime", steered,
				 "cores", cores, "loads", loads);
	json_print(out, root, JSON_INDENT(2));
}

/* Larger is no time that was measured; drawings may add and divide what is smaller. */
#define NS_MAX 1e18
/* Narrower parts of a histogram would make its bars higher than a double. */
#define WIDTH_MIN 1e-30

static double ns(struct reader *r, const struct place *at, const json_t *o, const char *key,
		 bool nullable)
{
	double v = usk_json_number(r, at, o, key, nullable);
	if (fabs(v) > NS_MAX) {
		usk_json_wrong(r, at, key, "is more than %g ns", NS_MAX);
	}
	return v;
}

/* An array of 1 to `most` rows. */
static const json_t *rows(struct reader *r, const struct place *at, const json_t *o,
			  const char *key, size_t most, size_t *n)
{
	const json_t *a = usk_json_array(r, at, o, key);
	*n = json_array_size(a);
	if (!*n || *n > most) {
		usk_json_wrong(r, at, key, "has %zu rows, not 1 to %zu", *n, most);
		*n = 0;
	}
	return a;
}

/* Counts of at most `most` parts; returns their sum, which 64 bits need not hold. */
static usk_i128 counts(struct reader *r, const struct place *up, const json_t *o, const char *key,
		       size_t most, uint64_t *out)
{
	const struct place at = { up, key, 0 };
	const json_t *a = usk_json_array(r, up, o, key);
	size_t n = json_array_size(a);
	usk_i128 sum = 0;
	if (n > most) {
		usk_json_wrong(r, up, key, "has %zu numbers, not up to %zu", n, most);
	}
	for (size_t i = 0; i < n && !r->status; i++) {
		const json_t *v = json_array_get(a, i);
		const struct place here = { &at, NULL, i };
		if (!json_is_integer(v) || json_integer_value(v) < 0) {
			usk_json_wrong(r, &here, NULL, "is not a count");
			break;
		}
		out[i] = (uint64_t)json_integer_value(v);
		sum += out[i];
	}
	return sum;
}

static void read_figures(struct reader *r, const struct place *up, const json_t *o, const char *key,
			 struct figures *f)
{
	const struct place at = { up, key, 0 };
	const json_t *v = usk_json_object(r, up, o, key);
	f->n = usk_json_count(r, &at, v, "count");
	f->mean = ns(r, &at, v, "mean", true);
	f->trimmed = ns(r, &at, v, "trimmed_mean", true);
	f->deviation = ns(r, &at, v, "deviation", true);
	f->min = ns(r, &at, v, "min", true);
	f->median = ns(r, &at, v, "median", true);
	f->p99 = ns(r, &at, v, "p99", true);
	f->max = ns(r, &at, v, "max", true);
	f->bins_from = ns(r, &at, v, "bins_from", false);
	f->bin_width = ns(r, &at, v, "bin_width", false);
	if (f->bin_width < 0 || (f->bin_width > 0 && f->bin_width < WIDTH_MIN)) {
		usk_json_wrong(r, &at, "bin_width", "is neither 0 nor %g ns or more", WIDTH_MIN);
	}
	if (counts(r, &at, v, "octaves", OCTAVES, f->octave) != (usk_i128)f->n) {
		usk_json_wrong(r, &at, "octaves", "do not add up to count");
	}
	if (counts(r, &at, v, "bins", BINS, f->bin) > (usk_i128)f->n) {
		usk_json_wrong(r, &at, "bins", "add up to more than count");
	}
}

static void read_source(struct reader *r, const struct place *at, const json_t *o, struct source *s,
			struct source_figures *f)
{
	char *name = usk_json_string(r, at, o, "name");
	if (!name[0] || strlen(name) >= sizeof s->name) {
		usk_json_wrong(r, at, "name", "is not 1 to %zu bytes long", sizeof s->name - 1);
	} else {
		strcpy(s->name, name);
	}
	free(name);
	s->fd = -1;
	f->cost_ns = ns(r, at, o, "read_ns", true);
	f->resolution_ns = ns(r, at, o, "resolution_ns", true);
	f->repeats = usk_json_number(r, at, o, "repeats", true);
	f->backwards = usk_json_count(r, at, o, "backwards");
	f->backwards_ns = ns(r, at, o, "backwards_ns", true);
	f->turns = usk_json_count(r, at, o, "turns");
	f->turns_backwards = usk_json_count(r, at, o, "turns_backwards");
	f->turns_backwards_ns = ns(r, at, o, "turns_backwards_ns", true);
	f->drift_ppm = usk_json_number(r, at, o, "drift_ppm", true);
	f->drift_error_ppm = usk_json_number(r, at, o, "drift_error_ppm", true);
	if (isfinite(f->drift_ppm) && !isfinite(f->drift_error_ppm)) {
		usk_json_wrong(r, at, "drift_error_ppm", "is null, yet drift_ppm is not");
	}
	double hz = usk_json_number(r, at, o, "hz", true);
	f->hz = hz > 0 ? hz : 0;
	read_figures(r, at, o, "step_ns", &f->step);
}

static enum compensation read_compensation(struct reader *r, const struct place *at,
					   const json_t *o, const char *key)
{
	char *name = usk_json_string(r, at, o, key);
	int c = 0;
	while (c < COMPENSATIONS && strcmp(name, compensation_name((enum compensation)c)) != 0) {
		c++;
	}
	if (c == COMPENSATIONS) {
		usk_json_wrong(r, at, key, "\"%.40s\" is no compensation", name);
		c = RAW;
	}
	free(name);
	return (enum compensation)c;
}

/* What older versions did not print. */
static uint64_t later_count(struct reader *r, const struct place *at, const json_t *o,
			    const char *key, uint64_t otherwise)
{
	return json_object_get(o, key) ? usk_json_count(r, at, o, key) : otherwise;
}

static double later_number(struct reader *r, const struct place *at, const json_t *o,
			   const char *key)
{
	return json_object_get(o, key) ? usk_json_number(r, at, o, key, true) : NAN;
}

static void read_zero_row(struct reader *r, const struct place *at, const json_t *o,
			  struct zero_row *z)
{
	read_figures(r, at, o, "ns", &z->net);
	z->runs = later_count(r, at, o, "runs", z->net.n);
	z->kept = later_count(r, at, o, "kept", z->net.n);
	z->k = usk_json_number(r, at, o, "k", true);
	z->k_calm = usk_json_number(r, at, o, "k_trimmed", true);
	z->k1 = usk_json_number(r, at, o, "k1", true);
	z->predicted = usk_json_number(r, at, o, "predicted", true);
	z->rho[0] = later_number(r, at, o, "rho_before");
	z->rho[1] = later_number(r, at, o, "rho_after");
	z->rho[2] = later_number(r, at, o, "rho_around");
	z->rho_next = later_number(r, at, o, "rho_next");
}

/* A row per compensation, in their order. */
static void read_zero(struct reader *r, const struct place *up, const json_t *o, struct zero *z)
{
	const struct place list = { up, "zero", 0 };
	const json_t *a = usk_json_array(r, up, o, "zero");
	if (json_array_size(a) != COMPENSATIONS) {
		usk_json_wrong(r, up, "zero", "has %zu rows, not %d", json_array_size(a),
			       COMPENSATIONS);
	}
	for (size_t c = 0; c < COMPENSATIONS && !r->status; c++) {
		const struct place at = { &list, NULL, c };
		const json_t *row = json_array_get(a, c);
		if (read_compensation(r, &at, row, "compensation") != (enum compensation)c) {
			usk_json_wrong(r, &at, "compensation", "is not \"%s\", as row %zu is",
				       compensation_name((enum compensation)c), c);
		}
		read_zero_row(r, &at, row, &z->row[c]);
	}
}

static void read_message(struct reader *r, const struct place *at, const json_t *o, struct under *u)
{
	char *name = usk_json_string(r, at, o, "channel");
	uint64_t bytes = usk_json_count(r, at, o, "bytes");
	int c = 0;
	size_t k = 0;
	while (c < CHANNELS && strcmp(name, channel_name((enum channel)c)) != 0) {
		c++;
	}
	while (k < SIZES && clock_sizes[k] != bytes) {
		k++;
	}
	if (c == CHANNELS) {
		usk_json_wrong(r, at, "channel", "\"%.40s\" is no channel", name);
	} else if (k == SIZES) {
		usk_json_wrong(r, at, "bytes", "is no size that `unskew clock` sends");
	} else if (u->exchange[c][k].known) {
		usk_json_wrong(r, at, NULL, "is there twice");
	} else if (!r->status) {
		struct exchange_figures *e = &u->exchange[c][k];
		e->known = true;
		read_figures(r, at, o, "round_trip_ns", &e->rpc);
		read_figures(r, at, o, "one_way_ns", &e->latency);
		e->runs = later_count(r, at, o, "runs", e->rpc.n);
		e->rpc_kept = later_count(r, at, o, "round_trip_kept", e->rpc.n);
		e->latency_kept = later_count(r, at, o, "one_way_kept", e->latency.n);
		read_zero(r, at, o, &e->zero);
		e->how = read_compensation(r, at, o, "compensation");
	}
	free(name);
}

/* In their order. */
static void read_routines(struct reader *r, const struct place *up, const json_t *o,
			  struct under *u)
{
	const struct place list = { up, "routines", 0 };
	if (!json_array_size(json_object_get(o, "routines"))) {
		return;
	}
	const json_t *a = usk_json_array(r, up, o, "routines");
	if (json_array_size(a) != ROUTINES) {
		usk_json_wrong(r, up, "routines", "has %zu rows, not %d", json_array_size(a),
			       ROUTINES);
	}
	for (size_t i = 0; i < ROUTINES && !r->status; i++) {
		const struct place at = { &list, NULL, i };
		const json_t *row = json_array_get(a, i);
		struct routine_figures *f = &u->routine[i];
		f->pairs = usk_json_count(r, &at, row, "pairs");
		f->words = usk_json_number(r, &at, row, "words", true);
		f->wrong[AS_PRINTED] = usk_json_count(r, &at, row, "wrong_as_printed");
		f->wrong[HARDENED] = usk_json_count(r, &at, row, "wrong_hardened");
		read_figures(r, &at, row, "ns", &f->took);
	}
	u->has_routines = true;
}

static void read_under(struct reader *r, const struct place *at, const json_t *o, struct under *u)
{
	const struct place list = { at, "messages", 0 };
	uint64_t load = usk_json_count(r, at, o, "load");
	if (load > UINT32_MAX) {
		usk_json_wrong(r, at, "load", "is more than %u", UINT32_MAX);
	}
	u->load = (unsigned)load;
	read_zero(r, at, o, &u->zero);
	u->zero.best = read_compensation(r, at, o, "best");
	read_routines(r, at, o, u);
	read_figures(r, at, o, "timer_late_ns", &u->wakeup);
	const json_t *a = usk_json_array(r, at, o, "messages");
	for (size_t i = 0; i < json_array_size(a) && !r->status; i++) {
		const struct place row = { &list, NULL, i };
		read_message(r, &row, json_array_get(a, i), u);
	}
}

static void read_steered(struct reader *r, const json_t *root, struct discipline *d)
{
	const struct place at = { NULL, "realtime", 0 };
	if (json_is_null(json_object_get(root, "realtime"))) {
		return;
	}
	const json_t *o = usk_json_object(r, NULL, root, "realtime");
	const json_t *synchronised = usk_json_get(r, &at, o, "synchronised");
	const json_t *tai = usk_json_get(r, &at, o, "tai_s");
	if (!json_is_boolean(synchronised)) {
		usk_json_wrong(r, &at, "synchronised", "is neither true nor false");
	}
	if (!json_is_integer(tai) || llabs(json_integer_value(tai)) > 1000) {
		usk_json_wrong(r, &at, "tai_s", "is no whole number of at most 1000 s");
	}
	d->known = true;
	d->synchronised = json_is_true(synchronised);
	d->frequency_ppm = usk_json_number(r, &at, o, "frequency_ppm", false);
	d->offset_ns = ns(r, &at, o, "offset_ns", true);
	d->error_ns = ns(r, &at, o, "error_ns", true);
	d->max_error_ns = ns(r, &at, o, "max_error_ns", true);
	d->tai_s = r->status ? 0 : (int)json_integer_value(tai);
}

static void read_cores(struct reader *r, const json_t *root, struct clock_report *c)
{
	const struct place list = { NULL, "cores", 0 };
	const json_t *a = rows(r, NULL, root, "cores", CPUS_MAX, &c->n_cores);
	for (size_t i = 0; i < c->n_cores && !r->status; i++) {
		const struct place at = { &list, NULL, i };
		const json_t *row = json_array_get(a, i);
		uint64_t cpu = usk_json_count(r, &at, row, "cpu");
		c->core[i].work_ns = ns(r, &at, row, "work_ns", false);
		if (cpu > INT32_MAX) {
			usk_json_wrong(r, &at, "cpu", "is more than %d", INT32_MAX);
		} else if (!(c->core[i].work_ns > 0)) {
			usk_json_wrong(r, &at, "work_ns", "is not more than 0");
		}
		c->core[i].cpu = r->status ? 0 : (int)cpu;
	}
}

static void read_settings(struct reader *r, const json_t *root, struct clock_report *c)
{
	char *source = usk_json_string(r, NULL, root, "source");
	char *work = usk_json_string(r, NULL, root, "work");
	while (c->which < c->n_sources && strcmp(c->source[c->which].name, source) != 0) {
		c->which++;
	}
	if (c->which == c->n_sources) {
		usk_json_wrong(r, NULL, "source", "\"%.40s\" is not among the clocks", source);
	}
	if (strcmp(work, "read") != 0 && strcmp(work, "message") != 0) {
		usk_json_wrong(r, NULL, "work", "\"%.40s\" is neither read nor message", work);
	}
	c->work = strcmp(work, "read") ? WORK_MESSAGE : WORK_READ;
	c->seconds = usk_json_number(r, NULL, root, "seconds", false);
	free(source);
	free(work);
}

static void read_all(struct reader *r, const json_t *root, struct clock_report *c)
{
	const struct place clocks = { NULL, "clocks", 0 }, loads = { NULL, "loads", 0 };
	const json_t *a = rows(r, NULL, root, "clocks", SOURCES_MAX, &c->n_sources);
	for (size_t i = 0; i < c->n_sources && !r->status; i++) {
		const struct place at = { &clocks, NULL, i };
		read_source(r, &at, json_array_get(a, i), &c->source[i], &c->figures[i]);
	}
	read_settings(r, root, c);
	read_steered(r, root, &c->discipline);
	read_cores(r, root, c);
	a = rows(r, NULL, root, "loads", LOADS_MAX, &c->n_under);
	for (size_t i = 0; i < c->n_under && !r->status; i++) {
		const struct place at = { &loads, NULL, i };
		read_under(r, &at, json_array_get(a, i), &c->under[i]);
	}
}

enum usk_status clock_from_json(const char *text, size_t size, struct clock_report *out,
				struct usk_err *err)
{
	struct reader r = { .err = err };
	json_t *root = usk_json_load(text, size, err);
	if (!root) {
		return USK_EINPUT;
	}
	memset(out, 0, sizeof *out);
	const json_t *version = json_object_get(root, "unskew_clock");
	if (!version) {
		usk_json_wrong(&r, NULL, "unskew_clock",
			       "is missing: `unskew clock --json` did not print this");
	} else if (!json_is_integer(version) || json_integer_value(version) != 1) {
		usk_json_wrong(&r, NULL, "unskew_clock",
			       "is not 1, the version that this unskew reads");
	} else {
		read_all(&r, root, out);
	}
	json_decref(root);
	return r.status;
}

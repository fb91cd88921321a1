/* SPDX-License-Identifier: MIT */
/* clock_json.c - this machine's clocks, for machines: every figure and histogram */
#include "clock_show.h"
#include "json.h"

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

static json_t *zero_of(const struct zero *z)
{
	json_t *a = json_array();
	for (int c = 0; c < COMPENSATIONS; c++) {
		json_array_append_new(a, json_pack("{s:s,s:o,s:o,s:o,s:o,s:o}", "compensation",
						   compensation_name((enum compensation)c), "ns",
						   figures(&z->net[c]), "k", json_number(z->k[c]),
						   "k_trimmed", json_number(z->k_calm[c]), "k1",
						   json_number(z->k1[c]), "predicted",
						   json_number(z->predicted[c])));
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
					json_pack("{s:s,s:I,s:o,s:o,s:o,s:s}", "channel",
						  channel_name((enum channel)c), "bytes",
						  (json_int_t)clock_sizes[k], "round_trip_ns",
						  figures(&e->rpc), "one_way_ns",
						  figures(&e->latency), "zero", zero_of(&e->zero),
						  "compensation", compensation_name(e->how)));
			}
		}
	}
	return json_pack("{s:I,s:o,s:s,s:o,s:o}", "load", (json_int_t)u->load, "zero",
			 zero_of(&u->zero), "best", compensation_name(u->zero.best),
			 "timer_late_ns", figures(&u->wakeup), "messages", messages);
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

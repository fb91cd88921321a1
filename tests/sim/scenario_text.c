/* SPDX-License-Identifier: MIT */
/* scenario_text.c - a scenario as the commands that make it again */
#include "scenario.h"

#include <stdio.h>
#include <stdlib.h>

/* Text that grows; the new one takes the old one's place. */
static void add(char **all, char *more)
{
	char *longer = usk_format("%s%s", *all, more);
	free(*all);
	free(more);
	*all = longer;
}

/* scale 1: nanoseconds; else decimals of so many parts. */
static char *number(int64_t v, int64_t scale)
{
	uint64_t size = v < 0 ? -(uint64_t)v : (uint64_t)v;
	const char *sign = v < 0 ? "-" : "";
	if (scale == 1) {
		return usk_format("%s%lluns", sign, (unsigned long long)size);
	}
	return usk_format("%s%llu.%06llu", sign, (unsigned long long)(size / 1000000),
			  (unsigned long long)(size % 1000000));
}

static void add_list(char **all, const char *option, const struct sim_list *l, int64_t scale)
{
	bool any = false;
	for (size_t i = 0; i < l->n; i++) {
		any = any || l->v[i];
	}
	if (!any) {
		return;
	}
	add(all, usk_format(" --%s ", option));
	for (size_t i = 0; i < l->n; i++) {
		char *text = number(l->v[i], scale);
		add(all, usk_format("%s%s", i ? "," : "", text));
		free(text);
	}
}

static void add_clocks(char **all, const struct scenario *s, const char *dir)
{
	const struct sim_options *o = &s->o;
	add(all, usk_strdup(" --offset "));
	for (uint32_t h = 0; h < o->hosts; h++) {
		add(all, usk_format("%s%lldns", h ? "," : "", (long long)o->offset_ns.v[h]));
	}
	add(all, usk_strdup(" --drift-ppm "));
	for (uint32_t h = 0; h < o->hosts; h++) {
		char *text = number(o->drift_e12.v[h], 1000000);
		add(all, usk_format("%s%s", h ? "," : "", text));
		free(text);
	}
	add_list(all, "wander-ppb", &o->wander_e15, 1000000);
	add_list(all, "flicker-ppb", &o->flicker_e15, 1000000);
	add_list(all, "ageing-ppb", &o->ageing_e15, 1000000);
	add_list(all, "temperature-ppm", &o->temperature_e12, 1000000);
	add(all, usk_format(" --temperature-period %lldns", (long long)o->temperature_ns));
	add_list(all, "poll", &o->poll_ns, 1);
	char *slew = number(o->slew_e12, 1000000);
	add(all,
	    usk_format(" --poll-error %lldns --slew-ppm %s", (long long)o->poll_error_ns, slew));
	free(slew);
	for (size_t i = 0; i < o->n_steps; i++) {
		const struct sim_step *x = &o->step[i];
		add(all, usk_format(" --%s host%u@%lldns:%lldns", x->sleep ? "suspend" : "step",
				    x->host, (long long)x->after_ns, (long long)x->size_ns));
	}
	for (size_t i = 0; i < o->n_series; i++) {
		add(all, usk_format(" --clock-error host%u=%s/%s", o->series[i].host, dir,
				    o->series[i].path));
	}
}

static void add_network(char **all, const struct sim_options *o)
{
	char *dmin = usk_delay_model_text(&o->dmin);
	add(all, usk_format(" --dmin %s --tail %lldns --asym %lldns", dmin, (long long)o->tail_ns,
			    (long long)o->asym_ns));
	free(dmin);
	if (o->heavy > 0) {
		add(all, usk_format(" --heavy %.17g", o->heavy));
	}
	if (o->loss > 0) {
		add(all, usk_format(" --loss %.17g", o->loss));
	}
	add_list(all, "load", &o->load_ns, 1);
	add_list(all, "load-least", &o->load_least_ns, 1);
	if (o->load_heavy > 0) {
		add(all, usk_format(" --load-heavy %.17g", o->load_heavy));
	}
}

char *scenario_simulate(const struct scenario *s, const char *unskew, const char *dir)
{
	static const char *const topology[] = { "mesh", "chain",   "star",   "ring",
						"tree", "islands", "sparse", "dense" };
	static const char *const traffic[] = { "tcp", "udp", "icmp", "mix" };
	static const char *const format[] = { "pcap", "pcapng", "table" };
	const struct sim_options *o = &s->o;
	char *all = usk_format("%s simulate -q -f -o %s --seed %llu --hosts %u --topology %s "
			       "--neighbours %u --proto %s --format %s --seconds %lld.%09lld "
			       "--start %lld",
			       unskew, dir, (unsigned long long)o->seed, o->hosts,
			       topology[o->topology], o->neighbours, traffic[o->traffic],
			       format[o->format], (long long)(o->duration_ns / 1000000000),
			       (long long)(o->duration_ns % 1000000000), (long long)o->start_ns);
	add(&all, usk_format(" --rate %.17g", o->rate));
	if (o->period_ns) {
		add(&all, usk_format(" --period %lldns", (long long)o->period_ns));
	}
	if (o->answer_ns) {
		add(&all, usk_format(" --answer %lldns", (long long)o->answer_ns));
	}
	add(&all, usk_format("%s --resolution %s", o->one_way ? " --one-way" : "",
			     o->resolution_ns == 1 ? "ns" : "us"));
	add_clocks(&all, s, dir);
	add_network(&all, o);
	return all;
}

char *scenario_sync(const struct scenario *s, const char *unskew, const char *dir)
{
	char *all = usk_format("%s sync --truth %s/truth.json", unskew, dir);
	if (s->model) {
		add(&all, usk_format(" --model %s", s->model));
	}
	if (s->method) {
		add(&all, usk_format(" --method %s", s->method));
	}
	if (s->solve) {
		add(&all, usk_format(" --solve %s", s->solve));
	}
	for (uint32_t h = 0; h < s->o.hosts && s->resolution; h++) {
		add(&all, s->named[h] ? usk_format(" --resolution host%u=1us", h) : usk_strdup(""));
	}
	if (s->reference) {
		add(&all, usk_format(" --reference %s", s->reference));
	}
	if (s->max_skew_e12) {
		char *ppm = number(s->max_skew_e12, 1000000);
		add(&all, usk_format(" --max-skew-ppm %s", ppm));
		free(ppm);
	}
	if (s->min_delay) {
		add(&all, usk_format(" --min-delay %s", s->min_delay));
	}
	if (s->o.format == SIM_TABLE) {
		add(&all, usk_format(" %s/messages.csv", dir));
	}
	for (uint32_t h = 0; h < s->o.hosts && s->o.format != SIM_TABLE; h++) {
		add(&all, usk_format(" %s/host%u.%s", dir, h,
				     s->o.format == SIM_PCAP ? "pcap" : "pcapng"));
	}
	return all;
}

bool scenario_write_series(const struct scenario *s, const char *dir)
{
	for (size_t i = 0; i < s->o.n_series; i++) {
		const struct sim_series *x = &s->o.series[i];
		char *path = usk_format("%s/%s", dir, x->path);
		FILE *f = fopen(path, "w");
		free(path);
		if (!f) {
			return false;
		}
		fprintf(f, "seconds,offset_seconds\n");
		for (size_t k = 0; k < x->n; k++) {
			int64_t after = x->point[k].after_ns, ahead = x->point[k].ahead_ns;
			uint64_t size = ahead < 0 ? -(uint64_t)ahead : (uint64_t)ahead;
			fprintf(f, "%lld.%09lld,%s%llu.%09llu\n", (long long)(after / 1000000000),
				(long long)(after % 1000000000), ahead < 0 ? "-" : "",
				(unsigned long long)(size / 1000000000),
				(unsigned long long)(size % 1000000000));
		}
		if (fclose(f)) {
			return false;
		}
	}
	return true;
}

/* SPDX-License-Identifier: MIT */
/*
 * simulate_lists.c - options of `unskew simulate` that have a value per host, or name one
 *
 * In    parsed arguments
 * Out   their part of the simulator's options
 */
#include "simulate.h"
#include "base/text.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

typedef enum usk_status item_parser(const char *text, size_t n, int64_t *out, struct usk_err *err);

/* Whatever is wrong with it, it came from the command line. */
static enum usk_status in_option(struct usk_err *err, const char *option)
{
	usk_fail_in(err, "--%s", option);
	err->code = USK_EUSAGE;
	return USK_EUSAGE;
}

/* ---- lists ------------------------------------------------------------------------ */

static enum usk_status parse_ppb(const char *text, size_t n, int64_t *out, struct usk_err *err)
{
	bool exact;
	enum usk_status status = usk_parse_decimal(text, n, 6, out, &exact, err);
	if (!status && !exact) {
		status = usk_fail(err, USK_EUSAGE, 0, "\"%.*s\" is finer than 0.000001 ppb", (int)n,
				  text);
	}
	return status;
}

static enum usk_status parse_rate(const char *text, size_t n, int64_t *out, struct usk_err *err)
{
	bool exact;
	enum usk_status status = usk_parse_decimal(text, n, 6, out, &exact, err);
	if (!status && !exact) {
		status = usk_fail(err, USK_EUSAGE, 0, "\"%.*s\" is finer than 0.000001 ppm", (int)n,
				  text);
	}
	return status;
}

static enum usk_status parse_link(const char *text, size_t n, int64_t *out, struct usk_err *err)
{
	static const struct {
		const char *name;
		enum sim_link link;
	} rows[] = {
		{ "ethernet", SIM_ETHERNET }, { "sll", SIM_SLL },   { "sll2", SIM_SLL2 },
		{ "raw", SIM_RAW },	      { "null", SIM_NULL },
	};
	for (size_t i = 0; i < COUNT(rows); i++) {
		if (strlen(rows[i].name) == n && !memcmp(rows[i].name, text, n)) {
			*out = rows[i].link;
			return USK_OK;
		}
	}
	return usk_fail(err, USK_EUSAGE, 0,
			"\"%.*s\" is no link type; choose from: ethernet, sll, sll2, raw, null",
			(int)n, text);
}

/* "1s,2s": the values of an option, malloc'ed; none if it is not given. */
static enum usk_status parse_list(const struct args *args, const char *option, item_parser *parse,
				  struct sim_list *out, struct usk_err *err)
{
	const char *text = args_string(args, option);
	int64_t *v = NULL;
	size_t n = 0, cap = 0;
	while (text) {
		size_t len = strcspn(text, ",");
		v = usk_room(v, n, &cap, sizeof *v);
		enum usk_status status = parse(text, len, &v[n++], err);
		if (status) {
			free(v);
			return in_option(err, option);
		}
		text = text[len] ? text + len + 1 : NULL;
	}
	out->v = v;
	out->n = n;
	return USK_OK;
}

static const struct list_row {
	const char *option;
	item_parser *parse;
	size_t at; /* in struct sim_options */
} lists[] = {
	{ "offset", usk_parse_duration, offsetof(struct sim_options, offset_ns) },
	{ "drift-ppm", parse_rate, offsetof(struct sim_options, drift_e12) },
	{ "wander-ppb", parse_ppb, offsetof(struct sim_options, wander_e15) },
	{ "flicker-ppb", parse_ppb, offsetof(struct sim_options, flicker_e15) },
	{ "ageing-ppb", parse_ppb, offsetof(struct sim_options, ageing_e15) },
	{ "temperature-ppm", parse_rate, offsetof(struct sim_options, temperature_e12) },
	{ "poll", usk_parse_duration, offsetof(struct sim_options, poll_ns) },
	{ "steps", usk_parse_int, offsetof(struct sim_options, steps) },
	{ "load", usk_parse_duration, offsetof(struct sim_options, load_ns) },
	{ "load-least", usk_parse_duration, offsetof(struct sim_options, load_least_ns) },
	{ "link", parse_link, offsetof(struct sim_options, link) },
	{ "vlan", usk_parse_int, offsetof(struct sim_options, vlan) },
};

static struct sim_list *list_of(struct sim_options *o, size_t i)
{
	return (struct sim_list *)(void *)((char *)o + lists[i].at);
}

/* ---- what happens to one host --------------------------------------------------------- */

/* "host3" or "3", up to one of the characters of `end`; *text is moved behind that. */
static enum usk_status parse_host(const char **text, char end, uint32_t *host, struct usk_err *err)
{
	const char *stop = strchr(*text, end), *number = *text;
	int64_t n = -1;
	number += strncmp(number, "host", 4) ? 0 : 4;
	if (!stop || stop <= number || *number < '0' || *number > '9' ||
	    usk_parse_int(number, (size_t)(stop - number), &n, NULL) || n > 999) {
		return usk_fail(err, USK_EUSAGE, 0, "\"%s\" does not begin with a host: host1%c",
				*text, end);
	}
	*host = (uint32_t)n;
	*text = stop + 1;
	return USK_OK;
}

/* "host1@30s:-1ms" */
static enum usk_status parse_step(const char *text, struct sim_step *s, struct usk_err *err)
{
	enum usk_status status = parse_host(&text, '@', &s->host, err);
	const char *colon = strchr(text, ':');
	if (!status && !colon) {
		status =
			usk_fail(err, USK_EUSAGE, 0, "\"%s\" lacks a colon and what follows", text);
	}
	if (!status) {
		status = usk_parse_duration(text, (size_t)(colon - text), &s->after_ns, err);
	}
	return status ? status : usk_parse_duration(colon + 1, strlen(colon + 1), &s->size_ns, err);
}

static enum usk_status parse_steps(const struct args *args, struct sim_options *o,
				   struct usk_err *err)
{
	static const char *const option[] = { "step", "suspend" };
	struct sim_step *step = NULL;
	size_t cap = 0, n;
	for (int sleep = 0; sleep < 2; sleep++) {
		const char *const *text = args_list(args, option[sleep], &n);
		for (size_t i = 0; i < n; i++) {
			step = usk_room(step, o->n_steps, &cap, sizeof *step);
			struct sim_step *s = &step[o->n_steps++];
			*s = (struct sim_step){ .sleep = sleep };
			o->step = step;
			if (parse_step(text[i], s, err)) {
				return in_option(err, option[sleep]);
			}
		}
	}
	return USK_OK;
}

static enum usk_status read_series(const struct args *args, struct sim_options *o,
				   struct usk_err *err)
{
	size_t cap = 0, n;
	const char *const *text = args_list(args, "clock-error", &n);
	struct sim_series *series = NULL;
	for (size_t i = 0; i < n; i++) {
		const char *path = text[i];
		uint32_t host;
		if (parse_host(&path, '=', &host, err)) {
			return in_option(err, "clock-error");
		}
		series = usk_room(series, o->n_series, &cap, sizeof *series);
		o->series = series;
		enum usk_status status = sim_series_read(path, host, &series[o->n_series], err);
		if (status) {
			return status;
		}
		o->n_series++;
	}
	return USK_OK;
}

static enum usk_status parse_sizes(const struct args *args, struct sim_options *o,
				   struct usk_err *err)
{
	struct sim_list sizes = { 0 };
	enum usk_status status = parse_list(args, "step-sizes", usk_parse_duration, &sizes, err);
	if (!status && sizes.n != 2) {
		status = usk_fail(err, USK_EUSAGE, 0, "--step-sizes takes two, MIN,MAX");
	}
	if (!status) {
		o->step_min_ns = sizes.v[0];
		o->step_max_ns = sizes.v[1];
	}
	free((void *)(uintptr_t)sizes.v);
	return status;
}

enum usk_status simulate_lists(const struct args *args, struct sim_options *o, struct usk_err *err)
{
	for (size_t i = 0; i < COUNT(lists); i++) {
		*list_of(o, i) = (struct sim_list){ 0 };
	}
	const char *dmin = args_string(args, "dmin");
	enum usk_status status = usk_delay_model_parse(dmin, strlen(dmin), &o->dmin, err);
	status = status ? in_option(err, "dmin") : parse_steps(args, o, err);
	for (size_t i = 0; i < COUNT(lists) && !status; i++) {
		status = parse_list(args, lists[i].option, lists[i].parse, list_of(o, i), err);
	}
	if (!status) {
		status = parse_sizes(args, o, err);
	}
	return status ? status : read_series(args, o, err);
}

void simulate_lists_free(struct sim_options *o)
{
	for (size_t i = 0; i < COUNT(lists); i++) {
		free((void *)(uintptr_t)list_of(o, i)->v);
	}
	for (size_t i = 0; i < o->n_series; i++) {
		sim_series_free((struct sim_series *)(uintptr_t)&o->series[i]);
	}
	free((void *)(uintptr_t)o->series);
	free((void *)(uintptr_t)o->step);
}

/* SPDX-License-Identifier: MIT */
#include "true_clocks.h"

#include <jansson.h>

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int64_t text_ns(const json_t *j)
{
	return json_is_string(j) ? strtoll(json_string_value(j), NULL, 10) : USK_NONE;
}

static const struct {
	const char *name;
	size_t at;
} lists[] = {
	{ "offset_ns", offsetof(struct sim_options, offset_ns) },
	{ "drift_e12", offsetof(struct sim_options, drift_e12) },
	{ "wander_e15", offsetof(struct sim_options, wander_e15) },
	{ "flicker_e15", offsetof(struct sim_options, flicker_e15) },
	{ "ageing_e15", offsetof(struct sim_options, ageing_e15) },
	{ "temperature_e12", offsetof(struct sim_options, temperature_e12) },
	{ "poll_ns", offsetof(struct sim_options, poll_ns) },
	{ "steps", offsetof(struct sim_options, steps) },
};

static const struct {
	const char *name;
	size_t at;
} numbers[] = {
	{ "temperature_ns", offsetof(struct sim_options, temperature_ns) },
	{ "poll_error_ns", offsetof(struct sim_options, poll_error_ns) },
	{ "slew_e12", offsetof(struct sim_options, slew_e12) },
	{ "step_min_ns", offsetof(struct sim_options, step_min_ns) },
	{ "step_max_ns", offsetof(struct sim_options, step_max_ns) },
	{ "resolution_ns", offsetof(struct sim_options, resolution_ns) },
};

static struct sim_list *list_of(struct sim_options *o, size_t i)
{
	return (struct sim_list *)(void *)((char *)o + lists[i].at);
}

static void read_list(const json_t *j, struct sim_list *out)
{
	size_t n = json_array_size(j);
	int64_t *v = usk_alloc(n ? n : 1, sizeof *v);
	for (size_t i = 0; i < n; i++) {
		v[i] = json_integer_value(json_array_get(j, i));
	}
	*out = (struct sim_list){ v, n };
}

static void read_steps(const json_t *j, struct sim_options *o)
{
	o->n_steps = json_array_size(j);
	struct sim_step *step = usk_alloc(o->n_steps + 1, sizeof *step);
	for (size_t i = 0; i < o->n_steps; i++) {
		const json_t *s = json_array_get(j, i);
		step[i] = (struct sim_step){
			.host = (uint32_t)json_integer_value(json_object_get(s, "host")),
			.after_ns = json_integer_value(json_object_get(s, "after_ns")),
			.size_ns = json_integer_value(json_object_get(s, "size_ns")),
			.sleep = json_is_true(json_object_get(s, "sleep")),
		};
	}
	o->step = step;
}

static bool read_series(const json_t *j, struct sim_options *o, char why[512])
{
	size_t n = json_array_size(j);
	struct sim_series *series = usk_alloc(n + 1, sizeof *series);
	o->series = series;
	for (size_t i = 0; i < n; i++) {
		const json_t *s = json_array_get(j, i);
		struct usk_err err = { 0 };
		if (sim_series_read(json_string_value(json_object_get(s, "path")),
				    (uint32_t)json_integer_value(json_object_get(s, "host")),
				    &series[i], &err)) {
			snprintf(why, 512, "%.500s", err.msg);
			return false;
		}
		o->n_series++;
	}
	return true;
}

static void options_free(struct sim_options *o)
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

/* What makes the clocks; the rest stays as it is by default. */
static bool read_options(const json_t *truth, struct sim_options *o, char why[512])
{
	const json_t *j = json_object_get(truth, "options");
	const json_t *moments = json_object_get(truth, "true_ns");
	int64_t last = text_ns(json_array_get(moments, json_array_size(moments) - 1));
	const char *seed = json_string_value(json_object_get(truth, "seed"));
	sim_options_init(o);
	o->seed = seed ? strtoull(seed, NULL, 10) : 0;
	o->start_ns = text_ns(json_array_get(moments, 0));
	o->duration_ns = last - o->start_ns;
	json_int_t hosts = json_integer_value(json_object_get(j, "hosts"));
	o->hosts = hosts ? (uint32_t)hosts : 2;
	for (size_t i = 0; i < COUNT(lists); i++) {
		read_list(json_object_get(j, lists[i].name), list_of(o, i));
	}
	for (size_t i = 0; i < COUNT(numbers); i++) {
		const json_t *value = json_object_get(j, numbers[i].name);
		if (value) {
			*(int64_t *)(void *)((char *)o + numbers[i].at) = json_integer_value(value);
		}
	}
	read_steps(json_object_get(j, "step"), o);
	return read_series(json_object_get(j, "clock_error"), o, why);
}

bool true_clocks_read(const char *path, const char *const name[2], struct true_clocks *out,
		      char why[512])
{
	json_t *j = json_load_file(path, 0, NULL);
	json_t *moments = json_object_get(j, "true_ns");
	size_t n = json_array_size(moments);
	if (!json_object_get(j, "options") || n < 2) {
		snprintf(why, 512, "%s: not a truth", path);
		json_decref(j);
		return false;
	}
	struct sim_options o;
	bool good = read_options(j, &o, why);
	out->start_ns = o.start_ns;
	out->end_ns = o.start_ns + o.duration_ns;
	out->resolution_ns = o.resolution_ns;
	for (uint32_t h = 0; h < 2 && good; h++) {
		out->name[h] = name[h];
		sim_options_clock(&o, h, &out->clock[h]);
		json_t *clocks = json_object_get(j, "clock_ns");
		json_t *readings = json_object_get(clocks, name[h]);
		for (size_t i = 0; i < n; i++) {
			int64_t at = text_ns(json_array_get(moments, i));
			good = good && text_ns(json_array_get(readings, i)) ==
					       sim_clock_read(&out->clock[h], at);
		}
	}
	if (!good && !*why) {
		snprintf(why, 512, "truth.json's clock_ns are not what its options state");
	}
	options_free(&o);
	json_decref(j);
	return good;
}

void true_clocks_free(struct true_clocks *t)
{
	sim_clock_free(&t->clock[0]);
	sim_clock_free(&t->clock[1]);
}

uint32_t true_epoch(const struct sim_clock *c, int64_t true_ns)
{
	uint32_t epoch = 0;
	for (size_t i = 0; i < c->n_jumps && c->jump[i].true_ns <= true_ns; i++) {
		epoch += !c->jump[i].still_ns && c->jump[i].size_ns < 0;
	}
	return epoch;
}

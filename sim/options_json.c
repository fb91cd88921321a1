/* SPDX-License-Identifier: MIT */
/*
 * options_json.c - the options of a simulation as truth.json states them
 *
 * In    options
 * Out   a JSON object; what describes clocks is in whole numbers, so that they can be made again
 * Not   reading it: tests/sim/true_clocks.c
 */
#include "sim.h"
#include "write/write.h"

#include <stdlib.h>

/* Text that grows; the new one takes the old one's place. */
static void add(char **all, char *more)
{
	char *longer = usk_format("%s%s", *all, more);
	free(*all);
	free(more);
	*all = longer;
}

static void add_list(char **all, const char *name, const struct sim_list *l)
{
	add(all, usk_format(", \"%s\": [", name));
	for (size_t i = 0; i < l->n; i++) {
		add(all, usk_format("%s%lld", i ? ", " : "", (long long)l->v[i]));
	}
	add(all, usk_strdup("]"));
}

static const char *yes(bool b)
{
	return b ? "true" : "false";
}

/* A name that a file system takes, as a JSON string. */
static char *quoted(const char *name)
{
	char *all = usk_strdup("\""), *shown = usk_shown(name);
	for (const char *text = shown; *text; text++) {
		unsigned char c = (unsigned char)*text;
		add(&all, c < 32 || c == '"' || c == '\\' ? usk_format("\\u%04x", c)
							  : usk_format("%c", c));
	}
	add(&all, usk_strdup("\""));
	free(shown);
	return all;
}

static void add_clocks(char **all, const struct sim_options *o)
{
	const struct {
		const char *name;
		const struct sim_list *list;
	} lists[] = {
		{ "offset_ns", &o->offset_ns },	  { "drift_e12", &o->drift_e12 },
		{ "wander_e15", &o->wander_e15 }, { "flicker_e15", &o->flicker_e15 },
		{ "ageing_e15", &o->ageing_e15 }, { "temperature_e12", &o->temperature_e12 },
		{ "poll_ns", &o->poll_ns },	  { "steps", &o->steps },
	};
	for (size_t i = 0; i < COUNT(lists); i++) {
		add_list(all, lists[i].name, lists[i].list);
	}
	add(all, usk_format(",\n    \"temperature_ns\": %lld, \"poll_error_ns\": %lld, "
			    "\"slew_e12\": %lld, \"step_min_ns\": %lld, \"step_max_ns\": %lld, "
			    "\"step\": [",
			    (long long)o->temperature_ns, (long long)o->poll_error_ns,
			    (long long)o->slew_e12, (long long)o->step_min_ns,
			    (long long)o->step_max_ns));
	for (size_t i = 0; i < o->n_steps; i++) {
		const struct sim_step *s = &o->step[i];
		add(all, usk_format("%s{\"host\": %u, \"after_ns\": %lld, \"size_ns\": %lld, "
				    "\"sleep\": %s}",
				    i ? ", " : "", s->host, (long long)s->after_ns,
				    (long long)s->size_ns, yes(s->sleep)));
	}
	add(all, usk_strdup("], \"clock_error\": ["));
	for (size_t i = 0; i < o->n_series; i++) {
		char *path = quoted(o->series[i].path);
		add(all, usk_format("%s{\"host\": %u, \"path\": %s}", i ? ", " : "",
				    o->series[i].host, path));
		free(path);
	}
	add(all, usk_strdup("]"));
}

static char *run_json(const struct sim_options *o)
{
	static const char *const topology[] = { "mesh", "chain",   "star",   "ring",
						"tree", "islands", "sparse", "dense" };
	static const char *const traffic[] = { "tcp", "udp", "icmp", "mix" };
	return usk_format(
		"\"hosts\": %u, \"topology\": \"%s\", \"islands\": %u, \"neighbours\": %u, "
		"\"proto\": \"%s\", \"start_ns\": \"%lld\", \"duration_ns\": \"%lld\", "
		"\"seconds\": %.9g, \"rate\": %.9g, \"period_ns\": %lld, "
		"\"answer_ns\": %lld, \"one_way\": %s, \"broadcast\": %.9g, "
		"\"connections\": %u, \"bytes\": %u",
		o->hosts, topology[o->topology], o->islands, o->neighbours, traffic[o->traffic],
		(long long)o->start_ns, (long long)o->duration_ns, (double)o->duration_ns * 1e-9,
		o->rate, (long long)o->period_ns, (long long)o->answer_ns, yes(o->one_way),
		o->broadcast, o->connections, o->bytes);
}

static void add_network(char **all, const struct sim_options *o)
{
	add(all,
	    usk_format(",\n    \"dmin_ns\": %.12g, \"first_ns\": %.12g, \"per_byte_ns\": %.12g, "
		       "\"tail_ns\": %lld, \"tail_stages\": %u, \"asym_ns\": %lld, "
		       "\"heavy\": %.9g",
		       (double)o->dmin.base_ps * 1e-3, (double)o->dmin.first_ps * 1e-3,
		       (double)o->dmin.per_byte_ps * 1e-3, (long long)o->tail_ns, o->tail_stages,
		       (long long)o->asym_ns, o->heavy));
	add_list(all, "load_ns", &o->load_ns);
	add_list(all, "load_least_ns", &o->load_least_ns);
	add(all, usk_format(", \"load_heavy\": %.9g, \"load_receivers\": %s, \"loss\": %.9g, "
			    "\"dup\": %.9g, \"reorder\": %.9g, "
			    "\"retrans\": %.9g, \"hops\": %u, \"nat\": %s, \"mtu\": %u",
			    o->load_heavy, yes(o->load_receivers), o->loss, o->dup, o->reorder,
			    o->retrans, o->hops, yes(o->nat), o->mtu));
}

static void add_captures(char **all, const struct sim_options *o)
{
	static const char *const format[] = { "pcap", "pcapng", "table" };
	add(all, usk_format(",\n    \"tso\": %s, \"gro\": %s, \"ipv6\": %s, \"timestamps\": %s, "
			    "\"sack\": %s, \"ip_id\": %s",
			    yes(o->tso), yes(o->gro), yes(o->ipv6), yes(o->timestamps),
			    yes(o->sack), yes(o->ip_id)));
	add_list(all, "link", &o->link);
	add_list(all, "vlan", &o->vlan);
	add(all, usk_format(", \"resolution_ns\": %lld, \"snaplen\": %u, \"late_ns\": \"%lld\", "
			    "\"capture_loss\": %.9g, \"chatter\": %.9g, \"format\": \"%s\"",
			    (long long)o->resolution_ns, o->snaplen, (long long)o->late_ns,
			    o->capture_loss, o->chatter, format[o->format]));
}

char *sim_options_json(const struct sim_options *o)
{
	char *all = usk_strdup("{");
	add(&all, run_json(o));
	add_clocks(&all, o);
	add_network(&all, o);
	add_captures(&all, o);
	add(&all, usk_strdup("}"));
	return all;
}

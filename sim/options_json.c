/* SPDX-License-Identifier: MIT */
/*
 * options_json.c - the options of a simulation as truth.json states them
 *
 * In    options
 * Out   a JSON object; what describes clocks is in whole numbers, so that they can be made again
 * Not   reading it: tests/sim/true_clocks.c
 */
#include "base/stream.h"
#include "sim.h"
#include "write/write.h"

#include <stdlib.h>

static void put_list(FILE *out, const char *name, const struct sim_list *l)
{
	fprintf(out, ", \"%s\": [", name);
	for (size_t i = 0; i < l->n; i++) {
		fprintf(out, "%s%lld", i ? ", " : "", (long long)l->v[i]);
	}
	fputc(']', out);
}

static const char *yes(bool b)
{
	return b ? "true" : "false";
}

/* A name that a file system takes, as a JSON string. */
static void put_quoted(FILE *out, const char *name)
{
	char *shown = usk_shown(name);
	fputc('"', out);
	for (const char *text = shown; *text; text++) {
		unsigned char c = (unsigned char)*text;
		fprintf(out, c < 32 || c == '"' || c == '\\' ? "\\u%04x" : "%c", c);
	}
	fputc('"', out);
	free(shown);
}

static void put_clocks(FILE *out, const struct sim_options *o)
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
		put_list(out, lists[i].name, lists[i].list);
	}
	fprintf(out,
		",\n    \"temperature_ns\": %lld, \"poll_error_ns\": %lld, "
		"\"slew_e12\": %lld, \"step_min_ns\": %lld, \"step_max_ns\": %lld, "
		"\"step\": [",
		(long long)o->temperature_ns, (long long)o->poll_error_ns, (long long)o->slew_e12,
		(long long)o->step_min_ns, (long long)o->step_max_ns);
	for (size_t i = 0; i < o->n_steps; i++) {
		const struct sim_step *s = &o->step[i];
		fprintf(out,
			"%s{\"host\": %u, \"after_ns\": %lld, \"size_ns\": %lld, "
			"\"sleep\": %s}",
			i ? ", " : "", s->host, (long long)s->after_ns, (long long)s->size_ns,
			yes(s->sleep));
	}
	fputs("], \"clock_error\": [", out);
	for (size_t i = 0; i < o->n_series; i++) {
		fprintf(out, "%s{\"host\": %u, \"path\": ", i ? ", " : "", o->series[i].host);
		put_quoted(out, o->series[i].path);
		fputc('}', out);
	}
	fputs("]", out);
}

static void put_run(FILE *out, const struct sim_options *o)
{
	static const char *const topology[] = { "mesh", "chain",   "star",   "ring",
						"tree", "islands", "sparse", "dense" };
	static const char *const traffic[] = { "tcp", "udp", "icmp", "mix" };
	fprintf(out,
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

static void put_cluster(FILE *out, const struct sim_options *o)
{
	static const char *const kinds[] = { "none", "allreduce", "mix" };
	fprintf(out,
		",\n    \"collectives\": \"%s\", \"compute_ns\": %lld, "
		"\"compute_spread_ns\": %lld",
		kinds[o->collectives], (long long)o->compute_ns, (long long)o->compute_spread_ns);
	put_list(out, "straggle_ns", &o->straggle_ns);
}

static void put_network(FILE *out, const struct sim_options *o)
{
	fprintf(out,
		",\n    \"dmin_ns\": %.12g, \"first_ns\": %.12g, \"per_byte_ns\": %.12g, "
		"\"tail_ns\": %lld, \"tail_stages\": %u, \"asym_ns\": %lld, "
		"\"heavy\": %.9g",
		(double)o->dmin.base_ps * 1e-3, (double)o->dmin.first_ps * 1e-3,
		(double)o->dmin.per_byte_ps * 1e-3, (long long)o->tail_ns, o->tail_stages,
		(long long)o->asym_ns, o->heavy);
	put_list(out, "load_ns", &o->load_ns);
	put_list(out, "load_least_ns", &o->load_least_ns);
	fprintf(out,
		", \"load_heavy\": %.9g, \"load_receivers\": %s, \"loss\": %.9g, "
		"\"dup\": %.9g, \"reorder\": %.9g, "
		"\"retrans\": %.9g, \"hops\": %u, \"nat\": %s, \"mtu\": %u",
		o->load_heavy, yes(o->load_receivers), o->loss, o->dup, o->reorder, o->retrans,
		o->hops, yes(o->nat), o->mtu);
}

static void put_captures(FILE *out, const struct sim_options *o)
{
	static const char *const format[] = { "pcap", "pcapng", "table" };
	fprintf(out,
		",\n    \"tso\": %s, \"gro\": %s, \"ipv6\": %s, \"timestamps\": %s, "
		"\"sack\": %s, \"ip_id\": %s",
		yes(o->tso), yes(o->gro), yes(o->ipv6), yes(o->timestamps), yes(o->sack),
		yes(o->ip_id));
	put_list(out, "link", &o->link);
	put_list(out, "vlan", &o->vlan);
	fprintf(out,
		", \"resolution_ns\": %lld, \"snaplen\": %u, \"late_ns\": \"%lld\", "
		"\"capture_loss\": %.9g, \"chatter\": %.9g, \"format\": \"%s\"",
		(long long)o->resolution_ns, o->snaplen, (long long)o->late_ns, o->capture_loss,
		o->chatter, format[o->format]);
}

char *sim_options_json(const struct sim_options *o)
{
	struct usk_stream all;
	FILE *out = usk_stream_begin(&all);
	fputc('{', out);
	put_run(out, o);
	if (o->collectives) {
		put_cluster(out, o);
	}
	put_clocks(out, o);
	put_network(out, o);
	put_captures(out, o);
	fputc('}', out);
	return usk_stream_end(&all);
}

/* SPDX-License-Identifier: MIT */
/*
 * probe_watch.c - `unskew probe HOST`: round after round, what the other clock reads
 *
 * In    a server on another machine
 * Out   a line each round, a table of exchanges, the map in shared memory
 * Why   Loeser 2003: periodic, sooner after a failure, the bound always there
 */
#include "messages.h"
#include "probe.h"
#include "units.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct watch {
	const struct args *args;
	const char *host;
	const char *here, *there;
	struct probe_side *side;
	struct usk_probe_socket socket;
	struct usk_probe_client client;
	struct usk_probe_asking asking;
	struct usk_probe_track track;
	struct usk_probe_table table;
	struct usk_live *live;
	struct probe_total total;
	int64_t period_ns, rounds;
	int64_t there_ns, at_ns; /* of the last answer; when, by CLOCK_MONOTONIC */
	bool json;
};

static const char *own_name(void)
{
	char name[256] = "";
	return gethostname(name, sizeof name - 1) || !*name ? "here" : kept(usk_strdup(name));
}

static void take_names(struct watch *w)
{
	const char *here = args_string(w->args, "here"), *there = args_string(w->args, "there");
	w->here = here ? here : own_name();
	w->there = there ? there : w->host;
	if (!*w->here || !*w->there || !strcmp(w->here, w->there)) {
		say_usage("both clocks would be called \"%s\"; name them with --here and --there",
			  w->here);
	}
}

static void take_options(struct watch *w)
{
	const struct args *a = w->args;
	w->json = args_flag(a, "json");
	w->period_ns = args_int(a, "period");
	w->rounds = args_given(a, "count") ? args_int(a, "count") : INT64_MAX;
	w->asking = (struct usk_probe_asking){ .burst = (size_t)args_int(a, "burst"),
					       .attempts = (size_t)args_int(a, "attempts"),
					       .timeout_ns = args_int(a, "timeout"),
					       .slack_ns = args_int(a, "spacing"),
					       .skew_e12 = args_int(a, "max-skew-ppm"),
					       .stop_fd = -1 };
	w->track = (struct usk_probe_track){ .allowance_e12 = args_int(a, "allowance-ppm"),
					     .skew_e12 = w->asking.skew_e12,
					     .max_age_ns = args_int(a, "max-age"),
					     .period_ns = w->period_ns };
}

static void open_outputs(struct watch *w)
{
	const char *path = args_string(w->args, "output"), *live = args_string(w->args, "live");
	uint64_t cut = 0;
	w->asking.stop_fd = w->side->stop_fd = end_signals();
	if (live) {
		must(usk_live_create(live, &w->live, &why));
	}
	if (path) {
		must(usk_probe_table_open(&w->table, path, csv_text(w->here), csv_text(w->there),
					  args_flag(w->args, "force"), args_flag(w->args, "append"),
					  &cut, &why));
		w->total.table = path;
	}
	if (cut) {
		say(w->args, "%s: its last row was cut short; its %llu bytes were removed", path,
		    (unsigned long long)cut);
	}
}

static void reach(struct watch *w, size_t which)
{
	bool loopback = true;
	enum usk_status status = usk_probe_connect(w->host, w->side->port, which, w->side->card,
						   &w->socket, &loopback, &why);
	w->socket.distortion = &w->side->distortion;
	if (!w->side->key.set && !loopback && !w->side->open) {
		say_usage("%s is another machine: without --key FILE anybody in between could "
			  "answer for it; --open accepts that risk",
			  w->host);
	}
	must(status);
	usk_probe_client_init(&w->client, &w->side->key);
}

/* No clock that we can read goes with a card's: from the last answer on. */
static int64_t there_now(const struct watch *w)
{
	if (!w->socket.card) {
		return usk_probe_track_remote(&w->track, usk_probe_now(&w->socket).ns);
	}
	return usk_saturate((usk_i128)w->there_ns + usk_probe_mono_ns() - w->at_ns);
}

/* What the map says of the moment of the round, or of now where it brought nothing. */
static void describe(const struct watch *w, const struct usk_probe_round *round,
		     struct probe_line *line)
{
	struct usk_live_time at;
	line->drift_ppm = line->drift_error_ppm = NAN;
	line->there_ns = round->known ? round->stamps.remote : there_now(w);
	if (!w->track.has || usk_live_map_at(&w->track.map, line->there_ns, &at) != USK_LIVE) {
		return;
	}
	const struct usk_live_map *m = &w->track.map;
	double conv = (double)m->conv / 0x1p56;
	line->known = true;
	line->here_ns = at.local;
	line->precision_ns = at.precision;
	line->age_ns = line->there_ns - m->remote;
	/* One exchange alone says nothing of rates. */
	if (m->drift < ((usk_u128)w->track.skew_e12 << 32) / 1000000000000) {
		line->drift_ppm = (1 / conv - 1) * 1e6;
		line->drift_error_ppm = (double)m->drift / 0x1p32 * 1e6;
	}
}

static enum usk_status learn(struct watch *w, const struct usk_probe_round *round,
			     enum usk_probe_news *out)
{
	enum usk_probe_news news = USK_PROBE_WORSE;
	bool forget = round->set || round->anew;
	if (forget) {
		usk_probe_track_forget(&w->track);
	}
	if (round->known) {
		news = usk_probe_track_add(&w->track, &round->stamps);
		w->there_ns = round->stamps.remote;
		w->at_ns = usk_probe_mono_ns();
	}
	*out = round->set ? USK_PROBE_SET : news;
	if (w->live && (forget || news != USK_PROBE_WORSE)) {
		return usk_live_publish(w->live, w->track.has ? &w->track.map : NULL, &why);
	}
	return USK_OK;
}

static enum usk_status one_round(struct watch *w, uint64_t number, struct usk_probe_round *round)
{
	struct probe_line line = { .number = number };
	usk_probe_round(&w->client, &w->socket, &w->asking, round);
	if (round->stopped && !round->known) {
		return USK_OK;
	}
	enum usk_status status = learn(w, round, &line.news);
	if (status) {
		return status;
	}
	describe(w, round, &line);
	probe_total_add(&w->total, &line, round);
	probe_show_round(stdout, w->json, &line, round);
	return round->n_kept && w->table.fd >= 0
		       ? usk_probe_table_add(&w->table, round->kept, round->n_kept, &why)
		       : USK_OK;
}

static _Noreturn void nobody(const struct watch *w, const struct usk_probe_round *last)
{
	if (w->client.count[USK_PROBE_NOT_SEALED]) {
		say_failed("%s port %u: answers, but with another key", w->host, w->side->port);
	}
	say_failed(
		"%s port %u: no answer%s; is `unskew probe serve` running there, with the same "
		"key, does a firewall let UDP through, and do the questions stay below its --rate?",
		w->host, w->side->port, last->refused ? " (nobody listens)" : "");
}

/* A name may lead to several addresses, and a server listen on some of them only. */
static bool next_address(struct watch *w, size_t which)
{
	struct usk_probe_socket other;
	bool loopback;
	if (usk_probe_connect(w->host, w->side->port, which, w->side->card, &other, &loopback,
			      NULL)) {
		return false;
	}
	usk_probe_close(&other);
	usk_probe_close(&w->socket);
	reach(w, which);
	return true;
}

/* Rounds without a single answer at the beginning before another address is tried, or none. */
enum { PATIENCE = 3 };

static enum usk_status rounds(struct watch *w, struct usk_probe_round *round)
{
	int64_t due = usk_probe_mono_ns();
	enum usk_status status = USK_OK;
	size_t which = 0;
	for (int64_t i = 1; i <= w->rounds && !status; i++) {
		if (due >= w->side->end_ns || !usk_probe_wait(NULL, 0, w->side->stop_fd, due)) {
			break;
		}
		status = one_round(w, (uint64_t)i, round);
		if (round->stopped || (!status && !w->total.answered && i % PATIENCE == 0 &&
				       !next_address(w, ++which))) {
			break;
		}
		/* Loeser, 4.3: 2 s, and 1 s after what had to be dropped. */
		due += (round->spaced ? w->period_ns : w->period_ns / 2);
		int64_t now = usk_probe_mono_ns();
		due = due > now ? due : now;
	}
	return status;
}

void probe_watch(const struct args *args, const char *host, struct probe_side *side)
{
	static struct watch w;
	struct usk_probe_round round = { 0 };
	w.args = args;
	w.host = host;
	w.side = side;
	w.table.fd = w.socket.fd = -1;
	take_options(&w);
	take_names(&w);
	reach(&w, 0);
	open_outputs(&w);
	enum usk_status status = rounds(&w, &round);
	w.total.here = w.here;
	w.total.there = w.there;
	memcpy(w.total.count, w.client.count, sizeof w.total.count);
	if (w.total.answered || (w.total.rounds && w.json)) {
		probe_show_total(stdout, w.json, &w.total);
	}
	must(status);
	if (w.total.rounds && !w.total.answered) {
		nobody(&w, &round);
	}
}

/* SPDX-License-Identifier: MIT */

#include "write/bt.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

struct known {
	char uuid[37]; /* as text */
	uint32_t clock;
};

struct whose {
	const struct usk_clocks *clocks;
	const bt_value *names;
	struct known *known;
	size_t n, cap;
};

static bool find_uuid(const char *folder, char *out)
{
	char *text;
	if (usk_ctf_metadata(folder, &text, NULL)) {
		return false;
	}
	const char *p = strstr(text, "uuid");
	p = p ? strchr(p, '"') : NULL;
	bool found = p && sscanf(p, "\"%36[0-9a-fA-F-]", out) == 1;
	free(text);
	return found;
}

static void learn(struct whose *w, const char *path, uint32_t clock)
{
	struct ctf_traces t;
	usk_ctf_find(path, &t, NULL);
	for (size_t i = 0; i < t.n; i++) {
		struct known k = { .clock = clock };
		if (find_uuid(t.folder[i], k.uuid)) {
			w->known = usk_room(w->known, w->n, &w->cap, sizeof *w->known);
			w->known[w->n++] = k;
		}
	}
	usk_ctf_traces_free(&t);
}

struct whose *usk_whose_new(const struct usk_clocks *c, const char *file, const bt_value *names)
{
	struct whose *w = usk_alloc(1, sizeof *w);
	const char *slash = strrchr(file, '/');
	w->clocks = c;
	w->names = names;
	bt_value_get_ref(names);
	for (size_t i = 0; i < c->n_traces; i++) {
		const struct usk_trace_info *t = &c->trace[i];
		if (t->clock == USK_NO_CLOCK || strcmp(t->kind, "ctf") != 0) {
			continue;
		}
		size_t before = w->n;
		learn(w, t->path, t->clock);
		if (w->n == before && slash && t->path[0] != '/') {
			char *beside = usk_format("%.*s/%s", (int)(slash - file), file, t->path);
			learn(w, beside, t->clock);
			free(beside);
		}
	}
	return w;
}

void usk_whose_free(struct whose *w)
{
	if (w) {
		bt_value_put_ref(w->names);
		free(w->known);
	}
	free(w);
}

/* By the map of names, else by the clock's own. */
static uint32_t by_name(const struct whose *w, const char *name)
{
	const bt_value *v = w->names && bt_value_is_map(w->names)
				    ? bt_value_map_borrow_entry_value_const(w->names, name)
				    : NULL;
	return usk_clocks_find(
		w->clocks, v && bt_value_is_string(v) ? bt_value_string_get(v) : name, NULL, NULL);
}

uint32_t usk_whose(const struct whose *w, const bt_trace *t)
{
	const bt_value *host = bt_trace_borrow_environment_entry_value_by_name_const(t, "hostname");
	const char *names[] = { host && bt_value_is_string(host) ? bt_value_string_get(host) : NULL,
				bt_trace_get_name(t) };
	bt_uuid id = bt_trace_get_uuid(t);
	char uuid[37] = "";
	uint32_t clock = USK_NO_CLOCK;
	/* What the user says comes first. */
	for (size_t i = 0; i < COUNT(names) && clock == USK_NO_CLOCK && w->names; i++) {
		if (names[i] && bt_value_map_has_entry(w->names, names[i])) {
			clock = by_name(w, names[i]);
		}
	}
	for (size_t i = 0, n = 0; i < 16 && id; i++) {
		bool dash = i == 4 || i == 6 || i == 8 || i == 10;
		n += (size_t)snprintf(uuid + n, sizeof uuid - n, dash ? "-%02x" : "%02x", id[i]);
	}
	for (size_t i = 0; i < w->n && id && clock == USK_NO_CLOCK; i++) {
		if (!strcasecmp(w->known[i].uuid, uuid)) {
			clock = w->known[i].clock;
		}
	}
	for (size_t i = 0; i < COUNT(names) && clock == USK_NO_CLOCK; i++) {
		clock = names[i] ? by_name(w, names[i]) : USK_NO_CLOCK;
	}
	return clock;
}

/* SPDX-License-Identifier: MIT */
/*
 * all.c - every event of CTF traces, by name
 *
 * In    a folder
 * Out   time, processor and name of each event, in the order of time; of the scheduler's, threads
 * Why   whoever looks at a timeline wants to see what a machine did between its messages
 * Not   what the fields of others say
 */
#include "ctf/ctf.h"

#include <stdlib.h>
#include <string.h>

enum { ITEMS = 64, NAME = 200 };

static struct ctf_role classify(void *ctx, const bt_event_class *class)
{
	static const char *const wakes[] = { "sched_wakeup", "sched_wakeup_new", "sched_waking" };
	const char *name = bt_event_class_get_name(class);
	enum usk_ctf_what what = USK_CTF_OTHER;
	(void)ctx;
	if (name && !strcmp(name, "sched_switch")) {
		what = USK_CTF_SWITCH;
	}
	for (size_t i = 0; i < COUNT(wakes) && name; i++) {
		what = strcmp(name, wakes[i]) ? what : USK_CTF_WAKE;
	}
	return (struct ctf_role){ CTF_KNOWN, (uint8_t)what };
}

/* What of a scheduler's event lies behind its name. */
struct scheduled {
	int64_t from, to;
	uint64_t from_state;
	char from_name[17], to_name[17];
};

static int64_t integer(struct ctf_places *places, const bt_event *event, const char *path,
		       int64_t otherwise)
{
	const bt_field *f = usk_ctf_field(places, event, path);
	uint64_t v;
	return f && usk_ctf_integer(f, &v) ? (int64_t)v : otherwise;
}

static void text(struct ctf_places *places, const bt_event *event, const char *path, char out[17])
{
	const bt_field *f = usk_ctf_field(places, event, path);
	size_t n = 0;
	memset(out, 0, 17);
	if (f && usk_ctf_text(f, (uint8_t *)out, 16, &n)) {
		for (size_t i = 0; i < n; i++) {
			out[i] = out[i] >= ' ' && out[i] < 127 ? out[i] : out[i] ? '?' : 0;
		}
	}
}

static void take_scheduled(struct ctf_places *places, const bt_event *event, struct ctf_item *item)
{
	bool wake = item->rule == USK_CTF_WAKE;
	struct scheduled s = {
		.from = integer(places, event, "prev_tid", 0),
		.to = wake ? integer(places, event, "tid", 0)
			   : integer(places, event, "next_tid", 0),
		.from_state = (uint64_t)integer(places, event, "prev_state", 0),
	};
	text(places, event, "prev_comm", s.from_name);
	if (wake) {
		text(places, event, "comm", s.to_name);
	} else {
		text(places, event, "next_comm", s.to_name);
	}
	memcpy(item->bytes + item->n, &s, sizeof s);
	item->n = (uint16_t)(item->n + sizeof s);
}

/* Its name, and its processor as the key. */
static bool take_name(void *ctx, const bt_event *event, struct ctf_item *item)
{
	const char *name = bt_event_class_get_name(bt_event_borrow_class_const(event));
	const bt_field *cpu = usk_ctf_field(ctx, event, "cpu_id");
	uint64_t number;
	size_t most = item->rule ? NAME - sizeof(struct scheduled) : NAME;
	size_t n = name ? strnlen(name, most) : 0;
	for (size_t i = 0; i < n; i++) {
		bool plain = name[i] >= ' ' && name[i] < 127 && name[i] != '"' && name[i] != '\\';
		item->bytes[i] = (uint8_t)(plain ? name[i] : '?');
	}
	item->n = (uint16_t)n;
	item->key = cpu && usk_ctf_integer(cpu, &number) ? number : UINT64_MAX;
	if (item->rule) {
		take_scheduled(ctx, event, item);
	}
	return true;
}

static enum usk_status hand_out(struct ctf_child *child,
				enum usk_status (*take)(void *ctx, const struct usk_ctf_any *event),
				void *ctx, struct usk_err *err)
{
	struct ctf_item item[ITEMS];
	enum usk_status status = USK_OK;
	for (size_t n = 1; n && !status;) {
		status = usk_ctf_read(child, item, ITEMS, &n, err);
		for (size_t i = 0; i < n && !status; i++) {
			struct ctf_item *x = &item[i];
			char *name = (char *)x->bytes;
			struct scheduled s = { .to = 0 };
			bool lost = x->kind == CTF_LOST, more = !lost && x->rule;
			if (more) {
				x->n = (uint16_t)(x->n - sizeof s);
				memcpy(&s, x->bytes + x->n, sizeof s);
			}
			name[x->n] = 0;
			const struct usk_ctf_any any = {
				.time_ns = x->time_ns,
				.cpu = x->key > INT32_MAX ? -1 : (int64_t)x->key,
				.name = lost	? "events lost"
					: *name ? name
						: "event",
				.what = lost ? USK_CTF_GAP : (enum usk_ctf_what)x->rule,
				.from = s.from,
				.to = s.to,
				.from_state = s.from_state,
				.from_name = s.from_name,
				.to_name = s.to_name,
			};
			status = take(ctx, &any);
		}
	}
	return status;
}

enum usk_status usk_ctf_all(const char *path,
			    enum usk_status (*take)(void *ctx, const struct usk_ctf_any *event),
			    void *ctx, char **damage, struct usk_err *err)
{
	struct ctf_places *places = usk_alloc(1, sizeof *places);
	const struct ctf_visitor visitor = { places, classify, take_name };
	struct ctf_traces in;
	struct ctf_child *child = NULL;
	*damage = NULL;
	enum usk_status status = usk_ctf_find(path, &in, err);
	status = status ? status : usk_ctf_start(&in, &visitor, &child, err);
	if (!status) {
		status = hand_out(child, take, ctx, err);
		const char *lost = in.said ? in.said : usk_ctf_read_totals(child)->damage;
		*damage = lost[0] ? usk_strdup(lost) : NULL;
	}
	usk_ctf_stop(child);
	usk_ctf_traces_free(&in);
	free(places);
	return status;
}

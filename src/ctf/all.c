/* SPDX-License-Identifier: MIT */
/*
 * all.c - every event of CTF traces, by name
 *
 * In    a folder
 * Out   time, processor and name of each event, in the order of time
 * Why   whoever looks at a timeline wants to see what a machine did between its messages
 * Not   what their fields say
 */
#include "ctf/ctf.h"

#include <stdlib.h>
#include <string.h>

enum { ITEMS = 64, NAME = 200 };

static struct ctf_role classify(void *ctx, const bt_event_class *class)
{
	(void)ctx;
	(void)class;
	return (struct ctf_role){ CTF_KNOWN, 0 };
}

/* Its name, and its processor as the key. */
static bool take_name(void *ctx, const bt_event *event, struct ctf_item *item)
{
	const char *name = bt_event_class_get_name(bt_event_borrow_class_const(event));
	const bt_field *cpu = usk_ctf_field(ctx, event, "cpu_id");
	uint64_t number;
	size_t n = name ? strnlen(name, NAME) : 0;
	for (size_t i = 0; i < n; i++) {
		bool plain = name[i] >= ' ' && name[i] < 127 && name[i] != '"' && name[i] != '\\';
		item->bytes[i] = (uint8_t)(plain ? name[i] : '?');
	}
	item->n = (uint16_t)n;
	item->key = cpu && usk_ctf_integer(cpu, &number) ? number : UINT64_MAX;
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
			char *name = (char *)item[i].bytes;
			name[item[i].n] = 0;
			const struct usk_ctf_any any = { item[i].time_ns,
							 item[i].key > INT32_MAX
								 ? -1
								 : (int64_t)item[i].key,
							 item[i].kind == CTF_LOST ? "events lost"
							 : *name		  ? name
										  : "event" };
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

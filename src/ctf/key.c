/* SPDX-License-Identifier: MIT */
/*
 * key.c - events that key rules name -> sides of messages
 *
 * In    events, in any order within a batch when their fields are taken, by time when they settle
 * Out   sides of messages with ids: the fields' text, joined by commas
 * Why   text, so that a trace and a table of events can name one message alike
 * Not   which sides are one message (match/join.c)
 */
#include "ctf/ctf.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MARK = 1, MAX_FIELD = 26 };

/* What stands in an item's bytes for a field whose value comes when its turn does. */
enum { MARK_COUNT = 0xfe, MARK_KNOWN = 0xff };

struct key_rule {
	struct rule rule;
	enum ctf_kind kind;
};

/* The last value that a thread's event of a row of knowledge had. */
struct fact {
	uint64_t thread;
	uint8_t rule, n;
	uint8_t text[MAX_FIELD];
};

struct ctf_keys {
	struct key_rule *rule;
	size_t n;
	bool stated;
	struct fact *fact;
	size_t n_facts, cap_facts;
	struct usk_index tally; /* how many events of a kind and an id there were */
};

static enum usk_status add(struct ctf_keys *k, const char *text, enum ctf_kind kind,
			   struct usk_err *err)
{
	if (k->n == UINT8_MAX) {
		return usk_fail(err, USK_EUSAGE, 0, "more than 255 key rules");
	}
	k->rule = usk_grow(k->rule, k->n + 1, sizeof *k->rule);
	enum usk_status status = usk_rule_parse(text, kind == CTF_KNOWN, &k->rule[k->n].rule, err);
	k->rule[k->n].kind = kind;
	k->n += !status;
	return status;
}

enum usk_status usk_ctf_keys_new(const struct usk_read_options *opt, struct ctf_keys **out,
				 struct usk_err *err)
{
	struct ctf_keys *k = usk_alloc(1, sizeof *k);
	enum usk_status status = USK_OK;
	k->stated = opt->n_send || opt->n_receive;
	for (size_t i = 0; i < opt->n_send && !status; i++) {
		status = add(k, opt->send[i], CTF_SENT, err);
	}
	for (size_t i = 0; i < opt->n_receive && !status; i++) {
		status = add(k, opt->receive[i], CTF_GOT, err);
	}
	for (size_t i = 0; i < opt->n_know && !status; i++) {
		status = add(k, opt->know[i], CTF_KNOWN, err);
	}
	const struct known_tracer *t;
	for (size_t i = 0; !k->stated && !status && (t = usk_known_tracer(i)) != NULL; i++) {
		status = add(k, t->send, CTF_SENT, err);
		status = status ? status : add(k, t->receive, CTF_GOT, err);
		status = status || !t->know ? status : add(k, t->know, CTF_KNOWN, err);
	}
	if (status) {
		usk_ctf_keys_free(k);
		return status;
	}
	*out = k;
	return USK_OK;
}

void usk_ctf_keys_free(struct ctf_keys *k)
{
	if (k) {
		for (size_t i = 0; i < k->n; i++) {
			usk_rule_free(&k->rule[i].rule);
		}
		USK_FREE(k->rule, k->fact);
		usk_index_free(&k->tally);
	}
	free(k);
}

bool usk_ctf_keys_stated(const struct ctf_keys *k)
{
	return k->stated;
}

/* Could an event of this class have the first part of that path in its payload? */
static bool has_member(const bt_event_class *class, const char *path)
{
	const bt_field_class *payload = bt_event_class_borrow_payload_field_class_const(class);
	char name[64];
	snprintf(name, sizeof name, "%.*s", (int)strcspn(path, "."), path);
	return payload && bt_field_class_structure_borrow_member_by_name_const(payload, name);
}

struct ctf_role usk_ctf_keys_classify(struct ctf_keys *k, const bt_event_class *class)
{
	const char *name = bt_event_class_get_name(class);
	for (size_t i = 0; name && i < k->n; i++) {
		const struct rule *r = &k->rule[i].rule;
		/* Known tracers changed what an event has; users know what they want. */
		if (!strcmp(r->event, name) && (k->stated || strchr(r->field[0], '.') == NULL ||
						has_member(class, r->field[0]))) {
			return (struct ctf_role){ (uint8_t)k->rule[i].kind, (uint8_t)i };
		}
	}
	return (struct ctf_role){ CTF_IGNORED, 0 };
}

/* The row of knowledge of that name, SIZE_MAX if there is none. */
static size_t known_as(const struct ctf_keys *k, const char *name)
{
	for (size_t i = 0; i < k->n; i++) {
		if (k->rule[i].kind == CTF_KNOWN && !strcmp(k->rule[i].rule.name, name)) {
			return i;
		}
	}
	return SIZE_MAX;
}

static uint64_t thread_of(struct ctf_places *places, const bt_event *event)
{
	static const char *const names[] = { "vtid", "tid", "pthread_id", "vpid", "pid" };
	uint64_t id = 0;
	for (size_t i = 0; i < COUNT(names); i++) {
		if (usk_ctf_integer(usk_ctf_field(places, event, names[i]), &id)) {
			break;
		}
	}
	return id;
}

/* Each field as its length and its text, or a mark. */
bool usk_ctf_keys_take(struct ctf_keys *k, struct ctf_places *places, const bt_event *event,
		       struct ctf_item *item)
{
	const struct rule *r = &k->rule[item->rule].rule;
	uint64_t bytes = 0;
	item->key = thread_of(places, event);
	for (size_t i = 0; i < r->n; i++) {
		uint8_t *to = item->bytes + item->n;
		size_t fact = item->kind == CTF_KNOWN ? SIZE_MAX : known_as(k, r->field[i]);
		if (fact != SIZE_MAX || !strcmp(r->field[i], "#")) {
			to[0] = fact != SIZE_MAX ? MARK_KNOWN : MARK_COUNT;
			to[1] = (uint8_t)fact;
			item->n = (uint16_t)(item->n + 2);
			continue;
		}
		const bt_field *f = usk_ctf_field(places, event, r->field[i]);
		size_t n;
		if (!f || !usk_ctf_text(f, to + MARK, MAX_FIELD, &n)) {
			return false;
		}
		to[0] = (uint8_t)n;
		item->n = (uint16_t)(item->n + MARK + to[0]);
	}
	/* What a message holds, where the tracer says so by one of the usual names. */
	if (usk_ctf_integer(usk_ctf_field(places, event, "bytes"), &bytes) && bytes <= UINT32_MAX) {
		item->length = (uint32_t)bytes;
	}
	return true;
}

static const struct fact *recall(const struct ctf_keys *k, uint8_t rule, uint64_t thread)
{
	for (size_t i = 0; i < k->n_facts; i++) {
		if (k->fact[i].rule == rule && k->fact[i].thread == thread) {
			return &k->fact[i];
		}
	}
	return NULL;
}

static void learn(struct ctf_keys *k, const struct ctf_item *item)
{
	struct fact *f = (struct fact *)(uintptr_t)recall(k, item->rule, item->key);
	if (!f) {
		k->fact = usk_room(k->fact, k->n_facts, &k->cap_facts, sizeof *k->fact);
		f = &k->fact[k->n_facts++];
		*f = (struct fact){ .thread = item->key, .rule = item->rule };
	}
	f->n = item->bytes[0];
	memcpy(f->text, item->bytes + MARK, f->n);
}

bool usk_ctf_keys_settle(struct ctf_keys *k, const struct ctf_item *item, struct usk_event *out)
{
	uint8_t text[RULE_FIELDS * (MAX_FIELD + 1) + 24], *to = text;
	bool counted = false;
	if (item->kind == CTF_KNOWN) {
		learn(k, item);
		return false;
	}
	for (size_t at = 0; at < item->n;) {
		uint8_t mark = item->bytes[at];
		if (to > text) {
			*to++ = ',';
		}
		if (mark == MARK_COUNT) {
			counted = true;
			to -= to > text; /* its number comes last */
			at += 2;
		} else if (mark == MARK_KNOWN) {
			const struct fact *f = recall(k, item->bytes[at + 1], item->key);
			if (!f) {
				return false;
			}
			memcpy(to, f->text, f->n);
			to += f->n;
			at += 2;
		} else {
			memcpy(to, item->bytes + at + MARK, mark);
			to += mark;
			at += (size_t)mark + MARK;
		}
	}
	if (counted) {
		/* Sends and receives are counted apart. */
		*to = item->kind;
		struct usk_event_id id = usk_event_id(text, (size_t)(to - text) + 1);
		uint64_t n = (*usk_index_value(&k->tally, id.word[0], id.word[1]))++;
		to += snprintf((char *)to, 24, "%s%llu", to > text ? "," : "",
			       (unsigned long long)n);
	}
	*out = (struct usk_event){
		.time_ns = item->time_ns,
		.id = usk_event_id(text, (size_t)(to - text)),
		.bytes = item->length,
		.side = item->kind == CTF_SENT ? USK_SIDE_SENT : USK_SIDE_RECEIVED,
	};
	return true;
}

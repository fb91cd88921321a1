/* SPDX-License-Identifier: MIT */
/*
 * field.c - fields of CTF events as numbers, bytes and text
 *
 * Why   tracers differ in how they write one and the same: an address as four bytes, eight words
 *       or one integer, a number as an enumeration, a header in a variant
 */
#include "ctf/ctf.h"

#include <stdio.h>
#include <string.h>

/* What a variant stands for; an option's content. NULL: nothing. */
static const bt_field *unwrap(const bt_field *f, bt_field_class_type *type)
{
	while (f) {
		*type = bt_field_get_class_type(f);
		if (bt_field_class_type_is(*type, BT_FIELD_CLASS_TYPE_VARIANT)) {
			f = bt_field_variant_borrow_selected_option_field_const(f);
		} else if (bt_field_class_type_is(*type, BT_FIELD_CLASS_TYPE_OPTION)) {
			f = bt_field_option_borrow_field_const(f);
		} else {
			break;
		}
	}
	return f;
}

/* Where the member of this name lies in structures of the class; n: of the name's characters. */
static struct ctf_place look_up(const bt_field_class *class, const char *name)
{
	struct ctf_place p = { class, name, (uint32_t)strcspn(name, "."), CTF_NOWHERE };
	bool holds = bt_field_class_get_type(class) == BT_FIELD_CLASS_TYPE_STRUCTURE;
	uint64_t members = holds ? bt_field_class_structure_get_member_count(class) : 0;
	for (uint32_t i = 0; i < members && p.index == CTF_NOWHERE; i++) {
		const char *other = bt_field_class_structure_member_get_name(
			bt_field_class_structure_borrow_member_by_index_const(class, i));
		p.index = strncmp(other, name, p.n) || other[p.n] ? CTF_NOWHERE : i;
	}
	return p;
}

static struct ctf_place *place_of(struct ctf_places *places, const bt_field_class *class,
				  const char *name)
{
	uint64_t x = (uint64_t)(uintptr_t) class ^ (uint64_t)(uintptr_t)name << 3;
	struct ctf_place *p =
		&places->slot[x * UINT64_C(0x9e3779b97f4a7c15) >> 32 & (CTF_PLACES - 1)];
	if (p->class != class || p->name != name) {
		*p = look_up(class, name);
	}
	return p;
}

const bt_field *usk_ctf_member(struct ctf_places *places, const bt_field *f, const char *path)
{
	bt_field_class_type type;
	while ((f = unwrap(f, &type)) != NULL && *path) {
		const struct ctf_place *p = place_of(places, bt_field_borrow_class_const(f), path);
		f = p->index == CTF_NOWHERE
			    ? NULL
			    : bt_field_structure_borrow_member_field_by_index_const(f, p->index);
		path += p->n + (path[p->n] == '.');
	}
	return f;
}

const bt_field *usk_ctf_field(struct ctf_places *places, const bt_event *event, const char *path)
{
	const bt_packet *packet = bt_event_borrow_packet_const(event);
	const bt_field *in[] = {
		bt_event_borrow_payload_field_const(event),
		bt_event_borrow_specific_context_field_const(event),
		bt_event_borrow_common_context_field_const(event),
		packet ? bt_packet_borrow_context_field_const(packet) : NULL,
	};
	for (size_t i = 0; i < COUNT(in); i++) {
		const bt_field *f = in[i] ? usk_ctf_member(places, in[i], path) : NULL;
		if (f) {
			return f;
		}
	}
	return NULL;
}

bool usk_ctf_integer(const bt_field *f, uint64_t *out)
{
	if (!f) {
		return false;
	}
	bt_field_class_type type = bt_field_get_class_type(f);
	if (bt_field_class_type_is(type, BT_FIELD_CLASS_TYPE_UNSIGNED_INTEGER)) {
		*out = bt_field_integer_unsigned_get_value(f);
	} else if (bt_field_class_type_is(type, BT_FIELD_CLASS_TYPE_SIGNED_INTEGER)) {
		*out = (uint64_t)bt_field_integer_signed_get_value(f);
	} else if (type == BT_FIELD_CLASS_TYPE_BOOL) {
		*out = bt_field_bool_get_value(f) != BT_FALSE;
	} else if (type == BT_FIELD_CLASS_TYPE_BIT_ARRAY) {
		*out = bt_field_bit_array_get_value_as_integer(f);
	} else {
		return false;
	}
	return true;
}

uint64_t usk_ctf_number(struct ctf_places *places, const bt_field *structure, const char *name)
{
	uint32_t index =
		structure ? place_of(places, bt_field_borrow_class_const(structure), name)->index
			  : CTF_NOWHERE;
	if (index == CTF_NOWHERE) {
		return 0;
	}
	const bt_field *f = bt_field_structure_borrow_member_field_by_index_const(structure, index);
	/* As nearly all are. */
	if (bt_field_get_class_type(f) == BT_FIELD_CLASS_TYPE_UNSIGNED_INTEGER) {
		return bt_field_integer_unsigned_get_value(f);
	}
	bt_field_class_type type;
	uint64_t v = 0;
	usk_ctf_integer(unwrap(f, &type), &v);
	return v;
}

static void store(uint8_t *out, uint64_t v, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		out[i] = (uint8_t)(i + 8 < n ? 0 : v >> 8 * (n - 1 - i));
	}
}

bool usk_ctf_bytes(const bt_field *f, uint8_t *out, size_t n)
{
	uint64_t v;
	if (f && bt_field_class_type_is(bt_field_get_class_type(f), BT_FIELD_CLASS_TYPE_ARRAY)) {
		uint64_t m = bt_field_array_get_length(f);
		if (!m || n % m) {
			return false;
		}
		size_t each = n / (size_t)m;
		for (uint64_t i = 0; i < m; i++) {
			if (!usk_ctf_integer(
				    bt_field_array_borrow_element_field_by_index_const(f, i), &v)) {
				return false;
			}
			store(out + i * each, v, each);
		}
		return true;
	}
	if (!usk_ctf_integer(f, &v)) {
		return false;
	}
	store(out, v, n);
	return true;
}

static size_t fits(const char *text, size_t n, uint8_t *out, size_t room)
{
	if (n <= room) {
		memcpy(out, text, n);
		return n;
	}
	struct usk_event_id id = usk_event_id(text, n);
	memcpy(out, &id, sizeof id);
	return sizeof id;
}

/* Each element as its length and its text; what is before it by what that hashes to, if there is no
 * room for all. */
static bool array_text(const bt_field *f, uint8_t *out, size_t room, size_t *n)
{
	uint64_t m = bt_field_array_get_length(f);
	uint8_t text[400], each[80];
	size_t used = 0, k = 0;
	for (uint64_t i = 0; i < m; i++) {
		if (!usk_ctf_text(bt_field_array_borrow_element_field_by_index_const(f, i), each,
				  sizeof each, &k)) {
			return false;
		}
		used = used + k < sizeof text ? used : fits((char *)text, used, text, 0);
		text[used++] = (uint8_t)k;
		memcpy(text + used, each, k);
		used += k;
	}
	*n = fits((char *)text, used, out, room);
	return true;
}

bool usk_ctf_text(const bt_field *f, uint8_t *out, size_t room, size_t *n)
{
	char text[32];
	uint64_t v;
	int k = 0;
	bt_field_class_type type;
	*n = 0;
	f = unwrap(f, &type);
	if (!f) {
		return true;
	}
	if (bt_field_class_type_is(type, BT_FIELD_CLASS_TYPE_ARRAY)) {
		return array_text(f, out, room, n);
	}
	if (type == BT_FIELD_CLASS_TYPE_STRING) {
		*n = fits(bt_field_string_get_value(f), (size_t)bt_field_string_get_length(f), out,
			  room);
		return true;
	}
	if (usk_ctf_integer(f, &v)) {
		k = bt_field_class_type_is(type, BT_FIELD_CLASS_TYPE_SIGNED_INTEGER)
			    ? snprintf(text, sizeof text, "%lld", (long long)v)
			    : snprintf(text, sizeof text, "%llu", (unsigned long long)v);
	} else if (type == BT_FIELD_CLASS_TYPE_DOUBLE_PRECISION_REAL) {
		k = snprintf(text, sizeof text, "%.17g",
			     bt_field_real_double_precision_get_value(f));
	} else if (type == BT_FIELD_CLASS_TYPE_SINGLE_PRECISION_REAL) {
		k = snprintf(text, sizeof text, "%.9g",
			     (double)bt_field_real_single_precision_get_value(f));
	}
	*n = fits(text, (size_t)k, out, room);
	return k > 0;
}

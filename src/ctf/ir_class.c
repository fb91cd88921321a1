/* SPDX-License-Identifier: MIT */

#include "ctf/filter.h"

#include <string.h>

static bool is(const bt_field_class *f, bt_field_class_type type)
{
	return bt_field_class_type_is(bt_field_class_get_type(f), type);
}

/* The class that a path leads to. */
static const bt_field_class *follow(const struct field_scopes *s, const bt_field_path *path)
{
	const bt_field_class *f = s->scope[bt_field_path_get_root_scope(path)];
	for (uint64_t i = 0; f && i < bt_field_path_get_item_count(path); i++) {
		const bt_field_path_item *item = bt_field_path_borrow_item_by_index_const(path, i);
		if (bt_field_path_item_get_type(item) == BT_FIELD_PATH_ITEM_TYPE_INDEX) {
			uint64_t at = bt_field_path_item_index_get_index(item);
			if (is(f, BT_FIELD_CLASS_TYPE_VARIANT)) {
				f = bt_field_class_variant_option_borrow_field_class_const(
					bt_field_class_variant_borrow_option_by_index_const(f, at));
			} else {
				f = bt_field_class_structure_member_borrow_field_class_const(
					bt_field_class_structure_borrow_member_by_index_const(f,
											      at));
			}
		} else if (is(f, BT_FIELD_CLASS_TYPE_ARRAY)) {
			f = bt_field_class_array_borrow_element_field_class_const(f);
		} else {
			f = bt_field_class_option_borrow_field_class_const(f);
		}
	}
	return f;
}

static bt_field_class *copy_of(const struct field_scopes *s, const bt_field_path *path)
{
	return usk_ir_copy(s->copies, follow(s, path));
}

static bt_field_class *integer(struct field_scopes *s, const bt_field_class *from)
{
	bt_field_class *f = NULL;
	bool good = true;
	switch (bt_field_class_get_type(from)) {
	case BT_FIELD_CLASS_TYPE_UNSIGNED_INTEGER:
		f = bt_field_class_integer_unsigned_create(s->trace_class);
		break;
	case BT_FIELD_CLASS_TYPE_SIGNED_INTEGER:
		f = bt_field_class_integer_signed_create(s->trace_class);
		break;
	case BT_FIELD_CLASS_TYPE_UNSIGNED_ENUMERATION:
		f = bt_field_class_enumeration_unsigned_create(s->trace_class);
		for (uint64_t i = 0;
		     f && i < bt_field_class_enumeration_get_mapping_count(from) && good; i++) {
			const bt_field_class_enumeration_unsigned_mapping *m =
				bt_field_class_enumeration_unsigned_borrow_mapping_by_index_const(
					from, i);
			good = !bt_field_class_enumeration_unsigned_add_mapping(
				f,
				bt_field_class_enumeration_mapping_get_label(
					bt_field_class_enumeration_unsigned_mapping_as_mapping_const(
						m)),
				bt_field_class_enumeration_unsigned_mapping_borrow_ranges_const(m));
		}
		break;
	default:
		f = bt_field_class_enumeration_signed_create(s->trace_class);
		for (uint64_t i = 0;
		     f && i < bt_field_class_enumeration_get_mapping_count(from) && good; i++) {
			const bt_field_class_enumeration_signed_mapping *m =
				bt_field_class_enumeration_signed_borrow_mapping_by_index_const(
					from, i);
			good = !bt_field_class_enumeration_signed_add_mapping(
				f,
				bt_field_class_enumeration_mapping_get_label(
					bt_field_class_enumeration_signed_mapping_as_mapping_const(
						m)),
				bt_field_class_enumeration_signed_mapping_borrow_ranges_const(m));
		}
		break;
	}
	if (f) {
		bt_field_class_integer_set_field_value_range(
			f, bt_field_class_integer_get_field_value_range(from));
		bt_field_class_integer_set_preferred_display_base(
			f, bt_field_class_integer_get_preferred_display_base(from));
	}
	return good ? f : NULL;
}

static bt_field_class *structure(struct field_scopes *s, const bt_field_class *from)
{
	bt_field_class *f = bt_field_class_structure_create(s->trace_class);
	for (uint64_t i = 0; f && i < bt_field_class_structure_get_member_count(from); i++) {
		const bt_field_class_structure_member *m =
			bt_field_class_structure_borrow_member_by_index_const(from, i);
		bt_field_class *member = usk_ir_field_class(
			s, bt_field_class_structure_member_borrow_field_class_const(m));
		if (!member || bt_field_class_structure_append_member(
				       f, bt_field_class_structure_member_get_name(m), member)) {
			return NULL;
		}
		bt_field_class_put_ref(member);
	}
	return f;
}

static bt_field_class *array(struct field_scopes *s, const bt_field_class *from)
{
	bt_field_class *f, *length = NULL,
			   *element = usk_ir_field_class(
				   s, bt_field_class_array_borrow_element_field_class_const(from));
	if (!element) {
		return NULL;
	}
	if (bt_field_class_get_type(from) == BT_FIELD_CLASS_TYPE_STATIC_ARRAY) {
		f = bt_field_class_array_static_create(
			s->trace_class, element, bt_field_class_array_static_get_length(from));
	} else {
		if (bt_field_class_get_type(from) ==
		    BT_FIELD_CLASS_TYPE_DYNAMIC_ARRAY_WITH_LENGTH_FIELD) {
			length = copy_of(
				s,
				bt_field_class_array_dynamic_with_length_field_borrow_length_field_path_const(
					from));
		}
		f = bt_field_class_array_dynamic_create(s->trace_class, element, length);
	}
	bt_field_class_put_ref(element);
	return f;
}

static bt_field_class *option(struct field_scopes *s, const bt_field_class *from)
{
	bt_field_class *f, *selector = NULL;
	bt_field_class *content =
		usk_ir_field_class(s, bt_field_class_option_borrow_field_class_const(from));
	bt_field_class_type type = bt_field_class_get_type(from);
	if (!content) {
		return NULL;
	}
	if (type != BT_FIELD_CLASS_TYPE_OPTION_WITHOUT_SELECTOR_FIELD) {
		selector = copy_of(
			s,
			bt_field_class_option_with_selector_field_borrow_selector_field_path_const(
				from));
	}
	switch (type) {
	case BT_FIELD_CLASS_TYPE_OPTION_WITHOUT_SELECTOR_FIELD:
		f = bt_field_class_option_without_selector_create(s->trace_class, content);
		break;
	case BT_FIELD_CLASS_TYPE_OPTION_WITH_BOOL_SELECTOR_FIELD:
		f = bt_field_class_option_with_selector_field_bool_create(s->trace_class, content,
									  selector);
		if (f) {
			bt_field_class_option_with_selector_field_bool_set_selector_is_reversed(
				f,
				bt_field_class_option_with_selector_field_bool_selector_is_reversed(
					from));
		}
		break;
	case BT_FIELD_CLASS_TYPE_OPTION_WITH_UNSIGNED_INTEGER_SELECTOR_FIELD:
		f = bt_field_class_option_with_selector_field_integer_unsigned_create(
			s->trace_class, content, selector,
			bt_field_class_option_with_selector_field_integer_unsigned_borrow_selector_ranges_const(
				from));
		break;
	default:
		f = bt_field_class_option_with_selector_field_integer_signed_create(
			s->trace_class, content, selector,
			bt_field_class_option_with_selector_field_integer_signed_borrow_selector_ranges_const(
				from));
		break;
	}
	bt_field_class_put_ref(content);
	return f;
}

/* Option i of the variant, into f. */
static bool append_option(struct field_scopes *s, const bt_field_class *from, uint64_t i,
			  bt_field_class *f)
{
	const bt_field_class_variant_option *o =
		bt_field_class_variant_borrow_option_by_index_const(from, i);
	const char *name = bt_field_class_variant_option_get_name(o);
	bt_field_class *content =
		usk_ir_field_class(s, bt_field_class_variant_option_borrow_field_class_const(o));
	bool good = content != NULL;
	switch (bt_field_class_get_type(from)) {
	case BT_FIELD_CLASS_TYPE_VARIANT_WITHOUT_SELECTOR_FIELD:
		good = good &&
		       !bt_field_class_variant_without_selector_append_option(f, name, content);
		break;
	case BT_FIELD_CLASS_TYPE_VARIANT_WITH_UNSIGNED_INTEGER_SELECTOR_FIELD:
		good = good &&
		       !bt_field_class_variant_with_selector_field_integer_unsigned_append_option(
			       f, name, content,
			       bt_field_class_variant_with_selector_field_integer_unsigned_option_borrow_ranges_const(
				       bt_field_class_variant_with_selector_field_integer_unsigned_borrow_option_by_index_const(
					       from, i)));
		break;
	default:
		good = good &&
		       !bt_field_class_variant_with_selector_field_integer_signed_append_option(
			       f, name, content,
			       bt_field_class_variant_with_selector_field_integer_signed_option_borrow_ranges_const(
				       bt_field_class_variant_with_selector_field_integer_signed_borrow_option_by_index_const(
					       from, i)));
		break;
	}
	bt_field_class_put_ref(content);
	return good;
}

static bt_field_class *variant(struct field_scopes *s, const bt_field_class *from)
{
	bt_field_class *selector = NULL;
	if (bt_field_class_get_type(from) != BT_FIELD_CLASS_TYPE_VARIANT_WITHOUT_SELECTOR_FIELD) {
		selector = copy_of(
			s,
			bt_field_class_variant_with_selector_field_borrow_selector_field_path_const(
				from));
	}
	bt_field_class *f = bt_field_class_variant_create(s->trace_class, selector);
	for (uint64_t i = 0; f && i < bt_field_class_variant_get_option_count(from); i++) {
		if (!append_option(s, from, i, f)) {
			return NULL;
		}
	}
	return f;
}

bt_field_class *usk_ir_field_class(struct field_scopes *s, const bt_field_class *from)
{
	bt_field_class_type type = bt_field_class_get_type(from);
	bt_field_class *f = NULL;
	if (is(from, BT_FIELD_CLASS_TYPE_INTEGER)) {
		f = integer(s, from);
	} else if (type == BT_FIELD_CLASS_TYPE_STRUCTURE) {
		f = structure(s, from);
	} else if (is(from, BT_FIELD_CLASS_TYPE_ARRAY)) {
		f = array(s, from);
	} else if (is(from, BT_FIELD_CLASS_TYPE_OPTION)) {
		f = option(s, from);
	} else if (is(from, BT_FIELD_CLASS_TYPE_VARIANT)) {
		f = variant(s, from);
	} else if (type == BT_FIELD_CLASS_TYPE_BOOL) {
		f = bt_field_class_bool_create(s->trace_class);
	} else if (type == BT_FIELD_CLASS_TYPE_BIT_ARRAY) {
		f = bt_field_class_bit_array_create(s->trace_class,
						    bt_field_class_bit_array_get_length(from));
	} else if (type == BT_FIELD_CLASS_TYPE_STRING) {
		f = bt_field_class_string_create(s->trace_class);
	} else if (type == BT_FIELD_CLASS_TYPE_SINGLE_PRECISION_REAL) {
		f = bt_field_class_real_single_precision_create(s->trace_class);
	} else if (type == BT_FIELD_CLASS_TYPE_DOUBLE_PRECISION_REAL) {
		f = bt_field_class_real_double_precision_create(s->trace_class);
	}
	if (f) {
		bt_field_class_set_user_attributes(
			f, bt_field_class_borrow_user_attributes_const(from));
		*usk_index_value(s->copies, (uintptr_t)from, 0) = (uintptr_t)f;
	}
	return f;
}

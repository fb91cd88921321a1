/* SPDX-License-Identifier: MIT */
#include "base/index.h"

#include <stdlib.h>

static struct usk_slot *find_slot(const struct usk_index *x, uint64_t a, uint64_t b)
{
	size_t i = usk_fold(a, b) & (x->n_slots - 1);
	while (x->slot[i].value && (x->slot[i].a != a || x->slot[i].b != b)) {
		i = (i + 1) & (x->n_slots - 1);
	}
	return &x->slot[i];
}

uint64_t *usk_index_value(struct usk_index *x, uint64_t a, uint64_t b)
{
	if (2 * (x->n + 1) > x->n_slots) {
		struct usk_index old = *x;
		x->n_slots = old.n_slots ? 2 * old.n_slots : 64;
		x->slot = usk_alloc(x->n_slots, sizeof *x->slot);
		for (size_t i = 0; i < old.n_slots; i++) {
			if (old.slot[i].value) {
				*find_slot(x, old.slot[i].a, old.slot[i].b) = old.slot[i];
			}
		}
		free(old.slot);
	}
	struct usk_slot *slot = find_slot(x, a, b);
	if (!slot->value) {
		*slot = (struct usk_slot){ a, b, 0 };
		x->n++;
	}
	return &slot->value;
}

uint64_t usk_index_find(const struct usk_index *x, uint64_t a, uint64_t b)
{
	return x->n_slots ? find_slot(x, a, b)->value : 0;
}

void usk_index_free(struct usk_index *x)
{
	free(x->slot);
	*x = (struct usk_index){ 0 };
}

uint32_t usk_texts_number(struct usk_texts *x, uint64_t a, uint64_t b, const char *text, size_t n)
{
	uint64_t *number = usk_index_value(&x->by, a, b);
	if (!*number) {
		*USK_ADD(x->text, x->n, x->cap) = usk_format("%.*s", (int)n, text);
		*number = x->n;
	}
	return (uint32_t)*number - 1;
}

void usk_texts_free(struct usk_texts *x)
{
	for (size_t i = 0; i < x->n; i++) {
		free(x->text[i]);
	}
	free(x->text);
	usk_index_free(&x->by);
	*x = (struct usk_texts){ 0 };
}

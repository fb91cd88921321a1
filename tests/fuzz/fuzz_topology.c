/* SPDX-License-Identifier: MIT */
/* Topologies: refused with a sentence, or links whose delays are sorted times of two known clocks. */
#include "plan/plan.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void look(const struct usk_network *n, const struct usk_plan_link *l)
{
	if (l->a >= l->b || l->b >= n->n_clocks || !usk_link_known(l)) {
		abort();
	}
	const struct usk_reservoir *d = &l->way[0].delay_ns;
	for (size_t i = 1; i < d->n; i++) {
		if (d->value[i - 1] > d->value[i] || d->value[0] < 0) {
			abort();
		}
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct usk_network n = { .n_clocks = 0 };
	struct usk_input in;
	struct usk_err err = { 0 };
	usk_input_memory(&in, data, size);
	if (!usk_network_add(&in, &n, &err)) {
		for (size_t i = 0; i < n.n_links; i++) {
			look(&n, &n.link[i]);
		}
	} else if (!err.msg[0]) {
		abort();
	}
	usk_input_close(&in);
	usk_network_free(&n);
	return 0;
}

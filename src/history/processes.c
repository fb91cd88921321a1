/* SPDX-License-Identifier: MIT */
/*
 * processes.c - clients whose operations overlap become several
 *
 * In    clients, and an interval for each operation
 * Out   processes that have one operation at a time
 * Why   Knossos and Elle refuse a process that calls again before it returned, and an interval that
 *       was widened reaches into the next one of its client
 */
#include "history/history.h"

#include <stdlib.h>

/* A beginning or an end. */
struct moment {
	uint32_t client;
	bool end;
	int64_t at_ns;
	uint32_t op;
};

/* An operation of which nobody knows whether it is over keeps its process for itself. */
static struct moment *moments_of(const struct usk_history *h, const struct usk_interval *x,
				 size_t *n)
{
	struct moment *m = usk_alloc(2 * h->n + 1, sizeof *m);
	*n = 0;
	for (size_t i = 0; i < h->n; i++) {
		const struct usk_op *op = &h->op[i];
		m[(*n)++] = (struct moment){ op->client, false, x[i].from_ns, (uint32_t)i };
		if (op->end < USK_OP_INFO) {
			m[(*n)++] = (struct moment){ op->client, true, x[i].to_ns, (uint32_t)i };
		}
	}
	usk_sort(m, *n, sizeof *m,
		 KEYS(BY(moment, client), BY(moment, at_ns), BY(moment, end), BY(moment, op)));
	return m;
}

size_t usk_history_processes(const struct usk_history *h, const struct usk_interval *x,
			     uint32_t *process)
{
	size_t n, processes = 0, n_idle = 0;
	struct moment *m = moments_of(h, x, &n);
	uint32_t *idle = usk_alloc(h->n + 1, sizeof *idle);
	for (size_t i = 0; i < n; i++) {
		n_idle = i && m[i].client != m[i - 1].client ? 0 : n_idle;
		if (m[i].end) {
			idle[n_idle++] = process[m[i].op];
		} else {
			process[m[i].op] = n_idle ? idle[--n_idle] : (uint32_t)processes++;
		}
	}
	free(m);
	free(idle);
	return processes;
}

/* SPDX-License-Identifier: MIT */
/*
 * Any bytes as truth.json: refused with a sentence, or held against clocks that were set back, that
 * are bounded on one side only, and that are far away. How wrong an answer is must not depend on
 * how often one asks.
 */
#include "answer.h"
#include "cli/cmd.h"
#include "memory.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void need(bool good)
{
	if (!good) {
		abort();
	}
}

static void compare(const struct truth *t, size_t i)
{
	struct usk_err err = { 0 };
	struct truth_score s, again;
	enum usk_status status = truth_compare(t, answer(), i, &s, &err);
	need(truth_compare(t, answer(), i, &again, NULL) == status);
	if (status) {
		need(err.msg[0] && !strchr(err.msg, '\n'));
		return;
	}
	need(s.worst_ns == again.worst_ns && s.outside_ns == again.outside_ns);
	need(s.outside_ns >= 0 && (s.worst_ns >= 0 || s.worst_ns == USK_NONE));
	need(s.known || (s.worst_ns == USK_NONE && !s.outside_ns));
}

static void find_errors(const struct truth *t, const struct usk_clock *k)
{
	const struct usk_clocks *c = answer();
	struct usk_map *m = usk_map_of_epoch(k, 0, c->max_skew_e12);
	struct usk_err err = { 0 };
	struct truth_errors e;
	if (!m) {
		return;
	}
	if (truth_errors(t, c->clock[k->reference].name, k->name, m, &e, &err)) {
		need(err.msg[0] && !e.known);
	}
	for (int i = 0; i < ERRORS; i++) {
		need(e.known == (e.ns[i] != USK_NONE));
	}
	need(!e.known || e.ns[RMS] >= 0);
	usk_map_free(m);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct truth *t = NULL;
	struct usk_err err = { 0 };
	if (truth_open(memory_file(0, data, size), &t, &err)) {
		need(err.msg[0] && !strchr(err.msg, '\n') && !t);
		return 0;
	}
	for (size_t i = 0; i < answer()->n_clocks; i++) {
		compare(t, i);
		if (answer()->clock[i].quality != USK_ONE_SIDED) {
			find_errors(t, &answer()->clock[i]);
		}
	}
	truth_free(t);
	return 0;
}

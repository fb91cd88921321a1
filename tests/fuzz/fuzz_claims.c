/* SPDX-License-Identifier: MIT */
/* Files of claims: refused with a sentence, or claims in range that can be held against each other.
 */
#include "found.h"
#include "audit/audit.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A message between any two claims' stamps, so that they meet. */
static void hold(const struct usk_claims *c)
{
	struct usk_err err = { 0 };
	int64_t *resolution = usk_alloc(c->n_names + 1, sizeof *resolution);
	struct usk_msg msg = { .from = c->row[0].clock, .to = c->row[c->n - 1].clock };
	msg.sent_ns = c->row[0].at_ns;
	msg.received_ns = c->row[c->n - 1].at_ns;
	struct usk_audit a = { .n_names = c->n_names,
			       .resolution_ns = resolution,
			       .claim = c->row,
			       .n_claims = c->n,
			       .msg = &msg,
			       .n_msgs = msg.from != msg.to,
			       .max_skew_e12 = 500000000 };
	if (usk_audit_run(&a, &err) && !err.msg[0]) {
		abort();
	}
	for (size_t i = 0; i < a.n_clashes; i++) {
		if (a.clash[i].gap_ns < 0 ||
		    (a.clash[i].low == USK_NO_CLAIM) != (a.clash[i].high == USK_NO_CLAIM)) {
			abort();
		}
	}
	usk_audit_free(&a);
	free(resolution);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct usk_err err = { 0 };
	struct usk_claims c = { .n = 0 };
	struct usk_input in;
	const char *what;
	char *damage;
	bool named = size && data[0] & 1;
	usk_input_memory(&in, data + (size > 0), size - (size > 0));
	enum usk_status status =
		usk_claims_read(&in, named ? "host" : NULL, 0, &c, &what, &damage, &err);
	if (status ? !err.msg[0] : !c.n && !c.none) {
		abort();
	}
	for (size_t i = 0; i < c.n; i++) {
		const struct usk_claim *x = &c.row[i];
		if (x->by >= c.n_names || x->clock >= c.n_names || x->lo_ns > x->hi_ns ||
		    x->lo_ns < -USK_TIME_MAX || x->hi_ns > USK_TIME_MAX || x->blur_ns < 0) {
			abort();
		}
		fuzz_found((uint64_t)x->by << 32 | x->clock);
		fuzz_found((uint64_t)x->at_ns ^ (uint64_t)x->blur_ns << 1);
		fuzz_found((uint64_t)x->lo_ns ^ (uint64_t)x->hi_ns << 1);
	}
	fuzz_found(status ? err.at : c.none);
	fuzz_found_numbers(damage);
	if (c.n && c.n < 1000 && c.n_names < 50) {
		hold(&c);
	}
	free(damage);
	usk_claims_free(&c);
	usk_input_close(&in);
	return 0;
}

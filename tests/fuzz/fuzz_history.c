/* SPDX-License-Identifier: MIT */
/* Histories: refused with a sentence, or operations that every checker's form can be made of. What is
 * written for Knossos is read again, and has the same operations. */
#include "found.h"
#include "history/history.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Any interval will do, some of them open. */
static struct usk_interval *intervals(const struct usk_history *h)
{
	struct usk_interval *x = usk_alloc(h->n + 1, sizeof *x);
	for (size_t i = 0; i < h->n; i++) {
		const struct usk_op *op = &h->op[i];
		bool open = op->call_ns == USK_NONE, over = op->return_ns != USK_NONE;
		int64_t call = open ? 0 : op->call_ns, back = over ? op->return_ns : call;
		back = back < call ? call : back;
		x[i].call = (struct usk_end){ op->client, call, open ? -USK_OPEN : call - 7 };
		x[i].back = (struct usk_end){ op->client, back, over ? back + 7 : USK_OPEN };
	}
	usk_intervals_tighten(x, h->n);
	return x;
}

static void check(const struct usk_history *h, const struct usk_interval *x)
{
	struct usk_ordered o;
	usk_intervals_count(x, h->n, &o);
	if (o.kept < o.bounds || o.certain < o.kept || o.pairs < o.certain) {
		abort();
	}
	for (size_t i = 0; i < h->n; i++) {
		if (h->op[i].client >= h->n_clients || x[i].from_ns > x[i].to_ns ||
		    h->client[h->op[i].client].clock >= h->clock.n) {
			abort();
		}
	}
}

static void read_again(const struct usk_history *h, const struct usk_output *out)
{
	struct usk_history_options opt = { .clock = "c" };
	struct usk_history again = { .n = 0 };
	struct usk_err err = { 0 };
	struct usk_input in;
	usk_input_memory(&in, out->buffer, out->used);
	if (usk_history_read(&in, 0, &opt, &again, &err) || again.n != h->n) {
		abort();
	}
	usk_input_close(&in);
	usk_history_free(&again);
}

static void write_all(const struct usk_history *h, const struct usk_interval *x)
{
	for (const struct usk_history_form *f = usk_history_forms; f->name; f++) {
		struct usk_err err = { 0 };
		struct usk_output out;
		if (usk_output_open(&out, "/dev/null", true, &err)) {
			abort();
		}
		if (f->write(h, x, &out, &err) && (!err.msg[0] || err.at >= h->n)) {
			abort();
		}
		fuzz_found_bytes(out.buffer, out.used);
		if (f == usk_history_forms && h->n && !out.written) {
			read_again(h, &out);
		}
		usk_output_close(&out);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const clock_of[] = { "0-2=a", "w=b" };
	struct usk_history_options opt = { .clock_of = clock_of, .n_clock_of = 2, .nodes = "n,m" };
	struct usk_history h = { .n = 0 };
	struct usk_err err = { 0 };
	struct usk_input in;
	opt.clock = size && data[0] & 1 ? "host" : NULL;
	usk_input_memory(&in, data + (size > 0), size - (size > 0));
	enum usk_status status = usk_history_read(&in, 0, &opt, &h, &err);
	if (status ? !err.msg[0] : !h.n && !h.left_out) {
		abort();
	}
	fuzz_found(status ? err.at : h.left_out);
	if (!status && h.n < 200) {
		struct usk_interval *x = intervals(&h);
		check(&h, x);
		for (size_t i = 0; i < h.n; i++) {
			fuzz_found((uint64_t)x[i].from_ns);
			fuzz_found((uint64_t)x[i].to_ns);
		}
		write_all(&h, x);
		free(x);
	}
	usk_history_free(&h);
	usk_input_close(&in);
	return 0;
}

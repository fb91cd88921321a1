/* SPDX-License-Identifier: MIT */
/*
 * truth_json.c - truth.json: what every clock read at moments of true time, and where it jumped
 */
#include "sim.h"

#include <math.h>
#include <stdlib.h>

#define STEPS 1000

/* Clocks that wander bend everywhere: then fewer moments say it less exactly. */
enum { MOST_BENDS = 100000 };

/* Ends of pieces between which the clock reads no more than off_ns off the straight line, as few as
 * go from one as far as they do. Returns how many. */
static size_t bends(const struct sim_clock *c, int64_t end_ns, int64_t off_ns, int64_t *at)
{
	const struct sim_piece end = { .true_ns = end_ns, .local_ns = sim_clock_read(c, end_ns) };
	const struct sim_piece *from = c->piece;
	long double least = -HUGE_VALL, most = HUGE_VALL;
	size_t n = 0;
	for (size_t i = 1; i <= c->n; i++) {
		const struct sim_piece *p = i < c->n ? &c->piece[i] : &end;
		long double d = (long double)(p->true_ns - from->true_ns);
		long double rise = (long double)(p->local_ns - from->local_ns) - d;
		if (d > 0 && (rise / d < least || rise / d > most)) {
			from = &c->piece[i - 1];
			at[n++] = from->true_ns;
			least = -HUGE_VALL;
			most = HUGE_VALL;
			d = (long double)(p->true_ns - from->true_ns);
			rise = (long double)(p->local_ns - from->local_ns) - d;
		}
		if (d > 0) {
			least = fmaxl(least, (rise - (long double)off_ns) / d);
			most = fminl(most, (rise + (long double)off_ns) / d);
		}
	}
	return n;
}

/* Both ends, a grid between, where clocks bend, both sides of every jump; sorted, each once. */
static int64_t *moments(const struct sim_truth *t, int64_t *off_ns, size_t *n_out)
{
	size_t n = STEPS + 1, kept = 0, bent = MOST_BENDS + 1;
	for (size_t k = 0; k < t->n; k++) {
		n += 2 * t->clock[k].n_jumps + t->clock[k].n;
	}
	int64_t *at = usk_alloc(n, sizeof *at);
	usk_i128 span = t->end_ns - t->start_ns;
	for (n = 0; n <= STEPS; n++) {
		at[n] = t->start_ns + (int64_t)(span * (int64_t)n / STEPS);
	}
	for (*off_ns = 1; bent > MOST_BENDS; *off_ns *= 2) {
		bent = 0;
		for (size_t k = 0; k < t->n; k++) {
			bent += bends(&t->clock[k], t->end_ns, *off_ns, at + n + bent);
		}
	}
	*off_ns /= 2;
	n += bent;
	for (size_t k = 0; k < t->n; k++) {
		for (size_t i = 0; i < t->clock[k].n_jumps; i++) {
			const struct sim_jump *j = &t->clock[k].jump[i];
			at[n++] = j->true_ns - (j->still_ns ? j->still_ns : 1);
			at[n++] = j->true_ns;
		}
	}
	qsort(at, n, sizeof *at, usk_by_int64);
	for (size_t i = 0; i < n; i++) {
		bool inside = at[i] >= t->start_ns && at[i] <= t->end_ns;
		if (inside && (!kept || at[i] != at[kept - 1])) {
			at[kept++] = at[i];
		}
	}
	*n_out = kept;
	return at;
}

static void put_jumps(struct usk_output *out, const struct sim_truth *t)
{
	bool any = false;
	for (size_t k = 0; k < t->n; k++) {
		for (size_t i = 0; i < t->clock[k].n_jumps; i++) {
			const struct sim_jump *j = &t->clock[k].jump[i];
			usk_output_format(out,
					  "%s\n    {\"clock\": \"%s\", \"true_ns\": \"%lld\", "
					  "\"size_ns\": \"%lld\"}",
					  any ? "," : "", t->name[k], (long long)j->true_ns,
					  (long long)j->size_ns);
			any = true;
		}
	}
	usk_output_format(out, "%s", any ? "\n  " : "");
}

enum usk_status sim_truth_json(const char *path, bool force, const struct sim_truth *t,
			       struct usk_err *err)
{
	struct usk_output out;
	enum usk_status status = usk_output_open(&out, path, force, err);
	if (status) {
		return status;
	}
	size_t n;
	int64_t off_ns;
	int64_t *at = moments(t, &off_ns, &n);
	usk_output_format(&out, "{\n  \"unskew_truth\": 1,\n  \"seed\": \"%llu\",\n",
			  (unsigned long long)t->seed);
	usk_output_format(&out, "  \"options\": %s,\n  \"off_ns\": \"%lld\",\n  \"true_ns\": [",
			  t->options, (long long)off_ns);
	for (size_t i = 0; i < n; i++) {
		usk_output_format(&out, "%s\"%lld\"", i ? "," : "", (long long)at[i]);
	}
	usk_output_format(&out, "],\n  \"clock_ns\": {");
	for (size_t k = 0; k < t->n; k++) {
		usk_output_format(&out, "%s\n    \"%s\": [", k ? "," : "", t->name[k]);
		for (size_t i = 0; i < n; i++) {
			usk_output_format(&out, "%s\"%lld\"", i ? "," : "",
					  (long long)sim_clock_read(&t->clock[k], at[i]));
		}
		usk_output_format(&out, "]");
	}
	usk_output_format(&out, "\n  },\n  \"jumps\": [");
	put_jumps(&out, t);
	usk_output_format(&out, "],\n  \"broadcasts\": %s%s%s\n}\n", t->broadcasts ? "\"" : "",
			  t->broadcasts ? t->broadcasts : "null", t->broadcasts ? "\"" : "");
	free(at);
	return usk_output_commit(&out, err);
}

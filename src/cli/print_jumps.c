/* SPDX-License-Identifier: MIT */
/*
 * print_jumps.c - clocks that were stepped: when, by how much, which one
 *
 * In    the jumps of every clock's answer
 * Out   a sentence each, as many as one wants to read
 * Why   who finds a step of a second in a trace wants to know whose it was
 * Not   every bend: there may be hundreds, and clocks.json lists them
 */
#include "print.h"

enum { MOST = 8 };

/* "1700000060.993182024 s" */
static void print_time(FILE *out, int64_t ns)
{
	uint64_t size = ns < 0 ? 0 - (uint64_t)ns : (uint64_t)ns;
	fprintf(out, "%s%llu.%09llu s", ns < 0 ? "-" : "", (unsigned long long)(size / 1000000000),
		(unsigned long long)(size % 1000000000));
}

/* A clock may be set back by this much without a stamp that repeats: then nobody can tell whether
 * it was, or the other was stepped forward. */
#define UNSEEN_NS INT64_C(100000000)

static const char *moved(bool forward)
{
	return forward ? "stepped forward" : "set back";
}

/*
 * "a was stepped forward by 1.000 ms +- 90 us". The offset brings a clock to its reference: it
 * falls where that clock is stepped forward, and rises where the reference is.
 */
static void print_what(FILE *out, const struct usk_clocks *c, const struct usk_clock *clock,
		       const struct usk_jump *j)
{
	const struct usk_clock *who = &c->clock[j->of];
	const struct usk_clock *other = who == clock ? &c->clock[clock->reference] : clock;
	const bool either = j->or_of < c->n_clocks && j->or_of != j->of;
	other = either ? &c->clock[j->or_of] : other;
	const char *name = printable(who->name), *second = printable(other->name);
	int64_t lo = j->size_lo_ns, hi = j->size_hi_ns;
	bool rose = lo != USK_NONE && lo > 0, fell = hi != USK_NONE && hi < 0;
	bool open = lo == USK_NONE || hi == USK_NONE, forward = rose == (who != clock);
	int64_t least = rose ? lo : fell ? -hi : 0, most = open ? 0 : rose ? hi : -lo;
	struct text by = !rose && !fell ? (struct text){ "" }
			 : open		? unit_at_least(least)
					: unit_between(least + (most - least) / 2, least, most);
	if (either && !rose && !fell) {
		fprintf(out, "Step of %s or %s (messages cannot tell)", name, second);
	} else if (either) {
		fprintf(out,
			"Step of %s or %s (messages cannot tell): %s was %s, or %s %s, by %s%s",
			name, second, name, moved(forward), second, moved(!forward), by.s,
			open ? " or more" : "");
	} else if (who == other || (!rose && !fell)) {
		/* The reference, against itself; or without a message on both sides. */
		fprintf(out, "Step: %s was set back", name);
	} else if (open) {
		fprintf(out, "Step: %s was %s by %s or more", name, moved(forward), by.s);
	} else {
		fprintf(out, "Step: %s was %s", name, moved(forward));
		if (forward && most <= UNSEEN_NS) {
			fprintf(out, ", or %s set back,", second);
		} else if (!forward && j->before_local_ns >= j->after_local_ns) {
			fputs(", or stood still,", out);
		}
		fprintf(out, " by %s", by.s);
	}
}

static void print_jump(FILE *out, const struct usk_clocks *c, const struct usk_clock *clock,
		       const struct usk_jump *j)
{
	bool repeats = j->before_local_ns < j->after_local_ns;
	print_what(out, c, clock, j);
	fputs(repeats ? ",\n  from " : ",\n  between ", out);
	print_time(out, j->after_local_ns);
	fputs(repeats ? " to " : " and ", out);
	print_time(out, j->before_local_ns);
	if (repeats) {
		fprintf(out, ": there its epoch %u begins, as its stamps repeat.\n", j->epoch + 1);
	} else {
		fprintf(out, " by the clock of %s.\n", printable(clock->name));
	}
}

void print_jumps(FILE *out, const struct usk_clocks *c)
{
	size_t jumps = 0, bends = 0;
	const struct usk_clock *told = NULL; /* whose entry tells of the reference's jumps */
	for (size_t i = 0; i < c->n_clocks; i++) {
		const struct usk_clock *k = &c->clock[i];
		for (size_t n = 0; n < k->n_jumps; n++) {
			const struct usk_jump *j = &k->jump[n];
			bool itself = j->of == i;
			told = told || itself ? told : k;
			bends += j->kind == USK_BEND;
			/* Every clock's offset shows what the reference did. */
			if (j->kind == USK_JUMP && (itself || told == k) && jumps++ < MOST) {
				print_jump(out, c, k, j);
			}
		}
	}
	if (jumps > MOST) {
		fprintf(out, "  and %zu more steps, which clocks.json lists.\n", jumps - MOST);
	}
	if (bends) {
		fprintf(out, "Bends, where a rate changed: %zu, which clocks.json lists.\n", bends);
	}
}

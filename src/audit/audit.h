/* SPDX-License-Identifier: MIT */
/*
 * audit.h - claims of clocks, held against messages and each other
 *
 * In    claims: "when this clock showed that, UTC was within [earliest, latest]"; messages
 * Out   per claim what others leave of UTC there; the smallest sets that cannot all be true, and
 *       who is wrong where that follows
 * Why   who stamps by a clock that states its error has no other way to see whether it holds
 * Not   a correction: nothing is fitted, and nothing is assumed of clocks but how fast they may run
 */
#ifndef USK_AUDIT_H
#define USK_AUDIT_H

#include "base/io.h"

enum { USK_CLAIMANTS = 1000 };

/* When `clock` showed at_ns, or up to blur_ns more, UTC - clock was within [lo, hi]: so says `by`.
 */
struct usk_claim {
	uint32_t by, clock; /* names */
	uint32_t file;
	uint64_t line;
	int64_t at_ns, blur_ns;
	int64_t lo_ns, hi_ns;
};

struct usk_claims {
	char **name; /* of clocks, and of who else claims */
	size_t n_names, cap_names;
	struct usk_claim *row;
	size_t n, cap;
	uint64_t none; /* rows that claim nothing: a clock that is not synchronised */
};

/** The number of a name, which is added if it is new. */
uint32_t usk_claims_name(struct usk_claims *c, const char *text, size_t n);

/**
 * Add the claims of a file.
 *
 * name    the clock of logs that do not name it; NULL: none was given
 * what    Out: the format, static
 * damage  Out: a sentence on rows that were left out, the caller's; NULL: none were
 *
 * USK_EINPUT: it is no format that is known, or has no claim. O(rows), and names up to
 * USK_CLAIMANTS.
 */
enum usk_status usk_claims_read(struct usk_input *in, const char *name, uint32_t file,
				struct usk_claims *c, const char **what, char **damage,
				struct usk_err *err);
void usk_claims_free(struct usk_claims *c);

/* What others leave of UTC - clock at a claim; USK_NONE: nothing bounds it there. */
struct usk_tested {
	int64_t lo_ns, hi_ns;
};

/* A step of the way between two claims: a message, or a stretch of a clock; that is one stamp where
 * two others meet there, and takes for granted that the clock showed it once. */
struct usk_link {
	uint32_t message; /* UINT32_MAX: a stretch */
	uint32_t clock;
	int64_t from_ns, to_ns;
};

#define USK_NO_CLAIM UINT32_MAX

/* What cannot all be true: a claim that says how early UTC was at least, one that says how late at
 * most, and the way from the one to the other. Without claims: messages by themselves. */
struct usk_clash {
	uint32_t low, high;
	int64_t gap_ns; /* by at least so much, rounded down */
	struct usk_link *link;
	size_t n_links;
};

#define USK_ALL_WRONG SIZE_MAX

struct usk_audit {
	/* In; borrowed. Claims' and messages' clocks are names. */
	size_t n_names;
	const int64_t *resolution_ns; /* [n_names] of stamps of messages */
	const struct usk_claim *claim;
	size_t n_claims;
	const struct usk_msg *msg;
	size_t n_msgs;
	int64_t max_skew_e12;
	/* Out */
	struct usk_tested *tested; /* [n_claims] */
	struct usk_clash *clash;   /* the widest of any two claimants, the widest first */
	size_t n_clashes, cap_clashes;
	size_t n_tested; /* claimants of whom a claim is bounded by others */
	size_t n_wrong;	 /* so many are wrong, or were stepped, at least */
	size_t *without; /* [n_names] and so many, if this one is right; USK_ALL_WRONG: it is not */
};

/**
 * Hold all claims against all messages. Memory: some 100 bytes for each end of a message; time:
 * claimants times messages times the rounds that bounds need to settle.
 * USK_EINPUT: messages contradict each other in more than 1,000 places.
 */
enum usk_status usk_audit_run(struct usk_audit *a, struct usk_err *err);
void usk_audit_free(struct usk_audit *a);

/** Is it certain that this one is wrong or was stepped, if fewer than half of those tested are? */
bool usk_audit_named(const struct usk_audit *a, uint32_t name);

/* ---- blame.c -------------------------------------------------------------------------------- */

/** n_wrong and without, from the clashes. */
void usk_audit_blame(struct usk_audit *a);

#endif

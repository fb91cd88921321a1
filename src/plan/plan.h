/* SPDX-License-Identifier: MIT */
/*
 * plan.h - what further round trips would make of bands
 *
 * In    links: how often two clocks send each other messages, and how long these take
 * Out   bands' widths with so many more round trips on this link or that; the fewest that a wanted
 *       width needs
 * Why   whoever wants narrower bands can send more messages over many links, and most of them help
 *       little
 * Not   a promise: delays are drawn from those that were seen, each by itself, and clocks wander as
 *       much as they were seen to
 */
#ifndef USK_PLAN_H
#define USK_PLAN_H

#include "base/answer.h"
#include "base/index.h"
#include "base/io.h"

/* Some of many values, each as likely as any other. */
struct usk_reservoir {
	int64_t *value; /* sorted once all have come */
	size_t n, cap;
	uint64_t seen;
};

/* One direction of a link. */
struct usk_plan_direction {
	uint64_t n;		     /* messages */
	struct usk_reservoir gap_ns; /* from when one was sent to when the next was */
	struct usk_reservoir delay_ns;
	int64_t last_ns; /* private: when the message before was sent */
};

struct usk_plan_link {
	uint32_t a, b;
	struct usk_plan_direction way[2]; /* [0] from a to b */
};

struct usk_plan_clock {
	char *name;
	int64_t resolution_ns;
};

struct usk_network {
	struct usk_plan_clock *clock;
	size_t n_clocks, cap_clocks;
	struct usk_plan_link *link;
	size_t n_links, cap_links;
	struct usk_index clocks, links; /* by name; by both clocks, the smaller first: number + 1 */
	int64_t span_ns;		/* how long messages are exchanged */
	/* As usk_sync_options has them. */
	const char *model, *min_delay;
	const char *reference; /* name of one of the clocks */
	int64_t max_skew_e12;
	int64_t wander_e12; /* how far rates wander; 0: the model does not have it */
};

/** As recorded: links, and the clocks' names. out is empty before. *c, the caller's, is the answer
 * of usk_sync() for the traces. USK_EINPUT: no link has messages in both directions. */
enum usk_status usk_network_read(struct usk_trace *const *trace, size_t n,
				 const struct usk_sync_options *opt, struct usk_network *out,
				 struct usk_clocks **c, struct usk_err *err);
/**
 * Links of a CSV, added: a, b, min_ns, median_ns[, per_second], of a way there as back; a delay is
 * min_ns and an exponential tail, and per_second round trips are exchanged, 0 if it is not told.
 * USK_EINPUT: a row is not like that, or of a link that there is; its message names the line.
 */
enum usk_status usk_network_add(struct usk_input *in, struct usk_network *out, struct usk_err *err);
void usk_network_free(struct usk_network *n);

/** The number + 1 of a clock; 0: there is none of that name. */
uint64_t usk_network_find(const struct usk_network *n, const char *name);
/** Were, or are, there messages in both directions, so that it is known how long they take? */
bool usk_link_known(const struct usk_plan_link *l);

/**
 * Half widths of bands, mean over time, [n_clocks]: USK_NONE where a side is open, 0 of references.
 * period_ns[n_links]: from one added round trip to the next, 0: none; NULL: none anywhere.
 * Cost: solves about 100,000 messages.
 */
enum usk_status usk_forecast(const struct usk_network *n, const int64_t *period_ns,
			     int64_t *half_ns, struct usk_err *err);

/* A link, and what round trips every period_ns on it alone give. */
struct usk_plan_row {
	size_t link;
	int64_t period_ns;
	int64_t half_ns; /* of the clock that is worst now; USK_NONE: a side of it is open */
	uint32_t worst;	 /* the clock that is the worst one then */
	int64_t worst_ns;
};

struct usk_plan {
	int64_t *now_ns;   /* [n_clocks], forecast of the messages that there are */
	int64_t *floor_ns; /* [n_clocks], half of the fastest round trip along the shortest route to
			      the reference: no band is narrower without minimum delays; USK_NONE:
			      there is no route */
	uint32_t worst;	   /* the clock whose band is widest; USK_NO_CLOCK: all are references */
	struct usk_plan_row *link; /* that were tried, those first that help the worst clock most */
	size_t n_links;
	struct usk_plan_row *period; /* the first of them at each period */
	size_t n_periods;
	/* For a wanted half width. */
	int64_t *period_ns; /* [links of the network]; 0: none needed */
	int64_t *then_ns;   /* [n_clocks] */
	bool reached;
};

struct usk_plan_options {
	const int64_t *period_ns; /* to try, the largest first; the middle one ranks links */
	size_t n_periods;
	int64_t want_ns; /* 0: nothing is wanted */
	void (*progress)(void *ctx, double done, const char *what);
	void *progress_ctx;
};

/* Links that are tried, at most: of more, those nearest to the worst clock's way. */
enum { USK_PLAN_LINKS = 24 };

/** On USK_OK usk_plan_free() out. */
enum usk_status usk_plan_make(const struct usk_network *n, const struct usk_plan_options *opt,
			      struct usk_plan *out, struct usk_err *err);
void usk_plan_free(struct usk_plan *p);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * flow.h - the stages in a row: who takes part, who shares messages with whom, all clocks
 */
#ifndef USK_FLOW_H
#define USK_FLOW_H

#include "base/index.h"
#include "base/io.h"
#include "graph/graph.h"
#include "judge/judge.h"
#include "match/match.h"

#include <pthread.h>

struct usk_share;

/* ---- minimum delays: one model for all pairs, or a file with one for each ---- */

struct delay_row {
	char *sender, *receiver;
	struct usk_delay_model model;
	uint64_t line;
};

struct delays {
	bool any; /* same for all pairs */
	struct usk_delay_model model;
	struct delay_row *row; /* else these, sorted by names */
	size_t n;
};

/** usk_sync_options.min_delay. A model that is none is USK_EUSAGE; others are of the file. */
enum usk_status usk_delays_of(const char *text, struct delays *out, struct usk_err *err);
/** The rows of a CSV with the columns sender, receiver, model. */
enum usk_status usk_delays_read(struct usk_input *in, struct delays *out, struct usk_err *err);
void usk_delays_free(struct delays *d);
/** Does any of them depend on sizes? */
bool usk_delays_sized(const struct delays *d);
/** NULL is 0. */
const struct usk_delay_model *usk_delays_find(const struct delays *d, const char *sender,
					      const char *receiver);

/* A clock that takes part: the one of a capture, or one that tables name. */
struct party {
	char *name;
	size_t trace;		   /* the first of its captures, SIZE_MAX if only tables name it */
	struct usk_trace *capture; /* all of them as one; NULL if there is none */
	bool joined;		   /* it is made for that */
	bool arranged;	/* its captures are read in the order in which packets put them */
	bool unordered; /* nothing tells in which order its traces were recorded: it is left out */
	bool in_no_order; /* spans or collectives have stamps of it, in no order that tells anything */
	bool far;	  /* where work is shared: its records and samples are at another rank */
	bool empty; /* all interfaces of its capture have clocks of their own: it has none itself */
	uint32_t number; /* in the order in which they were found */
	size_t *part;	 /* their numbers */
	size_t n_parts;
	struct view *view; /* what is this clock's of them */
	bool stamped;	   /* first and last are known */
	int64_t first_ns, last_ns;
	struct usk_grid grid; /* of its stamps */
	int64_t resolution_ns;
	struct usk_survey survey;
	/* Where packets tell that it was set back: in all, and in each of the survey's parts; NULL: nowhere. */
	struct usk_told *told;
	size_t n_told;
	/* Stamps whose order is not known; NULL: it has but one epoch. */
	struct usk_alone *alone;
	/* Such stamps as may be of several epochs: they are left out. Of tables, as these were sampled last;
	 * and of others. */
	uint64_t rows_shown_twice, shown_twice;
	uint64_t vague; /* stamps of rows whose order leaves open which epoch they are of */
	struct event_order
		*order; /* of its rows in tables of events, once that was asked; or NULL */
	bool *in_epoch; /* is there a message in each of its epochs? NULL: it has but one */
	/* Where it was set back, on its unwrapped time. */
	struct usk_gap *back;
	size_t n_back;
	uint64_t readings;	 /* what packets say of it, as nobody recorded it */
	int64_t quantum_ns;	 /* the coarsest of them */
	struct usk_carry *carry; /* --clock-log: its stamps on its raw clock; NULL: none */
	struct usk_addr *stated; /* --local */
	size_t n_stated;
};

/* What tables tell of a pair while its origin and rate are looked for: a sample that does not
 * depend on the order of the rows. */
struct table_sample {
	struct usk_sighting *s; /* way: the message's hash; ttl_p: it went from a to b */
	size_t n, cap;
	uint32_t mask; /* s holds those whose hash is 0 under it */
	bool any;
	struct usk_msg first;	   /* the smallest, */
	struct usk_sighting least; /* should the sample be empty */
};

/* Two clocks that share messages, which can be read as often as needed. */
struct pair_source {
	struct parties *parties;
	uint32_t a, b; /* parties; a is the reference's side, if one of them is that */
	/* Where two captures lie to each other; joins is 0 if they share nothing. May be empty
	 * beyond that. */
	struct usk_coarse coarse;
	struct usk_frame frame;	    /* origin and rate of its corridor; kappa is 0 */
	struct table_sample sample; /* until these are known */
	bool in_captures;	    /* both have a sample of one packet */
	uint64_t in_tables;	    /* messages */
	int64_t from_ns, to_ns;	    /* stamps of a that count; USK_NONE: all */
	struct usk_msg *exclude;    /* left out in readings, sorted by usk_msg_order() */
	size_t n_exclude;
	struct usk_suspect *left_out; /* the same as points */
	size_t n_left_out;
	unsigned matcher; /* the rank that matches it, where work is shared */
};

struct parties {
	struct usk_trace *const *trace;
	size_t n_traces;
	uint64_t *events; /* per trace */
	size_t *table;	  /* their numbers, tables in the order in which they were written */
	uint32_t **clock; /* per table, and for what was joined: its numbers -> parties */
	size_t *n_clocks; /* per table */
	/* Per trace: where clocks that were set back begin in it, as far as order tells. */
	struct begins {
		struct usk_trace_begin *of;
		size_t n, cap;
	} * begins;
	struct party *party;
	size_t n, cap;
	struct usk_index names; /* while they come in: number + 1 */
	/* All that share messages, sorted by the smaller, then the larger of their numbers. */
	struct pair_source *pair;
	size_t n_pairs, cap_pairs;
	uint32_t *all_pairs; /* their numbers */
	uint32_t *own_pairs; /* those of them that are matched here: all, unless work is shared */
	size_t n_own_pairs;
	const struct usk_share *share; /* NULL: nobody else works on them (share.h) */
	struct usk_index pairs;	       /* by their clocks: number + 1 */
	bool events_surveyed;	       /* their rows were asked where clocks were set back */
	bool rows_vague;	       /* stamps may be of several epochs */
	bool rows_repeat;	       /* a clock that tables name was set back */
	bool rows_contradict;	       /* messages of several tables say so */
	/* Where that was, by number of party: of each sequence of tables that were written one after
	 * the other; and which of these a trace's rows are of. */
	struct usk_rows *rows;
	size_t n_rows, *rows_of;
	struct usk_depth depth;
	uint32_t reference; /* as named, else the first */
	bool reference_named;
	struct usk_model model;
	int64_t max_skew_e12; /* |rate - 1| that no clock exceeds, parts per 10^12 */
	const struct usk_estimator *method;
	struct usk_group *group; /* what broadcasts say of all clocks, once usk_flow_group() is
				    asked; NULL: of pairs alone */
	char *group_failed;	 /* or why they say nothing, a sentence */
	struct usk_join *join;	 /* of traces of events; NULL if there are none */
	struct spans *spans;	 /* while traces of spans are read; NULL if there are none */
	struct collecting *collecting; /* likewise of collectives */
	struct usk_kept *kept;	       /* messages for who wants them beside the answer, or NULL */
	bool gathered;		       /* what is joined has messages of these */
	struct usk_counts left_out;
	struct delays delays;
	struct usk_stated *stated; /* by numbers of parties, on unwrapped time */
	size_t n_stated;
	char **log_note; /* what is to be said of --clock-log */
	size_t n_log_notes;
	struct clock_rule *rule; /* --clock-of */
	size_t n_rules;
	pthread_mutex_t reading; /* of traces, while several pairs are fitted */
	/* Work in bytes, for progress. */
	const struct usk_sync_options *opt;
	uint64_t work_done, work_all;
	double shown;
	const char *doing;
};

/** Check the arguments and open the parties, two at least, and their pairs, to be read next. */
enum usk_status usk_flow_open(struct usk_trace *const *trace, size_t n,
			      const struct usk_sync_options *opt, const struct usk_share *share,
			      struct parties *out, struct usk_err *err);
extern const struct usk_sync_options usk_sync_defaults;
/** There are less than two clocks. */
enum usk_status usk_flow_too_few(const struct parties *p, struct usk_err *err);

/** Pass 1 over every trace: names, spans, resolutions, samples, pairs. */
enum usk_status usk_parties_open(struct usk_trace *const *trace, size_t n,
				 const struct usk_sync_options *opt, const struct usk_share *share,
				 struct parties *out, struct usk_err *err);
void usk_parties_free(struct parties *p);
/** So many bytes more of work; ctx is the parties. */
void usk_parties_progress(void *ctx, uint64_t bytes);
/** What messages from one to the other need at least; NULL is 0. */
const struct usk_delay_model *usk_parties_delay(const struct parties *p, uint32_t from,
						uint32_t to);
/** A sentence on names that --min-delay's file has and no trace has; malloc'ed, NULL if none. */
char *usk_parties_delay_note(const struct parties *p);
/** What was assumed of pairs, which the answer is no more certain than: c's stated delays. */
void usk_delays_state(const struct parties *p, struct usk_clocks *c);

/** One sentence more, which is handed over; NULL: none. */
void usk_flow_note(char ***note, size_t *n, char *text);
/** The same of what was noted while traces were read. */
void usk_flow_note_log(struct parties *p, char *text);
/** What is damaged of the traces. */
void usk_flow_damage(const struct parties *p, char ***note, size_t *n);
/** The names of all parties, the caller's; what --min-delay names in vain, and damage, are noted.
 */
char **usk_flow_names(const struct parties *p, char ***note, size_t *n);
void usk_flow_texts_free(char **text, size_t n);

/** The party of that name, which is new if there is none. */
uint32_t usk_party_of(struct parties *p, const char *name);
/** USK_NO_CLOCK: there is none. */
uint32_t usk_party_find(const struct parties *p, const char *name);
/** Its stamps lie between these, and others. */
void usk_party_span(struct party *y, int64_t first_ns, int64_t last_ns);
/** A stamp of its clock, as recorded, while its epochs are not known. */
void usk_party_stamp(struct party *y, int64_t t);
/** A stamp, as recorded in no order that is known, to unwrapped time. False: it may be of several
 * epochs. */
bool usk_party_unwrap(const struct party *y, int64_t *t);
/** One side of a message, likewise: it is counted if it is left out. */
bool usk_party_side(struct party *y, int64_t *t);
/** The first and last stamp of what it captured. */
void usk_party_captured(struct parties *p, struct party *y);

/* ---- clocks that were set back (epochs.c) -------------------------------------------- */

/** The epochs of a clock are known: sets what follows from them. */
void usk_party_breaks(struct party *y);
/** What comes off unwrapped time, in that epoch. */
static inline int64_t usk_epoch_offset(const struct usk_epochs *e, size_t epoch)
{
	return epoch ? e->epoch[epoch - 1].shift_ns : 0;
}
/** Where an epoch ends and the next begins, on unwrapped time. */
static inline struct usk_gap usk_epoch_gap(const struct usk_epochs *e, size_t i)
{
	const int64_t fell_ns = e->epoch[i].before_ns - e->epoch[i].after_ns;
	return (struct usk_gap){ e->epoch[i].before_ns + usk_epoch_offset(e, i),
				 e->epoch[i].after_ns + e->epoch[i].shift_ns,
				 fell_ns > USK_LATEST_NS ? 0 : fell_ns };
}
/** Does the order of one capture alone tell its epochs, so that whoever verifies a proof sees them,
 * too? */
bool usk_party_told(const struct parties *p, const struct party *y);
/** A stamp on unwrapped time, as it was recorded. */
int64_t usk_party_recorded(const struct party *y, int64_t t);
/** All of the answer by recorded stamps. */
void usk_flow_recorded(struct usk_clocks *c, const struct parties *p);

/* ---- clocks that were logged (carried.c) --------------------------------------------- */

/** --clock-log, once stamps and epochs are known. */
enum usk_status usk_carried_open(struct parties *p, struct usk_err *err);
/** Was one of the two logged? */
bool usk_carried_pair(const struct parties *p, uint32_t a, uint32_t b);
/** A message on unwrapped time as the raw clocks bound it: sent then or later, received then or
 * before. */
struct usk_msg usk_carried_msg(const struct parties *p, const struct usk_msg *m);
/** An unwrapped stamp on the raw clock, and back, as near as the log tells; as it is without. */
int64_t usk_carried_to(const struct party *y, int64_t ns);
int64_t usk_carried_from(const struct party *y, int64_t raw_ns);
/** The origin and rate of a pair on its raw clocks. */
void usk_carried_frame(const struct parties *p, uint32_t a, uint32_t b, const struct usk_coarse *c,
		       struct usk_frame *f);
/** Those of n knots whose chords stay near the others (thin_knots.c); all is known of them, and bounds get
 * wider by at most a two-hundredth. Returns how many are left. */
size_t usk_knots_thin_out(struct usk_knot *k, size_t n);
/** All of the answer by unwrapped stamps. */
void usk_carried_answer(struct usk_clocks *c, struct parties *p);

/* ---- carried_steps.c ---- */

/** Jumps and stretches of a clock that messages showed, on its stamps. */
void usk_carried_events(struct usk_clock *k, const struct party *y);
/** Steps that its log knows, and those that the reference's knows, by its stamps: by its knots, which
 * are of stamps already. */
void usk_carried_steps(struct usk_clock *k, uint32_t clock, const struct party *y);
void usk_carried_reference_steps(struct usk_clock *k, const struct party *r);

/** "NAME=VALUE" -> party and value; the sentence names a clock that exists. */
enum usk_status usk_party_named(const struct parties *p, const char *row, const char *option,
				uint32_t *which, const char **value, struct usk_err *err);

/* ---- captures (captures.c) ----------------------------------------------------------- */

/** A party for each clock that captures name. */
enum usk_status usk_captures_find(struct parties *p, struct usk_err *err);
/** What one of them stamped, as one capture. */
enum usk_status usk_capture_open(struct parties *p, struct party *y, struct usk_err *err);
/** Read each of them once, on all processors (surveys.c); those of clocks that were set back more often. */
enum usk_status usk_captures_survey(struct parties *p, struct usk_err *err);
/** Then: where else clocks were set back, as packets tell. */
enum usk_status usk_captures_falls(struct parties *p, struct usk_err *err);
/** Do stamps of a clock fall, and the order of records does not tell why (falls.c)? those[p->n]; parts: in each
 * file by itself. */
bool usk_falls_open(const struct parties *p, bool parts, bool *those);
/** Of these, then, the clocks that were set back there: into told. Their records are to be read again. */
bool usk_falls_tell(struct parties *p, bool parts, bool *those);
void usk_falls_free(struct party *y);
/** Put the files of those clocks in the order in which they were recorded (arrange.c). those[p->n]: then of
 * these the ones that are to be read again, in that order. What nothing tells it of is left out. */
void usk_files_arrange(struct parties *p, bool *those);
/** After that: captures that packets contradict all the same are left out. */
void usk_files_check(struct parties *p);
/** The interfaces of a trace that have clocks of their own; *out is handed over. */
void usk_captures_describe(const struct parties *p, size_t trace, struct usk_trace_info *out);
/** Once all were read: are there the interfaces that --clock-of names? */
enum usk_status usk_captures_check(const struct parties *p, struct usk_err *err);

/* ---- clocks inside packets (inside.c) ------------------------------------------------- */

/** What packets of captures say of other clocks, if that is asked for, to what is joined. */
enum usk_status usk_inside_scan(struct parties *p, struct usk_err *err);
/** Sentences on these clocks. */
void usk_inside_notes(const struct parties *p, char ***note, size_t *n);

/* ---- tables of events (event_epochs.c) ------------------------------------------------- */

/** Read traces of events: sides of messages, to what is joined. */
enum usk_status usk_events_scan(struct parties *p, struct usk_err *err);
/** Once all sides are joined: clocks that messages show to have been set back where the order of their rows
 * says so. *again: all sides are to be read and joined anew. */
enum usk_status usk_event_epochs(struct parties *p, bool *again, struct usk_err *err);

/* ---- what the order of their rows tells (event_order.c) -------------------------------- */

/** The next row of a clock, in a trace, of all of them. */
void usk_event_order_note(struct party *y, size_t trace, const struct usk_event *e);
/** There are no more. */
void usk_event_order_finish(struct party *y);
/** All of them come once more. */
void usk_event_order_again(struct party *y);
struct usk_trace_turn;
/** In the order of turn[y->survey.n_parts] its rows count from now on. */
void usk_event_order_take(struct party *y, const struct usk_trace_turn *turn);
/** Do they? */
bool usk_event_order_counts(const struct party *y);
/** The first row is next. */
void usk_event_order_rewind(struct party *y);
/** A stamp of the next row, to unwrapped time. False: the trace has more than it had. */
bool usk_event_order_place(struct party *y, size_t trace, int64_t *t);
/** In which epochs traces begin. */
void usk_event_order_begins(struct parties *p, uint32_t clock);
/** They are not asked for more than places. */
void usk_event_order_forget(struct party *y);
void usk_event_order_free(struct event_order *o);
/** What a trace tells of its clock beside what it handed out. */
void usk_party_trace(struct party *y, const struct usk_trace *t);

/* ---- spans (spans.c) ------------------------------------------------------------------- */

/** Read a trace of spans. */
enum usk_status usk_spans_scan(struct parties *p, size_t which, struct usk_err *err);
/** All are read: their clocks are parties, what they say of them goes to what is joined, and what a
 * user should know is noted. */
enum usk_status usk_spans_join(struct parties *p, struct usk_err *err);
void usk_spans_free(struct parties *p);

/* ---- collectives (collectives.c) ------------------------------------------------------- */

/** Read a trace of collectives. */
enum usk_status usk_collectives_scan(struct parties *p, size_t which, struct usk_err *err);
/** All are read: what they say of clocks goes to what is joined. */
enum usk_status usk_collectives_join(struct parties *p, struct usk_err *err);
void usk_collecting_free(struct parties *p);

/* ---- likewise in tables (table_epochs.c) --------------------------------------------- */

/** A row's stamps, in the order of rows, while tables are scanned. which: the table. */
void usk_row_note(struct parties *p, size_t which, const struct usk_msg *m);
/**
 * What that told, and captures before: p->rows_repeat if a clock of rows has epochs, whose time is
 * unwrapped from now on. May read all rows once more. Where captures and the order of rows show the
 * same falls rows are of these epochs; where the order of rows does not tell, of those that alone
 * can have shown their stamps.
 */
enum usk_status usk_row_epochs(struct parties *p, struct usk_err *err);
/** All messages are sampled on unwrapped time: of several tables, clocks of those that contradict each other
 * all the same are left out. */
enum usk_status usk_row_epochs_check(struct parties *p, struct usk_err *err);
/** Puts the tables in the order in which they were written, as far as clocks tell (table_order.c): of each
 * sequence p->rows is begun. set_back[p->n]: these or their partners were, as messages say. */
enum usk_status usk_tables_order(struct parties *p, const size_t *set_back, struct usk_err *err);
/** The sequence that the rows of a trace are of. */
static inline struct usk_rows *usk_rows_of(const struct parties *p, size_t which)
{
	return &p->rows[p->rows_of[which]];
}
/** The same rows with stamps that run on: first and last of clocks with epochs; ctx is the parties.
 */
void usk_row_span(void *ctx, const struct usk_msg *m);

enum row_is { ROW_CERTAIN, ROW_VAGUE, ROW_SHOWN_TWICE };
/** The next row's stamps; place[p->n_rows * p->n] is zeroed at the first. ROW_VAGUE: likely has others, of
 * epochs that are less certain. ROW_SHOWN_TWICE: nothing tells its epochs, and m is as it was. */
enum row_is usk_row_run_on(const struct parties *p, size_t which, struct usk_row_place *place,
			   struct usk_msg *m, struct usk_likely *likely);
/** Such rows, while they are read: counted by clock; ctx is the parties. */
void usk_row_shown_twice(void *ctx, size_t which, const struct usk_msg *m);
/** All such rows as they are likely; reads the tables if there are any. */
enum usk_status usk_rows_likely(struct parties *p, void *ctx,
				void (*row)(void *ctx, const struct usk_likely *l),
				struct usk_err *err);

/* ---- tables (tables.c) --------------------------------------------------------------- */

/** Read a table for the first time: parties, what is known of them, pairs, a sample for each.
 * which: n_traces is what was joined. */
enum usk_status usk_table_scan(struct parties *p, size_t which, struct usk_err *err);
/** All samples again, as stamps are others now than when they were drawn. */
enum usk_status usk_tables_sample_again(struct parties *p, struct usk_err *err);
/** Where a pair's clocks lie to each other. swapped: since the scan its a has become its b. */
void usk_table_sample_fit(struct pair_source *s, bool swapped);

/* Who takes what all tables hold, in one reading. */
struct table_sink {
	void *ctx;
	const bool *wanted; /* by number of the pair; NULL: none */
	/* Messages of a wanted pair, in the order of the tables, less what it excludes. False: no
	 * more. */
	bool (*put)(void *ctx, uint32_t pair, const struct usk_msg *msg, size_t n);
	/* Of a pair under this number and of another one at the same time; 0: of one only. */
	uint32_t half;
	/* Every row, of any clocks; may be NULL. */
	void (*row)(void *ctx, const struct usk_msg *msg);
	/* A row again as it is likely, if its stamps may be of other epochs; may be NULL. */
	void (*likely)(void *ctx, const struct usk_likely *likely);
	/* A row that is left out, as a clock may have shown one of its stamps twice; may be NULL. */
	void (*shown_twice)(void *ctx, size_t which, const struct usk_msg *msg);
	/* A table begins, which of all; may be NULL. */
	void (*begin)(void *ctx, size_t which);
};
enum usk_status usk_tables_read(struct parties *p, const struct table_sink *sink,
				struct usk_err *err);
/** Names that a table has told since the last call: parties. */
void usk_table_names(struct parties *p, size_t which);
/** Bytes of all tables. */
uint64_t usk_tables_size(const struct parties *p);

/* ---- samples of all captures (sighted.c) ------------------------------------------------ */

/* A sample: the number of its party before its own. */
struct usk_sighted {
	uint64_t key, sample;
};
/** All samples sorted, which tells who shares what, by key and party, the caller's; of contents whose hash
 * is 0 under the mask. */
struct usk_sighted *usk_sighted_all(const struct parties *p, uint64_t mask, size_t *n);
static inline bool usk_sighted_is(const struct usk_sample *x, uint64_t mask)
{
	return !mask || !(usk_mix(x->key) & mask);
}
static inline uint32_t usk_sighted_party(const struct usk_sighted *s)
{
	return (uint32_t)(s->sample >> 32);
}
/** The end of the run of the same key, and party if that counts, which begins at i. */
size_t usk_sighted_run(const struct usk_sighted *s, size_t n, size_t i, bool party);

/* ---- pairs (pairs.c) ----------------------------------------------------------------- */

/** Messages, of tables alone or of all that have samples, contradict the order of stamps (contradict.c):
 * those[p->n] counts by clock the pairs that do; if only all together do, the stamps that may. O(n log n). */
bool usk_clocks_contradict(const struct parties *p, bool tables, size_t *those);
/** Nothing tells where these were set back: of those that may be, the ones that the most contradict. That one
 * was explains the others. */
bool usk_leave_out_most(struct parties *p, const size_t *those, bool (*may)(const struct party *y));
/** The number of the pair, which is added if there is none. */
uint32_t usk_pair_number(struct parties *p, uint32_t x, uint32_t y);
/** UINT32_MAX if there is none. */
uint32_t usk_pair_find(const struct parties *p, uint32_t x, uint32_t y);
/**
 * Once all traces were scanned: pairs of captures that share packets, the order of all, origins,
 * rates and, with --from and --to, ranges.
 */
enum usk_status usk_pairs_settle(struct parties *p, struct usk_err *err);
void usk_pairs_free(struct parties *p);

/** Does any of its messages have a minimum delay, or a clock a log? Then their points are not where
 * they are. */
bool usk_pair_has_min_delay(const struct pair_source *s);
/** --from and --to, by a stamp of a. */
static inline bool usk_pair_counts(const struct pair_source *s, int64_t a_ns)
{
	return (s->from_ns == USK_NONE || a_ns >= s->from_ns) &&
	       (s->to_ns == USK_NONE || a_ns <= s->to_ns);
}
/** Do captures of both share packets? */
bool usk_pair_walks(const struct pair_source *s);
/** Bytes to read for the messages that they share. */
uint64_t usk_pair_walk_size(const struct pair_source *s);
/** These messages; numbers in them are parties. The sink's start() and keep() are not called. */
enum usk_status usk_pair_walk(struct pair_source *s, const struct usk_sink *sink,
			      struct usk_counts *counts, struct usk_evidence *evidence,
			      struct usk_err *err);

/** What matching one pair found, added up over all. */
void usk_counts_add(struct usk_counts *to, const struct usk_counts *found);
/** Why a pair is not bounded and what would help, or what it took; a sentence, malloc'ed. NULL: it
 * is bounded as the model has it. */
char *usk_pair_explain(const struct usk_pair *p, const struct parties *parties,
		       const struct usk_counts *counts);

#endif

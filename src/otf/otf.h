/* SPDX-License-Identifier: MIT */
/*
 * otf.h - inside of the reader of OTF2 traces
 *
 *     decode.c   definitions and events -> items (libotf2, in a process that may die)
 *     world.c    items of definitions -> processes, groups, communicators
 *     queue.c    what was begun on a thread and is not settled yet, in order
 *     operation.c  what each collective of MPI says of who takes part in it
 *     number.c   items of events -> sides of messages, parts of collectives, numbered
 *     verdict.c  whose numbers cannot be right; what was left out, as a sentence
 *     reader.c   the reader: rows spooled, so that they are decoded once
 *     offsets.c  local definitions anew, with offsets of clocks (libotf2, likewise; offsets.h)
 *
 * Behind these two nobody knows of libotf2, and nobody trusts what the items say.
 */
#ifndef USK_OTF_H
#define USK_OTF_H

#include "base/child.h"
#include "base/index.h"
#include "read/read.h"

#include <stddef.h>
#include <stdio.h>

#define OTF2_NOWHERE UINT32_MAX

enum otf2_kind {
	/* definitions */
	ITEM_CLOCK,	 /* value: ticks a second */
	ITEM_INCOMPLETE, /* it says of itself that records of MPI are missing */
	ITEM_PROCESS,	 /* value: a location group; text: its name */
	ITEM_LOCATION,	 /* value: a thread; request: its location group */
	ITEM_GROUP,	 /* value: its number; op: which kind; flag: ranks are those of the world;
			  * members go on */
	ITEM_COMM,	 /* value: its number; who, tag: its groups, the second or OTF2_NOWHERE */
	ITEM_READY,	 /* that was all of them */
	/* events of one thread after the other */
	ITEM_READ,     /* value: its location; from now on value is a stamp in ticks */
	ITEM_SEND,     /* comm, who, tag */
	ITEM_RECEIVE,  /* the same; it began when it was done, for all that anybody knows */
	ITEM_POST,     /* request: a receive that is to come */
	ITEM_COMPLETE, /* request: that one; comm, who, tag */
	ITEM_CANCEL,   /* request: it will not come */
	ITEM_BEGIN,    /* of a collective */
	ITEM_FINISH,   /* op, comm, who: the root, flag: what was moved */
	ITEM_REQUEST,  /* request: a collective that nobody waits for yet */
	ITEM_FULFIL,   /* request; else as ITEM_FINISH */
	ITEM_OFF,      /* from here on not all is recorded */
	ITEM_OVER,     /* value: its location; text: why it ended early, if it did */
	ITEM_END,      /* of all; text: why nothing could be read, if so */
	ITEM_KINDS,
};

enum { OTF2_GLOBAL = 1, OTF2_MORE = 2 };	       /* flag of ITEM_GROUP */
enum { OTF2_WORLD, OTF2_PART, OTF2_SELF };	       /* op of ITEM_GROUP */
enum { OTF2_SENT_BYTES = 1, OTF2_RECEIVED_BYTES = 2 }; /* flag of a collective: more than none */

struct otf2_item {
	uint64_t value, request;
	uint32_t comm, who, tag;
	uint8_t kind, op, flag;
	uint8_t n; /* bytes used of what follows */
	union {
		char text[240];
		uint64_t member[30]; /* of a group: those that follow its earlier ones */
	};
};

/** Of an item, the bytes that mean something. */
static inline size_t usk_otf2_item_size(const struct otf2_item *item)
{
	return offsetof(struct otf2_item, text) + item->n;
}

/* ---- decode.c ---- */

/** Everything in the trace of this anchor file, threads of one process next to each other. */
void usk_otf2_decode(const char *path, FILE *out);

/* ---- world.c ---- */

struct otf2_process {
	char *name;
	uint32_t threads, over; /* how many there are, and ended as they should */
	bool stopped;		/* not all of what one of them did was recorded */
	bool falls;		/* stamps of one of them do */
	bool open;		/* a collective was begun, and never ended */
};

struct otf2_group {
	uint8_t kind;
	bool global;
	uint64_t *member; /* as defined; once all is settled, processes or OTF2_NOWHERE */
	size_t n, cap;
};

struct otf2_world {
	uint64_t hz; /* 0: not defined */
	bool incomplete, settled;
	struct otf2_process *process;
	size_t n_processes, cap_processes;
	struct otf2_group *group;
	size_t n_groups, cap_groups;
	struct otf2_comm {
		uint64_t a, b; /* groups, by their numbers in the file, then by ours */
	} * comm;
	size_t n_comms, cap_comms;
	struct usk_index processes, locations, groups, comms; /* numbers + 1 */
	size_t world;					      /* a group; n_groups: none */
};

/** Of items up to ITEM_READY, which settles all. */
void usk_otf2_define(struct otf2_world *w, const struct otf2_item *item);
void usk_otf2_world_free(struct otf2_world *w);
/** Of a location, a communicator; OTF2_NOWHERE: not defined. */
uint32_t usk_otf2_process_of(const struct otf2_world *w, uint64_t location);
uint32_t usk_otf2_comm_of(const struct otf2_world *w, uint32_t comm);
bool usk_otf2_is_between(const struct otf2_world *w, uint32_t comm); /* two groups */
/** Who is meant by a rank, by a process that is no rank of both groups; OTF2_NOWHERE: nobody. */
uint32_t usk_otf2_peer(const struct otf2_world *w, uint32_t comm, uint32_t process, uint32_t rank,
		       bool second);
/** The rank of a process in the first or second group; OTF2_NOWHERE: it is not in it. */
uint32_t usk_otf2_rank(const struct otf2_world *w, uint32_t comm, uint32_t process, bool second);
/** How many are in the first group; 1 of MPI_COMM_SELF. */
uint32_t usk_otf2_size(const struct otf2_world *w, uint32_t comm);
/** Ticks as ns, rounded down; false over USK_TIME_MAX. */
bool usk_otf2_time(const struct otf2_world *w, uint64_t ticks, int64_t *ns);

/* ---- operation.c ---- */

enum otf2_use {
	OTF2_PASSED,	/* who waits for whom is not known */
	OTF2_SILENT,	/* the same, and nobody would think it is */
	OTF2_ALWAYS,	/* nothing has to be moved */
	OTF2_ANY,	/* all move as much: something is moved, or nobody waits */
	OTF2_OWN,	/* each moves its own share: a member without one waits for nobody, or
			 * nobody for it */
	OTF2_FROM_LOWER /* each waits for lower ranks */
};

struct otf2_operation {
	const char *name;
	enum usk_collective_kind kind;
	enum otf2_use use;
};

enum { OTF2_OPERATIONS = 24 };

/** By OTF2's number; all that are not known have the last row. */
extern const struct otf2_operation usk_otf2_operation[OTF2_OPERATIONS];
/** Does this member's part say anything? */
bool usk_otf2_takes_part(const struct otf2_operation *op, bool root, uint8_t moved);

/* ---- queue.c ---- */

/* A receive or a collective, from when it was begun. */
struct otf2_post {
	uint64_t request;
	int64_t enter_ns, exit_ns;
	uint32_t comm, who, tag;
	uint8_t op, flag;
	enum { OTF2_OPEN, OTF2_DONE, OTF2_GONE } state;
};

/* In the order in which they began; what is settled at the front is taken from there. */
struct otf2_queue {
	struct otf2_post *post;
	size_t first, n, cap;
	uint64_t passed; /* what was taken so far */
	struct usk_index open;
};

struct otf2_post *usk_otf2_push(struct otf2_queue *q, struct otf2_post post);
/** What is open of that request; NULL: nothing. */
struct otf2_post *usk_otf2_open(struct otf2_queue *q, uint64_t request);
/** The first one if it is settled, or if more than can be held wait behind it; NULL: neither. */
struct otf2_post *usk_otf2_front(struct otf2_queue *q);
void usk_otf2_pop(struct otf2_queue *q);
void usk_otf2_empty(struct otf2_queue *q);

/* ---- number.c ---- */

/* Why sides and parts were left out. */
enum otf2_left {
	OTF2_UNPLACED,
	OTF2_UNBEGUN,
	OTF2_NO_BYTES,
	OTF2_BETWEEN,
	OTF2_AFTER_OFF,
	OTF2_LACKING,
	OTF2_BY_THREADS,
	OTF2_LEFTS,
};

/* Messages of one sender, receiver, communicator and tag; or collectives of one kind and
 * communicator; or one process's of these. */
struct otf2_key {
	uint32_t n[2];	    /* sent and received; all collectives alike: the fewest, the most */
	uint32_t thread[2]; /* whose they are; 0: none yet */
	uint32_t process;   /* the sender; the one whose collectives; OTF2_NOWHERE: all's */
	uint32_t base;	    /* of one process's collectives: the key of all's */
	enum { OTF2_SOUND, OTF2_FEW, OTF2_THREADS } verdict;
};

/* A side or a part, with processes for clock and rank. */
struct otf2_row {
	struct usk_collective x;
	uint32_t key;
};

struct otf2_numbers {
	struct otf2_world *world;
	uint64_t seed; /* makes ids of this trace differ from others' */
	enum usk_status (*put)(void *ctx, const struct otf2_row *row, struct usk_err *err);
	void *ctx;
	struct otf2_key *key;
	size_t n_keys, cap_keys;
	struct usk_index keys;
	struct otf2_queue receives, collectives;
	/* the thread that is read */
	uint32_t process, thread; /* OTF2_NOWHERE: none */
	int64_t last_ns;
	bool failed;	  /* nothing behind is to be trusted */
	bool stopped;	  /* not all that is behind was recorded */
	bool out_of_step; /* which collective is which is not known from here on */
	int64_t begun_ns; /* USK_NONE: no collective was */
	uint32_t comm;	  /* the last one that joins two groups, */
	bool second;	  /* and whether others are in its second one */
	/* in all */
	uint64_t left[OTF2_LEFTS], passed[OTF2_OPERATIONS], events;
	char *damage; /* of the first thread that ended early; NULL: none did */
	uint64_t n_damaged;
};

/** Events; ITEM_OVER too. */
enum usk_status usk_otf2_take(struct otf2_numbers *x, const struct otf2_item *item,
			      struct usk_err *err);
void usk_otf2_numbers_free(struct otf2_numbers *x);

/* ---- verdict.c ---- */

/** Once all was taken. */
void usk_otf2_judge(struct otf2_numbers *x);
/** Can this row's number be right? */
bool usk_otf2_holds(const struct otf2_numbers *x, const struct otf2_row *row);
/** What was damaged; what was left out, and why. NULL: nothing was. For the caller to free. */
char *usk_otf2_damage(const struct otf2_numbers *x);
char *usk_otf2_remark(const struct otf2_numbers *x);

#endif

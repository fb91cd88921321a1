/* SPDX-License-Identifier: MIT */
/*
 * table.h - rows of a table, as CSV or as JSON lines: the cells of the columns that are known
 *
 * In    the window of an input; which columns a table of this kind has
 * Out   per row, the text of each known column, and where it stands in the line
 * Why   messages, events and exchanges differ in their columns only, and each may come as CSV with
 *       a header or as one JSON object a line
 * Not   what the cells mean; nested JSON, which is passed over
 */
#ifndef USK_TABLE_H
#define USK_TABLE_H

#include "base/csv.h"

enum { USK_TABLE_COLUMNS = 9, USK_TABLE_KINDS = 5, USK_TABLE_MEMBERS = 16 };

struct usk_table_column {
	const char *name;
	bool required;
	bool time; /* as NAME_ns, NAME_s, NAME_ticks (integers) or NAME (RFC 3339) */
	int clock; /* time: the column that names its clock */
	bool any;  /* JSON: may be an object or an array, too, which is its text then */
};

struct usk_table_kind {
	const char *what; /* "the event table" */
	size_t n;
	struct usk_table_column column[USK_TABLE_COLUMNS];
};

enum { USK_SENDER, USK_RECEIVER, USK_SENT, USK_RECEIVED, USK_MESSAGE_BYTES };
enum { USK_CLOCK, USK_TIME, USK_KIND, USK_ID, USK_EVENT_BYTES };
enum { USK_A, USK_B, USK_T1, USK_T2, USK_T3, USK_T4, USK_EXCHANGE_BYTES };
enum { USK_TRACE, USK_SPAN, USK_PARENT, USK_SPAN_CLOCK, USK_START, USK_END, USK_SPAN_OF, USK_NAME };
enum {
	USK_COLLECTIVE,
	USK_COLLECTIVE_KIND,
	USK_MEMBER_CLOCK,
	USK_ENTER,
	USK_EXIT,
	USK_RANK,
	USK_ROOT
};
extern const struct usk_table_kind usk_table_messages, usk_table_events, usk_table_exchanges,
	usk_table_spans, usk_table_collectives;
/* The same, as sniffing tries them. */
extern const struct usk_table_kind *const usk_table_kinds[USK_TABLE_KINDS];

/** The column of this name, -1 if it is none. */
int usk_table_column_of(const struct usk_table_kind *k, struct usk_csv_field name,
			enum usk_csv_unit *unit);

struct usk_cell {
	struct usk_csv_field f; /* text NULL: the row has no such column */
	const char *raw;	/* the same as it stands in the line, quotes included */
	size_t n_raw;
	enum usk_csv_unit unit; /* of a time */
};

struct usk_table {
	const struct usk_table_kind *kind;
	bool json;
	struct usk_csv_line line; /* the one read last */
	uint64_t number;	  /* its, from 1 */
	bool bom;		  /* a byte order mark stood before the header */
	bool blank;		  /* that line is empty: no row, and no damage */
	struct usk_cell cell[USK_TABLE_COLUMNS];
	struct usk_csv_bad bad;
	int8_t *column; /* of each field of a CSV: what it is, -1 for what is not known */
	size_t width;	/* fields up to the last one known */
	/* private */
	/* JSON: what the members of the last rows were, by their place: nearly always they are
	 * that again. */
	struct usk_table_member {
		char key[23];
		uint8_t n;
		int8_t column;
		enum usk_csv_unit unit;
	} member[USK_TABLE_MEMBERS];
	size_t n_members;
	size_t cap_column;
	char *scratch;
	size_t cap_scratch;
};

/** The kind of which the first line of d[n] has half the columns or more; NULL if it is none. */
const struct usk_table_kind *usk_table_sniff(const uint8_t *d, size_t n);

/** The names in the first line as a clause for a sentence on what was found, malloc'ed: " (JSON
 * with the keys ts, msg)"; "" if it has none. */
char *usk_table_found(const uint8_t *d, size_t n);

/**
 * Begin with the header, at in->data + *used; *used moves behind it. USK_EINPUT: a column is
 * missing, or a quote is not closed; the sentence begins with the line. b is zeroed or was used
 * before.
 */
enum usk_status usk_table_start(struct usk_table *b, const struct usk_table_kind *kind,
				struct usk_input *in, size_t *used, struct usk_err *err);

/**
 * The next row into b->cell, which point into the window and b until the next call; *more is false
 * at the end. USK_EINPUT: this row has not the shape of one (usk_table_left_out()), go on.
 */
enum usk_status usk_table_next(struct usk_table *b, struct usk_input *in, size_t *used, bool *more,
			       struct usk_err *err);
/** Remember that the row read last is left out, and why. */
void usk_table_left_out(struct usk_table *b, const char *why);
void usk_table_free(struct usk_table *b);

/* ---- stamp.c: stamps in tables, also ticks of a counter whose rate is known -------------- */

/** Are the rows of opt as they should be? NULL is. */
enum usk_status usk_read_options_check(const struct usk_read_options *opt, struct usk_err *err);

/** 10^-6 Hz that integer stamps of the clock of this name count, 0 for ns. opt may be NULL. */
int64_t usk_tick_rate(const struct usk_read_options *opt, const char *name, size_t n);

/** Ticks, a whole number, as ns, rounded down. USK_EINPUT, USK_ERANGE as usk_cell_time(). */
enum usk_status usk_ticks_ns(int64_t hz_e6, struct usk_csv_field f, int64_t *ns,
			     struct usk_err *err);

/**
 * A cell's time on that clock, ticks rounded down. *ticks (may be NULL): it was in ticks.
 * USK_EINPUT: it is no time; USK_ERANGE: over USK_TIME_MAX.
 */
enum usk_status usk_cell_time(const struct usk_read_options *opt, struct usk_csv_field clock,
			      const struct usk_cell *cell, int64_t *ns, bool *ticks,
			      struct usk_err *err);

/** A cell's number of bytes, 0 if it has none. */
enum usk_status usk_cell_bytes(const struct usk_cell *cell, uint32_t *bytes, struct usk_err *err);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * readers.c - the table of formats
 *
 * In    the first bytes of a file
 * Out   who reads it; all formats in words, for help and for whoever has another one
 * Why   the only place that knows which formats exist: nobody lists them a second time
 * Not   reading (a file each), opening (trace.c)
 */
#include "base/stream.h"
#include "read/read.h"

#include <string.h>

#define READER(name) &usk_reader_##name,
static const struct reader *const readers[] = { READERS };

const struct usk_reader_info *usk_reader(size_t i)
{
	return i < COUNT(readers) ? &readers[i]->info : NULL;
}

const struct reader *usk_reader_of_folders(void)
{
	size_t i = 0;
	while (i < COUNT(readers) && !readers[i]->folder) {
		i++;
	}
	return i < COUNT(readers) ? readers[i] : NULL;
}

static bool reads(const struct reader *r, const uint8_t *d, size_t n,
		  const struct usk_table_kind *table)
{
	return table ? r->table == table : r->sniff && r->sniff(d, n);
}

static const struct reader *first(const uint8_t *d, size_t n, const struct usk_table_kind *table)
{
	size_t i = 0;
	while (i < COUNT(readers) && !reads(readers[i], d, n, table)) {
		i++;
	}
	return i < COUNT(readers) ? readers[i] : NULL;
}

const struct reader *usk_reader_of(const uint8_t *d, size_t n)
{
	/* Lines of JSON are a table by half of its columns; what is known by its keys is that first. */
	const struct reader *r = first(d, n, NULL);
	const struct usk_table_kind *table = r ? NULL : usk_table_sniff(d, n);
	return table ? first(d, n, table) : r;
}

bool usk_sniff_trace(const uint8_t *d, size_t n)
{
	return usk_reader_of(d, n) != NULL;
}

/* ---- in words ---------------------------------------------------------------------------- */

/* "messages, events or spans", each with its columns or not. */
static void put_tables(FILE *out, bool columns)
{
	size_t left = 0;
	for (size_t i = 0; i < COUNT(readers); i++) {
		left += readers[i]->table != NULL;
	}
	fputs("tables (CSV or JSON lines) of ", out);
	for (size_t i = 0; i < COUNT(readers); i++) {
		if (readers[i]->table) {
			const struct usk_reader_info *r = &readers[i]->info;
			left--;
			fputs(r->name, out);
			if (columns) {
				fprintf(out, " (%s)", r->said);
			}
			fputs(left > 1 ? ", " : left ? " or " : "", out);
		}
	}
}

/* "captures (pcapng, pcap), trace.dat, "; groups stand together in the table. */
static void put_others(FILE *out, bool written)
{
	const char *group = NULL;
	for (size_t i = 0; i < COUNT(readers); i++) {
		const struct reader *r = readers[i];
		if (r->table || (written && !r->written && !r->form)) {
			continue;
		}
		const char *own = r->info.group;
		bool same = group && own && !strcmp(group, own);
		fputs(same ? ", " : group ? "), " : "", out);
		if (own && !same) {
			fprintf(out, "%s (", own);
		}
		fprintf(out, "%s%s", r->info.said, own ? "" : ", ");
		group = own;
	}
	fputs(group ? "), " : "", out);
}

char *usk_formats(enum usk_formats which)
{
	struct usk_stream s;
	FILE *out = usk_stream_begin(&s);
	if (which != USK_FORMATS_OF_TABLES) {
		put_others(out, which == USK_FORMATS_WRITTEN);
		fputs("and ", out);
	}
	put_tables(out, which == USK_FORMATS_OF_TABLES);
	return usk_stream_end(&s);
}

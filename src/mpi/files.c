/* SPDX-License-Identifier: MIT */
/*
 * files.c - which rank reads which trace
 *
 * In    operands, the same at all ranks; what each machine has of them
 * Out   the traces in the order in which `unskew` would take them, a rank for each
 * Why   captures are read where they are: not every machine has every file
 * Not   reading them (gather.c, commands.c)
 *
 * The first rank of each machine looks which files there are and how large, and rank 0 hears of it, as each
 * machine may have something to say of each file. It comes to an answer, which it tells all ranks: the largest file first, each goes to the rank that has the fewest bytes so far, of those on
 * machines that can open it. A file is what is shared out, so that the number of ranks shows in nothing
 * that is computed.
 */
#include "mpi/files.h"

#include "cli/units.h"
#include "mpi/team.h"
#include "write/write.h"

#include <errno.h>
#include <ftw.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOST_OPEN = 16 };

/* ---- what a machine has: "COUNT", then of each file "OPERAND", "BYTES" or "-ERRNO" ------------- */

static int64_t folder_bytes;

static int add_bytes(const char *path, const struct stat *st, int type, struct FTW *at)
{
	(void)path;
	(void)at;
	folder_bytes += type == FTW_F ? st->st_size : 0;
	return 0;
}

/* Of a file, or of all that is in a folder, as of a CTF trace; below 0: why it cannot be read. */
static int64_t bytes_of(const char *operand)
{
	const char *name, *path = args_split_name(operand, &name);
	struct stat st;
	if (stat(path, &st) || access(path, S_ISDIR(st.st_mode) ? R_OK | X_OK : R_OK)) {
		return -errno;
	}
	folder_bytes = 0;
	if (S_ISDIR(st.st_mode)) {
		nftw(path, add_bytes, MOST_OPEN, FTW_PHYS);
		return folder_bytes;
	}
	return st.st_size;
}

static void put_word(FILE *out, const char *word)
{
	fwrite(word, 1, strlen(word) + 1, out);
}

static void put_number(FILE *out, int64_t v)
{
	fprintf(out, "%" PRId64, v);
	fputc(0, out);
}

static void look_at(FILE *out, const char *operand)
{
	const char **file;
	size_t n;
	struct usk_err err = { 0 };
	if (operand_files(operand, &file, &n, &err)) {
		put_number(out, 0);
		put_word(out, err.msg);
		return;
	}
	put_number(out, (int64_t)n);
	for (size_t i = 0; i < n; i++) {
		put_word(out, file[i]);
		put_number(out, bytes_of(file[i]));
	}
}

static struct team_text *look_everywhere(const struct args *args, size_t first)
{
	struct usk_stream s;
	FILE *out = usk_stream_begin(&s);
	const bool looks = team_rank() == team_first_here();
	for (size_t i = first; looks && i < args_operands(args); i++) {
		look_at(out, args_operand(args, i));
	}
	fflush(out);
	size_t n = s.n;
	struct team_text *all = team_texts(s.text, looks ? n : 0, false);
	free(usk_stream_end(&s));
	return all;
}

/* ---- the same of all machines -------------------------------------------------------------- */

/* A file as one machine sees it. */
struct seen {
	size_t operand, place; /* which operand it is of, and where among the files of that */
	const char *file;
	int64_t bytes;
	int machine; /* its first rank */
};

struct view {
	struct seen *seen;
	size_t n, cap;
	const char **nothing; /* of each operand: why there is none */
};

static const char *next_word(const char **at)
{
	const char *word = *at;
	*at += strlen(word) + 1;
	return word;
}

static void take_view(struct view *v, const char *text, size_t operands, int machine)
{
	for (size_t k = 0; k < operands; k++) {
		size_t n = (size_t)strtoull(next_word(&text), NULL, 10);
		v->nothing[k] = n ? v->nothing[k] : next_word(&text);
		for (size_t i = 0; i < n; i++) {
			v->seen = usk_room(v->seen, v->n, &v->cap, sizeof *v->seen);
			struct seen *s = &v->seen[v->n++];
			*s = (struct seen){ .operand = k, .place = i, .machine = machine };
			s->file = next_word(&text);
			s->bytes = strtoll(next_word(&text), NULL, 10);
		}
	}
}

/* A file of all machines: its run in view.seen. */
struct file {
	const struct seen *seen;
	size_t n;
	int64_t bytes; /* below 0: no machine can read it */
};

static struct file file_at(const struct view *v, size_t i)
{
	struct file f = { &v->seen[i], 0, v->seen[i].bytes };
	while (i + f.n < v->n && v->seen[i + f.n].operand == f.seen->operand &&
	       !strcmp(v->seen[i + f.n].file, f.seen->file)) {
		int64_t bytes = f.seen[f.n++].bytes;
		f.bytes = f.bytes < bytes ? bytes : f.bytes;
	}
	return f;
}

static char *unreadable(const struct file *f)
{
	const char *name, *path = args_split_name(f->seen->file, &name);
	return usk_format("%s: none of %d ranks can read it: %s", path, team_size(),
			  strerror((int)-f->seen->bytes));
}

static int by_place(const void *pa, const void *pb)
{
	const struct file *a = pa, *b = pb;
	return (a->seen->place > b->seen->place) - (a->seen->place < b->seen->place);
}

/*
 * The files of one operand in the order of the first machine if it has all of them, else by name. Where
 * some know it as a folder or a pattern, it is no file of others. *wrong: the first that nobody can read.
 */
static size_t order_files(struct file *f, size_t n, const char *operand, char **wrong)
{
	size_t good = 0;
	bool one = true;
	for (size_t i = 0; i < n; i++) {
		bool itself = n > 1 && !strcmp(f[i].seen->file, operand);
		if (f[i].bytes < 0 && !itself) {
			*wrong = *wrong ? *wrong : unreadable(&f[i]);
		}
		if (f[i].bytes >= 0) {
			f[good++] = f[i];
			one = one && f[i].seen->machine == f[0].seen->machine;
		}
	}
	if (one) {
		qsort(f, good, sizeof *f, by_place);
	}
	return good;
}

/* ---- who reads what -------------------------------------------------------------------------- */

static int by_bytes(const void *pa, const void *pb)
{
	const struct file *a = *(const struct file *const *)pa,
			  *b = *(const struct file *const *)pb;
	return a->bytes != b->bytes ? (a->bytes < b->bytes) - (a->bytes > b->bytes)
				    : (a > b) - (a < b);
}

static bool can_read(const struct file *f, int machine)
{
	for (size_t i = 0; i < f->n; i++) {
		if (f->seen[i].machine == machine && f->seen[i].bytes >= 0) {
			return true;
		}
	}
	return false;
}

static const int *choose_readers(const struct file *f, size_t n, const int *machine)
{
	int *reader = kept(usk_alloc(n, sizeof *reader)), ranks = team_size();
	const struct file **order = usk_alloc(n, sizeof(struct file *));
	int64_t *load = usk_alloc((size_t)ranks, sizeof *load);
	for (size_t i = 0; i < n; i++) {
		order[i] = &f[i];
	}
	qsort(order, n, sizeof(struct file *), by_bytes);
	for (size_t i = 0; i < n; i++) {
		int least = -1;
		for (int r = 0; r < ranks; r++) {
			if ((least < 0 || load[r] < load[least]) &&
			    can_read(order[i], machine[r])) {
				least = r;
			}
		}
		load[least] += order[i]->bytes + 1; /* of empty ones each gets some, too */
		reader[order[i] - f] = least;
	}
	free(order);
	free(load);
	return reader;
}

/* Of each rank the first one of its machine. */
static const int *machines(void)
{
	char text[16];
	int n = snprintf(text, sizeof text, "%d", team_first_here());
	const struct team_text *all = team_texts(text, (size_t)n, true);
	int *machine = kept(usk_alloc((size_t)team_size(), sizeof *machine));
	for (int i = 0; i < team_size(); i++) {
		machine[i] = atoi(all[i].text);
	}
	return machine;
}

/* "", then of each file its operand and its reader; or why there is no answer. */
static void decide(const struct args *args, size_t first, const struct team_text *text,
		   const int *machine, FILE *out)
{
	const size_t operands = args_operands(args) - first;
	struct view v = { .nothing = kept(usk_alloc(operands, sizeof *v.nothing)) };
	for (int i = 0; i < team_size(); i++) {
		if (text[i].n) {
			take_view(&v, text[i].text, operands, i);
		}
	}
	usk_sort(v.seen, v.n, sizeof *v.seen,
		 KEYS(BY(seen, operand), BY(seen, file), BY(seen, machine)));
	struct file *f = kept(usk_alloc(v.n + 1, sizeof *f));
	size_t n = 0, at = 0;
	char *wrong = NULL;
	for (size_t k = 0; k < operands && !wrong; k++) {
		size_t begin = n;
		for (; at < v.n && v.seen[at].operand == k; at += f[n++].n) {
			f[n] = file_at(&v, at);
		}
		wrong = n == begin ? usk_strdup(v.nothing[k]) : NULL;
		n = begin +
		    order_files(f + begin, n - begin, args_operand(args, first + k), &wrong);
	}
	put_word(out, wrong ? wrong : "");
	const int *reader = wrong ? NULL : choose_readers(f, n, machine);
	for (size_t i = 0; i < n && reader; i++) {
		put_word(out, f[i].seen->file);
		put_number(out, reader[i]);
	}
	free(wrong);
}

/* What rank 0 decided, at all. */
static struct files hear(struct args *args, size_t first, const struct team_text *said)
{
	const char *at = said->text, *end = said->text + said->n, *wrong = next_word(&at);
	struct files out = { 0 };
	const char **operand = NULL;
	int *reader = NULL;
	size_t cap = 0, room = 0;
	if (*wrong) {
		say_failed("%s", wrong);
	}
	while (at < end) {
		operand = usk_room(operand, out.n, &cap, sizeof *operand);
		reader = usk_room(reader, out.n, &room, sizeof *reader);
		operand[out.n] = next_word(&at);
		reader[out.n++] = atoi(next_word(&at));
	}
	args_replace_operands(args, first, kept(operand), out.n);
	out.reader = kept(reader);
	return out;
}

struct files files_share(struct args *args, size_t first)
{
	const int *machine = machines();
	const struct team_text *text = look_everywhere(args, first);
	struct usk_stream s;
	FILE *out = usk_stream_begin(&s);
	if (!team_rank()) {
		decide(args, first, text, machine, out);
	}
	fflush(out);
	const struct team_text *said = team_texts(s.text, s.n, true);
	free(usk_stream_end(&s));
	struct files files = hear(args, first, said);
	files.machine = machine;
	return files;
}

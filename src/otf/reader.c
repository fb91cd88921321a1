/* SPDX-License-Identifier: MIT */
/*
 * reader.c - OTF2 traces: MPI programs recorded by Score-P, TAU and others
 *
 * In    an anchor file NAME.otf2, with NAME.def and a folder NAME beside it
 * Out   sides of messages and parts of collectives; a clock for each process, NAME/ITS-NAME
 * Why   whether a count can be right is known only once all was counted, so rows are spooled, and
 *       later readings read the spool
 * Not   the format itself (libotf2, in a process of its own: it asserts what damaged files claim)
 */
#include "base/io.h"
#include "otf/otf.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BATCH = 64 };

struct state {
	char *path;
	struct otf2_world world;
	struct otf2_numbers numbers;
	struct usk_child child;
	bool ended;   /* the library came to an end by itself */
	bool decoded; /* all rows are there */
	struct usk_spool *spool;
	struct known {
		uint32_t clock, rank; /* the clock's number + 1; 0: it has none yet */
	} * of;			      /* each process */
	char *damage, *remark;
	uint64_t size, at; /* bytes; rows handed out */
};

static enum usk_status keep(void *ctx, const struct otf2_row *row, struct usk_err *err)
{
	struct state *s = ctx;
	return usk_spool_put(s->spool, 0, row, err);
}

/* ---- the library's process ------------------------------------------------------------------- */

/* Bytes of a file; whoever opened anything else could wait for ever. */
static uint64_t file_size(int folder, const char *name, char **odd)
{
	struct stat st;
	bool there = !fstatat(folder, name, &st, 0);
	if (there && !*odd && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode)) {
		*odd = usk_strdup(name);
	}
	return there && S_ISREG(st.st_mode) ? (uint64_t)st.st_size : 0;
}

/* Bytes of the anchor file, the definitions beside it, and what is in its folder. */
static uint64_t size_of(const char *path, char **odd)
{
	char *folder = usk_format("%.*s", (int)(strlen(path) - strlen(".otf2")), path);
	char *definitions = usk_format("%s.def", folder);
	uint64_t size = file_size(AT_FDCWD, path, odd) + file_size(AT_FDCWD, definitions, odd);
	DIR *d = opendir(folder);
	for (const struct dirent *e; d && (e = readdir(d)) != NULL;) {
		size += file_size(dirfd(d), e->d_name, odd);
	}
	if (d) {
		closedir(d);
	}
	free(definitions);
	free(folder);
	return size;
}

/* Damage can make the library loop, or ask for any memory: it gets what sound files never need. */
static void work(void *ctx, FILE *out)
{
	enum { LEAST_S = 10, LEAST_BYTES = 256 << 20, MB = 1 << 20 };
	const struct state *s = ctx;
	usk_child_limit(LEAST_S + s->size / MB, LEAST_BYTES + 8 * s->size);
	usk_otf2_decode(s->path, out);
}

static bool next_item(struct usk_child *c, struct otf2_item *item)
{
	const size_t head = offsetof(struct otf2_item, text);
	return usk_child_read(c, item, head) && item->n <= sizeof item->text &&
	       usk_child_read(c, item->text, item->n);
}

/* Up to the end of definitions, or of all. */
static enum usk_status take(struct state *s, bool definitions, struct usk_err *err)
{
	struct otf2_item item;
	enum usk_status status = USK_OK;
	while (!status && !s->ended && !(definitions && s->world.settled) &&
	       next_item(&s->child, &item)) {
		s->ended = item.kind == ITEM_END;
		if (s->ended && item.n) {
			status = usk_fail(err, USK_EINPUT, 0, "libotf2 cannot read it: %.*s",
					  (int)item.n, item.text);
		} else if (!s->world.settled) {
			usk_otf2_define(&s->world, &item);
		} else {
			status = usk_otf2_take(&s->numbers, &item, err);
		}
	}
	return status;
}

/* Definitions; events come when they are asked for. */
static enum usk_status begin(struct state *s, struct usk_err *err)
{
	enum usk_status status = usk_child_start(&s->child, work, s, err);
	status = status ? status : take(s, true, err);
	if (!status && !s->world.settled) {
		return usk_fail(err, USK_EINPUT, 0, "libotf2 died of it (%s)",
				usk_child_end(&s->child));
	}
	if (!status && !s->world.hz) {
		return usk_fail(err, USK_EINPUT, 0,
				"its definitions do not say how many ticks a second has");
	}
	return status;
}

static enum usk_status decode(struct state *s, struct usk_err *err)
{
	enum usk_status status = take(s, false, err);
	if (status) {
		return status;
	}
	const char *how = usk_child_end(&s->child);
	usk_otf2_judge(&s->numbers);
	s->damage = usk_otf2_damage(&s->numbers);
	s->remark = usk_otf2_remark(&s->numbers);
	if (!s->ended) {
		free(s->damage);
		s->damage =
			usk_format("libotf2 died (%s) after %llu events, and what follows is lost",
				   how, (unsigned long long)s->numbers.events);
	}
	if (!usk_spool_count(s->spool, 0)) {
		const char *why = s->damage ? s->damage : s->remark;
		status = usk_fail(err, USK_EINPUT, 0,
				  "has no messages or collectives of MPI between processes%s%s",
				  why ? ": " : "", why ? why : "");
	}
	return status;
}

/* ---- the reader ------------------------------------------------------------------------------ */

static enum usk_status check(const struct usk_trace *t, struct usk_err *err)
{
	struct stat st;
	const char *end = strrchr(t->path, '.');
	if (!t->in.memory && !stat(t->path, &st) && S_ISREG(st.st_mode) && end &&
	    !strcmp(end, ".otf2") && !t->in.packed) {
		return USK_OK;
	}
	return usk_fail(err, USK_EINPUT, 0,
			"%s: is the anchor of an OTF2 trace, which needs the folder and the "
			"definitions beside it: give the path of NAME.otf2, neither packed nor "
			"through a pipe",
			t->path);
}

static enum usk_status start(struct usk_trace *t, struct usk_err *err)
{
	struct state *s = t->state;
	if (s) {
		s->at = 0;
		return USK_OK;
	}
	enum usk_status status = check(t, err);
	if (status) {
		return status;
	}
	char *odd = NULL;
	struct usk_event_id id = usk_event_id(t->path, strlen(t->path));
	s = t->state = usk_alloc(1, sizeof *s);
	s->path = usk_strdup(t->path);
	s->size = size_of(t->path, &odd);
	s->spool = usk_spool_new(sizeof(struct otf2_row), 1);
	s->numbers = (struct otf2_numbers){ .world = &s->world,
					    .seed = usk_fold(id.word[0], id.word[1]),
					    .put = keep,
					    .ctx = s,
					    .process = OTF2_NOWHERE };
	status = odd ? usk_fail(err, USK_EINPUT, 0, "%s, which belongs to it, is no file", odd)
		     : begin(s, err);
	free(odd);
	usk_fail_in(status, err, "%s", t->path);
	s->of = usk_alloc(s->world.n_processes, sizeof *s->of);
	return status;
}

static uint32_t clock_named(struct usk_trace *t, char *name)
{
	uint32_t clock = usk_trace_clock(t, (struct usk_csv_field){ name, strlen(name) });
	free(name);
	return clock;
}

/* The clock and rank of a process, once it has done anything. */
static const struct known *known_of(struct usk_trace *t, uint32_t process)
{
	struct state *s = t->state;
	const struct otf2_world *w = &s->world;
	struct known *k = &s->of[process];
	if (!k->clock) {
		const char *own = w->process[process].name;
		size_t before = usk_trace_clocks(t);
		own = own && *own ? own : "process";
		uint32_t clock = clock_named(t, usk_format("%s/%s", t->name, own));
		if (clock < before) { /* two of one name */
			clock = clock_named(
				t, usk_format("%s/%s (%lu)", t->name, own, (unsigned long)process));
		}
		t->clock[clock].hz_e6 = w->hz < 1000000000 ? (int64_t)w->hz * 1000000 : 0;
		k->rank = usk_trace_rank(t, clock, (struct usk_csv_field){ own, strlen(own) });
		k->clock = clock + 1;
	}
	return k;
}

static enum usk_status collectives(struct usk_trace *t, struct usk_collective *out, size_t cap,
				   size_t *n, struct usk_err *err)
{
	struct state *s = t->state;
	struct otf2_row row[BATCH];
	enum usk_status status = s->decoded ? USK_OK : decode(s, err);
	s->decoded = true;
	uint64_t all = usk_spool_count(s->spool, 0);
	while (!status && !*n && s->at < all) {
		size_t m = cap < BATCH ? cap : BATCH;
		m = all - s->at < m ? (size_t)(all - s->at) : m;
		status = usk_spool_get(s->spool, 0, s->at, row, m, err);
		for (size_t i = 0; i < m && !status; i++) {
			if (usk_otf2_holds(&s->numbers, &row[i])) {
				const struct known *k = known_of(t, row[i].x.clock);
				row[i].x.clock = k->clock - 1;
				row[i].x.rank = k->rank;
				out[(*n)++] = row[i].x;
			}
		}
		s->at += m;
	}
	if (status) {
		usk_fail_in(status, err, "%s", t->path);
	} else if (!*n) {
		usk_trace_finished(t, s->damage, s->remark);
	}
	return status;
}

static void stop(struct usk_trace *t)
{
	struct state *s = t->state;
	if (s) {
		usk_child_kill(&s->child);
		usk_otf2_numbers_free(&s->numbers);
		usk_otf2_world_free(&s->world);
		usk_spool_free(s->spool);
		USK_FREE(s->of, s->path, s->damage, s->remark);
	}
	free(s);
	t->state = NULL;
}

static void place(const struct usk_trace *t, uint64_t *size, uint64_t *pos)
{
	const struct state *s = t->state;
	uint64_t all = usk_spool_count(s->spool, 0);
	*size = s->size;
	*pos = all ? (uint64_t)((usk_u128)s->size * s->at / all) : s->size;
}

const struct reader usk_reader_otf2 = {
	.info = { "otf2", "OTF2 traces of MPI programs (NAME.otf2, with what lies beside it)", NULL,
		  USK_TRACE_COLLECTIVES },
	.sniff = usk_is_otf2,
	.start = start,
	.collectives = collectives,
	.stop = stop,
	.place = place,
	.written = true,
};

/* SPDX-License-Identifier: MIT */
/*
 * child.c - libbabeltrace2 in a process of its own
 *
 * In    as graph.c, which does the work in the child
 * Out   the same through a pipe; where the child dies, what it had sent, and a sentence
 * Why   the library aborts on some damaged traces (a packet that claims to be larger than 2^60
 *       bits), and a damaged input is no reason to die; it decodes while the parent matches
 * Not   a sandbox
 */
#include "base/child.h"
#include "ctf/ctf.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

enum { ITEMS = 256 };

/* Memory that both have. Items go through a pipe, behind one byte that says that it is open. */
struct shared {
	struct ctf_totals totals; /* of all that was sent */
	enum usk_status status;
	struct usk_err err;
	bool ended; /* not died */
};

struct ctf_child {
	struct usk_child process;
	struct shared *shared;
	char *const *folder; /* what is read: n of them */
	size_t n;
	const struct ctf_visitor *visitor;
};

/* ---- the child ------------------------------------------------------------------------------ */

/*
 * On some damaged traces (a packet of no bytes) the library goes on for ever when it opens them,
 * and takes memory as it goes. It may look at each packet, and these may be small; of metadata it
 * makes 60 times their size, in 0.25 s for a megabyte.
 */
static void limit_opening(char *const *folder, size_t n)
{
	enum { LEAST_S = 3, LEAST_BYTES = 128 << 20, MB = 1 << 20 };
	uint64_t bytes = usk_ctf_size(folder, n), metadata = 0;
	for (size_t i = 0; i < n; i++) {
		char *path = usk_format("%s/metadata", folder[i]);
		struct stat st;
		metadata += stat(path, &st) ? 0 : (uint64_t)st.st_size;
		free(path);
	}
	usk_child_limit(LEAST_S + bytes / (8 * MB) + 3 * metadata / MB,
			LEAST_BYTES + bytes / 4 + 150 * metadata);
}

static void work(void *ctx, FILE *out)
{
	static struct ctf_item item[ITEMS];
	const struct ctf_child *c = ctx;
	struct shared *shared = c->shared;
	struct ctf_graph *g = NULL;
	bool good = true;
	limit_opening(c->folder, c->n);
	shared->status = usk_ctf_open(c->folder, c->n, c->visitor, &g, &shared->err);
	usk_child_limit(RLIM_INFINITY, RLIM_INFINITY);
	if (!shared->status) {
		shared->totals = *usk_ctf_totals(g);
		good = fputc('o', out) != EOF && !fflush(out);
	}
	for (size_t items = 1; items && good && !shared->status;) {
		shared->status = usk_ctf_next(g, item, ITEMS, &items, &shared->err);
		for (size_t i = 0; i < items && good; i++) {
			good = fwrite(&item[i], usk_ctf_item_size(&item[i]), 1, out) == 1;
		}
		good = good && !fflush(out);
		shared->totals = *usk_ctf_totals(g);
	}
	shared->ended = true;
}

/* ---- the parent ----------------------------------------------------------------------------- */

static enum usk_status try_open(void *ctx, struct usk_err *err)
{
	char *folder = ctx;
	limit_opening(&folder, 1);
	return usk_ctf_opens(ctx) ? USK_OK : usk_fail(err, USK_EINPUT, 0, "it is not taken");
}

bool usk_ctf_is_readable(const char *folder)
{
	return !usk_child_run(try_open, (void *)(uintptr_t)folder, folder, NULL);
}

/* Nothing more comes: why. */
static enum usk_status over(struct ctf_child *c, struct usk_err *err)
{
	const char *how = usk_child_end(&c->process);
	struct shared *s = c->shared;
	if (s->ended) {
		if (s->status && err) {
			*err = s->err;
		}
		return s->status;
	}
	if (!s->totals.damage[0]) {
		snprintf(s->totals.damage, sizeof s->totals.damage,
			 "libbabeltrace2 died (%s) after %llu events, and what follows is lost",
			 how, (unsigned long long)s->totals.events);
	}
	return USK_OK;
}

static enum usk_status begin(struct ctf_child *c, char *const *folder, struct usk_err *err)
{
	c->folder = folder;
	memset(c->shared, 0, sizeof *c->shared);
	enum usk_status status = usk_child_start(&c->process, work, c, err);
	char open;
	if (status || usk_child_read(&c->process, &open, 1)) {
		return status;
	}
	status = over(c, err);
	return status ? status
		      : usk_fail(err, USK_EINPUT, 0, "%s: %s", folder[0], c->shared->totals.damage);
}

enum usk_status usk_ctf_start(struct ctf_traces *t, const struct ctf_visitor *visitor,
			      struct ctf_child **out, struct usk_err *err)
{
	struct ctf_child *c = usk_alloc(1, sizeof *c);
	void *shared = mmap(NULL, sizeof *c->shared, PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (shared == MAP_FAILED) {
		free(c);
		return usk_fail(err, USK_EIO, 0, "no memory to share: %s", strerror(errno));
	}
	c->shared = shared;
	c->n = t->n;
	c->visitor = visitor;
	enum usk_status status = begin(c, t->folder, err);
	if (status == USK_EINPUT) {
		enum usk_status failed = usk_ctf_mend(t, err);
		status = failed ? failed : t->mended ? begin(c, t->mended, err) : status;
	}
	if (status) {
		usk_ctf_stop(c);
		return status;
	}
	*out = c;
	return USK_OK;
}

enum usk_status usk_ctf_read(struct ctf_child *c, struct ctf_item *out, size_t cap, size_t *n,
			     struct usk_err *err)
{
	struct usk_child *p = &c->process;
	for (*n = 0; p->in && *n < cap; ++*n) {
		struct ctf_item *item = &out[*n];
		if (!usk_child_read(p, item, offsetof(struct ctf_item, bytes)) ||
		    item->n > sizeof item->bytes || !usk_child_read(p, item->bytes, item->n)) {
			break;
		}
	}
	return p->in && !*n ? over(c, err) : USK_OK;
}

const struct ctf_totals *usk_ctf_read_totals(const struct ctf_child *c)
{
	return &c->shared->totals;
}

void usk_ctf_stop(struct ctf_child *c)
{
	if (c) {
		/* It may be in the middle of something; it has nothing to lose. */
		if (c->process.pid > 0) {
			kill(c->process.pid, SIGKILL);
		}
		usk_child_end(&c->process);
		munmap(c->shared, sizeof *c->shared);
	}
	free(c);
}

/* SPDX-License-Identifier: MIT */
/*
 * vantages.c - two captures of what passes hosts, routers, NAT and bridges: is any pair wrong?
 *
 * In    [--count N] [--seed FIRST] [--jobs N] [--verbose]
 * Out   a line for each path with a wrong pair, and "N paths, M messages, K wrong"; 1 if there is
 *       a wrong one
 *
 * Two to five nodes in a row; each of two captures sees one of them by one interface, by all of
 * them with and without what the kernel says of direction, or by taps beside it; on bonds and VLANs
 * every packet twice. Packets are lost, doubled, sent anew, cut and merged, and captures miss some.
 * A message is wrong if its send was after its receive in truth. Of another copy: it was not, but
 * the packet that was received is not the one that was sent; all that is said of clocks is true.
 *
 * Where IP-IDs tell nothing and a capture missed the original, a copy may stand for it; such cases
 * are counted by themselves (doc/guarantees.md, What breaks it).
 */
#include "../part.h"
#include "path.h"
#include "read/trace.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

struct tally {
	uint64_t paths, messages, wrong, other, possible, none;
	uint64_t mute; /* wrong, of copies that nothing tells apart */
};

struct job {
	uint64_t first, count, jobs;
	bool verbose;
};

struct judged {
	const struct path *path;
	struct tally *tally;
	uint64_t seed, wrong, mute;
	bool is_mute, misses;
};

static const struct shown *shown_at(const struct watch *w, int64_t stamp_ns)
{
	size_t lo = 0, hi = w->n;
	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;
		if (w->shown[mid].stamp_ns < stamp_ns) {
			lo = mid + 1;
		} else {
			hi = mid;
		}
	}
	return lo < w->n && w->shown[lo].stamp_ns == stamp_ns ? &w->shown[lo] : NULL;
}

static bool is_same(const struct shown *s, const struct shown *r)
{
	return s->first < r->first + r->n && r->first < s->first + s->n;
}

static bool judge(void *ctx, const struct usk_msg *m, size_t n)
{
	struct judged *j = ctx;
	for (size_t i = 0; i < n; i++) {
		const struct shown *s = shown_at(&j->path->watch[m[i].from], m[i].sent_ns);
		const struct shown *r = shown_at(&j->path->watch[m[i].to], m[i].received_ns);
		j->tally->messages++;
		if (s && r && s->true_ns <= r->true_ns) {
			j->tally->other += !is_same(s, r);
			continue;
		}
		/* Of one packet only the network makes copies that nothing tells apart: also a bond,
		 * of whose two a capture that began in between has the second. */
		bool mute = j->is_mute || (j->misses && s && r && s->group && r->group);
		bool copies = j->path->doubling > 0 || j->path->watch[0].bonded ||
			      j->path->watch[1].bonded;
		if (mute && (!s || !r || !is_same(s, r) || copies)) {
			j->mute++;
			continue;
		}
		if (!j->wrong++) {
			printf("path %llu: %u sent record %td (packet %lld), received as record "
			       "%td (packet %lld), %lld ns later\n",
			       (unsigned long long)j->seed, m[i].from,
			       s ? s - j->path->watch[m[i].from].shown : -1,
			       s ? (long long)s->first : -1,
			       r ? r - j->path->watch[m[i].to].shown : -1,
			       r ? (long long)r->first : -1,
			       s && r ? (long long)(r->true_ns - s->true_ns) : 0);
		}
	}
	return true;
}

/* Packets that both captures show. */
static uint64_t shared(const struct path *p)
{
	uint8_t *seen = usk_alloc(p->packets + 1, 1);
	uint64_t n = 0;
	for (int w = 0; w < 2; w++) {
		for (size_t i = 0; i < p->watch[w].n; i++) {
			const struct shown *s = &p->watch[w].shown[i];
			for (uint32_t k = 0; k < s->n; k++) {
				seen[s->first + k] |= (uint8_t)(1 << w);
			}
		}
	}
	for (uint64_t i = 0; i < p->packets; i++) {
		n += seen[i] == 3;
	}
	free(seen);
	return n;
}

static bool misses(const struct path *p)
{
	bool any = false;
	for (int i = 0; i < 2; i++) {
		any |= p->watch[i].loss > 0 || p->watch[i].from_ns > p->from_ns;
	}
	return any;
}

/* Without IP-IDs that are kept a copy looks like the original, which a capture may have missed. */
static bool is_mute(const struct path *p)
{
	bool nat = false;
	for (uint32_t i = 0; i < p->n; i++) {
		nat |= p->node[i] == NAT;
	}
	return (p->v6 || p->no_ids || p->doubling > 0 || (p->ids_anew && nat)) && misses(p);
}

static void describe(const struct path *p, uint64_t seed)
{
	static const char *const node[] = { "host", "router", "NAT", "bridge" };
	static const char *const how[] = { "nic", "arm", "both", "cooked", "cooked2", "taps" };
	printf("path %llu:", (unsigned long long)seed);
	for (uint32_t i = 0; i < p->n; i++) {
		printf(" %s", node[p->node[i]]);
	}
	for (int i = 0; i < 2; i++) {
		const struct watch *w = &p->watch[i];
		printf("; %s of %u%s%s%s, %zu records", how[w->how], w->node,
		       w->how != WATCH_NIC ? ""
		       : w->right	   ? " right"
					   : " left",
		       w->bonded ? " bonded" : "", w->only ? " filtered" : "", w->n);
	}
	printf("%s%s%s%s%s%s%s\n", p->vlan ? ", VLAN" : "", p->v6 ? ", v6" : "",
	       p->no_ids ? ", no ids" : "", p->ids_anew ? ", ids anew" : "",
	       p->ticks ? "" : ", no ticks", p->offload ? ", offload" : "",
	       p->doubling > 0 ? ", doubling" : "");
}

static void try(struct tally *t, const struct job *job, uint64_t seed)
{
	struct path p;
	struct usk_trace *trace[2] = { NULL, NULL };
	struct usk_clocks *c = NULL;
	struct usk_err err = { 0 };
	struct judged j = { .path = &p, .tally = t, .seed = seed };
	struct usk_sink sink = { .ctx = &j, .put = judge };
	struct usk_sync_options o = {
		.max_outliers = -1, .from_ns = USK_NONE, .to_ns = USK_NONE, .messages = &sink
	};
	path_make(&p, seed);
	j.is_mute = is_mute(&p);
	j.misses = misses(&p);
	struct bytes file[2] = { path_file(&p, 0), path_file(&p, 1) };
	uint64_t before = t->messages, possible = shared(&p);
	enum usk_status status =
		usk_trace_open_memory(file[0].data, file[0].n, "p", &trace[0], &err);
	status = status ? status
			: usk_trace_open_memory(file[1].data, file[1].n, "q", &trace[1], &err);
	status = status ? status : usk_check(trace, 2, &o, &c, &err);
	t->paths++;
	t->possible += possible;
	t->none += possible && t->messages == before;
	t->wrong += j.wrong;
	t->mute += j.mute;
	if (j.wrong || job->verbose) {
		describe(&p, seed);
		const struct usk_evidence *e = c && c->n_pairs ? &c->pair[0].evidence : NULL;
		if (e) {
			printf("  option %llu, link %llu, interface %llu, address %llu, hops %llu, "
			       "exchanges %llu\n",
			       (unsigned long long)e->option, (unsigned long long)e->link,
			       (unsigned long long)e->interface, (unsigned long long)e->address,
			       (unsigned long long)e->ttl, (unsigned long long)e->exchange);
		}
		printf("  %llu messages of %llu packets, %llu wrong%s%s\n",
		       (unsigned long long)(t->messages - before), (unsigned long long)possible,
		       (unsigned long long)j.wrong, status ? ": " : "", status ? err.msg : "");
	}
	usk_clocks_free(c);
	for (int i = 0; i < 2; i++) {
		usk_trace_close(trace[i]);
		bytes_free(&file[i]);
	}
	path_free(&p);
}

/* ---- processes ------------------------------------------------------------------------------- */

static struct tally work(const struct job *j, uint64_t offset)
{
	struct tally t = { 0 };
	for (uint64_t i = offset; i < j->count; i += j->jobs) {
		try(&t, j, j->first + i);
	}
	return t;
}

static struct tally share(const struct job *j)
{
	struct tally all = { 0 };
	int *from = usk_alloc(j->jobs, sizeof *from);
	for (uint64_t k = 0; k < j->jobs; k++) {
		int ends[2];
		if (pipe(ends)) {
			perror("pipe");
			exit(1);
		}
		fflush(stdout);
		if (!fork()) {
			/* Whole lines, as several processes print. */
			setvbuf(stdout, NULL, _IOFBF, 1 << 16);
			struct tally t = work(j, k);
			fflush(stdout);
			_exit(write(ends[1], &t, sizeof t) != (ssize_t)sizeof t);
		}
		close(ends[1]);
		from[k] = ends[0];
	}
	for (uint64_t k = 0; k < j->jobs; k++) {
		struct tally t = { 0 };
		if (read(from[k], &t, sizeof t) != (ssize_t)sizeof t) {
			printf("a process ended early\n");
			t = (struct tally){ 0 };
		}
		close(from[k]);
		all.paths += t.paths;
		all.messages += t.messages;
		all.wrong += t.wrong;
		all.other += t.other;
		all.mute += t.mute;
		all.possible += t.possible;
		all.none += t.none;
	}
	while (wait(NULL) > 0) {
	}
	free(from);
	return all;
}

static bool read_arguments(int argc, char **argv, struct job *j)
{
	for (int i = 1; i < argc; i++) {
		uint64_t *number = !strcmp(argv[i], "--count")	? &j->count
				   : !strcmp(argv[i], "--seed") ? &j->first
				   : !strcmp(argv[i], "--jobs") ? &j->jobs
								: NULL;
		if (!strcmp(argv[i], "--verbose")) {
			j->verbose = true;
		} else if (number && i + 1 < argc) {
			*number = strtoull(argv[++i], NULL, 10);
		} else {
			return false;
		}
	}
	j->first += case_first(j->count) - 1;
	j->count = case_count(j->count);
	return j->jobs > 0 && j->jobs < 64;
}

int main(int argc, char **argv)
{
	struct job j = { .first = 1, .count = 10000, .jobs = 1 };
	if (!read_arguments(argc, argv, &j)) {
		fprintf(stderr, "usage: vantages [--count N] [--seed FIRST] [--jobs N] "
				"[--verbose]\n");
		return 2;
	}
	struct tally t = share(&j);
	printf("%llu of %llu packets that both captures show matched; of %llu paths none\n",
	       (unsigned long long)t.messages, (unsigned long long)t.possible,
	       (unsigned long long)t.none);
	printf("%llu wrong of copies that nothing tells apart, in captures that miss some\n",
	       (unsigned long long)t.mute);
	printf("%llu paths, %llu messages, %llu of another copy, %llu wrong\n",
	       (unsigned long long)t.paths, (unsigned long long)t.messages,
	       (unsigned long long)t.other, (unsigned long long)t.wrong);
	return t.wrong || t.paths != j.count;
}

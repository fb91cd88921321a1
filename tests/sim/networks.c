/* SPDX-License-Identifier: MIT */
/*
 * networks.c - small networks whose clocks step: does every band hold the truth?
 *
 * In    [--count N] [--seed FIRST] [--jobs N] [--verbose] [--small | --ends] [--segments]
 *       [--wan] [--keep FOLDER]
 * Out   a line per network whose band is false, the worst of them with its seed, widths, and
 *       "N networks, M clocks, K with a band that excludes the truth"; 1 if there is one
 *
 * Three to eight clocks in a chain, a tree or a ring; rates within 100 ppm, constant; delays of up
 * to 2 ms, in each direction of each pair by themselves; 0.5 to 20 messages a second and direction
 * for 30 to 300 s. One to three steps of 0.2 to 100 ms, forward or back, at any moment, of any
 * clock, the later reference too. Each of them is beyond doubt: two messages of some pair show it
 * (held.h). The options are the default ones, so no other assumption is broken, and no step may
 * leave a band that excludes the truth.
 *
 * --small: steps of 0.1 to 5 ms, which delays may hide. An answer is judged if it tells of each of them, whatever as:
 * then it is where it says that a clock may have been set, or slewed, and all that it assumes is true.
 *
 * --ends: one step, within the first or the last 2 s, more likely so the nearer to an end: one message or two tell of it.
 *
 * --wan: delays, and steps, are forty times as long: several messages of a pair are under way together.
 *
 * --keep: each network as FOLDER/SEED.csv, the table that is asked about.
 *
 * --segments: as the model `segments=auto` sees it, which is true of such clocks too.
 */
#include "../part.h"
#include "held.h"
#include "read/trace.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define SECOND	 INT64_C(1000000000)
#define MS	 INT64_C(1000000)
#define MAX_SKEW INT64_C(500000000) /* the default */

enum { HOSTS = 8, STEPS = 3, GRID = 1000 };

struct network {
	uint64_t seed;
	uint32_t hosts;
	int64_t start_ns, end_ns;
	int64_t offset_ns[HOSTS], rate_e12[HOSTS];
	struct sim_step step[STEPS];
	size_t n_steps;
	struct sim_clock clock[HOSTS];
	struct sim_message *m;
	size_t n, cap;
};

struct tally {
	uint64_t networks, clocks, wrong, contradicted, absent, errors, untold;
	double half_ns, log_half;
	uint64_t halves;
	uint64_t worst_seed;
	int64_t worst_ns;
};

struct job {
	uint64_t first, count, jobs;
	bool verbose, small, ends, segments, wan;
	const char *keep;
};

/* ---- drawing --------------------------------------------------------------------------------- */

static double log_between(struct usk_rng *r, double low, double high)
{
	return low * pow(high / low, usk_rng_unit(r));
}

static int64_t times_of(const struct job *j)
{
	return j->wan ? 40 : 1;
}

static int64_t between(struct usk_rng *r, int64_t low, int64_t high)
{
	return low + (int64_t)usk_rng_below(r, (uint64_t)(high - low + 1));
}

static int by_left(const void *a, const void *b)
{
	const struct sim_message *x = a, *y = b;
	return x->left_ns != y->left_ns ? (x->left_ns > y->left_ns) - (x->left_ns < y->left_ns)
	       : x->from != y->from	? (x->from > y->from) - (x->from < y->from)
					: (x->to > y->to) - (x->to < y->to);
}

/* One direction of a pair: its rate, its least delay and what queues add to it. */
static void draw_direction(struct network *w, struct usk_rng *r, uint32_t from, uint32_t to,
			   int64_t times)
{
	double gap_ns = 1e9 / log_between(r, 0.5, 20);
	int64_t least = times * llround(log_between(r, 2e4, 1.5e6));
	double tail = (double)times * log_between(r, 5e3, 3e5);
	int64_t at = w->start_ns;
	for (;;) {
		at += 1 + llround(usk_rng_exponential(r, gap_ns));
		int64_t delay = least + llround(usk_rng_exponential(r, tail));
		delay = delay < times * 2 * MS ? delay : times * 2 * MS;
		if (at + delay > w->end_ns) {
			return;
		}
		w->m = usk_room(w->m, w->n, &w->cap, sizeof *w->m);
		w->m[w->n++] = (struct sim_message){
			.from = from, .to = to, .left_ns = at, .arrived_ns = at + delay
		};
	}
}

static void draw_traffic(struct network *w, struct usk_rng *r, int64_t times)
{
	uint32_t kind = (uint32_t)usk_rng_below(r, 3); /* chain, tree, ring */
	for (uint32_t h = 1; h < w->hosts; h++) {
		uint32_t other = kind == 1 ? (uint32_t)usk_rng_below(r, h) : h - 1;
		draw_direction(w, r, other, h, times);
		draw_direction(w, r, h, other, times);
	}
	if (kind == 2) {
		draw_direction(w, r, w->hosts - 1, 0, times);
		draw_direction(w, r, 0, w->hosts - 1, times);
	}
	qsort(w->m, w->n, sizeof *w->m, by_left);
}

static int64_t draw_moment(struct usk_rng *r, int64_t length, bool ends)
{
	if (!ends) {
		return between(r, 1, length - 1);
	}
	const int64_t near = llround(log_between(r, 1e6, 2e9));
	return usk_rng_below(r, 2) ? near : length - near;
}

static void draw_steps(struct network *w, struct usk_rng *r, const struct job *j)
{
	int64_t length = w->end_ns - w->start_ns;
	w->n_steps = (size_t)between(r, 1, j->ends ? 1 : STEPS);
	for (size_t i = 0; i < w->n_steps; i++) {
		const double size_ns =
			j->small ? log_between(r, 1e5, 5e6) : log_between(r, 2e5, 1e8);
		const int64_t size = times_of(j) * llround(size_ns);
		w->step[i] = (struct sim_step){
			.host = (uint32_t)usk_rng_below(r, w->hosts),
			.after_ns = draw_moment(r, length, j->ends),
			.size_ns = usk_rng_below(r, 2) ? size : -size,
		};
	}
}

static int by_moment(const void *a, const void *b)
{
	const struct sim_step *x = a, *y = b;
	return (x->after_ns > y->after_ns) - (x->after_ns < y->after_ns);
}

static void make_clocks(struct network *w)
{
	qsort(w->step, w->n_steps, sizeof *w->step, by_moment);
	for (uint32_t h = 0; h < w->hosts; h++) {
		struct sim_clock *c = &w->clock[h];
		size_t cap = 0, cap_jumps = 0;
		sim_clock_free(c);
		sim_clock_init(c, w->start_ns, w->offset_ns[h], w->rate_e12[h]);
		for (size_t i = 0; i < w->n_steps; i++) {
			const struct sim_step *s = &w->step[i];
			if (s->host == h) {
				int64_t at = w->start_ns + s->after_ns;
				sim_clock_turn(c, &cap, at, s->size_ns, w->rate_e12[h]);
				c->jump =
					usk_room(c->jump, c->n_jumps, &cap_jumps, sizeof *c->jump);
				c->jump[c->n_jumps++] = (struct sim_jump){ at, s->size_ns, 0 };
			}
		}
	}
	for (size_t i = 0; i < w->n; i++) {
		struct sim_message *m = &w->m[i];
		m->sent_ns = sim_clock_read(&w->clock[m->from], m->left_ns);
		m->received_ns = sim_clock_read(&w->clock[m->to], m->arrived_ns);
	}
}

static bool all_beyond_doubt(const struct network *w)
{
	for (uint32_t h = 0; h < w->hosts; h++) {
		for (size_t i = 0; i < w->clock[h].n_jumps; i++) {
			if (!held_beyond_doubt(w->clock, w->hosts, h, &w->clock[h].jump[i], w->m,
					       w->n, MAX_SKEW, 1)) {
				return false;
			}
		}
	}
	return true;
}

static void draw(struct network *w, uint64_t seed, const struct job *j)
{
	struct usk_rng r;
	memset(w, 0, sizeof *w);
	usk_rng_seed(&r, usk_mix(seed ^ UINT64_C(0x6e6574776f726b73)));
	w->seed = seed;
	w->hosts = (uint32_t)between(&r, 3, HOSTS);
	w->start_ns = 1000 * SECOND;
	w->end_ns = w->start_ns + llround(log_between(&r, 30, 300) * 1e9);
	for (uint32_t h = 0; h < w->hosts; h++) {
		w->offset_ns[h] = between(&r, -10 * SECOND, 10 * SECOND);
		w->rate_e12[h] = between(&r, -MAX_SKEW / 5, MAX_SKEW / 5);
	}
	draw_traffic(w, &r, times_of(j));
	do {
		draw_steps(w, &r, j);
		make_clocks(w);
	} while (!j->small && !all_beyond_doubt(w));
}

static void network_free(struct network *w)
{
	for (uint32_t h = 0; h < w->hosts; h++) {
		sim_clock_free(&w->clock[h]);
	}
	free(w->m);
}

/* ---- judging --------------------------------------------------------------------------------- */

static void keep(const char *folder, uint64_t seed, const char *text, size_t size)
{
	char path[4096];
	snprintf(path, sizeof path, "%s/%llu.csv", folder, (unsigned long long)seed);
	FILE *f = fopen(path, "w");
	if (!f || fwrite(text, 1, size, f) != size || fclose(f)) {
		perror(path);
		exit(1);
	}
}

static struct usk_clocks *synchronise(const struct network *w, const struct job *j,
				      struct usk_err *err)
{
	static const char head[] = "sender,receiver,sent_ns,received_ns\n";
	size_t room = sizeof head + 80 * w->n, size = sizeof head - 1;
	char *text = usk_alloc(room, 1);
	struct usk_trace *trace = NULL;
	struct usk_clocks *answer = NULL;
	const struct usk_sync_options segments = {
		.model = "segments=auto", .max_outliers = -1, .from_ns = USK_NONE, .to_ns = USK_NONE
	};
	memcpy(text, head, sizeof head);
	for (size_t i = 0; i < w->n; i++) {
		const struct sim_message *m = &w->m[i];
		size += (size_t)snprintf(text + size, room - size, "host%u,host%u,%lld,%lld\n",
					 m->from, m->to, (long long)m->sent_ns,
					 (long long)m->received_ns);
	}
	if (j->keep) {
		keep(j->keep, w->seed, text, size);
	}
	if (!usk_trace_open_memory(text, size, NULL, &trace, err)) {
		usk_sync(&trace, 1, j->segments ? &segments : NULL, &answer, err);
	}
	usk_trace_close(trace);
	free(text);
	return answer;
}

static void print_network(const struct network *w)
{
	printf("    %u hosts, %.0f s, %zu messages, steps:", w->hosts,
	       (double)(w->end_ns - w->start_ns) * 1e-9, w->n);
	for (size_t i = 0; i < w->n_steps; i++) {
		printf(" host%u at %.6f s by %+.3f ms%s", w->step[i].host,
		       (double)w->step[i].after_ns * 1e-9, (double)w->step[i].size_ns * 1e-6,
		       i + 1 < w->n_steps ? "," : "\n");
	}
}

static void add_clock(struct tally *t, const struct network *w, const struct usk_clocks *a,
		      uint32_t clock, const struct held *h)
{
	const struct usk_clock *c = &a->clock[clock];
	t->clocks++;
	t->contradicted += c->quality == USK_CONTRADICTED;
	t->absent += c->quality == USK_ABSENT;
	t->wrong += h->outside > 0;
	if (h->halves) {
		t->half_ns += h->half_ns / (double)h->halves;
		t->log_half += log(h->half_ns / (double)h->halves);
		t->halves++;
	}
	if (h->by_ns > t->worst_ns) {
		t->worst_ns = h->by_ns;
		t->worst_seed = w->seed;
	}
	if (h->outside && !h->by_ns) {
		printf("network %llu: %s: no two knots for an epoch\n", (unsigned long long)w->seed,
		       c->name);
	} else if (h->outside) {
		printf("network %llu: %s against %s: %llu of %llu moments outside, most at %.6f s, "
		       "local %lld: the true offset %lld is %.3f us outside [%lld, %lld]\n",
		       (unsigned long long)w->seed, c->name, a->clock[c->reference].name,
		       (unsigned long long)h->outside, (unsigned long long)h->moments,
		       (double)(h->true_ns - w->start_ns) * 1e-9, (long long)h->local_ns,
		       (long long)h->truth_ns, (double)h->by_ns * 1e-3, (long long)h->lo_ns,
		       (long long)h->hi_ns);
	} else if (c->quality == USK_CONTRADICTED) {
		printf("network %llu: %s is contradicted\n", (unsigned long long)w->seed, c->name);
	}
}

static size_t host_of(const struct usk_clock *c)
{
	return strtoul(c->name + strlen("host"), NULL, 10);
}

static bool names(const struct usk_jump *j, uint32_t whom)
{
	return j->of == whom || j->or_of == whom;
}

/* Was a step, by the clock's stamps of before and behind it, between those that its entry tells? */
static bool holds(const struct network *w, size_t host, const struct usk_jump *j,
		  const struct sim_step *s)
{
	const int64_t now = sim_clock_read(&w->clock[host], w->start_ns + s->after_ns);
	const int64_t before = now - (s->host == host ? s->size_ns : 0);
	return j->after_local_ns <= (before < now ? before : now) &&
	       (before < now ? now : before) <= j->before_local_ns;
}

/* Is each step told in the entries of whom it moves against the reference, and none together with one of the other
 * direction? */
static bool tells_clock(const struct network *w, const struct usk_clocks *a, uint32_t i)
{
	const struct usk_clock *c = &a->clock[i];
	const size_t host = host_of(c), reference = host_of(&a->clock[c->reference]);
	size_t told = 0, concern = 0;
	bool mixed = false;
	for (size_t n = 0; n < w->n_steps; n++) {
		concern += w->step[n].host == host || w->step[n].host == reference;
	}
	bool up = false,
	     down = false; /* in entries that follow on each other: in part they are one bracket */
	for (size_t k = 0; k < c->n_jumps; k++) {
		const bool follows =
			k && c->jump[k].after_local_ns <= c->jump[k - 1].before_local_ns;
		up = follows && up;
		down = follows && down;
		for (size_t n = 0; n < w->n_steps; n++) {
			const struct sim_step *s = &w->step[n];
			const bool own = s->host == host, theirs = s->host == reference;
			if ((own || theirs) && names(&c->jump[k], own ? i : c->reference) &&
			    holds(w, host, &c->jump[k], s)) {
				told++;
				up = up || (s->size_ns > 0) == theirs;
				down = down || (s->size_ns > 0) == own;
			}
		}
		mixed = mixed || (up && down);
	}
	return told >= concern && !mixed;
}

/* Did the offset between two clocks that an entry names move in one direction only? Against the reference see above. */
static bool moves_one_way(const struct network *w, const struct usk_clocks *a, uint32_t i,
			  const struct usk_jump *j)
{
	const uint32_t other = j->of == i ? j->or_of : j->of;
	const size_t host = host_of(&a->clock[i]);
	bool up = false, down = false;
	if (!names(j, i) || other == USK_NO_CLOCK || other == a->clock[i].reference) {
		return true;
	}
	for (size_t n = 0; n < w->n_steps; n++) {
		const struct sim_step *s = &w->step[n];
		const bool own = s->host == host;
		if ((own || s->host == host_of(&a->clock[other])) && holds(w, host, j, s)) {
			up = up || (s->size_ns > 0) == own;
			down = down || (s->size_ns > 0) != own;
		}
	}
	return !(up && down);
}

static bool tells_all(const struct network *w, const struct usk_clocks *a)
{
	bool good = true;
	for (uint32_t i = 0; i < a->n_clocks; i++) {
		const struct usk_clock *c = &a->clock[i];
		good = good && (c->quality == USK_REFERENCE ||
				(c->reference != USK_NO_CLOCK && tells_clock(w, a, i)));
		for (size_t k = 0; k < c->n_jumps; k++) {
			good = good && moves_one_way(w, a, i, &c->jump[k]);
		}
	}
	return good;
}

static void judge(struct tally *t, const struct job *j, const struct network *w)
{
	struct usk_err err = { 0 };
	struct usk_clocks *a = synchronise(w, j, &err);
	t->networks++;
	if (!a) {
		printf("network %llu: no answer: %s\n", (unsigned long long)w->seed, err.msg);
		t->errors++;
		return;
	}
	if (j->small && !tells_all(w, a)) {
		t->untold++;
		usk_clocks_free(a);
		return;
	}
	const struct sim_clock *truth[HOSTS];
	struct held_moments moments[HOSTS] = { { 0 } };
	struct held held[HOSTS];
	struct tally before = *t;
	for (size_t i = 0; i < a->n_clocks; i++) {
		const size_t host = host_of(&a->clock[i]);
		truth[i] = &w->clock[host];
		moments[i].resolution_ns = 1;
		held_grid(&moments[i], w->start_ns, w->end_ns, GRID);
		for (uint32_t h = 0; h < w->hosts; h++) {
			held_around(&moments[i], &w->clock[h], w->start_ns, w->end_ns);
		}
		for (size_t k = 0; k < w->n; k++) {
			if (w->m[k].from == host) {
				held_moment(&moments[i], w->m[k].left_ns);
				held_stamp(&moments[i],
					   (struct held_stamp){ w->m[k].sent_ns, w->m[k].left_ns,
								true });
			} else if (w->m[k].to == host) {
				held_moment(&moments[i], w->m[k].arrived_ns);
				held_stamp(&moments[i],
					   (struct held_stamp){ w->m[k].received_ns,
								w->m[k].arrived_ns, false });
			}
		}
	}
	held_check(a, truth, moments, held);
	for (uint32_t i = 0; i < a->n_clocks; i++) {
		if (a->clock[i].quality != USK_REFERENCE) {
			add_clock(t, w, a, i, &held[i]);
		}
		free(moments[i].true_ns);
		free(moments[i].stamp);
	}
	bool bad = t->wrong > before.wrong || t->contradicted > before.contradicted;
	if (bad || j->verbose) {
		if (!bad) {
			printf("network %llu: holds\n", (unsigned long long)w->seed);
		}
		print_network(w);
		fflush(stdout);
	}
	usk_clocks_free(a);
}

static struct tally work(const struct job *j, uint64_t offset)
{
	struct tally t = { 0 };
	for (uint64_t i = offset; i < j->count; i += j->jobs) {
		struct network w;
		draw(&w, j->first + i, j);
		judge(&t, j, &w);
		network_free(&w);
	}
	return t;
}

/* ---- processes ------------------------------------------------------------------------------- */

static void add(struct tally *all, const struct tally *t)
{
	all->networks += t->networks;
	all->clocks += t->clocks;
	all->wrong += t->wrong;
	all->contradicted += t->contradicted;
	all->absent += t->absent;
	all->errors += t->errors;
	all->untold += t->untold;
	all->half_ns += t->half_ns;
	all->log_half += t->log_half;
	all->halves += t->halves;
	if (t->worst_ns > all->worst_ns) {
		all->worst_ns = t->worst_ns;
		all->worst_seed = t->worst_seed;
	}
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
			t = (struct tally){ .errors = 1 };
		}
		close(from[k]);
		add(&all, &t);
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
		} else if (!strcmp(argv[i], "--small")) {
			j->small = true;
		} else if (!strcmp(argv[i], "--ends")) {
			j->ends = true;
		} else if (!strcmp(argv[i], "--segments")) {
			j->segments = true;
		} else if (!strcmp(argv[i], "--wan")) {
			j->wan = true;
		} else if (!strcmp(argv[i], "--keep") && i + 1 < argc) {
			j->keep = argv[++i];
		} else if (number && i + 1 < argc) {
			*number = strtoull(argv[++i], NULL, 10);
		} else {
			return false;
		}
	}
	if (j->count > 1) { /* one is that one, however many are asked for */
		j->first += case_first(j->count) - 1;
		j->count = case_count(j->count);
	}
	return j->jobs > 0 && j->jobs < 64;
}

int main(int argc, char **argv)
{
	struct job j = { .first = 1, .count = 2000, .jobs = 1 };
	if (!read_arguments(argc, argv, &j)) {
		fprintf(stderr, "usage: networks [--count N] [--seed FIRST] [--jobs N] "
				"[--verbose] [--small | --ends] [--segments] "
				"[--wan] [--keep FOLDER]\n");
		return 2;
	}
	struct tally t = share(&j);
	double n = t.halves ? (double)t.halves : 1;
	if (t.worst_ns) {
		printf("worst: network %llu, %.3f us outside\n", (unsigned long long)t.worst_seed,
		       (double)t.worst_ns * 1e-3);
	}
	printf("%llu clocks contradicted, %llu absent, %llu networks without an answer\n",
	       (unsigned long long)t.contradicted, (unsigned long long)t.absent,
	       (unsigned long long)t.errors);
	if (j.small) {
		printf("%llu networks not judged: not all of their steps are told, or one entry "
		       "tells of some that moved an offset both ways\n",
		       (unsigned long long)t.untold);
	}
	printf("half width of %llu clocks: mean %.3f us, geometric mean %.3f us\n",
	       (unsigned long long)t.halves, t.half_ns / n * 1e-3, exp(t.log_half / n) * 1e-3);
	printf("%llu networks, %llu clocks, %llu with a band that excludes the truth\n",
	       (unsigned long long)t.networks, (unsigned long long)t.clocks,
	       (unsigned long long)t.wrong);
	/* A clock that fits exists: to contradict it excludes the truth as well. */
	return t.wrong || t.contradicted || t.errors || t.networks != j.count;
}

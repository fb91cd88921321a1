/* SPDX-License-Identifier: MIT */
/*
 * campaign.c - many random scenarios; whatever the answer promises must be true in all of them
 *
 * In    [--count N] [--seed FIRST] [--seeds SEED,...] [--jobs N] [--model MODEL] [--solve HOW]
 *       [--known SEED,...] [--verbose] [UNSKEW]
 * Out   a line at the end; for a case that fails what is wrong and the commands that make it again
 *
 * A case is made by its seed alone. With UNSKEW, the path of the program, every 25th table is also
 * made by the command that would be printed, and must be the same. Seeds of faults that are known
 * and not mended yet are told as such; one that does not fail any more has to be struck off the
 * list. Seeds of faults that were fixed are cases of the suite (meson.build). A case that takes
 * minutes of a processor does not end, as far as anyone can tell, and fails.
 */
#include "../part.h"
#include "shell.h"
#include "trial.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

struct job {
	const char *program, *unskew, *model, *solve, *known, *seeds, *dir;
	uint64_t first, count, jobs;
	bool verbose;
};

struct tally {
	uint64_t cases, failed, known, kept, loose, loose_held, bounded, contradicted, stepped;
	uint64_t moments, messages, left_out;
	uint64_t wrong[TRIAL_WRONGS];
	double nearest;
};

/* The next seed of a list; NULL: there is no more. */
static const char *next_seed(const char *list, uint64_t *seed)
{
	char *end;
	if (!list) {
		return NULL;
	}
	*seed = strtoull(list, &end, 10);
	return end == list ? NULL : end + (*end == ',');
}

static bool is_known(const struct job *j, uint64_t seed)
{
	uint64_t k;
	bool found = false;
	for (const char *p = j->known; (p = next_seed(p, &k));) {
		found = found || k == seed;
	}
	return found;
}

static uint64_t seed_of(const struct job *j, uint64_t i)
{
	uint64_t seed = j->first + i;
	const char *p = j->seeds;
	for (uint64_t k = 0; k <= i && p; k++) {
		p = next_seed(p, &seed);
	}
	return seed;
}

static void add(struct tally *t, const struct trial_result *r, bool known)
{
	t->cases++;
	t->known += r->failed && known;
	t->failed += r->failed != known;
	t->kept += r->kept;
	t->loose += r->loose;
	t->loose_held += r->loose_held;
	t->bounded += r->bounded;
	t->contradicted += r->contradicted;
	t->stepped += r->stepped;
	t->moments += r->moments;
	t->messages += r->messages;
	t->left_out += r->left_out;
	for (int k = 0; k < TRIAL_WRONGS; k++) {
		t->wrong[k] += r->wrong[k];
	}
	t->nearest = r->nearest < t->nearest ? r->nearest : t->nearest;
}

static void print_case(const struct job *j, const struct scenario *s, const struct trial_result *r)
{
	char *dir = usk_format("/tmp/campaign-%llu", (unsigned long long)s->seed);
	char *simulate = scenario_simulate(s, j->unskew ? j->unskew : "unskew", dir);
	char *sync = scenario_sync(s, j->unskew ? j->unskew : "unskew", dir);
	char *model = usk_format("%s%s%s%s", j->model ? " --model " : "", j->model ? j->model : "",
				 j->solve ? " --solve " : "", j->solve ? j->solve : "");
	char *again = usk_format("mkdir -p %s", dir);
	if (s->o.n_series && (system(again) || !scenario_write_series(s, dir))) {
		perror(dir);
	}
	/* In one piece, as several processes print. */
	bool known = is_known(j, s->seed);
	const char *verdict = known	  ? (r->failed ? "KNOWN" : "MENDED")
			      : r->failed ? "FAILS"
					  : "passes";
	const char *why = r->failed ? r->why : known ? "strike it off --known" : "looked at only";
	char *all = usk_format("%s case %llu: %s\n    %s --seed %llu --count 1%s\n    %s\n    %s\n",
			       verdict, (unsigned long long)s->seed, why, j->program,
			       (unsigned long long)s->seed, model, simulate, sync);
	fputs(all, stdout);
	fflush(stdout);
	char *parts[] = { dir, simulate, sync, model, again, all };
	for (size_t i = 0; i < COUNT(parts); i++) {
		free(parts[i]);
	}
}

/* The printed command makes what was looked at. */
static void check_command(const struct job *j, const struct scenario *s, struct trial_result *r)
{
	char *one = usk_format("%s/one", j->dir), *two = usk_format("%s/two", j->dir);
	char *simulate = scenario_simulate(s, j->unskew, one);
	char *compare = usk_format("cmp %s/messages.csv %s/messages.csv", one, two);
	struct usk_err err = { 0 };
	char *make = usk_format("mkdir -p %s", one);
	if (system(make) || !scenario_write_series(s, one) || system(simulate)) {
		snprintf(r->why, sizeof r->why, "the command does not work");
		r->failed = true;
	} else if (sim_run(&s->o, two, true, NULL, &err) || system(compare)) {
		snprintf(r->why, sizeof r->why, "the command makes something else %.200s", err.msg);
		r->failed = true;
	}
	char *parts[] = { one, two, simulate, compare, make };
	for (size_t i = 0; i < COUNT(parts); i++) {
		free(parts[i]);
	}
}

/* Seconds of a processor for a case. All that ever ended took a few. */
enum { CASE_S = 120 };

static uint64_t under_way;

static void on_limit(int signal)
{
	char text[80];
	int n = snprintf(text, sizeof text, "FAILS case %llu: not done after %d s of a processor\n",
			 (unsigned long long)under_way, CASE_S);
	_exit(write(1, text, (size_t)n) == n ? signal : 1);
}

static void begin_limit(uint64_t seed)
{
	const struct itimerval limit = { .it_value = { .tv_sec = CASE_S } };
	under_way = seed;
	signal(SIGPROF, on_limit);
	setitimer(ITIMER_PROF, &limit, NULL);
}

static struct tally work(const struct job *j, uint64_t offset)
{
	struct tally t = { .nearest = 1 };
	char *dir = usk_format("%s/%llu", j->dir, (unsigned long long)offset);
	struct job mine = *j;
	mine.dir = dir;
	char *make = usk_format("mkdir -p %s", dir);
	if (system(make)) {
		perror(dir);
	}
	for (uint64_t i = offset; i < j->count; i += j->jobs) {
		struct scenario s;
		struct trial_result r;
		scenario_draw(&s, seed_of(j, i), j->model, j->solve);
		begin_limit(s.seed);
		trial_run(&s, dir, &r);
		if (!r.failed && j->unskew && s.seed % 25 == 0) {
			check_command(&mine, &s, &r);
		}
		bool known = is_known(j, s.seed);
		add(&t, &r, known);
		if (r.failed || known || j->verbose) {
			print_case(j, &s, &r);
		}
		if (j->verbose) {
			printf("    kept %d, held all the same %llu of %llu, bounded %d, "
			       "contradicted %d, stepped %d, half "
			       "width %.1f us, nearest %.4f, %llu messages\n",
			       r.kept, (unsigned long long)r.loose_held,
			       (unsigned long long)r.loose, r.bounded, r.contradicted, r.stepped,
			       r.width / 1e3, r.nearest, (unsigned long long)r.messages);
		}
		scenario_free(&s);
	}
	free(make);
	free(dir);
	return t;
}

/* Processes that share the cases; their counts come back through pipes. */
static struct tally share(const struct job *j)
{
	struct tally all = { .nearest = 1 };
	int *from = usk_alloc(j->jobs, sizeof *from);
	for (uint64_t k = 0; k < j->jobs; k++) {
		int ends[2];
		if (pipe(ends)) {
			perror("pipe");
			exit(1);
		}
		fflush(stdout);
		if (!fork()) {
			struct tally t = work(j, k);
			ssize_t n = write(ends[1], &t, sizeof t);
			_exit(n != (ssize_t)sizeof t);
		}
		close(ends[1]);
		from[k] = ends[0];
	}
	for (uint64_t k = 0; k < j->jobs; k++) {
		struct tally t = { .failed = 1 };
		if (read(from[k], &t, sizeof t) != (ssize_t)sizeof t) {
			printf("FAILS: a process ended early\n");
		}
		close(from[k]);
		all.cases += t.cases;
		all.failed += t.failed;
		all.known += t.known;
		all.kept += t.kept;
		all.loose += t.loose;
		all.loose_held += t.loose_held;
		all.bounded += t.bounded;
		all.contradicted += t.contradicted;
		all.stepped += t.stepped;
		all.moments += t.moments;
		all.messages += t.messages;
		all.left_out += t.left_out;
		for (int i = 0; i < TRIAL_WRONGS; i++) {
			all.wrong[i] += t.wrong[i];
		}
		all.nearest = t.nearest < all.nearest ? t.nearest : all.nearest;
	}
	while (wait(NULL) > 0) {
	}
	free(from);
	return all;
}

static bool read_arguments(int argc, char **argv, struct job *j)
{
	for (int i = 1; i < argc; i++) {
		const char *value = i + 1 < argc ? argv[i + 1] : NULL;
		uint64_t *number = !strcmp(argv[i], "--count")	? &j->count
				   : !strcmp(argv[i], "--seed") ? &j->first
				   : !strcmp(argv[i], "--jobs") ? &j->jobs
								: NULL;
		if (!strcmp(argv[i], "--verbose")) {
			j->verbose = true;
		} else if (number && value) {
			*number = strtoull(value, NULL, 10);
			i++;
		} else if (!strcmp(argv[i], "--known") && value) {
			j->known = value;
			i++;
		} else if (!strcmp(argv[i], "--seeds") && value) {
			uint64_t seed;
			j->seeds = value;
			j->count = 0;
			for (const char *p = value; (p = next_seed(p, &seed));) {
				j->first = j->count++ ? j->first : seed;
			}
			i++;
		} else if ((!strcmp(argv[i], "--model") || !strcmp(argv[i], "--solve")) && value) {
			*(argv[i][2] == 'm' ? &j->model : &j->solve) = value;
			i++;
		} else if (argv[i][0] != '-') {
			shell_words(2, argv + i - 1);
			j->unskew = argv[i];
		} else {
			return false;
		}
	}
	if (!j->seeds) {
		j->first += case_first(j->count) - 1;
		j->count = case_count(j->count);
	}
	return j->jobs > 0 && j->jobs < 64;
}

int main(int argc, char **argv)
{
	struct job j = { .program = argv[0], .first = 1, .count = 300, .jobs = 1 };
	if (!read_arguments(argc, argv, &j)) {
		fprintf(stderr, "usage: campaign [--count N] [--seed FIRST] [--seeds SEED,...] "
				"[--jobs N] [--model MODEL] [--solve HOW] [--known SEED,...] "
				"[--verbose] [UNSKEW]\n");
		return 2;
	}
	char dir[] = "/tmp/unskew-campaign-XXXXXX";
	if (!mkdtemp(dir)) {
		perror(dir);
		return 1;
	}
	j.dir = dir;
	struct tally t = share(&j);
	printf("%llu cases from seed %llu on, %llu fail, %llu known to; %llu bounded, %llu "
	       "contradicted, %llu stepped; %llu moments, %llu messages; the truth came within "
	       "%.5f of the half width to a band's edge\n",
	       (unsigned long long)t.cases, (unsigned long long)j.first,
	       (unsigned long long)t.failed, (unsigned long long)t.known,
	       (unsigned long long)t.bounded, (unsigned long long)t.contradicted,
	       (unsigned long long)t.stepped, (unsigned long long)t.moments,
	       (unsigned long long)t.messages, t.nearest);
	printf("%llu of %llu cases kept what the answer assumes; in the others the bands of %llu "
	       "of %llu clocks held all the same, and %llu messages were left out\n",
	       (unsigned long long)t.kept, (unsigned long long)t.cases,
	       (unsigned long long)t.loose_held, (unsigned long long)t.loose,
	       (unsigned long long)t.left_out);
	printf("cases with a false band %llu, a band that excludes a message %llu, an inversion "
	       "%llu, "
	       "a failed self-check %llu, a clock contradicted without need %llu, anything else "
	       "%llu\n",
	       (unsigned long long)t.wrong[TRIAL_BAND], (unsigned long long)t.wrong[TRIAL_MESSAGE],
	       (unsigned long long)t.wrong[TRIAL_ORDER], (unsigned long long)t.wrong[TRIAL_SELF],
	       (unsigned long long)t.wrong[TRIAL_CONTRADICTED],
	       (unsigned long long)t.wrong[TRIAL_REST]);
	char *clean = usk_format("rm -rf '%s'", dir);
	if (system(clean)) {
		perror(clean);
	}
	free(clean);
	return t.failed || t.cases != j.count;
}

/* SPDX-License-Identifier: MIT */
/* hosts.c - two namespaces, processes in them, and what clients of `unskew probe` said there. */
#include "hosts.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

char hosts_dir[] = "/tmp/unskew-probe-XXXXXX";
char hosts_a[32], hosts_b[32];
int64_t hosts_since_ns;
size_t hosts_failed;

int64_t hosts_now_ns(void)
{
	struct timespec t;
	clock_gettime(CLOCK_REALTIME, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* ---- the truth --------------------------------------------------------------------- */

int64_t hosts_there_at(int64_t here)
{
	usk_i128 gone = (usk_i128)here - hosts_since_ns;
	return (int64_t)(here + HOUR_NS + usk_floor_div(gone * GAINS_E12, 1000000000000));
}

int64_t hosts_here_at(int64_t there)
{
	int64_t lo = there - 2 * HOUR_NS, hi = there;
	while (lo < hi) {
		int64_t mid = lo + (hi - lo + 1) / 2;
		if (hosts_there_at(mid) <= there) {
			lo = mid;
		} else {
			hi = mid - 1;
		}
	}
	return lo;
}

/* What is said of here at `there`, +- a bound; stamps are whole ns, so 1 more. */
static bool holds(int64_t there, int64_t here, int64_t bound)
{
	int64_t off = here - hosts_here_at(there);
	return llabs(off) <= bound + 1;
}

/* ---- processes ----------------------------------------------------------------------- */

int hosts_run(char *command)
{
	int status = system(command);
	free(command);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

pid_t hosts_start(const char *space, int seconds, const char *out, char *command)
{
	fflush(NULL);
	pid_t pid = fork();
	if (!pid) {
		char *all =
			usk_format("exec ip netns exec %s timeout %d %s >%s/%s 2>%s/%s.err", space,
				   seconds + 30, command, hosts_dir, out, hosts_dir, out);
		execl("/bin/sh", "sh", "-c", all, (char *)NULL);
		_exit(127);
	}
	free(command);
	return pid;
}

int hosts_finish(pid_t pid)
{
	int status = 0;
	waitpid(pid, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static void clean(void)
{
	hosts_run(usk_format("ip netns del %s 2>/dev/null; ip netns del %s 2>/dev/null", hosts_a,
			     hosts_b));
}

/* Killed: nothing of ours stays. Only calls that hosts_a handler may make. */
static void on_signal(int number)
{
	const char *space[] = { hosts_a, hosts_b };
	for (int i = 0; i < 2; i++) {
		pid_t pid = fork();
		if (!pid) {
			execlp("ip", "ip", "netns", "del", space[i], (char *)NULL);
			_exit(127);
		}
		waitpid(pid, NULL, 0);
	}
	_exit(128 + number);
}

/* NULL, or why not. */
static const char *make_spaces(void)
{
	snprintf(hosts_a, sizeof hosts_a, "unsk-%d-pa", (int)getpid());
	snprintf(hosts_b, sizeof hosts_b, "unsk-%d-pb", (int)getpid());
	if (geteuid()) {
		return "that takes root";
	}
	if (hosts_run(usk_strdup("command -v ip >/dev/null"))) {
		return "there is no `ip` here";
	}
	if (hosts_run(usk_format("ip netns add %s 2>%s/why", hosts_a, hosts_dir))) {
		return "not allowed";
	}
	signal(SIGTERM, on_signal);
	signal(SIGINT, on_signal);
	return hosts_run(usk_format("{ ip netns add %s && ip -n %s link add eth0 type veth peer "
				    "name eth0 netns %s && "
				    "ip -n %s addr add 192.0.2.1/24 dev eth0 && "
				    "ip -n %s addr add 192.0.2.2/24 dev eth0 && "
				    "{ ip -n %s addr add 2001:db8::1/64 dev eth0 nodad; "
				    "ip -n %s addr add 2001:db8::2/64 dev eth0 nodad; "
				    "for n in %s %s; do ip -n $n link set lo up && ip -n $n link "
				    "set eth0 up; done; }; "
				    "} 2>%s/why",
				    hosts_b, hosts_a, hosts_b, hosts_a, hosts_b, hosts_a, hosts_b,
				    hosts_a, hosts_b, hosts_dir))
		       ? "not allowed"
		       : NULL;
}

/* ---- what the clients said --------------------------------------------------------------- */

static int64_t number(const json_t *j, const char *name)
{
	const char *text = json_string_value(json_object_get(j, name));
	return text ? strtoll(text, NULL, 10) : 0;
}

static void take_round(struct watched *w, const json_t *j)
{
	w->rounds++;
	w->answered += json_integer_value(json_object_get(j, "answered")) > 0;
	if (!json_is_string(json_object_get(j, "here_ns"))) {
		return;
	}
	int64_t there = number(j, "there_ns"), here = number(j, "here_ns");
	int64_t bound = number(j, "precision_ns"), error = llabs(here - hosts_here_at(there));
	const char *said = json_string_value(json_object_get(j, "state"));
	if (w->known && said && !strcmp(said, "no answer")) {
		w->shrunk += bound <= w->last_bound;
		w->grown_ns += bound - w->last_bound;
	}
	w->known++;
	w->close += error < 20000;
	w->worst_error = error > w->worst_error ? error : w->worst_error;
	w->worst_bound = bound > w->worst_bound ? bound : w->worst_bound;
	w->first_there = w->first_there ? w->first_there : there;
	w->last_there = there;
	w->last_here = here;
	w->last_bound = bound;
	if (!holds(there, here, bound)) {
		w->wrong++;
		printf("FAILS: round %lld is off by %lld ns, bound %lld ns\n",
		       (long long)json_integer_value(json_object_get(j, "round")), (long long)error,
		       (long long)bound);
	}
}

struct watched hosts_read_rounds(const char *name)
{
	struct watched w = { .rounds = 0 };
	char *path = usk_format("%s/%s", hosts_dir, name), line[4096];
	FILE *f = fopen(path, "r");
	while (f && fgets(line, sizeof line, f)) {
		json_t *j = json_loads(line, 0, NULL);
		if (json_object_get(j, "unskew_probe")) {
			w.total = json_incref(j);
		} else if (j) {
			take_round(&w, j);
		}
		json_decref(j);
	}
	if (f) {
		fclose(f);
	}
	free(path);
	return w;
}

void hosts_expect(bool good, const char *what)
{
	if (!good) {
		printf("FAILS: %s\n", what);
		hosts_failed++;
	}
}

void hosts_judge(const char *name, const struct watched *w)
{
	long long best = 0, median = 0;
	const json_t *precision = json_object_get(w->total, "precision_ns");
	best = number(precision, "best");
	median = number(precision, "median");
	printf("%s: %zu rounds, %zu answered, %zu bounds, %zu of them wrong; error under 20 us in "
	       "%.1f %%, at most %.1f us; bound %.2f us at best, median %.2f us, at most %.1f us\n",
	       name, w->rounds, w->answered, w->known, w->wrong,
	       w->known ? 100.0 * (double)w->close / (double)w->known : 0.0,
	       (double)w->worst_error / 1e3, (double)best / 1e3, (double)median / 1e3,
	       (double)w->worst_bound / 1e3);
	hosts_expect(w->total != NULL, "the client printed no summary");
	hosts_expect(w->wrong == 0, "a bound does not hold");
	hosts_expect(w->known > 0, "nothing is known of the other clock");
}

pid_t hosts_serve(const char *unskew, int seconds)
{
	hosts_since_ns = hosts_now_ns();
	return hosts_start(
		hosts_b, seconds, "server",
		usk_format("%s probe serve --json --key %s/key --offset 1h --drift-ppm 80 "
			   "--since %lld --duration %ds",
			   unskew, hosts_dir, (long long)hosts_since_ns, seconds));
}

int hosts_make(const char *unskew)
{
	if (!mkdtemp(hosts_dir)) {
		perror(hosts_dir);
		return 2;
	}
	if (hosts_run(usk_format("%s --version | grep -q libsodium && ! %s --version | grep -q "
				 "'without.*libsodium'",
				 unskew, unskew))) {
		puts("this unskew was built without libsodium");
		return 77;
	}
	const char *why = make_spaces();
	if (why) {
		printf("cannot make network namespaces: %s\n", why);
		hosts_run(usk_format("cat %s/why 2>/dev/null", hosts_dir));
		hosts_end();
		return 77;
	}
	hosts_expect(!hosts_run(usk_format("%s probe key -q -o %s/key", unskew, hosts_dir)),
		     "no key was made");
	return 0;
}

int hosts_end(void)
{
	clean();
	if (hosts_failed) {
		printf("kept: %s\n", hosts_dir);
		return 1;
	}
	hosts_run(usk_format("rm -rf '%s'", hosts_dir));
	return 0;
}

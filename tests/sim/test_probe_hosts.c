/* SPDX-License-Identifier: MIT */
/*
 * test_probe_hosts.c - `unskew probe` between two network namespaces, against the known truth
 *
 * In    paths of unskew and relay; --seconds N, 60 unless told
 * Out   every round's bound held against the truth, figures; status 77 where namespaces are not
 *       to be had
 * Why   both namespaces have the kernel's one clock; one side reads it through a made-up one
 *       that is an hour ahead and gains 80 ppm, so the truth is a formula
 *
 * At the same time: a client over IPv4, which fills a table and a map in shared memory, one over
 * IPv6, and one through a relay that loses, delays, repeats, forges and cuts packets.
 */
#include "base/base.h"
#include "unskew_clock.h"

#include <jansson.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#if defined(__SANITIZE_ADDRESS__)
enum { SLOW = true };
#else
enum { SLOW = false };
#endif

#define HOUR_NS	  INT64_C(3600000000000)
#define GAINS_E12 INT64_C(80000000)

static char dir[] = "/tmp/unskew-probe-XXXXXX";
static char a[32], b[32]; /* the namespaces */
static int64_t since_ns;
static size_t failed;
static bool busy; /* this machine has so much else to do that figures say nothing */

static int64_t now_ns(void)
{
	struct timespec t;
	clock_gettime(CLOCK_REALTIME, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* ---- the truth --------------------------------------------------------------------- */

static int64_t there_at(int64_t here)
{
	usk_i128 gone = (usk_i128)here - since_ns;
	return (int64_t)(here + HOUR_NS + usk_floor_div(gone * GAINS_E12, 1000000000000));
}

/* The last ns of this clock at which the other does not read more than `there`. */
static int64_t here_at(int64_t there)
{
	int64_t lo = there - 2 * HOUR_NS, hi = there;
	while (lo < hi) {
		int64_t mid = lo + (hi - lo + 1) / 2;
		if (there_at(mid) <= there) {
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
	int64_t off = here - here_at(there);
	return llabs(off) <= bound + 1;
}

/* ---- processes ----------------------------------------------------------------------- */

static int run(char *command)
{
	int status = system(command);
	free(command);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

/* In a namespace; `timeout` ends it whatever happens to us. Frees the command. */
static pid_t start(const char *space, int seconds, const char *out, char *command)
{
	fflush(NULL);
	pid_t pid = fork();
	if (!pid) {
		char *all = usk_format("exec ip netns exec %s timeout %d %s >%s/%s 2>%s/%s.err",
				       space, seconds + 30, command, dir, out, dir, out);
		execl("/bin/sh", "sh", "-c", all, (char *)NULL);
		_exit(127);
	}
	free(command);
	return pid;
}

static int finish(pid_t pid)
{
	int status = 0;
	waitpid(pid, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static void clean(void)
{
	run(usk_format("ip netns del %s 2>/dev/null; ip netns del %s 2>/dev/null", a, b));
}

/* Killed: nothing of ours stays. Only calls that a handler may make. */
static void on_signal(int number)
{
	const char *space[] = { a, b };
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

static bool make_spaces(void)
{
	snprintf(a, sizeof a, "unsk-%d-pa", (int)getpid());
	snprintf(b, sizeof b, "unsk-%d-pb", (int)getpid());
	if (geteuid() ||
	    run(usk_format("command -v ip >/dev/null && ip netns add %s 2>%s/why", a, dir))) {
		return false;
	}
	signal(SIGTERM, on_signal);
	signal(SIGINT, on_signal);
	return !run(usk_format(
		"{ ip netns add %s && ip -n %s link add eth0 type veth peer name eth0 netns %s && "
		"ip -n %s addr add 192.0.2.1/24 dev eth0 && "
		"ip -n %s addr add 192.0.2.2/24 dev eth0 && "
		"{ ip -n %s addr add 2001:db8::1/64 dev eth0 nodad; "
		"ip -n %s addr add 2001:db8::2/64 dev eth0 nodad; "
		"for n in %s %s; do ip -n $n link set lo up && ip -n $n link set eth0 up; done; }; "
		"} 2>%s/why",
		b, a, b, a, b, a, b, a, b, dir));
}

/* ---- what the clients said --------------------------------------------------------------- */

struct watched {
	size_t rounds, answered, known, wrong, close;
	int64_t worst_error, worst_bound;
	json_t *total;
	int64_t first_there, last_there, last_here, last_bound;
	int64_t grown_ns; /* by how much the bound grew in rounds without an answer */
	size_t shrunk;	  /* such rounds in which it did not */
};

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
	int64_t bound = number(j, "precision_ns"), error = llabs(here - here_at(there));
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

static struct watched read_rounds(const char *name)
{
	struct watched w = { .rounds = 0 };
	char *path = usk_format("%s/%s", dir, name), line[4096];
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

static void expect(bool good, const char *what)
{
	if (!good) {
		printf("FAILS: %s\n", what);
		failed++;
	}
}

static void judge(const char *name, const struct watched *w)
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
	expect(w->total != NULL, "the client printed no summary");
	expect(w->wrong == 0, "a bound does not hold");
	expect(w->known > 0, "nothing is known of the other clock");
}

static int64_t refused(const struct watched *w, const char *what)
{
	return json_integer_value(json_object_get(json_object_get(w->total, "refused"), what));
}

/* ---- the parts ----------------------------------------------------------------------------- */

/* The map in shared memory, read now and then by somebody else. */
static void watch_live(const char *path, int seconds)
{
	struct usk_live *live = NULL;
	size_t known = 0, wrong = 0, woken = 0, late = 0;
	const int64_t patience_ns = 2000000;
	struct timespec pause = { 0, 20000000 };
	int64_t end = now_ns() + seconds * INT64_C(1000000000);
	while (now_ns() < end) {
		int64_t due = now_ns() + pause.tv_nsec + patience_ns;
		nanosleep(&pause, NULL);
		late += now_ns() > due;
		woken++;
		struct usk_live_time t;
		if (!live && usk_live_open(path, &live, NULL)) {
			continue;
		}
		int64_t here = now_ns();
		if (usk_live_convert(live, there_at(here), &t) == USK_LIVE) {
			known++;
			wrong += llabs(t.local - here) > t.precision + 2;
		}
	}
	usk_live_close(live);
	busy = 50 * late > woken;
	printf("woken late: %zu of %zu times%s\n", late, woken,
	       busy ? ", so the machine is busy and precisions are not judged" : "");
	printf("map in memory: %zu readings, %zu of them wrong\n", known, wrong);
	expect(known > 0 && !wrong, "the map in shared memory does not hold");
}

/* The same from the table: `sync` ties the clocks, its band has the truth and meets the bound. */
static void check_table(const char *unskew, const char *name, const struct watched *w)
{
	char *out = usk_format("%s/converted", dir), line[256];
	int status = run(usk_format("%s sync -q --force --reference here -o %s/clocks.json "
				    "%s/%s.csv >%s/sync.out && %s convert %s/clocks.json --clock "
				    "there %lld %lld >%s",
				    unskew, dir, dir, name, dir, unskew, dir,
				    (long long)w->first_there, (long long)w->last_there, out));
	expect(status == 0, "sync did not tie the clocks by the table");
	FILE *f = fopen(out, "r");
	for (int i = 0; f && i < 2 && fgets(line, sizeof line, f); i++) {
		long long there = 0, here = 0, lo = 0, hi = 0;
		bool read = sscanf(line, "%lld %lld %lld %lld", &there, &here, &lo, &hi) == 4;
		int64_t truth = here_at(there);
		printf("table of %s: band of %.2f us, %s, estimate off by %.2f us\n", name,
		       (double)(hi - lo) / 1e3, lo <= truth + 1 && truth <= hi ? "holds" : "FAILS",
		       (double)llabs(here - truth) / 1e3);
		expect(read && lo <= truth + 1 && truth <= hi, "the band of the table");
		expect(here >= lo && here <= hi, "the estimate of the table is outside its band");
		expect(SLOW || busy || llabs(here - truth) < 20000, "the estimate of the table");
		expect(i == 0 || (lo <= w->last_here + w->last_bound &&
				  hi >= w->last_here - w->last_bound),
		       "the table says something else than the rounds");
	}
	expect(f != NULL, "nothing was converted");
	if (f) {
		fclose(f);
	}
	free(out);
}

static void check_server(const char *name)
{
	char *path = usk_format("%s/%s", dir, name);
	json_t *j = json_load_file(path, 0, NULL);
	static const char *const told[] = { "answered", "malformed", "forged", "replayed" };
	printf("server:");
	for (size_t i = 0; i < COUNT(told); i++) {
		int64_t n = json_integer_value(json_object_get(j, told[i]));
		printf(" %lld %s%s", (long long)n, told[i], i + 1 < COUNT(told) ? "," : "\n");
		expect(n > 0, told[i]);
	}
	json_decref(j);
	free(path);
}

static void test(const char *unskew, const char *relay, int seconds)
{
	char *key = usk_format("%s/key", dir), *live = usk_format("%s/live", dir);
	char *common = usk_format("probe --json --key %s --period 200ms", key);
	expect(!run(usk_format("%s probe key -q -o %s", unskew, key)), "no key was made");
	since_ns = now_ns();
	pid_t server = start(b, seconds, "server",
			     usk_format("%s probe serve --json --key %s --offset 1h --drift-ppm 80 "
					"--since %lld --duration %ds",
					unskew, key, (long long)since_ns, seconds + 5));
	pid_t relayed = start(
		a, seconds, "relay",
		usk_format("%s 4720 192.0.2.2 4719 1 %d %d 5", relay, seconds + 4, seconds / 2));
	struct timespec pause = { 0, 700000000 };
	nanosleep(&pause, NULL);
	pid_t v4 = start(a, seconds, "v4",
			 usk_format("%s %s 192.0.2.2 --duration %ds -o %s/v4.csv --live %s "
				    "--here here --there there",
				    unskew, common, seconds, dir, live));
	pid_t v6 = start(
		a, seconds, "v6",
		usk_format("%s %s 2001:db8::2 --duration %ds", unskew, common, seconds / 4 + 1));
	pid_t bad = start(a, seconds, "bad",
			  usk_format("%s %s 127.0.0.1 --port 4720 --duration %ds --timeout 100ms "
				     "-o %s/bad.csv --here here --there there",
				     unskew, common, seconds, dir));
	watch_live(live, seconds);
	expect(!finish(v4), "the client over IPv4 failed");
	expect(!finish(v6), "the client over IPv6 failed");
	expect(!finish(bad), "the client through the relay failed");
	expect(!finish(relayed), "the relay failed");
	expect(!finish(server), "the server failed");
	struct watched w4 = read_rounds("v4"), w6 = read_rounds("v6"), wb = read_rounds("bad");
	judge("IPv4", &w4);
	judge("IPv6", &w6);
	judge("through the relay", &wb);
	expect(busy || w4.rounds >= (size_t)seconds * 4, "rounds over IPv4 were late");
	expect(SLOW || busy || w4.close * 100 >= w4.known * 95,
	       "error over 20 us in over 5 % of rounds");
	printf("rounds without an answer: %zu, the bound grew by %.2f us in them\n",
	       wb.rounds - wb.answered, (double)wb.grown_ns / 1e3);
	expect(wb.answered < wb.rounds, "the relay never kept all packets back");
	expect(wb.grown_ns > 0 && !wb.shrunk, "a bound does not grow without answers");
	expect(refused(&wb, "forged") > 0 && refused(&wb, "not_asked") > 0 &&
		       refused(&wb, "malformed") > 0,
	       "the relay's packets were not noticed");
	run(usk_format("cat %s/relay", dir));
	check_server("server");
	check_table(unskew, "v4", &w4);
	check_table(unskew, "bad", &wb);
	json_decref(w4.total);
	json_decref(w6.total);
	json_decref(wb.total);
	free(common);
	free(live);
	free(key);
}

int main(int argc, char **argv)
{
	int seconds = argc == 5 && !strcmp(argv[3], "--seconds") ? atoi(argv[4]) : 60;
	if ((argc != 3 && argc != 5) || seconds < 8 || !mkdtemp(dir)) {
		fprintf(stderr, "usage: test_probe_hosts UNSKEW RELAY [--seconds N, 8 at least]\n");
		return 2;
	}
	if (run(usk_format("%s --version | grep -q libsodium && ! %s --version | grep -q "
			   "'without.*libsodium'",
			   argv[1], argv[1]))) {
		puts("this unskew was built without libsodium");
		return 77;
	}
	if (!make_spaces()) {
		puts("cannot make network namespaces: not root, or not allowed");
		run(usk_format("cat %s/why", dir));
		clean();
		return 77;
	}
	test(argv[1], argv[2], seconds);
	clean();
	if (failed) {
		printf("kept: %s\n", dir);
		return 1;
	}
	run(usk_format("rm -rf '%s'", dir));
	return 0;
}

/* SPDX-License-Identifier: MIT */
/*
 * test_probe_hosts.c - `unskew probe` between two network namespaces, against the known truth
 *
 * In    paths of unskew and relay; --seconds N, 60 unless told
 * Out   every round's bound held against the truth, figures; status 77 where namespaces are not
 *       to be had
 * Why   what is promised of another machine's clock holds over a network, too
 *
 * At the same time: a client over IPv4, which fills a table and a map in shared memory, one over
 * IPv6, and one through a relay that loses, delays, repeats, forges and cuts packets.
 */
#include "hosts.h"
#include "shell.h"
#include "unskew_clock.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#if defined(__SANITIZE_ADDRESS__)
enum { SLOW = true };
#else
enum { SLOW = false };
#endif

static bool busy; /* this machine has so much else to do that figures say nothing */

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
	int64_t end = hosts_now_ns() + seconds * INT64_C(1000000000);
	while (hosts_now_ns() < end) {
		int64_t due = hosts_now_ns() + pause.tv_nsec + patience_ns;
		nanosleep(&pause, NULL);
		late += hosts_now_ns() > due;
		woken++;
		struct usk_live_time t;
		if (!live && usk_live_open(path, &live, NULL)) {
			continue;
		}
		int64_t here = hosts_now_ns();
		if (usk_live_convert(live, hosts_there_at(here), &t) == USK_LIVE) {
			known++;
			wrong += llabs(t.local - here) > t.precision + 2;
		}
	}
	usk_live_close(live);
	busy = 50 * late > woken;
	printf("woken late: %zu of %zu times%s\n", late, woken,
	       busy ? ", so the machine is busy and precisions are not judged" : "");
	printf("map in memory: %zu readings, %zu of them wrong\n", known, wrong);
	hosts_expect(known > 0 && !wrong, "the map in shared memory does not hold");
}

/* The same from the table: `sync` ties the clocks, its band has the truth and meets the bound. */
static void check_table(const char *unskew, const char *name, const struct watched *w)
{
	char *out = usk_format("%s/converted", hosts_dir), line[256];
	int status = hosts_run(
		usk_format("%s sync -q --force --reference here -o %s/clocks.json "
			   "%s/%s.csv >%s/sync.out && %s convert %s/clocks.json --clock "
			   "there %lld %lld >%s",
			   unskew, hosts_dir, hosts_dir, name, hosts_dir, unskew, hosts_dir,
			   (long long)w->first_there, (long long)w->last_there, out));
	hosts_expect(status == 0, "sync did not tie the clocks by the table");
	FILE *f = fopen(out, "r");
	for (int i = 0; f && i < 2 && fgets(line, sizeof line, f); i++) {
		long long there = 0, here = 0, lo = 0, hi = 0;
		bool read = sscanf(line, "%lld %lld %lld %lld", &there, &here, &lo, &hi) == 4;
		int64_t truth = hosts_here_at(there);
		printf("table of %s: band of %.2f us, %s, estimate off by %.2f us\n", name,
		       (double)(hi - lo) / 1e3, lo <= truth + 1 && truth <= hi ? "holds" : "FAILS",
		       (double)llabs(here - truth) / 1e3);
		hosts_expect(read && lo <= truth + 1 && truth <= hi, "the band of the table");
		hosts_expect(here >= lo && here <= hi,
			     "the estimate of the table is outside its band");
		hosts_expect(SLOW || busy || llabs(here - truth) < 20000,
			     "the estimate of the table");
		hosts_expect(i == 0 || (lo <= w->last_here + w->last_bound &&
					hi >= w->last_here - w->last_bound),
			     "the table says something else than the rounds");
	}
	hosts_expect(f != NULL, "nothing was converted");
	if (f) {
		fclose(f);
	}
	free(out);
}

static void check_server(const char *name)
{
	char *path = usk_format("%s/%s", hosts_dir, name);
	json_t *j = json_load_file(path, 0, NULL);
	static const char *const told[] = { "answered", "malformed", "forged", "replayed" };
	printf("server:");
	for (size_t i = 0; i < COUNT(told); i++) {
		int64_t n = json_integer_value(json_object_get(j, told[i]));
		printf(" %lld %s%s", (long long)n, told[i], i + 1 < COUNT(told) ? "," : "\n");
		hosts_expect(n > 0, told[i]);
	}
	json_decref(j);
	free(path);
}

static void test(const char *unskew, const char *relay, int seconds)
{
	char *key = usk_format("%s/key", hosts_dir), *live = usk_format("%s/live", hosts_dir);
	char *common = usk_format("probe --json --key %s --period 200ms", key);
	pid_t server = hosts_serve(unskew, seconds + 5);
	pid_t relayed = hosts_start(
		hosts_a, seconds, "relay",
		usk_format("%s 4720 192.0.2.2 4719 1 %d %d 5", relay, seconds + 4, seconds / 2));
	struct timespec pause = { 0, 700000000 };
	nanosleep(&pause, NULL);
	pid_t v4 = hosts_start(hosts_a, seconds, "v4",
			       usk_format("%s %s 192.0.2.2 --duration %ds -o %s/v4.csv --live %s "
					  "--here here --there there",
					  unskew, common, seconds, hosts_dir, live));
	pid_t v6 = hosts_start(
		hosts_a, seconds, "v6",
		usk_format("%s %s 2001:db8::2 --duration %ds", unskew, common, seconds / 4 + 1));
	pid_t bad =
		hosts_start(hosts_a, seconds, "bad",
			    usk_format("%s %s 127.0.0.1 --port 4720 --duration %ds --timeout 100ms "
				       "-o %s/bad.csv --here here --there there",
				       unskew, common, seconds, hosts_dir));
	watch_live(live, seconds);
	hosts_expect(!hosts_finish(v4), "the client over IPv4 failed");
	hosts_expect(!hosts_finish(v6), "the client over IPv6 failed");
	hosts_expect(!hosts_finish(bad), "the client through the relay failed");
	hosts_expect(!hosts_finish(relayed), "the relay failed");
	hosts_expect(!hosts_finish(server), "the server failed");
	struct watched w4 = hosts_read_rounds("v4"), w6 = hosts_read_rounds("v6"),
		       wb = hosts_read_rounds("bad");
	hosts_judge("IPv4", &w4);
	hosts_judge("IPv6", &w6);
	hosts_judge("through the relay", &wb);
	hosts_expect(busy || w4.rounds >= (size_t)seconds * 4, "rounds over IPv4 were late");
	hosts_expect(SLOW || busy || w4.close * 100 >= w4.known * 95,
		     "error over 20 us in over 5 % of rounds");
	printf("rounds without an answer: %zu, the bound grew by %.2f us in them\n",
	       wb.rounds - wb.answered, (double)wb.grown_ns / 1e3);
	hosts_expect(wb.answered < wb.rounds, "the relay never kept all packets back");
	hosts_expect(wb.grown_ns > 0 && !wb.shrunk, "a bound does not grow without answers");
	hosts_expect(refused(&wb, "forged") > 0 && refused(&wb, "not_asked") > 0 &&
			     refused(&wb, "malformed") > 0,
		     "the relay's packets were not noticed");
	hosts_run(usk_format("cat %s/relay", hosts_dir));
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
	if ((argc != 3 && argc != 5) || seconds < 8) {
		fprintf(stderr, "usage: test_probe_hosts UNSKEW RELAY [--seconds N, 8 at least]\n");
		return 2;
	}
	shell_words(3, argv);
	int status = hosts_make(argv[1]);
	if (status) {
		return status;
	}
	test(argv[1], argv[2], seconds);
	return hosts_end();
}

/* SPDX-License-Identifier: MIT */
/*
 * Who talks to whom, when, and how long it takes: each topology has the pairs that it should,
 * delays are never under their least and of the size asked for, broadcasts reach all at once.
 */
#include "sim.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define SECOND INT64_C(1000000000)
#define MOST   60

static const int64_t zero[] = { 0 };

struct seen {
	const struct sim_options *o;
	size_t n, pair[MOST][MOST];
	struct sim_message *m;
	size_t cap;
};

static void take(void *ctx, const struct sim_message *m)
{
	struct seen *s = ctx;
	s->m = usk_room(s->m, s->n, &s->cap, sizeof *s->m);
	s->m[s->n++] = *m;
	s->pair[m->from][m->to]++;
}

static struct sim_options table(uint32_t hosts)
{
	struct sim_options o;
	sim_options_init(&o);
	o.hosts = hosts;
	o.format = SIM_TABLE;
	o.rate = 10;
	o.offset_ns = o.drift_e12 = (struct sim_list){ zero, 1 };
	return o;
}

static struct seen *run(const struct sim_options *o)
{
	struct seen *s = usk_alloc(1, sizeof *s);
	struct usk_err err = { 0 };
	s->o = o;
	if (sim_options_check(o, &err)) {
		fail_msg("%s", err.msg);
	}
	struct sim_clock *clock = usk_alloc(o->hosts, sizeof *clock);
	for (uint32_t h = 0; h < o->hosts; h++) {
		sim_options_clock(o, h, &clock[h]);
	}
	sim_messages(o, clock, take, s);
	for (size_t i = 0; i < s->n; i++) {
		const struct sim_message *m = &s->m[i];
		assert_true(m->sent_ns == sim_clock_read(&clock[m->from], m->left_ns));
		assert_true(m->received_ns == sim_clock_read(&clock[m->to], m->arrived_ns));
		assert_true(!i || m->left_ns >= m[-1].left_ns);
		assert_true(m->left_ns >= o->start_ns &&
			    m->arrived_ns <= o->start_ns + o->duration_ns);
	}
	for (uint32_t h = 0; h < o->hosts; h++) {
		sim_clock_free(&clock[h]);
	}
	free(clock);
	return s;
}

static void done(struct seen *s)
{
	free(s->m);
	free(s);
}

/* ---- topologies ----------------------------------------------------------------------- */

static uint32_t reach(const struct seen *s, uint32_t h, bool visited[MOST])
{
	uint32_t n = 1;
	visited[h] = true;
	for (uint32_t k = 0; k < s->o->hosts; k++) {
		if (s->pair[h][k] && !visited[k]) {
			n += reach(s, k, visited);
		}
	}
	return n;
}

static void test_topologies(void **state)
{
	(void)state;
	static const struct {
		enum sim_topology topology;
		uint32_t hosts, pairs, reach;
	} rows[] = {
		{ SIM_MESH, 9, 36, 9 },	     { SIM_CHAIN, 9, 8, 9 },  { SIM_STAR, 9, 8, 9 },
		{ SIM_RING, 9, 9, 9 },	     { SIM_TREE, 9, 8, 9 },   { SIM_ISLANDS, 9, 9, 3 },
		{ SIM_SPARSE, 60, 150, 60 }, { SIM_SPARSE, 4, 6, 4 }, { SIM_RING, 2, 1, 2 },
	};
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct sim_options o = table(rows[i].hosts);
		o.topology = rows[i].topology;
		o.islands = 3;
		o.neighbours = 5;
		struct seen *s = run(&o);
		uint32_t pairs = 0, low = 0;
		for (uint32_t a = 0; a < o.hosts; a++) {
			uint32_t degree = 0;
			for (uint32_t b = 0; b < o.hosts; b++) {
				assert_true(!s->pair[a][b] == !s->pair[b][a]);
				degree += s->pair[a][b] > 0;
			}
			low += o.topology == SIM_SPARSE && o.hosts > 6 && degree != 5;
			pairs += degree;
		}
		assert_true(low <= 1); /* one may be left without a partner */
		assert_in_range(pairs / 2, rows[i].pairs - (o.topology == SIM_SPARSE),
				rows[i].pairs);
		bool visited[MOST] = { false };
		assert_int_equal(reach(s, 0, visited), rows[i].reach);
		done(s);
	}
	/* Dense: about three quarters. */
	struct sim_options o = table(40);
	o.topology = SIM_DENSE;
	struct seen *s = run(&o);
	size_t pairs = 0;
	for (uint32_t a = 0; a < o.hosts; a++) {
		for (uint32_t b = a + 1; b < o.hosts; b++) {
			pairs += s->pair[a][b] > 0;
		}
	}
	assert_in_range(pairs, 540, 640);
	done(s);
}

static void test_one_way_round(void **state)
{
	(void)state;
	struct sim_options o = table(5);
	o.topology = SIM_RING;
	o.one_way = true;
	struct seen *s = run(&o);
	for (uint32_t a = 0; a < 5; a++) {
		for (uint32_t b = 0; b < 5; b++) {
			assert_true(!s->pair[a][b] == (b != (a + 1) % 5));
		}
	}
	done(s);
}

/* ---- moments -------------------------------------------------------------------------- */

static void test_periods(void **state)
{
	(void)state;
	struct sim_options o = table(2);
	o.period_ns = SECOND / 4;
	struct seen *s = run(&o);
	int64_t last[2] = { 0, 0 };
	assert_in_range(s->n, 478, 480);
	for (size_t i = 0; i < s->n; i++) {
		const struct sim_message *m = &s->m[i];
		assert_true(!last[m->from] || m->left_ns - last[m->from] == SECOND / 4);
		last[m->from] = m->left_ns;
	}
	done(s);
	/* With answers the second host only answers, each message once, after the mean time. */
	o.answer_ns = 100000;
	s = run(&o);
	double wait = 0;
	size_t answers = 0;
	for (size_t i = 1; i < s->n; i++) {
		assert_int_equal(s->m[i].from, i % 2);
		if (i % 2) {
			assert_true(s->m[i].left_ns > s->m[i - 1].arrived_ns);
			wait += (double)(s->m[i].left_ns - s->m[i - 1].arrived_ns);
			answers++;
		}
	}
	assert_in_range(answers, 239, 240);
	assert_in_range(wait / (double)answers, 75000, 125000);
	done(s);
}

static void test_rates(void **state)
{
	(void)state;
	struct sim_options o = table(3);
	o.loss = 0.25;
	struct seen *s = run(&o);
	for (uint32_t a = 0; a < 3; a++) {
		for (uint32_t b = 0; b < 3; b++) {
			size_t n = s->pair[a][b];
			assert_true(a == b ? !n : n > 380 && n < 520); /* 450, 21 */
		}
	}
	done(s);
}

/* ---- delays --------------------------------------------------------------------------- */

static void test_delays(void **state)
{
	(void)state;
	static const int64_t load[] = { 0, 70000 }, least[] = { 0, 25000 };
	struct sim_options o = table(3);
	const char *model = "520us+14us+1.032us/B";
	assert_int_equal(usk_delay_model_parse(model, strlen(model), &o.dmin, NULL), USK_OK);
	o.tail_ns = 20000;
	o.asym_ns = 3000;
	o.rate = 100;
	o.load_ns = (struct sim_list){ load, 2 };
	o.load_least_ns = (struct sim_list){ least, 2 };
	struct seen *s = run(&o);
	double sum[3][3] = { { 0 } };
	for (size_t i = 0; i < s->n; i++) {
		const struct sim_message *m = &s->m[i];
		int64_t took = m->arrived_ns - m->left_ns;
		int64_t lowest = 534000 + (int64_t)(m->bytes - 1) * 1032 / 1 +
				 (m->from < m->to ? 3000 : 0) + 25000 * (m->from > 0) +
				 25000 * (m->to > 0);
		assert_true(took >= lowest);
		sum[m->from][m->to] += (double)(took - lowest);
	}
	for (uint32_t a = 0; a < 3; a++) {
		for (uint32_t b = 0; b < 3; b++) {
			double mean = 20000 + 70000 * ((a > 0) + (b > 0));
			double got = a == b ? mean : sum[a][b] / (double)s->pair[a][b];
			assert_true(fabs(got / mean - 1) < 0.08);
		}
	}
	done(s);
	/* A share that waits far longer shows in the tail. */
	o.load_heavy = 0.05;
	s = run(&o);
	size_t late[2] = { 0, 0 };
	for (size_t i = 0; i < s->n; i++) {
		const struct sim_message *m = &s->m[i];
		late[m->from && m->to] += m->arrived_ns - m->left_ns > 3 * SECOND / 1000;
	}
	assert_true(late[1] > 20 && late[0] > 20);
	done(s);
}

/* A sum of stages has their mean, its variance shrinks with their number. */
static void test_stages(void **state)
{
	(void)state;
	for (uint32_t stages = 1; stages <= 16; stages *= 4) {
		struct sim_options o = table(2);
		o.rate = 400;
		o.tail_ns = 20000;
		o.tail_stages = stages;
		struct seen *s = run(&o);
		double sum = 0, squares = 0;
		for (size_t i = 0; i < s->n; i++) {
			double wait = (double)(s->m[i].arrived_ns - s->m[i].left_ns - 50000);
			sum += wait;
			squares += wait * wait;
		}
		double mean = sum / (double)s->n, spread = squares / (double)s->n - mean * mean;
		assert_true(fabs(mean / 20000 - 1) < 0.05);
		assert_true(fabs(spread * stages / 20000 / 20000 - 1) < 0.15);
		done(s);
	}
}

/* A busy host that holds up what it receives alone makes one way the longer one. */
static void test_busy_receiver(void **state)
{
	(void)state;
	static const int64_t load[] = { 0, 70000 };
	struct sim_options o = table(2);
	o.tail_ns = 0;
	o.load_ns = (struct sim_list){ load, 2 };
	o.load_receivers = true;
	struct seen *s = run(&o);
	double sum = 0;
	for (size_t i = 0; i < s->n; i++) {
		const struct sim_message *m = &s->m[i];
		int64_t wait = m->arrived_ns - m->left_ns - 50000;
		assert_true(m->to ? wait >= 0 : !wait);
		sum += (double)wait;
	}
	assert_true(fabs(sum / (double)s->pair[0][1] / 70000 - 1) < 0.15);
	done(s);
}

static void test_resolution(void **state)
{
	(void)state;
	static const int64_t offset[] = { 0, -1700000000000000000 };
	struct sim_options o = table(2);
	o.offset_ns = (struct sim_list){ offset, 2 };
	o.resolution_ns = 1000;
	struct sim_clock clock[2];
	sim_options_clock(&o, 0, &clock[0]);
	sim_options_clock(&o, 1, &clock[1]);
	struct seen *s = usk_alloc(1, sizeof *s);
	sim_messages(&o, clock, take, s);
	for (size_t i = 0; i < s->n; i++) {
		const struct sim_message *m = &s->m[i];
		int64_t exact = sim_clock_read(&clock[m->to], m->arrived_ns);
		assert_true(m->received_ns % 1000 == 0 && m->sent_ns % 1000 == 0);
		assert_true(exact >= m->received_ns && exact - m->received_ns < 1000);
	}
	sim_clock_free(&clock[0]);
	sim_clock_free(&clock[1]);
	done(s);
}

/* ---- broadcasts ------------------------------------------------------------------------- */

static void test_broadcasts(void **state)
{
	(void)state;
	struct sim_options o = table(6);
	o.topology = SIM_STAR;
	o.broadcast = 3;
	o.tail_ns = 200000;
	struct seen *s = run(&o);
	size_t shared = 0, all = 0;
	double apart = 0;
	for (size_t i = 0, k; i < s->n; i = k) {
		for (k = i + 1; k < s->n && s->m[k].id == s->m[i].id; k++) {
			assert_true(s->m[k].broadcast && s->m[k].left_ns == s->m[i].left_ns);
			assert_true(s->m[k].from == s->m[i].from && s->m[k].bytes == s->m[i].bytes);
			apart += fabs((double)(s->m[k].arrived_ns - s->m[i].arrived_ns));
		}
		all += s->m[i].broadcast;
		if (s->m[i].broadcast && s->m[i].from == 0) {
			assert_int_equal(k - i, 5);
			shared++;
		} else {
			assert_int_equal(k - i, 1);
		}
	}
	assert_in_range(shared, 130, 230);
	assert_in_range(all, 900, 1260);
	/* What differs is a tenth of the tail; two such differ by as much on the mean. */
	assert_in_range(apart / (4 * (double)shared), 15000, 25000);
	done(s);
}

static size_t count_lines(const char *dir, const char *file, const char *needle)
{
	char *path = usk_format("%s/%s", dir, file), line[512];
	FILE *f = fopen(path, "r");
	size_t n = 0;
	assert_non_null(f);
	while (fgets(line, sizeof line, f)) {
		n += strstr(line, needle) != NULL;
	}
	fclose(f);
	free(path);
	return n;
}

/* In captures every row of broadcasts.csv is a row of messages.csv too. */
static void test_broadcasts_in_captures(void **state)
{
	(void)state;
	char dir[] = "/tmp/unskew-traffic-XXXXXX", line[512];
	assert_non_null(mkdtemp(dir));
	struct sim_options o;
	struct usk_err err = { 0 };
	sim_options_init(&o);
	o.hosts = 3;
	o.duration_ns = 10 * SECOND;
	o.rate = 5;
	o.broadcast = 4;
	o.traffic = SIM_UDP;
	o.loss = 0.05;
	for (int ids = 0; ids < 2; ids++) {
		o.ip_id = ids;
		if (sim_run(&o, dir, true, NULL, &err)) {
			fail_msg("%s", err.msg);
		}
		assert_int_equal(
			count_lines(dir, "truth.json", "\"broadcasts\": \"broadcasts.csv\""), 1);
		char *path = usk_format("%s/broadcasts.csv", dir);
		FILE *f = fopen(path, "r");
		size_t n = 0;
		assert_non_null(fgets(line, sizeof line, f));
		while (fgets(line, sizeof line, f)) {
			unsigned long long id, bytes;
			long long sent, received;
			int from, to;
			assert_int_equal(sscanf(line, "%llu,host%d,host%d,%lld,%lld,%llu", &id,
						&from, &to, &sent, &received, &bytes),
					 6);
			char *row = usk_format("host%d,host%d,%lld,%lld,%llu,%llu,0", from, to,
					       sent, received, bytes, id);
			assert_int_equal(count_lines(dir, "messages.csv", row), 1);
			free(row);
			n++;
		}
		fclose(f);
		free(path);
		assert_in_range(n, 170, 290); /* 3 hosts, 4 a second, 10 s, 2 receivers, 5 % lost */
	}
	char *clean = usk_format("rm -rf '%s'", dir);
	assert_int_equal(system(clean), 0);
	free(clean);
}

static void test_refusals(void **state)
{
	(void)state;
	struct sim_options o[7];
	static const int64_t below[] = { -5 };
	for (size_t i = 0; i < COUNT(o); i++) {
		o[i] = table(5);
		assert_int_equal(sim_options_check(&o[i], NULL), USK_OK);
	}
	o[0].topology = SIM_ISLANDS;
	o[0].islands = 3;
	o[1].format = SIM_PCAP;
	o[1].one_way = true; /* TCP */
	o[2].one_way = true;
	o[2].answer_ns = 1;
	o[3].period_ns = 1;
	o[3].packets = 1;
	o[4].load_ns = (struct sim_list){ below, 1 };
	o[5].broadcast = -1;
	o[6].tail_stages = 0;
	for (size_t i = 0; i < COUNT(o); i++) {
		struct usk_err err = { 0 };
		assert_int_not_equal(sim_options_check(&o[i], &err), USK_OK);
		assert_true(strlen(err.msg) > 10);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_topologies),    cmocka_unit_test(test_one_way_round),
		cmocka_unit_test(test_periods),	      cmocka_unit_test(test_rates),
		cmocka_unit_test(test_delays),	      cmocka_unit_test(test_stages),
		cmocka_unit_test(test_busy_receiver), cmocka_unit_test(test_resolution),
		cmocka_unit_test(test_broadcasts),    cmocka_unit_test(test_broadcasts_in_captures),
		cmocka_unit_test(test_refusals),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: MIT */
/*
 * The simulator itself: clocks exact, same seed same bytes, and its own table of messages
 * against what its captures hold. The captures are read here byte by byte, so that no reader
 * of ours vouches for itself.
 */
#include "frame.h"

#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static char dir[] = "/tmp/unskew-simulate-XXXXXX";

static char *in_dir(const char *run, const char *file)
{
	return usk_format("%s/%s%s%s", dir, run, file ? "/" : "", file ? file : "");
}

static struct sim_result simulate(const struct sim_options *o, const char *run)
{
	char *path = in_dir(run, NULL);
	struct usk_err err = { 0 };
	struct sim_result made;
	if (sim_run(o, path, true, &made, &err)) {
		fail_msg("%s: %s", run, err.msg);
	}
	free(path);
	return made;
}

static uint8_t *slurp(const char *run, const char *file, size_t *n)
{
	char *path = in_dir(run, file);
	FILE *f = fopen(path, "rb");
	if (!f) {
		fail_msg("%s is not there", path);
	}
	fseek(f, 0, SEEK_END);
	*n = (size_t)ftell(f);
	rewind(f);
	uint8_t *bytes = usk_alloc(*n + 1, 1);
	assert_int_equal(fread(bytes, 1, *n, f), *n);
	fclose(f);
	free(path);
	return bytes;
}

/* ---- clocks ------------------------------------------------------------------------ */

static void test_clock_is_exact(void **state)
{
	(void)state;
	struct usk_rng r;
	usk_rng_seed(&r, 11);
	for (int i = 0; i < 200000; i++) {
		int64_t at = (int64_t)(usk_rng_next(&r) >> (2 + usk_rng_below(&r, 40)));
		int64_t offset = (int64_t)(usk_rng_next(&r) >> (3 + usk_rng_below(&r, 50)));
		int64_t rate = (int64_t)usk_rng_below(&r, 2 * SIM_RATE_MAX) - SIM_RATE_MAX;
		int64_t t = at + (int64_t)(usk_rng_next(&r) >> (3 + usk_rng_below(&r, 50))) -
			    (int64_t)(usk_rng_next(&r) >> (4 + usk_rng_below(&r, 50)));
		offset = usk_rng_below(&r, 2) ? offset : -offset;
		struct sim_clock c;
		sim_clock_init(&c, at, offset, rate);
		usk_i128 elapsed = (usk_i128)t - at;
		usk_i128 gain = usk_floor_div(elapsed * rate, INT64_C(1000000000000));
		int64_t expected = (int64_t)(at + offset + elapsed + gain);
		assert_true(sim_clock_read(&c, t) == expected);
		/* The earliest moment that reads it: not later than t, and not a ns too late. */
		int64_t when = sim_clock_when(&c, expected);
		assert_true(when <= t);
		assert_true(sim_clock_read(&c, when) >= expected);
		assert_true(sim_clock_read(&c, when - 1) < expected);
		sim_clock_free(&c);
	}
}

/* A clock that is stepped forward and back: the inverse finds the first piece that gets there. */
static void test_clock_of_pieces(void **state)
{
	(void)state;
	struct sim_piece piece[] = { { 0, 100, 0, 0 }, { 50, 250, 0, 0 }, { 90, 200, 0, 0 } };
	struct sim_clock c = { .piece = piece, .n = COUNT(piece) };
	static const struct {
		int64_t true_ns, local_ns;
	} cases[] = { { -10, 90 }, { 49, 149 }, { 50, 250 }, { 89, 289 }, { 90, 200 } };
	for (size_t i = 0; i < COUNT(cases); i++) {
		assert_true(sim_clock_read(&c, cases[i].true_ns) == cases[i].local_ns);
	}
	assert_true(sim_clock_when(&c, 149) == 49);
	assert_true(sim_clock_when(&c, 200) == 50);
	assert_true(sim_clock_when(&c, 289) == 89);
	assert_true(sim_clock_when(&c, 300) == 190);
}

/* ---- determinism ---------------------------------------------------------------------- */

static const char *const files[] = { "host0.pcap", "host1.pcap", "messages.csv", "truth.json" };

static bool same_files(const char *a, const char *b)
{
	bool same = true;
	for (size_t i = 0; i < COUNT(files); i++) {
		size_t n, m;
		uint8_t *x = slurp(a, files[i], &n), *y = slurp(b, files[i], &m);
		same = same && n == m && !memcmp(x, y, n);
		free(x);
		free(y);
	}
	return same;
}

static void test_same_seed_same_bytes(void **state)
{
	(void)state;
	struct sim_options o;
	sim_options_init(&o);
	o.duration_ns = INT64_C(5000000000);
	o.traffic = SIM_MIX;
	o.loss = o.dup = o.reorder = o.retrans = o.heavy = 0.02;
	o.chatter = 50;
	o.tso = o.gro = true;
	o.bytes = 20000;
	simulate(&o, "one");
	simulate(&o, "two");
	assert_true(same_files("one", "two"));
	o.seed = 2;
	simulate(&o, "two");
	assert_false(same_files("one", "two"));
}

/* ---- the table against the captures ------------------------------------------------------- */

struct event {
	int64_t stamp_ns;
	uint32_t seq, tsval, bytes;
	uint16_t ip_id;
	uint8_t ttl, flags;
};

struct message {
	int from, to, unambiguous;
	long long sent_ns, received_ns;
	unsigned bytes;
	unsigned long long id;
};

static uint32_t be16(const uint8_t *p)
{
	return (uint32_t)p[0] << 8 | p[1];
}

static uint32_t be32(const uint8_t *p)
{
	return be16(p) << 16 | be16(p + 2);
}

static uint32_t le32(const uint8_t *p)
{
	return (uint32_t)p[3] << 24 | (uint32_t)p[2] << 16 | be16((const uint8_t[]){ p[1], p[0] });
}

/* Ethernet, IPv4, TCP with timestamps, ns pcap: what these tests simulate. */
static struct event *events_read(const char *run, const char *file, size_t *n)
{
	size_t size, cap = 0;
	uint8_t *bytes = slurp(run, file, &size);
	struct event *e = NULL;
	*n = 0;
	assert_true(size >= 24 && le32(bytes) == 0xa1b23c4d);
	for (size_t at = 24; at < size;) {
		assert_true(size - at >= 16);
		const uint8_t *h = bytes + at, *ip = h + 16 + 14, *tcp = ip + 20;
		uint32_t captured = le32(h + 8);
		assert_true(size - at - 16 >= captured && captured >= 14 + 20 + 20);
		assert_true(be16(h + 16 + 12) == 0x0800 && ip[9] == PROTO_TCP);
		uint32_t header = (tcp[12] >> 4) * 4u, i = 20;
		while (i + 10 <= header && tcp[i] != 8) {
			i += tcp[i] == 1 ? 1u : tcp[i + 1];
		}
		assert_true(i + 10 <= header && captured >= 34 + i + 10);
		e = usk_room(e, *n, &cap, sizeof *e);
		e[(*n)++] = (struct event){
			.stamp_ns = (int64_t)le32(h) * 1000000000 + le32(h + 4),
			.seq = be32(tcp + 4),
			.tsval = be32(tcp + i + 2),
			.bytes = be16(ip + 2) - 20 - header,
			.ip_id = (uint16_t)be16(ip + 4),
			.ttl = ip[8],
			.flags = tcp[13],
		};
		at += 16 + captured;
	}
	free(bytes);
	return e;
}

static struct message *messages_read(const char *run, size_t *n)
{
	size_t size, cap = 0;
	char *text = (char *)slurp(run, "messages.csv", &size), *save = NULL;
	struct message *m = NULL;
	*n = 0;
	char *line = strtok_r(text, "\n", &save);
	assert_string_equal(line, "sender,receiver,sent_ns,received_ns,bytes,id,unambiguous");
	while ((line = strtok_r(NULL, "\n", &save))) {
		m = usk_room(m, *n, &cap, sizeof *m);
		struct message *x = &m[(*n)++];
		assert_int_equal(sscanf(line, "host%d,host%d,%lld,%lld,%u,%llu,%d", &x->from,
					&x->to, &x->sent_ns, &x->received_ns, &x->bytes, &x->id,
					&x->unambiguous),
				 7);
	}
	free(text);
	return m;
}

/* The event with this stamp that fits best; a stamp may occur twice. */
static const struct event *find(const struct event *e, size_t n, int64_t stamp, uint8_t ttl,
				uint32_t tsval, bool any)
{
	for (size_t i = 0; i < n; i++) {
		if (e[i].stamp_ns == stamp && e[i].ttl == ttl && (any || e[i].tsval == tsval)) {
			return &e[i];
		}
	}
	return NULL;
}

/*
 * Every row has its two events; it takes at least the minimum delay in true time; a receive
 * has the TSval of its send, the IP-ID that the card gave it, and begins inside it.
 */
static size_t check_rows(const struct sim_options *o, const char *run)
{
	size_t n[2], m, doubtful = 0;
	struct event *e[2] = { events_read(run, "host0.pcap", &n[0]),
			       events_read(run, "host1.pcap", &n[1]) };
	struct message *row = messages_read(run, &m);
	struct sim_clock clock[2];
	uint32_t mss = o->mtu - 52;
	sim_options_clock(o, 0, &clock[0]);
	sim_options_clock(o, 1, &clock[1]);
	for (size_t i = 0; i < m; i++) {
		const struct message *x = &row[i];
		const struct event *r = find(e[x->to], n[x->to], x->received_ns, 63, 0, true), *s;
		assert_non_null(r);
		s = find(e[x->from], n[x->from], x->sent_ns, 64, r->tsval, false);
		assert_non_null(s);
		int64_t left = sim_clock_when(&clock[x->from], x->sent_ns);
		int64_t came = sim_clock_when(&clock[x->to], x->received_ns + 1) - 1;
		assert_true(came - left >= usk_delay_model_ns(&o->dmin, x->bytes) +
						   (x->from < x->to ? o->asym_ns : 0));
		assert_int_equal(x->bytes, r->bytes);
		uint32_t inside = r->seq - s->seq;
		assert_true(s->bytes ? inside < s->bytes : inside == 0);
		if (o->ip_id) {
			assert_int_equal(r->ip_id, (uint16_t)(s->ip_id + inside / mss));
		} else {
			assert_int_equal(r->ip_id, 0);
		}
		doubtful += !x->unambiguous;
	}
	for (int h = 0; h < 2; h++) {
		for (size_t i = 1; i < n[h]; i++) {
			assert_true(e[h][i].stamp_ns >= e[h][i - 1].stamp_ns);
		}
		free(e[h]);
		sim_clock_free(&clock[h]);
	}
	free(row);
	return doubtful;
}

static void test_rows(void **state)
{
	(void)state;
	struct sim_options o;
	static const int64_t offset[] = { 0, -3000000007 }, drift[] = { -41000000, 123456789 };
	sim_options_init(&o);
	o.duration_ns = INT64_C(4000000000);
	o.offset_ns = (struct sim_list){ offset, 2 };
	o.drift_e12 = (struct sim_list){ drift, 2 };
	o.asym_ns = 70000;

	/* Nothing happens to packets: each is in both captures, once. */
	struct sim_result made = simulate(&o, "rows");
	assert_true(made.packets - 2 * made.messages < 4); /* in flight at the end */
	assert_int_equal(made.unambiguous, made.messages);
	assert_int_equal(check_rows(&o, "rows"), 0);

	/* IP-ID tells all but the network's own copies apart. */
	o.loss = o.retrans = o.reorder = 0.03;
	made = simulate(&o, "rows");
	assert_int_equal(check_rows(&o, "rows"), 0);
	o.dup = 0.05;
	made = simulate(&o, "rows");
	assert_int_equal(check_rows(&o, "rows"), made.messages - made.unambiguous);
	assert_true(made.messages - made.unambiguous > made.messages / 50);

	/* Without it some are in doubt, the fewer the more TSval tells. */
	o.dup = 0;
	o.ip_id = false;
	simulate(&o, "rows");
	size_t doubtful = check_rows(&o, "rows");
	assert_true(doubtful > 0);

	/* Cut by the card, merged by the receiver, in all combinations. */
	for (int k = 1; k < 4; k++) {
		o.ip_id = k & 1;
		o.tso = k & 1;
		o.gro = k & 2;
		o.rate = 30;
		o.bytes = 200000;
		made = simulate(&o, "rows");
		assert_true(made.messages > 500);
		check_rows(&o, "rows");
	}
	o.capture_loss = 0.2;
	check_rows(&o, (simulate(&o, "rows"), "rows"));
}

/* Where nothing tells copies apart, no receive of a range that was sent twice is sure. */
static void test_doubt_is_complete(void **state)
{
	(void)state;
	struct sim_options o;
	sim_options_init(&o);
	o.duration_ns = INT64_C(5000000000);
	o.rate = 200;
	o.loss = 0.05;
	o.ip_id = false;
	o.connections = 1; /* one stream each way: its numbers name its bytes */
	simulate(&o, "doubt");
	size_t n[2], m;
	struct event *e[2] = { events_read("doubt", "host0.pcap", &n[0]),
			       events_read("doubt", "host1.pcap", &n[1]) };
	struct message *row = messages_read("doubt", &m);
	size_t sure = 0, twice = 0;
	for (size_t i = 0; i < m; i++) {
		const struct message *x = &row[i];
		const struct event *r = find(e[x->to], n[x->to], x->received_ns, 63, 0, true);
		unsigned sends = 0, same = 0;
		for (size_t k = 0; k < n[x->from] && r->bytes; k++) {
			const struct event *s = &e[x->from][k];
			bool overlaps = s->ttl == 64 && s->bytes &&
					(int32_t)(s->seq - (r->seq + r->bytes)) < 0 &&
					(int32_t)(r->seq - (s->seq + s->bytes)) < 0;
			sends += overlaps;
			same += overlaps && s->tsval == r->tsval;
		}
		if (r->bytes) {
			assert_int_equal(x->unambiguous, same < 2);
			twice += sends > 1;
			sure += sends > 1 && x->unambiguous;
		}
	}
	assert_true(twice > 20 && sure > 0);
	free(row);
	free(e[0]);
	free(e[1]);
}

/* ---- options ------------------------------------------------------------------------------ */

static void test_packets_asked_for(void **state)
{
	(void)state;
	struct sim_options o;
	sim_options_init(&o);
	o.packets = 30000;
	o.duration_ns = INT64_C(10000000000);
	struct sim_result made = simulate(&o, "packets");
	assert_in_range(made.packets / 2, 29000, 31000);
}

static void test_refusals(void **state)
{
	(void)state;
	static const int64_t tags[] = { 3 }, one[] = { 1 }, raw[] = { SIM_RAW };
	static const int64_t before[] = { INT64_C(-1700000001000000000) };
	static const int64_t fast[] = { SIM_RATE_MAX + 1 };
	struct sim_options o[8];
	for (size_t i = 0; i < COUNT(o); i++) {
		sim_options_init(&o[i]);
		assert_int_equal(sim_options_check(&o[i], NULL), USK_OK);
	}
	o[0].vlan = (struct sim_list){ tags, 1 };
	o[1].vlan = (struct sim_list){ one, 1 };
	o[1].link = (struct sim_list){ raw, 1 };
	o[2].offset_ns = (struct sim_list){ before, 1 };
	o[3].drift_e12 = (struct sim_list){ fast, 1 };
	o[4].start_ns = USK_TIME_MAX;
	o[5].hosts = 1;
	o[6].late_ns = o[6].duration_ns;
	o[7].loss = 1.5;
	for (size_t i = 0; i < COUNT(o); i++) {
		struct usk_err err = { 0 };
		assert_int_not_equal(sim_options_check(&o[i], &err), USK_OK);
		assert_true(strlen(err.msg) > 10);
	}
	/* Stamps before 1970 are for tables. */
	o[2].format = SIM_TABLE;
	assert_int_equal(sim_options_check(&o[2], NULL), USK_OK);
}

static int remove_dir(void **state)
{
	(void)state;
	char *command = usk_format("rm -rf '%s'", dir);
	int status = system(command);
	free(command);
	return status;
}

int main(void)
{
	if (!mkdtemp(dir)) {
		perror(dir);
		return 1;
	}
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_clock_is_exact),
		cmocka_unit_test(test_clock_of_pieces),
		cmocka_unit_test(test_same_seed_same_bytes),
		cmocka_unit_test(test_rows),
		cmocka_unit_test(test_doubt_is_complete),
		cmocka_unit_test(test_packets_asked_for),
		cmocka_unit_test(test_refusals),
	};
	return cmocka_run_group_tests(tests, NULL, remove_dir);
}

/* SPDX-License-Identifier: MIT */
#include "scene.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

struct scene scene_begin(bool ids, bool ticks)
{
	struct scene s = { .no_ids = !ids, .no_ticks = !ticks };
	s.eye[0].local = "10.0.0.1";
	s.eye[1].local = "10.0.0.2";
	return s;
}

const char *scene_flavour(int flavour, const char *what)
{
	static char text[100];
	snprintf(text, sizeof text, "%s, %s ids, %s ticks", what, flavour & 1 ? "with" : "no",
		 flavour & 2 ? "with" : "no");
	return text;
}

struct scene scene_flavoured(int flavour)
{
	struct scene s = scene_begin(flavour & 1, flavour & 2);
	scene_pings(&s, START, START + SECOND, 50 * MS);
	return s;
}

struct packet scene_tcp(const struct scene *s, int from, int64_t ns, uint32_t seq, uint32_t ack,
			uint32_t bytes)
{
	return (struct packet){
		.src = from ? HOST_Q : HOST_P,
		.dst = from ? HOST_P : HOST_Q,
		.v6 = s->v6,
		.proto = TCP,
		.sport = from ? 80 : 40000,
		.dport = from ? 40000 : 80,
		.seq = seq,
		.ack = ack,
		.flags = ACK,
		.window = 500,
		.timestamps = !s->no_ticks,
		.tsval = (uint32_t)(ns / MS) + (from ? 77 : 0),
		.tsecr = 5,
		.payload = bytes,
	};
}

struct packet scene_udp(const struct scene *s, int from, uint64_t content)
{
	struct packet p = scene_tcp(s, from, 0, 0, 0, 32);
	p.proto = UDP;
	p.content = content;
	return p;
}

void scene_see(struct scene *s, int who, int64_t ns, struct packet *p)
{
	struct eye *e = &s->eye[who];
	bool from_q = p->src == HOST_Q;
	if (!p->ip_id && !s->no_ids) {
		p->ip_id = (uint16_t)(++s->id[from_q] + (from_q ? 20000 : 0));
	}
	struct packet seen = *p;
	seen.link = e->link ? e->link : LINK_ETHERNET;
	seen.ttl = seen.ttl ? seen.ttl : 64;
	if (who != from_q) {
		seen.ttl = (uint8_t)(seen.ttl - s->hops);
	}
	if (who && s->nat) {
		s->nat(&seen);
	}
	e->sight = usk_room(e->sight, e->n, &e->cap, sizeof *e->sight);
	struct sight *v = &e->sight[e->n];
	v->ns = ns + (who ? s->offset_ns : 0);
	v->order = e->n++;
	v->at = e->data.n;
	v->wire = packet_bytes(&seen, &e->data);
	v->n = (uint32_t)(e->data.n - v->at);
	v->n = s->snap && v->n > s->snap ? s->snap : v->n;
}

static struct usk_msg message(const struct scene *s, int from, int64_t sent_ns, int64_t received_ns)
{
	return (struct usk_msg){
		.from = (uint32_t)from,
		.to = !from,
		.sent_ns = sent_ns + (from ? s->offset_ns : 0),
		.received_ns = received_ns + (from ? 0 : s->offset_ns),
	};
}

void scene_expect(struct scene *s, int from, int64_t sent_ns, int64_t received_ns)
{
	s->want = usk_room(s->want, s->n_want, &s->cap_want, sizeof *s->want);
	s->want[s->n_want++] = message(s, from, sent_ns, received_ns);
}

void scene_allow(struct scene *s, int from, int64_t sent_ns, int64_t received_ns)
{
	s->may = usk_room(s->may, s->n_may, &s->cap_may, sizeof *s->may);
	s->may[s->n_may++] = message(s, from, sent_ns, received_ns);
}

void scene_pass(struct scene *s, int from, int64_t sent_ns, int64_t delay_ns, struct packet p)
{
	scene_see(s, from, sent_ns, &p);
	scene_see(s, !from, sent_ns + delay_ns, &p);
	scene_expect(s, from, sent_ns, sent_ns + delay_ns);
}

void scene_pings(struct scene *s, int64_t from_ns, int64_t to_ns, int64_t every_ns)
{
	for (int64_t t = from_ns; t < to_ns; t += every_ns) {
		uint64_t content = usk_mix((uint64_t)t);
		scene_pass(s, 0, t, 100000 + (int64_t)(content % 100000), scene_udp(s, 0, content));
		scene_pass(s, 1, t + every_ns / 2, 100000 + (int64_t)(content % 90000),
			   scene_udp(s, 1, content + 1));
	}
}

static int by_time(const void *a, const void *b)
{
	const struct sight *x = a, *y = b;
	if (x->ns != y->ns) {
		return x->ns < y->ns ? -1 : 1;
	}
	return (x->order > y->order) - (x->order < y->order);
}

/* The capture file, packets in the order they were seen. */
static struct bytes file_of(const struct scene *s, struct eye *e)
{
	struct bytes b = { 0 };
	uint32_t snap = s->snap ? s->snap : 262144;
	uint16_t link = e->link ? e->link : LINK_ETHERNET;
	qsort(e->sight, e->n, sizeof *e->sight, by_time);
	if (e->address) {
		struct bytes mask = { .big = true };
		put32(&mask, e->address);
		put32(&mask, 0xffffff00);
		ng_section(&b);
		size_t at = ng_begin(&b, NG_INTERFACE);
		put16(&b, link);
		put16(&b, 0);
		put32(&b, snap);
		ng_option(&b, 9, "\x09", 1);
		ng_option(&b, 4, mask.data, mask.n);
		ng_end(&b, at);
		bytes_free(&mask);
	} else {
		pcap_begin(&b, MAGIC_NS, snap, link);
	}
	for (size_t i = 0; i < e->n; i++) {
		const struct sight *v = &e->sight[i];
		if (e->address) {
			ng_packet(&b, 0, (uint64_t)v->ns, e->data.data + v->at, v->n, v->wire);
		} else {
			pcap_record_ns(&b, v->ns, e->data.data + v->at, v->n, v->wire);
		}
	}
	return b;
}

static bool collect(void *ctx, const struct usk_msg *m, size_t n)
{
	struct scene *s = ctx;
	for (size_t i = 0; i < n; i++) {
		s->got = usk_room(s->got, s->n_got, &s->cap_got, sizeof *s->got);
		s->got[s->n_got++] = m[i];
	}
	return true;
}

static void overhear(void *ctx, const struct usk_reception *h, size_t n)
{
	struct scene *s = ctx;
	for (size_t i = 0; i < n; i++) {
		s->broadcasts = usk_room(s->broadcasts, s->n_broadcasts, &s->cap_broadcasts,
					 sizeof *s->broadcasts);
		s->broadcasts[s->n_broadcasts++] = h[i];
	}
}

/* Which samples are sightings of one packet. */
static void compare(struct usk_survey *y)
{
	enum { ENOUGH = 8 };
	for (size_t i = 0; i < y->n_samples; i++) {
		uint32_t same[ENOUGH];
		size_t n = 0;
		for (size_t k = 0; k < y->n_samples && n < ENOUGH; k++) {
			if (y->sample[k].key == y->sample[i].key) {
				same[n++] = (uint32_t)k;
			}
		}
		y->passing.once += n == 1;
		if (n > 1 && same[0] == i) {
			usk_survey_passing(y, same, n);
		}
	}
}

void scene_run(struct scene *s)
{
	struct bytes file[2] = { file_of(s, &s->eye[0]), file_of(s, &s->eye[1]) };
	struct usk_trace *t[2];
	struct usk_survey survey[2];
	struct usk_addr local[2];
	struct usk_err err = { 0 };
	struct usk_depth depth = USK_DEPTH_ALL;
	for (int i = 0; i < 2; i++) {
		if (usk_trace_open_memory(file[i].data, file[i].n, NULL, &t[i], &err) ||
		    usk_trace_depth(t[i], &depth, &err)) {
			fail_msg("%s", err.msg);
			return;
		}
		assert_true(!s->eye[i].local || usk_addr_parse(s->eye[i].local, &local[i]));
	}
	for (int i = 0; i < 2; i++) {
		assert_int_equal(
			usk_survey_capture(t[i], depth, NULL, NULL, NULL, &survey[i], &err),
			USK_OK);
		assert_int_equal(survey[i].records, s->eye[i].n);
		compare(&survey[i]);
	}
	struct usk_coarse coarse;
	usk_coarse_join(&survey[0], &survey[1], &coarse);
	assert_true(coarse.joins > 0);
	struct usk_walk_options o = {
		.depth = depth,
		.most = s->most,
	};
	struct usk_walker of[2];
	for (uint32_t i = 0; i < 2; i++) {
		of[i] = (struct usk_walker){ t[i], &survey[i], i, &local[i],
					     s->eye[i].local != NULL };
	}
	struct usk_sink sink = { .ctx = s, .broadcasts = overhear, .put = collect };
	assert_int_equal(usk_walk(of, &coarse, &o, &sink, &s->counts, &s->evidence, &err), USK_OK);
	assert_int_equal(s->counts.matched, s->n_got);
	const struct usk_evidence *e = &s->evidence;
	assert_int_equal(e->option + e->link + e->interface + e->address + e->ttl + e->exchange,
			 s->n_got);
	usk_coarse_free(&coarse);
	for (int i = 0; i < 2; i++) {
		usk_survey_free(&survey[i]);
		usk_trace_close(t[i]);
		bytes_free(&file[i]);
	}
}

static void sort(struct usk_msg *m, size_t n)
{
	if (n) {
		qsort(m, n, sizeof *m, usk_msg_order);
	}
}

void scene_check(struct scene *s, const char *what)
{
	scene_run(s);
	sort(s->want, s->n_want);
	sort(s->got, s->n_got);
	sort(s->may, s->n_may);
	size_t i = 0, j = 0, missing = 0, wrong = 0;
	const struct usk_msg *first_missing = NULL, *first_wrong = NULL;
	while (i < s->n_want || j < s->n_got) {
		int order = i == s->n_want  ? 1
			    : j == s->n_got ? -1
					    : usk_msg_order(&s->want[i], &s->got[j]);
		if (order < 0) {
			first_missing = first_missing ? first_missing : &s->want[i];
			missing++;
			i++;
		} else if (order > 0) {
			const struct usk_msg *m = &s->got[j++];
			if (!s->n_may || !bsearch(m, s->may, s->n_may, sizeof *m, usk_msg_order)) {
				first_wrong = first_wrong ? first_wrong : m;
				wrong++;
			}
		} else {
			i++;
			j++;
		}
	}
	if (missing || wrong) {
		const struct usk_msg *m = first_wrong ? first_wrong : first_missing;
		fail_msg("%s: of %zu messages %zu are missing, %zu are wrong (ambiguous %llu, "
			 "unmatched %llu, direction unknown %llu); first: %u sent at %lld, "
			 "received at %lld",
			 what, s->n_want, missing, wrong, (unsigned long long)s->counts.ambiguous,
			 (unsigned long long)(s->counts.unmatched + s->counts.expired),
			 (unsigned long long)s->counts.direction_unknown, m->from,
			 (long long)(m->sent_ns - START), (long long)(m->received_ns - START));
	}
}

void scene_free(struct scene *s)
{
	for (int i = 0; i < 2; i++) {
		bytes_free(&s->eye[i].data);
		free(s->eye[i].sight);
	}
	free(s->want);
	free(s->may);
	free(s->got);
	free(s->broadcasts);
	memset(s, 0, sizeof *s);
}

void scene_done(struct scene *s, const char *what)
{
	scene_check(s, what);
	scene_free(s);
}

/* SPDX-License-Identifier: MIT */
/*
 * Spans: what readers make of each format, and that bands hold the truth whatever SDKs do to
 * stamps.
 *
 * The truth is a simulation of its own: clocks with offsets and rates, processes whose SDKs take
 * stamps as real ones do, calls that are waited for, given up, or not waited for. Each is written
 * in every format, put on one clock, and each band is asked at moments whose truth is known.
 */
#include "../part.h"
#include "otlp_making.h"
#include "span_rows.h"
#include "base/base.h"
#include "match/calls.h"
#include "read/read.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* ---- readers ----------------------------------------------------------------------------- */

#define TABLE "trace,span,parent,clock,start_ns,end_ns,kind,name\n"
#define RESOURCE(attributes)                                                                       \
	"{\"resource\":{\"attributes\":[" attributes "]},\"scopeSpans\":[{\"spans\":["
#define TEXT(key, value) "{\"key\":\"" key "\",\"value\":{\"stringValue\":\"" value "\"}}"
#define END		 "]}]}"
#define SPAN(ids, times) "{\"traceId\":\"01\"," ids ",\"kind\":3," times "}"
#define TIMES		 "\"startTimeUnixNano\":\"5\",\"endTimeUnixNano\":9"

/* rows: trace id parent start end kind flags clock process operation. */
static const struct {
	const char *name, *text, *rows, *damage;
} cases[] = {
	{ "a table", TABLE "t1,0A,,a,1,5,client,get\nt1,b,a,b,2,4,SERVER,get\n",
	  "a 0 1 5 3 0 a a get\nb a 2 4 2 0 b b get\n", NULL },
	{ "a table without kinds", "span,trace,clock,start_s,end_s\n1,1,a,0.5,1\n",
	  "1 0 500000000 1000000000 0 16 a a \n", NULL },
	{ "ends before it begins", TABLE "1,1,,a,5,4,,\n", "",
	  "line 2: its end is before its start" },
#ifdef USK_HAVE_YAJL
	{ "a line",
	  "{\"resourceSpans\":[" RESOURCE(TEXT("host.name", "h") "," TEXT("service.name", "s"))
		  SPAN("\"spanId\":\"2\",\"parentSpanId\":\"\",\"name\":\"get\"", TIMES) END "]}\n",
	  "2 0 5 9 3 0 h s get\n", NULL },
	{ "its resource behind it",
	  "{\"resourceSpans\":[{\"scopeSpans\":[{\"spans\":[" SPAN(
		  "\"spanId\":\"2\"",
		  TIMES) "]}],\"resource\":{\"attributes\":[" TEXT("k8s.node.name",
								   "n") "," TEXT("host.name",
										 "h") "]}}]}",
	  "2 0 5 9 3 0 n n \n", NULL },
	{ "host and id, process of a pod, nothing",
	  "{\"resourceSpans\":[" RESOURCE(TEXT("host.name", "h") "," TEXT(
		  "host.id", "0123456789abcdef")) SPAN("\"spanId\":\"2\"", TIMES) END
	  "," RESOURCE(TEXT("service.name", "s") "," TEXT("k8s.pod.name", "p"))
		  SPAN("\"spanId\":\"3\"", TIMES) END "," RESOURCE("")
			  SPAN("\"spanId\":\"4\"", TIMES) END "]}",
	  "2 0 5 9 3 0 h/0123456789ab h/0123456789ab \n3 0 5 9 3 0 s/p s \n"
	  "4 0 5 9 3 0 unnamed service unnamed service \n",
	  NULL },
	{ "links, errors, what has not ended",
	  "{\"resourceSpans\":[" RESOURCE(TEXT("host.name", "h"))
		  SPAN("\"spanId\":\"2\",\"links\":[{\"traceId\":\"7\",\"spanId\":\"8\"}],"
		       "\"status\":{\"code\":2}",
		       "\"startTimeUnixNano\":\"5\",\"endTimeUnixNano\":\"0\"") END "]}",
	  "0 8 5 - 3 5 h h \n2 0 5 - 3 1 h h \n", NULL },
	{ "what is wrong is left out",
	  "{\"resourceSpans\":[" RESOURCE(TEXT("host.name", "h"))
		  SPAN("\"spanId\":\"2\"", "\"x\":1") "," SPAN("\"spanId\":[]", TIMES) "," SPAN(
			  "\"spanId\":\"3\"", TIMES) END "]}",
	  "3 0 5 9 3 0 h h \n", "2 spans were left out, the first before byte" },
	{ "a damaged line",
	  "{\"resourceSpans\":[" RESOURCE(TEXT("host.name", "h")) SPAN("\"spanId\":\"2\"", TIMES)
		  END "]}\n"
		      "{\"resourceSpans\":[oops]}\n"
		      "{\"resourceSpans\":[" RESOURCE(TEXT("host.name", "g"))
			      SPAN("\"spanId\":\"3\"", TIMES) END "]}\n",
	  "2 0 5 9 3 0 h h \n3 0 5 9 3 0 g g \n", "in 1 place, the first at byte" },
	{ "cut short",
	  "{\"resourceSpans\":[" RESOURCE(TEXT("host.name", "h")) SPAN("\"spanId\":\"2\"", TIMES),
	  "2 0 5 9 3 0 h h \n", "within a JSON value" },
	{ "Jaeger",
	  "{\"data\":[{\"traceID\":\"1\",\"spans\":[{\"traceID\":\"1\",\"spanID\":\"2\","
	  "\"references\":[{\"refType\":"
	  "\"FOLLOWS_FROM\",\"traceID\":\"01\",\"spanID\":\"9\"}],\"startTime\":5,\"duration\":4,"
	  "\"processID\":"
	  "\"p\",\"tags\":[{\"key\":\"span.kind\",\"value\":\"server\"},{\"key\":\"error\","
	  "\"value\":true}]}],"
	  "\"processes\":{\"p\":{\"serviceName\":\"s\",\"tags\":[{\"key\":\"hostname\",\"value\":"
	  "\"h\"}]}}}]}",
	  "2 9 5000 9000 2 11 h s \n", NULL },
	{ "Jaeger, processes first and one that is not there",
	  "{\"data\":[{\"processes\":{\"p\":{\"serviceName\":\"s\"}},\"spans\":[{\"traceID\":\"1\","
	  "\"spanID\":\"2\","
	  "\"startTime\":5,\"processID\":\"p\"},{\"traceID\":\"1\",\"spanID\":\"3\",\"startTime\":"
	  "5,\"processID\":"
	  "\"q\"}]}]}",
	  "2 0 5000 - 0 8 s s \n", "it names no process of its trace" },
	{ "Zipkin",
	  "[{\"traceId\":\"1\",\"id\":\"2\",\"parentId\":\"9\",\"kind\":\"CLIENT\",\"timestamp\":5,"
	  "\"duration\":4,"
	  "\"localEndpoint\":{\"serviceName\":\"s\",\"ipv4\":\"10.0.0.1\"},\"tags\":{\"error\":"
	  "\"x\"}},"
	  "{\"traceId\":\"1\",\"id\":\"3\",\"timestamp\":5}]",
	  "2 9 5000 9000 3 9 s/10.0.0.1 s \n3 0 5000 - 0 8 unnamed service unnamed service \n",
	  NULL },
	{ "a trace alone, what is beside it, a process with its span",
	  "{\"n\":1,\"spans\":[{\"traceID\":\"1\",\"spanID\":\"2\",\"startTime\":5,"
	  "\"processID\":\"p\"},{\"traceID\":\"1\",\"spanID\":\"3\",\"startTime\":5,\"processID\":"
	  "\"q\",\"process\":{\"serviceName\":\"t\"}}],\"services\":[{\"name\":\"s\"}],\"traceID\":"
	  "\"1\","
	  "\"processes\":{\"p\":{\"serviceName\":\"s\"}}}",
	  "2 0 5000 - 0 8 s s \n3 0 5000 - 0 8 t t \n", NULL },
	{ "traces in an array, and lines of them",
	  "[{\"traceID\":\"1\",\"processes\":{\"p\":{\"serviceName\":\"s\"}},\"spans\":[{"
	  "\"traceID\":"
	  "\"1\",\"spanID\":\"2\",\"startTime\":5,\"processID\":\"p\"}]}]\n{\"traceID\":\"2\","
	  "\"processes\":{\"p\":{\"serviceName\":\"t\"}},\"spans\":[{\"traceID\":\"2\",\"spanID\":"
	  "\"2\",\"startTime\":5,\"processID\":\"p\"}]}\n",
	  "2 0 5000 - 0 8 s s \n2 0 5000 - 0 8 t t \n", NULL },
	{ "what Elasticsearch answers",
	  "{\"took\":1,\"hits\":{\"hits\":[{\"_source\":{\"traceID\":\"1\",\"spanID\":\"2\","
	  "\"operationName\":\"get\",\"startTime\":5,\"process\":{\"serviceName\":\"s\",\"tags\":[{"
	  "\"key\":\"hostname\",\"value\":\"h\"}]}}}]}}",
	  "2 0 5000 - 0 8 h s get\n", NULL },
	{ "spans alone, one that Jaeger moved",
	  "[{\"traceID\":\"1\",\"spanID\":\"2\",\"operationName\":\"get\",\"warnings\":[\"x\","
	  "\"This span's timestamps were adjusted by -1.5ms\",\"y\"],\"startTime\":5,\"process\":{"
	  "\"serviceName\":\"s\"}},{\"traceID\":\"1\",\"spanID\":\"3\",\"startTime\":5,"
	  "\"warnings\":"
	  "null,\"process\":{\"serviceName\":\"t\"}}]",
	  "3 0 5000 - 0 8 t t \n", "1 span was left out, the first before byte" },
	{ "OTLP as other programs wrap it",
	  "[{\"result\":{\"resourceSpans\":[" RESOURCE(TEXT("host.name", "h"))
		  SPAN("\"spanId\":\"2\"", TIMES) END "]}}]",
	  "2 0 5 9 3 0 h h \n", NULL },
	{ "Zipkin's spans, one a line",
	  "{\"traceId\":\"1\",\"id\":\"2\",\"timestamp\":5,\"localEndpoint\":{\"serviceName\":"
	  "\"s\"}}\n"
	  "{\"traceId\":\"1\",\"id\":\"3\",\"timestamp\":5,\"localEndpoint\":{\"serviceName\":"
	  "\"t\"}}\n",
	  "2 0 5000 - 0 8 s s \n3 0 5000 - 0 8 t t \n", NULL },
	{ "no JSON behind a span", "[{\"traceId\":\"1\",\"id\":\"3\",\"timestamp\":5},}",
	  "3 0 5000 - 0 8 unnamed service unnamed service \n", "is no JSON at byte" },
#endif
};

static void formats(void **state)
{
	static const size_t batches[] = { 64, 1, 3 };
	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct usk_trace *t;
		struct usk_err err = { 0 };
		if (usk_trace_open_memory(cases[i].text, strlen(cases[i].text), "m", &t, &err)) {
			fail_msg("%s: %s", cases[i].name, err.msg);
		}
		for (size_t k = 0; k < COUNT(batches); k++) {
			char *rows = span_rows(t, batches[k]);
			const char *damage = usk_trace_damage(t);
			if (strcmp(rows, cases[i].rows) ||
			    (cases[i].damage ? !damage || !strstr(damage, cases[i].damage)
					     : !!damage)) {
				fail_msg("%s: %s%s", cases[i].name, rows, damage ? damage : "");
			}
			free(rows);
			assert_int_equal(usk_trace_rewind(t, &err), USK_OK);
		}
		usk_trace_close(t);
	}
}

#ifdef USK_HAVE_YAJL
#define OF(process)                                                                                \
	"{\"traceID\":\"1\",\"spanID\":\"2\",\"startTime\":5,\"processID\":\"" process "\"}"

/* Lists in which a thing may stand that says too little to count. */
static const struct list {
	const char *before, *item[3], *behind, *too_little[4];
	bool any_order; /* is all one */
} lists[] = {
	{ "{\"resourceSpans\":[{\"resource\":{\"attributes\":[",
	  { TEXT("service.name", "s"), TEXT("host.name", "h"), TEXT("x", "y") },
	  "]},\"scopeSpans\":[{\"spans\":[" SPAN("\"spanId\":\"2\"", TIMES) END "]}",
	  { "{}", "{\"key\":\"k8s.node.name\"}", "{\"key\":\"k8s.node.name\",\"value\":{}}",
	    "{\"value\":{\"stringValue\":\"w\"}}" },
	  true },
	{ "{\"resourceSpans\":[" RESOURCE("") "{\"traceId\":\"1\",\"spanId\":\"2\"," TIMES
					      ",\"links\":[",
	  { "{\"traceId\":\"7\",\"spanId\":\"8\"}", "{\"spanId\":\"9\",\"traceId\":\"7\"}",
	    "{\"traceId\":\"6\",\"spanId\":\"5\"}" },
	  "]}" END "]}",
	  { "{}", "{\"traceId\":\"7\"}" },
	  false },
	{ "{\"spans\":[{\"traceID\":\"1\",\"spanID\":\"2\",\"startTime\":5,\"processID\":\"p\","
	  "\"tags\":[",
	  { "{\"key\":\"x\",\"value\":\"true\"}", "{\"key\":\"span.kind\",\"value\":\"server\"}",
	    "{\"key\":\"y\",\"value\":\"z\"}" },
	  "]}],\"processes\":{\"p\":{\"serviceName\":\"s\"}}}",
	  { "{}", "{\"key\":\"error\"}", "{\"value\":\"client\"}" },
	  true },
	{ "{\"spans\":[{\"traceID\":\"1\",\"spanID\":\"2\",\"startTime\":5,\"processID\":\"p\","
	  "\"references\":[",
	  { "{\"refType\":\"CHILD_OF\",\"traceID\":\"1\",\"spanID\":\"9\"}",
	    "{\"refType\":\"FOLLOWS_FROM\",\"traceID\":\"1\",\"spanID\":\"8\"}",
	    "{\"traceID\":\"7\",\"spanID\":\"6\"}" },
	  "]}],\"processes\":{\"p\":{\"serviceName\":\"s\"}}}",
	  { "{}", "{\"refType\":\"CHILD_OF\"}", "{\"traceID\":\"1\"}" },
	  false },
	{ "{\"spans\":[" OF("p") "," OF("q") "," OF("r") "],\"processes\":{",
	  { "\"p\":{\"serviceName\":\"s\",\"tags\":[{\"key\":\"ip\",\"value\":\"i\"}]}",
	    "\"q\":{\"serviceName\":\"t\"}",
	    "\"r\":{\"tags\":[{\"key\":\"hostname\",\"value\":\"h\"}]}" },
	  "}}",
	  { "\"o\":{}", "\"o\":{\"tags\":[{}]}" },
	  true },
};

/* What is read of a list's items in this order, and of one more before number `at`; to be freed. */
static char *rows_of_list(const struct list *l, const size_t order[3], size_t at, const char *more)
{
	struct bytes text = { 0 };
	struct usk_trace *t;
	struct usk_err err = { 0 };
	put_text(&text, l->before);
	for (size_t i = 0; i <= 3; i++) {
		if (i == at) {
			put_text(&text, i ? "," : "");
			put_text(&text, more);
		}
		if (i < 3) {
			put_text(&text, i || !at ? "," : "");
			put_text(&text, l->item[order[i]]);
		}
	}
	put_text(&text, l->behind);
	if (usk_trace_open_memory(text.data, text.n, "m", &t, &err)) {
		fail_msg("%.*s: %s", (int)text.n, (char *)text.data, err.msg);
	}
	char *rows = span_rows(t, 64);
	if (usk_trace_damage(t)) {
		fail_msg("%.*s: %s", (int)text.n, (char *)text.data, usk_trace_damage(t));
	}
	usk_trace_close(t);
	bytes_free(&text);
	return rows;
}

/* What a thing of a list does not say those before it do not say for it: wherever it stands, nothing comes of it. */
static void says_too_little(void **state)
{
	static const size_t orders[][3] = { { 0, 1, 2 }, { 0, 2, 1 }, { 1, 0, 2 },
					    { 1, 2, 0 }, { 2, 0, 1 }, { 2, 1, 0 } };
	(void)state;
	for (size_t k = 0; k < COUNT(lists) * COUNT(orders); k++) {
		const struct list *l = &lists[k / COUNT(orders)];
		const size_t *order = orders[k % COUNT(orders)];
		char *plain = rows_of_list(l, order, SIZE_MAX, "");
		char *first = rows_of_list(l, orders[0], SIZE_MAX, "");
		assert_true(*plain && (!l->any_order || !strcmp(plain, first)));
		free(first);
		for (size_t i = 0; i < COUNT(l->too_little) && l->too_little[i]; i++) {
			for (size_t at = 0; at <= 3; at++) {
				char *rows = rows_of_list(l, order, at, l->too_little[i]);
				if (strcmp(rows, plain)) {
					fail_msg("%s before number %zu: %snot %s", l->too_little[i],
						 at, rows, plain);
				}
				free(rows);
			}
		}
		free(plain);
	}
}

static void depth(void **state)
{
	enum { DEEP = 5000 };
	char text[DEEP + 64] = "[{\"timestamp\":5,\"traceId\":";
	(void)state;
	memset(text + strlen(text), '[', DEEP);
	struct usk_trace *t;
	struct usk_err err;
	assert_int_equal(usk_trace_open_memory(text, strlen(text), "m", &t, &err), USK_OK);
	free(span_rows(t, 64));
	assert_non_null(strstr(usk_trace_damage(t), "nests more than 512 levels deep"));
	usk_trace_close(t);
}
#endif

/* ---- the truth --------------------------------------------------------------------------- */

enum { HOSTS = 4, TRACES = 400, MOST = TRACES * 16 };
#define BEGIN	INT64_C(1700000000123456789)
#define MS	INT64_C(1000000)
#define SECONDS 40

enum sdk { EXACT, MS_PER_TRACE, MS_PER_SPAN, TICKS_OF_100, DOUBLES, PROXY_IN_MS, SDKS };

struct clock {
	int64_t offset_ns, rate_ppb;
	enum sdk sdk;
};

struct made {
	uint64_t trace, id, parent;
	int64_t start, end; /* as stamped */
	int host, kind;
	bool failed;
};

struct world {
	struct usk_rng rng;
	struct clock clock[HOSTS];
	struct made span[MOST];
	size_t n;
	uint64_t ids;
};

static int64_t shows(const struct clock *c, int64_t t)
{
	return t + c->offset_ns + (int64_t)((usk_i128)(t - BEGIN) * c->rate_ppb / 1000000000);
}

static int64_t upto(struct world *w, int64_t ns)
{
	return (int64_t)usk_rng_below(&w->rng, (uint64_t)ns);
}

static int64_t to_ms(int64_t t)
{
	return t / MS * MS;
}

/* What the SDK of a host says of [from, to], the local trace having begun at root. */
static void stamp(struct world *w, int host, int64_t root, int64_t from, int64_t to, struct made *s)
{
	const struct clock *c = &w->clock[host];
	int64_t a = shows(c, from), b = shows(c, to);
	switch (c->sdk) {
	case MS_PER_TRACE:
		s->start = to_ms(shows(c, root)) + a - shows(c, root) + 300;
		s->end = s->start + b - a;
		break;
	case MS_PER_SPAN:
		s->start = to_ms(a);
		s->end = s->start + b - a;
		break;
	case TICKS_OF_100:
		s->start = a / 100 * 100;
		s->end = b / 100 * 100;
		break;
	case DOUBLES:
		s->start = (int64_t)((double)a * 1e-6 * 1e6);
		s->end = (int64_t)((double)b * 1e-6 * 1e6);
		s->end = s->end < s->start ? s->start : s->end;
		break;
	case PROXY_IN_MS: /* it logs what the host asks of others */
		s->start = s->kind > 2 ? to_ms(a) : a;
		s->end = s->kind > 2 ? to_ms(b) : b;
		break;
	default:
		s->start = a;
		s->end = b;
	}
}

static struct made *add(struct world *w, uint64_t trace, uint64_t parent, int host, int kind)
{
	struct made *s = &w->span[w->n++];
	*s = (struct made){
		.trace = trace, .id = ++w->ids, .parent = parent, .host = host, .kind = kind
	};
	return s;
}

/* A client on one host, its server on another; mode: 0 waits, 1 gives up, 2 never waited. */
static void call(struct world *w, uint64_t trace, uint64_t parent, int64_t root, int host,
		 int64_t t, int mode)
{
	int other = (host + 1 + (int)upto(w, HOSTS - 1)) % HOSTS;
	int64_t there = 20000 + upto(w, 300000), work = 50000 + upto(w, 3 * MS),
		back = 20000 + upto(w, 300000);
	int64_t s = t + there, e = s + work,
		end = mode ? t + 1000 + upto(w, there + work) : e + back;
	struct made *client = add(w, trace, parent, host, mode == 2 ? 4 : 3);
	stamp(w, host, root, t, end, client);
	client->failed = mode == 1;
	struct made *server = add(w, trace, client->id, other, mode == 2 ? 5 : 2);
	stamp(w, other, s, s, e, server);
	/* Something within, which begins anywhere. */
	struct made *inner = add(w, trace, server->id, other, 1);
	stamp(w, other, s, s + work / 3, s + work / 2, inner);
}

static void make(struct world *w, uint64_t seed)
{
	usk_rng_seed(&w->rng, seed);
	w->n = 0;
	w->ids = 0;
	for (int i = 0; i < HOSTS; i++) {
		w->clock[i] = (struct clock){ upto(w, 40 * MS) - 20 * MS, upto(w, 60000) - 30000,
					      (enum sdk)upto(w, SDKS) };
	}
	for (int i = 0; i < TRACES; i++) {
		int64_t t = BEGIN + upto(w, SECONDS * INT64_C(1000000000));
		int host = (int)upto(w, HOSTS);
		uint64_t trace = 1000000 + (uint64_t)i;
		struct made *root = add(w, trace, 0, host, 2);
		stamp(w, host, t, t, t + 100 * MS, root);
		uint64_t id = root->id;
		for (int k = 0; k < 3; k++) {
			int64_t dice = upto(w, 20);
			call(w, trace, id, t, host, t + (k + 1) * 10 * MS + upto(w, MS),
			     dice == 0	 ? 1
			     : dice == 1 ? 2
					 : 0);
		}
	}
}

/* ---- the same in every format ------------------------------------------------------------- */

static void as_table(const struct world *w, FILE *f, bool kinds)
{
	static const char *const name[] = { "",	      "internal", "server",
					    "client", "producer", "consumer" };
	fprintf(f, "trace,span,parent,clock,start_ns,end_ns,%s\n", kinds ? "kind" : "name");
	for (size_t i = 0; i < w->n; i++) {
		const struct made *s = &w->span[i];
		if (s->failed) {
			continue; /* a table does not tell */
		}
		/* Without kinds it is the name that tells one sort of call from another. */
		const char *waits = s->kind < USK_SPAN_PRODUCER ? "ask" : "tell";
		fprintf(f, "%llx,%llx,%llx,h%d,%lld,%lld,%s\n", (unsigned long long)s->trace,
			(unsigned long long)s->id, (unsigned long long)s->parent, s->host,
			(long long)s->start, (long long)s->end, kinds ? name[s->kind] : waits);
	}
}

static void as_otlp(const struct world *w, FILE *f, bool proto)
{
	for (size_t i = 0; i < w->n; i++) {
		const struct made *s = &w->span[i];
		const struct otlp_span span = { s->trace, s->id,   s->parent,	      0,
						NULL,	  s->kind, s->failed ? 2 : 0, s->start,
						s->end };
		struct bytes all = { 0 }, one = { 0 };
		char host[8];
		snprintf(host, sizeof host, "h%d", s->host);
		if (proto) {
			otlp_traces(&one, host, 1, &span, 1);
			otlp_framed(&all, &one);
		} else {
			otlp_traces_json(&all, host, 1, &span, 1);
		}
		fwrite(all.data, 1, all.n, f);
		bytes_free(&all);
	}
}

/* us, and a duration that is rounded up. */
static void as_zipkin(const struct world *w, FILE *f)
{
	static const char *const name[] = { "", "", "SERVER", "CLIENT", "PRODUCER", "CONSUMER" };
	fprintf(f, "[");
	for (size_t i = 0; i < w->n; i++) {
		const struct made *s = &w->span[i];
		fprintf(f,
			"%s{\"traceId\":\"%llx\",\"id\":\"%llx\",\"parentId\":\"%llx\",%s%s%"
			"s\"timestamp\":%lld,"
			"\"duration\":%lld,\"localEndpoint\":{\"serviceName\":\"h%d\"}%s}\n",
			i ? "," : "", (unsigned long long)s->trace, (unsigned long long)s->id,
			(unsigned long long)s->parent, *name[s->kind] ? "\"kind\":\"" : "",
			name[s->kind], *name[s->kind] ? "\"," : "", (long long)(s->start / 1000),
			(long long)((s->end - s->start + 999) / 1000), s->host,
			s->failed ? ",\"tags\":{\"error\":\"deadline\"}" : "");
	}
	fprintf(f, "]");
}

/* ---- is it held? ------------------------------------------------------------------------- */

static void check_clock(const struct world *w, const struct usk_clocks *c,
			const struct usk_clock *k, const char *what, double *width)
{
	const struct usk_clock *ref = &c->clock[k->reference];
	const struct clock *of = &w->clock[k->name[1] - '0'], *to = &w->clock[ref->name[1] - '0'];
	struct usk_map *map = usk_map_new(k, c->max_skew_e12);
	assert_non_null(map);
	for (int i = 0; i <= SECONDS; i++) {
		int64_t t = BEGIN + i * INT64_C(1000000000);
		struct usk_stamp at;
		assert_int_equal(usk_map_at(map, shows(of, t), &at, NULL), USK_OK);
		int64_t truth = shows(to, t);
		if (at.lo_ns > truth || at.hi_ns < truth) {
			fail_msg("%s: %s of SDK %d against SDK %d: %lld is outside of %lld to %lld",
				 what, k->name, of->sdk, to->sdk, (long long)truth,
				 (long long)at.lo_ns, (long long)at.hi_ns);
		}
		*width = fmax(*width, (double)(at.hi_ns - at.lo_ns));
	}
	usk_map_free(map);
}

static void check(const struct world *w, const char *text, size_t n, const char *what)
{
	struct usk_trace *t;
	struct usk_clocks *c = NULL;
	struct usk_err err = { 0 };
	double width = 0;
	if (usk_trace_open_memory(text, n, "m", &t, &err) || usk_sync(&t, 1, NULL, &c, &err)) {
		fail_msg("%s: %s", what, err.msg);
	}
	assert_int_equal(c->n_clocks, HOSTS);
	for (size_t i = 0; i < c->n_clocks; i++) {
		if (c->clock[i].quality != USK_REFERENCE) {
			assert_int_equal(c->clock[i].quality, USK_BOUNDED);
			check_clock(w, c, &c->clock[i], what, &width);
		}
	}
	/* Something is known, too: delays of 20 us each way and up, stamps of 1 ms at most. */
	assert_true(width < 6e6);
	assert_true(usk_trace_damage(t) == NULL);
	usk_clocks_free(c);
	usk_trace_close(t);
}

static void truth(void **state)
{
	static struct world w;
	(void)state;
	for (uint64_t seed = case_first(40); seed < case_end(40); seed++) {
		make(&w, seed);
		for (int format = 0; format < 5; format++) {
#ifndef USK_HAVE_YAJL
			if (format > 2) {
				continue;
			}
#endif
			char *text, what[64];
			size_t n;
			FILE *f = open_memstream(&text, &n);
			snprintf(what, sizeof what, "seed %d, format %d", (int)seed, format);
			if (format < 2) {
				as_table(&w, f, !format);
			} else if (format < 4) {
				as_otlp(&w, f, format == 2);
			} else {
				as_zipkin(&w, f);
			}
			fclose(f);
			check(&w, text, n, what);
			free(text);
		}
	}
}

/* However many kinds of calls names tell, so many are told apart: all others are one. */
static void kinds(void **state)
{
	enum { APART = 1 << 16, MORE = 5 };
	const uint32_t service[] = { 0, 1 };
	struct usk_calls *c = usk_calls_new();
	struct usk_counts counts = { 0 };
	size_t n;
	(void)state;
	for (uint32_t i = 0; i < APART + MORE; i++) {
		const struct usk_span s[] = {
			{ .id = 2 * i + 1,
			  .start_ns = 1000 * (int64_t)i,
			  .end_ns = 1000 * (int64_t)i + 900 },
			{ .id = 2 * i + 2,
			  .parent = 2 * i + 1,
			  .start_ns = 1000 * (int64_t)i + 100,
			  .end_ns = 1000 * (int64_t)i + 800,
			  .clock = 1,
			  .process = 1,
			  .operation = i },
		};
		assert_int_equal(usk_calls_add(c, s, COUNT(s), service, NULL), USK_OK);
	}
	assert_int_equal(usk_calls_run(c, &counts, NULL), USK_OK);
	(void)usk_calls_classes(c, &n);
	assert_int_equal(n, APART + 1);
	usk_calls_free(c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(formats),
#ifdef USK_HAVE_YAJL
		cmocka_unit_test(depth),   cmocka_unit_test(says_too_little),
#endif
		cmocka_unit_test(truth),   cmocka_unit_test(kinds),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

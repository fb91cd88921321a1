/* SPDX-License-Identifier: MIT */
/*
 * http.c - HTTP/1: the Date of answers
 *
 * In    segments that begin with a request or with the head of an answer, of any port
 * Out   the server's clock showed Date before we saw the answer; and we saw the question before it
 *       showed Date and two seconds
 * Why   every web server says what time it is; a second is little where clocks are off by minutes
 * Not   HTTP/2 and what is encrypted; heads that begin within a segment. Where the head tells of
 *       caches or proxies, or is not captured as a whole, Date may be older than the question
 *
 * Date is cut to a second, and many servers make it once a second only: hence two.
 */
#include "protocol/protocol.h"
#include "base/text.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#define SECOND INT64_C(1000000000)

/* d[n] begins with this, whatever its case. */
static bool begins(const uint8_t *d, size_t n, const char *with)
{
	size_t m = strlen(with);
	return n >= m && !strncasecmp((const char *)d, with, m);
}

static bool is_request(const uint8_t *d, size_t n)
{
	static const char *const methods[] = { "GET ",	  "POST ",    "HEAD ",	"PUT ",
					       "DELETE ", "OPTIONS ", "PATCH ", "CONNECT " };
	for (size_t i = 0; i < COUNT(methods); i++) {
		if (n >= strlen(methods[i]) && !memcmp(d, methods[i], strlen(methods[i]))) {
			return true;
		}
	}
	return false;
}

/* "Sun, 06 Nov 1994 08:49:37 GMT"; the other forms are obsolete. */
static bool date(const uint8_t *d, size_t n, int64_t *ns)
{
	static const char months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
	const char *text = (const char *)d;
	char same[32];
	if (n < 29 || memcmp(text + 25, " GMT", 4) != 0) {
		return false;
	}
	unsigned month = 0;
	while (month < 12 && memcmp(text + 8, months + (size_t)month * 3, 3) != 0) {
		month++;
	}
	int length = snprintf(same, sizeof same, "%.4s-%02u-%.2sT%.8sZ", text + 12, month + 1,
			      text + 5, text + 17);
	return !usk_parse_rfc3339(same, (size_t)length, ns, NULL);
}

/* The lines of an answer's head: its Date, and whether the server itself made it, for all we see.
 */
static bool read_head(const uint8_t *d, size_t n, int64_t *ns, bool *own)
{
	static const char *const others[] = { "Age:", "Via:", "X-Cache", "Warning:" };
	bool found = false;
	*own = false;
	bool passed_on = false;
	for (const uint8_t *end; (end = memchr(d, '\n', n));) {
		size_t line = (size_t)(end - d) + 1;
		d += line;
		n -= line;
		if (begins(d, n, "\r\n")) {
			*own = !passed_on;
			break;
		}
		for (size_t i = 0; i < COUNT(others); i++) {
			passed_on |= begins(d, n, others[i]);
		}
		if (!found && begins(d, n, "Date:")) {
			size_t at = 5;
			while (at < n && d[at] == ' ') {
				at++;
			}
			found = date(d + at, n - at, ns);
		}
	}
	return found;
}

static void take(struct usk_listener *l, const struct usk_heard_packet *p)
{
	int64_t ns;
	bool own;
	if (is_request(p->data, p->n)) {
		usk_question_ask(l, usk_question_key(p->ip, false, 0), p->ip, 0);
		return;
	}
	if (!begins(p->data, p->n, "HTTP/1.")) {
		return;
	}
	struct usk_question *q = usk_question_of(l, usk_question_key(p->ip, true, 0));
	if (read_head(p->data, p->n, &ns, &own)) {
		usk_tell(l, p->ip->src, ns, 0, p->ip->time_ns);
		if (q && own) {
			usk_tell_later(l, p->ip->src, ns, 2 * SECOND - 1, q->our_ns);
		}
	}
	if (q) {
		usk_question_done(q);
	}
}

const struct usk_protocol usk_protocol_http = {
	.name = "http",
	.help = "Date of answers of HTTP/1",
	.proto = 6,
	.take = take,
};

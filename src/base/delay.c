/* SPDX-License-Identifier: MIT */
/*
 * delay.c - what a message needs at least, by its length
 *
 * Source  Ashton 1995, section 4.2: a base, more for the first byte, and for each further one
 */
#include "base/base.h"
#include "base/text.h"

#include <stdio.h>
#include <string.h>

enum usk_status usk_delay_model_parse(const char *text, size_t n, struct usk_delay_model *out,
				      struct usk_err *err)
{
	struct usk_delay_model m = { 0 };
	int64_t *const part[] = { &m.base_ps, &m.first_ps, &m.per_byte_ps };
	bool last = false;
	size_t at = 0;
	for (size_t k = 0; !last; k++) {
		const char *term = text + at;
		const char *plus = n > at ? memchr(term, '+', n - at) : NULL;
		size_t len = plus ? (size_t)(plus - term) : n - at;
		bool per_byte = len > 2 && !memcmp(term + len - 2, "/B", 2);
		last = !plus;
		if ((per_byte && (!k || !last)) || (!per_byte && k == 2) || k > 2) {
			return usk_fail(err, USK_EINPUT, at,
					"a minimum delay is BASE[+FIRST][+PER_BYTE/B], such as "
					"520us+14us+1.032us/B");
		}
		int64_t *to = part[per_byte ? 2 : k];
		enum usk_status status =
			usk_parse_duration_ps(term, len - (per_byte ? 2 : 0), to, err);
		if (!status && *to < 0) {
			status = usk_fail(err, USK_EINPUT, at, "a minimum delay is not negative");
		}
		if (status) {
			return status;
		}
		at += len + 1;
	}
	*out = m;
	return USK_OK;
}

int64_t usk_delay_model_ns(const struct usk_delay_model *m, uint32_t bytes)
{
	if (!m) {
		return 0;
	}
	usk_i128 ps = m->base_ps;
	if (bytes) {
		ps += m->first_ps + (usk_i128)m->per_byte_ps * (bytes - 1);
	}
	ps /= 1000;
	return ps < USK_TIME_MAX ? (int64_t)ps : USK_TIME_MAX - 1;
}

/* "49.853us", "1032.5ns", "0.25ns": exact, without zeros at the end. */
static void part_text(int64_t ps, char out[32])
{
	static const struct {
		int64_t ps;
		int digits;
		const char *name;
	} unit[] = { { 1000000000, 9, "ms" }, { 1000000, 6, "us" }, { 1000, 3, "ns" } };
	size_t u = 0;
	while (u < 2 && ps < unit[u].ps) {
		u++;
	}
	int n = snprintf(out, 28, "%lld.%0*lld", (long long)(ps / unit[u].ps), unit[u].digits,
			 (long long)(ps % unit[u].ps));
	while (out[n - 1] == '0') {
		n--;
	}
	n -= out[n - 1] == '.';
	memcpy(out + n, unit[u].name, 3);
}

char *usk_delay_model_text(const struct usk_delay_model *m)
{
	char part[3][32];
	const int64_t ps[] = { m->base_ps, m->first_ps, m->per_byte_ps };
	for (int i = 0; i < 3; i++) {
		part_text(ps[i], part[i]);
	}
	if (!m->first_ps && !m->per_byte_ps) {
		return usk_strdup(m->base_ps ? part[0] : "0");
	}
	return m->per_byte_ps ? usk_format("%s+%s+%s/B", part[0], part[1], part[2])
			      : usk_format("%s+%s", part[0], part[1]);
}

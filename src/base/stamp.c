/* SPDX-License-Identifier: MIT */
#include "base/table.h"
#include "base/text.h"

#include <string.h>

/* "24000000", "24MHz": 10^-6 Hz, all digits kept; false if it is none, or does not fit. */
static bool parse_hz(const char *text, int64_t *hz_e6)
{
	static const struct {
		const char *text;
		unsigned places; /* what 10 to this power is a Hz e-6 of */
	} units[] = { { "GHz", 15 }, { "MHz", 12 }, { "kHz", 9 }, { "Hz", 6 }, { "", 6 } };
	size_t n = strlen(text);
	for (size_t i = 0; i < COUNT(units); i++) {
		size_t m = strlen(units[i].text);
		bool exact;
		if (n > m && !strcmp(text + n - m, units[i].text)) {
			return !usk_parse_decimal(text, n - m, units[i].places, hz_e6, &exact,
						  NULL) &&
			       exact && *hz_e6 > 0;
		}
	}
	return false;
}

/* "NAME=HZ": the length of the name, and its rate in 10^-6 Hz. */
static enum usk_status parse_tick_rate(const char *row, size_t *n_name, int64_t *hz_e6,
				       struct usk_err *err)
{
	const char *equals = strchr(row, '=');
	if (!equals || equals == row || !parse_hz(equals + 1, hz_e6)) {
		return usk_fail(err, USK_EUSAGE, 0,
				"--tick-rate %s: write NAME=HZ, such as 24000000 or 24MHz, with at "
				"most 6 decimals of a Hz",
				row);
	}
	*n_name = (size_t)(equals - row);
	return USK_OK;
}

enum usk_status usk_read_options_check(const struct usk_read_options *opt, struct usk_err *err)
{
	enum usk_status status = USK_OK;
	for (size_t i = 0; opt && i < opt->n_tick_rate && !status; i++) {
		size_t n;
		int64_t hz_e6;
		status = parse_tick_rate(opt->tick_rate[i], &n, &hz_e6, err);
	}
	return status;
}

int64_t usk_tick_rate(const struct usk_read_options *opt, const char *name, size_t n)
{
	for (size_t i = 0; opt && i < opt->n_tick_rate; i++) {
		size_t m = 0;
		int64_t hz_e6 = 0;
		const char *row = opt->tick_rate[i];
		if (!parse_tick_rate(row, &m, &hz_e6, NULL) && m == n && !memcmp(row, name, n)) {
			return hz_e6;
		}
	}
	return 0;
}

enum usk_status usk_ticks_ns(int64_t hz_e6, struct usk_csv_field f, int64_t *ns,
			     struct usk_err *err)
{
	int64_t n;
	enum usk_status status = usk_parse_int(f.text, f.n, &n, err);
	if (!status) {
		*ns = usk_saturate(usk_floor_div((usk_i128)n * INT64_C(1000000000000000), hz_e6));
	}
	if (status == USK_ERANGE || (!status && (*ns > USK_TIME_MAX || *ns < -USK_TIME_MAX))) {
		return usk_fail(err, USK_ERANGE, 0, "a stamp is over 2^62 ns (146 years)");
	}
	return status;
}

enum usk_status usk_cell_time(const struct usk_read_options *opt, struct usk_csv_field clock,
			      const struct usk_cell *cell, int64_t *ns, bool *ticks,
			      struct usk_err *err)
{
	bool integer = cell->unit == USK_CSV_NS || cell->unit == USK_CSV_TICKS;
	int64_t hz_e6 =
		integer && opt && opt->n_tick_rate ? usk_tick_rate(opt, clock.text, clock.n) : 0;
	if (ticks) {
		*ticks = hz_e6 != 0;
	}
	if (hz_e6) {
		return usk_ticks_ns(hz_e6, cell->f, ns, err);
	}
	if (cell->unit == USK_CSV_TICKS) {
		return usk_fail(err, USK_EINPUT, 0,
				"is in ticks of a counter: give its rate with --tick-rate %.*s=HZ",
				(int)(clock.n < 60 ? clock.n : 60), clock.text);
	}
	return usk_csv_time(cell->f, cell->unit, ns, err);
}

enum usk_status usk_cell_bytes(const struct usk_cell *cell, uint32_t *bytes, struct usk_err *err)
{
	int64_t n = 0;
	*bytes = 0;
	if (!cell->f.n) {
		return USK_OK;
	}
	enum usk_status status = usk_parse_int(cell->f.text, cell->f.n, &n, err);
	if (status == USK_EINPUT) {
		return status;
	}
	if (status || n < 0 || n > UINT32_MAX) {
		return usk_fail(err, USK_EINPUT, 0, "has an impossible number of bytes");
	}
	*bytes = (uint32_t)n;
	return USK_OK;
}

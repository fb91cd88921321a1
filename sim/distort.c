/* SPDX-License-Identifier: MIT */
/*
 * distort.c - re-stamp a capture as a clock of known offset and drift would have stamped it
 *
 * In    a classic pcap file, its stamps taken for true time
 * Out   the same packets stamped by another clock, in ns; truth.json
 * Why   two captures made on one machine share one clock: with one of them distorted, real
 *       traffic has a known truth (tools/record-two-hosts.sh)
 * Not   other byte orders than this machine's, other formats
 */
#include "capture.h"
#include "base/text.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char usage[] =
	"usage: distort [--offset DURATION] [--drift-ppm PPM] [--truth FILE --beside A] [--force] "
	"IN OUT\n"
	"\n"
	"Writes the packets of IN, a pcap file, to OUT as a clock would have stamped them that is\n"
	"ahead by DURATION at the first packet, of IN or A, and gains PPM. OUT is ns pcap, or\n"
	"pcapng if it ends in .pcapng. --truth writes truth.json for that clock and the one of "
	"capture A, which has\n"
	"true time; clocks are named after the files.\n";

struct job {
	int64_t offset_ns, rate_e12;
	const char *truth, *beside, *in, *out;
	bool force;
};

struct reader {
	struct usk_input in;
	int64_t unit_ns;
	uint32_t link, snaplen;
	enum usk_status status; /* of reading; cut short is no failure */
};

static uint32_t word(const uint8_t *p)
{
	uint32_t x;
	memcpy(&x, p, 4);
	return x;
}

static enum usk_status reader_open(struct reader *r, const char *path, struct usk_err *err)
{
	enum usk_status status = usk_input_open(&r->in, path, NULL, err);
	if (status) {
		return status;
	}
	status = usk_input_need(&r->in, 0, 24, err);
	uint32_t magic = !status && r->in.have >= 24 ? word(r->in.data) : 0;
	if (!status && magic != 0xa1b2c3d4 && magic != 0xa1b23c4d) {
		status = usk_fail(err, USK_EINPUT, 0, "%s: not a pcap file of this byte order",
				  path);
	}
	if (!status) {
		r->unit_ns = magic == 0xa1b2c3d4 ? 1000 : 1;
		r->snaplen = word(r->in.data + 16);
		r->link = word(r->in.data + 20);
		status = usk_input_need(&r->in, 24, 0, err);
	}
	if (status) {
		usk_input_close(&r->in);
	}
	r->status = status;
	return status;
}

/* The next record, at r->in.data until the next call; false at the end, where it is cut, or where
 * reading fails: r->status. */
static bool reader_next(struct reader *r, int64_t *stamp_ns, uint32_t *captured, uint32_t *length,
			struct usk_err *err)
{
	r->status = usk_input_need(&r->in, 0, 16, err);
	if (r->status || r->in.have < 16) {
		return false;
	}
	*stamp_ns = (int64_t)word(r->in.data) * 1000000000 + word(r->in.data + 4) * r->unit_ns;
	*captured = word(r->in.data + 8);
	*length = word(r->in.data + 12);
	r->status = usk_input_need(&r->in, 16, *captured, err);
	return !r->status && r->in.have >= *captured;
}

/* First and last stamp, which need not be the first and last record's. */
static enum usk_status find_span(const char *path, int64_t *first_ns, int64_t *last_ns,
				 struct usk_err *err)
{
	struct reader r;
	int64_t t;
	uint32_t captured, length;
	enum usk_status status = reader_open(&r, path, err);
	if (status) {
		return status;
	}
	*first_ns = INT64_MAX;
	*last_ns = INT64_MIN;
	while (!r.status && reader_next(&r, &t, &captured, &length, err)) {
		*first_ns = t < *first_ns ? t : *first_ns;
		*last_ns = t > *last_ns ? t : *last_ns;
		r.status = usk_input_need(&r.in, captured, 0, err);
	}
	usk_input_close(&r.in);
	if (r.status) {
		return r.status;
	}
	if (*first_ns > *last_ns) {
		return usk_fail(err, USK_EINPUT, 0, "%s: has no packets", path);
	}
	return USK_OK;
}

static bool ends_in(const char *text, const char *end)
{
	size_t n = strlen(text), m = strlen(end);
	return n >= m && !strcmp(text + n - m, end);
}

/* File name less folders and suffix. */
static char *clock_name(const char *path)
{
	const char *slash = strrchr(path, '/');
	const char *base = slash ? slash + 1 : path;
	return usk_format("%.*s", (int)strcspn(base, "."), base);
}

static enum usk_status write_distorted(const struct job *j, const struct sim_clock *clock,
				       struct usk_err *err)
{
	struct reader r;
	int64_t t;
	uint32_t captured, length;
	enum usk_status status = reader_open(&r, j->in, err);
	if (status) {
		return status;
	}
	struct sim_capture c = { .ng = ends_in(j->out, ".pcapng"),
				 .link = (enum sim_link)r.link,
				 .snaplen = r.snaplen,
				 .resolution_ns = 1 };
	char *name = clock_name(j->out);
	status = sim_capture_open(&c, j->out, name, j->force, err);
	while (!status && reader_next(&r, &t, &captured, &length, err)) {
		int64_t local = sim_clock_read(clock, t);
		status = sim_capture_holds(c.ng, name, local, err);
		if (!status) {
			sim_capture_raw(&c, local, r.in.data, captured, length);
			status = usk_input_need(&r.in, captured, 0, err);
		}
	}
	status = status ? status : r.status;
	if (!status) {
		status = sim_capture_commit(&c, err);
	}
	sim_capture_close(&c);
	usk_input_close(&r.in);
	free(name);
	return status;
}

static enum usk_status write_truth(const struct job *j, const struct sim_clock *clock,
				   int64_t first_ns, int64_t last_ns, struct usk_err *err)
{
	char *names[2] = { clock_name(j->beside), clock_name(j->out) };
	char *options = usk_format("{\"format\": \"pcap\", \"resolution_ns\": 1, "
				   "\"offset_ns\": [0, %lld], \"drift_e12\": [0, %lld]}",
				   (long long)j->offset_ns, (long long)j->rate_e12);
	struct sim_clock clocks[2];
	sim_clock_init(&clocks[0], first_ns, 0, 0);
	clocks[1] = *clock;
	struct sim_truth truth = { .options = options,
				   .start_ns = first_ns,
				   .end_ns = last_ns,
				   .name = (const char *const *)names,
				   .clock = clocks,
				   .n = 2 };
	enum usk_status status = sim_truth_json(j->truth, j->force, &truth, err);
	sim_clock_free(&clocks[0]);
	free(options);
	free(names[0]);
	free(names[1]);
	return status;
}

static enum usk_status distort(const struct job *j, struct usk_err *err)
{
	int64_t first, last;
	enum usk_status status = find_span(j->in, &first, &last, err);
	if (!status && j->beside) {
		int64_t from, to;
		status = find_span(j->beside, &from, &to, err);
		if (!status) {
			first = from < first ? from : first;
			last = to > last ? to : last;
		}
	}
	if (status) {
		return status;
	}
	struct sim_clock clock;
	sim_clock_init(&clock, first, j->offset_ns, j->rate_e12);
	status = write_distorted(j, &clock, err);
	if (!status && j->truth) {
		status = write_truth(j, &clock, first, last, err);
	}
	sim_clock_free(&clock);
	return status;
}

static enum usk_status parse(int argc, char **argv, struct job *j, struct usk_err *err)
{
	static const struct option options[] = {
		{ "offset", required_argument, NULL, 'o' },
		{ "drift-ppm", required_argument, NULL, 'd' },
		{ "truth", required_argument, NULL, 't' },
		{ "beside", required_argument, NULL, 'b' },
		{ "force", no_argument, NULL, 'f' },
		{ NULL, 0, NULL, 0 },
	};
	enum usk_status status = USK_OK;
	bool exact = true;
	for (int c; !status && (c = getopt_long(argc, argv, "", options, NULL)) != -1;) {
		switch (c) {
		case 'o':
			status = usk_parse_duration(optarg, strlen(optarg), &j->offset_ns, err);
			break;
		case 'd':
			status = usk_parse_decimal(optarg, strlen(optarg), 6, &j->rate_e12, &exact,
						   err);
			break;
		case 't':
			j->truth = optarg;
			break;
		case 'b':
			j->beside = optarg;
			break;
		case 'f':
			j->force = true;
			break;
		default:
			status = usk_fail(err, USK_EUSAGE, 0, "unknown option");
		}
	}
	if (!status && (argc - optind != 2 || !j->truth != !j->beside || !exact ||
			j->rate_e12 > SIM_RATE_MAX || j->rate_e12 < -SIM_RATE_MAX)) {
		status = usk_fail(err, USK_EUSAGE, 0,
				  "IN and OUT, --truth with --beside, and a "
				  "drift of at most 10000 ppm are needed");
	}
	if (!status) {
		j->in = argv[optind];
		j->out = argv[optind + 1];
	}
	return status;
}

int main(int argc, char **argv)
{
	struct job j = { 0 };
	struct usk_err err = { 0 };
	if (parse(argc, argv, &j, &err)) {
		fprintf(stderr, "distort: %s\n%s", err.msg, usage);
		return 2;
	}
	if (distort(&j, &err)) {
		fprintf(stderr, "distort: %s\n", err.msg);
		return 1;
	}
	return 0;
}

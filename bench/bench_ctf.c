/* SPDX-License-Identifier: MIT */
/*
 * bench_ctf - what reading a trace of a kernel costs
 *
 *     make FOLDER EVENTS SHARE   a trace of three CPUs, one in SHARE events of the network
 *     read FOLDER                our reader
 *
 * Out   one line: events and packets or sides of messages
 */
#include "../tests/unit/ctf_making.h"
#include "read/trace.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int make(const char *folder, uint64_t events, uint64_t share)
{
	enum { IN_PACKET = 20000 };
	struct ctf c = ctf_begin(folder, "bench", 1000000000, INT64_C(1700000000000000000));
	struct packet p = { .src = 1, .dst = 2, .sport = 1, .dport = 2, .payload = 100 };
	for (uint64_t i = 0; i < events; i++) {
		int cpu = (int)(i % CTF_CPUS);
		if (i % share == 0) {
			p.seq += 100;
			p.ip_id = (uint16_t)i;
			ctf_network(&c, cpu, 1000 + 500 * i, i & 1 ? CTF_QUEUE : CTF_RECEIVE,
				    4096 * (i % 64), &p, NULL);
		} else {
			ctf_noise(&c, cpu, 1000 + 500 * i);
		}
		if (i % IN_PACKET >= IN_PACKET - CTF_CPUS) {
			ctf_flush(&c, cpu, 0);
		}
	}
	ctf_end(&c);
	return 0;
}

static int read_all(const char *folder)
{
	static struct usk_record record[256];
	static struct usk_event side[256];
	struct usk_trace *t;
	struct usk_err err = { 0 };
	uint64_t found = 0;
	size_t n = 1;
	if (usk_trace_open(folder, NULL, &t, &err)) {
		fprintf(stderr, "%s\n", err.msg);
		return 1;
	}
	bool packets = usk_trace_class(t) == USK_TRACE_CAPTURE;
	while (n && !(packets ? usk_trace_records(t, record, COUNT(record), &n, &err)
			      : usk_trace_sides(t, side, COUNT(side), &n, &err))) {
		found += n;
	}
	printf("%" PRIu64 " events, %" PRIu64 " packets or sides\n", usk_trace_extent(t)->events,
	       found);
	usk_trace_close(t);
	return n != 0;
}

int main(int argc, char **argv)
{
	if (argc == 5 && !strcmp(argv[1], "make")) {
		return make(argv[2], strtoull(argv[3], NULL, 10), strtoull(argv[4], NULL, 10));
	}
	if (argc == 3 && !strcmp(argv[1], "read")) {
		return read_all(argv[2]);
	}
	fprintf(stderr, "bench_ctf make FOLDER EVENTS SHARE | read FOLDER\n");
	return 2;
}

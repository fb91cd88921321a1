/* SPDX-License-Identifier: MIT */
/*
 * bench_walk - what reading costs, step by step
 *
 *     mapped    step over the records of a mapped file: the least it can cost
 *     libpcap   pcap_next_ex()
 *     records   our reader
 *     packets   our reader and the decoder
 *     survey    pass 1 of matching, which is what sync does first
 *
 * In    classic captures in this machine's byte order
 * Out   one line: records and their bytes, so that nothing is optimised away
 */
#include "match/match.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdint.h>
#ifdef USK_HAVE_LIBPCAP
#include <pcap/pcap.h>
#endif
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static int mapped(const char *path, uint64_t *records, uint64_t *bytes)
{
	int fd = open(path, O_RDONLY);
	struct stat st;
	if (fd < 0 || fstat(fd, &st) || st.st_size < 24) {
		perror(path);
		return 1;
	}
	size_t size = (size_t)st.st_size;
	const uint8_t *data = mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (data == MAP_FAILED) {
		perror(path);
		return 1;
	}
	for (size_t at = 24; at + 16 <= size;) {
		uint32_t captured;
		memcpy(&captured, data + at + 8, sizeof captured);
		++*records;
		*bytes += captured;
		at += 16 + (size_t)captured;
	}
	munmap((void *)(uintptr_t)data, size);
	return close(fd);
}

static int libpcap(const char *path, uint64_t *records, uint64_t *bytes)
{
#ifdef USK_HAVE_LIBPCAP
	char text[PCAP_ERRBUF_SIZE];
	pcap_t *p = pcap_open_offline_with_tstamp_precision(path, PCAP_TSTAMP_PRECISION_NANO, text);
	if (!p) {
		fprintf(stderr, "%s\n", text);
		return 1;
	}
	struct pcap_pkthdr *h;
	const u_char *data;
	while (pcap_next_ex(p, &h, &data) == 1) {
		++*records;
		*bytes += h->caplen;
	}
	pcap_close(p);
	return 0;
#else
	(void)records;
	(void)bytes;
	fprintf(stderr, "%s: built without libpcap\n", path);
	return 1;
#endif
}

static int read_with(const char *path, bool decode, uint64_t *records, uint64_t *bytes)
{
	struct usk_trace *t;
	struct usk_err err;
	struct usk_record record[256];
	struct usk_packet packet;
	size_t n = 1, n_ifaces;
	if (usk_trace_open(path, NULL, &t, &err)) {
		fprintf(stderr, "%s\n", err.msg);
		return 1;
	}
	while (n && !usk_trace_records(t, record, 256, &n, &err)) {
		const struct usk_iface *iface = usk_trace_ifaces(t, &n_ifaces);
		for (size_t i = 0; i < n; i++) {
			bool good = !decode || usk_packet_decode(&record[i], iface->link_type,
								 USK_DEPTH_ALL, &packet, NULL);
			*records += good;
			*bytes += record[i].captured;
		}
	}
	usk_trace_close(t);
	return 0;
}

static int records_of(const char *path, uint64_t *records, uint64_t *bytes)
{
	return read_with(path, false, records, bytes);
}

static int packets_of(const char *path, uint64_t *records, uint64_t *bytes)
{
	return read_with(path, true, records, bytes);
}

static int survey(const char *path, uint64_t *records, uint64_t *bytes)
{
	struct usk_trace *t;
	struct usk_survey s;
	struct usk_err err;
	if (usk_trace_open(path, NULL, &t, &err) ||
	    usk_survey_capture(t, USK_DEPTH_ALL, NULL, NULL, NULL, &s, &err)) {
		fprintf(stderr, "%s\n", err.msg);
		return 1;
	}
	*records += s.packets;
	*bytes += s.n_samples;
	usk_survey_free(&s);
	usk_trace_close(t);
	return 0;
}

static const struct {
	const char *name;
	int (*run)(const char *path, uint64_t *records, uint64_t *bytes);
} ways[] = { { "mapped", mapped },
	     { "libpcap", libpcap },
	     { "records", records_of },
	     { "packets", packets_of },
	     { "survey", survey } };

int main(int argc, char **argv)
{
	uint64_t records = 0, bytes = 0;
	for (size_t w = 0; argc > 1 && w < sizeof ways / sizeof ways[0]; w++) {
		if (strcmp(argv[1], ways[w].name)) {
			continue;
		}
		for (int i = 2; i < argc; i++) {
			if (ways[w].run(argv[i], &records, &bytes)) {
				return 1;
			}
		}
		printf("%" PRIu64 " records, %" PRIu64 " bytes\n", records, bytes);
		return 0;
	}
	fprintf(stderr, "usage: bench_walk mapped|libpcap|records|packets|survey FILE...\n");
	return 2;
}

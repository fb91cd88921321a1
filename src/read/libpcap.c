/* SPDX-License-Identifier: MIT */
/*
 * libpcap.c - read whatever else libpcap opens
 *
 * In    capture files of other vendors' variants (modified, Navtel, IXIA, NetTL-like headers)
 * Out   records with ns stamps
 * Why   libpcap knows their history; the two formats that everyone writes are read by pcap.c and
 *       pcapng.c, and the tests compare those with libpcap packet by packet
 * Not   live capture
 */
#include "read/read.h"

#include <errno.h>
#include <pcap/pcap.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAGIC_NS UINT32_C(0xa1b23c4d)

struct state {
	pcap_t *pcap;
	/* libpcap reuses its buffer for each packet, so a batch is copied. */
	uint8_t *bytes;
	size_t capacity;
};

static bool sniff(const uint8_t *d, size_t n)
{
	static const uint32_t magics[] = {
		0xa1b2cd34,		/* Kuznetsov's modified libpcap */
		0xa1b234cd,		/* Navtel */
		0x1c0001ac, 0x1c0001ab, /* IXIA hardware and software captures */
		0xa1b2c3d4, MAGIC_NS,	/* versions that pcap.c leaves to libpcap */
	};
	for (size_t i = 0; n >= 24 && i < COUNT(magics); i++) {
		if (usk_load32(d, false) == magics[i] || usk_load32(d, true) == magics[i]) {
			return true;
		}
	}
	return false;
}

static void stop(struct usk_trace *t)
{
	struct state *s = t->state;
	if (s) {
		if (s->pcap) {
			pcap_close(s->pcap);
		}
		free(s->bytes);
	}
	free(s);
	t->state = NULL;
}

/* libpcap reads a stdio stream; behind it is our window, so that packed files are read too. */
static ssize_t read_window(void *cookie, char *to, size_t n)
{
	struct usk_trace *t = cookie;
	if (usk_input_need(&t->in, t->used, 1, NULL)) {
		errno = EIO;
		return -1;
	}
	n = n < t->in.have ? n : t->in.have;
	memcpy(to, t->in.data, n);
	t->used = n;
	return (ssize_t)n;
}

static enum usk_status start(struct usk_trace *t, struct usk_err *err)
{
	stop(t);
	struct state *s = usk_alloc(1, sizeof *s);
	t->state = s;
	/* The window moves on, but its first bytes tell the unit. */
	const uint8_t *d = t->in.data;
	bool ns = t->in.have >= 4 &&
		  (usk_load32(d, false) == MAGIC_NS || usk_load32(d, true) == MAGIC_NS);
	FILE *f = fopencookie(t, "rb", (cookie_io_functions_t){ .read = read_window });
	if (!f) {
		return usk_fail(err, USK_EIO, 0, "%s: cannot be read again", t->path);
	}
	char text[PCAP_ERRBUF_SIZE];
	s->pcap = pcap_fopen_offline_with_tstamp_precision(f, PCAP_TSTAMP_PRECISION_NANO, text);
	if (!s->pcap) {
		fclose(f);
		return usk_fail(err, USK_EINPUT, 0, "%s: libpcap cannot read it: %s", t->path,
				text);
	}
	if (!t->n_ifaces) {
		struct usk_iface *i = usk_trace_add_iface(t);
		int snap = pcap_snapshot(s->pcap);
		i->link_type = (uint16_t)pcap_datalink(s->pcap);
		i->snap_length = snap > 0 ? (uint32_t)snap : 262144;
		/* All but the variants of the ns magic count us. */
		i->resolution_ns = ns ? 0 : 1000;
	}
	return USK_OK;
}

static enum usk_status records(struct usk_trace *t, struct usk_record *out, size_t cap, size_t *n,
			       struct usk_err *err)
{
	struct state *s = t->state;
	size_t used = 0;
	(void)err;
	*n = 0;
	while (*n < cap) {
		/* A batch ends where the buffer is nearly full, so that it seldom grows. */
		if (*n && s->capacity - used < USK_RECORD_MAX / 64) {
			break;
		}
		struct pcap_pkthdr *h;
		const u_char *data;
		int got = pcap_next_ex(s->pcap, &h, &data);
		if (got != 1) {
			if (got == PCAP_ERROR) {
				usk_trace_damaged(t, "libpcap stops after %llu packets: %s",
						  (unsigned long long)(t->handed + *n),
						  pcap_geterr(s->pcap));
			}
			t->done = true;
			break;
		}
		if (!s->bytes || used + h->caplen > s->capacity) {
			s->capacity = used + h->caplen + USK_RECORD_MAX / 16;
			s->bytes = usk_grow(s->bytes, s->capacity, 1);
		}
		memcpy(s->bytes + used, data, h->caplen);
		struct usk_record *r = &out[(*n)++];
		r->time_ns = (int64_t)h->ts.tv_sec * 1000000000 + (int64_t)h->ts.tv_usec;
		r->at = t->handed + *n - 1;
		r->captured = h->caplen;
		r->length = h->len;
		r->iface = 0;
		r->side = USK_SIDE_UNKNOWN;
		used += h->caplen;
	}
	/* They lie one behind another; only now does the buffer stay where it is. */
	for (size_t i = 0, pos = 0; i < *n; pos += out[i++].captured) {
		out[i].data = s->bytes + pos;
	}
	return USK_OK;
}

const struct reader usk_reader_libpcap = {
	.info = { "libpcap", "other capture files that libpcap opens", USK_TRACE_CAPTURE },
	.sniff = sniff,
	.start = start,
	.records = records,
	.stop = stop,
};

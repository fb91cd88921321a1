/* SPDX-License-Identifier: MIT */
/*
 * capture.c - write classic pcap and pcapng
 *
 * In    packets with stamps of the host's own clock, in the order of those stamps
 * Out   a capture file that appears whole or not at all
 * Why   no library between the truth and the file
 * Not   frames (frame.c), who sees what (net.c)
 */
#include "capture.h"

#include <stdlib.h>
#include <string.h>

static uint8_t *le16(uint8_t *p, uint32_t x)
{
	p[0] = (uint8_t)x;
	p[1] = (uint8_t)(x >> 8);
	return p + 2;
}

static uint8_t *le32(uint8_t *p, uint32_t x)
{
	return le16(le16(p, x & 0xffff), x >> 16);
}

enum usk_status sim_capture_holds(bool ng, const char *name, int64_t stamp_ns, struct usk_err *err)
{
	if (stamp_ns < 0) {
		return usk_fail(err, USK_ERANGE, 0,
				"the clock of %s reads before 1970, which captures cannot hold; "
				"use --format table",
				name);
	}
	if (stamp_ns > USK_TIME_MAX) {
		return usk_fail(err, USK_ERANGE, 0, "the clock of %s reads more than 2^62 ns",
				name);
	}
	if (!ng && stamp_ns / 1000000000 > UINT32_MAX) {
		return usk_fail(err, USK_ERANGE, 0,
				"the clock of %s reads past 2106, which pcap cannot hold; "
				"use --format pcapng",
				name);
	}
	return USK_OK;
}

static void put_header(struct sim_capture *c)
{
	uint8_t h[24], *p = h;
	p = le32(p, c->resolution_ns == 1 ? 0xa1b23c4d : 0xa1b2c3d4);
	p = le16(le16(p, 2), 4);
	p = le32(le32(p, 0), 0);
	p = le32(le32(p, c->snaplen), (uint32_t)c->link);
	usk_output_write(&c->out, h, (size_t)(p - h));
}

static void put_header_ng(struct sim_capture *c, const char *name)
{
	static const uint8_t zeros[4];
	uint8_t h[64], *p = h;
	uint32_t n = (uint32_t)strlen(name), padded = (n + 3) & ~UINT32_C(3);
	p = le32(le32(p, 0x0a0d0d0a), 28);
	p = le16(le16(le32(p, 0x1a2b3c4d), 1), 0);
	p = le32(le32(le32(p, UINT32_MAX), UINT32_MAX), 28);
	uint32_t size = 20 + 4 + padded + 8 + 4;
	p = le32(le32(p, 1), size);
	p = le32(le16(le16(p, (uint32_t)c->link), 0), c->snaplen);
	p = le16(le16(p, 2), n); /* if_name */
	usk_output_write(&c->out, h, (size_t)(p - h));
	usk_output_write(&c->out, name, n);
	usk_output_write(&c->out, zeros, padded - n);
	p = le16(le16(h, 9), 1); /* if_tsresol: 10^-9 or 10^-6 s */
	p = le32(p, c->resolution_ns == 1 ? 9 : 6);
	p = le32(le32(p, 0), size);
	usk_output_write(&c->out, h, (size_t)(p - h));
}

enum usk_status sim_capture_open(struct sim_capture *c, const char *path, const char *name,
				 bool force, struct usk_err *err)
{
	enum usk_status status = usk_output_open(&c->out, path, force, err);
	if (status) {
		return status;
	}
	if (c->ng) {
		put_header_ng(c, name);
	} else {
		put_header(c);
	}
	return USK_OK;
}

static uint8_t *put_record(const struct sim_capture *c, uint8_t *p, int64_t stamp_ns,
			   uint32_t captured, uint32_t length)
{
	if (c->ng) {
		uint64_t t = (uint64_t)(stamp_ns / c->resolution_ns);
		p = le32(le32(p, 6), 32 + ((captured + 3) & ~UINT32_C(3)));
		p = le32(le32(le32(p, 0), (uint32_t)(t >> 32)), (uint32_t)t);
	} else {
		p = le32(p, (uint32_t)(stamp_ns / 1000000000));
		p = le32(p, (uint32_t)(stamp_ns % 1000000000 / c->resolution_ns));
	}
	return le32(le32(p, captured), length);
}

static void put_trailer(struct sim_capture *c, uint32_t captured)
{
	if (c->ng) {
		uint8_t t[8] = { 0 };
		uint32_t pad = -captured & 3;
		le32(t + pad, 32 + captured + pad);
		usk_output_write(&c->out, t, pad + 4);
	}
}

void sim_capture_raw(struct sim_capture *c, int64_t stamp_ns, const uint8_t *data,
		     uint32_t captured, uint32_t length)
{
	uint8_t h[32];
	uint8_t *p = put_record(c, h, stamp_ns, captured, length);
	usk_output_write(&c->out, h, (size_t)(p - h));
	usk_output_write(&c->out, data, captured);
	put_trailer(c, captured);
	c->records++;
}

static uint32_t least(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

static void write_now(struct sim_capture *c, int64_t stamp_ns, const struct sim_packet *packet,
		      const struct sim_view *view)
{
	static const uint8_t zeros[64];
	struct sim_frame f;
	uint8_t h[32];
	sim_frame_build(&f, packet, view);
	uint32_t length = f.n_head + f.n_body + f.n_pad;
	uint32_t left = least(length, c->snaplen);
	uint8_t *p = put_record(c, h, stamp_ns, left, length);
	usk_output_write(&c->out, h, (size_t)(p - h));
	uint32_t captured = left, n = least(left, f.n_head);
	usk_output_write(&c->out, f.head, n);
	left -= n;
	for (uint32_t body = least(left, f.n_body); body; body -= n, left -= n) {
		n = least(body, SIM_BODY_STEP);
		usk_output_write(&c->out, f.body, n);
	}
	usk_output_write(&c->out, zeros, left);
	put_trailer(c, captured);
	c->records++;
}

static uint64_t enqueue(struct sim_capture *c, int64_t stamp_ns, const struct sim_packet *packet,
			const struct sim_view *view, bool open)
{
	c->waiting = sim_ring_room(c->waiting, c->first, c->last, &c->capacity, sizeof *c->waiting);
	c->waiting[c->last & (c->capacity - 1)] =
		(struct sim_waiting){ *packet, *view, stamp_ns, open };
	return c->last++;
}

static void drain(struct sim_capture *c)
{
	while (c->first < c->last) {
		const struct sim_waiting *w = &c->waiting[c->first & (c->capacity - 1)];
		if (w->open) {
			break;
		}
		write_now(c, w->stamp_ns, &w->packet, &w->view);
		c->first++;
	}
}

void sim_capture_write(struct sim_capture *c, int64_t stamp_ns, const struct sim_packet *p,
		       bool at_client, bool received, bool partial)
{
	struct sim_view view = { c->link, c->vlan, at_client, received, partial };
	if (c->first < c->last) {
		enqueue(c, stamp_ns, p, &view, false);
	} else {
		write_now(c, stamp_ns, p, &view);
	}
}

uint64_t sim_capture_reserve(struct sim_capture *c, int64_t stamp_ns, const struct sim_packet *p,
			     bool at_client)
{
	struct sim_view view = { c->link, c->vlan, at_client, true, false };
	return enqueue(c, stamp_ns, p, &view, true);
}

void sim_capture_settle(struct sim_capture *c, uint64_t ticket, const struct sim_packet *p,
			bool partial)
{
	struct sim_waiting *w = &c->waiting[ticket & (c->capacity - 1)];
	w->packet = *p;
	w->view.partial_sum = partial;
	w->open = false;
	drain(c);
}

enum usk_status sim_capture_commit(struct sim_capture *c, struct usk_err *err)
{
	/* What was still growing when the simulation ended stays as it is. */
	for (uint64_t i = c->first; i < c->last; i++) {
		c->waiting[i & (c->capacity - 1)].open = false;
	}
	drain(c);
	return usk_output_commit(&c->out, err);
}

void sim_capture_close(struct sim_capture *c)
{
	usk_output_close(&c->out);
	free(c->waiting);
	c->waiting = NULL;
}

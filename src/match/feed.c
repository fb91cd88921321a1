/* SPDX-License-Identifier: MIT */
/*
 * feed.c - the packets of one capture that can have a counterpart in another, one after the other
 *
 * In    a capture, the coarse map from its clock to the common one
 * Out   decoded packets in the order of the file, some at a time
 * Why   to read and decode takes two fifths of a walk: another processor does it meanwhile. Some at a
 *       time, as what decodes and what matches would push each other out of the caches of
 *       instructions and branches, and threads that wake each other for a few cost more than they give
 */
#include "match/feed.h"

#include <stdlib.h>

/* Batches that are read ahead, where another processor does it. With a quarter of them threads are
 * woken so often that it is felt; with twice as many the first ones come late. */
enum { AHEAD = 256 };

static void decode(struct usk_feed *f, struct usk_record *r, const struct usk_iface *iface,
		   size_t n_ifaces, bool devices, struct usk_fed_batch *b)
{
	struct usk_fed *p = &b->packet[b->n];
	if (!usk_epochs_run_on(&f->of->survey->epochs, &f->place, r) || r->time_ns < f->from_ns ||
	    r->time_ns > f->to_ns) {
		b->unmatched++;
		return;
	}
	if (!usk_packet_decode(r, iface[r->iface].link_type, f->depth, &p->packet, &f->left_out)) {
		return;
	}
	uint8_t device = devices ? usk_device(r, iface, n_ifaces) : 0;
	p->common_ns = f->map ? usk_coarse_to_p(f->map, r->time_ns, &f->hint) : r->time_ns;
	p->on = r->iface < UINT8_MAX ? (uint8_t)r->iface : UINT8_MAX;
	p->device = device ? UINT64_C(1) << (device - 1) : 0;
	b->n++;
}

static void read_batch(struct usk_feed *f, struct usk_fed_batch *b)
{
	struct usk_record record[USK_FEED];
	b->n = b->unmatched = 0;
	b->status = USK_OK;
	for (size_t n = 1; n && !b->n && !b->status;) {
		b->status = usk_trace_records(f->of->trace, record, COUNT(record), &n, &f->err);
		size_t n_ifaces;
		const struct usk_iface *iface = usk_trace_ifaces(f->of->trace, &n_ifaces);
		bool devices =
			n_ifaces > 1 || (n_ifaces && usk_link_tells_device(iface->link_type));
		for (size_t i = 0; i < n && !b->status; i++) {
			decode(f, &record[i], iface, n_ifaces, devices, b);
		}
		for (; f->n_faces < n_ifaces && f->n_faces < COUNT(f->face); f->n_faces++) {
			f->face[f->n_faces] = iface[f->n_faces];
		}
	}
	b->n_faces = f->n_faces;
	b->pos = usk_trace_pos(f->of->trace);
}

static void read_ahead(void *ctx)
{
	struct usk_feed *f = ctx;
	struct usk_fed_batches *to = &f->next;
	to->n = 0;
	do {
		read_batch(f, USK_ADD(to->of, to->n, to->cap));
	} while (to->of[to->n - 1].n && to->n < f->most);
}

enum usk_status usk_feed_begin(struct usk_feed *f, struct usk_err *err)
{
	f->most = usk_helpers_number(f->helpers) ? AHEAD : 1;
	f->now.of = usk_room(NULL, 0, &f->now.cap, sizeof *f->now.of);
	f->batch = f->now.of;
	f->now.of->n = 0;
	enum usk_status status = usk_trace_rewind(f->of->trace, err);
	if (!status) {
		usk_job_begin(f->helpers, &f->reads, read_ahead, f);
	}
	return status;
}

void usk_feed_end(struct usk_feed *f)
{
	usk_job_end(f->helpers, &f->reads);
	USK_FREE(f->now.of, f->next.of);
}

bool usk_feed_more(struct usk_feed *f)
{
	if (!f->now.n || ++f->batch == f->now.of + f->now.n) {
		usk_job_end(f->helpers, &f->reads);
		struct usk_fed_batches spare = f->now;
		f->now = f->next;
		f->next = spare;
		f->batch = f->now.of;
		if (f->now.of[f->now.n - 1].n) {
			usk_job_begin(f->helpers, &f->reads, read_ahead, f);
		}
	}
	f->at = 0;
	f->unmatched += f->batch->unmatched;
	f->status = f->batch->status;
	return f->batch->n > 0;
}

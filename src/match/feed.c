/* SPDX-License-Identifier: MIT */
/*
 * feed.c - the packets of one capture that can have a counterpart in another, one after the other
 *
 * In    a capture, the coarse map from its clock to the common one
 * Out   decoded packets in the order of the file, some at a time
 * Why   what decodes and what matches do not push each other out of the caches of instructions and
 *       branches
 * Not   a thread of its own: it took 0.89 times the time at 1.27 times the processor time, as
 *       packets had to go from one core to the other
 */
#include "match/feed.h"

static void decode(struct usk_feed *f, struct usk_record *r)
{
	struct usk_fed *p = &f->packet[f->n];
	if (!usk_epochs_run_on(&f->of->survey->epochs, &f->place, r) || r->time_ns < f->from_ns ||
	    r->time_ns > f->to_ns) {
		f->unmatched++;
		return;
	}
	if (!usk_packet_decode(r, f->iface[r->iface].link_type, f->depth, &p->packet,
			       &f->left_out)) {
		return;
	}
	uint8_t device = f->devices ? usk_device(r, f->iface, f->n_ifaces) : 0;
	p->common_ns = f->map ? usk_coarse_to_p(f->map, r->time_ns, &f->hint) : r->time_ns;
	p->on = r->iface < UINT8_MAX ? (uint8_t)r->iface : UINT8_MAX;
	p->device = device ? UINT64_C(1) << (device - 1) : 0;
	f->n++;
}

bool usk_feed_more(struct usk_feed *f, struct usk_err *err)
{
	struct usk_record record[USK_FEED];
	f->n = f->at = 0;
	for (size_t n = 1; n && !f->n && !f->status;) {
		f->status = usk_trace_records(f->of->trace, record, COUNT(record), &n, err);
		f->iface = usk_trace_ifaces(f->of->trace, &f->n_ifaces);
		f->devices = f->n_ifaces > 1 ||
			     (f->n_ifaces && usk_link_tells_device(f->iface->link_type));
		for (size_t i = 0; i < n && !f->status; i++) {
			decode(f, &record[i]);
		}
	}
	return f->n > 0;
}

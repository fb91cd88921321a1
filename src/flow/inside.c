/* SPDX-License-Identifier: MIT */
/*
 * inside.c - clocks inside packets: readings of them become messages
 *
 * In    captures, --readings
 * Out   clocks "PROTOCOL:ADDRESS"; messages from and to these, to what is joined of events
 * Why   who asks a server what time it is has both stamps of the server in one capture; and two
 *       machines that asked the same one are tied, though neither met the other
 * Not   what a packet says (protocol/)
 *
 * A reading is two sides of one message whose id no other event has, so that what holds events and
 * joins them needs to know nothing of readings.
 */
#include "flow/flow.h"
#include "protocol/protocol.h"
#include "read/read.h"

#include <stdlib.h>
#include <string.h>

enum { BATCH = 64, MOST_NOTES = 8 };

/* The last byte of an id that is text says that it is hashed, or how long it is. */
static struct usk_event_id next_id(uint64_t number)
{
	struct usk_event_id id = { { number, 0 } };
	memset(&id.word[1], 0xfe, sizeof id.word[1]);
	return id;
}

static enum usk_status put(struct parties *p, uint32_t clock, const struct usk_protocol *row,
			   const struct usk_reading *r, uint64_t number, struct usk_err *err)
{
	char *name = usk_format("%s:%s", row->name, r->of);
	uint32_t of = usk_party_of(p, name);
	struct party *y = &p->party[of];
	struct usk_event_id id = next_id(number);
	const struct usk_event e[] = {
		{ r->clock_ns, id, of, 0, r->told ? USK_SIDE_SENT : USK_SIDE_RECEIVED },
		{ r->our_ns, id, clock, 0, r->told ? USK_SIDE_RECEIVED : USK_SIDE_SENT },
	};
	free(name);
	usk_party_stamp(y, r->clock_ns);
	y->readings++;
	y->quantum_ns = r->quantum_ns > y->quantum_ns ? r->quantum_ns : y->quantum_ns;
	return usk_join_add(p->join, e, COUNT(e), err);
}

static enum usk_status listen_to(struct parties *p, uint32_t clock, uint32_t rows, uint64_t *number,
				 struct usk_err *err)
{
	struct usk_trace *t = p->party[clock].capture;
	const struct usk_epochs *epochs = &p->party[clock].survey.epochs;
	struct usk_listener *l = usk_listener_new(rows);
	struct usk_epoch_place place = { 0 };
	struct usk_record record[BATCH];
	enum usk_status status = usk_trace_rewind(t, err);
	for (size_t n = 1; !status && n;) {
		status = usk_trace_records(t, record, BATCH, &n, err);
		n = status ? 0 : n;
		size_t n_ifaces, row, found;
		const struct usk_iface *iface = usk_trace_ifaces(t, &n_ifaces);
		for (size_t i = 0; i < n; i++) {
			if (!usk_epochs_run_on(epochs, &place, &record[i])) {
				continue;
			}
			const struct usk_reading *r = usk_listen(
				l, &record[i], iface[record[i].iface].link_type, &row, &found);
			for (size_t k = 0; k < found && !status; k++) {
				status = put(p, clock, usk_protocol(row), &r[k], ++*number, err);
			}
		}
		usk_parties_progress(p, usk_trace_pos(t));
	}
	usk_listener_free(l);
	p->work_done += usk_trace_size(t);
	return status;
}

enum usk_status usk_inside_scan(struct parties *p, struct usk_err *err)
{
	uint32_t rows;
	uint64_t number = 0;
	enum usk_status status = usk_protocols_parse(p->opt->readings, &rows, err);
	size_t clocks = p->n;
	if (rows) {
		p->join = p->join ? p->join : usk_join_new();
	}
	for (uint32_t i = 0; i < clocks && rows && !status; i++) {
		if (!p->party[i].capture) {
			continue;
		}
		p->work_all += usk_trace_size(p->party[i].capture);
		status = listen_to(p, i, rows, &number, err);
	}
	if (rows && !number && !status) {
		usk_flow_note(
			&p->log_note, &p->n_log_notes,
			usk_format(
				"--readings %s: no packet of the captures holds such a timestamp",
				p->opt->readings));
	}
	return status;
}

void usk_inside_notes(const struct parties *p, char ***note, size_t *n)
{
	size_t told = 0;
	for (size_t i = 0; i < p->n; i++) {
		const struct party *y = &p->party[i];
		if (y->readings && told++ < MOST_NOTES) {
			usk_flow_note(
				note, n,
				usk_format(
					"%s was not recorded: its clock is known only by %llu "
					"timestamps inside packets, the coarsest exact to %lld ns",
					y->name, (unsigned long long)y->readings,
					(long long)(y->quantum_ns ? y->quantum_ns : 1)));
		}
	}
	if (told > MOST_NOTES) {
		usk_flow_note(note, n,
			      usk_format("the same holds for %zu more clocks", told - MOST_NOTES));
	}
}

/* SPDX-License-Identifier: MIT */
/*
 * retime_pcap.c - a classic capture again, with corrected ns stamps
 *
 * In    a classic capture, us or ns, either byte order
 * Out   the same packets in the same order and byte order, ns stamps
 * Why   every tool reads it
 * Not   what is damaged, where other tools would stop; keeping the recorded stamps: the format has
 * no place for them (pcapng has)
 */
#include "read/read.h"
#include "write/block.h"
#include "write/retime.h"

enum { BATCH = 256, FILE_HEADER = 24 };

static const uint32_t magic_ns = 0xa1b23c4d;

static enum usk_status write_records(struct retime *t, const struct usk_record *r, size_t n,
				     const int64_t *time_ns, bool swap)
{
	for (size_t i = 0; i < n; i++) {
		int64_t s = time_ns[i] / 1000000000;
		if (time_ns[i] < 0 || s > UINT32_MAX) {
			return usk_retime_unfit(t, r[i].at, time_ns[i],
						time_ns[i] < 0 ? "before 1970"
							       : "after February 2106");
		}
		uint32_t head[4] = { usk_swap32_if((uint32_t)s, swap),
				     usk_swap32_if((uint32_t)(time_ns[i] % 1000000000), swap),
				     usk_swap32_if(r[i].captured, swap),
				     usk_swap32_if(r[i].length, swap) };
		usk_output_write(&t->out, head, sizeof head);
		usk_output_write(&t->out, r[i].data, r[i].captured);
	}
	return USK_OK;
}

enum usk_status usk_retime_pcap(struct retime *t)
{
	bool swap;
	usk_pcap_kind(t->in.data, &swap);
	const uint32_t magic = usk_swap32_if(magic_ns, swap);
	const uint16_t version[2] = { usk_swap16_if(2, swap), usk_swap16_if(4, swap) };
	usk_output_write(&t->out, &magic, sizeof magic);
	usk_output_write(&t->out, version, sizeof version);
	usk_output_write(&t->out, t->in.data + 8, FILE_HEADER - 8);

	struct usk_record r[BATCH];
	int64_t time_ns[BATCH];
	for (uint64_t turn = 1; !t->out.failed; turn++) {
		size_t n;
		enum usk_status status = usk_trace_records(t->trace, r, BATCH, &n, t->err);
		for (size_t i = 0; i < n; i++) {
			time_ns[i] = r[i].time_ns;
		}
		status = status ? status : usk_retime_stamps(t, time_ns, n, time_ns, NULL);
		status = status ? status : write_records(t, r, n, time_ns, swap);
		if (status || !n) {
			return status;
		}
		if (turn % 256 == 0) {
			usk_retime_progress(t, usk_trace_pos(t->trace));
		}
	}
	return USK_OK;
}

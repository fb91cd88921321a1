/* SPDX-License-Identifier: MIT */
/*
 * retime_pcap.c - a classic capture again, with corrected ns stamps
 *
 * In    a classic capture, us or ns, either byte order
 * Out   the same packets in the same order and byte order, ns stamps
 * Why   every tool reads it
 * Not   keeping the recorded stamps: the format has no place for them (pcapng has)
 */
#include "read/read.h"
#include "write/block.h"
#include "write/retime.h"

enum { BATCH = 256, FILE_HEADER = 24, RECORD_HEADER = 16 };

static const uint32_t magic_ns = 0xa1b23c4d;

/* Whole records at the front of the window: their sizes and stamps. */
static size_t gather(const struct usk_input *in, size_t used, bool swap, uint32_t unit_ns,
		     int64_t *time_ns)
{
	size_t n = 0;
	for (size_t pos = used; n < BATCH; n++) {
		const uint8_t *d = in->data + pos;
		size_t left = in->have - pos;
		if (left < RECORD_HEADER || left - RECORD_HEADER < usk_load32(d + 8, swap)) {
			break;
		}
		time_ns[n] = (int64_t)usk_load32(d, swap) * 1000000000 +
			     (int64_t)usk_load32(d + 4, swap) * unit_ns;
		pos += RECORD_HEADER + usk_load32(d + 8, swap);
	}
	return n;
}

static enum usk_status write_records(struct retime *t, size_t *used, bool swap, size_t n,
				     const int64_t *time_ns)
{
	for (size_t i = 0; i < n; i++) {
		const uint8_t *d = t->in.data + *used;
		size_t captured = usk_load32(d + 8, swap);
		int64_t s = time_ns[i] / 1000000000;
		if (time_ns[i] < 0 || s > UINT32_MAX) {
			return usk_retime_unfit(t, t->in.at + *used, time_ns[i],
						time_ns[i] < 0 ? "before 1970"
							       : "after February 2106");
		}
		uint32_t stamp[2] = { usk_swap32_if((uint32_t)s, swap),
				      usk_swap32_if((uint32_t)(time_ns[i] % 1000000000), swap) };
		usk_output_write(&t->out, stamp, sizeof stamp);
		usk_output_write(&t->out, d + 8, 8 + captured);
		*used += RECORD_HEADER + captured;
	}
	return USK_OK;
}

enum usk_status usk_retime_pcap(struct retime *t)
{
	struct usk_input *in = &t->in;
	enum usk_status status = usk_input_need(in, 0, FILE_HEADER, t->err);
	if (status) {
		return status;
	}
	if (in->have < FILE_HEADER) {
		return usk_fail(t->err, USK_EINPUT, 0,
				"%s: cut short within the file header: %zu of %d bytes", t->path,
				in->have, FILE_HEADER);
	}
	bool swap;
	uint32_t unit_ns;
	usk_pcap_magic(in->data, &swap, &unit_ns);
	const uint32_t magic = usk_swap32_if(magic_ns, swap);
	usk_output_write(&t->out, &magic, sizeof magic);
	usk_output_write(&t->out, in->data + 4, FILE_HEADER - 4);

	int64_t time_ns[BATCH];
	size_t used = FILE_HEADER;
	for (uint64_t turn = 0; !t->out.failed; turn++) {
		size_t n = gather(in, used, swap, unit_ns, time_ns);
		if (n) {
			status = usk_retime_stamps(t, time_ns, n, time_ns);
			status = status ? status : write_records(t, &used, swap, n, time_ns);
			if (status) {
				return status;
			}
			if (turn % 256 == 255) {
				usk_retime_progress(t);
			}
			continue;
		}
		status = usk_input_need(in, used, RECORD_HEADER, t->err);
		used = 0;
		uint32_t captured = in->have >= RECORD_HEADER ? usk_load32(in->data + 8, swap) : 0;
		bool absurd = captured > USK_RECORD_MAX;
		if (!status && !absurd) {
			status = usk_input_need(in, 0, RECORD_HEADER + (size_t)captured, t->err);
		}
		if (status) {
			return status;
		}
		if (absurd || in->have < RECORD_HEADER || in->have - RECORD_HEADER < captured) {
			if (in->have) {
				char rest[48];
				usk_note(t->notes, "%s: %s at byte %llu: %s left out", t->path,
					 absurd ? "damaged" : "cut short in the packet",
					 (unsigned long long)in->at, usk_input_rest(in, rest));
			}
			break;
		}
	}
	return USK_OK;
}

/* SPDX-License-Identifier: MIT */
/*
 * capture.h - a capture file: frames of one host in the order of their stamps
 */
#ifndef SIM_CAPTURE_H
#define SIM_CAPTURE_H

#include "frame.h"

/* A record that waits because one before it may still grow. */
struct sim_waiting {
	struct sim_packet packet;
	struct sim_view view;
	int64_t stamp_ns;
	bool open;
};

/** usk_room() for a ring of items first to last, of which item i is p[i & (*cap - 1)]. */
void *sim_ring_room(void *p, uint64_t first, uint64_t last, size_t *cap, size_t size);

struct sim_capture {
	struct usk_output out;
	bool ng;
	enum sim_link link;
	unsigned vlan;
	uint32_t snaplen;
	int64_t resolution_ns;
	uint64_t records;
	struct sim_waiting *waiting; /* a ring; entry i is waiting[i & (capacity - 1)] */
	uint64_t first, last;
	size_t capacity;
};

/** name: the interface's, for pcapng. link, vlan, snaplen, resolution_ns and ng are set before. */
enum usk_status sim_capture_open(struct sim_capture *c, const char *path, const char *name,
				 bool force, struct usk_err *err);
/** Whether the format can hold it; a sentence if not. */
enum usk_status sim_capture_holds(bool ng, const char *name, int64_t stamp_ns, struct usk_err *err);

/** What a capture of this resolution notes for a reading of the clock: rounded down. */
static inline int64_t sim_stamp(int64_t local_ns, int64_t resolution_ns)
{
	if (resolution_ns == 1) {
		return local_ns;
	}
	int64_t below = local_ns % resolution_ns;
	return local_ns - (below < 0 ? below + resolution_ns : below);
}

/** partial: the checksum is left to hardware. */
void sim_capture_write(struct sim_capture *c, int64_t stamp_ns, const struct sim_packet *p,
		       bool at_client, bool received, bool partial);
/** The same for a record that may still grow: its place is kept until sim_capture_settle(). */
uint64_t sim_capture_reserve(struct sim_capture *c, int64_t stamp_ns, const struct sim_packet *p,
			     bool at_client);
void sim_capture_settle(struct sim_capture *c, uint64_t ticket, const struct sim_packet *p,
			bool partial);

/** One record from bytes as they are. */
void sim_capture_raw(struct sim_capture *c, int64_t stamp_ns, const uint8_t *data,
		     uint32_t captured, uint32_t length);
enum usk_status sim_capture_commit(struct sim_capture *c, struct usk_err *err);
void sim_capture_close(struct sim_capture *c);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * ctf_making.h - CTF traces in the making: as LTTng's kernel tracer and LTTng-UST lay them out
 *
 * In    events, each for a CPU
 * Out   a folder with metadata and a stream for each CPU
 * Why   independent of libbabeltrace2, which the reader uses; and the kernel's network events with
 *       headers can be had without a kernel that records them
 */
#ifndef CTF_MAKING_H
#define CTF_MAKING_H

#include "making.h"

enum { CTF_CPUS = 3 };

/* What an event of arrays holds; names NULL: empty. */
struct ctf_values {
	const char *names[8];
	double reals[2];
	float singles[2];
	uint16_t pairs[4];
};

struct ctf_cpu {
	struct bytes packets, events;
	uint64_t first, last; /* cycles of the events in the packet being filled */
	uint64_t sequence, discarded;
	bool any;
};

struct ctf {
	char *folder;
	char *hostname;
	uint64_t hz;
	int64_t offset; /* cycles from 1970 */
	uint64_t early; /* each packet says that it begins so many cycles before its first event */
	bool old; /* headers side by side, as lttng-modules wrote them at first; of TCP only */
	struct ctf_cpu cpu[CTF_CPUS];
};

/* What an event of the kernel says of a packet. */
enum ctf_device { CTF_QUEUE, CTF_RECEIVE, CTF_RX, CTF_ENTRY };

struct ctf ctf_begin(const char *folder, const char *hostname, uint64_t hz, int64_t offset_ns);
/** A network event of p, by its headers; device NULL: eth0. */
void ctf_network(struct ctf *c, int cpu, uint64_t cycles, enum ctf_device what, uint64_t buffer,
		 const struct packet *p, const char *device);
/** An address of the state dump. */
void ctf_interface(struct ctf *c, int cpu, uint64_t cycles, uint32_t address);
/** msg:send and msg:recv of a tracepoint provider: thread, channel, text, a number of bytes. */
void ctf_message(struct ctf *c, int cpu, uint64_t cycles, bool sent, int32_t thread,
		 int32_t channel, const char *text, uint32_t bytes);
/** msg:whoami: what a thread is called. */
void ctf_whoami(struct ctf *c, int cpu, uint64_t cycles, int32_t thread, const char *name);
/** msg:list: what a key may be made of, too: arrays, of arrays; and a structure. */
void ctf_list(struct ctf *c, int cpu, uint64_t cycles, const struct ctf_values *v);
/** Something that means nothing to anyone. */
void ctf_noise(struct ctf *c, int cpu, uint64_t cycles);
/** The packet that is being filled ends; discarded: events that did not fit. */
void ctf_flush(struct ctf *c, int cpu, uint64_t discarded);
/** Write all, and forget it. */
void ctf_end(struct ctf *c);
/** Remove a folder with all files in it. */
void ctf_remove(const char *folder);

#endif

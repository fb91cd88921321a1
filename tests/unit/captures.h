/* SPDX-License-Identifier: MIT */
/* Captures made byte by byte, files in a folder of their own, pcapng taken apart again. */
#ifndef CAPTURES_H
#define CAPTURES_H

#include "base/base.h"
#include "read/trace.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

struct bytes {
	uint8_t *p;
	size_t n, cap;
	bool swap; /* numbers are put in the other byte order */
};

void put(struct bytes *b, const void *data, size_t n);
void put16(struct bytes *b, uint16_t v);
void put32(struct bytes *b, uint32_t v);
void put64(struct bytes *b, uint64_t v);

/* ---- classic ---- */
void pcap_begin(struct bytes *b, uint32_t magic, uint16_t link_type);
void pcap_record(struct bytes *b, uint32_t s, uint32_t fraction, const void *data,
		 uint32_t captured, uint32_t length);

/* ---- pcapng: begin, put, end ---- */
size_t ng_begin(struct bytes *b, uint32_t type);
void ng_option(struct bytes *b, uint16_t code, const void *value, size_t n);
void ng_end(struct bytes *b, size_t start);
void ng_section(struct bytes *b);
/* resolution: value of if_tsresol, or -1 for none; offset_s: 0 for none. */
void ng_interface(struct bytes *b, uint16_t link_type, int resolution, int64_t offset_s);
/* comment and flags: 0 for none. */
void ng_packet(struct bytes *b, uint32_t iface, uint64_t ticks, const void *data, uint32_t captured,
	       uint32_t length, const char *comment, uint32_t flags);

/* An Ethernet frame with IPv4, UDP and a payload that holds `id`. Returns its size. */
enum { FRAME = 14 + 20 + 8 + 16 };
size_t udp_frame(uint8_t out[FRAME], uint32_t src, uint32_t dst, uint8_t ttl, uint64_t id);
uint64_t frame_id(const uint8_t *frame);

/* ---- taken apart ---- */
struct seen {
	int64_t time_ns;
	uint8_t *data;
	uint32_t captured, length, iface;
	enum usk_side side;
};
/* All records of a capture by unskew's own reader. *n is set; free with seen_free(). */
struct seen *see(const char *path, size_t *n, char **damage);
void seen_free(struct seen *s, size_t n);

struct ng_block {
	uint32_t type;
	const uint8_t *d; /* the whole block */
	size_t size;
	bool swap;
};
/* Blocks of a file in memory; fails the test if they do not fit each other. */
struct ng_block *ng_blocks(const struct bytes *file, size_t *n);
/* The value of the first option of that code of a block whose options start at `from`, or NULL. */
const uint8_t *ng_find(const struct ng_block *b, size_t from, unsigned code, size_t *size);
size_t ng_packet_options(const struct ng_block *b);

/* ---- files ---- */
extern char folder[64]; /* made by folder_make(), emptied and removed by folder_remove() */
int folder_make(void **state);
int folder_remove(void **state);
char *file(const char *name); /* path in the folder, malloc'ed */
void save(const char *path, const struct bytes *b);
struct bytes load(const char *path);
size_t folder_files(void); /* how many are in it */
/* Runs a shell command; its status, and its output cut to fit. 127: not installed. */
int run_tool(const char *command, char *out, size_t size);

/* A table with one clock per map: knots at 0 and 2^61 around offsets, bounded. */
struct usk_clocks *clocks_of(const char *const *name, const int64_t *offset_ns,
			     const int64_t *drift_e9, size_t n);

#endif

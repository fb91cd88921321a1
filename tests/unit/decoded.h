/* SPDX-License-Identifier: MIT */
/*
 * decoded.h - a packet that was made, as bytes, and as what is decoded of it
 */
#ifndef USK_TESTS_DECODED_H
#define USK_TESTS_DECODED_H

#include "making.h"
#include "read/trace.h"

#define A      UINT32_C(0x0a000001)
#define B      UINT32_C(0x0a000002)
#define NO_CUT UINT32_MAX

/** A segment with data and timestamps, of A to B. */
extern const struct packet tcp;

/** A decoded packet; false: left out, and *counts says as what. The bytes lie in a block of their
 * own, cut after so many. */
bool decode_cut(const struct packet *p, uint32_t keep, uint32_t depth, struct usk_packet *out,
		struct usk_counts *counts);
/** All of one that must be decoded. */
struct usk_packet decode(const struct packet *p);

#endif

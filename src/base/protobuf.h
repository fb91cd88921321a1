/* SPDX-License-Identifier: MIT */
/*
 * protobuf.h - the wire format of Protocol Buffers, a field at a time
 *
 * In    bytes of a message, as many as there are; a number
 * Out   the next field's number, and its value or how long it is; the number's bytes
 * Why   a message may be hundreds of MB: libraries want it whole, and make a tree of it
 * Not   what fields mean; bytes of a value, messages within messages: they are the caller's to walk
 */
#ifndef USK_PROTOBUF_H
#define USK_PROTOBUF_H

#include <stddef.h>
#include <stdint.h>

enum usk_wire {
	USK_WIRE_VARINT,
	USK_WIRE_FIXED64,
	USK_WIRE_BYTES, /* text, bytes, a message */
	USK_WIRE_GROUP, /* fields up to the end that has its number */
	USK_WIRE_GROUP_END,
	USK_WIRE_FIXED32,
};

struct usk_wire_field {
	uint32_t number;
	enum usk_wire wire;
	uint64_t value; /* of USK_WIRE_BYTES: how many follow */
	size_t size;	/* bytes of all this */
};

enum usk_wire_found {
	USK_WIRE_FIELD,
	USK_WIRE_SHORT, /* it goes on behind the bytes given */
	USK_WIRE_BAD,	/* no field begins so, whatever follows */
};

/* A number of 5 bytes, and one of 10. */
enum { USK_WIRE_LONGEST = 15 };

/** The field at d[0..n); it is never longer than USK_WIRE_LONGEST. */
enum usk_wire_found usk_wire_next(const uint8_t *d, size_t n, struct usk_wire_field *f);

enum { USK_VARINT_LONGEST = 10 };

/** A varint of at least so many bytes, filled up with zeros that say nothing; how many it has. */
size_t usk_wire_varint(uint64_t v, size_t least, uint8_t out[USK_VARINT_LONGEST]);

#endif

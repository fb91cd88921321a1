/* SPDX-License-Identifier: MIT */
#include "base/protobuf.h"
#include "base/bytes.h"

/* 7 bits a byte, the lowest first; the last byte is the one without its highest bit. */
static enum usk_wire_found varint(const uint8_t *d, size_t n, unsigned longest, uint64_t *out,
				  size_t *size)
{
	*out = 0;
	for (unsigned i = 0; i < longest; i++) {
		if (*size == n) {
			return USK_WIRE_SHORT;
		}
		uint8_t byte = d[(*size)++];
		if (i == 9 && byte > 1) {
			break; /* more than 64 bits */
		}
		*out |= (uint64_t)(byte & 0x7f) << 7 * i;
		if (byte < 0x80) {
			return USK_WIRE_FIELD;
		}
	}
	return USK_WIRE_BAD;
}

static enum usk_wire_found fixed(const uint8_t *d, size_t n, size_t bytes, struct usk_wire_field *f)
{
	if (n - f->size < bytes) {
		return USK_WIRE_SHORT;
	}
	f->value = bytes == 8 ? usk_le64(d + f->size) : usk_le32(d + f->size);
	f->size += bytes;
	return USK_WIRE_FIELD;
}

enum usk_wire_found usk_wire_next(const uint8_t *d, size_t n, struct usk_wire_field *f)
{
	uint64_t tag;
	f->size = 0;
	f->value = 0;
	enum usk_wire_found found = varint(d, n, 5, &tag, &f->size);
	if (found != USK_WIRE_FIELD) {
		return found;
	}
	f->number = (uint32_t)(tag >> 3);
	f->wire = (enum usk_wire)(tag & 7);
	if (tag > UINT32_MAX || !f->number) {
		return USK_WIRE_BAD;
	}
	switch (f->wire) {
	case USK_WIRE_VARINT:
	case USK_WIRE_BYTES:
		return varint(d, n, 10, &f->value, &f->size);
	case USK_WIRE_FIXED64:
		return fixed(d, n, 8, f);
	case USK_WIRE_FIXED32:
		return fixed(d, n, 4, f);
	case USK_WIRE_GROUP:
	case USK_WIRE_GROUP_END:
		return USK_WIRE_FIELD;
	}
	return USK_WIRE_BAD;
}

size_t usk_wire_varint(uint64_t v, size_t least, uint8_t out[USK_VARINT_LONGEST])
{
	size_t n = 0;
	do {
		out[n++] = (uint8_t)(v & 0x7f);
		v >>= 7;
		out[n - 1] |= v || n < least ? 0x80 : 0;
	} while (v || n < least);
	return n;
}

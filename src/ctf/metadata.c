/* SPDX-License-Identifier: MIT */
/*
 * metadata.c - the metadata of a CTF trace as text
 *
 * In    a trace's file "metadata": text, or text in packets, as LTTng writes it
 * Out   the text, every packet whole
 * Why   libbabeltrace2 reads on for ever where such a packet is cut short, so what packets say of
 *       themselves is looked at first; and the clock's lines are what re-timing changes
 * Not   what the text means (libbabeltrace2; of its clock alone retime.c)
 */
#include "base/io.h"
#include "ctf/ctf.h"

#include <stdlib.h>
#include <string.h>

/* Magic number, UUID, checksum, sizes of content and packet in bits, and five bytes more. */
enum { HEADER = 37, CONTENT = 24, PACKET = 28 };
#define MAGIC UINT32_C(0x75d11d57)

/* All packets into text, which has room for them; how many bytes. */
static enum usk_status unpack(const struct usk_input *in, bool swap, char *text, size_t *n,
			      struct usk_err *err)
{
	*n = 0;
	for (size_t at = 0, packet; at < in->have; at += packet) {
		size_t left = in->have - at;
		const uint8_t *p = in->data + at;
		bool whole = left >= HEADER && usk_load32(p, swap) == MAGIC;
		uint32_t content = whole ? usk_load32(p + CONTENT, swap) : 0;
		packet = whole ? usk_load32(p + PACKET, swap) / 8 : 0;
		if (packet < HEADER || packet > left || content / 8 < HEADER ||
		    content / 8 > packet) {
			return usk_fail(err, USK_EINPUT, at,
					"its metadata are cut short or damaged in the packet at "
					"byte %zu of %zu; without all of them nothing can be read",
					at, in->have);
		}
		memcpy(text + *n, p + HEADER, content / 8 - HEADER);
		*n += content / 8 - HEADER;
	}
	return USK_OK;
}

enum usk_status usk_ctf_metadata(const char *folder, char **text, struct usk_err *err)
{
	char *path = usk_format("%s/metadata", folder), *out = NULL;
	struct usk_input in;
	enum usk_status status = usk_input_open(&in, path, NULL, err);
	free(path);
	if (status) {
		return status;
	}
	status = usk_input_all(&in, err);
	if (!status) {
		bool plain = in.have >= 4 && usk_load32(in.data, false) == MAGIC;
		bool swap = in.have >= 4 && usk_load32(in.data, true) == MAGIC;
		size_t n = in.have;
		out = usk_alloc(in.have + 1, 1);
		if (plain || swap) {
			status = unpack(&in, swap, out, &n, err);
		} else if (n) {
			memcpy(out, in.data, n);
		}
	}
	usk_fail_in(status, err, "%s", folder);
	usk_input_close(&in);
	if (status || !text) {
		free(out);
	} else {
		*text = out;
	}
	return status;
}

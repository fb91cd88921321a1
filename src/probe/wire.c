/* SPDX-License-Identifier: MIT */
/*
 * wire.c - packets of probes to bytes and back
 *
 * In    128 bytes from anybody; or what is to be said
 * Out   the same as a struct; probe.h has the layout
 * Why   one size for all, and nothing in them that is not accounted for: no packet can make
 *       a larger one, and what decodes encodes to the same bytes
 * Not   who sent it (key.c); whether it makes sense now (server.c, client.c)
 */
#include "base/bytes.h"
#include "probe/probe.h"

#include <string.h>

enum {
	AT_VERSION = 4,
	AT_TYPE = 5,
	AT_KINDS = 6,
	AT_SESSION = 8,
	AT_SEQUENCE = 24,
	AT_BODY = 32,
	AT_BEFORE = 40,
	AT_LIFE = AT_BODY + USK_PROBE_COOKIE,
	AT_GONE = 48,
	AT_TAG = USK_PROBE_BYTES - USK_PROBE_TAG,
	VERSION = 1,
};

static const char magic[4] = "uskp";

_Static_assert((int)AT_GONE + 16 * USK_PROBE_GONE == AT_TAG, "the body ends where the tag begins");

static void put16(uint8_t *p, uint16_t v)
{
	v = usk_swap16_if(v, USK_SWAP_NETWORK);
	memcpy(p, &v, sizeof v);
}

static void put64(uint8_t *p, uint64_t v)
{
	v = usk_swap64_if(v, USK_SWAP_NETWORK);
	memcpy(p, &v, sizeof v);
}

const char *usk_probe_kind_name(enum usk_probe_kind k)
{
	static const char *const name[] = { "process", "kernel", "network card" };
	return name[k];
}

void usk_probe_encode(const struct usk_probe_packet *p, uint8_t out[USK_PROBE_BYTES])
{
	memset(out, 0, USK_PROBE_BYTES);
	memcpy(out, magic, sizeof magic);
	out[AT_VERSION] = VERSION;
	out[AT_TYPE] = (uint8_t)p->type;
	memcpy(out + AT_SESSION, p->session, USK_PROBE_SESSION);
	put64(out + AT_SEQUENCE, p->sequence);
	if (p->type == USK_PROBE_COOKIES || p->type == USK_PROBE_ASK) {
		memcpy(out + AT_BODY, p->cookie, USK_PROBE_COOKIE);
		memcpy(out + AT_LIFE, p->life, p->type == USK_PROBE_COOKIES ? USK_PROBE_LIFE : 0);
	} else if (p->type == USK_PROBE_ANSWER) {
		unsigned kinds = p->received.kind;
		put64(out + AT_BODY, (uint64_t)p->received.ns);
		put64(out + AT_BEFORE, (uint64_t)p->before_ns);
		for (unsigned i = 0; i < USK_PROBE_GONE; i++) {
			const struct usk_probe_gone *g = &p->gone[i];
			if (g->sequence) {
				kinds |= g->at.kind << (2 + 2 * i);
				put64(out + AT_GONE + 16 * i, g->sequence);
				put64(out + AT_GONE + 16 * i + 8, (uint64_t)g->at.ns);
			}
		}
		put16(out + AT_KINDS, (uint16_t)kinds);
	}
}

static bool stamp_of(const uint8_t *p, unsigned kind, struct usk_probe_stamp *out)
{
	out->ns = (int64_t)usk_be64(p);
	out->kind = (enum usk_probe_kind)(kind & 3);
	return (kind & 3) <= USK_PROBE_CARD && out->ns > -USK_TIME_MAX && out->ns < USK_TIME_MAX;
}

static bool decode_answer(const uint8_t *data, struct usk_probe_packet *out)
{
	struct usk_probe_stamp before;
	unsigned kinds = usk_be16(data + AT_KINDS);
	bool good = stamp_of(data + AT_BODY, kinds, &out->received) &&
		    stamp_of(data + AT_BEFORE, 0, &before);
	out->before_ns = good ? before.ns : 0;
	for (unsigned i = 0; i < USK_PROBE_GONE && good; i++) {
		const uint8_t *at = data + AT_GONE + 16 * i;
		out->gone[i].sequence = usk_be64(at);
		good = stamp_of(at + 8, kinds >> (2 + 2 * i), &out->gone[i].at);
	}
	return good;
}

bool usk_probe_decode(const uint8_t *data, size_t n, struct usk_probe_packet *out)
{
	uint8_t again[USK_PROBE_BYTES];
	memset(out, 0, sizeof *out);
	if (n != USK_PROBE_BYTES || data[AT_TYPE] < USK_PROBE_HELLO ||
	    data[AT_TYPE] > USK_PROBE_ANSWER) {
		return false;
	}
	out->type = (enum usk_probe_type)data[AT_TYPE];
	memcpy(out->session, data + AT_SESSION, USK_PROBE_SESSION);
	out->sequence = usk_be64(data + AT_SEQUENCE);
	if (!out->sequence || (out->type == USK_PROBE_ANSWER && !decode_answer(data, out))) {
		return false;
	}
	if (out->type == USK_PROBE_COOKIES || out->type == USK_PROBE_ASK) {
		memcpy(out->cookie, data + AT_BODY, USK_PROBE_COOKIE);
	}
	if (out->type == USK_PROBE_COOKIES) {
		memcpy(out->life, data + AT_LIFE, USK_PROBE_LIFE);
	}
	/* All that it says was taken: magic, version, and nothing where nothing may be. */
	usk_probe_encode(out, again);
	return !memcmp(again, data, AT_TAG);
}

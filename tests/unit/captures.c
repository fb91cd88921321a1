/* SPDX-License-Identifier: MIT */
#include "captures.h"

#include "base/bytes.h"

#include <dirent.h>
#include <sys/wait.h>
#include <unistd.h>

char folder[64];

void put(struct bytes *b, const void *data, size_t n)
{
	while (b->cap - b->n < n) {
		b->cap = b->cap ? 2 * b->cap : 4096;
		b->p = usk_grow(b->p, b->cap, 1);
	}
	if (n) {
		memcpy(b->p + b->n, data, n);
	}
	b->n += n;
}

void put16(struct bytes *b, uint16_t v)
{
	v = b->swap ? __builtin_bswap16(v) : v;
	put(b, &v, sizeof v);
}

void put32(struct bytes *b, uint32_t v)
{
	v = b->swap ? __builtin_bswap32(v) : v;
	put(b, &v, sizeof v);
}

void put64(struct bytes *b, uint64_t v)
{
	v = b->swap ? __builtin_bswap64(v) : v;
	put(b, &v, sizeof v);
}

static uint32_t load32(const uint8_t *p, bool swap)
{
	uint32_t v;
	memcpy(&v, p, sizeof v);
	return swap ? __builtin_bswap32(v) : v;
}

static uint16_t load16(const uint8_t *p, bool swap)
{
	uint16_t v;
	memcpy(&v, p, sizeof v);
	return swap ? __builtin_bswap16(v) : v;
}

void pcap_begin(struct bytes *b, uint32_t magic, uint16_t link_type)
{
	put32(b, magic);
	put16(b, 2);
	put16(b, 4);
	put32(b, 0);
	put32(b, 0);
	put32(b, 65535);
	put32(b, link_type);
}

void pcap_record(struct bytes *b, uint32_t s, uint32_t fraction, const void *data,
		 uint32_t captured, uint32_t length)
{
	put32(b, s);
	put32(b, fraction);
	put32(b, captured);
	put32(b, length);
	put(b, data, captured);
}

size_t ng_begin(struct bytes *b, uint32_t type)
{
	size_t start = b->n;
	put32(b, type);
	put32(b, 0);
	return start;
}

static void pad(struct bytes *b, size_t start)
{
	static const uint8_t zeros[4];
	put(b, zeros, (start - b->n) & 3);
}

void ng_option(struct bytes *b, uint16_t code, const void *value, size_t n)
{
	put16(b, code);
	put16(b, (uint16_t)n);
	put(b, value, n);
	pad(b, 0);
}

void ng_end(struct bytes *b, size_t start)
{
	put32(b, (uint32_t)(b->n - start) + 4);
	memcpy(b->p + start + 4, b->p + b->n - 4, 4);
}

void ng_section(struct bytes *b)
{
	size_t at = ng_begin(b, 0x0a0d0d0a);
	put32(b, 0x1a2b3c4d);
	put16(b, 1);
	put16(b, 0);
	put64(b, UINT64_MAX);
	ng_option(b, 4, "a test", 6);
	ng_option(b, 0, NULL, 0);
	ng_end(b, at);
}

void ng_interface(struct bytes *b, uint16_t link_type, int resolution, int64_t offset_s)
{
	size_t at = ng_begin(b, 1);
	put16(b, link_type);
	put16(b, 0);
	put32(b, 65535);
	if (resolution >= 0 || offset_s) {
		uint8_t r = (uint8_t)resolution;
		ng_option(b, 2, "eth0", 4);
		if (resolution >= 0) {
			ng_option(b, 9, &r, 1);
		}
		if (offset_s) {
			struct bytes v = { .swap = b->swap };
			put64(&v, (uint64_t)offset_s);
			ng_option(b, 14, v.p, v.n);
			free(v.p);
		}
		ng_option(b, 12, "Linux", 5);
		ng_option(b, 0, NULL, 0);
	}
	ng_end(b, at);
}

void ng_packet(struct bytes *b, uint32_t iface, uint64_t ticks, const void *data, uint32_t captured,
	       uint32_t length, const char *comment, uint32_t flags)
{
	size_t at = ng_begin(b, 6);
	put32(b, iface);
	put32(b, (uint32_t)(ticks >> 32));
	put32(b, (uint32_t)ticks);
	put32(b, captured);
	put32(b, length);
	put(b, data, captured);
	pad(b, 0);
	if (comment) {
		ng_option(b, 1, comment, strlen(comment));
	}
	if (flags) {
		struct bytes v = { .swap = b->swap };
		put32(&v, flags);
		ng_option(b, 2, v.p, v.n);
		free(v.p);
	}
	if (comment || flags) {
		ng_option(b, 0, NULL, 0);
	}
	ng_end(b, at);
}

size_t udp_frame(uint8_t out[FRAME], uint32_t src, uint32_t dst, uint8_t ttl, uint64_t id)
{
	struct bytes b = { .swap = USK_SWAP_NETWORK };
	put(&b, "\2\0\0\0\0\1\2\0\0\0\0\2\x08\0", 14);
	put(&b, "\x45\0", 2);
	put16(&b, FRAME - 14);
	put16(&b, (uint16_t)id);
	put16(&b, 0x4000);
	put(&b, &ttl, 1);
	put(&b, "\x11\0\0", 3);
	put32(&b, src);
	put32(&b, dst);
	put16(&b, 5000);
	put16(&b, 6000);
	put16(&b, 24);
	put16(&b, 0);
	put64(&b, id);
	put64(&b, usk_mix(id));
	memcpy(out, b.p, FRAME);
	free(b.p);
	return FRAME;
}

uint64_t frame_id(const uint8_t *frame)
{
	return usk_be64(frame + 42);
}

struct seen *see(const char *path, size_t *n, char **damage)
{
	struct usk_trace *t = NULL;
	struct usk_err err = { 0 };
	struct usk_record r[16];
	struct seen *out = NULL;
	size_t cap = 0, got;
	if (usk_trace_open(path, NULL, &t, &err)) {
		fail_msg("%s", err.msg);
	}
	for (*n = 0;;) {
		if (usk_trace_records(t, r, COUNT(r), &got, &err)) {
			fail_msg("%s", err.msg);
		}
		if (!got) {
			break;
		}
		for (size_t i = 0; i < got; i++) {
			out = usk_room(out, *n, &cap, sizeof *out);
			struct seen *s = &out[(*n)++];
			*s = (struct seen){ r[i].time_ns,  usk_alloc(r[i].captured + 1, 1),
					    r[i].captured, r[i].length,
					    r[i].iface,	   r[i].side };
			memcpy(s->data, r[i].data, r[i].captured);
		}
	}
	if (damage) {
		*damage = usk_trace_damage(t) ? usk_strdup(usk_trace_damage(t)) : NULL;
	}
	usk_trace_close(t);
	return out;
}

void seen_free(struct seen *s, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		free(s[i].data);
	}
	free(s);
}

struct ng_block *ng_blocks(const struct bytes *f, size_t *n)
{
	struct ng_block *out = NULL;
	size_t cap = 0, pos = 0;
	bool swap = false;
	*n = 0;
	while (pos < f->n) {
		const uint8_t *d = f->p + pos;
		assert_true(f->n - pos >= 12);
		if (load32(d, false) == 0x0a0d0d0a) {
			swap = load32(d + 8, false) != 0x1a2b3c4d;
			assert_true(load32(d + 8, swap) == 0x1a2b3c4d);
		}
		size_t size = load32(d + 4, swap);
		assert_true(size >= 12 && size % 4 == 0 && size <= f->n - pos);
		assert_true(load32(d + size - 4, swap) == size);
		out = usk_room(out, *n, &cap, sizeof *out);
		out[(*n)++] = (struct ng_block){ load32(d, swap), d, size, swap };
		pos += size;
	}
	return out;
}

size_t ng_packet_options(const struct ng_block *b)
{
	return 28 + ((load32(b->d + 20, b->swap) + 3) & ~3u);
}

const uint8_t *ng_find(const struct ng_block *b, size_t from, unsigned code, size_t *size)
{
	while (b->size - 4 - from >= 4) {
		unsigned c = load16(b->d + from, b->swap);
		*size = load16(b->d + from + 2, b->swap);
		assert_true(((*size + 3) & ~(size_t)3) <= b->size - 8 - from);
		if (c == code) {
			return b->d + from + 4;
		}
		if (!c) {
			break;
		}
		from += 4 + ((*size + 3) & ~(size_t)3);
	}
	return NULL;
}

int folder_make(void **state)
{
	(void)state;
	snprintf(folder, sizeof folder, "/tmp/unskew-test-XXXXXX");
	return mkdtemp(folder) ? 0 : 1;
}

static size_t walk_folder(bool remove_them)
{
	DIR *d = opendir(folder);
	size_t n = 0;
	for (struct dirent *e; d && (e = readdir(d));) {
		if (e->d_name[0] == '.') {
			continue;
		}
		n++;
		if (remove_them) {
			char *path = file(e->d_name);
			unlink(path);
			free(path);
		}
	}
	if (d) {
		closedir(d);
	}
	return n;
}

size_t folder_files(void)
{
	return walk_folder(false);
}

int folder_remove(void **state)
{
	(void)state;
	walk_folder(true);
	return rmdir(folder);
}

char *file(const char *name)
{
	return usk_format("%s/%s", folder, name);
}

void save(const char *path, const struct bytes *b)
{
	FILE *f = fopen(path, "wb");
	assert_non_null(f);
	assert_true(!b->n || fwrite(b->p, 1, b->n, f) == b->n);
	assert_int_equal(fclose(f), 0);
}

struct bytes load(const char *path)
{
	struct bytes b = { 0 };
	uint8_t block[4096];
	FILE *f = fopen(path, "rb");
	assert_non_null(f);
	for (size_t n; (n = fread(block, 1, sizeof block, f)) > 0;) {
		put(&b, block, n);
	}
	fclose(f);
	return b;
}

int run_tool(const char *command, char *out, size_t size)
{
	FILE *p = popen(command, "r");
	assert_non_null(p);
	size_t n = fread(out, 1, size - 1, p);
	out[n] = 0;
	char rest[4096];
	while (fread(rest, 1, sizeof rest, p) > 0) {
		continue; /* so that the tool is not killed by a closed pipe */
	}
	int status = pclose(p);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 255;
}

struct usk_clocks *clocks_of(const char *const *name, const int64_t *offset_ns,
			     const int64_t *drift_e9, size_t n)
{
	struct usk_clocks *c = usk_alloc(1, sizeof *c);
	c->clock = usk_alloc(n, sizeof *c->clock);
	c->n_clocks = n;
	c->method = usk_strdup("middle");
	for (size_t i = 0; i < n; i++) {
		struct usk_clock *k = &c->clock[i];
		k->name = usk_strdup(name[i]);
		k->quality = i ? USK_BOUNDED : USK_REFERENCE;
		k->n_knots = 2;
		k->knot = usk_alloc(2, sizeof *k->knot);
		for (int64_t e = 0; e < 2; e++) {
			int64_t x = (1700000000 + e * 1000) * INT64_C(1000000000);
			int64_t o = offset_ns[i] - e * 1000 * drift_e9[i];
			k->knot[e] = (struct usk_knot){ x, o, o, o, 0 };
		}
	}
	return c;
}

/* SPDX-License-Identifier: MIT */
#include "ctf_making.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { NOISE, QUEUE, RECEIVE, RX, ENTRY, INTERFACE, SEND, RECV, WHOAMI, LIST };

static const uint8_t uuid[16] = { 0x2a, 0x1b, 0xda, 0x29, 0xff, 0xc3, 0xe2, 0x48,
				  0x80, 0x53, 0x81, 0xcc, 0xaf, 0x83, 0x0d, 0x2f };

static const char *const begin_text =
	"/* CTF 1.8 */\n"
	"typealias integer { size = 8; align = 8; signed = false; } := uint8_t;\n"
	"typealias integer { size = 16; align = 8; signed = false; } := uint16_t;\n"
	"typealias integer { size = 32; align = 8; signed = false; } := uint32_t;\n"
	"typealias integer { size = 64; align = 8; signed = false; } := uint64_t;\n"
	"trace { major = 1; minor = 8; uuid = \"2a1bda29-ffc3-e248-8053-81ccaf830d2f\";\n"
	"	byte_order = le;\n"
	"	packet.header := struct { uint32_t magic; uint8_t uuid[16]; uint32_t stream_id; "
	"};\n"
	"};\n";

static const char *const stream_text =
	"typealias integer { size = 64; align = 8; signed = false; map = clock.monotonic.value; }\n"
	"	:= stamp_t;\n"
	"stream { id = 0;\n"
	"	event.header := struct { uint16_t id; stamp_t timestamp; };\n"
	"	packet.context := struct {\n"
	"		stamp_t timestamp_begin; stamp_t timestamp_end;\n"
	"		uint64_t content_size; uint64_t packet_size; uint64_t packet_seq_num;\n"
	"		uint64_t events_discarded; uint32_t cpu_id; };\n"
	"};\n"
	"event { name = \"sched_switch\"; id = 0; stream_id = 0;\n"
	"	fields := struct { uint32_t _prev_tid; uint32_t _next_tid; }; };\n"
	"typealias integer { size = 16; align = 8; signed = false; byte_order = be; } := be16;\n"
	"typealias integer { size = 32; align = 8; signed = false; byte_order = be; } := be32;\n"
	"typealias integer { size = 4; align = 4; signed = false; byte_order = be; } := be4;\n"
	"struct tcp_header { be16 _source_port; be16 _dest_port; be32 _seq; be32 _ack_seq;\n"
	"	be4 _data_offset;\n"
	"	integer { size = 3; align = 1; signed = false; byte_order = be; } _reserved;\n"
	"	integer { size = 9; align = 1; signed = false; byte_order = be; } _flags;\n"
	"	be16 _window_size; be16 _checksum; be16 _urg_ptr; };\n"
	"struct udp_header { be16 _source_port; be16 _dest_port; be16 _len; be16 _check; };\n"
	"struct icmp_header { uint8_t _type; uint8_t _code; be16 _checksum; be32 _gateway; };\n";

static const char *const network_text =
	"event { name = \"%s\"; id = %d; stream_id = 0; fields := struct {\n"
	"	integer { size = 64; align = 8; signed = false; base = 16; } _skbaddr;\n"
	"	uint32_t _len; string _name;\n"
	"	enum : uint8_t { \"_unknown\" = 0, \"_ipv4\" = 1, \"_ipv6\" = 2 } "
	"_network_header_type;\n"
	"	variant <_network_header_type> { struct { } _unknown;\n"
	"	struct { be4 _version; be4 _ihl; uint8_t _tos; be16 _tot_len; be16 _id;\n"
	"		be16 _frag_off; uint8_t _ttl;\n"
	"		enum : uint8_t { \"_icmp\" = 1, \"_tcp\" = 6, \"_udp\" = 17 } _protocol;\n"
	"		be16 _checksum; uint8_t _saddr[4]; uint8_t _daddr[4];\n"
	"		enum : uint8_t { \"_unknown\" = 0, \"_tcp\" = 1, \"_udp\" = 2, \"_icmp\" = "
	"3 }\n"
	"			_transport_header_type;\n"
	"		variant <_transport_header_type> { struct { } _unknown;\n"
	"			struct tcp_header _tcp; struct udp_header _udp;\n"
	"			struct icmp_header _icmp; } _transport_header; } _ipv4;\n"
	"	struct { be4 _version;\n"
	"		integer { size = 8; align = 4; signed = false; byte_order = be; } _prio;\n"
	"		integer { size = 20; align = 4; signed = false; byte_order = be; } "
	"_flow_lbl;\n"
	"		be16 _payload_len; uint8_t _nexthdr; uint8_t _hop_limit;\n"
	"		be16 _saddr[8]; be16 _daddr[8];\n"
	"		enum : uint8_t { \"_unknown\" = 0, \"_tcp\" = 1 } _transport_header_type;\n"
	"		variant <_transport_header_type> { struct { } _unknown;\n"
	"			struct tcp_header _tcp; } _transport_header; } _ipv6;\n"
	"	} _network_header; }; };\n";

static const char *const old_network_text =
	"event { name = \"%s\"; id = %d; stream_id = 0; fields := struct {\n"
	"	integer { size = 64; align = 8; signed = false; base = 16; } _skbaddr;\n"
	"	uint32_t _len; string _name;\n"
	"	enum : uint8_t { \"_none\" = 0, \"_ipv4\" = 1, \"_ipv6\" = 2 } "
	"_network_header_type;\n"
	"	variant <_network_header_type> { struct { } _none;\n"
	"	struct { be4 _version; be4 _ihl; uint8_t _tos; be16 _tot_len; be16 _id;\n"
	"		be16 _frag_off; uint8_t _ttl; uint8_t _protocol; be16 _checksum;\n"
	"		uint8_t _saddr[4]; uint8_t _daddr[4]; } _ipv4;\n"
	"	struct { be4 _version;\n"
	"		integer { size = 4; align = 4; signed = false; byte_order = be; } _prio;\n"
	"		uint8_t _flow_lbl[3]; be16 _payload_len; uint8_t _nexthdr;\n"
	"		uint8_t _hop_limit; be16 _saddr[8]; be16 _daddr[8]; } _ipv6;\n"
	"	} _network_header;\n"
	"	enum : uint8_t { \"_none\" = 0, \"_tcp\" = 1 } _transport_header_type;\n"
	"	variant <_transport_header_type> { struct { } _none;\n"
	"		struct { be16 _source; be16 _dest; be32 _seq; be32 _ack_seq; be16 _flags;\n"
	"			be16 _window; be16 _check; be16 _urg_ptr; } _tcp;\n"
	"	} _transport_header; }; };\n";

static const char *const other_text =
	"event { name = \"net_napi_gro_receive_entry\"; id = 4; stream_id = 0; fields := struct {\n"
	"	string _name; uint64_t _skbaddr; }; };\n"
	"event { name = \"lttng_statedump_network_interface\"; id = 5; stream_id = 0;\n"
	"	fields := struct { string _name; be32 _address_ipv4; }; };\n"
	"event { name = \"msg:send\"; id = 6; stream_id = 0; context := struct {\n"
	"	integer { size = 32; align = 8; signed = true; } _vtid; }; fields := struct {\n"
	"	integer { size = 32; align = 8; signed = true; } _channel; string _text;\n"
	"	uint32_t _bytes; }; };\n"
	"event { name = \"msg:recv\"; id = 7; stream_id = 0; context := struct {\n"
	"	integer { size = 32; align = 8; signed = true; } _vtid; }; fields := struct {\n"
	"	integer { size = 32; align = 8; signed = true; } _channel; string _text;\n"
	"	uint32_t _bytes; }; };\n"
	"event { name = \"msg:whoami\"; id = 8; stream_id = 0; context := struct {\n"
	"	integer { size = 32; align = 8; signed = true; } _vtid; }; fields := struct {\n"
	"	string _name; }; };\n"
	"event { name = \"msg:list\"; id = 9; stream_id = 0; fields := struct {\n"
	"	string _names[8];\n"
	"	floating_point { exp_dig = 11; mant_dig = 53; align = 8; } _reals[2];\n"
	"	floating_point { exp_dig = 8; mant_dig = 24; align = 8; } _singles[2];\n"
	"	uint16_t _pairs[2][2]; struct { uint32_t _x; } _inner;\n"
	"	struct { uint32_t _x; } _boxes[2]; }; };\n";

struct ctf ctf_begin(const char *folder, const char *hostname, uint64_t hz, int64_t offset_ns)
{
	struct ctf c = { .folder = usk_strdup(folder),
			 .hostname = hostname ? usk_strdup(hostname) : NULL,
			 .hz = hz };
	c.offset = (int64_t)((usk_i128)offset_ns * (int64_t)hz / 1000000000);
	return c;
}

static struct bytes *event(struct ctf *c, int cpu, uint64_t cycles, unsigned id)
{
	struct ctf_cpu *p = &c->cpu[cpu];
	p->first = p->any ? p->first : cycles;
	p->last = cycles;
	p->any = true;
	put16(&p->events, id);
	put64(&p->events, cycles);
	return &p->events;
}

static void string(struct bytes *b, const char *text)
{
	put(b, text, strlen(text) + 1);
}

void ctf_noise(struct ctf *c, int cpu, uint64_t cycles)
{
	struct bytes *b = event(c, cpu, cycles, NOISE);
	put32(b, 1);
	put32(b, 2);
}

/* The headers of a packet are the last fields of the event: they are put as they are. */
void ctf_network(struct ctf *c, int cpu, uint64_t cycles, enum ctf_device what, uint64_t buffer,
		 const struct packet *p, const char *device)
{
	struct bytes wire = { .big = true };
	struct packet raw = *p;
	raw.link = LINK_RAW;
	uint32_t length = packet_bytes(&raw, &wire);
	struct bytes *b = event(c, cpu, cycles, QUEUE + (unsigned)what);
	if (what == CTF_ENTRY) {
		string(b, device ? device : "eth0");
		put64(b, buffer);
		bytes_free(&wire);
		return;
	}
	put64(b, buffer);
	put32(b, length + (what == CTF_QUEUE ? 14 : 0));
	string(b, device ? device : "eth0");
	put8(b, p->v6 ? 2 : 1);
	size_t header = p->v6 ? 40 : 20;
	unsigned proto = wire.data[p->v6 ? 6 : 9];
	unsigned type = proto == TCP ? 1 : proto == UDP && !p->v6 ? 2 : proto == ICMP ? 3 : 0;
	type = c->old && type != 1 ? 0 : type;
	static const size_t transport[] = { 0, 20, 8, 8 };
	put(b, wire.data, header);
	put8(b, type);
	put(b, wire.data + header, transport[type]);
	bytes_free(&wire);
}

void ctf_interface(struct ctf *c, int cpu, uint64_t cycles, uint32_t address)
{
	struct bytes *b = event(c, cpu, cycles, INTERFACE);
	string(b, "eth0");
	for (int i = 3; i >= 0; i--) {
		put8(b, address >> 8 * i & 255);
	}
}

void ctf_message(struct ctf *c, int cpu, uint64_t cycles, bool sent, int32_t thread,
		 int32_t channel, const char *text, uint32_t bytes)
{
	struct bytes *b = event(c, cpu, cycles, sent ? SEND : RECV);
	put32(b, (uint32_t)thread);
	put32(b, (uint32_t)channel);
	string(b, text);
	put32(b, bytes);
}

void ctf_whoami(struct ctf *c, int cpu, uint64_t cycles, int32_t thread, const char *name)
{
	struct bytes *b = event(c, cpu, cycles, WHOAMI);
	put32(b, (uint32_t)thread);
	string(b, name);
}

void ctf_list(struct ctf *c, int cpu, uint64_t cycles, const struct ctf_values *v)
{
	struct bytes *b = event(c, cpu, cycles, LIST);
	for (size_t i = 0; i < COUNT(v->names); i++) {
		string(b, v->names[i] ? v->names[i] : "");
	}
	for (size_t i = 0; i < COUNT(v->reals); i++) {
		uint64_t bits;
		memcpy(&bits, &v->reals[i], sizeof bits);
		put64(b, bits);
	}
	for (size_t i = 0; i < COUNT(v->singles); i++) {
		uint32_t bits;
		memcpy(&bits, &v->singles[i], sizeof bits);
		put32(b, bits);
	}
	for (size_t i = 0; i < COUNT(v->pairs); i++) {
		put16(b, v->pairs[i]);
	}
	for (uint32_t i = 0; i < 3; i++) { /* one structure, and an array of two */
		put32(b, i);
	}
}

void ctf_flush(struct ctf *c, int cpu, uint64_t discarded)
{
	struct ctf_cpu *p = &c->cpu[cpu];
	struct bytes *b = &p->packets;
	enum { HEADER = 24 + 6 * 8 + 4 };
	p->discarded += discarded;
	put32(b, 0xc1fc1fc1);
	put(b, uuid, sizeof uuid);
	put32(b, 0);
	put64(b, p->first > c->early ? p->first - c->early : 0);
	put64(b, p->last);
	put64(b, (HEADER + p->events.n) * 8);
	put64(b, (HEADER + p->events.n) * 8);
	put64(b, p->sequence++);
	put64(b, p->discarded);
	put32(b, (uint32_t)cpu);
	put(b, p->events.data, p->events.n);
	p->events.n = 0;
	p->any = false;
}

static void save(const char *folder, const char *name, const void *data, size_t n)
{
	char *path = usk_format("%s/%s", folder, name);
	FILE *f = fopen(path, "wb");
	if (!f || fwrite(data, 1, n, f) != n || fclose(f)) {
		perror(path);
		exit(1);
	}
	free(path);
}

void ctf_end(struct ctf *c)
{
	struct bytes text = { 0 };
	mkdir(c->folder, 0777);
	put_text(&text, begin_text);
	char *env = c->hostname ? usk_format("env { hostname = \"%s\"; domain = \"kernel\"; };\n",
					     c->hostname)
				: usk_strdup("");
	char *clock = usk_format("clock { name = \"monotonic\"; freq = %llu; offset = %lld; };\n",
				 (unsigned long long)c->hz, (long long)c->offset);
	put_text(&text, env);
	put_text(&text, clock);
	put_text(&text, stream_text);
	static const char *const names[] = { "net_dev_queue", "net_if_receive_skb", "net_if_rx" };
	for (int i = 0; i < 3; i++) {
		char *e = usk_format(c->old ? old_network_text : network_text, names[i], QUEUE + i);
		put_text(&text, e);
		free(e);
	}
	put_text(&text, other_text);
	save(c->folder, "metadata", text.data, text.n);
	for (int i = 0; i < CTF_CPUS; i++) {
		if (c->cpu[i].any) {
			ctf_flush(c, i, 0);
		}
		if (c->cpu[i].packets.n) {
			char name[32];
			snprintf(name, sizeof name, "channel0_%d", i);
			save(c->folder, name, c->cpu[i].packets.data, c->cpu[i].packets.n);
		}
		bytes_free(&c->cpu[i].packets);
		bytes_free(&c->cpu[i].events);
	}
	bytes_free(&text);
	free(env);
	free(clock);
	free(c->folder);
	free(c->hostname);
	memset(c, 0, sizeof *c);
}

void ctf_remove(const char *folder)
{
	DIR *d = opendir(folder);
	for (struct dirent *e; d && (e = readdir(d)) != NULL;) {
		if (strcmp(e->d_name, ".") && strcmp(e->d_name, "..")) {
			char *path = usk_format("%s/%s", folder, e->d_name);
			if (unlink(path)) {
				ctf_remove(path);
			}
			free(path);
		}
	}
	if (d) {
		closedir(d);
	}
	rmdir(folder);
}

/* SPDX-License-Identifier: MIT */
/*
 * flood.c - one who sniffs a client and sends in its name: flood INTERFACE KIND RATE SECONDS
 *
 * In    what leaves by the interface to UDP port 4719
 * Out   packets from the same address and port, RATE a second, 0: as fast as can be
 * Why   nobody has to hold the key to send what a client sent before, or something like it
 *
 * KIND: hello: the last hello again; ask: one of the last asks again; forged: with other numbers in
 * it; cut: shorter; flipped: with one bit changed. Prints how many it sent.
 */
#include "base/base.h"
#include "probe/probe.h"

#include <arpa/inet.h>
#include <linux/if_packet.h>
#include <net/ethernet.h>
#include <net/if.h>
#include <netinet/ip.h>
#include <netinet/udp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum kind { HELLO, ASK, FORGED, CUT, FLIPPED, KINDS };

static const char *const names[KINDS] = { "hello", "ask", "forged", "cut", "flipped" };

enum { HEADS = ETHER_HDR_LEN + sizeof(struct iphdr) + sizeof(struct udphdr), OLD = 64 };

struct frame {
	uint8_t data[HEADS + USK_PROBE_BYTES];
};

struct flood {
	int fd;
	enum kind kind;
	struct usk_rng rng;
	struct frame old[OLD];
	size_t seen; /* those of old: the last OLD */
};

/* Is it of the sort that is to be sent again? */
static bool fits(const struct flood *f, const uint8_t *data, size_t n)
{
	struct iphdr ip;
	struct udphdr udp;
	if (n != sizeof(struct frame)) {
		return false;
	}
	memcpy(&ip, data + ETHER_HDR_LEN, sizeof ip);
	memcpy(&udp, data + ETHER_HDR_LEN + sizeof ip, sizeof udp);
	enum { TYPE_AT = 5 };
	return ip.version == 4 && ip.ihl == 5 && ip.protocol == IPPROTO_UDP &&
	       ntohs(udp.dest) == USK_PROBE_PORT &&
	       (data[HEADS + TYPE_AT] == USK_PROBE_HELLO) == (f->kind == HELLO);
}

static void sniff(struct flood *f)
{
	uint8_t data[sizeof(struct frame) + 1];
	ssize_t n;
	struct sockaddr_ll from;
	socklen_t n_from = sizeof from;
	while ((n = recvfrom(f->fd, data, sizeof data, MSG_DONTWAIT, (struct sockaddr *)&from,
			     &n_from)) >= 0) {
		if (from.sll_pkttype == PACKET_OUTGOING && fits(f, data, (size_t)n)) {
			memcpy(f->old[f->seen++ % OLD].data, data, sizeof(struct frame));
		}
		n_from = sizeof from;
	}
}

static uint16_t header_sum(const struct iphdr *ip)
{
	uint16_t half[sizeof *ip / 2];
	uint32_t sum = 0;
	memcpy(half, ip, sizeof *ip);
	for (size_t i = 0; i < COUNT(half); i++) {
		sum += half[i];
	}
	sum = (sum & 0xffff) + (sum >> 16);
	return (uint16_t) ~(sum + (sum >> 16));
}

/* n bytes of payload; without a checksum of UDP, as the card was to fill in that of the original.
 */
static void send_frame(const struct flood *f, struct frame *one, size_t n)
{
	struct iphdr ip;
	struct udphdr udp;
	uint8_t *at = one->data + ETHER_HDR_LEN;
	memcpy(&ip, at, sizeof ip);
	memcpy(&udp, at + sizeof ip, sizeof udp);
	udp.len = htons((uint16_t)(sizeof udp + n));
	udp.check = 0;
	ip.tot_len = htons((uint16_t)(sizeof ip + sizeof udp + n));
	ip.check = 0;
	ip.check = header_sum(&ip);
	memcpy(at, &ip, sizeof ip);
	memcpy(at + sizeof ip, &udp, sizeof udp);
	ssize_t sent = send(f->fd, one->data, HEADS + n, 0);
	(void)sent; /* lost, then */
}

static void send_one(struct flood *f)
{
	size_t have = f->seen < OLD ? f->seen : OLD, n = USK_PROBE_BYTES;
	size_t which = f->kind == HELLO ? f->seen - 1 : usk_rng_below(&f->rng, have);
	struct frame one = f->old[which % OLD];
	uint8_t *packet = one.data + HEADS;
	enum { SESSION_AT = 8, COOKIE_END = 56 };
	switch (f->kind) {
	case FORGED:
		for (size_t i = SESSION_AT; i < COOKIE_END; i++) {
			packet[i] = (uint8_t)usk_rng_next(&f->rng);
		}
		break;
	case CUT:
		n = usk_rng_below(&f->rng, USK_PROBE_BYTES);
		break;
	case FLIPPED:
		packet[usk_rng_below(&f->rng, n)] ^= (uint8_t)(1 << usk_rng_below(&f->rng, 8));
		break;
	default:
		break;
	}
	send_frame(f, &one, n);
}

static int64_t now_ns(void)
{
	return usk_clock_ns(CLOCK_MONOTONIC);
}

static uint64_t run(struct flood *f, double rate, int64_t end_ns)
{
	uint64_t sent = 0;
	int64_t from = 0;
	while (now_ns() < end_ns) {
		sniff(f);
		if (!f->seen) {
			struct pollfd p = { f->fd, POLLIN, 0 };
			poll(&p, 1, 10);
			continue;
		}
		from = from ? from : now_ns();
		uint64_t due =
			rate > 0 ? (uint64_t)(rate * (double)(now_ns() - from) / 1e9) : sent + 32;
		for (; sent < due; sent++) {
			send_one(f);
		}
		if (rate > 0) {
			usleep(500);
		}
	}
	return sent;
}

int main(int argc, char **argv)
{
	static struct flood f;
	while (argc == 5 && f.kind < KINDS && strcmp(argv[2], names[f.kind])) {
		f.kind++;
	}
	if (argc != 5 || f.kind == KINDS) {
		fprintf(stderr,
			"usage: flood INTERFACE hello|ask|forged|cut|flipped RATE SECONDS\n");
		return 2;
	}
	struct sockaddr_ll at = { .sll_family = AF_PACKET,
				  .sll_protocol = htons(ETH_P_ALL),
				  .sll_ifindex = (int)if_nametoindex(argv[1]) };
	usk_rng_seed(&f.rng, 1);
	f.fd = socket(AF_PACKET, SOCK_RAW, htons(ETH_P_ALL));
	if (f.fd < 0 || bind(f.fd, (struct sockaddr *)&at, sizeof at)) {
		perror("flood");
		return 1;
	}
	printf("%llu\n",
	       (unsigned long long)run(&f, atof(argv[3]), now_ns() + atoll(argv[4]) * 1000000000));
	return 0;
}

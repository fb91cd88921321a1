/* SPDX-License-Identifier: MIT */
/*
 * talk.c - one of two processes that send each other messages over TCP, traced by LTTng-UST
 *
 * In    talk 0 FILE COUNT   listens on 127.0.0.1, writes its port to FILE, answers
 *       talk 1 FILE COUNT   reads the port from FILE, asks COUNT times
 * Out   tracepoints talk:send, before a message is handed to the kernel, and talk:recv, after it
 *       has come back from it: from (0 or 1), number, bytes
 *       talk cost COUNT     prints what a tracepoint costs, ns: the median of 16 runs of COUNT
 * Why   messages whose identity is known, in real traces
 */
#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#include "talk_tp.h"

#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

struct message {
	uint32_t from, number;
	uint8_t filling[56];
};

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static void pause_ns(long ns)
{
	struct timespec t = { 0, ns };
	nanosleep(&t, NULL);
}

static void put(int fd, uint32_t from, uint32_t number)
{
	struct message m = { .from = from, .number = number };
	lttng_ust_tracepoint(talk, send, from, number, sizeof m);
	if (send(fd, &m, sizeof m, MSG_NOSIGNAL) != sizeof m) {
		die("send");
	}
}

/* The next message; false at the end of the connection. */
static bool take(int fd)
{
	struct message m;
	ssize_t n = recv(fd, &m, sizeof m, MSG_WAITALL);
	if (n == sizeof m) {
		lttng_ust_tracepoint(talk, recv, m.from, m.number, sizeof m);
	} else if (n) {
		die("recv");
	}
	return n != 0;
}

static int meet(uint32_t self, const char *file)
{
	struct sockaddr_in a = { .sin_family = AF_INET };
	socklen_t size = sizeof a;
	int one = 1, fd = socket(AF_INET, SOCK_STREAM, 0);
	a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (self == 0) {
		char *new = malloc(strlen(file) + 5);
		sprintf(new, "%s.new", file);
		FILE *f = fopen(new, "w");
		if (fd < 0 || bind(fd, (struct sockaddr *)&a, size) || listen(fd, 1) ||
		    getsockname(fd, (struct sockaddr *)&a, &size) || !f) {
			die("listen");
		}
		fprintf(f, "%u\n", ntohs(a.sin_port));
		if (fclose(f) || rename(new, file)) {
			die(file);
		}
		free(new);
		fd = accept(fd, NULL, NULL);
	} else {
		unsigned port = 0;
		for (int i = 0; i < 3000 && !port; i++) {
			FILE *f = fopen(file, "r");
			if (f && fscanf(f, "%u", &port) != 1) {
				port = 0;
			}
			if (f) {
				fclose(f);
			} else {
				pause_ns(10000000);
			}
		}
		a.sin_port = htons((uint16_t)port);
		if (!port || connect(fd, (struct sockaddr *)&a, sizeof a)) {
			die("connect");
		}
	}
	if (fd < 0 || setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one)) {
		die("socket");
	}
	return fd;
}

static int64_t now_ns(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

static int ascending(const void *x, const void *y)
{
	double a = *(const double *)x, b = *(const double *)y;
	return (a > b) - (a < b);
}

static void cost(uint32_t count)
{
	double ns[16];
	for (int run = 0; run < 16; run++) {
		int64_t begin = now_ns();
		for (uint32_t i = 0; i < count; i++) {
			lttng_ust_tracepoint(talk, send, 0, i, sizeof(struct message));
		}
		ns[run] = (double)(now_ns() - begin) / count;
		pause_ns(20000000); /* the consumer catches up */
	}
	qsort(ns, 16, sizeof *ns, ascending);
	printf("%.1f\n", (ns[7] + ns[8]) / 2);
}

int main(int argc, char **argv)
{
	if (argc == 3 && !strcmp(argv[1], "cost")) {
		cost((uint32_t)strtoul(argv[2], NULL, 10));
		return 0;
	}
	if (argc != 4) {
		fprintf(stderr, "usage: talk 0|1 FILE COUNT\n");
		return 2;
	}
	uint32_t self = argv[1][0] == '1', count = (uint32_t)strtoul(argv[3], NULL, 10);
	int fd = meet(self, argv[2]);
	for (uint32_t i = 0; i < count; i++) {
		if (self) {
			put(fd, 1, i);
		}
		if (!take(fd)) {
			break;
		}
		if (self) {
			pause_ns((long)(i * UINT32_C(2654435761) >> 12)); /* up to a millisecond */
		} else {
			put(fd, 0, i);
		}
	}
	close(fd);
	return 0;
}

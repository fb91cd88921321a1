/* SPDX-License-Identifier: MIT */
/*
 * bench_recording.c - messages to be recorded, and what each costs the one who sends them
 *
 * In    bench_recording COUNT BYTES [FILE]: sends itself COUNT messages of BYTES over UDP on the
 *       loopback interface; FILE: and writes a row of an event table for each send and receive
 * Out   processor time of a message, sent and received, ns: the median of 9 runs
 * Why   what recording adds to that is what it costs the recorded program; elapsed time would also
 *       tell what else the machine does
 */
#include <arpa/inet.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { RUNS = 9, PORT = 40999 };

static int64_t read_ns(clockid_t clock)
{
	struct timespec t;
	clock_gettime(clock, &t);
	return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

static void row(FILE *f, const char *kind, uint64_t id)
{
	if (f) {
		fprintf(f, "a,%" PRId64 ",%s,%" PRIu64 "\n", read_ns(CLOCK_MONOTONIC_RAW), kind,
			id);
	}
}

static int ascending(const void *x, const void *y)
{
	double a = *(const double *)x, b = *(const double *)y;
	return (a > b) - (a < b);
}

int main(int argc, char **argv)
{
	size_t count = argc > 2 ? strtoul(argv[1], NULL, 10) / RUNS : 0;
	size_t bytes = argc > 2 ? strtoul(argv[2], NULL, 10) : 0;
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_port = htons(PORT) };
	a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	int fd = socket(AF_INET, SOCK_DGRAM, 0);
	FILE *f = argc > 3 ? fopen(argv[3], "w") : NULL;
	if (!count || !bytes || bytes > 65000 || (argc > 3 && !f)) {
		fprintf(stderr, "usage: bench_recording COUNT BYTES [FILE]\n");
		return 2;
	}
	if (fd < 0 || bind(fd, (struct sockaddr *)&a, sizeof a) ||
	    connect(fd, (struct sockaddr *)&a, sizeof a)) {
		perror("bench_recording");
		return 1;
	}
	char *message = calloc(1, bytes);
	double cost[RUNS];
	if (f) {
		fprintf(f, "clock,time_ns,kind,id\n");
	}
	for (size_t run = 0; run < RUNS && message; run++) {
		int64_t begin = read_ns(CLOCK_PROCESS_CPUTIME_ID);
		for (size_t i = 0; i < count; i++) {
			row(f, "send", run * count + i);
			if (send(fd, message, bytes, 0) < 0 || recv(fd, message, bytes, 0) < 0) {
				perror("bench_recording");
				return 1;
			}
			row(f, "recv", run * count + i);
		}
		cost[run] = (double)(read_ns(CLOCK_PROCESS_CPUTIME_ID) - begin) / (double)count;
	}
	qsort(cost, RUNS, sizeof *cost, ascending);
	printf("%.0f\n", cost[RUNS / 2]);
	free(message);
	close(fd);
	return f && fclose(f) ? 1 : 0;
}

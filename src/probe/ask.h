/* SPDX-License-Identifier: MIT */
/* ask.h - the two loops that talk: rounds of a client, a server that answers */
#ifndef USK_PROBE_ASK_H
#define USK_PROBE_ASK_H

#include "probe/socket.h"

/* How rounds are asked; by the caller. */
struct usk_probe_asking {
	size_t burst, attempts; /* burst: 1 to USK_PROBE_BURST */
	int64_t timeout_ns, slack_ns, skew_e12;
	int stop_fd; /* readable: stop; -1: never */
};

/* What a round brought. */
struct usk_probe_round {
	bool stopped;
	bool set;			/* a clock was set, before or meanwhile */
	bool anew;			/* another server answers than before */
	bool known;			/* stamps are there */
	bool spaced;			/* some pair kept its spacing, or bursts are of one */
	struct usk_three_stamps stamps; /* of the best attempt */
	struct usk_probe_exchange kept[USK_PROBE_BURST + 1]; /* those worth a row */
	size_t n_kept;
	uint64_t attempts, sent, lost, answered, dropped; /* dropped: answered, but not kept */
	bool refused;			      /* that machine said that nobody listens */
	uint64_t kind[2][USK_PROBE_CARD + 1]; /* of stamps here and there */
	int64_t trip_ns;		      /* least round trip less the answer's; USK_NONE */
};

/** One round: bursts until one is good. Takes attempts x 3 timeouts at most. */
void usk_probe_round(struct usk_probe_client *c, struct usk_probe_socket *s,
		     const struct usk_probe_asking *how, struct usk_probe_round *out);

/** Wait for a socket, the end or a time of CLOCK_MONOTONIC. False: stop. */
bool usk_probe_wait(const struct usk_probe_socket *s, size_t n, int stop_fd, int64_t until_ns);

struct usk_probe_counts {
	uint64_t verdict[USK_PROBE_VERDICTS], unsent;
	uint64_t kind[2][USK_PROBE_CARD + 1]; /* of arrivals and departures */
};

/** Answer until stopped or until_ns of CLOCK_MONOTONIC. */
void usk_probe_answer(struct usk_probe_server *server, struct usk_probe_socket *s, size_t n,
		      int stop_fd, int64_t until_ns, struct usk_probe_counts *counts);

#endif

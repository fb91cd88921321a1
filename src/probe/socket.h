/* SPDX-License-Identifier: MIT */
/*
 * socket.h - datagrams with the moments at which the kernel saw them leave and arrive
 */
#ifndef USK_PROBE_SOCKET_H
#define USK_PROBE_SOCKET_H

#include "probe/probe.h"

#include <sys/socket.h>

/*
 * A clock that is made from CLOCK_REALTIME, to try things out where there is only one: it reads
 * t + offset + (t - since) x drift, rounded down.
 */
struct usk_probe_distortion {
	int64_t offset_ns, drift_e12, since_ns;
};

int64_t usk_probe_distort(const struct usk_probe_distortion *d, int64_t ns);

struct usk_probe_socket {
	int fd;
	const struct usk_probe_distortion *distortion; /* borrowed */
	bool card;				       /* stamps are the network card's */
	bool v6;
	bool refused;  /* that machine said that nobody listens; cleared by whoever asks */
	uint32_t sent; /* the number of the next departure */
	uint32_t base; /* the one that the kernel calls 0 */
};

/* Where a datagram came from, and what is needed to answer from the address it came to. */
struct usk_probe_from {
	struct sockaddr_storage addr;
	socklen_t n_addr;
	uint8_t to[64]; /* a control message */
	size_t n_to;
	struct usk_probe_peer peer;
};

enum { USK_PROBE_SOCKETS = 16 };

/**
 * Sockets for all addresses of `where` (NULL: every one), numeric or by name: how many. card:
 * name of the network interface whose clock stamps, or NULL.
 */
enum usk_status usk_probe_listen(const char *where, uint16_t port, const char *card,
				 struct usk_probe_socket out[USK_PROBE_SOCKETS], size_t *n,
				 struct usk_err *err);
/**
 * One, connected to that of the host's addresses that can be reached, number `which` from 0 on.
 * USK_EIO if there are not so many. *loopback: it is this machine; told of one out of reach, too.
 */
enum usk_status usk_probe_connect(const char *host, uint16_t port, size_t which, const char *card,
				  struct usk_probe_socket *out, bool *loopback,
				  struct usk_err *err);
void usk_probe_close(struct usk_probe_socket *s);
/** Does every address of that name lead to this machine itself? */
bool usk_probe_is_loopback(const char *where);

/** What the clock reads now; with the card's stamps that is no clock of ours, and never used. */
struct usk_probe_stamp usk_probe_now(const struct usk_probe_socket *s);
/** usk_probe_steady_add() with what the clocks read now; not of cards. */
bool usk_probe_steady(struct usk_probe_steady *s);
/** CLOCK_MONOTONIC. */
int64_t usk_probe_mono_ns(void);

/** to: NULL if connected. *number tells the departure. False: not sent. */
bool usk_probe_send(struct usk_probe_socket *s, const uint8_t *data, size_t n,
		    const struct usk_probe_from *to, uint32_t *number);
/** One datagram, without waiting; -1: there is none. More than room is cut, and told by its size.
 */
long usk_probe_receive(struct usk_probe_socket *s, uint8_t *data, size_t room,
		       struct usk_probe_from *from, struct usk_probe_stamp *at);
/** One departure, without waiting. */
bool usk_probe_departed(struct usk_probe_socket *s, uint32_t *number, struct usk_probe_stamp *at);

/* ---- ask.c, answer.c: the two loops that talk: rounds of a client, a server that answers ---- */

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

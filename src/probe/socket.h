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
 * USK_EIO if there are not so many. *loopback: it is this machine.
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

#endif

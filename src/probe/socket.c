/* SPDX-License-Identifier: MIT */
/*
 * socket.c - datagrams with the moments at which the kernel saw them leave and arrive
 *
 * In    addresses, bytes
 * Out   bytes, stamps: SO_TIMESTAMPING of Linux
 * Why   what a process reads from a clock before it sends and after it received holds everything
 *       that it waited for a processor; the kernel's stamps do not
 * Not   what the bytes mean
 *
 * A departure is reported on the socket's error queue, by a number that counts what was sent. All
 * stamps err to the safe side: a departure is taken before the packet is handed to the card, an
 * arrival after the card handed it over.
 */
#include "probe/socket.h"
#include "base/bytes.h"

#include <errno.h>
#include <linux/errqueue.h>
#include <linux/net_tstamp.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

/* ---- clocks ----------------------------------------------------------------------------- */

int64_t usk_probe_distort(const struct usk_probe_distortion *d, int64_t ns)
{
	usk_i128 gone = (usk_i128)ns - d->since_ns;
	return usk_saturate((usk_i128)ns + d->offset_ns +
			    usk_floor_div(gone * d->drift_e12, 1000000000000));
}

int64_t usk_probe_mono_ns(void)
{
	return usk_clock_ns(CLOCK_MONOTONIC);
}

bool usk_probe_steady(struct usk_probe_steady *s)
{
	int64_t before = usk_clock_ns(CLOCK_MONOTONIC), real = usk_clock_ns(CLOCK_REALTIME);
	return usk_probe_steady_add(s, before, real, usk_clock_ns(CLOCK_MONOTONIC));
}

struct usk_probe_stamp usk_probe_now(const struct usk_probe_socket *s)
{
	return (struct usk_probe_stamp){
		usk_probe_distort(s->distortion, usk_clock_ns(CLOCK_REALTIME)), USK_PROBE_PROCESS
	};
}

/* ---- making ------------------------------------------------------------------------------ */

/*
 * The kernel's numbers of departures begin anew whenever this is set; ours go on, as two asks of
 * one number would let one have the other's departure.
 */
static bool ask_for_stamps(struct usk_probe_socket *s)
{
	unsigned flags =
		SOF_TIMESTAMPING_OPT_ID | SOF_TIMESTAMPING_OPT_TSONLY | SOF_TIMESTAMPING_OPT_CMSG;
	flags |= s->card ? SOF_TIMESTAMPING_TX_HARDWARE | SOF_TIMESTAMPING_RX_HARDWARE |
				   SOF_TIMESTAMPING_RAW_HARDWARE
			 : SOF_TIMESTAMPING_TX_SOFTWARE | SOF_TIMESTAMPING_RX_SOFTWARE |
				   SOF_TIMESTAMPING_SOFTWARE;
	unsigned none = 0;
	s->base = s->sent;
	return !setsockopt(s->fd, SOL_SOCKET, SO_TIMESTAMPING, &none, sizeof none) &&
	       !setsockopt(s->fd, SOL_SOCKET, SO_TIMESTAMPING, &flags, sizeof flags);
}

/* Let the card stamp, if it does not already. This changes the card for all its users. */
static enum usk_status start_card(int fd, const char *card, struct usk_err *err)
{
	struct hwtstamp_config config = { 0 };
	struct ifreq r = { 0 };
	if (strlen(card) >= sizeof r.ifr_name) {
		return usk_fail(err, USK_EUSAGE, 0, "%s: no network interface has such a name",
				card);
	}
	strcpy(r.ifr_name, card);
	r.ifr_data = (void *)&config;
	if (!ioctl(fd, SIOCGHWTSTAMP, &r) && config.tx_type == HWTSTAMP_TX_ON &&
	    config.rx_filter == HWTSTAMP_FILTER_ALL) {
		return USK_OK;
	}
	config = (struct hwtstamp_config){ .tx_type = HWTSTAMP_TX_ON,
					   .rx_filter = HWTSTAMP_FILTER_ALL };
	if (!ioctl(fd, SIOCSHWTSTAMP, &r) && config.rx_filter == HWTSTAMP_FILTER_ALL) {
		return USK_OK;
	}
	return usk_fail(err, USK_EIO, 0,
			"%s: this network interface cannot stamp all packets: %s; without --card "
			"the kernel does",
			card, errno ? strerror(errno) : "its card has no such filter");
}

static enum usk_status make(const struct addrinfo *a, const char *card,
			    struct usk_probe_socket *out, struct usk_err *err)
{
	int yes = 1;
	*out = (struct usk_probe_socket){ .card = card != NULL, .v6 = a->ai_family == AF_INET6 };
	out->fd = socket(a->ai_family, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, IPPROTO_UDP);
	if (out->fd < 0) {
		return usk_fail(err, USK_EIO, 0, "no socket: %s", strerror(errno));
	}
	if (out->v6) {
		(void)setsockopt(out->fd, IPPROTO_IPV6, IPV6_V6ONLY, &yes, sizeof yes);
		(void)setsockopt(out->fd, IPPROTO_IPV6, IPV6_RECVPKTINFO, &yes, sizeof yes);
	} else {
		(void)setsockopt(out->fd, IPPROTO_IP, IP_PKTINFO, &yes, sizeof yes);
	}
	/* Thousands that wait while this process does: a flood is not to drive the others out. More
	 * than the system's limit is for root; what is not given is no failure. */
	const int room = 1 << 22;
	if (setsockopt(out->fd, SOL_SOCKET, SO_RCVBUFFORCE, &room, sizeof room)) {
		(void)setsockopt(out->fd, SOL_SOCKET, SO_RCVBUF, &room, sizeof room);
	}
	enum usk_status status = card ? start_card(out->fd, card, err) : USK_OK;
	if (!status && !ask_for_stamps(out) && card) {
		status = usk_fail(err, USK_EIO, 0, "%s: its stamps are refused: %s", card,
				  strerror(errno));
	}
	if (status) {
		usk_probe_close(out);
	}
	return status;
}

static enum usk_status look_up(const char *host, uint16_t port, bool passive, struct addrinfo **out,
			       struct usk_err *err)
{
	const struct addrinfo want = { .ai_family = AF_UNSPEC,
				       .ai_socktype = SOCK_DGRAM,
				       .ai_flags = passive ? AI_PASSIVE : AI_ADDRCONFIG };
	char service[8];
	snprintf(service, sizeof service, "%u", port);
	int error = getaddrinfo(host, service, &want, out);
	/* Names that exist only for addresses of no interface (::1 where only IPv4 is up). */
	if (error && !passive) {
		const struct addrinfo any = { .ai_family = AF_UNSPEC, .ai_socktype = SOCK_DGRAM };
		error = getaddrinfo(host, service, &any, out);
	}
	if (error) {
		return usk_fail(err, USK_EIO, 0, "%s: no such host: %s", host ? host : "*",
				error == EAI_SYSTEM ? strerror(errno) : gai_strerror(error));
	}
	return USK_OK;
}

/* IPv4 as IPv6 maps it. */
static struct usk_probe_peer peer_of(const struct sockaddr *a)
{
	struct usk_probe_peer p = { .port = 0 };
	if (a->sa_family == AF_INET) {
		struct sockaddr_in in;
		memcpy(&in, a, sizeof in);
		p.addr.lo = UINT64_C(0xffff) << 32 | ntohl(in.sin_addr.s_addr);
		p.port = ntohs(in.sin_port);
	} else if (a->sa_family == AF_INET6) {
		struct sockaddr_in6 in6;
		memcpy(&in6, a, sizeof in6);
		p.addr.hi = usk_be64(in6.sin6_addr.s6_addr);
		p.addr.lo = usk_be64(in6.sin6_addr.s6_addr + 8);
		p.port = ntohs(in6.sin6_port);
	}
	return p;
}

static bool leads_here(const struct sockaddr *a)
{
	struct usk_addr to = peer_of(a).addr;
	return !to.hi && (to.lo == 1 || to.lo >> 24 == 0xffff7f); /* ::1, 127.0.0.0/8 */
}

bool usk_probe_is_loopback(const char *where)
{
	struct addrinfo *list;
	if (!where || look_up(where, 0, false, &list, NULL)) {
		return false;
	}
	bool all = true;
	for (const struct addrinfo *a = list; a; a = a->ai_next) {
		all = all && leads_here(a->ai_addr);
	}
	freeaddrinfo(list);
	return all;
}

enum usk_status usk_probe_listen(const char *where, uint16_t port, const char *card,
				 struct usk_probe_socket out[USK_PROBE_SOCKETS], size_t *n,
				 struct usk_err *err)
{
	struct addrinfo *list;
	enum usk_status status = look_up(where, port, true, &list, err);
	*n = 0;
	if (status) {
		return status;
	}
	for (const struct addrinfo *a = list; a && *n < USK_PROBE_SOCKETS; a = a->ai_next) {
		enum usk_status made = make(a, card, &out[*n], err);
		if (!made && bind(out[*n].fd, a->ai_addr, a->ai_addrlen)) {
			made = usk_fail(err, USK_EIO, 0, "%s port %u: cannot listen: %s",
					where ? where : "every address", port, strerror(errno));
			usk_probe_close(&out[*n]);
		}
		*n += !made;
		/* A machine without IPv6 is no failure, a port that is taken is one. */
		if (made && !status && errno != EADDRNOTAVAIL && errno != EAFNOSUPPORT) {
			status = made;
		}
	}
	freeaddrinfo(list);
	if (!status && !*n) {
		status = usk_fail(err, USK_EIO, 0, "%s port %u: cannot listen: %s",
				  where ? where : "every address", port, strerror(errno));
	}
	while (status && *n) {
		usk_probe_close(&out[--*n]);
	}
	return status;
}

enum usk_status usk_probe_connect(const char *host, uint16_t port, size_t which, const char *card,
				  struct usk_probe_socket *out, bool *loopback, struct usk_err *err)
{
	struct addrinfo *list;
	enum usk_status status = look_up(host, port, false, &list, err);
	if (status) {
		return status;
	}
	status = usk_fail(err, USK_EIO, 0, "%s: has no more addresses", host);
	for (const struct addrinfo *a = list; a && status; a = a->ai_next) {
		status = make(a, card, out, err);
		if (!status && connect(out->fd, a->ai_addr, a->ai_addrlen)) {
			status = usk_fail(err, USK_EIO, 0, "%s: cannot be reached: %s", host,
					  strerror(errno));
			usk_probe_close(out);
		} else if (!status && which--) {
			status = usk_fail(err, USK_EIO, 0, "%s: has no more addresses", host);
			usk_probe_close(out);
		}
		*loopback = leads_here(a->ai_addr);
	}
	freeaddrinfo(list);
	return status;
}

void usk_probe_close(struct usk_probe_socket *s)
{
	int error = errno;
	if (s->fd >= 0) {
		close(s->fd);
	}
	s->fd = -1;
	errno = error;
}

/* ---- datagrams --------------------------------------------------------------------------- */

union control {
	struct cmsghdr align;
	uint8_t bytes[512];
};

bool usk_probe_send(struct usk_probe_socket *s, const uint8_t *data, size_t n,
		    const struct usk_probe_from *to, uint32_t *number)
{
	union control control;
	struct iovec v = { (void *)(uintptr_t)data, n };
	struct msghdr m = { .msg_iov = &v, .msg_iovlen = 1 };
	if (to) {
		m.msg_name = (void *)(uintptr_t)&to->addr;
		m.msg_namelen = to->n_addr;
		if (to->n_to) {
			memcpy(control.bytes, to->to, to->n_to);
			m.msg_control = control.bytes;
			m.msg_controllen = to->n_to;
		}
	}
	/* An error of an earlier datagram (nobody listens) is reported here: then once more. */
	for (int i = 0; i < 3; i++) {
		*number = s->sent;
		if (sendmsg(s->fd, &m, MSG_NOSIGNAL) == (ssize_t)n) {
			s->sent++;
			return true;
		}
		/* Did it count? Kernels differ. */
		int error = errno;
		(void)ask_for_stamps(s);
		s->refused = s->refused || error == ECONNREFUSED;
		if (error != EINTR && error != ECONNREFUSED) {
			return false;
		}
	}
	return false;
}

/* Is this the kernel's stamp of a datagram? Its time is 0 if there is none. */
static bool is_stamp(const struct usk_probe_socket *s, const struct cmsghdr *c,
		     struct usk_probe_stamp *at)
{
	if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_TIMESTAMPING) {
		return false;
	}
	struct scm_timestamping all;
	memcpy(&all, CMSG_DATA(c), sizeof all);
	const struct timespec *t = &all.ts[s->card ? 2 : 0];
	int64_t ns = (int64_t)t->tv_sec * 1000000000 + t->tv_nsec;
	at->ns = ns ? usk_probe_distort(s->distortion, ns) : 0;
	at->kind = s->card ? USK_PROBE_CARD : USK_PROBE_KERNEL;
	return true;
}

/* The address that a datagram was sent to: as a control message, to answer from it. */
static void keep_target(struct usk_probe_from *from, const struct cmsghdr *c)
{
	bool v4 = c->cmsg_level == IPPROTO_IP && c->cmsg_type == IP_PKTINFO;
	bool v6 = c->cmsg_level == IPPROTO_IPV6 && c->cmsg_type == IPV6_PKTINFO;
	if ((v4 || v6) && c->cmsg_len <= sizeof from->to) {
		memset(from->to, 0, sizeof from->to);
		memcpy(from->to, c, c->cmsg_len);
		from->n_to = CMSG_SPACE(c->cmsg_len - CMSG_LEN(0));
		if (v4) {
			/* ipi_spec_dst is ours already; any way out will do. */
			struct in_pktinfo info;
			uint8_t *at = from->to + CMSG_LEN(0);
			memcpy(&info, at, sizeof info);
			info.ipi_ifindex = 0;
			memcpy(at, &info, sizeof info);
		}
	}
}

long usk_probe_receive(struct usk_probe_socket *s, uint8_t *data, size_t room,
		       struct usk_probe_from *from, struct usk_probe_stamp *at)
{
	union control control;
	struct iovec v = { data, room };
	struct msghdr m = { .msg_iov = &v,
			    .msg_iovlen = 1,
			    .msg_name = &from->addr,
			    .msg_namelen = sizeof from->addr,
			    .msg_control = control.bytes,
			    .msg_controllen = sizeof control.bytes };
	memset(from, 0, sizeof *from);
	ssize_t n;
	do {
		n = recvmsg(s->fd, &m, MSG_DONTWAIT | MSG_TRUNC);
		s->refused = s->refused || (n < 0 && errno == ECONNREFUSED);
	} while (n < 0 && (errno == EINTR || errno == ECONNREFUSED));
	if (n < 0) {
		return -1;
	}
	struct usk_probe_stamp seen;
	*at = usk_probe_now(s);
	from->n_addr = m.msg_namelen;
	from->peer = peer_of((const struct sockaddr *)&from->addr);
	for (struct cmsghdr *c = CMSG_FIRSTHDR(&m); c; c = CMSG_NXTHDR(&m, c)) {
		if (is_stamp(s, c, &seen)) {
			*at = seen.ns ? seen : *at;
		} else {
			keep_target(from, c);
		}
	}
	return n;
}

bool usk_probe_departed(struct usk_probe_socket *s, uint32_t *number, struct usk_probe_stamp *at)
{
	for (;;) {
		union control control;
		uint8_t nothing[1];
		struct iovec v = { nothing, sizeof nothing };
		struct msghdr m = { .msg_iov = &v,
				    .msg_iovlen = 1,
				    .msg_control = control.bytes,
				    .msg_controllen = sizeof control.bytes };
		ssize_t n = recvmsg(s->fd, &m, MSG_ERRQUEUE | MSG_DONTWAIT);
		if (n < 0 && errno == EINTR) {
			continue;
		}
		if (n < 0) {
			return false;
		}
		bool known = false;
		at->ns = 0;
		for (struct cmsghdr *c = CMSG_FIRSTHDR(&m); c; c = CMSG_NXTHDR(&m, c)) {
			bool v4 = c->cmsg_level == IPPROTO_IP && c->cmsg_type == IP_RECVERR;
			bool v6 = c->cmsg_level == IPPROTO_IPV6 && c->cmsg_type == IPV6_RECVERR;
			if (!is_stamp(s, c, at) && (v4 || v6)) {
				struct sock_extended_err e;
				memcpy(&e, CMSG_DATA(c), sizeof e);
				known = e.ee_errno == ENOMSG &&
					e.ee_origin == SO_EE_ORIGIN_TIMESTAMPING;
				*number = s->base + e.ee_data;
			}
		}
		if (known && at->ns) {
			return true;
		}
	}
}

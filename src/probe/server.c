/* SPDX-License-Identifier: MIT */
/*
 * server.c - what a server says to a packet
 *
 * In    a packet from an address, when it arrived
 * Out   at most one packet of the same size, or why none
 * Why   whoever asks proves in this order: that it speaks the language, that it knows the key,
 *       that it does not ask too often, that answers reach it, that it did not ask this before
 * Not   sockets (socket.c, so that all of this can be tried with made-up packets)
 *
 * The proof of an address is a cookie: a hash of it by a secret of this process, good for a minute.
 * Nothing is kept of a client before it came back with one.
 *
 * Whoever sniffed packets can send them again from their address, as fast as it likes. So an ask
 * that came before costs nothing; what is answered with a cookie, which can come again, has a
 * budget of its own, and a session a tenth of that: the rest is left to who says hello anew.
 *
 * A clock that is set begins another life: all sessions are forgotten, so every client needs a new
 * cookie, and with it learns of that. A life is seven random bytes of this process, and how often
 * the clock was set since.
 */
#include "base/bytes.h"
#include "probe/probe.h"

#include <stdlib.h>
#include <string.h>

#define COOKIE_NS INT64_C(60000000000)

struct usk_probe_server {
	struct usk_probe_key key;
	uint8_t secret[32], life[USK_PROBE_LIFE];
	struct usk_probe_limit *answers, *cookies;
	struct usk_probe_sessions *sessions;
};

struct usk_probe_server *usk_probe_server_new(const struct usk_probe_key *key, double each,
					      double all)
{
	struct usk_probe_server *s = usk_alloc(1, sizeof *s);
	uint64_t secret[3];
	s->key = *key;
	usk_probe_random(s->secret, sizeof s->secret);
	usk_probe_random(secret, sizeof secret);
	usk_probe_random(s->life, sizeof s->life);
	s->answers = usk_probe_limit_new(each, all, secret[0]);
	s->cookies = usk_probe_limit_new(each, all, secret[1]);
	s->sessions = usk_probe_sessions_new(secret[2]);
	return s;
}

void usk_probe_server_free(struct usk_probe_server *s)
{
	if (s) {
		free(s->answers);
		free(s->cookies);
		free(s->sessions);
		free(s);
	}
}

/* ---- cookies: when it was given (8 bytes), a hash of that, the address, the session (16) ---- */

static void bake(const struct usk_probe_server *s, const struct usk_probe_peer *peer,
		 const uint8_t session[USK_PROBE_SESSION], uint64_t given_ns,
		 uint8_t out[USK_PROBE_COOKIE])
{
	uint64_t all[6] = { given_ns, peer->addr.hi, peer->addr.lo, peer->port };
	memcpy(all + 4, session, USK_PROBE_SESSION);
	uint64_t wire = usk_swap64_if(given_ns, USK_SWAP_NETWORK);
	memcpy(out, &wire, sizeof wire);
	usk_probe_hash(s->secret, all, sizeof all, out + sizeof wire);
}

static bool good_cookie(const struct usk_probe_server *s, const struct usk_probe_heard *heard,
			const struct usk_probe_packet *p)
{
	uint8_t want[USK_PROBE_COOKIE], differ = 0;
	uint64_t given = usk_be64(p->cookie);
	bake(s, &heard->from, p->session, given, want);
	for (int i = 0; i < USK_PROBE_COOKIE; i++) {
		differ |= want[i] ^ p->cookie[i];
	}
	int64_t at = (int64_t)given;
	/* The hash is right, so the time is one that we wrote: no difference overflows. */
	return !differ && at <= heard->now_ns && heard->now_ns - at <= COOKIE_NS &&
	       at > usk_probe_sessions_since(s->sessions, heard->from.addr);
}

/* ---- packets --------------------------------------------------------------------------- */

static void answer(const struct usk_probe_server *s, const struct usk_probe_packet *p,
		   uint8_t out[USK_PROBE_BYTES])
{
	usk_probe_encode(p, out);
	usk_probe_seal(&s->key, out);
}

static enum usk_probe_verdict welcome(struct usk_probe_server *s,
				      const struct usk_probe_heard *heard,
				      const struct usk_probe_packet *asked,
				      uint8_t out[USK_PROBE_BYTES])
{
	if (!usk_probe_limit_session(s->cookies, asked->session, heard->now_ns) ||
	    !usk_probe_limit_take(s->cookies, heard->from.addr, heard->now_ns)) {
		return USK_PROBE_LIMITED;
	}
	struct usk_probe_packet p = { .type = USK_PROBE_COOKIES, .sequence = asked->sequence };
	memcpy(p.session, asked->session, sizeof p.session);
	memcpy(p.life, s->life, sizeof p.life);
	bake(s, &heard->from, asked->session, (uint64_t)heard->now_ns, p.cookie);
	answer(s, &p, out);
	return USK_PROBE_WELCOMED;
}

enum usk_probe_verdict usk_probe_serve(struct usk_probe_server *s,
				       const struct usk_probe_heard *heard,
				       uint8_t out[USK_PROBE_BYTES])
{
	struct usk_probe_packet asked;
	if (!usk_probe_decode(heard->data, heard->n, &asked) ||
	    (asked.type != USK_PROBE_HELLO && asked.type != USK_PROBE_ASK)) {
		return USK_PROBE_MALFORMED;
	}
	if (!usk_probe_sealed(&s->key, heard->data)) {
		return USK_PROBE_FORGED;
	}
	if (asked.type == USK_PROBE_HELLO) {
		return welcome(s, heard, &asked, out);
	}
	struct usk_probe_session *session =
		usk_probe_sessions_find(s->sessions, asked.session, &heard->from);
	if (!session && !good_cookie(s, heard, &asked)) {
		return welcome(s, heard, &asked, out);
	}
	if (session && !usk_probe_session_fresh(session, asked.sequence)) {
		return USK_PROBE_REPLAYED;
	}
	/* Only now: what others can make or repeat uses up nobody's share. */
	if (!usk_probe_limit_take(s->answers, heard->from.addr, heard->now_ns)) {
		return USK_PROBE_LIMITED;
	}
	if (!session) {
		session = usk_probe_sessions_add(s->sessions, asked.session, &heard->from,
						 heard->now_ns);
		(void)usk_probe_session_fresh(session, asked.sequence);
	}
	session->touched_ns = heard->now_ns;
	struct usk_probe_packet p = { .type = USK_PROBE_ANSWER,
				      .sequence = asked.sequence,
				      .received = heard->received,
				      .before_ns = heard->before_ns };
	memcpy(p.session, asked.session, sizeof p.session);
	memcpy(p.gone, session->gone, sizeof p.gone);
	answer(s, &p, out);
	return USK_PROBE_ANSWERED;
}

void usk_probe_server_gone(struct usk_probe_server *s, const uint8_t sent[USK_PROBE_BYTES],
			   const struct usk_probe_peer *to, struct usk_probe_stamp at)
{
	struct usk_probe_packet p;
	if (usk_probe_decode(sent, USK_PROBE_BYTES, &p) && p.type == USK_PROBE_ANSWER) {
		struct usk_probe_session *session =
			usk_probe_sessions_find(s->sessions, p.session, to);
		if (session) {
			session->gone[session->next++ % USK_PROBE_GONE] =
				(struct usk_probe_gone){ p.sequence, at };
		}
	}
}

void usk_probe_server_set(struct usk_probe_server *s, int64_t now_ns)
{
	s->life[USK_PROBE_LIFE - 1]++;
	usk_probe_sessions_forget(s->sessions, now_ns);
}

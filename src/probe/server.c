/* SPDX-License-Identifier: MIT */
/*
 * server.c - what a server says to a packet, and what it remembers of its clients
 *
 * In    a packet from an address, when it arrived
 * Out   at most one packet of the same size, or why none
 * Why   whoever asks proves in this order: that it speaks the language, that it knows the key,
 *       that it does not ask too often, that answers reach it, that it did not ask this before
 * Not   sockets (socket.c, so that all of this can be tried with made-up packets)
 *
 * The proof of an address is a cookie: a hash of it by a secret of this process, good for a minute.
 * Nothing is kept of a client before it came back with one, and then in tables of fixed size.
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
#define SECOND_NS INT64_C(1000000000)

/* What is kept by address has one of so many places, so many to each. */
enum { PLACES = 512, WAYS = 8 };

/*
 * So many packets a second for each address, and for all together: nobody can make this machine
 * send more than was agreed. Addresses can be false, so what is limited was proven first where it
 * can be.
 *
 * Each address has one number: when its packets would have been due had they come evenly spaced. A
 * packet may come up to a second's worth early (the leaky bucket as a meter, ITU-T I.371).
 */
struct limit {
	int64_t each_ns, all_ns; /* between two packets */
	int64_t all_due_ns;
	uint64_t secret; /* so that nobody can aim at a place */
	struct bucket {
		struct usk_addr addr;
		int64_t due_ns;
	} bucket[PLACES][WAYS];
	int64_t session_due_ns[4096]; /* those of one slot share it */
};

/*
 * A replayed ask must not be answered, and departures are known too late to be in the answer.
 *
 * An address has its place among eight, so one that opens many sessions drives out its own
 * and few others'. Who forgets a session forgets which asks came: so from then on no cookie that
 * could have begun it is good any more. Only those of its place could: were it all of them, one who
 * opens sessions without end would keep everybody out whose cookie is on its way meanwhile.
 */
struct place {
	int64_t since_ns; /* cookies up to this moment make no session */
	struct session {
		uint8_t id[USK_PROBE_SESSION];
		struct usk_probe_peer peer;
		uint64_t highest, window; /* sequences that came: bit i is highest - i; 0: unused */
		int64_t touched_ns;
		struct usk_probe_gone gone[USK_PROBE_GONE];
		unsigned next; /* of gone */
	} way[WAYS];
};

struct usk_probe_server {
	struct usk_probe_key key;
	uint8_t secret[32], life[USK_PROBE_LIFE];
	struct limit answers, cookies;
	uint64_t place_secret;
	struct place place[PLACES];
};

static size_t place_of(struct usk_addr a, uint64_t secret)
{
	return usk_mix(usk_fold(a.hi, a.lo) ^ secret) % PLACES;
}

/* ---- how often -------------------------------------------------------------------------- */

static int64_t interval(double rate)
{
	double ns = 1e9 / rate;
	return ns < 1 ? 1 : ns > 1e15 ? INT64_C(1000000000000000) : (int64_t)ns;
}

static void begin_limit(struct limit *l, double each, double all)
{
	l->each_ns = interval(each);
	l->all_ns = interval(all);
	usk_probe_random(&l->secret, sizeof l->secret);
}

/* Whoever has an IPv6 address has all of its /64. */
static struct usk_addr network_of(struct usk_addr a)
{
	bool mapped = !a.hi && a.lo >> 32 == 0xffff;
	if (!mapped) {
		a.lo = 0;
	}
	return a;
}

/* A slow rate has room for eight all the same: a burst, and what follows it. */
static bool early(int64_t due_ns, int64_t interval_ns, int64_t now_ns)
{
	int64_t eight = 8 * interval_ns, room = eight > SECOND_NS ? eight : SECOND_NS;
	return due_ns > now_ns && due_ns - now_ns > room - interval_ns;
}

static int64_t next_due(int64_t due_ns, int64_t interval_ns, int64_t now_ns)
{
	return (due_ns > now_ns ? due_ns : now_ns) + interval_ns;
}

/* May this address have one more now? */
static bool take(struct limit *l, struct usk_addr addr, int64_t now_ns)
{
	addr = network_of(addr);
	struct bucket *set = l->bucket[place_of(addr, l->secret)], *mine = &set[0];
	for (int i = 0; i < WAYS; i++) {
		if (usk_addr_same(set[i].addr, addr)) {
			mine = &set[i];
			break;
		}
		if (set[i].due_ns < mine->due_ns) {
			mine = &set[i];
		}
	}
	if (!usk_addr_same(mine->addr, addr)) {
		/* A debt is never forgotten: a newcomer finds no room among eight that are busy. */
		if (mine->due_ns > now_ns) {
			return false;
		}
		*mine = (struct bucket){ .addr = addr };
	}
	if (early(mine->due_ns, l->each_ns, now_ns) || early(l->all_due_ns, l->all_ns, now_ns)) {
		return false;
	}
	mine->due_ns = next_due(mine->due_ns, l->each_ns, now_ns);
	l->all_due_ns = next_due(l->all_due_ns, l->all_ns, now_ns);
	return true;
}

/* The same of a session, which has a tenth of what an address has. */
static bool take_of_session(struct limit *l, const uint8_t id[USK_PROBE_SESSION], int64_t now_ns)
{
	uint64_t number[2];
	memcpy(number, id, sizeof number);
	uint64_t hash = usk_mix(usk_fold(number[0], number[1]) ^ l->secret);
	int64_t *due = &l->session_due_ns[hash % COUNT(l->session_due_ns)];
	int64_t interval_ns = 10 * l->each_ns;
	if (early(*due, interval_ns, now_ns)) {
		return false;
	}
	*due = next_due(*due, interval_ns, now_ns);
	return true;
}

/* ---- sessions ---------------------------------------------------------------------------- */

static struct place *place_at(struct usk_probe_server *s, const struct usk_probe_peer *peer)
{
	return &s->place[place_of(peer->addr, s->place_secret)];
}

static struct session *find_session(struct usk_probe_server *s, const uint8_t id[USK_PROBE_SESSION],
				    const struct usk_probe_peer *peer)
{
	struct session *set = place_at(s, peer)->way;
	for (int i = 0; i < WAYS; i++) {
		if (set[i].highest && set[i].peer.port == peer->port &&
		    usk_addr_same(set[i].peer.addr, peer->addr) &&
		    !memcmp(set[i].id, id, USK_PROBE_SESSION)) {
			return &set[i];
		}
	}
	return NULL;
}

/* A new one, in place of that which was idle for longest if need be. */
static struct session *add_session(struct usk_probe_server *s, const uint8_t id[USK_PROBE_SESSION],
				   const struct usk_probe_peer *peer, int64_t now_ns)
{
	struct place *place = place_at(s, peer);
	struct session *one = place->way;
	for (int i = 1; i < WAYS; i++) {
		one = place->way[i].touched_ns < one->touched_ns ? &place->way[i] : one;
	}
	if (one->highest) {
		place->since_ns = now_ns;
	}
	*one = (struct session){ .peer = *peer };
	memcpy(one->id, id, USK_PROBE_SESSION);
	return one;
}

/* False if this sequence came before, or may have. */
static bool is_fresh(struct session *s, uint64_t sequence)
{
	enum { WINDOW = 64 };
	if (sequence > s->highest) {
		uint64_t by = sequence - s->highest;
		s->window = (by < WINDOW ? s->window << by : 0) | 1;
		s->highest = sequence;
		return true;
	}
	uint64_t behind = s->highest - sequence;
	if (behind >= WINDOW || s->window >> behind & 1) {
		return false;
	}
	s->window |= UINT64_C(1) << behind;
	return true;
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

static bool good_cookie(struct usk_probe_server *s, const struct usk_probe_heard *heard,
			const struct usk_probe_packet *p)
{
	uint8_t want[USK_PROBE_COOKIE];
	uint64_t given = usk_be64(p->cookie);
	bake(s, &heard->from, p->session, given, want);
	int64_t at = (int64_t)given;
	/* The hash is right, so the time is one that we wrote: no difference overflows. */
	return usk_probe_equal(want, p->cookie, sizeof want) && at <= heard->now_ns &&
	       heard->now_ns - at <= COOKIE_NS && at > place_at(s, &heard->from)->since_ns;
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
	if (!take_of_session(&s->cookies, asked->session, heard->now_ns) ||
	    !take(&s->cookies, heard->from.addr, heard->now_ns)) {
		return USK_PROBE_LIMITED;
	}
	struct usk_probe_packet p = { .type = USK_PROBE_COOKIES, .sequence = asked->sequence };
	memcpy(p.session, asked->session, sizeof p.session);
	memcpy(p.life, s->life, sizeof p.life);
	bake(s, &heard->from, asked->session, (uint64_t)heard->now_ns, p.cookie);
	answer(s, &p, out);
	return USK_PROBE_WELCOMED;
}

struct usk_probe_server *usk_probe_server_new(const struct usk_probe_key *key, double each,
					      double all)
{
	struct usk_probe_server *s = usk_alloc(1, sizeof *s);
	s->key = *key;
	usk_probe_random(s->secret, sizeof s->secret);
	usk_probe_random(&s->place_secret, sizeof s->place_secret);
	usk_probe_random(s->life, sizeof s->life);
	begin_limit(&s->answers, each, all);
	begin_limit(&s->cookies, each, all);
	return s;
}

void usk_probe_server_free(struct usk_probe_server *s)
{
	free(s);
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
	struct session *session = find_session(s, asked.session, &heard->from);
	if (!session && !good_cookie(s, heard, &asked)) {
		return welcome(s, heard, &asked, out);
	}
	if (session && !is_fresh(session, asked.sequence)) {
		return USK_PROBE_REPLAYED;
	}
	/* Only now: what others can make or repeat uses up nobody's share. */
	if (!take(&s->answers, heard->from.addr, heard->now_ns)) {
		return USK_PROBE_LIMITED;
	}
	if (!session) {
		session = add_session(s, asked.session, &heard->from, heard->now_ns);
		(void)is_fresh(session, asked.sequence);
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
		struct session *session = find_session(s, p.session, to);
		if (session) {
			session->gone[session->next++ % USK_PROBE_GONE] =
				(struct usk_probe_gone){ p.sequence, at };
		}
	}
}

void usk_probe_server_set(struct usk_probe_server *s, int64_t now_ns)
{
	s->life[USK_PROBE_LIFE - 1]++;
	/* Cookies up to now are worth nothing. */
	for (size_t i = 0; i < PLACES; i++) {
		s->place[i] = (struct place){ .since_ns = now_ns };
	}
}

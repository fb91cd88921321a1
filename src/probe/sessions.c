/* SPDX-License-Identifier: MIT */
/*
 * sessions.c - what a server remembers of its clients, in a table of fixed size
 *
 * In    sessions by their numbers and addresses
 * Out   which asks came before; when the last answers left
 * Why   a replayed ask must not be answered, and departures are known too late to be in the answer
 * Not   proof that a client is where it says (server.c)
 *
 * An address has its place among eight, so one that opens many sessions drives out its own
 * and few others'. Who forgets a session forgets which asks came: so from then on no cookie that
 * could have begun it is good any more. Only those of its place could: were it all of them, one who
 * opens sessions without end would keep everybody out whose cookie is on its way meanwhile.
 */
#include "probe/probe.h"

#include <string.h>

enum { SETS = 512, WAYS = 8, WINDOW = 64 };

struct usk_probe_sessions {
	uint64_t secret;
	struct place {
		int64_t since_ns;
		struct usk_probe_session way[WAYS];
	} place[SETS];
};

struct usk_probe_sessions *usk_probe_sessions_new(uint64_t secret)
{
	struct usk_probe_sessions *s = usk_alloc(1, sizeof *s);
	s->secret = secret;
	for (size_t i = 0; i < SETS; i++) {
		s->place[i].since_ns = INT64_MIN;
	}
	return s;
}

static size_t place_of(const struct usk_probe_sessions *s, struct usk_addr a)
{
	return usk_mix(usk_fold(a.hi, a.lo) ^ s->secret) % SETS;
}

struct usk_probe_session *usk_probe_sessions_find(struct usk_probe_sessions *s,
						  const uint8_t id[USK_PROBE_SESSION],
						  const struct usk_probe_peer *peer)
{
	struct usk_probe_session *set = s->place[place_of(s, peer->addr)].way;
	for (int i = 0; i < WAYS; i++) {
		if (set[i].used && set[i].peer.port == peer->port &&
		    usk_addr_same(set[i].peer.addr, peer->addr) &&
		    !memcmp(set[i].id, id, USK_PROBE_SESSION)) {
			return &set[i];
		}
	}
	return NULL;
}

struct usk_probe_session *usk_probe_sessions_add(struct usk_probe_sessions *s,
						 const uint8_t id[USK_PROBE_SESSION],
						 const struct usk_probe_peer *peer, int64_t now_ns)
{
	struct place *place = &s->place[place_of(s, peer->addr)];
	struct usk_probe_session *set = place->way, *one = &set[0];
	for (int i = 1; i < WAYS; i++) {
		if (one->used && (!set[i].used || set[i].touched_ns < one->touched_ns)) {
			one = &set[i];
		}
	}
	if (one->used) {
		place->since_ns = now_ns;
	}
	*one = (struct usk_probe_session){ .used = true, .peer = *peer, .touched_ns = now_ns };
	memcpy(one->id, id, USK_PROBE_SESSION);
	return one;
}

int64_t usk_probe_sessions_since(const struct usk_probe_sessions *s, struct usk_addr a)
{
	return s->place[place_of(s, a)].since_ns;
}

void usk_probe_sessions_forget(struct usk_probe_sessions *s, int64_t now_ns)
{
	for (size_t i = 0; i < SETS; i++) {
		s->place[i] = (struct place){ .since_ns = now_ns };
	}
}

bool usk_probe_session_fresh(struct usk_probe_session *s, uint64_t sequence)
{
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

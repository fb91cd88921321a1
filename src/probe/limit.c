/* SPDX-License-Identifier: MIT */
/*
 * limit.c - so many packets a second for each address, and for all together
 *
 * In    addresses, sessions and times
 * Out   whether one more may be answered
 * Why   nobody can make this machine send more than was agreed, or keep more than a table
 * Not   who they are: addresses can be false, so what is limited was proven first where it can be
 *
 * Each address has one number: when its packets would have been due had they come evenly spaced. A
 * packet may come up to a second's worth early (the leaky bucket as a meter, ITU-T I.371).
 */
#include "probe/probe.h"

#include <string.h>

enum { SETS = 512, WAYS = 8, SLOTS = 4096, SHARE = 10 };

#define SECOND_NS INT64_C(1000000000)

struct bucket {
	struct usk_addr addr;
	int64_t due_ns;
};

struct usk_probe_limit {
	int64_t each_ns, all_ns; /* between two packets */
	int64_t all_due_ns;
	uint64_t secret; /* so that nobody can aim at a set */
	struct bucket bucket[SETS][WAYS];
	int64_t session_due_ns[SLOTS]; /* those of one slot share it */
};

static int64_t interval(double rate)
{
	double ns = 1e9 / rate;
	return ns < 1 ? 1 : ns > 1e15 ? INT64_C(1000000000000000) : (int64_t)ns;
}

struct usk_probe_limit *usk_probe_limit_new(double each, double all, uint64_t secret)
{
	struct usk_probe_limit *l = usk_alloc(1, sizeof *l);
	l->each_ns = interval(each);
	l->all_ns = interval(all);
	l->secret = secret;
	l->all_due_ns = INT64_MIN;
	for (size_t i = 0; i < SETS * WAYS; i++) {
		l->bucket[i / WAYS][i % WAYS].due_ns = INT64_MIN;
	}
	for (size_t i = 0; i < SLOTS; i++) {
		l->session_due_ns[i] = INT64_MIN;
	}
	return l;
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
static int64_t room(int64_t interval_ns)
{
	int64_t eight = 8 * interval_ns;
	return eight > SECOND_NS ? eight : SECOND_NS;
}

static bool early(int64_t due_ns, int64_t interval_ns, int64_t now_ns)
{
	return due_ns > now_ns && due_ns - now_ns > room(interval_ns) - interval_ns;
}

static int64_t next_due(int64_t due_ns, int64_t interval_ns, int64_t now_ns)
{
	return (due_ns > now_ns ? due_ns : now_ns) + interval_ns;
}

bool usk_probe_limit_take(struct usk_probe_limit *l, struct usk_addr addr, int64_t now_ns)
{
	addr = network_of(addr);
	struct bucket *set = l->bucket[usk_mix(usk_fold(addr.hi, addr.lo) ^ l->secret) % SETS];
	struct bucket *mine = &set[0];
	for (int i = 0; i < WAYS; i++) {
		if (usk_addr_same(set[i].addr, addr) && set[i].due_ns != INT64_MIN) {
			mine = &set[i];
			break;
		}
		if (set[i].due_ns < mine->due_ns) {
			mine = &set[i];
		}
	}
	if (!usk_addr_same(mine->addr, addr) || mine->due_ns == INT64_MIN) {
		/* A debt is never forgotten: a newcomer finds no room among eight that are busy. */
		if (mine->due_ns > now_ns) {
			return false;
		}
		*mine = (struct bucket){ addr, INT64_MIN };
	}
	if (early(mine->due_ns, l->each_ns, now_ns) || early(l->all_due_ns, l->all_ns, now_ns)) {
		return false;
	}
	mine->due_ns = next_due(mine->due_ns, l->each_ns, now_ns);
	l->all_due_ns = next_due(l->all_due_ns, l->all_ns, now_ns);
	return true;
}

bool usk_probe_limit_session(struct usk_probe_limit *l, const uint8_t id[USK_PROBE_SESSION],
			     int64_t now_ns)
{
	uint64_t number[2];
	memcpy(number, id, sizeof number);
	int64_t *due =
		&l->session_due_ns[usk_mix(usk_fold(number[0], number[1]) ^ l->secret) % SLOTS];
	if (early(*due, SHARE * l->each_ns, now_ns)) {
		return false;
	}
	*due = next_due(*due, SHARE * l->each_ns, now_ns);
	return true;
}

/* SPDX-License-Identifier: MIT */
/*
 * options.c - what can be asked of the simulator, and which requests contradict each other
 */
#include "capture.h"

#include <stdio.h>
#include <stdlib.h>

void sim_options_init(struct sim_options *o)
{
	static const int64_t second[] = { 1000000000 }, ppm20[] = { 20000000 };
	static const int64_t ethernet[] = { SIM_ETHERNET }, none[] = { 0 };
	*o = (struct sim_options){
		.seed = 1,
		.hosts = 2,
		.start_ns = INT64_C(1700000000000000000),
		.duration_ns = INT64_C(60000000000),
		.rate = 100,
		.connections = 2,
		.bytes = 1400,
		.mtu = 1500,
		.dmin_ns = 50000,
		.tail_ns = 50000,
		.hops = 1,
		.offset_ns = { second, 1 },
		.drift_e12 = { ppm20, 1 },
		.timestamps = true,
		.sack = true,
		.ip_id = true,
		.link = { ethernet, 1 },
		.vlan = { none, 1 },
		.resolution_ns = 1,
		.snaplen = 96,
	};
}

static int64_t of_host(const struct sim_list *l, uint32_t host)
{
	return l->v[host < l->n ? host : l->n - 1];
}

void sim_options_clock(const struct sim_options *o, uint32_t host, struct sim_clock *out)
{
	const struct sim_list *offset = &o->offset_ns, *drift = &o->drift_e12;
	sim_clock_init(out, o->start_ns, host || offset->n > 1 ? of_host(offset, host) : 0,
		       host || drift->n > 1 ? of_host(drift, host) : 0);
}

static enum usk_status check_host(const struct sim_options *o, uint32_t host, struct usk_err *err)
{
	char name[32];
	snprintf(name, sizeof name, "host%u", host);
	int64_t offset = of_host(&o->offset_ns, host), rate = of_host(&o->drift_e12, host);
	int64_t link = of_host(&o->link, host), vlan = of_host(&o->vlan, host);
	if (rate > SIM_RATE_MAX || rate < -SIM_RATE_MAX) {
		return usk_fail(err, USK_EUSAGE, 0, "the drift of %s is over 10000 ppm", name);
	}
	if (vlan < 0 || vlan > 2) {
		return usk_fail(err, USK_EUSAGE, 0, "%s can have 0 to 2 VLAN tags, not %lld", name,
				(long long)vlan);
	}
	if (vlan && (link == SIM_RAW || link == SIM_NULL)) {
		return usk_fail(err, USK_EUSAGE, 0,
				"%s has VLAN tags, but its link type has no place for them", name);
	}
	if (offset > USK_TIME_MAX || offset < -USK_TIME_MAX) {
		return usk_fail(err, USK_ERANGE, 0, "the offset of %s is over 2^62 ns", name);
	}
	/* The gain is at most a hundredth of the duration, which is at most 2^62. */
	struct sim_clock clock;
	sim_options_clock(o, host, &clock);
	usk_i128 first = clock.piece->local_ns, gained = o->duration_ns / 100 + 1;
	bool over = first + o->duration_ns + gained > USK_TIME_MAX || first < -USK_TIME_MAX;
	enum usk_status status = USK_OK;
	if (over) {
		status = usk_fail(err, USK_ERANGE, 0,
				  "the clock of %s would read more than 2^62 ns", name);
	} else if (o->format != SIM_TABLE) {
		status = sim_capture_holds(o->format == SIM_PCAPNG, name, (int64_t)first, err);
		if (!status) {
			status = sim_capture_holds(o->format == SIM_PCAPNG, name,
						   (int64_t)(first + o->duration_ns + gained), err);
		}
	}
	sim_clock_free(&clock);
	return status;
}

static bool is_share(double x)
{
	return x >= 0 && x <= 1;
}

enum usk_status sim_options_check(const struct sim_options *o, struct usk_err *err)
{
	if (o->hosts < 2 || o->hosts > 1000) {
		return usk_fail(err, USK_EUSAGE, 0, "2 to 1000 hosts, not %u", o->hosts);
	}
	if (o->duration_ns <= 0 || o->duration_ns > USK_TIME_MAX || o->start_ns > USK_TIME_MAX ||
	    o->start_ns < -USK_TIME_MAX) {
		return usk_fail(err, USK_EUSAGE, 0,
				"the time to simulate must be over 0 and lie "
				"within 2^62 ns");
	}
	if (!(o->rate > 0 && o->rate <= 1e8)) {
		return usk_fail(err, USK_EUSAGE, 0,
				"the rate must be over 0 and at most 100 million a second");
	}
	if (o->connections < 1 || o->connections > 1000) {
		return usk_fail(err, USK_EUSAGE, 0, "1 to 1000 connections, not %u",
				o->connections);
	}
	uint32_t least = o->ipv6 ? 1280 : 576;
	if (o->mtu < least || o->mtu > 9216) {
		return usk_fail(err, USK_EUSAGE, 0, "the MTU must be %u to 9216, not %u", least,
				o->mtu);
	}
	if (o->bytes < 16 || o->bytes > 1 << 24) {
		return usk_fail(err, USK_EUSAGE, 0, "messages have 16 to 16777216 bytes, not %u",
				o->bytes);
	}
	if (o->dmin_ns < 0 || o->tail_ns < 0 || o->asym_ns < 0 || o->late_ns < 0 ||
	    o->dmin_ns > 1000000000 || o->tail_ns > 1000000000 || o->asym_ns > 1000000000) {
		return usk_fail(err, USK_EUSAGE, 0, "delays are 0 to 1 s");
	}
	if (!is_share(o->heavy) || !is_share(o->dup) || !is_share(o->reorder) ||
	    !is_share(o->retrans) || !is_share(o->capture_loss) || !is_share(o->loss) ||
	    !(o->chatter >= 0 && o->chatter <= 1e8)) {
		return usk_fail(err, USK_EUSAGE, 0, "shares of packets are 0 to 1");
	}
	if (o->hops > 60) {
		return usk_fail(err, USK_EUSAGE, 0, "0 to 60 hops, not %u", o->hops);
	}
	if (o->late_ns >= o->duration_ns) {
		return usk_fail(err, USK_EUSAGE, 0, "a capture that starts after the end is empty");
	}
	if (o->snaplen < 48 || o->snaplen > 262144) {
		return usk_fail(err, USK_EUSAGE, 0, "the snap length must be 48 to 262144, not %u",
				o->snaplen);
	}
	for (uint32_t h = 0; h < o->hosts; h++) {
		enum usk_status status = check_host(o, h, err);
		if (status) {
			return status;
		}
	}
	return USK_OK;
}

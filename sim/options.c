/* SPDX-License-Identifier: MIT */
/*
 * options.c - what can be asked of the simulator, and which requests contradict each other
 */
#include "capture.h"

#include <float.h>
#include <stdio.h>
#include <stdlib.h>

#define PPM100_E15 INT64_C(100000000000)

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
		.compute_ns = 5000000,
		.compute_spread_ns = 100000,
		.bytes = 1400,
		.mtu = 1500,
		.islands = 2,
		.neighbours = 4,
		.dmin = { .base_ps = 50000000 },
		.tail_stages = 1,
		.tail_ns = 50000,
		.hops = 1,
		.offset_ns = { second, 1 },
		.drift_e12 = { ppm20, 1 },
		.temperature_ns = INT64_C(900000000000),
		.poll_error_ns = 50000,
		.slew_e12 = 200000000,
		.step_min_ns = 200000,
		.step_max_ns = 1000000000,
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
	return l->n ? l->v[host < l->n ? host : l->n - 1] : 0;
}

/* All that the clock will ever show. */
static enum usk_status check_readings(const struct sim_options *o, uint32_t host, const char *name,
				      struct usk_err *err)
{
	/* Without making the clock, so that nothing overflows: drift is a hundredth at most. */
	usk_i128 start = (usk_i128)o->start_ns + sim_list_at(&o->offset_ns, host);
	usk_i128 jumps = (usk_i128)sim_list_at(&o->steps, host) * o->step_max_ns;
	for (size_t i = 0; i < o->n_steps; i++) {
		int64_t size = o->step[i].host == host ? o->step[i].size_ns : 0;
		jumps += size < 0 ? -size : size;
	}
	for (size_t i = 0; i < o->n_series; i++) {
		for (size_t k = 0; o->series[i].host == host && k < o->series[i].n; k++) {
			int64_t ahead = o->series[i].point[k].ahead_ns;
			jumps += ahead < 0 ? -ahead : ahead;
		}
	}
	usk_i128 least = start - jumps,
		 most = start + jumps + o->duration_ns + o->duration_ns / 100 + 1;
	if (least < -USK_TIME_MAX || most > USK_TIME_MAX) {
		return usk_fail(err, USK_ERANGE, 0, "the clock of %s would read more than 2^62 ns",
				name);
	}
	if (o->format == SIM_TABLE) {
		return USK_OK;
	}
	struct sim_clock clock;
	sim_options_clock(o, host, &clock);
	int64_t end = sim_clock_read(&clock, o->start_ns + o->duration_ns);
	int64_t low = end, high = end;
	for (size_t i = 0; i < clock.n; i++) {
		/* Before a jump back it was higher, but by no more than what was there ever. */
		int64_t at = clock.piece[i].local_ns;
		int64_t before = i ? sim_clock_read(&clock, clock.piece[i].true_ns - 1) : at;
		low = at < low ? at : low;
		high = before > high ? before : high;
	}
	sim_clock_free(&clock);
	enum usk_status status = sim_capture_holds(o->format == SIM_PCAPNG, name, low, err);
	return status ? status : sim_capture_holds(o->format == SIM_PCAPNG, name, high, err);
}

static enum usk_status check_oscillator(const struct sim_options *o, uint32_t host,
					const char *name, struct usk_err *err)
{
	const struct {
		const struct sim_list *list;
		int64_t min, max;
		const char *says;
	} rows[] = {
		{ &o->drift_e12, -SIM_RATE_MAX, SIM_RATE_MAX, "the drift of %s is over 10000 ppm" },
		{ &o->wander_e15, 0, PPM100_E15, "the wander of %s is not 0 to 100 ppm" },
		{ &o->flicker_e15, 0, PPM100_E15, "the flicker of %s is not 0 to 100 ppm" },
		{ &o->ageing_e15, -PPM100_E15, PPM100_E15,
		  "the ageing of %s is over 100 ppm a day" },
		{ &o->temperature_e12, 0, SIM_RATE_MAX,
		  "the temperature cycle of %s is not 0 to 10000 ppm" },
		{ &o->poll_ns, 0, USK_TIME_MAX, "--poll: the interval of %s is negative" },
		{ &o->load_ns, 0, 1000000000, "the load of %s adds 0 to 1 s" },
		{ &o->load_least_ns, 0, 1000000000, "the load of %s adds 0 to 1 s" },
		{ &o->steps, 0, 100000, "%s can be stepped at 0 to 100000 random moments" },
	};
	for (size_t i = 0; i < COUNT(rows); i++) {
		int64_t v = sim_list_at(rows[i].list, host);
		if (v < rows[i].min || v > rows[i].max) {
			return usk_fail(err, USK_EUSAGE, 0, rows[i].says, name);
		}
	}
	int64_t poll = sim_list_at(&o->poll_ns, host);
	if (poll && poll < 1000000) {
		return usk_fail(err, USK_EUSAGE, 0, "--poll: the interval of %s is under 1 ms",
				name);
	}
	return USK_OK;
}

static enum usk_status check_host(const struct sim_options *o, uint32_t host, struct usk_err *err)
{
	char name[32];
	snprintf(name, sizeof name, "host%u", host);
	int64_t offset = of_host(&o->offset_ns, host);
	int64_t link = of_host(&o->link, host), vlan = of_host(&o->vlan, host);
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
	enum usk_status status = check_oscillator(o, host, name, err);
	return status ? status : check_readings(o, host, name, err);
}

/* What all clocks share, and jumps. */
static enum usk_status check_jumps(const struct sim_options *o, struct usk_err *err)
{
	if (o->temperature_ns < 1000000 || o->poll_error_ns < 0 ||
	    o->poll_error_ns > INT64_C(1000000000) || o->slew_e12 < 0 ||
	    o->slew_e12 > SIM_RATE_MAX) {
		return usk_fail(err, USK_EUSAGE, 0,
				"--temperature-period is 1 ms or more, --poll-error 0 to 1 s, "
				"--slew-ppm 0 to 10000");
	}
	if (o->step_min_ns < 1 || o->step_max_ns < o->step_min_ns ||
	    o->step_max_ns > INT64_C(1000000000000000)) {
		return usk_fail(err, USK_EUSAGE, 0,
				"--step-sizes MIN,MAX: at least 1 ns, at most 10^6 s, and MIN is "
				"not above MAX");
	}
	for (size_t i = 0; i < o->n_steps; i++) {
		const struct sim_step *s = &o->step[i];
		if (s->host >= o->hosts) {
			return usk_fail(err, USK_EUSAGE, 0, "there is no host%u to step or suspend",
					s->host);
		}
		if (s->after_ns < 0 || s->after_ns >= o->duration_ns || s->size_ns > USK_TIME_MAX ||
		    s->size_ns < (s->sleep ? 0 : -USK_TIME_MAX)) {
			return usk_fail(err, USK_EUSAGE, 0,
					"--step and --suspend of host%u must lie within the "
					"simulated time, and a suspension cannot be negative",
					s->host);
		}
	}
	for (size_t i = 0; i < o->n_series; i++) {
		for (size_t k = 0; k < i; k++) {
			if (o->series[k].host == o->series[i].host) {
				return usk_fail(err, USK_EUSAGE, 0,
						"--clock-error: host%u has two files",
						o->series[i].host);
			}
		}
		if (o->series[i].host >= o->hosts) {
			return usk_fail(err, USK_EUSAGE, 0,
					"--clock-error: there is no host%u for %s",
					o->series[i].host, o->series[i].path);
		}
	}
	return USK_OK;
}

/* Single values, whatever the others are. */
static enum usk_status check_limits(const struct sim_options *o, struct usk_err *err)
{
	static const char shares[] = "shares of packets are 0 to 1";
	uint32_t least_mtu = o->ipv6 ? 1280 : 576;
	uint32_t least_neighbours = o->topology == SIM_SPARSE;
	const struct {
		double value, min, max;
		const char *says;
	} rows[] = {
		{ o->hosts, 2, 1000, "2 to 1000 hosts, not %.0f" },
		{ o->rate, DBL_MIN, 1e8,
		  "the rate must be over 0 and at most 100 million a second" },
		{ o->connections, 1, 1000, "1 to 1000 connections, not %.0f" },
		{ o->mtu, least_mtu, 9216,
		  o->ipv6 ? "the MTU must be 1280 to 9216, not %.0f"
			  : "the MTU must be 576 to 9216, not %.0f" },
		{ o->bytes, 16, 1 << 24, "messages have 16 to 16777216 bytes, not %.0f" },
		{ o->tail_stages, 1, 100, "a tail has 1 to 100 stages, not %.0f" },
		{ o->neighbours, least_neighbours, UINT32_MAX, "--neighbours must be at least 1" },
		{ o->broadcast, 0, 1e8, "0 to 100 million broadcasts a second" },
		{ o->heavy, 0, 1, shares },
		{ o->dup, 0, 1, shares },
		{ o->reorder, 0, 1, shares },
		{ o->retrans, 0, 1, shares },
		{ o->load_heavy, 0, 1, shares },
		{ o->capture_loss, 0, 1, shares },
		{ o->loss, 0, 1, shares },
		{ o->chatter, 0, 1e8, shares },
		{ o->hops, 0, 60, "0 to 60 hops, not %.0f" },
		{ o->snaplen, 48, 262144, "the snap length must be 48 to 262144, not %.0f" },
	};
	for (size_t i = 0; i < COUNT(rows); i++) {
		if (!(rows[i].value >= rows[i].min && rows[i].value <= rows[i].max)) {
			return usk_fail(err, USK_EUSAGE, 0, rows[i].says, rows[i].value);
		}
	}
	return USK_OK;
}

/* Who talks to whom, when, how long it takes. */
static enum usk_status check_traffic(const struct sim_options *o, struct usk_err *err)
{
	const int64_t second_ps = INT64_C(1000000000000);
	if (o->topology == SIM_ISLANDS && (o->islands < 1 || o->islands > o->hosts / 2)) {
		return usk_fail(err, USK_EUSAGE, 0,
				"%u hosts can form 1 to %u islands of two or more hosts, not %u",
				o->hosts, o->hosts / 2, o->islands);
	}
	if (o->one_way && o->format != SIM_TABLE && o->traffic != SIM_UDP) {
		return usk_fail(err, USK_EUSAGE, 0,
				"--one-way needs --proto udp or --format table: all other traffic "
				"is answered");
	}
	if (o->one_way && o->answer_ns) {
		return usk_fail(err, USK_EUSAGE, 0,
				"--one-way has no answers, so it excludes --answer");
	}
	for (uint32_t h = 0; h < o->hosts && o->collectives; h++) {
		int64_t more = sim_list_at(&o->straggle_ns, h);
		if (more < 0 || more > INT64_C(1000000000)) {
			return usk_fail(err, USK_EUSAGE, 0, "--straggle of host%u is not 0 to 1 s",
					h);
		}
	}
	if (o->compute_ns < 1 || o->compute_ns > INT64_C(1000000000000) ||
	    o->compute_spread_ns < 0 || o->compute_spread_ns > INT64_C(1000000000)) {
		return usk_fail(err, USK_EUSAGE, 0,
				"--compute is 1 ns to 1000 s, --compute-spread 0 to 1 s");
	}
	if (o->collectives && o->format != SIM_TABLE) {
		return usk_fail(err, USK_EUSAGE, 0, "--collectives needs --format table");
	}
	if (o->period_ns < 0 || o->answer_ns < 0 || (o->period_ns && o->packets)) {
		return usk_fail(err, USK_EUSAGE, 0,
				"a period and the time to an answer are over 0, and a number of "
				"packets leaves no choice of a period");
	}
	if (o->dmin.base_ps < 0 || o->dmin.first_ps < 0 || o->dmin.per_byte_ps < 0 ||
	    o->dmin.base_ps > second_ps || o->dmin.first_ps > second_ps ||
	    o->dmin.per_byte_ps > second_ps / 1000 || o->tail_ns < 0 || o->asym_ns < 0 ||
	    o->late_ns < 0 || o->tail_ns > 1000000000 || o->asym_ns > 1000000000) {
		return usk_fail(err, USK_EUSAGE, 0, "delays are 0 to 1 s, and 0 to 1 ms a byte");
	}
	return USK_OK;
}

enum usk_status sim_options_check(const struct sim_options *o, struct usk_err *err)
{
	if (o->duration_ns <= 0 || o->duration_ns > USK_TIME_MAX || o->start_ns > USK_TIME_MAX ||
	    o->start_ns < -USK_TIME_MAX) {
		return usk_fail(err, USK_EUSAGE, 0,
				"the time to simulate must be over 0 and lie "
				"within 2^62 ns");
	}
	enum usk_status status = check_limits(o, err);
	status = status ? status : check_traffic(o, err);
	if (!status && o->late_ns >= o->duration_ns) {
		status = usk_fail(err, USK_EUSAGE, 0,
				  "--late must be less than --seconds: a capture that starts after "
				  "the end is empty");
	}
	status = status ? status : check_jumps(o, err);
	for (uint32_t h = 0; h < o->hosts && !status; h++) {
		status = check_host(o, h, err);
	}
	return status;
}

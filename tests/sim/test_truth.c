/* SPDX-License-Identifier: MIT */
/*
 * test_truth.c - `unskew sync` against the truth, over a mesh of scenarios
 *
 * In    path of unskew; [--only TEXT] [--seed N] [--keep]
 * Out   a line per scenario; for a failure what was wrong and the commands that repeat it
 *
 * Each scenario is simulated and synchronised by the commands a user would type. Then, with the
 * clocks' exact maps: at 1,000 random true moments the band holds the true offset, knots of the
 * band taken as the contract defines them; no corrected message is received before it was sent;
 * of the messages that captures can tell apart 99.9 % are matched; every matched message is a
 * true one.
 */
#include "shell.h"
#include "truth_check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SHORT "--seconds 20 --rate 100 "
#define LONG  "--format table --seconds 500 --rate 20 " /* three windows of 3 minutes */

static const struct scenario scenarios[] = {
	{ "plain", SHORT, "", 0 },
	{ "equal clocks", SHORT "--offset 0 --drift-ppm 0", "", 0 },
	{ "268 days", SHORT "--offset 6432h", "", 0 },
	{ "-50 years", SHORT "--offset -438000h", "", 0 },
	{ "behind and slow", SHORT "--offset -1s --drift-ppm -120.123456", "", 0 },
	{ "reference drifts", SHORT "--offset 3us,-7ms --drift-ppm -80,90", "", 0 },
	{ "reference host1", SHORT "--offset 2h", "--reference host1", 0 },
	{ "loss", SHORT "--loss 0.03", "", 0 },
	{ "loss, no ids", SHORT "--loss 0.03 --ip-id off", "", 0 },
	{ "loss, no marks at all", SHORT "--loss 0.02 --ip-id off --timestamps off", "", 0 },
	{ "loss, no sack", SHORT "--loss 0.02 --sack off --bytes 9000", "", 0 },
	{ "dup", SHORT "--dup 0.05", "", 0 },
	{ "dup, no ids", SHORT "--dup 0.05 --ip-id off", "", 0 },
	{ "dup, no marks", SHORT "--dup 0.05 --ip-id off --timestamps off", "", 0 },
	{ "retrans", SHORT "--retrans 0.05", "", 0 },
	{ "retrans, no ids", SHORT "--retrans 0.05 --ip-id off", "", 0 },
	{ "retrans, no marks", SHORT "--retrans 0.05 --ip-id off --timestamps off", "", 0 },
	{ "reorder", SHORT "--reorder 0.05 --bytes 20000", "", 0 },
	{ "everything at once",
	  SHORT "--loss 0.02 --dup 0.02 --retrans 0.02 --reorder 0.02 --heavy 0.02", "", 0 },
	{ "everything, nat", SHORT "--loss 0.02 --dup 0.02 --retrans 0.02 --reorder 0.02 --nat", "",
	  0 },
	{ "nat", SHORT "--nat", "", 0 },
	{ "nat, no ids", SHORT "--nat --ip-id off", "", 0 },
	{ "nat, udp", SHORT "--nat --proto udp", "", 0 },
	{ "nat, mix, no ids", SHORT "--nat --proto mix --ip-id off --loss 0.01", "", 0 },
	{ "tso", SHORT "--tso --rate 20", "", 0 },
	{ "gro", SHORT "--gro --bytes 60000 --rate 20", "", 0 },
	{ "tso and gro", SHORT "--tso --gro --rate 20", "", 0 },
	{ "tso, loss", SHORT "--tso --loss 0.005 --rate 20", "", 0 },
	{ "tso and gro, loss, no ids", SHORT "--tso --gro --loss 0.005 --rate 20 --ip-id off", "",
	  0 },
	{ "tso and gro, nat, retrans", SHORT "--tso --gro --retrans 0.05 --rate 20 --nat", "", 0 },
	{ "jumbo", SHORT "--mtu 9000 --tso --gro --rate 20", "", 0 },
	{ "over 4 GiB",
	  "--seconds 45 --rate 100 --connections 1 --tso --gro --mtu 9000 --bytes 16777216", "",
	  0 },
	{ "ipv6", SHORT "--ipv6", "", 0 },
	{ "ipv6, loss", SHORT "--ipv6 --loss 0.02", "", 0 },
	{ "ipv6, mix, dup", SHORT "--ipv6 --proto mix --dup 0.02", "", 0 },
	{ "ipv6, nat, tso", SHORT "--ipv6 --nat --tso --rate 20", "", 0 },
	{ "vlan on one side", SHORT "--vlan 0,1", "", 0 },
	{ "qinq", SHORT "--vlan 2,0 --loss 0.01", "", 0 },
	{ "ipv6, qinq", SHORT "--vlan 2,1 --ipv6 --loss 0.01", "", 0 },
	{ "sll and sll2", SHORT "--link sll,sll2 --loss 0.01", "", 0 },
	{ "raw and null", SHORT "--link raw,null --loss 0.01", "", 0 },
	{ "raw, no hops", SHORT "--link raw --ttl-hops 0 --proto udp", "", 0 },
	{ "null, ipv6, mix", SHORT "--link null,ethernet --ipv6 --proto mix", "", 0 },
	{ "snaplen 68", SHORT "--snaplen 68 --loss 0.01", "", 0 },
	{ "snaplen 68, mix, vlan", SHORT "--snaplen 68 --proto mix --vlan 1", "", 0 },
	{ "snaplen 68, ipv6", SHORT "--snaplen 68 --ipv6", "", 0 },
	{ "snaplen 68, ipv6, mix", SHORT "--snaplen 68 --ipv6 --proto mix", "", 0 },
	{ "microseconds", SHORT "--resolution us", "", 0 },
	{ "microseconds, short delays", SHORT "--resolution us --dmin 2us --tail 3us", "", 0 },
	{ "pcapng, microseconds", SHORT "--resolution us --format pcapng --loss 0.01", "", 0 },
	{ "pcapng near 2^62", SHORT "--format pcapng --start 4611685990000000000", "", 0 },
	{ "pcapng near 2^62, host1 in 1970",
	  SHORT "--format pcapng --start 4611685990000000000 --offset -4611685980s", "", 0 },
	{ "1970", SHORT "--start 100s --offset 10s", "", 0 },
	{ "udp", SHORT "--proto udp --loss 0.02 --reorder 0.02", "", 0 },
	{ "udp, no ids, dup", SHORT "--proto udp --dup 0.02 --ip-id off", "", 0 },
	{ "icmp", SHORT "--proto icmp --loss 0.02 --ip-id off", "", 0 },
	{ "chatter", SHORT "--chatter 300 --capture-loss 0.01", "", 0 },
	{ "captures miss packets", SHORT "--capture-loss 0.05 --loss 0.01", "", 0 },
	{ "captures miss packets, tso, nat",
	  SHORT "--capture-loss 0.02 --loss 0.01 --tso --rate 20 --nat", "", 0 },
	{ "long way, retrans", "--seconds 5 --rate 300 --dmin 200ms --retrans 0.1", "", 0 },
	{ "long way, reorder, no ids",
	  "--seconds 5 --rate 100 --bytes 100 --dmin 200ms --reorder 0.01 --ip-id off", "", 0 },
	{ "tso, no timestamps, much reorder",
	  "--seconds 5 --rate 300 --reorder 0.2 --tso --timestamps off", "", 0 },
	{ "tso, small pieces, nat, everything",
	  "--seconds 5 --rate 100 --loss 0.1 --dup 0.01 --nat --tso --mtu 576 --retrans 0.01", "",
	  0 },
	{ "long tail, dup", SHORT "--tail 20ms --dup 0.1", "", 0 },
	{ "exchanges only, heavy tails, nat",
	  "--seconds 5 --rate 300 --proto mix --tail 20ms --heavy 0.2 --reorder 0.2 --ttl-hops 0 "
	  "--nat --retrans 0.1 --late 2s",
	  "", 0 },
	{ "asymmetry", SHORT "--asym 5ms --heavy 0.05", "", 0 },
	{ "long way, no hops", SHORT "--dmin 80ms --tail 5ms --ttl-hops 0", "", 0 },
	{ "one connection, late", "--seconds 200 --rate 20 --connections 1 --late 100s", "", 0 },
	{ "90 minutes late", "--seconds 6000 --rate 2 --late 90min --offset -3h", "", 0 },
	{ "dense", "--seconds 5 --rate 3000 --connections 20", "", 0 },
	{ "few", "--seconds 20 --rate 0.5 --connections 1", "", 0 },
	/* Without a minimum delay the half width is the delay itself, over 50 us. */
	{ "min-delay", SHORT "--dmin 50us", "--min-delay 50us", 5000 },
	{ "min-delay, pcapng, loss", SHORT "--dmin 50us --format pcapng --loss 0.02",
	  "--min-delay 50us", 5000 },
	{ "min-delay, table", LONG "--dmin 50us", "--min-delay 50us", 5000 },
	{ "min-delay, too short", SHORT "--dmin 50us", "--min-delay 20us+1ns/B", 0 },
	{ "min-delay, hull", SHORT "--dmin 50us", "--min-delay 50us --method hull", 5000 },
	{ "min-delay, hull+delta", SHORT "--dmin 50us",
	  "--min-delay 49us+0.001ns/B --method hull+delta", 5000 },
	{ "min-delay, two-point+delta", SHORT "--dmin 50us",
	  "--min-delay 50us --method two-point+\xce\xb4", 5000 },
	{ "min-delay, regress+delta", SHORT "--dmin 50us --asym 20us",
	  "--min-delay 45us --method regress+delta", 0 },
	{ "regress", SHORT "--asym 20us", "--method regress", 0 },
	{ "two-point", SHORT "--proto udp --loss 0.01", "--method two-point", 0 },
	{ "two-point, chain of calls", SHORT "--dmin 5us --tail 200us", "--method two-point", 0 },
	{ "least-violation", SHORT "--heavy 0.02", "--method least-violation", 0 },
	{ "round-trip", LONG "", "--method round-trip", 0 },
	{ "round-trip-90", LONG "--heavy 0.05", "--method round-trip-90", 0 },
	{ "round-trip-99", LONG "--heavy 0.05", "--method round-trip-99", 0 },
	{ "round-trip-100", LONG "--asym 100us", "--method round-trip-100", 0 },
	{ "interval", LONG "--drift-ppm 200", "--method interval", 0 },
	{ "min-window", LONG "--drift-ppm -200", "--method min-window", 0 },
	{ "first-offset", LONG "", "--method first-offset", 0 },
	{ "rate-ratio", LONG "--drift-ppm 200", "--method rate-ratio", 0 },
	{ "rate-last", LONG "--loss 0.05", "--method rate-last", 0 },
	{ "rate-segments", LONG "--heavy 0.05", "--method rate-segments", 0 },
	{ "lp-rate", LONG "--asym 100us", "--method lp-rate", 0 },
	{ "lp-rate, pcap", SHORT "--asym 100us", "--method lp-rate", 0 },
	/* Clocks as they are. */
	{ "wander", SHORT "--wander-ppb 10", "--model wander", 0 },
	{ "wander, microseconds, loss", SHORT "--wander-ppb 10 --resolution us --loss 0.02",
	  "--model wander", 0 },
	{ "wander, a day", "--format table --seconds 86400 --rate 0.05 --wander-ppb 0.1",
	  "--model wander", 0 },
	{ "temperature", "--seconds 200 --rate 20 --temperature-ppm 0.05 --temperature-period 1min",
	  "--model wander", 0 },
	{ "polls", "--seconds 200 --rate 20 --poll 8s --poll-error 1us --offset 10us",
	  "--model wander=1", 0 },
	{ "a step forward", SHORT "--step host1@9s:30ms --loss 0.01", "--model segments=auto", 0 },
	{ "the reference steps", SHORT "--step host0@9s:30ms", "--model segments=auto", 0 },
	{ "table, 10 hours", "--format table --seconds 36000 --rate 1", "", 0 },
	{ "table near 2^62", "--format table --seconds 36000 --rate 1 --start 4611640000000000000",
	  "", 0 },
	{ "table, far below zero", "--format table --offset -500000h --drift-ppm 400", "", 0 },
	{ "table, dense", "--format table --seconds 100 --rate 1000 --heavy 0.01 --asym 1ms", "",
	  0 },
};

int main(int argc, char **argv)
{
	struct job job = { .seed = 1 };
	const char *only = "";
	bool keep = false;
	for (int i = 1; i < argc; i++) {
		if (!strcmp(argv[i], "--only") && i + 1 < argc) {
			only = argv[++i];
		} else if (!strcmp(argv[i], "--seed") && i + 1 < argc) {
			job.seed = strtoull(argv[++i], NULL, 10);
		} else if (!strcmp(argv[i], "--keep")) {
			keep = true;
		} else {
			shell_words(2, argv + i - 1);
			job.unskew = argv[i];
		}
	}
	if (!job.unskew) {
		fprintf(stderr, "usage: test_truth UNSKEW [--only TEXT] [--seed N] [--keep]\n");
		return 2;
	}
	char dir[] = "/tmp/unskew-truth-XXXXXX";
	if (!mkdtemp(dir)) {
		perror(dir);
		return 1;
	}
	job.dir = dir;
	size_t failed = 0, ran = 0;
	for (size_t i = 0; i < COUNT(scenarios); i++) {
		if (!*only || !strcmp(only, scenarios[i].name)) {
			ran++;
			failed += !check_scenario(&job, &scenarios[i]);
		}
	}
	printf("%zu of %zu scenarios hold, seed %llu\n", ran - failed, ran,
	       (unsigned long long)job.seed);
	if (keep) {
		printf("kept: %s\n", dir);
	} else {
		char *clean = usk_format("rm -rf '%s'", dir);
		if (system(clean)) {
			perror(clean);
		}
		free(clean);
	}
	return failed || !ran;
}

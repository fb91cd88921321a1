/* SPDX-License-Identifier: MIT */
/*
 * test_probe_flood.c - `unskew probe` while somebody sends in the client's name
 *
 * In    paths of unskew, relay and flood; --seconds N for each attack, 8 unless told
 * Out   of each: rounds that had an answer, 90 % at least; no bound that is wrong; no more bytes
 *       answered than asked. Status 77 where namespaces are not to be had
 * Why   a packet that was sniffed can be sent again by anybody, as fast as the network takes it
 *
 * One client begins with the attack, which needs something to sniff; another one amid it.
 */
#include "hosts.h"
#include "shell.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const struct attack {
	const char *name, *flood; /* NULL: the relay alone */
} attacks[] = {
	{ "late and out of order", NULL },
	{ "hello at 2,000/s", "hello 2000" },
	{ "asks at 2,000/s", "ask 2000" },
	{ "forged at 2,000/s", "forged 2000" },
	{ "cut short at 2,000/s", "cut 2000" },
	{ "bits flipped at 2,000/s", "flipped 2000" },
	{ "hello at full speed", "hello 0" },
	{ "asks at full speed", "ask 0" },
	{ "forged at full speed", "forged 0" },
	{ "cut short at full speed", "cut 0" },
	{ "bits flipped at full speed", "flipped 0" },
};

static int64_t counted(const char *file)
{
	char *path = usk_format("%s/%s", hosts_dir, file), line[64] = "";
	FILE *f = fopen(path, "r");
	int64_t n = f && fgets(line, sizeof line, f) ? strtoll(line, NULL, 10) : -1;
	if (f) {
		fclose(f);
	}
	free(path);
	return n;
}

/* That came to the server's machine, or left it, by IPv4. */
static int64_t octets(const char *way)
{
	hosts_run(usk_format("ip netns exec %s awk '/^IpExt:/ { for (i = 2; i <= NF; i++) { if "
			     "(n[i] == \"%sOctets\") print $i; n[i] = $i } }' /proc/net/netstat "
			     ">%s/octets",
			     hosts_b, way, hosts_dir));
	return counted("octets");
}

static pid_t client(const char *unskew, const char *out, const char *where, int seconds)
{
	return hosts_start(hosts_a, seconds, out,
			   usk_format("%s probe --json --key %s/key --period 200ms %s --duration "
				      "%ds",
				      unskew, hosts_dir, where, seconds));
}

/* Rounds of an attack: one client has so few of them on a busy machine that one is more than a tenth. */
struct rounds {
	unsigned long long all, answered;
};

static void judge(const char *name, const char *out, struct rounds *r)
{
	struct watched w = hosts_read_rounds(out);
	hosts_judge(name, &w);
	hosts_expect(2 * w.answered > w.rounds,
		     "a client had answers to less than half of its rounds");
	r->all += w.rounds;
	r->answered += w.answered;
	json_decref(w.total);
}

static void pause_ms(long ms)
{
	nanosleep(&(struct timespec){ ms / 1000, ms % 1000 * 1000000 }, NULL);
}

static void attack(const struct attack *a, char **argv, int seconds)
{
	const char *where = a->flood ? "192.0.2.2" : "127.0.0.1 --port 4720";
	int64_t asked = octets("In"), answered = octets("Out");
	printf("---- %s\n", a->name);
	pid_t bad = hosts_start(
		hosts_a, seconds, "bad",
		a->flood ? usk_format("%s eth0 %s %d", argv[3], a->flood, seconds)
			 : usk_format("%s 4720 192.0.2.2 4719 1 %d slow", argv[2], seconds));
	pause_ms(300);
	pid_t first = client(argv[1], "first", where, seconds - 1);
	pause_ms(2000);
	/* The relay has room for one. */
	pid_t second = a->flood ? client(argv[1], "second", where, seconds - 3) : 0;
	hosts_expect(!hosts_finish(first), "the client failed");
	hosts_expect(!second || !hosts_finish(second), "the client that began amid it failed");
	hosts_expect(!hosts_finish(bad), "the attack failed");
	struct rounds r = { 0, 0 };
	judge("from the beginning", "first", &r);
	if (second) {
		judge("from amid it", "second", &r);
	}
	hosts_expect(r.answered * 10 >= r.all * 9, "fewer than 90 % of the rounds had answers");
	asked = octets("In") - asked;
	answered = octets("Out") - answered;
	printf("%lld sent in the client's name; %lld bytes asked, %lld answered: %.3f of them\n",
	       (long long)(a->flood ? counted("bad") : 0), (long long)asked, (long long)answered,
	       (double)answered / (double)asked);
	hosts_expect(!a->flood || counted("bad") > 1000 * seconds, "it was hardly an attack");
	hosts_expect(answered <= asked, "more bytes answered than asked");
}

int main(int argc, char **argv)
{
	int seconds = argc == 6 && !strcmp(argv[4], "--seconds") ? atoi(argv[5]) : 8;
	if ((argc != 4 && argc != 6) || seconds < 6) {
		fprintf(stderr, "usage: test_probe_flood UNSKEW RELAY FLOOD [--seconds N, 6 at "
				"least]\n");
		return 2;
	}
	shell_words(4, argv);
	int status = hosts_make(argv[1]);
	if (status) {
		return status;
	}
	int all = (int)COUNT(attacks) * (seconds + 2);
	pid_t server = hosts_serve(argv[1], all + 30);
	pause_ms(700);
	for (size_t i = 0; i < COUNT(attacks); i++) {
		attack(&attacks[i], argv, seconds);
	}
	kill(server, SIGTERM);
	hosts_expect(!hosts_finish(server), "the server failed");
	hosts_run(usk_format("cat %s/server", hosts_dir));
	return hosts_end();
}

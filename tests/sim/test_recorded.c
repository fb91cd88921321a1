/* SPDX-License-Identifier: MIT */
/*
 * test_recorded.c - real traffic between two network namespaces against its known truth
 *
 * In    paths of unskew, record-two-hosts.sh and distort
 * Out   status 77 where the recorder may not run; it says why
 */
#include "shell.h"
#include "truth_check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *const runs[] = {
	"--offset 1s --drift-ppm 20 --seconds 3",
	"--offset -438000h --drift-ppm -123.456789 --seconds 3",
	"--offset 600000h --drift-ppm 400 --seconds 2",
};

static int run(char *command)
{
	int status = system(command);
	free(command);
	return status >> 8;
}

int main(int argc, char **argv)
{
	static const char *const names[] = { "a", "b" };
	char dir[] = "/tmp/unskew-recorded-XXXXXX";
	size_t failed = 0;
	if (argc != 4 || !mkdtemp(dir)) {
		fprintf(stderr, "usage: test_recorded UNSKEW RECORDER DISTORT\n");
		return 2;
	}
	shell_words(argc, argv);
	int status = 0;
	for (size_t i = 0; i < COUNT(runs) && !status; i++) {
		char why[512] = "", *json = usk_format("%s/clocks.json", dir);
		char *truth = usk_format("%s/truth.json", dir);
		struct true_clocks clocks = { 0 };
		double width = 0;
		bool good = false;
		status = run(usk_format("DISTORT=%s %s %s %s >/dev/null", argv[3], argv[2], dir,
					runs[i]));
		if (status) {
			/* 77 is a skip, anything else a failure; both said why. */
		} else if (run(usk_format("%s sync -q --json --model linear a=%s/a.pcap "
					  "b=$(echo %s/b.pcap*) > %s",
					  argv[1], dir, dir, json))) {
			snprintf(why, sizeof why, "sync failed");
		} else {
			good = true_clocks_read(truth, names, &clocks, why) &&
			       check_band(json, &clocks, i + 1, true, &width, why);
		}
		if (!status) {
			printf("%s record-two-hosts.sh OUTDIR %s: half width %.1f us %s\n",
			       good ? "holds " : "FAILS ", runs[i], width / 1e3, why);
			failed += !good;
		}
		true_clocks_free(&clocks);
		free(truth);
		free(json);
	}
	if (failed) {
		printf("kept: %s\n", dir);
		return 1;
	}
	run(usk_format("rm -rf '%s'", dir));
	return status;
}

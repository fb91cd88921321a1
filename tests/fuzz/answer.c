/* SPDX-License-Identifier: MIT */
#include "answer.h"

#include <stdio.h>
#include <stdlib.h>

#define KNOT(local, offset, lo, hi, epoch)                                                         \
	"{\"local_ns\": \"" #local "\", \"offset_ns\": " offset ", \"lo_ns\": " lo                 \
	", \"hi_ns\": " hi ", \"epoch\": " #epoch "}"
#define FULL(local, offset, lo, hi, epoch)                                                         \
	KNOT(local, "\"" #offset "\"", "\"" #lo "\"", "\"" #hi "\"", epoch)
#define CLOCK(name, reference, quality, knots, jumps)                                              \
	"{\"name\": \"" name "\", \"reference\": \"" reference "\", \"quality\": \"" quality       \
	"\", \"path\": [], \"resolution_ns\": \"1\", \"drift_ppm\": null, \"drift_min_ppm\": "     \
	"null, \"drift_max_ppm\": null, \"knots\": [" knots "], \"jumps\": [" jumps "]}"

/* clang-format off */
const char answer_json[] =
	"{\"unskew_clocks\": 1, \"model\": {\"name\": \"wander\", \"ppm\": 0.1, \"max_skew_ppm\": "
	"500, \"min_delay\": \"0\"}, \"method\": \"middle\", \"solve\": {\"name\": \"joint\", "
	"\"how\": \"graph\"}, \"traces\": [], \"messages\": {\"matched\": 0, \"unmatched\": 0, "
	"\"ambiguous\": 0, \"expired\": 0, \"direction_unknown\": 0, \"outliers\": 0}, "
	"\"islands\": [{\"reference\": \"host0\", \"clocks\": [\"host0\", \"host1\", \"host2\"]}, "
	"{\"reference\": \"a:b\", \"clocks\": [\"a:b\", \"a\"]}], \"clocks\": ["
	CLOCK("host0", "host0", "reference",
	      FULL(1000, 0, 0, 0, 0) "," FULL(5000, 0, 0, 0, 0) ","
	      FULL(2000, 3500, 3400, 3600, 1) "," FULL(9000, 3500, 3400, 3600, 1), "") ","
	CLOCK("host1", "host0", "bounded",
	      FULL(100, 900, 800, 1000, 0) "," FULL(1500, 930, 880, 990, 0) ","
	      FULL(1600, 1400, 1350, 1450, 0) "," FULL(4000, 1410, 1360, 1460, 0) ","
	      FULL(3000, 2900, 2800, 3000, 1) "," FULL(3500, 2900, 2800, 3000, 1) ","
	      FULL(1, 7000, 6900, 7100, 2) "," FULL(700, 7100, 7000, 7200, 2),
	      "{\"kind\": \"jump\", \"of\": \"host1\", \"after_local_ns\": \"1500\", "
	      "\"before_local_ns\": \"1600\", \"size_lo_ns\": \"360\", \"size_hi_ns\": \"570\"}, "
	      "{\"kind\": \"jump\", \"of\": null, \"after_local_ns\": \"4000\", "
	      "\"before_local_ns\": \"3000\", \"size_lo_ns\": null, \"size_hi_ns\": null, "
	      "\"epoch\": 0, \"end_epoch\": 1}") ","
	CLOCK("host2", "host0", "one-sided",
	      KNOT(1000, "null", "\"-70\"", "null", 0) ","
	      KNOT(6000, "null", "\"-80\"", "null", 0), "") ","
	CLOCK("host3", "host3", "absent", "", "") ","
	CLOCK("a:b", "a:b", "reference",
	      FULL(0, 0, 0, 0, 0) "," FULL(4611686018427387000, 0, 0, 0, 0) ","
	      FULL(-4611686018427387000, 4611686018427387000, 4611686018427386000,
		   4611686018427387900, 1) ","
	      FULL(-4611686018427386000, 4611686018427387000, 4611686018427386000,
		   4611686018427387900, 1), "") ","
	CLOCK("a", "a:b", "bounded",
	      FULL(-4611686018427387000, 4611686018427387000, 4611686018427386000,
		   4611686018427387900, 0) ","
	      FULL(4611686018427387000, -4611686018427387000, -4611686018427387900,
		   -4611686018427386000, 0), "")
	"], \"pairs\": [], \"corridors\": [], \"evaluation\": {\"recorded\": {\"inversions\": 0}, "
	"\"corrected\": {\"inversions\": 0, \"too_fast\": {\"count\": 0, \"percent\": 0, "
	"\"max_ns\": \"0\", \"mean_ns\": \"0\"}}, \"half_width_ns\": {\"best\": \"0\", \"worst\": "
	"\"0\", \"mean\": \"0\"}}, \"notes\": []}";
/* clang-format on */

const struct usk_clocks *answer(void)
{
	static struct usk_clocks *c;
	struct usk_err err = { 0 };
	if (!c && usk_clocks_from_json(answer_json, sizeof answer_json - 1, &c, &err)) {
		fprintf(stderr, "%s\n", err.msg);
		abort();
	}
	return c;
}

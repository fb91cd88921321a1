/* SPDX-License-Identifier: MIT */
/* Many clocks whose truth is known: bands hold it, messages are in order, joint is never wider. */
#include "mesh.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

static const char *const shape_name[] = { "full", "sparse",  "chain",  "star",
					  "ring", "one way", "islands", "near" };

static struct mesh_options options(uint64_t seed, enum mesh_shape shape)
{
	return (struct mesh_options){ .seed = seed,
				      .shape = shape,
				      .clocks = 2 + seed % 7,
				      .seconds = 20,
				      .rate = 1 + (double)(seed % 3) * 4,
				      .least_ns = seed % 4 ? 39000 : 0,
				      .tail_ns = 200000,
				      .drift_ppm = 50,
				      .model = "linear" };
}

static void solve(struct mesh *m, bool tree)
{
	struct usk_err err = { 0 };
	if (mesh_solve(m, tree, USK_NO_CLOCK, &err)) {
		fail_msg("seed %llu: %s", (unsigned long long)m->o.seed, err.msg);
	}
}

static void test_tree_holds_truth(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 30; seed++) {
		for (enum mesh_shape shape = 0; shape < MESH_SHAPES; shape++) {
			struct mesh m;
			struct mesh_options o = options(seed, shape);
			mesh_make(&m, &o);
			mesh_fit(&m);
			solve(&m, true);
			assert_true(mesh_truth_in_band(&m, 37));
			int64_t worst;
			size_t n = mesh_inversions(&m, &worst);
			if (n) {
				printf("seed %d %s: %zu of %zu worst %ld\n", (int)seed,
				       shape_name[shape], n, m.n_msgs, (long)worst);
			}
			mesh_free(&m);
		}
	}
}

static void test_joint_holds_truth(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 30; seed++) {
		for (enum mesh_shape shape = 0; shape < MESH_SHAPES; shape++) {
			struct mesh m;
			struct mesh_options o = options(seed, shape);
			mesh_make(&m, &o);
			mesh_fit(&m);
			solve(&m, true);
			double tree = mesh_half_width(&m, 37);
			solve(&m, false);
			assert_true(mesh_truth_in_band(&m, 37));
			double joint = mesh_half_width(&m, 37);
			m.o.paths = true;
			solve(&m, false);
			assert_true(mesh_truth_in_band(&m, 37));
			double paths = mesh_half_width(&m, 37);
			int64_t worst2;
			size_t n2 = mesh_inversions(&m, &worst2);
			int64_t worst;
			size_t n = mesh_inversions(&m, &worst);
			printf("seed %d %s: %zu of %zu worst %ld tree %.0f joint %.0f (%.3f) paths "
			       "%.0f wrong %zu %ld\n",
			       (int)seed, shape_name[shape], n, m.n_msgs, (long)worst, tree, joint,
			       joint / tree, paths, n2, (long)worst2);
			mesh_free(&m);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_tree_holds_truth),
		cmocka_unit_test(test_joint_holds_truth),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

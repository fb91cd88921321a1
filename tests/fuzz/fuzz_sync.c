/* SPDX-License-Identifier: MIT */
/*
 * The inputs of fuzz_walk all the way to clocks, which takes far longer: what messages can be is
 * found there, what becomes of them here.
 */
#include "two.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	return fuzz_two(data, size, usk_sync);
}

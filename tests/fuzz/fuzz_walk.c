/* SPDX-License-Identifier: MIT */
/* Messages of two captures: any order, any damage, any clock. */
#include "two.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	return fuzz_two(data, size, usk_check);
}

/* SPDX-License-Identifier: MIT */
/*
 * found.h - what targets find in their inputs, in one sum
 *
 * In    numbers and texts, in the order in which a target comes by them
 * Out   a sum that replay.c holds against found.txt
 * Why   corpora reach nearly all of what reads: that nothing crashes is one half of what they can
 *       tell, that the same is found as before the other
 * Not   the words of sentences, addresses, what differs by machine
 */
#ifndef FUZZ_FOUND_H
#define FUZZ_FOUND_H

#include <stddef.h>
#include <stdint.h>

void fuzz_found(uint64_t value);
void fuzz_found_bytes(const void *data, size_t n);
/** NULL counts, too. */
void fuzz_found_text(const char *text);
/** The numbers of a sentence, such as what was left out where, whatever its words; NULL counts, too. */
void fuzz_found_numbers(const char *sentence);
/** Of all that was found since the program began. */
uint64_t fuzz_found_sum(void);

#endif

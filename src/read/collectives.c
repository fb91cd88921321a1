/* SPDX-License-Identifier: MIT */
/*
 * collectives.c - what readers of collectives share: kinds, ranks
 *
 * In    texts, as programs, libraries and profilers write them
 * Out   kinds, and what each says of its members; numbers of ranks
 * Why   NCCL's AllReduce, MPI_Allreduce and PyTorch's allreduce_coalesced are one kind
 * Not   which parts are of one collective, and what follows (match/collectives.c)
 */
#include "read/read.h"

#include <string.h>

static const struct {
	const char *name;
	enum usk_collective_shape shape;
} kinds[] = {
	[USK_ALLREDUCE] = { "allreduce", USK_FROM_ALL_TO_ALL },
	[USK_ALLGATHER] = { "allgather", USK_FROM_ALL_TO_ALL },
	[USK_REDUCESCATTER] = { "reducescatter", USK_FROM_ALL_TO_ALL },
	[USK_ALLTOALL] = { "alltoall", USK_FROM_ALL_TO_ALL },
	[USK_BARRIER] = { "barrier", USK_FROM_ALL_TO_ALL },
	[USK_BROADCAST] = { "broadcast", USK_FROM_ROOT },
	[USK_SCATTER] = { "scatter", USK_FROM_ROOT },
	[USK_REDUCE] = { "reduce", USK_TO_ROOT },
	[USK_GATHER] = { "gather", USK_TO_ROOT },
	[USK_MESSAGE] = { "message", USK_FROM_ROOT },
};

/* What surrounds the name of a kind without saying more of who waits for whom. Counts that differ
 * by member ("v") may be 0, and who is sent nothing waits for nobody: no kind has it. */
static const char *const before[] = { "mpi", "nccl", "gloo", "ompi", "pmpi" };
static const char *const behind[] = { "base", "coalesced", "tensor", "into", "block", "single" };

/* The letters of it, small, behind namespaces; false: it is longer than any kind's name. */
static bool letters(const char *text, size_t n, char *out, size_t cap)
{
	size_t m = 0;
	for (size_t i = 0; i < n; i++) {
		if (text[i] == ':') {
			m = 0;
		}
		char c = text[i] >= 'A' && text[i] <= 'Z' ? (char)(text[i] + 32) : text[i];
		if (c >= 'a' && c <= 'z') {
			if (m + 1 == cap) {
				return false;
			}
			out[m++] = c;
		}
	}
	out[m] = 0;
	return true;
}

static const char *stripped(char *name)
{
	bool more = true;
	while (more) {
		more = false;
		for (size_t i = 0; i < COUNT(before); i++) {
			size_t n = strlen(before[i]);
			if (!strncmp(name, before[i], n)) {
				name += n;
				more = true;
			}
		}
		for (size_t i = 0; i < COUNT(behind); i++) {
			size_t n = strlen(behind[i]), m = strlen(name);
			if (m > n && !strcmp(name + m - n, behind[i])) {
				name[m - n] = 0;
				more = true;
			}
		}
	}
	return name;
}

enum usk_collective_kind usk_collective_kind(const char *text, size_t n)
{
	char all[64];
	if (!letters(text, n, all, sizeof all)) {
		return USK_NO_COLLECTIVE;
	}
	const char *name = stripped(all);
	for (size_t i = 0; i < COUNT(kinds); i++) {
		if (!strcmp(name, kinds[i].name)) {
			return (enum usk_collective_kind)i;
		}
	}
	return !strcmp(name, "bcast") ? USK_BROADCAST : USK_NO_COLLECTIVE;
}

const char *usk_collective_name(enum usk_collective_kind kind)
{
	return kinds[kind].name;
}

enum usk_collective_shape usk_collective_shape(enum usk_collective_kind kind)
{
	return kinds[kind].shape;
}

uint32_t usk_trace_rank(struct usk_trace *t, uint32_t clock, struct usk_csv_field name)
{
	struct usk_event_id id = usk_event_id(name.text, name.n);
	return usk_texts_number(&t->process, id.word[0] ^ usk_mix(clock + UINT64_C(1)), id.word[1],
				name.text, name.n);
}

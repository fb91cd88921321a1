/* SPDX-License-Identifier: MIT */
/*
 * operation.c - collectives of MPI, by OTF2's numbers
 *
 * Why   who waits for whom depends on what is moved, too: a member that sends nothing is not waited
 *       for, and one that gets nothing need not wait. Where all move as much, one member tells it of
 *       all; where each has its own share, it tells it of itself; of alltoallv not even that
 * Not   which of them are one (number.c)
 */
#include "otf/otf.h"

const struct otf2_operation usk_otf2_operation[OTF2_OPERATIONS] = {
	{ "barrier", USK_BARRIER, OTF2_ALWAYS },
	{ "bcast", USK_BROADCAST, OTF2_ANY },
	{ "gather", USK_GATHER, OTF2_ANY },
	{ "gatherv", USK_GATHER, OTF2_OWN },
	{ "scatter", USK_SCATTER, OTF2_ANY },
	{ "scatterv", USK_SCATTER, OTF2_OWN },
	{ "allgather", USK_ALLGATHER, OTF2_ANY },
	{ "allgatherv", USK_ALLGATHER, OTF2_OWN },
	{ "alltoall", USK_ALLTOALL, OTF2_ANY },
	{ "alltoallv", USK_NO_COLLECTIVE, OTF2_PASSED },
	{ "alltoallw", USK_NO_COLLECTIVE, OTF2_PASSED },
	{ "allreduce", USK_ALLREDUCE, OTF2_ANY },
	{ "reduce", USK_REDUCE, OTF2_ANY },
	{ "reduce_scatter", USK_REDUCESCATTER, OTF2_OWN },
	{ "scan", USK_MESSAGE, OTF2_FROM_LOWER },
	{ "exscan", USK_MESSAGE, OTF2_FROM_LOWER },
	{ "reduce_scatter_block", USK_REDUCESCATTER, OTF2_ANY },
	/* Communicators, windows and files made and freed: MPI does not say that all wait. */
	{ "create_handle", USK_NO_COLLECTIVE, OTF2_SILENT },
	{ "destroy_handle", USK_NO_COLLECTIVE, OTF2_SILENT },
	{ "allocate", USK_NO_COLLECTIVE, OTF2_SILENT },
	{ "deallocate", USK_NO_COLLECTIVE, OTF2_SILENT },
	{ "create_handle_and_allocate", USK_NO_COLLECTIVE, OTF2_SILENT },
	{ "destroy_handle_and_deallocate", USK_NO_COLLECTIVE, OTF2_SILENT },
	/* what OTF2 may number later */
	{ "an operation that is not known", USK_NO_COLLECTIVE, OTF2_PASSED },
};

bool usk_otf2_takes_part(const struct otf2_operation *op, bool root, uint8_t moved)
{
	const uint8_t both = OTF2_SENT_BYTES | OTF2_RECEIVED_BYTES;
	if (op->use != OTF2_OWN) {
		return op->use == OTF2_ALWAYS || moved;
	}
	switch (usk_collective_shape(op->kind)) {
	case USK_FROM_ROOT:
		return moved & (root ? OTF2_SENT_BYTES : OTF2_RECEIVED_BYTES);
	case USK_TO_ROOT:
		return moved & (root ? OTF2_RECEIVED_BYTES : OTF2_SENT_BYTES);
	default:
		return (moved & both) == both;
	}
}

/* SPDX-License-Identifier: MIT */
/* guard.h - somebody who stays when a rank dies, to say which one, and of what it read */
#ifndef USK_MPI_GUARD_H
#define USK_MPI_GUARD_H

/** Before MPI begins: what returns is watched by the process that was there before. */
void guard_begin(void);
void guard_rank(int rank);
/** The trace that is worked on from now on; "": none. */
void guard_file(const char *path);
/** Memory is exhausted: ends the process; safe where nothing can be allocated. */
_Noreturn void guard_out_of_memory(void);
/** All ranks know how the job ends, and nothing is to be said of how this one does. */
void guard_done(void);

#endif

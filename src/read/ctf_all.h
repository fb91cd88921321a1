/* SPDX-License-Identifier: MIT */
/*
 * ctf_all.h - every event of CTF traces, by name: for looking at, not for matching
 */
#ifndef USK_CTF_ALL_H
#define USK_CTF_ALL_H

#include "base/base.h"

/* An event of whatever kind; name is of plain characters, borrowed for the call. */
struct usk_ctf_any {
	int64_t time_ns;
	int64_t cpu; /* -1: the trace does not say */
	const char *name;
};

/**
 * All events of the traces of one machine at path, in the order of time; take's own failure ends
 * it. *damage is a sentence on what was lost, for the caller to free, or NULL.
 */
enum usk_status usk_ctf_all(const char *path,
			    enum usk_status (*take)(void *ctx, const struct usk_ctf_any *event),
			    void *ctx, char **damage, struct usk_err *err);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * ctf_alone.c - in place of most of src/ctf/child.c, for what needs no events: no process is begun
 */
#include "ctf/ctf.h"

enum usk_status usk_ctf_start(struct ctf_traces *t, const struct ctf_visitor *visitor,
			      struct ctf_child **out, struct usk_err *err)
{
	(void)t, (void)visitor, (void)out;
	return usk_fail(err, USK_EIO, 0, "not here");
}

enum usk_status usk_ctf_read(struct ctf_child *c, struct ctf_item *out, size_t cap, size_t *n,
			     struct usk_err *err)
{
	(void)c, (void)out, (void)cap, (void)n;
	return usk_fail(err, USK_EIO, 0, "not here");
}

const struct ctf_totals *usk_ctf_read_totals(const struct ctf_child *c)
{
	(void)c;
	return NULL;
}

void usk_ctf_stop(struct ctf_child *c)
{
	(void)c;
}

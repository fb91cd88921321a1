/* SPDX-License-Identifier: MIT */
/*
 * layout.c - the structs of unskew.h as the compiler lays them out
 *
 * Out   a line for each struct: its name and size, then each member's name and place
 * Why   python/unskew/_library.py states them by itself; test_unskew.py compares
 */
#include <unskew.h>

#include <stdio.h>

#define STRUCT(name)	   printf("\n%s %zu", #name, sizeof(struct name))
#define AT(name, member)   printf(" %s %zu", #member, offsetof(struct name, member))
#define ROWS(name, member) AT(name, member), AT(name, n_##member)

static void options(void)
{
	STRUCT(usk_read_options);
	ROWS(usk_read_options, tick_rate);
	AT(usk_read_options, send), AT(usk_read_options, receive), AT(usk_read_options, know);
	AT(usk_read_options, n_send), AT(usk_read_options, n_receive), AT(usk_read_options, n_know);
	STRUCT(usk_sync_options);
	AT(usk_sync_options, model), AT(usk_sync_options, method), AT(usk_sync_options, window_ns);
	AT(usk_sync_options, solve), AT(usk_sync_options, weights), AT(usk_sync_options, reference);
	AT(usk_sync_options, max_skew_e12), AT(usk_sync_options, max_outliers);
	ROWS(usk_sync_options, resolution), ROWS(usk_sync_options, local);
	ROWS(usk_sync_options, clock_of), ROWS(usk_sync_options, clock_log);
	AT(usk_sync_options, readings), AT(usk_sync_options, from_ns), AT(usk_sync_options, to_ns);
	AT(usk_sync_options, min_delay), AT(usk_sync_options, anchor),
		AT(usk_sync_options, n_anchors);
	AT(usk_sync_options, messages), AT(usk_sync_options, proof), AT(usk_sync_options, progress);
	AT(usk_sync_options, progress_ctx);
	STRUCT(usk_write_options);
	AT(usk_write_options, force), AT(usk_write_options, allow_unbounded);
	AT(usk_write_options, read), AT(usk_write_options, residual_ns);
	AT(usk_write_options, comments), AT(usk_write_options, progress),
		AT(usk_write_options, progress_ctx);
}

int main(void)
{
	STRUCT(usk_err);
	AT(usk_err, code), AT(usk_err, at), AT(usk_err, msg);
	STRUCT(usk_msg);
	AT(usk_msg, sent_ns), AT(usk_msg, received_ns), AT(usk_msg, from), AT(usk_msg, to);
	AT(usk_msg, bytes);
	STRUCT(usk_stamp);
	AT(usk_stamp, reference_ns), AT(usk_stamp, lo_ns), AT(usk_stamp, hi_ns);
	STRUCT(usk_anchor);
	AT(usk_anchor, a), AT(usk_anchor, b), AT(usk_anchor, a_ns), AT(usk_anchor, b_ns);
	AT(usk_anchor, within_ns), AT(usk_anchor, kind);
	STRUCT(usk_notes);
	AT(usk_notes, note), AT(usk_notes, n), AT(usk_notes, partial);
	options();
	putchar('\n');
	return 0;
}

/* SPDX-License-Identifier: MIT */
/*
 * CTF streams of any bytes under the metadata of a kernel tracer: packets and sides of messages are
 * read whole, in part, or refused with a sentence; and again to the same.
 */
#include "../unit/ctf_making.h"
#include "trace.h"

#include <babeltrace2/babeltrace.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char folder[64];
static const bt_plugin_set *plugins; /* kept, so that they are not loaded for each input again */

static void remove_folder(void)
{
	ctf_remove(folder);
}

static void make_folder(void)
{
	snprintf(folder, sizeof folder, "/tmp/unskew-fuzz-ctf-%ld", (long)getpid());
	struct ctf c = ctf_begin(folder, "a", 1000000000, 1700000000000000000);
	ctf_end(&c);
	atexit(remove_folder);
	bt_plugin_find_all(BT_TRUE, BT_FALSE, BT_TRUE, BT_TRUE, BT_FALSE, &plugins);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const send[] = { "msg:send{channel,text}", "net_dev_queue{name,#}" };
	static const char *const receive[] = { "msg:recv{channel,me,#}", "sched_switch{prev_tid}" };
	static const char *const know[] = { "me=msg:whoami{name}" };
	static const struct usk_read_options options[] = {
		{ 0 },
		{ .send = send,
		  .n_send = 2,
		  .receive = receive,
		  .n_receive = 2,
		  .know = know,
		  .n_know = 1 },
	};
	if (!*folder) {
		make_folder();
	}
	char path[96];
	snprintf(path, sizeof path, "%s/channel0_0", folder);
	FILE *f = fopen(path, "wb");
	if (!f || fwrite(data, 1, size, f) != size || fclose(f)) {
		abort();
	}
	for (size_t i = 0; i < COUNT(options); i++) {
		struct usk_trace *t = NULL;
		struct usk_err err = { 0 };
		if (usk_trace_open_with(folder, NULL, &options[i], &t, &err)) {
			if (!err.msg[0]) {
				abort();
			}
			continue;
		}
		fuzz_opened(t, 0);
		usk_trace_close(t);
	}
	return 0;
}

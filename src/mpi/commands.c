/* SPDX-License-Identifier: MIT */
/*
 * commands.c - sync, check and apply by many ranks
 *
 * In    what the commands of the same names take, the same at all ranks
 * Out   what these give, to the byte, from rank 0; re-timed traces from the rank that reads each
 * Why   reading and writing traces is what grows with them; both are done where they are
 * Not   any computing or option of its own: cli/ has both
 */
#include "mpi/commands.h"

#include "base/stream.h"
#include "cli/units.h"
#include "mpi/gather.h"
#include "mpi/guard.h"
#include "mpi/share.h"
#include "mpi/team.h"

#include <stdlib.h>
#include <string.h>

static struct files files;

static void share(const struct args *args, size_t first)
{
	/* Before reading terabytes. */
	if (team_rank() == team_first_here()) {
		operands_differ(args, first);
	}
	team_agree();
	files = files_share((struct args *)(uintptr_t)args, first);
	team_agree();
}

/* None of them is open. */
static struct usk_trace **no_traces(void)
{
	return kept(usk_alloc(files.n, sizeof(struct usk_trace *)));
}

static void open_gathered(struct task *t)
{
	t->n = files.n;
	t->trace = gather_parts(t->args, &files, no_traces());
}

static void open_shared(struct task *t)
{
	share_open(t, &files);
}

static int sync_run(const struct args *args)
{
	if (!team_rank()) {
		sync_outputs_try(args);
	}
	progress_start(args);
	refuse_readings(args);
	share(args, 0);
	return sync_of(args, open_shared);
}

/* Rank 0 goes on where `unskew` would; the others have done what they can. */
static int check_run(const struct args *args)
{
	progress_start(args);
	refuse_readings(args);
	share(args, 0);
	if (!team_rank()) {
		return check_of(args, open_gathered);
	}
	gather_parts(args, &files, no_traces());
	return EXIT_DONE;
}

/* ---- apply ------------------------------------------------------------------------------------ */

/* A line of each file from the rank that wrote it, in the order of files, then what else was said. */
static void print_lines(const struct team_text *text, bool quiet)
{
	const char **at = kept(usk_alloc((size_t)team_size(), sizeof *at));
	for (int r = 0; r < team_size(); r++) {
		at[r] = text[r].text ? text[r].text : "";
	}
	for (size_t i = 0; i < files.n && !quiet; i++) {
		const char **p = &at[files.reader[i]];
		size_t n = strcspn(*p, "\n");
		fprintf(stderr, "%.*s\n", (int)n, *p);
		*p += (*p)[n] ? n + 1 : n;
	}
	for (int r = 0; r < team_size(); r++) {
		fputs(at[r], stderr);
	}
}

static int apply_run(const struct args *args)
{
	share(args, 1);
	bool *mine = kept(usk_alloc(files.n, sizeof *mine));
	for (size_t i = 0; i < files.n; i++) {
		mine[i] = files.reader[i] == team_rank();
	}
	const struct share part = { gather_copy(args_operand(args, 0)), mine, share_show,
				    guard_file };
	struct usk_stream lines;
	commands_begin(usk_stream_begin(&lines));
	int status = apply_of(args, &part);
	char *said = usk_stream_end(&lines);
	commands_begin(NULL);
	team_agree();
	const struct team_text *text = team_texts(said, strlen(said), false);
	if (!team_rank()) {
		print_lines(text, args_flag(args, "quiet"));
	}
	return status;
}

/* ---- the rows ---------------------------------------------------------------------------------- */

#define TRACES_MORE                                                                                \
	"Every rank gets the same arguments. The first rank of each machine looks which traces "   \
	"it "                                                                                      \
	"can open; the largest trace first, each goes to the rank with the fewest bytes so far "   \
	"of "                                                                                      \
	"those that can open it. A folder, or a pattern in quotes, is what all machines together " \
	"have of it. A trace that cannot be read, or a rank that dies, ends the job with one "     \
	"sentence that names the rank and the trace, and nothing is half-written. "

const struct command mpi_sync = {
	.name = "sync",
	.run = sync_run,
	OPERANDS("[NAME=]TRACE...", 1, SIZE_MAX),
	.example = {
		{ "captures that lie on several machines, each read where it is", "sync '/var/tmp/web-*.pcap' /var/tmp/db.pcap -o clocks.json" },
		{ "the traces of a folder that all machines share, by a reference of your choice", "sync traces/ -r db -o clocks.json" },
		{ "then each trace in corrected time, beside where it is", "apply clocks.json '/var/tmp/web-*.pcap' /var/tmp/db.pcap -o /var/tmp/corrected/" },
	},
	.help = "compute every clock's offset and drift from traces that many ranks read",
	.more = TRACES_MORE
		"Captures, and pairs of them, are matched by all ranks; of other traces rank 0 gets "
		"parts, as `unskew part` makes them. Rank 0 solves, and what it writes is what `unskew "
		"sync` writes of the same traces, to the byte, whatever the number of ranks. --readings "
		"needs the traces themselves, and spans have no parts.",
	.group = { &options_answer, &options_method, &options_model, &options_solve, &options_delay,
		   &options_anchor, &options_log, &options_read, &options_match, &options_force,
		   &options_common },
};

const struct command mpi_check = {
	.name = "check",
	.run = check_run,
	OPERANDS("[NAME=]TRACE...", 1, SIZE_MAX),
	.example = {
		{ "how bad is it, before anything is corrected?", "check traces/" },
		{ "and after it was", "check corrected/" },
		{ "which messages were faster than the network can be, as JSON", "check traces/ --min-delay 50us --json" },
	},
	.help = "score traces that many ranks read as recorded: causality violations and delays",
	.more = TRACES_MORE "What is printed is what `unskew check` prints of the same traces.",
	.group = { &options_score, &options_delay, &options_read, &options_match, &options_common },
};

const struct command mpi_apply = {
	.name = "apply",
	.run = apply_run,
	OPERANDS("CLOCKS [NAME=]TRACE...", 2, SIZE_MAX),
	.example = {
		{ "each trace in corrected time, in a folder that all machines share", "apply clocks.json traces/ -o corrected/" },
		{ "or in a folder of the machine where it is", "apply clocks.json '/var/tmp/web-*.pcap' -o /var/tmp/corrected/" },
		{ "again, in place of what is there", "apply clocks.json traces/ -o corrected/ --force" },
	},
	.help = "re-time traces by clocks.json, each by a rank that can open it",
	.more = TRACES_MORE
		"CLOCKS is read by rank 0. Each rank re-times its own traces, as `unskew apply` does, "
		"and writes them into OUT on its machine.",
	.group = { &options_retimed, &options_read, &options_force, &options_common },
};

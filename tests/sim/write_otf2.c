/* SPDX-License-Identifier: MIT */
/*
 * write_otf2 FOLDER NAME <SCRIPT - an OTF2 archive of what a script says, by the library's own writer
 *
 * In    lines: a word and numbers. First what is defined:
 *           clock HZ | complete 0 or 1 | process ID NAME | location ID PROCESS | world LOCATION...
 *           group ID RANK... | global ID RANK... | self ID | comm ID GROUP | between ID GROUP GROUP
 *       then what each location recorded:
 *           events LOCATION | map LOCAL GLOBAL... | offset TICKS OFFSET
 *           and the rows of events[] below: a word, a stamp in ticks, what belongs to it
 * Out   FOLDER/NAME.otf2 and what lies beside it; status 1 and a sentence if a line is none of these
 * Why   tests choose stamps and orders that no program running here would record
 */
#include <inttypes.h>
#include <otf2/otf2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 4096, LOCATIONS = 256 };

struct line {
	char word[16];
	char *rest;
	uint64_t x[MOST];
	uint32_t n;
};

static struct {
	OTF2_Archive *archive;
	OTF2_GlobalDefWriter *defs;
	OTF2_DefWriter *local;
	OTF2_EvtWriter *out;
	uint64_t here;
	uint64_t location[LOCATIONS], process[LOCATIONS], count[LOCATIONS];
	uint32_t n, strings;
	uint64_t hz;
} all;

static struct line l; /* the one that is read */

static OTF2_FlushType pre_flush(void *ctx, OTF2_FileType type, OTF2_LocationRef location,
				void *caller, bool final)
{
	(void)ctx;
	(void)type;
	(void)location;
	(void)caller;
	(void) final;
	return OTF2_FLUSH;
}

/* ---- events ---------------------------------------------------------------------------------- */

#define U(i) ((uint32_t)l.x[i])

static void on_send(void)
{
	OTF2_EvtWriter_MpiSend(all.out, NULL, l.x[0], U(1), U(2), U(3), 8);
}

static void on_isend(void)
{
	OTF2_EvtWriter_MpiIsend(all.out, NULL, l.x[0], U(1), U(2), U(3), 8, l.x[4]);
}

static void on_recv(void)
{
	OTF2_EvtWriter_MpiRecv(all.out, NULL, l.x[0], U(1), U(2), U(3), 8);
}

static void on_post(void)
{
	OTF2_EvtWriter_MpiIrecvRequest(all.out, NULL, l.x[0], l.x[1]);
}

static void on_irecv(void)
{
	OTF2_EvtWriter_MpiIrecv(all.out, NULL, l.x[0], U(1), U(2), U(3), 8, l.x[4]);
}

static void on_cancel(void)
{
	OTF2_EvtWriter_MpiRequestCancelled(all.out, NULL, l.x[0], l.x[1]);
}

static void on_begin(void)
{
	OTF2_EvtWriter_MpiCollectiveBegin(all.out, NULL, l.x[0]);
}

static void on_end(void)
{
	OTF2_EvtWriter_MpiCollectiveEnd(all.out, NULL, l.x[0], (OTF2_CollectiveOp)l.x[1], U(2),
					U(3), l.x[4], l.x[5]);
}

static void on_request(void)
{
	OTF2_EvtWriter_NonBlockingCollectiveRequest(all.out, NULL, l.x[0], l.x[1]);
}

static void on_fulfil(void)
{
	OTF2_EvtWriter_NonBlockingCollectiveComplete(all.out, NULL, l.x[0],
						     (OTF2_CollectiveOp)l.x[1], U(2), U(3), l.x[4],
						     l.x[5], l.x[6]);
}

static void on_measurement(void)
{
	OTF2_EvtWriter_MeasurementOnOff(all.out, NULL, l.x[0],
					l.x[1] ? OTF2_MEASUREMENT_ON : OTF2_MEASUREMENT_OFF);
}

static const struct {
	const char *word;
	uint32_t n;
	void (*write)(void);
} events[] = {
	{ "send", 4, on_send },		  /* TICKS RECEIVER COMM TAG */
	{ "isend", 5, on_isend },	  /* ... REQUEST */
	{ "recv", 4, on_recv },		  /* TICKS SENDER COMM TAG */
	{ "post", 2, on_post },		  /* TICKS REQUEST: MPI_Irecv is called */
	{ "irecv", 5, on_irecv },	  /* TICKS SENDER COMM TAG REQUEST: it is done */
	{ "cancel", 2, on_cancel },	  /* TICKS REQUEST */
	{ "begin", 1, on_begin },	  /* TICKS */
	{ "end", 6, on_end },		  /* TICKS OPERATION COMM ROOT SENT RECEIVED */
	{ "request", 2, on_request },	  /* TICKS REQUEST: MPI_Ibarrier and the like are called */
	{ "fulfil", 7, on_fulfil },	  /* TICKS OPERATION COMM ROOT SENT RECEIVED REQUEST */
	{ "measure", 2, on_measurement }, /* TICKS 0 or 1 */
};

/* ---- definitions ----------------------------------------------------------------------------- */

static uint32_t string(const char *text)
{
	OTF2_GlobalDefWriter_WriteString(all.defs, all.strings, text);
	return all.strings++;
}

static void group(OTF2_GroupType type, OTF2_GroupFlag flag, uint64_t id, const uint64_t *member,
		  uint32_t n)
{
	OTF2_GlobalDefWriter_WriteGroup(all.defs, (OTF2_GroupRef)id, string(""), type,
					OTF2_PARADIGM_MPI, flag, n, member);
}

static void close_events(void)
{
	for (uint32_t i = 0; i < all.n && all.out; i++) {
		if (all.location[i] == all.here) {
			OTF2_EvtWriter_GetNumberOfEvents(all.out, &all.count[i]);
		}
	}
	if (all.out) {
		OTF2_Archive_CloseEvtWriter(all.archive, all.out);
		OTF2_Archive_CloseDefWriter(all.archive, all.local);
	}
	all.out = NULL;
}

static void open_events(void)
{
	close_events();
	all.here = l.x[0];
	all.out = OTF2_Archive_GetEvtWriter(all.archive, all.here);
	all.local = OTF2_Archive_GetDefWriter(all.archive, all.here);
}

static void map(void)
{
	OTF2_IdMap *m = OTF2_IdMap_Create(OTF2_ID_MAP_SPARSE, l.n / 2);
	for (uint32_t i = 0; i + 1 < l.n; i += 2) {
		OTF2_IdMap_AddIdPair(m, l.x[i], l.x[i + 1]);
	}
	OTF2_DefWriter_WriteMappingTable(all.local, OTF2_MAPPING_COMM, m);
	OTF2_IdMap_Free(m);
}

static bool define(void)
{
	const char *w = l.word;
	if (!strcmp(w, "clock") && l.n == 1) {
		all.hz = l.x[0];
	} else if (!strcmp(w, "complete") && l.n == 1) {
		OTF2_Archive_SetBoolProperty(all.archive, "OTF2::MPI_COMMUNICATION_COMPLETE",
					     l.x[0], true);
	} else if (!strcmp(w, "process") && l.n) {
		OTF2_GlobalDefWriter_WriteLocationGroup(all.defs, U(0), string(l.rest),
							OTF2_LOCATION_GROUP_TYPE_PROCESS, 0,
							OTF2_UNDEFINED_LOCATION_GROUP);
	} else if (!strcmp(w, "location") && l.n == 2 && all.n < LOCATIONS) {
		all.location[all.n] = l.x[0];
		all.process[all.n++] = l.x[1];
	} else if (!strcmp(w, "world")) {
		group(OTF2_GROUP_TYPE_COMM_LOCATIONS, OTF2_GROUP_FLAG_NONE, 0, l.x, l.n);
	} else if (!strcmp(w, "group") && l.n) {
		group(OTF2_GROUP_TYPE_COMM_GROUP, OTF2_GROUP_FLAG_NONE, l.x[0], l.x + 1, l.n - 1);
	} else if (!strcmp(w, "global") && l.n) {
		group(OTF2_GROUP_TYPE_COMM_GROUP, OTF2_GROUP_FLAG_GLOBAL_MEMBERS, l.x[0], l.x + 1,
		      l.n - 1);
	} else if (!strcmp(w, "self") && l.n == 1) {
		group(OTF2_GROUP_TYPE_COMM_SELF, OTF2_GROUP_FLAG_NONE, l.x[0], l.x, 0);
	} else if (!strcmp(w, "comm") && l.n == 2) {
		OTF2_GlobalDefWriter_WriteComm(all.defs, U(0), string(""), U(1),
					       OTF2_UNDEFINED_COMM, 0);
	} else if (!strcmp(w, "between") && l.n == 3) {
		OTF2_GlobalDefWriter_WriteInterComm(all.defs, U(0), string(""), U(1), U(2),
						    OTF2_UNDEFINED_COMM, 0);
	} else {
		return false;
	}
	return true;
}

static bool record(void)
{
	if (!strcmp(l.word, "events") && l.n == 1) {
		open_events();
		return true;
	}
	if (!strcmp(l.word, "map") && all.out) {
		map();
		return true;
	}
	if (!strcmp(l.word, "offset") && l.n == 2 && all.out) {
		OTF2_DefWriter_WriteClockOffset(all.local, l.x[0], (int64_t)l.x[1], 0);
		return true;
	}
	for (size_t i = 0; i < sizeof events / sizeof *events && all.out; i++) {
		if (!strcmp(l.word, events[i].word) && l.n == events[i].n) {
			events[i].write();
			return true;
		}
	}
	return define();
}

/* ---- lines ----------------------------------------------------------------------------------- */

/* A word, then numbers up to what is none. */
static void split(char *text)
{
	int at = 0;
	text[strcspn(text, "\n")] = 0;
	l.word[0] = 0;
	sscanf(text, "%15s%n", l.word, &at);
	l.rest = text + at;
	for (l.n = 0; l.n < MOST; l.n++) {
		char *end;
		l.rest += strspn(l.rest, " ");
		l.x[l.n] = *l.rest == '-' ? (uint64_t)strtoll(l.rest, &end, 10)
					  : strtoull(l.rest, &end, 10);
		if (end == l.rest) {
			break;
		}
		l.rest = end;
	}
}

static bool begin(const char *folder, const char *name)
{
	static const OTF2_FlushCallbacks flush = { pre_flush, NULL };
	all.archive = OTF2_Archive_Open(folder, name, OTF2_FILEMODE_WRITE, 1 << 20, 1 << 20,
					OTF2_SUBSTRATE_POSIX, OTF2_COMPRESSION_NONE);
	if (!all.archive) {
		return false;
	}
	OTF2_Archive_SetFlushCallbacks(all.archive, &flush, NULL);
	OTF2_Archive_SetSerialCollectiveCallbacks(all.archive);
	OTF2_Archive_OpenEvtFiles(all.archive);
	OTF2_Archive_OpenDefFiles(all.archive);
	all.defs = OTF2_Archive_GetGlobalDefWriter(all.archive);
	/* Strings have numbers in the order of their calls: two in one call have any. */
	uint32_t kind = string("machine");
	OTF2_GlobalDefWriter_WriteSystemTreeNode(all.defs, 0, string("node"), kind,
						 OTF2_UNDEFINED_SYSTEM_TREE_NODE);
	return true;
}

static bool end(void)
{
	close_events();
	if (all.hz) {
		OTF2_GlobalDefWriter_WriteClockProperties(all.defs, all.hz, 0, UINT64_MAX / 2,
							  OTF2_UNDEFINED_TIMESTAMP);
	}
	for (uint32_t i = 0; i < all.n; i++) {
		OTF2_GlobalDefWriter_WriteLocation(all.defs, all.location[i], string("thread"),
						   OTF2_LOCATION_TYPE_CPU_THREAD, all.count[i],
						   (OTF2_LocationGroupRef)all.process[i]);
	}
	OTF2_Archive_CloseDefFiles(all.archive);
	OTF2_Archive_CloseEvtFiles(all.archive);
	return OTF2_Archive_Close(all.archive) == OTF2_SUCCESS;
}

int main(int argc, char **argv)
{
	char *text = NULL;
	size_t room = 0;
	if (argc != 3 || !begin(argv[1], argv[2])) {
		fprintf(stderr, "write_otf2 FOLDER NAME <SCRIPT\n");
		return 2;
	}
	while (getline(&text, &room, stdin) > 0) {
		char *copy = strdup(text);
		split(text);
		if (l.word[0] && l.word[0] != '#' && !record()) {
			fprintf(stderr, "write_otf2: not a line of a script: %s", copy);
			return 1;
		}
		free(copy);
	}
	free(text);
	return !end();
}

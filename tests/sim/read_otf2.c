/* SPDX-License-Identifier: MIT */
/*
 * read_otf2 ANCHOR - messages and collectives of an OTF2 trace, a line for each event: its location, its stamp
 * as the file holds it, and as libotf2 corrects it by the trace's clock offsets.
 */
#include <inttypes.h>
#include <otf2/otf2.h>
#include <stdio.h>
#include <stdlib.h>

enum { MOST = 1 << 20, THREADS = 64 };

static struct {
	OTF2_LocationRef thread[THREADS];
	size_t n_threads;
	uint64_t stamp[MOST];
	size_t n;
} all;

static OTF2_CallbackCode on_location(void *ctx, OTF2_LocationRef self, OTF2_StringRef name,
				     OTF2_LocationType type, uint64_t events,
				     OTF2_LocationGroupRef process)
{
	(void)ctx;
	(void)name;
	(void)type;
	(void)events;
	(void)process;
	all.thread[all.n_threads++ % THREADS] = self;
	return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_send(OTF2_LocationRef location, OTF2_TimeStamp time, uint64_t position,
				 void *ctx, OTF2_AttributeList *attributes, uint32_t who,
				 OTF2_CommRef comm, uint32_t tag, uint64_t bytes)
{
	(void)location;
	(void)position;
	(void)ctx;
	(void)attributes;
	(void)who;
	(void)comm;
	(void)tag;
	(void)bytes;
	all.stamp[all.n++ % MOST] = time;
	return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_begin(OTF2_LocationRef location, OTF2_TimeStamp time, uint64_t position,
				  void *ctx, OTF2_AttributeList *attributes)
{
	return on_send(location, time, position, ctx, attributes, 0, 0, 0, 0);
}

static void must(OTF2_ErrorCode code)
{
	if (code != OTF2_SUCCESS) {
		exit(1);
	}
}

/* Stamps of a thread, from here on in all.stamp. */
static void read_thread(const char *path, OTF2_LocationRef thread, bool corrected)
{
	OTF2_Reader *reader = OTF2_Reader_Open(path);
	OTF2_EvtReaderCallbacks *call = OTF2_EvtReaderCallbacks_New();
	uint64_t n;
	if (!reader) {
		exit(1);
	}
	must(OTF2_Reader_SetSerialCollectiveCallbacks(reader));
	must(OTF2_Reader_SelectLocation(reader, thread));
	must(OTF2_Reader_OpenDefFiles(reader));
	must(OTF2_Reader_OpenEvtFiles(reader));
	OTF2_DefReader *definitions = OTF2_Reader_GetDefReader(reader, thread);
	must(OTF2_Reader_ReadAllLocalDefinitions(reader, definitions, &n));
	must(OTF2_Reader_CloseDefReader(reader, definitions));
	OTF2_EvtReaderCallbacks_SetMpiSendCallback(call, on_send);
	OTF2_EvtReaderCallbacks_SetMpiRecvCallback(call, on_send);
	OTF2_EvtReaderCallbacks_SetMpiCollectiveBeginCallback(call, on_begin);
	OTF2_EvtReader *events = OTF2_Reader_GetEvtReader(reader, thread);
	must(OTF2_EvtReader_ApplyClockOffsets(events, corrected));
	must(OTF2_Reader_RegisterEvtCallbacks(reader, events, call, NULL));
	must(OTF2_Reader_ReadAllLocalEvents(reader, events, &n));
	OTF2_Reader_CloseEvtReader(reader, events);
	OTF2_EvtReaderCallbacks_Delete(call);
	OTF2_Reader_Close(reader);
}

static void find_threads(const char *path)
{
	OTF2_Reader *reader = OTF2_Reader_Open(path);
	OTF2_GlobalDefReaderCallbacks *call = OTF2_GlobalDefReaderCallbacks_New();
	uint64_t n;
	if (!reader) {
		exit(1);
	}
	must(OTF2_Reader_SetSerialCollectiveCallbacks(reader));
	OTF2_GlobalDefReader *definitions = OTF2_Reader_GetGlobalDefReader(reader);
	OTF2_GlobalDefReaderCallbacks_SetLocationCallback(call, on_location);
	must(OTF2_Reader_RegisterGlobalDefCallbacks(reader, definitions, call, NULL));
	must(OTF2_Reader_ReadAllGlobalDefinitions(reader, definitions, &n));
	OTF2_GlobalDefReaderCallbacks_Delete(call);
	OTF2_Reader_Close(reader);
}

int main(int argc, char **argv)
{
	if (argc != 2) {
		return 2;
	}
	find_threads(argv[1]);
	for (size_t i = 0; i < all.n_threads && i < THREADS; i++) {
		all.n = 0;
		read_thread(argv[1], all.thread[i], false);
		const size_t n = all.n;
		read_thread(argv[1], all.thread[i], true);
		if (all.n != 2 * n || all.n > MOST) {
			return 1;
		}
		for (size_t k = 0; k < n; k++) {
			printf("%" PRIu64 " %" PRIu64 " %" PRIu64 "\n", all.thread[i], all.stamp[k],
			       all.stamp[n + k]);
		}
	}
	return 0;
}

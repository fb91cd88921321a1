/* SPDX-License-Identifier: MIT */
/*
 * offsets.c - local definitions of an OTF2 trace again, with other offsets of clocks
 *
 * In    the path of an anchor file; for each process the offsets of its clock
 * Out   in a folder: a file of local definitions for each thread, with the trace's mappings of numbers and
 *       these offsets
 * Why   whoever reads OTF2 by its library adds these to stamps, so events need not be written again
 * Not   recorded offsets: these files replace theirs
 *
 * This runs in a process of its own that may die (child.h): the library asserts what files claim.
 */
#include "otf/offsets.h"

#include <otf2/otf2.h>
#include <stdlib.h>
#include <string.h>

/* The library tells its callbacks more than anybody wants to know. */
#pragma GCC diagnostic ignored "-Wunused-parameter"

struct copier {
	const struct otf2_offsets *to;
	void *ctx;
	OTF2_Reader *reader;
	OTF2_Archive *archive;
	OTF2_DefWriter *writer; /* of the thread in hand */
	uint64_t taken;		/* records of it */
	bool good;
	uint64_t hz;
	struct usk_texts name; /* strings by number */
	struct process {
		uint64_t self;
		const char *name;
		size_t alike; /* so many have this name, too */
		struct otf2_offset *offset;
		size_t n;
	} * process;
	size_t n_processes, cap_processes;
	struct located {
		uint64_t self, process;
	} * thread;
	size_t n_threads, cap_threads;
};

/* ---- definitions ----------------------------------------------------------------------------- */

static OTF2_CallbackCode on_clock(void *ctx, uint64_t hz, uint64_t offset, uint64_t length,
				  uint64_t realtime)
{
	struct copier *c = ctx;
	c->hz = hz;
	return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_string(void *ctx, OTF2_StringRef self, const char *text)
{
	struct copier *c = ctx;
	usk_texts_number(&c->name, self, 0, text, strlen(text));
	return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_process(void *ctx, OTF2_LocationGroupRef self, OTF2_StringRef name,
				    OTF2_LocationGroupType type, OTF2_SystemTreeNodeRef node,
				    OTF2_LocationGroupRef creator)
{
	struct copier *c = ctx;
	const uint64_t number = usk_index_find(&c->name.by, name, 0);
	*USK_ADD(c->process, c->n_processes, c->cap_processes) = (struct process){
		.self = self,
		.name = number ? c->name.text[number - 1] : "",
	};
	return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_location(void *ctx, OTF2_LocationRef self, OTF2_StringRef name,
				     OTF2_LocationType type, uint64_t events,
				     OTF2_LocationGroupRef process)
{
	struct copier *c = ctx;
	*USK_ADD(c->thread, c->n_threads, c->cap_threads) = (struct located){ self, process };
	return OTF2_CALLBACK_SUCCESS;
}

static bool read_definitions(struct copier *c)
{
	OTF2_GlobalDefReaderCallbacks *call = OTF2_GlobalDefReaderCallbacks_New();
	OTF2_GlobalDefReader *reader = OTF2_Reader_GetGlobalDefReader(c->reader);
	uint64_t n;
	OTF2_GlobalDefReaderCallbacks_SetClockPropertiesCallback(call, on_clock);
	OTF2_GlobalDefReaderCallbacks_SetStringCallback(call, on_string);
	OTF2_GlobalDefReaderCallbacks_SetLocationGroupCallback(call, on_process);
	OTF2_GlobalDefReaderCallbacks_SetLocationCallback(call, on_location);
	return reader &&
	       OTF2_Reader_RegisterGlobalDefCallbacks(c->reader, reader, call, c) == OTF2_SUCCESS &&
	       OTF2_Reader_ReadAllGlobalDefinitions(c->reader, reader, &n) == OTF2_SUCCESS && c->hz;
}

/* What each process's clock is to be put right by; all are asked before anything is written. */
static enum usk_status ask(struct copier *c, struct usk_err *err)
{
	enum usk_status status = USK_OK;
	for (size_t i = 0; i < c->n_processes && !status; i++) {
		struct process *p = &c->process[i];
		for (size_t k = 0; k < c->n_processes; k++) {
			p->alike += k != i && !strcmp(c->process[k].name, p->name);
		}
		status = c->to->of(c->ctx, p->name, i, p->alike, c->hz, &p->offset, &p->n, err);
	}
	return status;
}

/* ---- a thread -------------------------------------------------------------------------------- */

static OTF2_CallbackCode on_mapping(void *ctx, OTF2_MappingType type, const OTF2_IdMap *map)
{
	struct copier *c = ctx;
	c->good = c->good && OTF2_DefWriter_WriteMappingTable(c->writer, type, map) == OTF2_SUCCESS;
	c->taken++;
	return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_offset(void *ctx, OTF2_TimeStamp time, int64_t offset, double deviation)
{
	struct copier *c = ctx;
	c->taken++;
	return OTF2_CALLBACK_SUCCESS;
}

static const struct process *process_of(const struct copier *c, uint64_t self)
{
	size_t i = 0;
	while (i < c->n_processes && c->process[i].self != self) {
		i++;
	}
	return i < c->n_processes ? &c->process[i] : NULL;
}

/* Its mappings; a thread without definitions of its own has none. False: something would be lost. */
static bool copy_mappings(struct copier *c, uint64_t thread, const OTF2_DefReaderCallbacks *call)
{
	OTF2_DefReader *reader = OTF2_Reader_GetDefReader(c->reader, thread);
	uint64_t n = 0;
	c->taken = 0;
	if (!reader) {
		return true;
	}
	bool read = OTF2_Reader_RegisterDefCallbacks(c->reader, reader, call, c) == OTF2_SUCCESS &&
		    OTF2_Reader_ReadAllLocalDefinitions(c->reader, reader, &n) == OTF2_SUCCESS;
	OTF2_Reader_CloseDefReader(c->reader, reader);
	return read && c->good && n == c->taken;
}

static bool write_thread(struct copier *c, const struct located *t,
			 const OTF2_DefReaderCallbacks *call)
{
	const struct process *p = process_of(c, t->process);
	c->writer = OTF2_Archive_GetDefWriter(c->archive, t->self);
	c->good = c->writer != NULL;
	bool good = c->good && copy_mappings(c, t->self, call);
	for (size_t i = 0; p && i < p->n && good; i++) {
		const struct otf2_offset *o = &p->offset[i];
		good = OTF2_DefWriter_WriteClockOffset(c->writer, o->time, o->offset,
						       o->deviation) == OTF2_SUCCESS;
	}
	return good && OTF2_Archive_CloseDefWriter(c->archive, c->writer) == OTF2_SUCCESS;
}

static OTF2_FlushType pre_flush(void *ctx, OTF2_FileType type, OTF2_LocationRef location,
				void *caller, bool final)
{
	return OTF2_FLUSH;
}

static bool open_archive(struct copier *c)
{
	static const OTF2_FlushCallbacks flush = { pre_flush, NULL };
	uint64_t events, definitions;
	OTF2_Compression compression;
	OTF2_FileSubstrate substrate;
	if (OTF2_Reader_GetChunkSize(c->reader, &events, &definitions) != OTF2_SUCCESS ||
	    OTF2_Reader_GetCompression(c->reader, &compression) != OTF2_SUCCESS ||
	    OTF2_Reader_GetFileSubstrate(c->reader, &substrate) != OTF2_SUCCESS ||
	    substrate != OTF2_SUBSTRATE_POSIX) {
		return false;
	}
	c->archive = OTF2_Archive_Open(c->to->folder, "new", OTF2_FILEMODE_WRITE, events,
				       definitions, OTF2_SUBSTRATE_POSIX, compression);
	return c->archive &&
	       OTF2_Archive_SetFlushCallbacks(c->archive, &flush, NULL) == OTF2_SUCCESS &&
	       OTF2_Archive_SetSerialCollectiveCallbacks(c->archive) == OTF2_SUCCESS &&
	       OTF2_Archive_OpenDefFiles(c->archive) == OTF2_SUCCESS;
}

static OTF2_ErrorCode on_error(void *ctx, const char *file, uint64_t line, const char *function,
			       OTF2_ErrorCode code, const char *format, va_list ap)
{
	return code;
}

enum usk_status usk_otf2_offsets(const struct otf2_offsets *to, void *ctx, struct usk_err *err)
{
	struct copier c = { .to = to, .ctx = ctx };
	OTF2_Error_RegisterCallback(on_error, NULL);
	c.reader = OTF2_Reader_Open(to->path);
	if (!c.reader || OTF2_Reader_SetSerialCollectiveCallbacks(c.reader) != OTF2_SUCCESS ||
	    !read_definitions(&c)) {
		return usk_fail(err, USK_EINPUT, 0, "libotf2 cannot read its definitions");
	}
	enum usk_status status = ask(&c, err);
	if (status) {
		return status;
	}
	if (!open_archive(&c)) {
		return usk_fail(err, USK_EIO, 0, "libotf2 cannot write definitions to %s",
				to->folder);
	}
	OTF2_DefReaderCallbacks *call = OTF2_DefReaderCallbacks_New();
	OTF2_DefReaderCallbacks_SetMappingTableCallback(call, on_mapping);
	OTF2_DefReaderCallbacks_SetClockOffsetCallback(call, on_offset);
	for (size_t i = 0; i < c.n_threads; i++) {
		OTF2_Reader_SelectLocation(c.reader, c.thread[i].self);
	}
	OTF2_Reader_OpenDefFiles(c.reader);
	for (size_t i = 0; i < c.n_threads; i++) {
		if (!write_thread(&c, &c.thread[i], call)) {
			return usk_fail(err, USK_EINPUT, 0,
					"the definitions of thread %llu are damaged, or hold more "
					"than mappings and clock offsets, which would be lost",
					(unsigned long long)c.thread[i].self);
		}
	}
	/* Without events there is no whole archive, and none is wanted. */
	return OTF2_Archive_CloseDefFiles(c.archive) == OTF2_SUCCESS
		       ? USK_OK
		       : usk_fail(err, USK_EIO, 0, "libotf2 cannot write definitions to %s",
				  to->folder);
}

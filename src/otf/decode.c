/* SPDX-License-Identifier: MIT */
/*
 * decode.c - an OTF2 trace -> items, by libotf2
 *
 * In    the path of an anchor file, beside which are a file of definitions and a folder of events
 * Out   items to a pipe: definitions, then the events of MPI of one thread after the other
 * Why   threads are read each by itself: the library's reader of all would merge them by stamps, as if
 *       they had one clock. Its offsets of clocks are estimates of whoever recorded, so they are not
 *       applied to stamps
 * Not   what events mean
 *
 * This runs in a process of its own that may die (child.h): the library asserts what files claim.
 */
#include "otf/otf.h"

#include <dirent.h>
#include <otf2/otf2.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* The library tells its callbacks more than anybody wants to know. */
#pragma GCC diagnostic ignored "-Wunused-parameter"

struct decoder {
	FILE *out;
	bool good;     /* somebody reads what is written */
	bool complete; /* it says that MPI is */
	bool numbers;  /* threads have some of their own */
	OTF2_Reader *reader;
	struct usk_texts name;
	struct thread {
		uint64_t location, process, events;
	} * thread;
	size_t n, cap;
	char said[160]; /* what the library found wrong first; "": nothing */
	bool starved;	/* it had no memory: nobody knows what was lost */
};

static OTF2_CallbackCode give(struct decoder *d, const struct otf2_item *item)
{
	d->good = d->good && fwrite(item, usk_otf2_item_size(item), 1, d->out) == 1;
	return d->good ? OTF2_CALLBACK_SUCCESS : OTF2_CALLBACK_INTERRUPT;
}

static void give_text(struct decoder *d, struct otf2_item item, const char *text)
{
	size_t n = text ? strlen(text) : 0;
	item.n = (uint8_t)(n < sizeof item.text ? n : sizeof item.text);
	if (n) {
		memcpy(item.text, text, item.n);
	}
	give(d, &item);
}

static OTF2_ErrorCode on_error(void *ctx, const char *file, uint64_t line, const char *function,
			       OTF2_ErrorCode code, const char *format, va_list ap)
{
	struct decoder *d = ctx;
	d->starved |= code == OTF2_ERROR_ENOMEM || code == OTF2_ERROR_MEM_FAULT ||
		      code == OTF2_ERROR_MEM_ALLOC_FAILED;
	if (!d->said[0] && code != OTF2_ERROR_INTERRUPTED_BY_CALLBACK) {
		char detail[100];
		vsnprintf(detail, sizeof detail, format, ap);
		snprintf(d->said, sizeof d->said, "%s%s%s", OTF2_Error_GetDescription(code),
			 *detail ? ": " : "", detail);
	}
	return code;
}

/* ---- definitions ----------------------------------------------------------------------------- */

static OTF2_CallbackCode on_clock(void *ctx, uint64_t hz, uint64_t offset, uint64_t length,
				  uint64_t realtime)
{
	return give(ctx, &(struct otf2_item){ .kind = ITEM_CLOCK, .value = hz });
}

static OTF2_CallbackCode on_string(void *ctx, OTF2_StringRef self, const char *text)
{
	struct decoder *d = ctx;
	usk_texts_number(&d->name, self, 0, text, strlen(text));
	return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_process(void *ctx, OTF2_LocationGroupRef self, OTF2_StringRef name,
				    OTF2_LocationGroupType type, OTF2_SystemTreeNodeRef node,
				    OTF2_LocationGroupRef creator)
{
	struct decoder *d = ctx;
	uint64_t number = usk_index_find(&d->name.by, name, 0);
	give_text(d, (struct otf2_item){ .kind = ITEM_PROCESS, .value = self },
		  number ? d->name.text[number - 1] : NULL);
	return d->good ? OTF2_CALLBACK_SUCCESS : OTF2_CALLBACK_INTERRUPT;
}

static OTF2_CallbackCode on_location(void *ctx, OTF2_LocationRef self, OTF2_StringRef name,
				     OTF2_LocationType type, uint64_t events,
				     OTF2_LocationGroupRef process)
{
	struct decoder *d = ctx;
	*USK_ADD(d->thread, d->n, d->cap) = (struct thread){ self, process, events };
	return give(
		d, &(struct otf2_item){ .kind = ITEM_LOCATION, .value = self, .request = process });
}

static OTF2_CallbackCode on_group(void *ctx, OTF2_GroupRef self, OTF2_StringRef name,
				  OTF2_GroupType type, OTF2_Paradigm paradigm, OTF2_GroupFlag flags,
				  uint32_t n, const uint64_t *member)
{
	struct otf2_item item = { .kind = ITEM_GROUP, .value = self };
	if (paradigm != OTF2_PARADIGM_MPI || type < OTF2_GROUP_TYPE_COMM_LOCATIONS ||
	    type > OTF2_GROUP_TYPE_COMM_SELF) {
		return OTF2_CALLBACK_SUCCESS;
	}
	item.op = type == OTF2_GROUP_TYPE_COMM_LOCATIONS ? OTF2_WORLD
		  : type == OTF2_GROUP_TYPE_COMM_GROUP	 ? OTF2_PART
							 : OTF2_SELF;
	item.flag = flags & OTF2_GROUP_FLAG_GLOBAL_MEMBERS ? OTF2_GLOBAL : 0;
	OTF2_CallbackCode code = OTF2_CALLBACK_SUCCESS;
	for (uint32_t i = 0, k; (i < n || !i) && code == OTF2_CALLBACK_SUCCESS; i += k) {
		const uint32_t most = COUNT(item.member);
		k = n - i < most ? n - i : most;
		item.n = (uint8_t)(k * sizeof *member);
		memcpy(item.member, member + i, item.n);
		code = give(ctx, &item);
		item.flag |= OTF2_MORE;
		k = k ? k : 1;
	}
	return code;
}

static OTF2_CallbackCode on_comm(void *ctx, OTF2_CommRef self, OTF2_StringRef name,
				 OTF2_GroupRef group, OTF2_CommRef parent, OTF2_CommFlag flags)
{
	return give(ctx,
		    &(struct otf2_item){
			    .kind = ITEM_COMM, .value = self, .who = group, .tag = OTF2_NOWHERE });
}

static OTF2_CallbackCode on_inter_comm(void *ctx, OTF2_CommRef self, OTF2_StringRef name,
				       OTF2_GroupRef a, OTF2_GroupRef b, OTF2_CommRef common,
				       OTF2_CommFlag flags)
{
	return give(ctx,
		    &(struct otf2_item){ .kind = ITEM_COMM, .value = self, .who = a, .tag = b });
}

static bool read_definitions(struct decoder *d)
{
	uint64_t n;
	OTF2_GlobalDefReader *reader = OTF2_Reader_GetGlobalDefReader(d->reader);
	OTF2_GlobalDefReaderCallbacks *call = OTF2_GlobalDefReaderCallbacks_New();
	OTF2_GlobalDefReaderCallbacks_SetClockPropertiesCallback(call, on_clock);
	OTF2_GlobalDefReaderCallbacks_SetStringCallback(call, on_string);
	OTF2_GlobalDefReaderCallbacks_SetLocationGroupCallback(call, on_process);
	OTF2_GlobalDefReaderCallbacks_SetLocationCallback(call, on_location);
	OTF2_GlobalDefReaderCallbacks_SetGroupCallback(call, on_group);
	OTF2_GlobalDefReaderCallbacks_SetCommCallback(call, on_comm);
	OTF2_GlobalDefReaderCallbacks_SetInterCommCallback(call, on_inter_comm);
	return reader &&
	       OTF2_Reader_RegisterGlobalDefCallbacks(d->reader, reader, call, d) == OTF2_SUCCESS &&
	       OTF2_Reader_ReadAllGlobalDefinitions(d->reader, reader, &n) == OTF2_SUCCESS;
}

/* ---- events ---------------------------------------------------------------------------------- */

#define EVENT                                                                                      \
	OTF2_LocationRef location, OTF2_TimeStamp time, uint64_t position, void *ctx,              \
		OTF2_AttributeList *attributes

static OTF2_CallbackCode event(EVENT, struct otf2_item item)
{
	item.value = time;
	return give(ctx, &item);
}

static OTF2_CallbackCode on_send(EVENT, uint32_t receiver, OTF2_CommRef comm, uint32_t tag,
				 uint64_t bytes)
{
	return event(
		location, time, position, ctx, attributes,
		(struct otf2_item){ .kind = ITEM_SEND, .comm = comm, .who = receiver, .tag = tag });
}

static OTF2_CallbackCode on_isend(EVENT, uint32_t receiver, OTF2_CommRef comm, uint32_t tag,
				  uint64_t bytes, uint64_t request)
{
	return on_send(location, time, position, ctx, attributes, receiver, comm, tag, bytes);
}

static OTF2_CallbackCode on_receive(EVENT, uint32_t sender, OTF2_CommRef comm, uint32_t tag,
				    uint64_t bytes)
{
	return event(location, time, position, ctx, attributes,
		     (struct otf2_item){
			     .kind = ITEM_RECEIVE, .comm = comm, .who = sender, .tag = tag });
}

static OTF2_CallbackCode on_post(EVENT, uint64_t request)
{
	return event(location, time, position, ctx, attributes,
		     (struct otf2_item){ .kind = ITEM_POST, .request = request });
}

static OTF2_CallbackCode on_complete(EVENT, uint32_t sender, OTF2_CommRef comm, uint32_t tag,
				     uint64_t bytes, uint64_t request)
{
	return event(location, time, position, ctx, attributes,
		     (struct otf2_item){ .kind = ITEM_COMPLETE,
					 .request = request,
					 .comm = comm,
					 .who = sender,
					 .tag = tag });
}

static OTF2_CallbackCode on_cancel(EVENT, uint64_t request)
{
	return event(location, time, position, ctx, attributes,
		     (struct otf2_item){ .kind = ITEM_CANCEL, .request = request });
}

static OTF2_CallbackCode on_begin(EVENT)
{
	return event(location, time, position, ctx, attributes,
		     (struct otf2_item){ .kind = ITEM_BEGIN });
}

static struct otf2_item collective(enum otf2_kind kind, OTF2_CollectiveOp op, OTF2_CommRef comm,
				   uint32_t root, uint64_t sent, uint64_t received)
{
	return (struct otf2_item){ .kind = (uint8_t)kind,
				   .op = op < OTF2_OPERATIONS ? (uint8_t)op : OTF2_OPERATIONS - 1,
				   .comm = comm,
				   .who = root,
				   .flag = (uint8_t)((sent ? OTF2_SENT_BYTES : 0) |
						     (received ? OTF2_RECEIVED_BYTES : 0)) };
}

static OTF2_CallbackCode on_finish(EVENT, OTF2_CollectiveOp op, OTF2_CommRef comm, uint32_t root,
				   uint64_t sent, uint64_t received)
{
	return event(location, time, position, ctx, attributes,
		     collective(ITEM_FINISH, op, comm, root, sent, received));
}

static OTF2_CallbackCode on_request(EVENT, uint64_t request)
{
	return event(location, time, position, ctx, attributes,
		     (struct otf2_item){ .kind = ITEM_REQUEST, .request = request });
}

static OTF2_CallbackCode on_fulfil(EVENT, OTF2_CollectiveOp op, OTF2_CommRef comm, uint32_t root,
				   uint64_t sent, uint64_t received, uint64_t request)
{
	struct otf2_item item = collective(ITEM_FULFIL, op, comm, root, sent, received);
	item.request = request;
	return event(location, time, position, ctx, attributes, item);
}

/* Where a trace says that MPI is complete all the same, it was recorded while this was off. */
static OTF2_CallbackCode on_measurement(EVENT, OTF2_MeasurementMode mode)
{
	struct decoder *d = ctx;
	return mode == OTF2_MEASUREMENT_ON || d->complete
		       ? OTF2_CALLBACK_SUCCESS
		       : event(location, time, position, ctx, attributes,
			       (struct otf2_item){ .kind = ITEM_OFF });
}

static OTF2_EvtReaderCallbacks *calls(void)
{
	OTF2_EvtReaderCallbacks *call = OTF2_EvtReaderCallbacks_New();
	OTF2_EvtReaderCallbacks_SetMpiSendCallback(call, on_send);
	OTF2_EvtReaderCallbacks_SetMpiIsendCallback(call, on_isend);
	OTF2_EvtReaderCallbacks_SetMpiRecvCallback(call, on_receive);
	OTF2_EvtReaderCallbacks_SetMpiIrecvRequestCallback(call, on_post);
	OTF2_EvtReaderCallbacks_SetMpiIrecvCallback(call, on_complete);
	OTF2_EvtReaderCallbacks_SetMpiRequestCancelledCallback(call, on_cancel);
	OTF2_EvtReaderCallbacks_SetMpiCollectiveBeginCallback(call, on_begin);
	OTF2_EvtReaderCallbacks_SetMpiCollectiveEndCallback(call, on_finish);
	OTF2_EvtReaderCallbacks_SetNonBlockingCollectiveRequestCallback(call, on_request);
	OTF2_EvtReaderCallbacks_SetNonBlockingCollectiveCompleteCallback(call, on_fulfil);
	OTF2_EvtReaderCallbacks_SetMeasurementOnOffCallback(call, on_measurement);
	return call;
}

/* Local definitions say which numbers of this file are which of the trace. */
static bool read_numbers(struct decoder *d, uint64_t location)
{
	uint64_t n;
	OTF2_DefReader *reader = d->numbers ? OTF2_Reader_GetDefReader(d->reader, location) : NULL;
	if (!reader) {
		return !d->numbers;
	}
	bool good = OTF2_Reader_ReadAllLocalDefinitions(d->reader, reader, &n) == OTF2_SUCCESS;
	OTF2_Reader_CloseDefReader(d->reader, reader);
	return good;
}

static void read_thread(struct decoder *d, const struct thread *t,
			const OTF2_EvtReaderCallbacks *call)
{
	struct otf2_item over = { .kind = ITEM_OVER, .value = t->location };
	uint64_t n = 0;
	d->said[0] = 0;
	bool good = read_numbers(d, t->location);
	OTF2_EvtReader *reader = good ? OTF2_Reader_GetEvtReader(d->reader, t->location) : NULL;
	if (reader) {
		OTF2_EvtReader_ApplyClockOffsets(reader, false);
		good = OTF2_Reader_RegisterEvtCallbacks(d->reader, reader, call, d) ==
			       OTF2_SUCCESS &&
		       OTF2_Reader_ReadAllLocalEvents(d->reader, reader, &n) == OTF2_SUCCESS;
		OTF2_Reader_CloseEvtReader(d->reader, reader);
	}
	/* EZTrace declares fewer than there are; of none there may be no file. */
	if ((reader && good && n >= t->events) || !(n + t->events)) {
		give(d, &over);
		return;
	}
	if (d->starved) {
		return;
	}
	char text[240];
	snprintf(text, sizeof text,
		 "ends after %llu of %llu events, and what follows is lost%s%s%s",
		 (unsigned long long)n, (unsigned long long)t->events,
		 *d->said ? " (libotf2: " : "", d->said, *d->said ? ")" : "");
	give_text(d, over, text);
}

static void read_events(struct decoder *d)
{
	OTF2_EvtReaderCallbacks *call = calls();
	for (size_t i = 0; i < d->n; i++) {
		OTF2_Reader_SelectLocation(d->reader, d->thread[i].location);
	}
	OTF2_Reader_OpenDefFiles(d->reader);
	OTF2_Reader_OpenEvtFiles(d->reader);
	usk_sort(d->thread, d->n, sizeof *d->thread,
		 KEYS(BY(thread, process), BY(thread, location)));
	for (size_t i = 0; i < d->n && d->good && !d->starved; i++) {
		const struct thread *t = &d->thread[i];
		give(d, &(struct otf2_item){ .kind = ITEM_READ, .value = t->location });
		read_thread(d, t, call);
	}
}

/* Of a trace whose threads all number as it does, their local definitions may be left out. */
static bool has_numbers(const char *path)
{
	static const char suffix[] = ".def";
	bool any = false;
	char *folder = usk_format("%.*s", (int)(strrchr(path, '.') - path), path);
	DIR *in = opendir(folder);
	for (const struct dirent *e; in && (e = readdir(in)) != NULL;) {
		const char *end = strrchr(e->d_name, '.');
		any |= end && !strcmp(end, suffix);
	}
	if (in) {
		closedir(in);
	}
	free(folder);
	return any;
}

static bool open_trace(struct decoder *d, const char *path)
{
	bool says = false;
	d->reader = OTF2_Reader_Open(path);
	if (!d->reader || OTF2_Reader_SetSerialCollectiveCallbacks(d->reader) != OTF2_SUCCESS) {
		return false;
	}
	char said[sizeof d->said];
	memcpy(said, d->said, sizeof said);
	if (OTF2_Reader_GetBoolProperty(d->reader, "OTF2::MPI_COMMUNICATION_COMPLETE", &says) ==
	    OTF2_SUCCESS) {
		d->complete = says;
		if (!says) {
			give(d, &(struct otf2_item){ .kind = ITEM_INCOMPLETE });
		}
	} else { /* that it says nothing is no error */
		memcpy(d->said, said, sizeof said);
	}
	return true;
}

void usk_otf2_decode(const char *path, FILE *out)
{
	struct decoder d = { .out = out, .good = true };
	OTF2_Error_RegisterCallback(on_error, &d);
	if (!open_trace(&d, path) || !read_definitions(&d)) {
		give_text(&d, (struct otf2_item){ .kind = ITEM_END },
			  *d.said ? d.said : "its definitions cannot be read");
		return;
	}
	give(&d, &(struct otf2_item){ .kind = ITEM_READY });
	d.numbers = has_numbers(path);
	read_events(&d);
	give_text(&d, (struct otf2_item){ .kind = ITEM_END }, d.starved ? d.said : NULL);
	/* Everything else goes with the process. */
}

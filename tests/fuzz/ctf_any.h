/* SPDX-License-Identifier: MIT */
/*
 * ctf_any.h - events of many shapes, whose fields are filled from an input
 *
 * In    random numbers for shapes, a byte after the other for values
 * Out   classes of events that are mostly what tracers write, fields of libbabeltrace2
 * Why   what is ours begins behind libbabeltrace2: it needs no files, and no processes of its own
 */
#ifndef FUZZ_CTF_ANY_H
#define FUZZ_CTF_ANY_H

#include "base/base.h"

#include <babeltrace2/babeltrace.h>

enum { ANY_NAMES = 42 };

/** What events may have as members. */
extern const char *const any_names[ANY_NAMES];

/** What the following are made of, borrowed; zeros behind its end. */
void any_input(const uint8_t *data, size_t size);
size_t any_left(void);
uint64_t any_byte(void);
/** Small ones come often: they are versions, protocols, lengths. */
uint64_t any_number(void);

/** n classes of events in c, which gets a context of them all. class[n] live as long as c. */
void any_classes(bt_trace_class *t, bt_stream_class *c, struct usk_rng *rng, bt_event_class **class,
		 size_t n);
void any_fill(bt_field *f);
/** The payload and the context of an event of any_classes(). */
void any_fill_event(bt_message *event);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * heard.h - packets between a client and a server, and what a listener reads in them
 *
 * Each is heard twice: what lies in memory behind a packet that was cut changes nothing.
 */
#ifndef USK_TESTS_HEARD_H
#define USK_TESTS_HEARD_H

#include "protocol/protocol.h"

#include "making.h"

#define SECOND INT64_C(1000000000)
#define MS     INT64_C(1000000)
#define NOW    (1700000000 * SECOND)

/* What was read in the last packet. */
extern const struct usk_reading *got;
extern size_t n_got;
/* Of what is heard next: who saw it, and what follows in its frame. */
extern enum usk_side side;
extern const char *padding;

/* Anew, for these. */
void listen_for(const char *protocols);
/* For the end of a group of tests. */
int stop_listening(void **state);
/* As much of it as cut leaves. */
void hear_frame(const struct bytes *b, size_t cut, struct usk_record r, uint16_t link);
void hear_cut(bool answer, uint8_t proto, uint16_t client_port, uint16_t server_port,
	      const struct bytes *payload, int64_t ns, size_t cut);
void hear(bool answer, uint8_t proto, uint16_t client_port, uint16_t server_port,
	  const struct bytes *payload, int64_t ns);
void expect_reading(size_t i, bool told, int64_t our_ns, int64_t clock_ns);

#endif

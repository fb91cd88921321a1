/* SPDX-License-Identifier: MIT */
/* bt_write.h - a CTF trace written anew by libbabeltrace2, with corrected stamps */
#ifndef USK_BT_WRITE_H
#define USK_BT_WRITE_H

#include "base/base.h"

/**
 * The trace in folder `from` into folder `to`, which is there and empty: each event with the stamp
 * that the clock's correction gives it, or as recorded (USK_NO_CLOCK).
 */
enum usk_status usk_bt_write(const char *from, const char *to, const struct usk_clocks *c,
			     uint32_t clock, struct usk_err *err);

/** Does babeltrace2 by itself show this trace, all of it in order? */
bool usk_bt_orders(const char *folder);

#endif

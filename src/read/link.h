/* SPDX-License-Identifier: MIT */
/* link.h - inside of the reading stage: what stands before an IP packet on a link */
#ifndef USK_LINK_H
#define USK_LINK_H

#include "read/read.h"

enum {
	LINK_ETHERNET = 1,

	ETHER_IPV4 = 0x0800,
	ETHER_IPV6 = 0x86dd,
};

/** Where the IP packet of n bytes of a frame begins, *left of them; NULL: it holds none, or more is
 * missing. *side stays where the link does not tell who sent it. */
const uint8_t *usk_link_strip(const uint8_t *d, size_t n, uint16_t link, size_t *left,
			      uint8_t *side);
const uint8_t *usk_link_strip_ethernet(const uint8_t *d, size_t n, size_t *left);
/** To all or to many: broadcasts of a subnet do not show it in their address. */
bool usk_link_to_group(const uint8_t *d, size_t n, uint16_t link);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * addr.c - IP addresses as text
 */
#include "base/bytes.h"
#include "read/ip.h"

#include <arpa/inet.h>

void usk_addr_text(struct usk_addr a, char out[46])
{
	uint8_t b[16];
	for (int i = 0; i < 8; i++) {
		b[i] = (uint8_t)(a.hi >> (56 - 8 * i));
		b[8 + i] = (uint8_t)(a.lo >> (56 - 8 * i));
	}
	bool v4 = a.hi == 0 && a.lo >> 32 == 0xffff;
	inet_ntop(v4 ? AF_INET : AF_INET6, v4 ? b + 12 : b, out, 46);
}

bool usk_addr_parse(const char *text, struct usk_addr *out)
{
	uint8_t b[16];
	if (inet_pton(AF_INET, text, b) == 1) {
		*out = (struct usk_addr){ 0, USK_V4_MAPPED | usk_be32(b) };
		return true;
	}
	if (inet_pton(AF_INET6, text, b) == 1) {
		*out = (struct usk_addr){ usk_be64(b), usk_be64(b + 8) };
		return true;
	}
	return false;
}

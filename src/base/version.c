/* SPDX-License-Identifier: MIT */
#include "unskew.h"

#include <jansson.h>
#ifdef USK_HAVE_LIBPCAP
#include <pcap/pcap.h>
#endif

#include <stdio.h>
#include <string.h>

const char *usk_version(void)
{
	return USK_VERSION;
}

const char *usk_features(void)
{
	static _Thread_local char text[128];
#ifdef USK_HAVE_LIBPCAP
	/* "libpcap version 1.10.3 (with TPACKET_V3)" */
	const char *version = strstr(pcap_lib_version(), "version ");
	version = version ? version + strlen("version ") : "";
	snprintf(text, sizeof text, "libpcap %.*s, jansson %s", (int)strcspn(version, " ("),
		 version, jansson_version_str());
#else
	snprintf(text, sizeof text, "jansson %s (without libpcap)", jansson_version_str());
#endif
	return text;
}

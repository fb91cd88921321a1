/* SPDX-License-Identifier: MIT */
#include "unskew.h"
#include "num/lp.h"

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
	static _Thread_local char text[160];
	const char *solver = usk_lp_solver();
	int n = snprintf(text, sizeof text, "jansson %s", jansson_version_str());
#ifdef USK_HAVE_LIBPCAP
	/* "libpcap version 1.10.3 (with TPACKET_V3)" */
	const char *version = strstr(pcap_lib_version(), "version ");
	version = version ? version + strlen("version ") : "";
	n += snprintf(text + n, sizeof text - (size_t)n, ", libpcap %.*s",
		      (int)strcspn(version, " ("), version);
#else
	n += snprintf(text + n, sizeof text - (size_t)n, " (without libpcap)");
#endif
	snprintf(text + n, sizeof text - (size_t)n, "%s%s", solver ? ", " : " (without CLP)",
		 solver ? solver : "");
	return text;
}

/* SPDX-License-Identifier: MIT */
#include "unskew.h"
#include "num/lp.h"
#include "report/page.h"

#include <jansson.h>
#ifdef USK_HAVE_BABELTRACE2
#include <babeltrace2/babeltrace.h>
#endif
#ifdef USK_HAVE_LIBPCAP
#include <pcap/pcap.h>
#endif
#ifdef USK_HAVE_SODIUM
#include <sodium.h>
#endif

#ifdef USK_HAVE_ZLIB
#include <zlib.h>
#endif
#ifdef USK_HAVE_ZSTD
#include <zstd.h>
#endif

#include <stdio.h>
#include <string.h>

const char *usk_version(void)
{
	return USK_VERSION;
}

static void add(char *text, size_t room, const char *name, const char *version, const char *end)
{
	size_t n = strlen(text);
	snprintf(text + n, room - n, "%s%s%s%.*s", n ? ", " : "", name, version ? " " : "",
		 version ? (int)strcspn(version, end) : 0, version ? version : "");
}

const char *usk_features(void)
{
	static _Thread_local char text[320];
	char without[160] = "";
	*text = 0;
	add(text, sizeof text, "jansson", jansson_version_str(), " ");
#ifdef USK_HAVE_LIBPCAP
	/* "libpcap version 1.10.3 (with TPACKET_V3)" */
	const char *version = strstr(pcap_lib_version(), "version ");
	add(text, sizeof text, "libpcap", version ? version + strlen("version ") : NULL, " (");
#else
	add(without, sizeof without, "libpcap", NULL, "");
#endif
	const char *solver = usk_lp_solver();
	add(solver ? text : without, solver ? sizeof text : sizeof without, solver ? solver : "CLP",
	    NULL, "");
#ifdef USK_HAVE_BABELTRACE2
	char babeltrace2[32];
	snprintf(babeltrace2, sizeof babeltrace2, "%u.%u.%u", bt_version_get_major(),
		 bt_version_get_minor(), bt_version_get_patch());
	add(text, sizeof text, "babeltrace2", babeltrace2, " ");
#else
	add(without, sizeof without, "babeltrace2", NULL, "");
#endif
	bool page = usk_page_built_size > 0;
	add(page ? text : without, page ? sizeof text : sizeof without, "page of reports", NULL,
	    "");
#ifdef USK_HAVE_PPDEV
	add(text, sizeof text, "parallel ports", NULL, "");
#else
	add(without, sizeof without, "parallel ports", NULL, "");
#endif
#ifdef USK_HAVE_SODIUM
	add(text, sizeof text, "libsodium", sodium_version_string(), " ");
#else
	add(without, sizeof without, "libsodium", NULL, "");
#endif
#ifdef USK_HAVE_ZLIB
	add(text, sizeof text, "zlib", zlibVersion(), " ");
#else
	add(without, sizeof without, "zlib", NULL, "");
#endif
#ifdef USK_HAVE_ZSTD
	add(text, sizeof text, "zstd", ZSTD_versionString(), " ");
#else
	add(without, sizeof without, "zstd", NULL, "");
#endif
	if (*without) {
		size_t n = strlen(text);
		snprintf(text + n, sizeof text - n, " (without %s)", without);
	}
	return text;
}

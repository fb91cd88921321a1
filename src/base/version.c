/* SPDX-License-Identifier: MIT */
#include "unskew.h"
#include "base/base.h"
#include "num/lp.h"
#include "report/page.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>

/* What is not built in has no version. */
#ifdef USK_HAVE_BABELTRACE2
#include <babeltrace2/babeltrace.h>
#endif
#ifdef USK_HAVE_LIBPCAP
#include <pcap/pcap.h>
#else
#define pcap_lib_version() NULL
#endif
#ifdef USK_HAVE_SODIUM
#include <sodium.h>
#else
#define sodium_version_string() NULL
#endif
#ifdef USK_HAVE_YAJL
#include <yajl/yajl_version.h>
#endif
#ifdef USK_HAVE_OTF2
#include <otf2/otf2.h>
#endif
#ifdef USK_HAVE_PPDEV
#define PORTS ""
#else
#define PORTS NULL
#endif

const char *usk_version(void)
{
	return USK_VERSION;
}

const char *usk_features(void)
{
	static _Thread_local char text[480];
	const char *solver = usk_lp_solver(), *pcap = pcap_lib_version(), *babeltrace2 = NULL;
	/* "libpcap version 1.10.3 (with TPACKET_V3)" */
	const char *version = pcap ? strstr(pcap, "version ") : NULL;
#ifdef USK_HAVE_BABELTRACE2
	char numbers[32];
	snprintf(numbers, sizeof numbers, "%u.%u.%u", bt_version_get_major(),
		 bt_version_get_minor(), bt_version_get_patch());
	babeltrace2 = numbers;
#endif
	char yajl[16] = "";
#ifdef USK_HAVE_YAJL
	int number = yajl_version();
	snprintf(yajl, sizeof yajl, "%d.%d.%d", number / 10000, number / 100 % 100, number % 100);
#endif
	const char *otf2 = NULL;
#ifdef USK_HAVE_OTF2
	otf2 = OTF2_VERSION;
#endif
	const char *tracecmd = NULL;
#ifdef USK_HAVE_TRACECMD
	tracecmd = USK_HAVE_TRACECMD;
#endif
	const struct {
		const char *name, *version;
	} row[] = {
		{ "jansson", jansson_version_str() },
		{ "libpcap", version ? version + strlen("version ")
			     : pcap  ? ""
				     : NULL },
		{ solver ? solver : "CLP", solver ? "" : NULL },
		{ "babeltrace2", babeltrace2 },
		{ "otf2", otf2 },
		{ "libtracecmd", tracecmd },
		{ "page of reports", usk_page_built_size > 0 ? "" : NULL },
		{ "parallel ports", PORTS },
		{ "libsodium", sodium_version_string() },
		{ "yajl", *yajl ? yajl : NULL },
		{ "zlib", zlibVersion() },
		{ "zstd", ZSTD_versionString() },
	};
	char list[2][240] = { "", "" };
	for (size_t i = 0; i < COUNT(row); i++) {
		char *to = list[!row[i].version];
		const char *v = row[i].version ? row[i].version : "";
		size_t n = strlen(to);
		snprintf(to + n, sizeof list[0] - n, "%s%s%s%.*s", n ? ", " : "", row[i].name,
			 *v ? " " : "", (int)strcspn(v, " ("), v);
	}
	snprintf(text, sizeof text, *list[1] ? "%s (without %s)" : "%s", list[0], list[1]);
	return text;
}

/* SPDX-License-Identifier: MIT */
#include "preload.h"

#include <errno.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int ap_preload_find(char path[PATH_MAX])
{
	static const char *const places[] = {"liballocprof.so", "../lib/liballocprof.so.0",
		"../lib/x86_64-linux-gnu/liballocprof.so.0"};
	char self[PATH_MAX];
	ssize_t length = readlink("/proc/self/exe", self, sizeof(self) - 1);
	const char *folder;

	self[length > 0 ? length : 0] = '\0';
	folder = dirname(self);
	for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++) {
		char candidate[PATH_MAX + 64];

		snprintf(candidate, sizeof(candidate), "%s/%s", folder, places[i]);
		if (realpath(candidate, path))
			return 0;
	}
	return -ENOENT;
}

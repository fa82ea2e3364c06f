// SPDX-License-Identifier: MIT
#include "own_file.h"

#include <errno.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int ap_own_file_find(char path[PATH_MAX], const char *const *places, size_t count)
{
	char self[PATH_MAX];
	ssize_t length = readlink("/proc/self/exe", self, sizeof(self) - 1);
	const char *folder;

	if (length < 0)
		return -errno;
	self[length] = '\0';
	folder = dirname(self);
	for (size_t i = 0; i < count; i++) {
		char candidate[PATH_MAX + 64];

		snprintf(candidate, sizeof(candidate), "%s/%s", folder, places[i]);
		if (realpath(candidate, path))
			return 0;
	}
	return -ENOENT;
}

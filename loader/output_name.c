// SPDX-License-Identifier: MIT
#include "output_name.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "clock.h"

const char *ap_output_name_check(const char *path)
{
	while ((path = strchr(path, '%'))) {
		if (!path[1] || !strchr("npt%", path[1]))
			return path;
		path += 2;
	}
	return NULL;
}

static void name_write(FILE *out, const char *name)
{
	for (size_t i = 0; name[i]; i++) {
		char c = name[i];
		bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
			     (c >= '0' && c <= '9') || c == '-' || c == '_' || (c == '.' && i);

		fputc(plain ? c : '_', out);
	}
}

char *ap_output_name_fill(const char *path, const char *name, pid_t pid, int64_t time_ns)
{
	time_t seconds = time_ns / AP_SECOND_NS;
	char *filled = NULL, moment[32] = "";
	struct tm parts;
	size_t size;
	FILE *out = open_memstream(&filled, &size);

	if (!out)
		return NULL;
	if (gmtime_r(&seconds, &parts))
		strftime(moment, sizeof(moment), "%Y%m%dT%H%M%SZ", &parts);
	for (; *path; path++) {
		if (*path != '%' || !path[1]) {
			fputc(*path, out);
			continue;
		}
		switch (*++path) {
		case 'n':
			name_write(out, name);
			break;
		case 'p':
			fprintf(out, "%d", pid);
			break;
		case 't':
			fputs(moment, out);
			break;
		default:
			fputc(*path, out);
		}
	}
	if (!fclose(out))
		return filled;
	free(filled);
	return NULL;
}

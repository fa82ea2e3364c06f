// SPDX-License-Identifier: MIT
#include "container.h"

#include <stdio.h>
#include <string.h>

#define ID_DIGITS 64

char *ap_container_parse(char out[AP_CONTAINER_TEXT], const char *cgroup)
{
	out[0] = '\0';
	while (*cgroup) {
		size_t digits = strspn(cgroup, "0123456789abcdef");

		if (digits == ID_DIGITS)
			snprintf(out, AP_CONTAINER_TEXT, "%.*s", AP_CONTAINER_TEXT - 1, cgroup);
		cgroup += digits ? digits : 1;
	}
	return out;
}

char *ap_container_of(char out[AP_CONTAINER_TEXT], pid_t pid)
{
	char path[64], text[4096];
	size_t length;
	FILE *file;

	out[0] = '\0';
	snprintf(path, sizeof(path), "/proc/%d/cgroup", pid);
	file = fopen(path, "re");
	if (!file)
		return out;
	length = fread(text, 1, sizeof(text) - 1, file);
	fclose(file);
	text[length] = '\0';
	return ap_container_parse(out, text);
}

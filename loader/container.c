// SPDX-License-Identifier: MIT
#include "container.h"

#include <stdio.h>
#include <string.h>

#include "proc.h"

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
	char text[4096];

	ap_proc_read(pid, "cgroup", text, sizeof(text));
	return ap_container_parse(out, text);
}

// SPDX-License-Identifier: MIT
/* The parser of maps files, on arbitrary lines: the names of files are the target's choice. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "mapping.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	/* As getline() gives it. */
	char *line = malloc(size + 1);
	struct ap_maps_line parsed;

	if (!line)
		return 0;
	memcpy(line, data, size);
	line[size] = '\0';
	if (!ap_maps_line_parse(line, &parsed)) {
		if (parsed.start >= parsed.end || parsed.path < line || parsed.path > line + size ||
			strchr(parsed.path, '\n'))
			abort();
	}
	free(line);
	return 0;
}

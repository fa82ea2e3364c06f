// SPDX-License-Identifier: MIT
/* The reader of probes, on an arbitrary file, and the parser of notes, on an arbitrary one. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "usdt.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void note_check(const uint8_t *data, size_t size)
{
	/* A copy of exact size, so that AddressSanitizer sees reads beyond it. */
	char *bytes = malloc(size);
	struct ap_usdt_note note;
	size_t length;

	if (!bytes)
		return;
	memcpy(bytes, data, size);
	if (!ap_usdt_note_parse(bytes, size, &note)) {
		length = strlen(note.provider) + strlen(note.name) + strlen(note.arguments) + 3;
		if (length + 24 > size)
			abort();
	}
	free(bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int fd = memfd_create("fuzz", MFD_CLOEXEC);
	struct ap_usdt usdt;

	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	if (!ap_usdt_read(fd, &usdt)) {
		if (!usdt.count || usdt.count > AP_USDT_SITES)
			abort();
		for (size_t i = 0; i < usdt.count; i++)
			if (!usdt.site[i].offset)
				abort();
	}
	close(fd);
	if (size)
		note_check(data, size);
	return 0;
}

// SPDX-License-Identifier: MIT
/*
 * The reader of perf-PID.map files, on arbitrary ones. The first eight bytes are an address that is
 * looked up.
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "jit.h"

#define PID  4127
#define NAME "perf-4127.map"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char folder[] = "/tmp/allocprof-fuzz-XXXXXX";
static int folder_fd = -1;

static void folder_remove(void)
{
	unlinkat(folder_fd, NAME, 0);
	rmdir(folder);
}

static void map_write(const uint8_t *data, size_t size)
{
	int fd;

	if (folder_fd < 0) {
		if (!mkdtemp(folder))
			abort();
		folder_fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		atexit(folder_remove);
	}
	fd = openat(folder_fd, NAME, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	close(fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct ap_jit jit = AP_JIT_NONE;
	struct ap_jit_place place;
	uint64_t address;

	if (size < sizeof(address))
		return 0;
	memcpy(&address, data, sizeof(address));
	map_write(data + sizeof(address), size - sizeof(address));
	jit.folder = dup(folder_fd);
	jit.pid = PID;
	jit.user = geteuid();
	if (ap_jit_read_map(&jit))
		abort();
	if (jit.map.count > size)
		abort();
	/* The code that was added last is the one that is found. */
	for (uint32_t i = 0; i < jit.map.count; i++)
		if (!ap_jit_code_find(&jit.map, jit.map.symbols[i].start))
			abort();
	if (ap_jit_find(&jit, address, &place) && strlen(place.name) > size)
		abort();
	ap_jit_clear(&jit);
	return 0;
}

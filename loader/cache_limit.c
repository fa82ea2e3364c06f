// SPDX-License-Identifier: MIT
#include "cache_limit.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "table.h"

#define DAY_SECONDS 86400

struct entry {
	char *name;
	uint64_t bytes;
	struct timespec used;
};

struct listing {
	struct entry *entries;
	uint32_t count, room;
	uint64_t bytes;
};

void ap_cache_limit_touch(int fd, const struct stat *status)
{
	if (time(NULL) - status->st_mtime > DAY_SECONDS)
		futimens(fd, NULL);
}

static void entry_add(struct listing *listing, int folder, const char *name)
{
	struct stat status;
	char *copy;

	if (fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) || !S_ISREG(status.st_mode))
		return;
	copy = strdup(name);
	if (!copy || ap_array_grow((void **)&listing->entries, listing->count, &listing->room,
			     sizeof(*listing->entries))) {
		free(copy);
		return;
	}
	listing->entries[listing->count++] = (struct entry){
		.name = copy,
		.bytes = (uint64_t)status.st_blocks * 512,
		.used = status.st_mtim,
	};
	listing->bytes += (uint64_t)status.st_blocks * 512;
}

static int entry_compare(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;

	if (x->used.tv_sec != y->used.tv_sec)
		return x->used.tv_sec < y->used.tv_sec ? -1 : 1;
	return x->used.tv_nsec < y->used.tv_nsec ? -1 : x->used.tv_nsec > y->used.tv_nsec;
}

void ap_cache_limit_keep(int folder, uint64_t bytes)
{
	int fd = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *reading = fd < 0 ? NULL : fdopendir(fd);
	struct listing listing = {0};
	const struct dirent *found;

	if (!reading) {
		if (fd >= 0)
			close(fd);
		return;
	}
	while ((found = readdir(reading)))
		entry_add(&listing, folder, found->d_name);
	closedir(reading);
	if (listing.bytes > bytes)
		qsort(listing.entries, listing.count, sizeof(*listing.entries), entry_compare);
	for (uint32_t i = 0; i < listing.count; i++) {
		if (listing.bytes > bytes && !unlinkat(folder, listing.entries[i].name, 0))
			listing.bytes -= listing.entries[i].bytes;
		free(listing.entries[i].name);
	}
	free(listing.entries);
}

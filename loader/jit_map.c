// SPDX-License-Identifier: MIT
#include "jit_map.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "error.h"

/* node's have some MB. What is beyond has no names. */
#define FILE_MAX (64U << 20)

/* Code that was thrown away leaves its line: so many are looked at for an address. */
#define OVERLAPS_MAX 64

/* The process's number in its own namespace: the last one of NSpid. */
static pid_t pid_inside(pid_t pid)
{
	char path[64], *line = NULL, *last;
	pid_t inside = pid;
	size_t room = 0;
	FILE *status;

	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	status = fopen(path, "re");
	if (!status)
		return pid;
	while (getline(&line, &room, status) > 0) {
		if (strncmp(line, "NSpid:", 6))
			continue;
		last = strrchr(line, '\t');
		if (last && atoi(last + 1) > 0)
			inside = atoi(last + 1);
	}
	free(line);
	fclose(status);
	return inside;
}

int ap_jit_map_open(struct ap_jit_map *map, pid_t pid)
{
	/* Symbolic links of the target lead to where they lead for the target. */
	struct open_how how = {
		.flags = O_PATH | O_DIRECTORY | O_CLOEXEC, .resolve = RESOLVE_IN_ROOT};
	struct stat status;
	char path[64];
	int root;

	*map = AP_JIT_MAP_NONE;
	snprintf(path, sizeof(path), "/proc/%d", pid);
	if (stat(path, &status))
		return -errno;
	map->user = status.st_uid;
	map->pid = pid_inside(pid);
	snprintf(path, sizeof(path), "/proc/%d/root", pid);
	root = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (root < 0)
		return -errno;
	map->folder = syscall(SYS_openat2, root, "tmp", &how, sizeof(how));
	if (map->folder < 0)
		map->folder = -errno;
	close(root);
	if (map->folder >= 0)
		return 0;
	root = map->folder;
	map->folder = -1;
	return root;
}

/* The bytes of the file, or a negative errno. */
static ssize_t text_read(struct ap_jit_map *map)
{
	struct stat status;
	size_t length = 0;
	char name[32];
	int fd;

	snprintf(name, sizeof(name), "perf-%d.map", map->pid);
	/* A pipe would not be waited for. */
	fd = openat(map->folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (fd < 0)
		return errno == ELOOP ? -EPERM : ap_errno();
	if (fstat(fd, &status) || !S_ISREG(status.st_mode) ||
		(status.st_uid && status.st_uid != map->user)) {
		close(fd);
		return -EPERM;
	}
	length = status.st_size > FILE_MAX ? FILE_MAX : (size_t)status.st_size;
	map->text = malloc(length + 1);
	for (size_t room = length, got; map->text; room -= got) {
		ssize_t bytes = room ? read(fd, map->text + length - room, room) : 0;

		got = bytes > 0 ? (size_t)bytes : 0;
		if (!got) {
			length -= room;
			break;
		}
	}
	close(fd);
	if (!map->text)
		return -ENOMEM;
	map->text[length] = '\0';
	return (ssize_t)length;
}

/* A line, ended with a zero byte. Returns whether it is one. */
static int line_parse(char *line, struct ap_jit_symbol *symbol)
{
	uint64_t size;
	char *at;

	symbol->start = strtoull(line, &at, 16);
	if (at == line || *at != ' ')
		return 0;
	line = at + 1;
	size = strtoull(line, &at, 16);
	if (at == line || *at != ' ' || !at[1] || !size ||
		__builtin_add_overflow(symbol->start, size, &symbol->end))
		return 0;
	symbol->name = at + 1;
	return 1;
}

static int symbol_compare(const void *a, const void *b)
{
	const struct ap_jit_symbol *left = a, *right = b;

	if (left->start != right->start)
		return left->start < right->start ? -1 : 1;
	return left->order < right->order ? -1 : left->order > right->order;
}

int ap_jit_map_read(struct ap_jit_map *map)
{
	size_t lines = 0;
	ssize_t length;
	char *next;

	if (map->folder < 0)
		return -ENOENT;
	free(map->text);
	free(map->symbols);
	map->text = NULL;
	map->symbols = NULL;
	map->count = 0;
	length = text_read(map);
	if (length < 0)
		return (int)length;
	for (ssize_t i = 0; i < length; i++)
		lines += map->text[i] == '\n';
	map->symbols = calloc(lines + 1, sizeof(*map->symbols));
	if (!map->symbols)
		return -ENOMEM;
	/* A line without an end is still being written. */
	for (char *line = map->text; (next = memchr(line, '\n', map->text + length - line));
		line = next + 1) {
		struct ap_jit_symbol symbol = {.order = (uint32_t)map->count};

		*next = '\0';
		if (line_parse(line, &symbol))
			map->symbols[map->count++] = symbol;
	}
	qsort(map->symbols, map->count, sizeof(*map->symbols), symbol_compare);
	return 0;
}

const char *ap_jit_map_find(const struct ap_jit_map *map, uint64_t address)
{
	const struct ap_jit_symbol *found = NULL;
	size_t low = 0, high = map->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (map->symbols[middle].start <= address)
			low = middle + 1;
		else
			high = middle;
	}
	for (size_t i = 0; i < OVERLAPS_MAX && low > i; i++) {
		const struct ap_jit_symbol *symbol = &map->symbols[low - 1 - i];

		if (address < symbol->end && (!found || symbol->order > found->order))
			found = symbol;
	}
	return found ? found->name : NULL;
}

void ap_jit_map_clear(struct ap_jit_map *map)
{
	if (map->folder >= 0)
		close(map->folder);
	free(map->text);
	free(map->symbols);
	*map = AP_JIT_MAP_NONE;
}

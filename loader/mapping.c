// SPDX-License-Identifier: MIT
#include "mapping.h"

#include <errno.h>
#include <limits.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "build_id.h"
#include "error.h"
#include "regular_file.h"
#include "table.h"

/*
 * A target decides how much it maps; these limits bound the cost. An address space has at most
 * 65,530 mappings at once; this many take 20 MB.
 */
#define MAPPINGS_MAX   (1 << 18)
#define OPEN_FILES_MAX 4096
#define VDSO_MAX       (1 << 20)

static int number_parse(char **at, int base, char end, uint64_t *ret)
{
	char *stop;

	if (!((**at >= '0' && **at <= '9') || (base == 16 && **at >= 'a' && **at <= 'f')))
		return -EINVAL;
	errno = 0;
	*ret = strtoull(*at, &stop, base);
	if (errno || *stop != end)
		return -EINVAL;
	*at = stop + 1;
	return 0;
}

int ap_maps_line_parse(char *line, struct ap_maps_line *ret)
{
	struct ap_maps_line parsed = {0};
	uint64_t major, minor;
	size_t length = strcspn(line, "\n");
	char *at = line;

	line[length] = '\0';
	if (number_parse(&at, 16, '-', &parsed.start) || number_parse(&at, 16, ' ', &parsed.end))
		return -EINVAL;
	if (parsed.start >= parsed.end || strlen(at) < 5 || at[4] != ' ')
		return -EINVAL;
	parsed.executable = at[2] == 'x';
	at += 5;
	if (number_parse(&at, 16, ' ', &parsed.offset) || number_parse(&at, 16, ':', &major) ||
		number_parse(&at, 16, ' ', &minor))
		return -EINVAL;
	parsed.device = makedev(major, minor);
	/* A line without a path ends after the inode, on some kernels with a space. */
	if (number_parse(&at, 10, ' ', &parsed.inode)) {
		if (number_parse(&at, 10, '\0', &parsed.inode))
			return -EINVAL;
		at--;
	}
	at += strspn(at, " ");
	parsed.path = at;
	*ret = parsed;
	return 0;
}

static size_t open_files_max(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) || limit.rlim_cur / 2 > OPEN_FILES_MAX)
		return OPEN_FILES_MAX;
	return limit.rlim_cur / 2;
}

/*
 * Opens the file of an O_PATH handle, if it is a regular file with that inode. A device of 0 is not
 * compared: overlay and btrfs show different ones in maps and in stat.
 */
static int handle_open(int handle, uint64_t inode, uint64_t device)
{
	struct stat status;
	int fd = ap_regular_reopen(handle, &status);

	if (fd < 0)
		return -1;
	if (status.st_ino == inode && (!device || status.st_dev == device))
		return fd;
	close(fd);
	return -1;
}

/* map_files leads to the mapped file itself, whatever its path leads to by now. */
static int object_open(
	const struct ap_mapping_table *table, const struct ap_maps_line *line, const char *path)
{
	char name[96];
	int fd;

	snprintf(name, sizeof(name), "/proc/%d/map_files/%" PRIx64 "-%" PRIx64, table->pid,
		line->start, line->end);
	fd = handle_open(open(name, O_PATH | O_CLOEXEC), line->inode, 0);
	if (fd < 0)
		fd = handle_open(ap_process_files_path(&table->files, path), line->inode, 0);
	/* The root of a process that has exited meanwhile is gone; for most it was ours. */
	if (fd < 0)
		fd = handle_open(open(path, O_PATH | O_CLOEXEC), line->inode, line->device);
	return fd;
}

/*
 * Copies the vDSO, which is in no file, to a memory file. Its descriptor; -1: it could not be read.
 */
static int vdso_copy(const struct ap_process_files *files, const struct ap_maps_line *line)
{
	char page[4096];
	int fd;

	fd = memfd_create("vdso", MFD_CLOEXEC);
	for (uint64_t at = line->start; at < line->end && at - line->start < VDSO_MAX && fd >= 0;
		at += sizeof(page)) {
		if (ap_process_files_read(files, at, page, sizeof(page)) != sizeof(page) ||
			write(fd, page, sizeof(page)) != sizeof(page)) {
			close(fd);
			fd = -1;
		}
	}
	return fd;
}

static bool is_vdso(const struct ap_maps_line *line)
{
	return !line->inode && !strcmp(line->path, "[vdso]");
}

static struct ap_object *object_find(
	struct ap_object **objects, size_t count, const struct ap_maps_line *line)
{
	for (size_t i = 0; i < count; i++)
		if (objects[i]->inode == line->inode && objects[i]->device == line->device &&
			(line->inode || !strcmp(objects[i]->path, line->path)))
			return objects[i];
	return NULL;
}

static int object_push(
	struct ap_object ***objects, uint32_t *count, uint32_t *room, struct ap_object *object)
{
	if (ap_array_grow((void **)objects, *count, room, sizeof(**objects)))
		return -ENOMEM;
	(*objects)[(*count)++] = object;
	return 0;
}

void ap_object_free(struct ap_object *object)
{
	if (object->fd >= 0)
		close(object->fd);
	free(object->path);
	free(object);
}

/* The length of a path in maps, without " (deleted)". */
static size_t path_length(const char *path)
{
	static const char deleted[] = " (deleted)";
	size_t length = strlen(path), tail = strlen(deleted);

	return length > tail && !strcmp(path + length - tail, deleted) ? length - tail : length;
}

/* Makes an object and opens its file. NULL: out of memory. */
static struct ap_object *object_new(
	const struct ap_mapping_table *table, const struct ap_maps_line *line)
{
	struct ap_object *object = calloc(1, sizeof(*object));

	if (!object)
		return NULL;
	object->path = strndup(line->path, path_length(line->path));
	if (!object->path) {
		free(object);
		return NULL;
	}
	object->device = line->device;
	object->inode = line->inode;
	object->fd = -1;
	if (!line->inode)
		object->fd = vdso_copy(&table->files, line);
	else if ((table->shared ? table->shared->count : table->object_count) < open_files_max())
		object->fd = object_open(table, line, object->path);
	if (object->fd >= 0)
		ap_build_id_read(object->fd, object->build_id);
	return object;
}

static struct ap_object *object_add(struct ap_mapping_table *table, const struct ap_maps_line *line)
{
	struct ap_object_set *shared = table->shared;
	struct ap_object *object = object_find(table->objects, table->object_count, line);
	bool is_new;

	if (object)
		return object;
	object = shared ? object_find(shared->objects, shared->count, line) : NULL;
	is_new = !object;
	if (is_new)
		object = object_new(table, line);
	if (!object)
		return NULL;
	if (is_new && shared &&
		object_push(&shared->objects, &shared->count, &shared->room, object)) {
		ap_object_free(object);
		return NULL;
	}
	if (!object_push(&table->objects, &table->object_count, &table->object_room, object))
		return object;
	if (!shared)
		ap_object_free(object);
	return NULL;
}

/* Takes over the mapping. */
static int mapping_push(struct ap_mapping_table *table, struct ap_mapping *mapping)
{
	if (ap_array_grow((void **)&table->mappings, table->count, &table->room,
		    sizeof(*table->mappings)))
		return -ENOMEM;
	mapping->tables++;
	table->mappings[table->count++] = mapping;
	return 0;
}

int ap_mapping_table_fork(struct ap_mapping_table *table, const struct ap_mapping_table *parent)
{
	int err = 0;

	for (size_t i = 0; i < parent->count && !err; i++)
		err = mapping_push(table, parent->mappings[i]);
	for (size_t i = 0; i < parent->object_count && !err; i++)
		err = object_push(&table->objects, &table->object_count, &table->object_room,
			parent->objects[i]);
	table->current = err ? NULL : calloc(parent->current_count + 1, sizeof(*table->current));
	if (!table->current)
		return -ENOMEM;
	memcpy(table->current, parent->current, parent->current_count * sizeof(*table->current));
	table->current_count = parent->current_count;
	table->read_count = parent->read_count;
	table->program = parent->program;
	return 0;
}

static int mapping_add(
	struct ap_mapping_table *table, const struct ap_maps_line *line, struct ap_object *object)
{
	struct ap_mapping *mapping;
	int err;

	if (table->count == MAPPINGS_MAX)
		return -E2BIG;
	mapping = calloc(1, sizeof(*mapping));
	if (!mapping)
		return -ENOMEM;
	mapping->id = table->count;
	mapping->start = line->start;
	mapping->end = line->end;
	mapping->offset = line->offset;
	mapping->object = object;
	mapping->name = object ? object->path : "[anon]";
	err = mapping_push(table, mapping);
	if (err)
		free(mapping);
	return err;
}

static bool mapping_is(const struct ap_mapping *mapping, const struct ap_maps_line *line)
{
	const struct ap_object *object = mapping->object;

	return mapping->start == line->start && mapping->end == line->end &&
	       mapping->offset == line->offset &&
	       (object ? object->inode == line->inode && object->device == line->device
		       : !line->inode);
}

/* The id of the mapping among those that the last reading saw, from *at on; -1: not there. */
static int64_t current_find(
	const struct ap_mapping_table *table, size_t *at, const struct ap_maps_line *line)
{
	for (; *at < table->current_count; (*at)++) {
		const struct ap_mapping *mapping = table->mappings[table->current[*at]];

		if (mapping->start >= line->start)
			return mapping_is(mapping, line) ? (int64_t)mapping->id : -1;
	}
	return -1;
}

/* The id of the mapping, new or known from ap_mapping_table_add(), or a negative errno. */
static int64_t mapping_get(struct ap_mapping_table *table, const struct ap_maps_line *line)
{
	const struct ap_mapping *known = ap_mapping_find(table, line->start);
	struct ap_object *object = NULL;
	int err;

	if (known && mapping_is(known, line))
		return known->id;
	if (line->inode || is_vdso(line)) {
		object = object_add(table, line);
		if (!object)
			return -ENOMEM;
	}
	err = mapping_add(table, line, object);
	return err ? err : (int64_t)table->count - 1;
}

int ap_mapping_table_add(struct ap_mapping_table *table, pid_t tid, const struct ap_maps_line *line)
{
	int64_t id;

	table->pid = tid;
	if (!table->files.opened)
		ap_process_files_open(&table->files, tid);
	id = mapping_get(table, line);
	if (id != -E2BIG)
		return id < 0 ? (int)id : 0;
	table->is_full = true;
	return 0;
}

/* The program's mapping is the first one of the file that the kernel has executed. */
static void program_find(struct ap_mapping_table *table, pid_t pid)
{
	char link[64], path[PATH_MAX + 16];
	ssize_t length;

	snprintf(link, sizeof(link), "/proc/%d/exe", pid);
	length = readlink(link, path, sizeof(path) - 1);
	if (length < 0)
		return;
	path[length] = '\0';
	path[path_length(path)] = '\0';
	for (size_t i = 0; i < table->current_count; i++) {
		const struct ap_mapping *mapping = table->mappings[table->current[i]];

		if (mapping->object && !strcmp(mapping->object->path, path)) {
			table->program = mapping;
			return;
		}
	}
}

/* The ids that one reading of the maps file has found, by address. */
struct reading {
	uint32_t *ids;
	uint32_t count, room;
};

static int reading_add(struct reading *reading, uint32_t id)
{
	if (ap_array_grow(
		    (void **)&reading->ids, reading->count, &reading->room, sizeof(*reading->ids)))
		return -ENOMEM;
	reading->ids[reading->count++] = id;
	return 0;
}

static int maps_read(struct ap_mapping_table *table, struct reading *reading)
{
	FILE *maps = ap_process_files_maps(&table->files);
	struct ap_maps_line line;
	char *text = NULL;
	size_t room = 0, at = 0;
	int err = 0;

	if (!maps)
		return ap_errno();
	errno = 0;
	while (!err && getline(&text, &room, maps) > 0) {
		int64_t id;

		if (ap_maps_line_parse(text, &line) || !line.executable)
			continue;
		id = current_find(table, &at, &line);
		if (id < 0)
			id = mapping_get(table, &line);
		/* Too many mappings: keeps what is known. */
		if (id == -E2BIG) {
			table->is_full = true;
			continue;
		}
		err = id < 0 ? (int)id : reading_add(reading, id);
	}
	if (!err && ferror(maps))
		err = errno == ESRCH || !errno ? -ESRCH : -errno;
	fclose(maps);
	free(text);
	/* A process without any executable mapping is a zombie. */
	return err || reading->count ? err : -ESRCH;
}

int ap_mapping_table_read(struct ap_mapping_table *table, pid_t pid)
{
	struct reading reading = {0};
	int err = -ESRCH;

	table->pid = pid;
	if (table->files.opened)
		err = maps_read(table, &reading);
	/* The kept files may be those of a memory that an exec has replaced: opens them again. */
	if (err == -ESRCH) {
		err = ap_process_files_open(&table->files, pid);
		if (!err)
			err = maps_read(table, &reading);
		err = err == -ENOENT ? -ESRCH : err;
	}
	if (err) {
		free(reading.ids);
		return err;
	}
	free(table->current);
	table->current = reading.ids;
	table->current_count = reading.count;
	table->read_count = table->count;
	program_find(table, pid);
	return 0;
}

struct ap_mapping *ap_mapping_find(const struct ap_mapping_table *table, uint64_t address)
{
	for (size_t i = table->count; i-- > 0;) {
		struct ap_mapping *mapping = table->mappings[i];

		if (address >= mapping->start && address < mapping->end)
			return mapping;
	}
	return NULL;
}

void ap_mapping_table_clear(struct ap_mapping_table *table)
{
	for (size_t i = 0; i < table->count; i++)
		if (!--table->mappings[i]->tables)
			free(table->mappings[i]);
	for (size_t i = 0; i < table->object_count && !table->shared; i++)
		ap_object_free(table->objects[i]);
	free(table->mappings);
	free(table->objects);
	free(table->current);
	ap_process_files_close(&table->files);
	*table = (struct ap_mapping_table){.shared = table->shared};
}

void ap_object_set_clear(struct ap_object_set *set)
{
	for (size_t i = 0; i < set->count; i++)
		ap_object_free(set->objects[i]);
	free(set->objects);
	*set = (struct ap_object_set){0};
}

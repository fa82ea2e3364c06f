// SPDX-License-Identifier: MIT
#include "jit.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "error.h"
#include "jit_dump.h"
#include "mapping.h"
#include "process_files.h"
#include "regular_file.h"

/* Those of node have some MB. What is beyond this is not read. */
#define FILE_MAX (64U << 20)

/*
 * Reads from /proc/PID/status the pid in the process's own namespace (the last number of NSpid) and
 * its user. The owner of /proc/PID will not do: it is root when a process has changed its user and
 * may not be dumped. 0 or a negative errno.
 */
static int status_read(struct ap_jit *jit, pid_t pid)
{
	char path[64], *line = NULL, *last;
	unsigned int user;
	size_t room = 0;
	FILE *status;

	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	status = fopen(path, "re");
	if (!status)
		return ap_errno();
	jit->pid = pid;
	while (getline(&line, &room, status) > 0) {
		last = strrchr(line, '\t');
		if (!strncmp(line, "NSpid:", 6) && last && atoi(last + 1) > 0)
			jit->pid = atoi(last + 1);
		/* The fourth one: real, effective, saved, and the one that files are made with. */
		if (sscanf(line, "Uid: %*u %*u %*u %u", &user) == 1)
			jit->user = user;
	}
	free(line);
	fclose(status);
	return 0;
}

int ap_jit_open(struct ap_jit *jit, const struct ap_process_files *files, pid_t pid)
{
	int err;

	*jit = AP_JIT_NONE;
	err = status_read(jit, pid);
	if (err)
		return err;
	jit->folder = ap_process_files_path(files, "/tmp");
	return jit->folder < 0 ? jit->folder : 0;
}

/*
 * Reads the map into *ret, which ends with a NUL and is to be freed. Its length,
 * or a negative errno.
 */
static ssize_t map_text(const struct ap_jit *jit, char **ret)
{
	struct stat status;
	size_t length, room;
	char name[32];
	int fd;

	snprintf(name, sizeof(name), "perf-%d.map", jit->pid);
	fd = ap_regular_open(jit->folder, name, false, &status);
	if (fd < 0)
		return fd;
	if (status.st_uid && status.st_uid != jit->user) {
		close(fd);
		return -EPERM;
	}
	length = status.st_size > FILE_MAX ? FILE_MAX : (size_t)status.st_size;
	*ret = malloc(length + 1);
	for (room = length; *ret && room;) {
		ssize_t got = read(fd, *ret + length - room, room);

		if (got <= 0)
			break;
		room -= (size_t)got;
	}
	close(fd);
	if (!*ret)
		return -ENOMEM;
	length -= room;
	(*ret)[length] = '\0';
	return (ssize_t)length;
}

/* Adds a line, which ends with a NUL; what is not such a line is left out. 0 or -ENOMEM. */
static int map_line_add(struct ap_jit_code *code, const char *line)
{
	uint64_t start, size;
	char *at;
	int err;

	start = strtoull(line, &at, 16);
	if (at == line || *at != ' ')
		return 0;
	line = at + 1;
	size = strtoull(line, &at, 16);
	if (at == line || *at != ' ' || !at[1])
		return 0;
	err = ap_jit_code_add(code, start, size, at + 1, 0, 0);
	return err == -EINVAL ? 0 : err;
}

int ap_jit_read_map(struct ap_jit *jit)
{
	char *text = NULL, *next;
	ssize_t length;
	int err = 0;

	if (jit->folder < 0)
		return -ENOENT;
	ap_jit_code_clear(&jit->map);
	length = map_text(jit, &text);
	if (length < 0)
		return (int)length;
	/* A line without an end is still being written. */
	for (char *line = text; !err && (next = memchr(line, '\n', text + length - line));
		line = next + 1) {
		*next = '\0';
		err = map_line_add(&jit->map, line);
	}
	free(text);
	return err ? err : ap_jit_code_sort(&jit->map);
}

int ap_jit_read_dumps(struct ap_jit *jit, const struct ap_mapping_table *table, uint64_t until_ns)
{
	int err = 0;

	ap_jit_code_clear(&jit->dump);
	for (size_t i = 0; i < table->object_count && err != -ENOMEM; i++)
		if (table->objects[i]->fd >= 0)
			err = ap_jit_dump_read(&jit->dump, table->objects[i]->fd, until_ns);
	return err == -ENOMEM ? err : ap_jit_code_sort(&jit->dump);
}

bool ap_jit_find(const struct ap_jit *jit, uint64_t address, struct ap_jit_place *ret)
{
	const struct ap_jit_symbol *symbol = ap_jit_code_find(&jit->dump, address);
	const struct ap_jit_line *line;

	*ret = (struct ap_jit_place){.file = ""};
	if (symbol) {
		line = ap_jit_code_line(&jit->dump, symbol, address);
		if (line)
			*ret = (struct ap_jit_place){.file = line->file, .line = line->line};
	} else {
		symbol = ap_jit_code_find(&jit->map, address);
	}
	if (!symbol)
		return false;
	ret->name = symbol->name;
	return true;
}

void ap_jit_clear(struct ap_jit *jit)
{
	if (jit->folder >= 0)
		close(jit->folder);
	ap_jit_code_clear(&jit->map);
	ap_jit_code_clear(&jit->dump);
	*jit = AP_JIT_NONE;
}

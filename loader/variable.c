// SPDX-License-Identifier: MIT
#include "variable.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

/*
 * Aligned bytes in one call lie in one page, and the kernel copies up to eight with one move: the
 * target never sees half a number. (This machine is little endian: the low bytes come first.)
 */
static int memory_read(const struct ap_variable *variable, uint64_t *ret)
{
	ssize_t length;

	*ret = 0;
	length = pread(variable->memory, ret, variable->size, (off_t)variable->address);
	if (length < 0)
		return -errno;
	return (size_t)length == variable->size ? 0 : -EIO;
}

static int memory_write(const struct ap_variable *variable, uint64_t value)
{
	ssize_t length = pwrite(variable->memory, &value, variable->size, (off_t)variable->address);

	if (length < 0)
		return -errno;
	return (size_t)length == variable->size ? 0 : -EIO;
}

int ap_variable_open(struct ap_variable *variable, pid_t pid, uint64_t address, size_t size)
{
	char path[64];
	int err;

	if (!address || address % size)
		return -EINVAL;
	snprintf(path, sizeof(path), "/proc/%d/mem", pid);
	variable->memory = open(path, O_RDWR | O_CLOEXEC);
	if (variable->memory < 0)
		return -errno;
	variable->address = address;
	variable->size = size;
	err = memory_read(variable, &variable->before);
	if (err) {
		close(variable->memory);
		variable->memory = -1;
		return err;
	}
	variable->now = variable->before;
	return 0;
}

int ap_variable_set(struct ap_variable *variable, uint64_t value)
{
	int err = memory_write(variable, value);

	if (!err)
		variable->now = value;
	return err;
}

void ap_variable_close(struct ap_variable *variable)
{
	uint64_t value;

	if (variable->memory < 0)
		return;
	if (variable->now != variable->before && !memory_read(variable, &value) &&
		value == variable->now)
		memory_write(variable, variable->before);
	close(variable->memory);
	variable->memory = -1;
}

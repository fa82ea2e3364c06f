// SPDX-License-Identifier: MIT
#include "variable.h"

#include <errno.h>

/*
 * An aligned variable lies within a page, and the kernel copies up to eight bytes with one move, so
 * the target never sees half a number. (This machine is little endian: low bytes come first.)
 */
static int memory_read(const struct ap_variable *variable, uint64_t *ret)
{
	ssize_t length;

	*ret = 0;
	length = ap_process_files_read(&variable->memory, variable->address, ret, variable->size);
	if (length < 0)
		return (int)length;
	return (size_t)length == variable->size ? 0 : -EIO;
}

static int memory_write(const struct ap_variable *variable, uint64_t value)
{
	ssize_t length = ap_process_files_write(
		&variable->memory, variable->address, &value, variable->size);

	if (length < 0)
		return (int)length;
	return (size_t)length == variable->size ? 0 : -EIO;
}

int ap_variable_open(struct ap_variable *variable, const struct ap_process_files *files,
	uint64_t address, size_t size)
{
	int err;

	if (!address || address % size)
		return -EINVAL;
	err = ap_process_files_memory_dup(files, &variable->memory);
	if (err)
		return err;
	variable->address = address;
	variable->size = size;
	err = memory_read(variable, &variable->before);
	if (err) {
		ap_process_files_close(&variable->memory);
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

	if (!variable->memory.opened)
		return;
	if (variable->now != variable->before && !memory_read(variable, &value) &&
		value == variable->now)
		memory_write(variable, variable->before);
	ap_process_files_close(&variable->memory);
}

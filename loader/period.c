// SPDX-License-Identifier: MIT
#include "period.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

/*
 * Eight aligned bytes in one call lie in one page, and the kernel copies them with one 8-byte
 * move: the target never sees half a period.
 */
static int memory_read(const struct ap_period *period, uint64_t *ret)
{
	ssize_t length = pread(period->memory, ret, sizeof(*ret), period->address);

	if (length < 0)
		return -errno;
	return length == sizeof(*ret) ? 0 : -EIO;
}

static int memory_write(const struct ap_period *period, uint64_t value)
{
	ssize_t length = pwrite(period->memory, &value, sizeof(value), period->address);

	if (length < 0)
		return -errno;
	return length == sizeof(value) ? 0 : -EIO;
}

int ap_period_open(struct ap_period *period, pid_t pid, uint64_t address)
{
	char path[64];
	int err;

	if (!address || address % 8)
		return -EINVAL;
	snprintf(path, sizeof(path), "/proc/%d/mem", pid);
	period->memory = open(path, O_RDWR | O_CLOEXEC);
	if (period->memory < 0)
		return -errno;
	period->address = address;
	err = memory_read(period, &period->before);
	if (err) {
		close(period->memory);
		period->memory = -1;
		return err;
	}
	period->now = period->before;
	return 0;
}

int ap_period_set(struct ap_period *period, uint64_t value)
{
	int err = memory_write(period, value);

	if (!err)
		period->now = value;
	return err;
}

void ap_period_close(struct ap_period *period)
{
	uint64_t value;

	if (period->memory < 0)
		return;
	if (period->now != period->before && !memory_read(period, &value) && value == period->now)
		memory_write(period, period->before);
	close(period->memory);
	period->memory = -1;
}

// SPDX-License-Identifier: MIT
#include "process_files.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "error.h"

static int open_one(pid_t tid, const char *name, int flags)
{
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/%s", tid, name);
	fd = open(path, flags | O_CLOEXEC);
	return fd < 0 ? ap_errno() : fd;
}

static int descriptor_or_none(int fd)
{
	return fd < 0 ? -1 : fd;
}

int ap_process_files_open(struct ap_process_files *files, pid_t tid)
{
	int maps = open_one(tid, "maps", O_RDONLY);

	ap_process_files_close(files);
	if (maps < 0)
		return maps;
	*files = (struct ap_process_files){
		.opened = true,
		.tid = tid,
		.maps = maps,
		.memory = descriptor_or_none(open_one(tid, "mem", O_RDWR)),
		.root = descriptor_or_none(open_one(tid, "root", O_PATH | O_DIRECTORY)),
	};
	return 0;
}

ssize_t ap_process_files_read(
	const struct ap_process_files *files, uint64_t address, void *to, size_t size)
{
	struct iovec here = {to, size}, there = {(void *)(uintptr_t)address, size};
	ssize_t length;

	if (!files->opened)
		return -EBADF;
	length = files->memory >= 0 ? pread(files->memory, to, size, (off_t)address)
				    : process_vm_readv(files->tid, &here, 1, &there, 1, 0);
	return length < 0 ? ap_errno() : length;
}

ssize_t ap_process_files_write(
	const struct ap_process_files *files, uint64_t address, const void *from, size_t size)
{
	struct iovec here = {(void *)(uintptr_t)from, size};
	struct iovec there = {(void *)(uintptr_t)address, size};
	ssize_t length;

	if (!files->opened)
		return -EBADF;
	length = files->memory >= 0 ? pwrite(files->memory, from, size, (off_t)address)
				    : process_vm_writev(files->tid, &here, 1, &there, 1, 0);
	return length < 0 ? ap_errno() : length;
}

FILE *ap_process_files_maps(const struct ap_process_files *files)
{
	int fd = fcntl(files->maps, F_DUPFD_CLOEXEC, 0);
	FILE *maps = NULL;

	if (fd >= 0 && !lseek(fd, 0, SEEK_SET))
		maps = fdopen(fd, "r");
	if (!maps && fd >= 0)
		close(fd);
	return maps;
}

int ap_process_files_path(const struct ap_process_files *files, const char *path)
{
	struct open_how how = {.flags = O_PATH | O_CLOEXEC, .resolve = RESOLVE_IN_ROOT};
	long fd;

	if (!files->opened || files->root < 0)
		return -EBADF;
	fd = syscall(SYS_openat2, files->root, path, &how, sizeof(how));
	return fd < 0 ? ap_errno() : (int)fd;
}

int ap_process_files_memory_dup(const struct ap_process_files *files, struct ap_process_files *ret)
{
	*ret = (struct ap_process_files){0};
	if (!files->opened)
		return -EBADF;
	*ret = (struct ap_process_files){
		.opened = true, .tid = files->tid, .maps = -1, .memory = -1, .root = -1};
	if (files->memory < 0)
		return 0;
	ret->memory = fcntl(files->memory, F_DUPFD_CLOEXEC, 0);
	return ret->memory < 0 ? ap_errno() : 0;
}

void ap_process_files_close(struct ap_process_files *files)
{
	if (!files->opened)
		return;
	if (files->maps >= 0)
		close(files->maps);
	if (files->memory >= 0)
		close(files->memory);
	if (files->root >= 0)
		close(files->root);
	memset(files, 0, sizeof(*files));
}

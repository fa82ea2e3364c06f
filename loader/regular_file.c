// SPDX-License-Identifier: MIT
#include "regular_file.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "error.h"

int ap_regular_reopen(int handle, struct stat *ret)
{
	char link[64];
	int fd;

	if (handle < 0)
		return handle;
	if (fstat(handle, ret)) {
		fd = ap_errno();
	} else if (!S_ISREG(ret->st_mode)) {
		fd = -EPERM;
	} else {
		snprintf(link, sizeof(link), "/proc/self/fd/%d", handle);
		fd = open(link, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
		if (fd < 0)
			fd = ap_errno();
	}
	close(handle);
	return fd;
}

int ap_regular_open(int root, const char *path, bool follow, struct stat *ret)
{
	struct open_how how = {
		.flags = O_PATH | O_CLOEXEC | (follow ? 0 : O_NOFOLLOW),
		.resolve = root == AP_ROOT_OURS ? 0 : RESOLVE_IN_ROOT,
	};
	long handle = syscall(
		SYS_openat2, root == AP_ROOT_OURS ? AT_FDCWD : root, path, &how, sizeof(how));

	return ap_regular_reopen(handle < 0 ? ap_errno() : (int)handle, ret);
}

// SPDX-License-Identifier: MIT
#include "proc.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "error.h"

ssize_t ap_proc_read(pid_t pid, const char *name, char *out, size_t room)
{
	char path[64];
	ssize_t length;
	int fd;

	out[0] = '\0';
	snprintf(path, sizeof(path), "/proc/%d/%s", pid, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return ap_errno();
	length = read(fd, out, room - 1);
	if (length < 0)
		length = ap_errno();
	else
		out[length] = '\0';
	close(fd);
	return length;
}

/* PF_KTHREAD of the kernel's linux/sched.h. */
#define FLAG_KERNEL 0x00200000U

int ap_proc_stat(pid_t pid, pid_t tid, struct ap_proc_stat *ret)
{
	char name[48] = "stat", text[1024];
	const char *end, *last;
	unsigned int flags;
	ssize_t length;
	pid_t parent;

	if (tid)
		snprintf(name, sizeof(name), "task/%d/stat", tid);
	length = ap_proc_read(pid, name, text, sizeof(text));
	if (length < 0)
		return (int)length;
	/* The name before it may hold anything, also parentheses. */
	end = strrchr(text, ')');
	last = strrchr(text, ' ');
	if (!end || last < end || strlen(end) <= strlen(") S ") ||
		sscanf(end + strlen(") S "), "%d %*d %*d %*d %*d %u", &parent, &flags) != 2)
		return -EBADMSG;
	*ret = (struct ap_proc_stat){
		.state = end[2],
		.parent = parent,
		.is_kernel = flags & FLAG_KERNEL,
		.status = atoi(last),
	};
	return 0;
}

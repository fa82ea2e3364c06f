/* SPDX-License-Identifier: MIT */
/* The small files of /proc that say something of a process or of a thread. */
#ifndef ALLOCPROF_PROC_H
#define ALLOCPROF_PROC_H

#include <stdbool.h>
#include <sys/types.h>

/*
 * Reads what fits of /proc/PID/NAME, and ends it with a NUL. The bytes read, or a negative errno:
 * out is "" then.
 */
ssize_t ap_proc_read(pid_t pid, const char *name, char *out, size_t room);

struct ap_proc_stat {
	char state; /* 'R', 'S', 'Z', ... */
	pid_t parent;
	bool is_kernel; /* a thread of the kernel's */
	int status;	/* as wait() gives it, of a zombie; who may not look into it sees 0 */
};

/* Of one thread; tid 0: of the process as a whole. 0 or a negative errno. */
int ap_proc_stat(pid_t pid, pid_t tid, struct ap_proc_stat *ret);

#endif

/* SPDX-License-Identifier: MIT */
/* The small files of /proc that describe a process or a thread. */
#ifndef ALLOCPROF_PROC_H
#define ALLOCPROF_PROC_H

#include <stdbool.h>
#include <sys/types.h>

/*
 * Reads /proc/PID/NAME, as much as fits, and ends it with a NUL. Returns the bytes read, or a
 * negative errno, when out is "".
 */
ssize_t ap_proc_read(pid_t pid, const char *name, char *out, size_t room);

struct ap_proc_stat {
	char state; /* 'R', 'S', 'Z', ... */
	pid_t parent;
	bool is_kernel; /* a thread of the kernel's */
	int status;	/* of a zombie, as waitpid() gives it; 0 if we may not look into it */
};

/* Reads /proc/PID/stat of one thread, or with tid 0 of the whole process. 0 or a negative errno. */
int ap_proc_stat(pid_t pid, pid_t tid, struct ap_proc_stat *ret);

#endif

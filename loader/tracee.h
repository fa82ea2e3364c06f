/* SPDX-License-Identifier: MIT */
/* What stops a process that is traced by ptrace, and how far its dynamic linker has come. */
#ifndef ALLOCPROF_TRACEE_H
#define ALLOCPROF_TRACEE_H

#include <stdbool.h>
#include <sys/types.h>

enum ap_stop {
	AP_STOP_NONE, /* it runs */
	AP_STOP_GONE, /* it has ended, which stays to be waited for */
	AP_STOP_EXEC,
	AP_STOP_SYSCALL,
	AP_STOP_SIGNAL, /* one is to be delivered */
	AP_STOP_INTERRUPT,
	AP_STOP_OTHER,
};

/* Where it has stopped; flags: those of waitid(). *ret_signal: what is to be delivered, or 0. */
enum ap_stop ap_tracee_wait(pid_t pid, int flags, int *ret_signal);

enum ap_link {
	AP_LINK_UNKNOWN,
	AP_LINK_ON, /* it goes on */
	AP_LINK_DONE,
};

/*
 * At a stop by a system call. Done: all libraries are mapped, and no code but the dynamic linker's
 * has run.
 */
enum ap_link ap_tracee_link(pid_t pid);

/* Whether the linker runs, at a stop of another kind. */
bool ap_tracee_links(pid_t pid);

/* The same of a process that is not traced, as well as it can be told: true when it cannot. */
bool ap_process_may_link(pid_t pid);

#endif

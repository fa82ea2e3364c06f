/* SPDX-License-Identifier: MIT */
/* Why a process that is traced by ptrace has stopped, and how far its dynamic linker has come. */
#ifndef ALLOCPROF_TRACEE_H
#define ALLOCPROF_TRACEE_H

#include <stdbool.h>
#include <sys/types.h>

enum ap_stop {
	AP_STOP_NONE, /* it runs */
	AP_STOP_GONE, /* it has ended; it is left to be waited for */
	AP_STOP_EXEC,
	AP_STOP_SYSCALL,
	AP_STOP_SIGNAL, /* a signal is to be delivered */
	AP_STOP_INTERRUPT,
	AP_STOP_OTHER,
};

/*
 * Waits until it stops; flags as for waitid(), WNOHANG: does not wait. Returns why it has stopped;
 * *ret_signal: the signal that is to be delivered to it, or 0.
 */
enum ap_stop ap_tracee_wait(pid_t pid, int flags, int *ret_signal);

enum ap_link {
	AP_LINK_UNKNOWN,
	AP_LINK_ON, /* the linker is at work */
	AP_LINK_DONE,
};

/*
 * How far the linker has come, at AP_STOP_SYSCALL. AP_LINK_DONE: all libraries are mapped, and only
 * the dynamic linker has run yet.
 */
enum ap_link ap_tracee_link(pid_t pid);

/* Whether the code that runs is the linker's, at a stop of another kind. */
bool ap_tracee_links(pid_t pid);

/* The same of a process that is not traced; true also when that cannot be told. */
bool ap_process_may_link(pid_t pid);

#endif

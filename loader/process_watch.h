/* SPDX-License-Identifier: MIT */
/*
 * Watches how processes end that are not our children: by BPF programs on the scheduler's
 * tracepoints. Hangs on file descriptors of this process, as a session does.
 */
#ifndef ALLOCPROF_PROCESS_WATCH_H
#define ALLOCPROF_PROCESS_WATCH_H

#include <sys/types.h>

#include "death.h"

struct ap_process_watch;

/* 0 and *ret, or a negative errno: the kernel does not let us. */
int ap_process_watch_open(struct ap_process_watch **ret);

/* From now on. 0 or a negative errno. */
int ap_process_watch_add(struct ap_process_watch *watch, pid_t pid);

/*
 * How the process has ended, once its pidfd is readable. A watch of NULL, and a process that was
 * not watched: as far as /proc still says it.
 */
struct ap_death ap_process_watch_death(const struct ap_process_watch *watch, pid_t pid);

void ap_process_watch_close(struct ap_process_watch *watch); /* NULL is fine */

#endif

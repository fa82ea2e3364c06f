/* SPDX-License-Identifier: MIT */
/*
 * Watches processes that are not our children, by BPF programs on the scheduler's tracepoints: how
 * they end, and, when their children are followed, who is born of them and who executes another
 * program. Ends with the file descriptors of this process, as a session does.
 */
#ifndef ALLOCPROF_PROCESS_WATCH_H
#define ALLOCPROF_PROCESS_WATCH_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include <allocprof/process.h>

#include "death.h"

struct ap_process_watch;

/* 0 and *ret, or a negative errno: the kernel does not let us. */
int ap_process_watch_open(struct ap_process_watch **ret, bool follow);

/*
 * Watches a process from now on; nothing changes if it is watched already. 0 or a negative errno.
 */
int ap_process_watch_add(struct ap_process_watch *watch, pid_t pid);

/*
 * How the process has ended; to be called once its pidfd is readable. With a watch of NULL, or for
 * a process that was not watched: as far as /proc still tells.
 */
struct ap_death ap_process_watch_death(const struct ap_process_watch *watch, pid_t pid);

/* ---- When children are followed ---- */

/*
 * A descriptor that is readable when something has changed. To be emptied, by the function below,
 * before the processes are looked at.
 */
int ap_process_watch_fd(const struct ap_process_watch *watch);
void ap_process_watch_read(struct ap_process_watch *watch);

/* The state of a watched process now. False: it is not watched. */
bool ap_process_watch_get(const struct ap_process_watch *watch, pid_t pid, struct ap_process *ret);

/* The watched process after pid, in no order: starts with 0, and returns 0 at the end. */
pid_t ap_process_watch_next(const struct ap_process_watch *watch, pid_t pid);

/*
 * Sets which list of mappings a process, as it stands in keys, is unwound by. 0
 * or a negative errno.
 */
int ap_process_watch_set_list(struct ap_process_watch *watch, uint32_t process, uint32_t list);

/* Which list it has. False: none, as after a vfork and exec. */
bool ap_process_watch_get_list(
	const struct ap_process_watch *watch, uint32_t process, uint32_t *list);

/* Forget a process that has ended, and its list. */
void ap_process_watch_remove(struct ap_process_watch *watch, pid_t pid);
void ap_process_watch_remove_list(struct ap_process_watch *watch, uint32_t process);

/* How many children are not recorded because there was no room. */
uint64_t ap_process_watch_lost(const struct ap_process_watch *watch);

/* The descriptors of its maps, for programs that share them. */
enum ap_watch_map { AP_WATCH_PROCESSES, AP_WATCH_LISTS };
int ap_process_watch_map(const struct ap_process_watch *watch, enum ap_watch_map map);

/* The inode of our pid namespace: in it the programs see pids as we do. 0: unknown. */
uint32_t ap_pid_namespace(void);

void ap_process_watch_close(struct ap_process_watch *watch); /* NULL is fine */

#endif

/* SPDX-License-Identifier: MIT */
/*
 * Watches processes that are not our children, by BPF programs on the scheduler's tracepoints: how
 * they end, and, when their children are followed, who is born of them and who executes another
 * program. Hangs on file descriptors of this process, as a session does.
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

/* From now on. Of one that is watched already nothing changes. 0 or a negative errno. */
int ap_process_watch_add(struct ap_process_watch *watch, pid_t pid);

/*
 * How the process has ended, once its pidfd is readable. A watch of NULL, and a process that was
 * not watched: as far as /proc still says it.
 */
struct ap_death ap_process_watch_death(const struct ap_process_watch *watch, pid_t pid);

/* ---- When children are followed ---- */

/* Readable when something has changed; to be read before the processes are looked at. */
int ap_process_watch_fd(const struct ap_process_watch *watch);
void ap_process_watch_read(struct ap_process_watch *watch);

/* One that is watched, by now. False: there is none of that number. */
bool ap_process_watch_get(const struct ap_process_watch *watch, pid_t pid, struct ap_process *ret);

/* The number of the one after pid, in no order; 0 begins, and ends. */
pid_t ap_process_watch_next(const struct ap_process_watch *watch, pid_t pid);

/* Which list of mappings one is to have, as it stands in keys. 0 or a negative errno. */
int ap_process_watch_set_list(struct ap_process_watch *watch, uint32_t process, uint32_t list);

/* Which one it has. False: none, as one that had its parent's memory until it executed. */
bool ap_process_watch_get_list(
	const struct ap_process_watch *watch, uint32_t process, uint32_t *list);

/* Forgets one that has ended. */
void ap_process_watch_remove(struct ap_process_watch *watch, pid_t pid);
void ap_process_watch_remove_list(struct ap_process_watch *watch, uint32_t process);

/* Children that are not recorded, for want of room. */
uint64_t ap_process_watch_lost(const struct ap_process_watch *watch);

/* The descriptors of its maps, for programs that share them. */
enum ap_watch_map { AP_WATCH_PROCESSES, AP_WATCH_LISTS };
int ap_process_watch_map(const struct ap_process_watch *watch, enum ap_watch_map map);

/* The inode of our pid namespace: in it the programs see pids as we do. 0: unknown. */
uint32_t ap_pid_namespace(void);

void ap_process_watch_close(struct ap_process_watch *watch); /* NULL is fine */

#endif

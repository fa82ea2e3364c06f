// SPDX-License-Identifier: MIT
#include "process_watch.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include <allocprof/process.h>

#include "clock.h"
#include "error.h"
#include "proc.h"
#include "process.skel.h"

struct ap_process_watch {
	struct process_bpf *skeleton;
	struct ring_buffer *changes;
};

uint32_t ap_pid_namespace(void)
{
	struct stat namespace;

	return stat("/proc/self/ns/pid", &namespace) ? 0 : (uint32_t) namespace.st_ino;
}

static int change_take(void *context, void *data, size_t size)
{
	return 0;
}

static int maps_size(struct process_bpf *skeleton, bool follow)
{
	int err = bpf_map__set_max_entries(skeleton->maps.processes, follow ? AP_PROCESSES : 1);

	/* Twice the room, since an exec adds a new entry before the old one is removed. */
	return err ? err
		   : bpf_map__set_max_entries(
			     skeleton->maps.process_lists, follow ? 2 * AP_PROCESSES : 1);
}

int ap_process_watch_open(struct ap_process_watch **ret, bool follow)
{
	struct ap_process_watch *watch = calloc(1, sizeof(*watch));
	int err;

	if (!watch)
		return -ENOMEM;
	watch->skeleton = process_bpf__open();
	if (!watch->skeleton) {
		err = ap_errno();
		goto fail;
	}
	watch->skeleton->rodata->pid_namespace = ap_pid_namespace();
	bpf_program__set_autoload(watch->skeleton->progs.on_fork, follow);
	bpf_program__set_autoload(watch->skeleton->progs.on_exec, follow);
	err = maps_size(watch->skeleton, follow);
	if (!err)
		err = process_bpf__load(watch->skeleton);
	if (err)
		goto fail;
	watch->changes = ring_buffer__new(
		bpf_map__fd(watch->skeleton->maps.changes), change_take, NULL, NULL);
	err = watch->changes ? process_bpf__attach(watch->skeleton) : ap_errno();
	if (err)
		goto fail;
	*ret = watch;
	return 0;
fail:
	ap_process_watch_close(watch);
	return err;
}

int ap_process_watch_map(const struct ap_process_watch *watch, enum ap_watch_map map)
{
	return bpf_map__fd(map == AP_WATCH_LISTS ? watch->skeleton->maps.process_lists
						 : watch->skeleton->maps.processes);
}

int ap_process_watch_add(struct ap_process_watch *watch, pid_t pid)
{
	struct ap_process process = {.process = (uint32_t)pid};
	uint32_t key = pid;

	if (!bpf_map_update_elem(
		    ap_process_watch_map(watch, AP_WATCH_PROCESSES), &key, &process, BPF_NOEXIST))
		return 0;
	return errno == EEXIST ? 0 : ap_errno();
}

int ap_process_watch_fd(const struct ap_process_watch *watch)
{
	return ring_buffer__epoll_fd(watch->changes);
}

void ap_process_watch_read(struct ap_process_watch *watch)
{
	ring_buffer__consume(watch->changes);
}

bool ap_process_watch_get(const struct ap_process_watch *watch, pid_t pid, struct ap_process *ret)
{
	uint32_t key = pid;

	return !bpf_map_lookup_elem(ap_process_watch_map(watch, AP_WATCH_PROCESSES), &key, ret);
}

pid_t ap_process_watch_next(const struct ap_process_watch *watch, pid_t pid)
{
	uint32_t key = pid, next;

	return bpf_map_get_next_key(
		       ap_process_watch_map(watch, AP_WATCH_PROCESSES), pid ? &key : NULL, &next)
		       ? 0
		       : (pid_t)next;
}

int ap_process_watch_set_list(struct ap_process_watch *watch, uint32_t process, uint32_t list)
{
	return bpf_map_update_elem(
		       ap_process_watch_map(watch, AP_WATCH_LISTS), &process, &list, BPF_ANY)
		       ? ap_errno()
		       : 0;
}

bool ap_process_watch_get_list(
	const struct ap_process_watch *watch, uint32_t process, uint32_t *list)
{
	return !bpf_map_lookup_elem(ap_process_watch_map(watch, AP_WATCH_LISTS), &process, list);
}

void ap_process_watch_remove(struct ap_process_watch *watch, pid_t pid)
{
	uint32_t key = pid;

	bpf_map_delete_elem(ap_process_watch_map(watch, AP_WATCH_PROCESSES), &key);
}

void ap_process_watch_remove_list(struct ap_process_watch *watch, uint32_t process)
{
	bpf_map_delete_elem(ap_process_watch_map(watch, AP_WATCH_LISTS), &process);
}

uint64_t ap_process_watch_lost(const struct ap_process_watch *watch)
{
	return watch->skeleton->bss->children_lost;
}

/* Converts a time of CLOCK_MONOTONIC to Unix time. */
static int64_t time_of_day(uint64_t monotonic_ns)
{
	return (int64_t)(ap_clock_ns(CLOCK_REALTIME) - ap_clock_ns(CLOCK_MONOTONIC) + monotonic_ns);
}

/* How a process has ended whose parent has not collected it yet. */
static struct ap_death zombie_death(pid_t pid)
{
	struct ap_death death = {0};
	struct ap_proc_stat stat;

	if (ap_proc_stat(pid, 0, &stat))
		return death;
	death.known = stat.state == 'Z' || stat.state == 'X';
	death.status = stat.status;
	return death;
}

struct ap_death ap_process_watch_death(const struct ap_process_watch *watch, pid_t pid)
{
	struct ap_process process;

	if (!watch || !ap_process_watch_get(watch, pid, &process) || !process.ended_ns)
		return zombie_death(pid);
	return (struct ap_death){
		.known = true,
		.oom = process.oom,
		.status = process.status,
		.at_ns = time_of_day(process.ended_ns),
	};
}

void ap_process_watch_close(struct ap_process_watch *watch)
{
	if (!watch)
		return;
	ring_buffer__free(watch->changes);
	process_bpf__destroy(watch->skeleton);
	free(watch);
}

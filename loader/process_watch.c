// SPDX-License-Identifier: MIT
#include "process_watch.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include <allocprof/process.h>

#include "error.h"
#include "process.skel.h"

#define SECOND_NS 1000000000LL

struct ap_process_watch {
	struct process_bpf *skeleton;
};

int ap_process_watch_open(struct ap_process_watch **ret)
{
	struct ap_process_watch *watch = calloc(1, sizeof(*watch));
	struct stat namespace;
	int err;

	if (!watch)
		return -ENOMEM;
	if (stat("/proc/self/ns/pid", &namespace)) {
		err = ap_errno();
		goto fail;
	}
	watch->skeleton = process_bpf__open();
	if (!watch->skeleton) {
		err = ap_errno();
		goto fail;
	}
	watch->skeleton->rodata->pid_namespace = namespace.st_ino;
	err = process_bpf__load(watch->skeleton);
	if (!err)
		err = process_bpf__attach(watch->skeleton);
	if (err)
		goto fail;
	*ret = watch;
	return 0;
fail:
	ap_process_watch_close(watch);
	return err;
}

int ap_process_watch_add(struct ap_process_watch *watch, pid_t pid)
{
	struct ap_process process = {0};
	uint32_t key = pid;

	return bpf_map_update_elem(
		       bpf_map__fd(watch->skeleton->maps.processes), &key, &process, BPF_ANY)
		       ? ap_errno()
		       : 0;
}

/* What the clock of the day has shown when the monotonic one showed that. */
static int64_t time_of_day(uint64_t monotonic_ns)
{
	struct timespec day, monotonic;

	clock_gettime(CLOCK_REALTIME, &day);
	clock_gettime(CLOCK_MONOTONIC, &monotonic);
	return (day.tv_sec - monotonic.tv_sec) * SECOND_NS + day.tv_nsec - monotonic.tv_nsec +
	       (int64_t)monotonic_ns;
}

/* The status of a process that its parent has not collected yet: the last field of its stat. */
static struct ap_death zombie_death(pid_t pid)
{
	struct ap_death death = {0};
	char path[64], text[1024];
	const char *last;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	file = fopen(path, "re");
	if (!file)
		return death;
	if (fgets(text, sizeof(text), file)) {
		last = strrchr(text, ')');
		death.known = last && (last[2] == 'Z' || last[2] == 'X');
		last = strrchr(text, ' ');
		death.status = last ? atoi(last) : 0;
	}
	fclose(file);
	return death;
}

struct ap_death ap_process_watch_death(const struct ap_process_watch *watch, pid_t pid)
{
	struct ap_process process;
	uint32_t key = pid;

	if (!watch ||
		bpf_map_lookup_elem(bpf_map__fd(watch->skeleton->maps.processes), &key, &process) ||
		!process.ended_ns)
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
	process_bpf__destroy(watch->skeleton);
	free(watch);
}

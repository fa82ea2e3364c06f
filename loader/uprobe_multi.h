/* SPDX-License-Identifier: MIT */
/*
 * The kernel's uprobe_multi (6.6): one link for many places of a file, for which CAP_BPF and
 * CAP_PERFMON are enough, while perf's uprobes have asked for CAP_SYS_ADMIN since 2025. libbpf 1.1
 * does not know it.
 */
#ifndef ALLOCPROF_UPROBE_MULTI_H
#define ALLOCPROF_UPROBE_MULTI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* What a program has to be loaded for (enum bpf_attach_type; newer than Debian 12's header). */
#define AP_TRACE_UPROBE_MULTI 48

/*
 * Whether this kernel's does what is needed: tried out on this process, which takes some 50 ms. The
 * first kernels that had it served one thread instead of its process, or raise no semaphore.
 */
bool ap_uprobe_multi_works(void);

/*
 * Attaches a program to places of a file, for all threads of a process and no other process. The
 * first thread of the process must be alive now; what is attached stays when it exits. Returns a
 * link, which is taken out when its last descriptor is closed, or a negative errno.
 */
int ap_uprobe_multi_attach(int program, const char *path, const uint64_t *offsets,
	const uint64_t *semaphores, size_t count, pid_t pid);

#endif

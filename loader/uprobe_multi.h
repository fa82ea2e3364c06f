/* SPDX-License-Identifier: MIT */
/*
 * The kernel's uprobe_multi (6.6): one link for many sites in a file. CAP_BPF and
 * CAP_PERFMON are enough for it, while perf uprobes have needed CAP_SYS_ADMIN since 2025.
 * libbpf 1.1 does not know it.
 */
#ifndef ALLOCPROF_UPROBE_MULTI_H
#define ALLOCPROF_UPROBE_MULTI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * The expected attach type of its programs (enum bpf_attach_type; newer than Debian 12's header).
 */
#define AP_TRACE_UPROBE_MULTI 48

/*
 * Whether it works in this kernel: it is tried on this process, which takes some 50 ms. The first
 * kernels with it serve one thread instead of the whole process, or do not raise semaphores.
 */
bool ap_uprobe_multi_works(void);

/*
 * Attaches a program to sites in a file, for all threads of one process, or with pid 0 for every
 * process. The first thread of the process must be alive now, and may exit later. `offsets` and
 * `semaphores` (0: none) are file offsets. Returns the descriptor of a link, which is detached when
 * its last descriptor is closed, or a negative errno.
 */
int ap_uprobe_multi_attach(int program, const char *path, const uint64_t *offsets,
	const uint64_t *semaphores, size_t count, pid_t pid);

#endif

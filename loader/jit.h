/* SPDX-License-Identifier: MIT */
/*
 * The names of code that a runtime makes, from the files that it writes for perf: jitdump, see
 * jit_dump.h, and /tmp/perf-PID.map, with lines of START SIZE NAME, where PID and /tmp are those of
 * the target's own namespaces. node writes the latter with --perf-basic-prof, python since 3.12
 * with -X perf.
 *
 * The target writes these files, and we may be root: the map is looked for inside the target's
 * root, must be a regular file of the target's user or root, and is read up to a limit.
 */
#ifndef ALLOCPROF_JIT_H
#define ALLOCPROF_JIT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "jit_code.h"

struct ap_mapping_table;
struct ap_process_files;

struct ap_jit {
	int folder; /* the target's /tmp, held open; -1: none */
	pid_t pid;  /* in the target's own namespace */
	uid_t user;
	struct ap_jit_code map, dump;
};

#define AP_JIT_NONE          \
	(struct ap_jit)      \
	{                    \
		.folder = -1 \
	}

/* One name for an address, with its line where that is known. */
struct ap_jit_place {
	const char *name;
	const char *file; /* "" unknown */
	uint32_t line;	  /* 0 unknown */
};

/*
 * To be called while the process lives. 0 or a negative errno; *jit is to be cleared in any case.
 */
int ap_jit_open(struct ap_jit *jit, const struct ap_process_files *files, pid_t pid);

/*
 * Reads the map (again); works after the process has exited, too. 0; -ENOENT: there is
 * none; -EPERM: it is not a regular file of the target's user or root; -ENOMEM, or
 * another negative errno.
 */
int ap_jit_read_map(struct ap_jit *jit);

/*
 * Reads the dumps (again) that the target has mapped, up to the moment `until_ns` of
 * CLOCK_MONOTONIC. 0 or -ENOMEM.
 */
int ap_jit_read_dumps(struct ap_jit *jit, const struct ap_mapping_table *table, uint64_t until_ns);

/* The code at an address: true and *ret, whose strings live until the next reading. */
bool ap_jit_find(const struct ap_jit *jit, uint64_t address, struct ap_jit_place *ret);

void ap_jit_clear(struct ap_jit *jit);

#endif

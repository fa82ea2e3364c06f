/* SPDX-License-Identifier: MIT */
/*
 * The names of code that a runtime makes, from the file that it writes for perf:
 * /tmp/perf-PID.map, with lines of START SIZE NAME, in the target's own mount namespace and with
 * the number that it has in its own. node writes one with --perf-basic-prof, python since 3.12 with
 * -X perf.
 *
 * The target writes this file, and we may be root: it is looked for inside the target's root, must
 * be a regular file of the target's user, and is read up to a limit.
 */
#ifndef ALLOCPROF_JIT_MAP_H
#define ALLOCPROF_JIT_MAP_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct ap_jit_symbol {
	uint64_t start, end;
	uint32_t order; /* in the file: of two for one address the later holds */
	const char *name;
};

struct ap_jit_map {
	int folder; /* the target's /tmp, held open; -1: none */
	pid_t pid;  /* in the target's own namespace */
	uid_t user;
	char *text; /* the file; names are in it */
	struct ap_jit_symbol *symbols;
	size_t count;
};

#define AP_JIT_MAP_NONE      \
	(struct ap_jit_map)  \
	{                    \
		.folder = -1 \
	}

/* While the process is there. 0 or a negative errno; *map is to be cleared in any case. */
int ap_jit_map_open(struct ap_jit_map *map, pid_t pid);

/*
 * Reads the file, also when the process has exited. 0; -ENOENT: there is none; -EPERM: it is not
 * what is read; -ENOMEM, or another negative errno.
 */
int ap_jit_map_read(struct ap_jit_map *map);

/* The name of the code at an address, or NULL. Lives as long as the map. */
const char *ap_jit_map_find(const struct ap_jit_map *map, uint64_t address);

void ap_jit_map_clear(struct ap_jit_map *map);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * jitdump: the file in which runtimes tell perf of the code that they make, jit-PID.dump. node
 * writes one with --perf-prof, LLVM's and Java's perf agents do. A runtime maps it once as if it
 * were code, so that it stands in the process's maps, where we have opened it.
 *
 * What is in it is the target's and is not trusted.
 */
#ifndef ALLOCPROF_JIT_DUMP_H
#define ALLOCPROF_JIT_DUMP_H

#include <stdint.h>

#include "jit_code.h"

/*
 * Adds the code that the file tells of, with its lines, up to the moment `until_ns` of
 * CLOCK_MONOTONIC. What is damaged, or still being written, ends it; what was found before stays.
 * 0; -ENOEXEC: the file is no dump of this machine's byte order; -ENOMEM.
 */
int ap_jit_dump_read(struct ap_jit_code *code, int fd, uint64_t until_ns);

#endif

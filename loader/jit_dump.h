/* SPDX-License-Identifier: MIT */
/*
 * jitdump, jit-PID.dump: the file in which runtimes tell perf of the code that they make.
 * node writes one with --perf-prof, and so do LLVM and Java's perf agents. A runtime maps it
 * once as if it were code, so it shows up in the process's maps and has been opened with the
 * other mapped files.
 *
 * The target writes it, so its content is not trusted.
 */
#ifndef ALLOCPROF_JIT_DUMP_H
#define ALLOCPROF_JIT_DUMP_H

#include <stdint.h>

#include "jit_code.h"

/*
 * Adds the code that the file tells of, with its lines, up to the moment `until_ns` of
 * CLOCK_MONOTONIC. Reading ends at what is damaged or still being written; what was found before
 * stays. 0; -ENOEXEC: the file is no dump of this machine's byte order; -ENOMEM.
 */
int ap_jit_dump_read(struct ap_jit_code *code, int fd, uint64_t until_ns);

#endif

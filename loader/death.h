/* SPDX-License-Identifier: MIT */
/* How a process has ended, and how to say it. */
#ifndef ALLOCPROF_DEATH_H
#define ALLOCPROF_DEATH_H

#include <stdbool.h>
#include <stdint.h>

struct ap_death {
	bool known;    /* false: nobody could tell, and the rest is not set */
	bool oom;      /* by the OOM killer */
	int status;    /* as waitpid() gives it */
	int64_t at_ns; /* Unix time; 0: unknown */
};

/*
 * Writes "exited with status 3", "was killed by SIGSEGV at 14:02:11 UTC", "was killed by the OOM
 * killer at 14:02:11 UTC", or, unknown, "exited"; in local time, which logs have. Returns out.
 */
#define AP_DEATH_TEXT 128
char *ap_death_format(char out[AP_DEATH_TEXT], const struct ap_death *death);

/* Whether it ended because it went wrong: by a signal that says so, or for lack of memory. */
bool ap_death_is_crash(const struct ap_death *death);

#endif

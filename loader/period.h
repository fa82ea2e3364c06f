/* SPDX-License-Identifier: MIT */
/*
 * The target's sampling period: an 8-byte variable in its memory. It is set for the time of a
 * recording and set back at the end. A loader that is killed leaves the new period behind, which
 * changes nothing while nobody listens.
 */
#ifndef ALLOCPROF_PERIOD_H
#define ALLOCPROF_PERIOD_H

#include <stdint.h>
#include <sys/types.h>

struct ap_period {
	int memory; /* /proc/PID/mem; -1: not open */
	uint64_t address;
	uint64_t before, now; /* 0 in the target stands for the default, and is 0 here */
};

/*
 * Opens the target's memory and reads the period at the address. 0 or a negative errno. A period
 * starts as {.memory = -1}.
 */
int ap_period_open(struct ap_period *period, pid_t pid, uint64_t address);

/* 0 or a negative errno. */
int ap_period_set(struct ap_period *period, uint64_t value);

/* Sets back what was changed, when nobody else has changed it since, and closes. */
void ap_period_close(struct ap_period *period);

#endif

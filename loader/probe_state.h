/* SPDX-License-Identifier: MIT */
/*
 * The state of an allocator with probes, read from the memory of its process: its period, and
 * whether it is being recorded.
 */
#ifndef ALLOCPROF_PROBE_STATE_H
#define ALLOCPROF_PROBE_STATE_H

#include <stdbool.h>
#include <stdint.h>

#include "target.h"

struct ap_probe_state {
	bool has_period;     /* the period is known */
	bool attached_known; /* `attached` is known */
	bool attached;	     /* somebody records it, this process or another one */
	uint64_t period;     /* bytes between two samples, mean */
};

/*
 * The state by one probed file of a target, which must have been scanned. How many record it cannot
 * be told: the kernel raises the semaphore of a probe once, however many listen to it.
 */
struct ap_probe_state ap_probe_state_read(
	const struct ap_target *target, const struct ap_probed *probed);

/*
 * Whether the probes of one of its files fire for somebody. From then on the allocator's variables
 * keep what is written to them: in a program that is still being loaded, the dynamic linker maps
 * the whole file before it maps its data over that.
 */
bool ap_probes_attached(const struct ap_target *target);

#endif

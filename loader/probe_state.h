/* SPDX-License-Identifier: MIT */
/* What an allocator with probes is up to, as the memory of its process says. */
#ifndef ALLOCPROF_PROBE_STATE_H
#define ALLOCPROF_PROBE_STATE_H

#include <stdbool.h>
#include <stdint.h>

#include "target.h"

struct ap_probe_state {
	bool has_period;     /* that can be read */
	bool attached_known; /* the same */
	bool attached;	     /* somebody, we or others, records */
	uint64_t period;     /* bytes between two samples, mean */
};

/*
 * Of one file of a target that has been scanned. How many record nobody knows: the kernel counts
 * the semaphore of a probe up once, however many listen to it.
 */
struct ap_probe_state ap_probe_state_read(
	const struct ap_target *target, const struct ap_probed *probed);

/*
 * Whether the probes of one of its files fire for somebody. From then on what is written to the
 * variables of a program that is being loaded stays: a dynamic linker maps a file as a whole before
 * it maps its data.
 */
bool ap_probes_attached(const struct ap_target *target);

#endif

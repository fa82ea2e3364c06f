/* SPDX-License-Identifier: MIT */
/*
 * The checks of `allocprof doctor`: each thing that a recording depends on, for somebody who
 * wonders why it fails.
 */
#ifndef ALLOCPROF_CHECKUP_H
#define ALLOCPROF_CHECKUP_H

#include <stddef.h>
#include <sys/types.h>

/* A warning: recording works, with a drawback. A failure: recording is not possible. */
enum ap_verdict { AP_VERDICT_OK, AP_VERDICT_WARN, AP_VERDICT_FAIL };

struct ap_check {
	enum ap_verdict verdict;
	const char *name;
	char text[512]; /* what was found; printable */
	char hint[384]; /* what to type or to do; "" nothing */
};

#define AP_CHECKS_MAX 24

struct ap_checkup {
	struct ap_check checks[AP_CHECKS_MAX];
	size_t count;
};

/*
 * Adds the checks of this machine and this user. Loads the BPF programs to see whether they can be.
 */
void ap_checkup_machine(struct ap_checkup *checkup);

/* Adds the checks of a process. */
void ap_checkup_target(struct ap_checkup *checkup, pid_t pid);

/* The worst of them. */
enum ap_verdict ap_checkup_verdict(const struct ap_checkup *checkup);

#endif

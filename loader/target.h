/* SPDX-License-Identifier: MIT */
/*
 * The process to be profiled: who it is, what it has mapped, where its probes are, and a thread of
 * it that is alive.
 */
#ifndef ALLOCPROF_TARGET_H
#define ALLOCPROF_TARGET_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "error.h"
#include "mapping.h"
#include "usdt.h"

/* A mapped file with probes. */
struct ap_probed {
	struct ap_object *object;
	struct ap_usdt usdt;
	int err; /* why its probes cannot be used: -ENOTSUP, -E2BIG; 0: they can */
	/* Addresses of its variables in the target; 0: it has no such variable. */
	uint64_t period_address, guard_address;
};

struct ap_target {
	pid_t pid;
	int pidfd;	    /* readable when the process has exited */
	char comm[64];	    /* printable */
	char command[4096]; /* the command line, as the process shows it; "" unknown */
	struct ap_mapping_table table;
	struct ap_probed *probed;
	size_t probed_count;
	size_t objects_seen; /* how many of the table's objects have been searched for probes */
};

/* A target starts as {.pidfd = -1} and can be cleared at any time after that. */
void ap_target_clear(struct ap_target *target);

/* Opens the process: pidfd and names. 0 or a negative errno, with the error filled in. */
int ap_target_open(struct ap_target *target, pid_t pid, struct ap_error *error);

/*
 * Reads the mappings (again), opens new files and searches them for probes. 0 or a negative errno,
 * with the error filled in.
 */
int ap_target_scan(struct ap_target *target, struct ap_error *error);

/* The second half of that: searches the files of the table that have not been searched yet. */
int ap_target_search(struct ap_target *target, struct ap_error *error);

/* Fails when not both probes have been found: -ENOENT or -EPERM, with the error filled in. */
int ap_target_check_probes(const struct ap_target *target, struct ap_error *error);

/*
 * Whether its program has a malloc without probes, which takes precedence over
 * those of all libraries.
 */
bool ap_target_is_shadowed(const struct ap_target *target);

/*
 * The address in the target of something in a probed file, given by its address as linked. It is
 * computed from the mapping of the file's code. 0: the file is not mapped.
 */
uint64_t ap_target_address(
	const struct ap_target *target, const struct ap_probed *probed, uint64_t variable);

/* Reads comm and command again: an exec changes them. */
void ap_target_read_names(struct ap_target *target);

/*
 * A thread that is alive, preferably the first: the kernel reports success for a probe on a thread
 * that has exited, and never fires it. 0: there is none.
 */
pid_t ap_target_live_thread(const struct ap_target *target);

/* Whether the thread is alive. */
bool ap_thread_alive(pid_t pid, pid_t tid);

#endif

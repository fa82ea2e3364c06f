/* SPDX-License-Identifier: MIT */
/* The container that a process is in, as its control group names it. */
#ifndef ALLOCPROF_CONTAINER_H
#define ALLOCPROF_CONTAINER_H

#include <sys/types.h>

/*
 * An id as text: its first twelve digits, as docker, podman and crictl show them;
 * "": in no container.
 */
#define AP_CONTAINER_TEXT 13

/*
 * Finds the id in the text of a cgroup file: the last 64 hexadecimal digits, which docker,
 * containerd, CRI-O and podman put there each in their own way. Returns out.
 */
char *ap_container_parse(char out[AP_CONTAINER_TEXT], const char *cgroup);

/* The same of a process, from its /proc/PID/cgroup. Returns out. */
char *ap_container_of(char out[AP_CONTAINER_TEXT], pid_t pid);

#endif

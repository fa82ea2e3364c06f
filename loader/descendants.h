/* SPDX-License-Identifier: MIT */
/* The descendants that processes have already, when their children to come are followed. */
#ifndef ALLOCPROF_DESCENDANTS_H
#define ALLOCPROF_DESCENDANTS_H

#include "process_watch.h"

/* Watches them all. 0; -ENOSPC: there are too many; or another negative errno. */
int ap_descendants_watch(struct ap_process_watch *watch);

#endif

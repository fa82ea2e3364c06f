/* SPDX-License-Identifier: MIT */
/* A profile that may be shown to strangers: --redact. */
#ifndef ALLOCPROF_REDACT_H
#define ALLOCPROF_REDACT_H

#include "profile.h"

/*
 * Takes from a profile what tells of the machine and of its owner: the folders of programs,
 * libraries and source files, also inside the names of compiled code; the arguments of the command;
 * the name of the host. Names of functions and files, build ids and numbers stay, or nothing could
 * be read from it. Afterwards it may be read, written and merged into another, but takes no more
 * mappings and functions: it would not find those that it has. 0 or -ENOMEM.
 */
int ap_profile_redact(struct ap_profile *profile);

#endif

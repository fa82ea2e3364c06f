/* SPDX-License-Identifier: MIT */
/* Makes a profile fit to be shown to strangers: --redact. */
#ifndef ALLOCPROF_REDACT_H
#define ALLOCPROF_REDACT_H

#include "profile.h"

/*
 * Takes from a profile what tells of the machine and of its owner: the folders of programs,
 * libraries and source files, also inside the names of compiled code; the arguments of the command;
 * the name of the host. Names of functions and files, build ids and numbers stay, or the profile
 * would tell nothing. Afterwards it may be read, written and merged into another, but nothing may
 * be added to it any more: it would not find the mappings and functions that it has. 0 or -ENOMEM.
 */
int ap_profile_redact(struct ap_profile *profile);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * The rights of this process: its capabilities, and the user who ran it through sudo. A recording
 * gives up what it does not need any more before it reads the target's files.
 */
#ifndef ALLOCPROF_PRIVILEGE_H
#define ALLOCPROF_PRIVILEGE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* A set of capabilities, by the numbers of <linux/capability.h>. */
#define AP_CAPABILITY(number) (1ULL << (number))

/* The effective capabilities; 0 also when they cannot be read. */
uint64_t ap_capabilities(void);

struct ap_sudo_user {
	bool known; /* this process is root because somebody typed sudo */
	uid_t uid;
	gid_t gid;
};

/*
 * Reads SUDO_UID and SUDO_GID from the environment, if this process is root. 0, or -EINVAL when
 * they are no numbers.
 */
int ap_sudo_user_find(struct ap_sudo_user *ret);

/* Becomes that user, groups included; does nothing when it is not known. 0 or a negative errno. */
int ap_sudo_user_become(const struct ap_sudo_user *user);

/*
 * Becomes the user, keeps only the capabilities of `keep`, and sets no_new_privs, so that no
 * program executed later gains more. 0, or a negative errno when only some of that was done.
 */
int ap_privilege_drop(const struct ap_sudo_user *user, uint64_t keep);

#endif

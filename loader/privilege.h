/* SPDX-License-Identifier: MIT */
/*
 * The rights of this process: its capabilities, and the user that sudo has made it root for. A
 * recording gives up what it does not need any more before it reads what is the target's.
 */
#ifndef ALLOCPROF_PRIVILEGE_H
#define ALLOCPROF_PRIVILEGE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* A set of capabilities, by the numbers of <linux/capability.h>. */
#define AP_CAPABILITY(number) (1ULL << (number))

/* The effective ones; 0 also when they cannot be told. */
uint64_t ap_capabilities(void);

struct ap_sudo_user {
	bool known; /* this process is root because somebody typed sudo */
	uid_t uid;
	gid_t gid;
};

/* From the environment, when this process is root. 0, or -EINVAL when what stands there is damaged.
 */
int ap_sudo_user_find(struct ap_sudo_user *ret);

/* Becomes that user, groups included. Nothing is done when it is not known. 0 or a negative errno.
 */
int ap_sudo_user_become(const struct ap_sudo_user *user);

/*
 * Becomes the user, keeps no other capabilities than those, and lets no program that is executed
 * later have more (no_new_privs). 0 or a negative errno: some may be gone then.
 */
int ap_privilege_drop(const struct ap_sudo_user *user, uint64_t keep);

#endif

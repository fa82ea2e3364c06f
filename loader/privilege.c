// SPDX-License-Identifier: MIT
#include "privilege.h"

#include <grp.h>
#include <linux/capability.h>
#include <pwd.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "error.h"

static int capabilities_get(struct __user_cap_data_struct sets[_LINUX_CAPABILITY_U32S_3])
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};

	return syscall(SYS_capget, &header, sets) ? ap_errno() : 0;
}

static uint64_t set_join(uint32_t low, uint32_t high)
{
	return (uint64_t)high << 32 | low;
}

uint64_t ap_capabilities(void)
{
	struct __user_cap_data_struct sets[_LINUX_CAPABILITY_U32S_3];

	return capabilities_get(sets) ? 0 : set_join(sets[0].effective, sets[1].effective);
}

static int id_parse(const char *text, unsigned int *ret)
{
	unsigned long number;
	char *end;

	errno = 0;
	number = strtoul(text, &end, 10);
	if (errno || *end || end == text || number >= UINT32_MAX)
		return -EINVAL;
	*ret = number;
	return 0;
}

int ap_sudo_user_find(struct ap_sudo_user *ret)
{
	const char *uid = getenv("SUDO_UID"), *gid = getenv("SUDO_GID");

	*ret = (struct ap_sudo_user){0};
	if (!uid || !gid || geteuid())
		return 0;
	if (id_parse(uid, &ret->uid) || id_parse(gid, &ret->gid))
		return -EINVAL;
	ret->known = true;
	return 0;
}

int ap_sudo_user_become(const struct ap_sudo_user *user)
{
	struct passwd *entry;

	if (!user->known)
		return 0;
	entry = getpwuid(user->uid);
	if (entry ? initgroups(entry->pw_name, user->gid) : setgroups(0, NULL))
		return ap_errno();
	if (setresgid(user->gid, user->gid, user->gid) ||
		setresuid(user->uid, user->uid, user->uid))
		return ap_errno();
	return 0;
}

int ap_privilege_drop(const struct ap_sudo_user *user, uint64_t keep)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct sets[_LINUX_CAPABILITY_U32S_3];
	int err;

	/* Without CAP_SETPCAP the bounding set stays, which does no harm: no_new_privs is set. */
	for (int number = 0; prctl(PR_CAPBSET_READ, number) >= 0; number++)
		if (!(keep & AP_CAPABILITY(number)))
			prctl(PR_CAPBSET_DROP, number);
	/* Otherwise changing the user would drop all capabilities. */
	if (prctl(PR_SET_KEEPCAPS, 1))
		return ap_errno();
	err = ap_sudo_user_become(user);
	if (err)
		return err;
	err = capabilities_get(sets);
	if (err)
		return err;
	for (unsigned int i = 0; i < _LINUX_CAPABILITY_U32S_3; i++) {
		sets[i].permitted &= (uint32_t)(keep >> (32 * i));
		sets[i].effective = sets[i].permitted;
		sets[i].inheritable = 0;
	}
	/* Clearing the inheritable set clears the ambient one, too. */
	if (syscall(SYS_capset, &header, sets) || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		return ap_errno();
	return 0;
}

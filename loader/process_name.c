// SPDX-License-Identifier: MIT
#include "process_name.h"

#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "printable.h"
#include "proc.h"

#define COMM_MAX 15 /* without the NUL: TASK_COMM_LEN of the kernel */

/* Numbers that a message has room for. */
#define LISTED 12

static bool has_name(pid_t pid, const char *name)
{
	char comm[COMM_MAX + 2];

	if (ap_proc_read(pid, "comm", comm, sizeof(comm)) < 0)
		return false;
	comm[strcspn(comm, "\n")] = '\0';
	return strncmp(comm, name, COMM_MAX) == 0;
}

int ap_process_by_name(const char *name, pid_t *ret, struct ap_error *error)
{
	DIR *folder = opendir("/proc");
	char list[LISTED * 12 + 8] = "", shown[64];
	unsigned int count = 0;
	size_t used = 0;
	int err = folder ? 0 : ap_errno();

	ap_printable(shown, sizeof(shown), name);
	if (err)
		return ap_error_errno(error, AP_EXIT_FAILURE, err, "cannot read /proc");
	for (const struct dirent *entry; (entry = readdir(folder));) {
		pid_t pid = atoi(entry->d_name);

		if (pid <= 0 || pid == getpid() || !has_name(pid, name))
			continue;
		*ret = pid;
		if (++count <= LISTED)
			used += (size_t)snprintf(list + used, sizeof(list) - used, " %d", pid);
		else if (count == LISTED + 1)
			snprintf(list + used, sizeof(list) - used, " ...");
	}
	closedir(folder);
	if (count == 1)
		return 0;
	if (!count) {
		ap_error_what(error, AP_EXIT_NO_PROCESS, "no process named %s", shown);
		ap_error_hint(error, "find it with: ps -e -o pid,comm");
		return -ESRCH;
	}
	ap_error_what(
		error, AP_EXIT_NO_PROCESS, "%u processes are named %s:%s", count, shown, list);
	ap_error_hint(error, "give the number of one of them");
	return -EEXIST;
}

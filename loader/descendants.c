// SPDX-License-Identifier: MIT
#include "descendants.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>

#include "proc.h"
#include "process_watch.h"

static pid_t parent_of(pid_t pid)
{
	struct ap_proc_stat stat;

	return ap_proc_stat(pid, 0, &stat) ? 0 : stat.parent;
}

/* Adds the children of watched processes. Returns how many were added, or a negative errno. */
static int descendants_add(struct ap_process_watch *watch)
{
	DIR *processes = opendir("/proc");
	struct dirent *entry;
	struct ap_process known;
	int added = 0;

	if (!processes)
		return -errno;
	while ((entry = readdir(processes)) && added >= 0) {
		pid_t pid = atoi(entry->d_name);

		if (pid <= 0 || ap_process_watch_get(watch, pid, &known) ||
			!ap_process_watch_get(watch, parent_of(pid), &known))
			continue;
		if (ap_process_watch_add(watch, pid))
			added = -ENOSPC;
		else
			added++;
	}
	closedir(processes);
	return added;
}

int ap_descendants_watch(struct ap_process_watch *watch)
{
	int added;

	do {
		added = descendants_add(watch);
	} while (added > 0);
	return added;
}

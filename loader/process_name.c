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
#include "table.h"

#define COMM_MAX 15 /* without the NUL: TASK_COMM_LEN of the kernel */

/* How many pids a message lists. */
#define LISTED 12

/* How many generations up an ancestor is searched. */
#define ANCESTORS_MAX 64

static bool has_name(pid_t pid, const char *name)
{
	char comm[COMM_MAX + 2];

	if (ap_proc_read(pid, "comm", comm, sizeof(comm)) < 0)
		return false;
	comm[strcspn(comm, "\n")] = '\0';
	return strncmp(comm, name, COMM_MAX) == 0;
}

struct named {
	pid_t *pids;
	uint32_t count, room;
};

static int named_find(struct named *named, const char *name)
{
	DIR *folder = opendir("/proc");
	int err = folder ? 0 : ap_errno();

	if (err)
		return err;
	for (const struct dirent *entry; !err && (entry = readdir(folder));) {
		pid_t pid = atoi(entry->d_name);

		if (pid <= 0 || pid == getpid() || !has_name(pid, name))
			continue;
		err = ap_array_grow(
			(void **)&named->pids, named->count, &named->room, sizeof(*named->pids));
		if (!err)
			named->pids[named->count++] = pid;
	}
	closedir(folder);
	return err;
}

static bool named_has(const struct named *named, pid_t pid)
{
	for (uint32_t i = 0; i < named->count; i++)
		if (named->pids[i] == pid)
			return true;
	return false;
}

static bool has_named_ancestor(const struct named *named, pid_t pid)
{
	struct ap_proc_stat stat;

	for (int i = 0; i < ANCESTORS_MAX && !ap_proc_stat(pid, 0, &stat); i++) {
		pid = stat.parent;
		if (named_has(named, pid))
			return true;
	}
	return false;
}

/* The process that all others descend from; 0: there is none. */
static pid_t named_root(const struct named *named)
{
	pid_t root = 0;

	for (uint32_t i = 0; i < named->count; i++) {
		if (has_named_ancestor(named, named->pids[i]))
			continue;
		if (root)
			return 0;
		root = named->pids[i];
	}
	return root;
}

static void several_explain(
	struct ap_error *error, const struct named *named, pid_t root, const char *shown)
{
	char list[LISTED * 12 + 8] = "";
	size_t used = 0;

	for (uint32_t i = 0; i < named->count && i < LISTED; i++)
		used += (size_t)snprintf(list + used, sizeof(list) - used, " %d", named->pids[i]);
	if (named->count > LISTED)
		snprintf(list + used, sizeof(list) - used, " ...");
	ap_error_what(error, AP_EXIT_NO_PROCESS, "%u processes are named %s:%s", named->count,
		shown, list);
	ap_error_hint(error, "give the number of one of them");
	if (root)
		ap_error_hint(error,
			"give the number of one of them; the others descend from %d, and are "
			"recorded with it by attach --tree",
			root);
}

int ap_process_by_name(const char *name, bool of_tree, pid_t *ret, struct ap_error *error)
{
	struct named named = {0};
	char shown[64];
	pid_t root;
	int err = named_find(&named, name);

	ap_printable(shown, sizeof(shown), name);
	root = named_root(&named);
	if (err) {
		ap_error_errno(error, AP_EXIT_FAILURE, err, "cannot read /proc");
	} else if (!named.count) {
		ap_error_what(error, AP_EXIT_NO_PROCESS, "no process named %s", shown);
		ap_error_hint(error, "find it with: ps -e -o pid,comm");
		err = -ESRCH;
	} else if (root && (of_tree || named.count == 1)) {
		*ret = root;
	} else {
		several_explain(error, &named, root, shown);
		err = -EEXIST;
	}
	free(named.pids);
	return err;
}

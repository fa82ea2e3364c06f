// SPDX-License-Identifier: MIT
#include "target.h"

#include <dirent.h>
#include <errno.h>
#include <linux/capability.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "preload.h"
#include "printable.h"
#include "privilege.h"
#include "proc.h"

bool ap_thread_alive(pid_t pid, pid_t tid)
{
	struct ap_proc_stat stat;

	return !ap_proc_stat(pid, tid, &stat) && stat.state != 'Z' && stat.state != 'X' &&
	       stat.state != 'x';
}

pid_t ap_target_live_thread(const struct ap_target *target)
{
	char path[64];
	struct dirent *entry;
	pid_t found = 0;
	DIR *tasks;

	if (ap_thread_alive(target->pid, target->pid))
		return target->pid;
	snprintf(path, sizeof(path), "/proc/%d/task", target->pid);
	tasks = opendir(path);
	if (!tasks)
		return 0;
	while (!found && (entry = readdir(tasks))) {
		pid_t tid = atoi(entry->d_name);

		if (tid > 0 && ap_thread_alive(target->pid, tid))
			found = tid;
	}
	closedir(tasks);
	return found;
}

void ap_target_read_names(struct ap_target *target)
{
	char text[sizeof(target->command)];
	ssize_t length = ap_proc_read(target->pid, "comm", text, sizeof(text));
	pid_t tid;

	if (length > 0) {
		text[length - (text[length - 1] == '\n')] = '\0';
		ap_printable(target->comm, sizeof(target->comm), text);
	}
	/* A first thread that has exited has no command line. */
	tid = ap_target_live_thread(target);
	length = tid ? ap_proc_read(tid, "cmdline", text, sizeof(text)) : 0;
	if (length <= 0)
		return;
	while (length > 0 && !text[length - 1])
		length--;
	for (ssize_t i = 0; i < length; i++)
		if (!text[i])
			text[i] = ' ';
	text[length] = '\0';
	ap_printable(target->command, sizeof(target->command), text);
}

static int no_process(struct ap_error *error, pid_t pid)
{
	ap_error_what(error, AP_EXIT_NO_PROCESS, "no process %d", pid);
	ap_error_hint(error, "find its number with: pgrep -a NAME");
	return -ESRCH;
}

static int no_permission(struct ap_error *error, const struct ap_target *target, const char *what)
{
	ap_error_what(error, AP_EXIT_PERMISSION, "no permission to %s process %d (%s)", what,
		target->pid, target->comm);
	if (geteuid())
		ap_error_hint(error, "run allocprof with sudo, or as root");
	else if (ap_capabilities() & AP_CAPABILITY(CAP_SYS_PTRACE))
		ap_error_hint(error,
			"it is in another user namespace, or a security module forbids "
			"it: run allocprof on the host, and see dmesg");
	else
		ap_error_hint(error, "this root lacks CAP_SYS_PTRACE; in a container: "
				     "--cap-add=SYS_PTRACE, or run allocprof on the host");
	return -EPERM;
}

static int kernel_thread(struct ap_error *error, const struct ap_target *target)
{
	ap_error_what(error, AP_EXIT_NO_PROBE, "process %d (%s) is a thread of the kernel",
		target->pid, target->comm);
	ap_error_detail(error, "it has no memory of its own, and no allocator");
	ap_error_hint(error, "see what can be recorded with: allocprof list");
	return -ENOENT;
}

int ap_target_open(struct ap_target *target, pid_t pid, struct ap_error *error)
{
	char text[2048], *tgid;
	struct ap_proc_stat stat;
	int err;

	target->pid = pid;
	snprintf(target->comm, sizeof(target->comm), "?");
	target->pidfd = syscall(SYS_pidfd_open, pid, 0);
	err = -errno;
	if (target->pidfd < 0) {
		/*
		 * For a thread that is not the first of its process pidfd_open() fails with EINVAL,
		 * or ENOENT since 6.9.
		 */
		ap_proc_read(pid, "status", text, sizeof(text));
		tgid = strstr(text, "\nTgid:");
		if (tgid && atoi(tgid + 6) != pid) {
			no_process(error, pid);
			ap_error_detail(error, "%d is a thread of process %d", pid, atoi(tgid + 6));
			ap_error_hint(error, "allocprof attach %d", atoi(tgid + 6));
			return -ESRCH;
		}
		if (err == -ESRCH || err == -EINVAL || err == -ENOENT)
			return no_process(error, pid);
		return ap_error_errno(
			error, AP_EXIT_FAILURE, err, "cannot open process %d (pidfd_open)", pid);
	}
	ap_target_read_names(target);
	if (!ap_target_live_thread(target)) {
		no_process(error, pid);
		ap_error_detail(error, "it has exited, but its parent has not collected it yet");
		return -ESRCH;
	}
	if (!ap_proc_stat(pid, 0, &stat) && stat.is_kernel)
		return kernel_thread(error, target);
	return 0;
}

/* The mapping of the code that has a file's probes. NULL: none. */
static const struct ap_mapping *probed_mapping(
	const struct ap_target *target, const struct ap_probed *probed)
{
	const struct ap_mapping_table *table = &target->table;
	uint64_t site = probed->usdt.site[0].offset;

	for (size_t i = 0; i < table->current_count && probed->usdt.count; i++) {
		const struct ap_mapping *mapping = table->mappings[table->current[i]];

		if (mapping->object == probed->object && site >= mapping->offset &&
			site - mapping->offset < mapping->end - mapping->start)
			return mapping;
	}
	return NULL;
}

uint64_t ap_target_address(
	const struct ap_target *target, const struct ap_probed *probed, uint64_t variable)
{
	const struct ap_mapping *mapping = variable ? probed_mapping(target, probed) : NULL;

	return mapping ? mapping->start + probed->usdt.text_offset - mapping->offset -
				 probed->usdt.text_address + variable
		       : 0;
}

int ap_target_search(struct ap_target *target, struct ap_error *error)
{
	int err;

	for (; target->objects_seen < target->table.object_count; target->objects_seen++) {
		struct ap_object *object = target->table.objects[target->objects_seen];
		struct ap_probed *grown;
		struct ap_usdt usdt;

		if (object->fd < 0)
			continue;
		err = ap_usdt_read(object->fd, &usdt);
		if (err && err != -ENOTSUP && err != -E2BIG)
			continue;
		if (err)
			usdt.count = 0;
		grown = reallocarray(target->probed, target->probed_count + 1, sizeof(*grown));
		if (!grown)
			return ap_error_errno(error, AP_EXIT_FAILURE, -ENOMEM,
				"cannot look for the probes of process %d", target->pid);
		target->probed = grown;
		grown += target->probed_count++;
		*grown = (struct ap_probed){.object = object, .usdt = usdt, .err = err};
	}
	for (size_t i = 0; i < target->probed_count; i++) {
		struct ap_probed *probed = &target->probed[i];

		probed->period_address = ap_target_address(target, probed, probed->usdt.period);
		probed->guard_address = ap_target_address(target, probed, probed->usdt.guard);
	}
	return 0;
}

int ap_target_scan(struct ap_target *target, struct ap_error *error)
{
	pid_t tid = ap_target_live_thread(target);
	int err = tid ? ap_mapping_table_read(&target->table, tid) : -ESRCH;

	if (err == -EACCES || err == -EPERM)
		return no_permission(error, target, "look into");
	if (err == -ESRCH) {
		no_process(error, target->pid);
		ap_error_detail(error, "it exited before it could be looked at");
		return err;
	}
	if (err)
		return ap_error_errno(error, AP_EXIT_FAILURE, err,
			"cannot read the mappings of process %d", target->pid);
	return ap_target_search(target, error);
}

static bool has_both(const struct ap_usdt *usdt)
{
	unsigned int kinds = 0;

	for (size_t i = 0; i < usdt->count; i++)
		kinds |= 1U << usdt->site[i].kind;
	return kinds == (1U << AP_USDT_ALLOC | 1U << AP_USDT_FREE);
}

bool ap_target_is_shadowed(const struct ap_target *target)
{
	const struct ap_mapping *program = target->table.program;

	if (!program || !program->object)
		return false;
	for (size_t i = 0; i < target->probed_count; i++)
		if (target->probed[i].object == program->object)
			return false;
	return ap_preload_is_shadowed(program->object->fd);
}

static const char *unusable_why(const struct ap_probed *probed)
{
	if (probed->err == -ENOTSUP)
		return "with their arguments in other places than the contract's registers";
	if (probed->err == -E2BIG)
		return "at too many places";
	return "but not both of alloc and free";
}

int ap_target_check_probes(const struct ap_target *target, struct ap_error *error)
{
	const struct ap_mapping_table *table = &target->table;
	size_t files = 0, unread = 0;
	const struct ap_object *program = table->program ? table->program->object : NULL;
	const char *obstacle = program ? ap_preload_obstacle(program->fd) : NULL;
	char name[128], library[PATH_MAX];

	for (size_t i = 0; i < target->probed_count; i++)
		if (has_both(&target->probed[i].usdt))
			return 0;
	for (size_t i = 0; i < table->object_count; i++) {
		files++;
		unread += table->objects[i]->fd < 0;
	}
	/* Then they are another user's: maps lists them, but they may not be opened. */
	if (unread && unread == files)
		return no_permission(error, target, "read the files of");
	ap_error_what(error, AP_EXIT_NO_PROBE,
		"process %d (%s) does not use an allocator with otel_memory probes", target->pid,
		target->comm);
	if (target->probed_count) {
		ap_printable(name, sizeof(name), target->probed[0].object->path);
		ap_error_detail(error, "%s has probes, %s", name, unusable_why(&target->probed[0]));
	} else if (unread) {
		ap_error_detail(error,
			"none in %zu of its %zu mapped files; the others are not readable",
			files - unread, files);
	} else {
		ap_error_detail(error, "none in its %zu mapped files", files);
	}
	if (obstacle) {
		ap_error_hint(error,
			"its program is %s, which ignores LD_PRELOAD: link it with liballocprof.a",
			obstacle);
		return -ENOENT;
	}
	if (ap_preload_find(library))
		snprintf(library, sizeof(library), "/PATH/TO/liballocprof.so");
	ap_error_hint(
		error, "start it with: allocprof run -- COMMAND, or with LD_PRELOAD=%s", library);
	return -ENOENT;
}

void ap_target_clear(struct ap_target *target)
{
	if (target->pidfd >= 0)
		close(target->pidfd);
	ap_mapping_table_clear(&target->table);
	free(target->probed);
	memset(target, 0, sizeof(*target));
	target->pidfd = -1;
}

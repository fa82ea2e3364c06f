// SPDX-License-Identifier: MIT
#include "checkup.h"

#include <errno.h>
#include <linux/capability.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "preflight.h"
#include "preload.h"
#include "printable.h"
#include "privilege.h"
#include "session.h"
#include "target.h"
#include "units.h"

/* What the maps take with their default sizes, and some room for tables. */
#define MEMORY_WANTED (64ULL << 20)

/* Adds a check with the verdict OK. When there are too many, the last one is used again. */
static struct ap_check *check_add(struct ap_checkup *checkup, const char *name)
{
	struct ap_check *check =
		&checkup->checks[checkup->count < AP_CHECKS_MAX ? checkup->count++
								: AP_CHECKS_MAX - 1];

	*check = (struct ap_check){.name = name};
	return check;
}

static void text_set(struct ap_check *check, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static void text_set(struct ap_check *check, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(check->text, sizeof(check->text), format, args);
	va_end(args);
}

static void hint_set(struct ap_check *check, enum ap_verdict verdict, const char *hint)
{
	check->verdict = verdict;
	snprintf(check->hint, sizeof(check->hint), "%s", hint);
}

/* An error as a check that has failed. */
static void error_take(struct ap_check *check, const struct ap_error *error)
{
	text_set(check, "%s%s%s", error->what, error->detail[0] ? ": " : "", error->detail);
	hint_set(check, AP_VERDICT_FAIL, error->hint);
}

/* ---- The machine ---- */

static void kernel_check(struct ap_checkup *checkup)
{
	struct ap_check *check = check_add(checkup, "kernel");
	unsigned int major = 0, minor = 0;
	struct utsname name;

	if (uname(&name))
		return;
	text_set(check, "%s %s", name.release, name.machine);
	if (sscanf(name.release, "%u.%u", &major, &minor) == 2 &&
		(major < 5 || (major == 5 && minor < 10)))
		hint_set(check, AP_VERDICT_WARN, "Linux 5.10 is the oldest that is known to work");
}

static void btf_check(struct ap_checkup *checkup)
{
	struct ap_check *check = check_add(checkup, "BTF");

	text_set(check, "%s", AP_BTF_PATH);
	if (!access(AP_BTF_PATH, R_OK))
		return;
	text_set(check, "%s: %s", AP_BTF_PATH, strerror(errno));
	hint_set(check, AP_VERDICT_FAIL,
		"boot a kernel that has CONFIG_DEBUG_INFO_BTF=y; in a container, mount /sys");
}

static void capabilities_check(struct ap_checkup *checkup)
{
	struct ap_check *check = check_add(checkup, "capabilities");
	char missing[AP_MISSING_TEXT];

	ap_preflight_missing(missing);
	text_set(check, missing[0] ? "missing %s" : "all that are needed", missing);
	if (missing[0])
		hint_set(check, AP_VERDICT_FAIL, ap_preflight_missing_hint());
	check = check_add(checkup, "user namespace");
	text_set(check, "the initial one");
	if (!ap_in_initial_user_namespace()) {
		text_set(check, "not the initial one: its root has no rights over the kernel");
		hint_set(check, AP_VERDICT_FAIL, "run allocprof on the host");
	}
}

static void lockdown_check(struct ap_checkup *checkup)
{
	struct ap_check *check = check_add(checkup, "lockdown");
	char line[128];
	bool locked = ap_lockdown_read(line, sizeof(line));

	text_set(check, "%s", line[0] ? line : "none");
	if (strstr(line, "[confidentiality]"))
		hint_set(check, AP_VERDICT_FAIL,
			"boot with lockdown=integrity, or without; Secure Boot may have set it");
	else if (locked)
		hint_set(check, AP_VERDICT_WARN,
			"if the programs are refused, boot with lockdown=none");
}

static void features_check(struct ap_checkup *checkup, const struct ap_preflight *kernel)
{
	struct ap_check *check = check_add(checkup, "uprobe_multi");
	bool admin = ap_capabilities() & AP_CAPABILITY(CAP_SYS_ADMIN);
	char paranoid[32];

	text_set(check, "%s", kernel->has_uprobe_multi ? "yes" : "no: perf uprobes are used");
	if (!kernel->has_uprobe_multi && !admin)
		hint_set(check, AP_VERDICT_WARN,
			"sudo allocprof ..., since perf uprobes ask most "
			"kernels for CAP_SYS_ADMIN");
	check = check_add(checkup, "perf_event_paranoid");
	ap_perf_paranoid_read(paranoid, sizeof(paranoid));
	text_set(check, "%s", paranoid);
	if (!kernel->has_uprobe_multi && !admin && strtol(paranoid, NULL, 10) > 2)
		hint_set(check, AP_VERDICT_WARN, "sudo sysctl kernel.perf_event_paranoid=2");
	check = check_add(checkup, "bpf_loop");
	text_set(check, "%s", kernel->has_loop ? "yes" : "no: a program without it is used");
	check = check_add(checkup, "bpf_preempt_disable");
	text_set(check, "%s", kernel->preempt_disable ? "yes" : "no, and not needed");
}

static void memory_check(struct ap_checkup *checkup)
{
	struct ap_check *check = check_add(checkup, "memlock limit");
	char size[AP_SIZE_TEXT], line[64], path[4352], group[4096];
	unsigned long long most = 0;
	struct rlimit limit;
	FILE *file;

	if (getrlimit(RLIMIT_MEMLOCK, &limit))
		return;
	/* Before 5.11 maps count; libbpf raises the limit there, which takes CAP_SYS_RESOURCE. */
	text_set(check, "%s",
		limit.rlim_cur == RLIM_INFINITY ? "none"
						: ap_size_format(size, (double)limit.rlim_cur));
	check = check_add(checkup, "cgroup memory limit");
	text_set(check, "none");
	file = fopen("/proc/self/cgroup", "re");
	if (!file)
		return;
	path[0] = '\0';
	while (fgets(group, sizeof(group), file))
		if (!strncmp(group, "0::", 3)) {
			group[strcspn(group, "\n")] = '\0';
			snprintf(path, sizeof(path), "/sys/fs/cgroup%s/memory.max", group + 3);
		}
	fclose(file);
	file = path[0] ? fopen(path, "re") : NULL;
	if (!file)
		return;
	if (fgets(line, sizeof(line), file) && sscanf(line, "%llu", &most) == 1) {
		text_set(check, "%s", ap_size_format(size, (double)most));
		if (most < MEMORY_WANTED)
			hint_set(check, AP_VERDICT_WARN,
				"allocprof attach --max-stacks 2048 --max-live 8192 PID");
	}
	fclose(file);
}

/* Loads the programs: the kernel may refuse them although all other checks are fine. */
static void programs_check(struct ap_checkup *checkup)
{
	struct ap_session_options options = AP_SESSION_DEFAULTS;
	struct ap_session *session = NULL;
	struct ap_check *check;
	struct ap_error error;

	if (ap_session_open(&session, getpid(), &options, &error)) {
		error_take(check_add(checkup, "BPF programs"), &error);
		return;
	}
	features_check(checkup, ap_session_kernel(session));
	check = check_add(checkup, "BPF programs");
	text_set(check, "accepted by the kernel");
	ap_session_close(session);
}

void ap_checkup_machine(struct ap_checkup *checkup)
{
	kernel_check(checkup);
	btf_check(checkup);
	capabilities_check(checkup);
	lockdown_check(checkup);
	memory_check(checkup);
	/* After another failure this would only repeat it in other words. */
	if (ap_checkup_verdict(checkup) != AP_VERDICT_FAIL)
		programs_check(checkup);
}

/* ---- A process ---- */

/* What keeps a library from being preloaded. */
static void preload_check(struct ap_checkup *checkup, const struct ap_target *target)
{
	const struct ap_mapping *program = target->table.program;
	struct ap_check *check;
	const char *obstacle;

	if (!program || !program->object || program->object->fd < 0)
		return;
	check = check_add(checkup, "LD_PRELOAD");
	obstacle = ap_preload_obstacle(program->object->fd);
	text_set(check, "this program respects it");
	if (obstacle) {
		text_set(check, "the program is %s, which ignores it", obstacle);
		hint_set(check, AP_VERDICT_FAIL, "link the program with liballocprof.a");
	}
}

/*
 * Whether a file is still at the path from which the process has mapped it. The path in maps is
 * relative to the process's root if it has a mount namespace of its own, otherwise (also in a
 * chroot) to ours.
 */
static bool is_in_place(const struct ap_process_files *files, const struct ap_object *object)
{
	int now = ap_process_files_path(files, object->path);
	struct stat status = {0};
	bool found = now >= 0 && !fstat(now, &status) && status.st_ino == object->inode;

	if (now >= 0)
		close(now);
	return found || (!stat(object->path, &status) && status.st_ino == object->inode);
}

/* Warns of mapped files that have been deleted or replaced since. */
static void deleted_check(struct ap_checkup *checkup, const struct ap_target *target)
{
	struct ap_check *check = check_add(checkup, "files");
	const struct ap_mapping_table *table = &target->table;
	size_t gone = 0, unread = 0, files = 0;
	char name[128] = "";

	for (size_t i = 0; i < table->object_count; i++) {
		const struct ap_object *object = table->objects[i];

		if (!object->inode)
			continue;
		files++;
		unread += object->fd < 0;
		if (is_in_place(&table->files, object))
			continue;
		gone++;
		ap_printable(name, sizeof(name), object->path);
	}
	text_set(check, "%zu mapped", files);
	if (unread) {
		text_set(check, "%zu mapped, %zu not readable: no names of their functions", files,
			unread);
		hint_set(check, AP_VERDICT_WARN,
			"sudo allocprof ..., if they are another user's; else restart the process");
	} else if (gone) {
		text_set(check, "%zu mapped, %zu replaced or deleted since, as %s", files, gone,
			name);
		hint_set(check, AP_VERDICT_WARN,
			"a recording works; a restart of the process would use the new files");
	}
}

void ap_checkup_target(struct ap_checkup *checkup, pid_t pid)
{
	struct ap_target target = {.pidfd = -1};
	struct ap_check *check = check_add(checkup, "process");
	struct ap_error error;
	int err = ap_target_open(&target, pid, &error);

	if (!err)
		err = ap_target_scan(&target, &error);
	if (err) {
		error_take(check, &error);
		goto out;
	}
	text_set(check, "%d (%s)", pid, target.comm);
	check = check_add(checkup, "first thread");
	text_set(check, "alive");
	if (!ap_thread_alive(pid, pid)) {
		text_set(check, "exited: perf uprobes are used, on thread %d",
			ap_target_live_thread(&target));
		if (!(ap_capabilities() & AP_CAPABILITY(CAP_SYS_ADMIN)))
			hint_set(check, AP_VERDICT_WARN, "sudo allocprof ...");
	}
	check = check_add(checkup, "probes");
	if (ap_target_check_probes(&target, &error)) {
		error_take(check, &error);
		preload_check(checkup, &target);
	} else {
		char name[128];

		ap_printable(name, sizeof(name), target.probed[0].object->path);
		text_set(check, "%s", name);
		check = check_add(checkup, "sampling period");
		text_set(check, target.probed[0].period_address ? "can be set" : "is fixed");
		check = check_add(checkup, "malloc");
		text_set(check, "not overridden by the program");
		if (ap_target_is_shadowed(&target)) {
			text_set(check,
				"the program has its own, which takes precedence over a library's");
			hint_set(check, AP_VERDICT_WARN, "build the program without it");
		}
	}
	deleted_check(checkup, &target);
out:
	ap_target_clear(&target);
}

enum ap_verdict ap_checkup_verdict(const struct ap_checkup *checkup)
{
	enum ap_verdict worst = AP_VERDICT_OK;

	for (size_t i = 0; i < checkup->count; i++)
		if (checkup->checks[i].verdict > worst)
			worst = checkup->checks[i].verdict;
	return worst;
}

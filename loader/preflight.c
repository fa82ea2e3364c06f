// SPDX-License-Identifier: MIT
#include "preflight.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include <bpf/btf.h>
#include <bpf/libbpf.h>

#include "privilege.h"
#include "uprobe_multi.h"

/* Reads the first line of a small file, without its newline; "" when it cannot be read. */
static void line_read(const char *path, char *out, size_t room)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t length = fd < 0 ? 0 : read(fd, out, room - 1);

	if (fd >= 0)
		close(fd);
	out[length > 0 ? length : 0] = '\0';
	out[strcspn(out, "\n")] = '\0';
}

bool ap_lockdown_read(char *out, size_t room)
{
	line_read("/sys/kernel/security/lockdown", out, room);
	return strstr(out, "[integrity]") || strstr(out, "[confidentiality]");
}

void ap_perf_paranoid_read(char *out, size_t room)
{
	line_read("/proc/sys/kernel/perf_event_paranoid", out, room);
	if (!out[0])
		snprintf(out, room, "unknown");
}

bool ap_in_initial_user_namespace(void)
{
	char line[128];
	unsigned int inside, outside, count;

	line_read("/proc/self/uid_map", line, sizeof(line));
	return sscanf(line, "%u %u %u", &inside, &outside, &count) == 3 && !inside && !outside &&
	       count == UINT32_MAX;
}

void ap_preflight_missing(char out[AP_MISSING_TEXT])
{
	static const struct {
		int number;
		const char *name;
		bool in_admin; /* CAP_SYS_ADMIN will do as well */
	} wanted[] = {
		{CAP_BPF, "CAP_BPF", true},
		{CAP_PERFMON, "CAP_PERFMON", true},
		{CAP_SYS_PTRACE, "CAP_SYS_PTRACE", false},
	};
	uint64_t set = ap_capabilities();
	size_t used = 0;

	out[0] = '\0';
	for (size_t i = 0; i < sizeof(wanted) / sizeof(*wanted); i++)
		if (!(set & AP_CAPABILITY(wanted[i].number)) &&
			!(wanted[i].in_admin && (set & AP_CAPABILITY(CAP_SYS_ADMIN))))
			used += (size_t)snprintf(out + used, AP_MISSING_TEXT - used, "%s%s",
				used ? ", " : "", wanted[i].name);
}

const char *ap_preflight_missing_hint(void)
{
	if (!geteuid())
		return "this root lacks it, as in a container: start that with --pid=host "
		       "--cap-add=BPF --cap-add=PERFMON --cap-add=SYS_PTRACE, or run allocprof on "
		       "the host";
	return "run allocprof with sudo; or once, for Linux 6.6 and later: sudo setcap "
	       "cap_bpf,cap_perfmon,cap_sys_ptrace+ep $(command -v allocprof)";
}

static int check_capabilities(struct ap_error *error)
{
	char missing[AP_MISSING_TEXT];

	ap_preflight_missing(missing);
	if (!missing[0])
		return 0;
	ap_error_what(error, AP_EXIT_PERMISSION, "no permission to profile: missing %s", missing);
	ap_error_hint(error, "%s", ap_preflight_missing_hint());
	return -EPERM;
}

/*
 * Whether a test forces the way of a kernel that has less. ALLOCPROF_FORCE is a list,
 * separated by commas.
 */
static bool is_forced(const char *what)
{
	const char *at = getenv("ALLOCPROF_FORCE");
	size_t length = strlen(what);

	while (at && *at) {
		size_t item = strcspn(at, ",");

		if (item == length && !strncmp(at, what, length))
			return true;
		at += item + (at[item] == ',');
	}
	return false;
}

int ap_preflight(struct ap_preflight *ret, struct ap_error *error)
{
	int err = check_capabilities(error);
	struct btf *btf;

	if (err)
		return err;
	btf = btf__parse(AP_BTF_PATH, NULL);
	if (!btf) {
		err = -errno;
		ap_error_what(error, AP_EXIT_KERNEL,
			"this kernel does not describe its types (BTF), which the BPF programs "
			"need");
		ap_error_detail(error, "%s: %s", AP_BTF_PATH, strerror(-err));
		ap_error_hint(error,
			"boot a kernel that has CONFIG_DEBUG_INFO_BTF=y; those of Debian, "
			"Ubuntu, Fedora and RHEL have it. In a container, mount /sys");
		return err;
	}
	ret->preempt_disable = btf__find_by_name_kind(btf, "bpf_preempt_disable", BTF_KIND_FUNC);
	ret->preempt_enable = btf__find_by_name_kind(btf, "bpf_preempt_enable", BTF_KIND_FUNC);
	btf__free(btf);
	ret->has_loop = libbpf_probe_bpf_helper(BPF_PROG_TYPE_KPROBE, BPF_FUNC_loop, NULL) > 0;
	/* A kernel without bpf_loop is older than the other features, and has none of them. */
	if (is_forced("no-bpf-loop"))
		ret->has_loop = false;
	if (!ret->has_loop || is_forced("no-preempt-disable") || ret->preempt_disable <= 0 ||
		ret->preempt_enable <= 0)
		ret->preempt_disable = ret->preempt_enable = 0;
	ret->has_uprobe_multi = !is_forced("perf-uprobe") && ap_uprobe_multi_works();
	return 0;
}

/*
 * Whether maps count as locked memory, as before 5.11, and may exceed the limit: then creating a
 * map fails with EPERM, and perf with EACCES. The helper that is looked for came with 5.11, too.
 */
static bool is_memlock_limited(void)
{
	struct rlimit limit;

	return !getrlimit(RLIMIT_MEMLOCK, &limit) && limit.rlim_cur != RLIM_INFINITY &&
	       !(ap_capabilities() & AP_CAPABILITY(CAP_SYS_RESOURCE)) &&
	       !libbpf_probe_bpf_helper(
		       BPF_PROG_TYPE_SOCKET_FILTER, BPF_FUNC_ktime_get_coarse_ns, NULL);
}

void ap_preflight_explain(struct ap_error *error, int err, const char *what)
{
	char line[128];
	uint64_t set = ap_capabilities();

	if (err == -ENOMEM || err == -E2BIG) {
		ap_error_what(error, AP_EXIT_FAILURE, "%s: out of memory", what);
		ap_error_hint(error, "try smaller tables: --max-stacks, --max-live");
		return;
	}
	if (err == -EMFILE || err == -ENFILE) {
		ap_error_what(error, AP_EXIT_FAILURE, "%s: too many open files", what);
		ap_error_hint(error, "allow more: ulimit -n 1024");
		return;
	}
	if (err != -EPERM && err != -EACCES) {
		bool lacks =
			err == -EINVAL || err == -ENOSYS || err == -EOPNOTSUPP || err == -ENOTSUP;

		ap_error_what(error, lacks ? AP_EXIT_KERNEL : AP_EXIT_FAILURE, "%s", what);
		ap_error_detail(error, "%s", strerror(-err));
		ap_error_hint(error, "see why with -v; Linux 5.10 is the oldest that can work");
		return;
	}
	ap_error_what(error, AP_EXIT_PERMISSION, "%s: permission denied", what);
	if (!ap_in_initial_user_namespace()) {
		ap_error_detail(
			error, "this is a user namespace: its root has no rights over the kernel");
		ap_error_hint(error, "run allocprof on the host");
		return;
	}
	if (err == -EPERM && is_memlock_limited()) {
		ap_error_detail(error, "this kernel counts maps as locked memory, of which the "
				       "limit is too low");
		ap_error_hint(error, "run allocprof with sudo; or have root raise the limit: "
				     "prlimit --memlock=unlimited --pid $$");
		return;
	}
	if (!(set & AP_CAPABILITY(CAP_SYS_ADMIN))) {
		ap_error_detail(error, "this kernel asks for CAP_SYS_ADMIN");
		ap_error_hint(error, "run allocprof with sudo, or as root");
		return;
	}
	if (ap_lockdown_read(line, sizeof(line))) {
		ap_error_detail(error, "the kernel is locked down: %s", line);
		ap_error_hint(
			error, "see /sys/kernel/security/lockdown; Secure Boot may have set it");
		return;
	}
	ap_perf_paranoid_read(line, sizeof(line));
	ap_error_detail(error,
		"a seccomp filter or a security module refuses it; "
		"kernel.perf_event_paranoid is %s",
		line);
	ap_error_hint(error, "in a container: --privileged, or run allocprof on the host");
}

// SPDX-License-Identifier: MIT
#include "tracee.h"

#include <elf.h>
#include <errno.h>
#include <linux/audit.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "proc.h"

/* Larger than any dynamic linker; libraries are mapped below it, as a rule. */
#define LINKER_SIZE (1ULL << 20)

enum ap_stop ap_tracee_wait(pid_t pid, int flags, int *ret_signal)
{
	siginfo_t info = {0};
	int err;

	do {
		err = waitid(P_PID, (id_t)pid, &info, WEXITED | WSTOPPED | WNOWAIT | flags);
	} while (err && errno == EINTR);
	*ret_signal = 0;
	if (!err && !info.si_pid)
		return AP_STOP_NONE;
	if (err || info.si_code != CLD_TRAPPED)
		return AP_STOP_GONE;
	if (info.si_status == (SIGTRAP | PTRACE_EVENT_EXEC << 8))
		return AP_STOP_EXEC;
	if (info.si_status == (SIGTRAP | PTRACE_EVENT_STOP << 8))
		return AP_STOP_INTERRUPT;
	if (info.si_status == (SIGTRAP | 0x80))
		return AP_STOP_SYSCALL;
	if (info.si_status >> 8)
		return AP_STOP_OTHER;
	*ret_signal = info.si_status;
	return AP_STOP_SIGNAL;
}

/*
 * Whether a system call shows that all libraries are mapped. The dynamic linkers of glibc and musl
 * make relocated data read-only, for each library, after all have been mapped and before any code
 * runs. Calls that only a program makes that has begun count, too.
 */
static bool is_linked(const struct __ptrace_syscall_info *call)
{
	if (call->op != PTRACE_SYSCALL_INFO_ENTRY)
		return false;
	if (call->arch != AUDIT_ARCH_X86_64)
		return true;
	switch (call->entry.nr) {
	case SYS_mprotect:
		return call->entry.args[2] == PROT_READ;
	case SYS_clone:
	case SYS_clone3:
	case SYS_fork:
	case SYS_vfork:
	case SYS_execve:
	case SYS_exit_group:
	case SYS_rt_sigaction:
	case SYS_write:
		return true;
	default:
		return false;
	}
}

enum ap_link ap_tracee_link(pid_t pid)
{
	struct __ptrace_syscall_info call;

	if (ptrace(PTRACE_GET_SYSCALL_INFO, pid, sizeof(call), &call) <= 0)
		return AP_LINK_UNKNOWN;
	return is_linked(&call) ? AP_LINK_DONE : AP_LINK_ON;
}

/* Where the kernel has mapped the linker of the process's program; 0: it has none. */
static uint64_t linker_base(pid_t pid)
{
	Elf64_auxv_t entries[64];
	ssize_t length = ap_proc_read(pid, "auxv", (char *)entries, sizeof(entries));

	for (ssize_t i = 0; (i + 1) * (ssize_t)sizeof(*entries) <= length; i++)
		if (entries[i].a_type == AT_BASE)
			return entries[i].a_un.a_val;
	return 0;
}

static bool is_linkers(pid_t pid, uint64_t code)
{
	uint64_t base = linker_base(pid);

	return base && code >= base && code - base < LINKER_SIZE;
}

bool ap_tracee_links(pid_t pid)
{
	struct __ptrace_syscall_info call;

	return ptrace(PTRACE_GET_SYSCALL_INFO, pid, sizeof(call), &call) > 0 &&
	       is_linkers(pid, call.instruction_pointer);
}

bool ap_process_may_link(pid_t pid)
{
	char text[256], *code;

	/*
	 * "running"; or, of a process inside the kernel, numbers, of which the last is its
	 * instruction pointer.
	 */
	if (ap_proc_read(pid, "syscall", text, sizeof(text)) <= 0)
		return true;
	code = strrchr(text, ' ');
	return !code || is_linkers(pid, strtoull(code + 1, NULL, 16));
}

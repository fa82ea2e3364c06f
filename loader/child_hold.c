// SPDX-License-Identifier: MIT
#include "child_hold.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/capability.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "privilege.h"

/* A library takes ten to twenty, of two stops each. Who needs more is not loading any. */
#define STOPS_MAX 16384

enum stop {
	STOP_NONE, /* it runs */
	STOP_GONE, /* it has ended */
	STOP_EXEC,
	STOP_SYSCALL,
	STOP_SIGNAL, /* one is to be delivered */
	STOP_OTHER,
};

void ap_child_hold_begin(struct ap_child_hold *hold, pid_t pid)
{
	long options = PTRACE_O_TRACEEXEC | PTRACE_O_TRACESYSGOOD;

	*hold = (struct ap_child_hold){0};
	if ((ap_capabilities() & AP_CAPABILITY(CAP_SYS_PTRACE)) &&
		!ptrace(PTRACE_SEIZE, pid, NULL, options))
		hold->pid = pid;
}

/* Where it has stopped; flags: those of waitid(). That it has ended stays to be waited for. */
static enum stop stop_wait(pid_t pid, int flags, int *ret_signal)
{
	siginfo_t info = {0};
	int err;

	do {
		err = waitid(P_PID, (id_t)pid, &info, WEXITED | WSTOPPED | WNOWAIT | flags);
	} while (err && errno == EINTR);
	*ret_signal = 0;
	if (!err && !info.si_pid)
		return STOP_NONE;
	if (err || info.si_code != CLD_TRAPPED)
		return STOP_GONE;
	if (info.si_status == (SIGTRAP | PTRACE_EVENT_EXEC << 8))
		return STOP_EXEC;
	if (info.si_status == (SIGTRAP | 0x80))
		return STOP_SYSCALL;
	if (info.si_status >> 8)
		return STOP_OTHER;
	*ret_signal = info.si_status;
	return STOP_SIGNAL;
}

static void child_leave(struct ap_child_hold *hold, int with_signal)
{
	if (hold->pid)
		ptrace(PTRACE_DETACH, hold->pid, NULL, (long)with_signal);
	*hold = (struct ap_child_hold){0};
}

void ap_child_hold_exec(struct ap_child_hold *hold)
{
	enum stop stop;
	int got;

	if (!hold->pid)
		return;
	stop = stop_wait(hold->pid, 0, &got);
	hold->is_held = stop == STOP_EXEC;
	if (!hold->is_held)
		child_leave(hold, got);
}

/*
 * The dynamic linker takes the right to write from what it has relocated, before it lets anything
 * run: glibc's and musl's do so for each library, after all have been mapped. What a program does
 * otherwise only after it has begun ends the wait.
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

void ap_child_hold_libraries(struct ap_child_hold *hold)
{
	struct __ptrace_syscall_info call;
	int got = 0;

	for (int i = 0; i < STOPS_MAX && hold->pid; i++) {
		enum stop stop = STOP_OTHER;

		if (!ptrace(PTRACE_SYSCALL, hold->pid, NULL, 0L))
			stop = stop_wait(hold->pid, 0, &got);
		if (stop != STOP_SYSCALL ||
			ptrace(PTRACE_GET_SYSCALL_INFO, hold->pid, sizeof(call), &call) <= 0)
			break;
		if (is_linked(&call))
			return;
	}
	child_leave(hold, got);
}

void ap_child_hold_go(struct ap_child_hold *hold)
{
	if (hold->pid && ptrace(PTRACE_CONT, hold->pid, NULL, 0L))
		child_leave(hold, 0);
	hold->is_held = false;
}

static void stop_take(struct ap_child_hold *hold, enum stop stop, int got)
{
	if (!hold->ends && stop == STOP_EXEC)
		hold->is_held = true;
	else if (hold->ends || stop != STOP_SIGNAL ||
		 ptrace(PTRACE_CONT, hold->pid, NULL, (long)got))
		/* What stops it otherwise is job control, which goes on without us, or its end. */
		child_leave(hold, got);
}

/* flags 0: waits until it is held or let go. */
static void stops_take(struct ap_child_hold *hold, int flags)
{
	int got;

	while (hold->pid && !hold->is_held) {
		enum stop stop = stop_wait(hold->pid, flags, &got);

		if (stop == STOP_NONE)
			return;
		stop_take(hold, stop, got);
	}
}

bool ap_child_hold_follow(struct ap_child_hold *hold)
{
	stops_take(hold, WNOHANG);
	if (hold->is_held)
		ap_child_hold_libraries(hold);
	return hold->is_held;
}

void ap_child_hold_end(struct ap_child_hold *hold, unsigned int patience_ms)
{
	if (hold->is_held)
		child_leave(hold, 0);
	if (hold->pid && !hold->ends) {
		/* Only one that stands still can be let go. */
		ptrace(PTRACE_INTERRUPT, hold->pid, NULL, NULL);
		hold->ends = true;
	}
	stops_take(hold, WNOHANG);
	for (unsigned int i = 0; i < patience_ms && hold->pid; i++) {
		usleep(1000);
		stops_take(hold, WNOHANG);
	}
}

void ap_child_hold_wait(struct ap_child_hold *hold)
{
	ap_child_hold_end(hold, 0);
	stops_take(hold, 0);
}

// SPDX-License-Identifier: MIT
#include "child_hold.h"

#include <linux/capability.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "privilege.h"
#include "tracee.h"

/*
 * A library takes ten to twenty system calls, of two stops each. A program that makes more than
 * this is not loading libraries.
 */
#define STOPS_MAX 16384

void ap_child_hold_begin(struct ap_child_hold *hold, pid_t pid)
{
	long options = PTRACE_O_TRACEEXEC | PTRACE_O_TRACESYSGOOD;

	*hold = (struct ap_child_hold){0};
	if ((ap_capabilities() & AP_CAPABILITY(CAP_SYS_PTRACE)) &&
		!ptrace(PTRACE_SEIZE, pid, NULL, options))
		hold->pid = pid;
}

static void child_leave(struct ap_child_hold *hold, int with_signal)
{
	if (hold->pid)
		ptrace(PTRACE_DETACH, hold->pid, NULL, (long)with_signal);
	*hold = (struct ap_child_hold){0};
}

void ap_child_hold_exec(struct ap_child_hold *hold)
{
	enum ap_stop stop;
	int got;

	if (!hold->pid)
		return;
	stop = ap_tracee_wait(hold->pid, 0, &got);
	hold->is_held = stop == AP_STOP_EXEC;
	if (!hold->is_held)
		child_leave(hold, got);
}

void ap_child_hold_libraries(struct ap_child_hold *hold)
{
	enum ap_link link;
	int got = 0;

	for (int i = 0; i < STOPS_MAX && hold->pid; i++) {
		enum ap_stop stop = AP_STOP_OTHER;

		if (!ptrace(PTRACE_SYSCALL, hold->pid, NULL, 0L))
			stop = ap_tracee_wait(hold->pid, 0, &got);
		link = stop == AP_STOP_SYSCALL ? ap_tracee_link(hold->pid) : AP_LINK_UNKNOWN;
		if (link == AP_LINK_UNKNOWN)
			break;
		if (link == AP_LINK_DONE)
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

static void stop_take(struct ap_child_hold *hold, enum ap_stop stop, int got)
{
	if (!hold->ends && stop == AP_STOP_EXEC)
		hold->is_held = true;
	else if (hold->ends || stop != AP_STOP_SIGNAL ||
		 ptrace(PTRACE_CONT, hold->pid, NULL, (long)got))
		/* Other stops are those of job control, which works without us, and its end. */
		child_leave(hold, got);
}

/* flags 0: waits until it is held or let go. */
static void stops_take(struct ap_child_hold *hold, int flags)
{
	int got;

	while (hold->pid && !hold->is_held) {
		enum ap_stop stop = ap_tracee_wait(hold->pid, flags, &got);

		if (stop == AP_STOP_NONE)
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
		/* Only a tracee that is stopped can be let go. */
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

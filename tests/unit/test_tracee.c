// SPDX-License-Identifier: MIT
/*
 * Whether a process is found to be in its dynamic linker, from its exec on, or in code of its own.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "proc.h"
#include "tracee.h"

/* A child that traces itself, and stops. */
static pid_t child_start(char *const command[])
{
	pid_t pid = fork();

	if (!pid) {
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		raise(SIGSTOP);
		if (command)
			execv(command[0], command);
		_exit(3);
	}
	return pid;
}

static void assert_stop(pid_t pid, enum ap_stop expected, int with_signal)
{
	int got;

	assert_int_equal(ap_tracee_wait(pid, 0, &got), expected);
	assert_int_equal(got, with_signal);
}

static void test_code_of_its_own(void **state)
{
	pid_t pid = child_start(NULL);

	assert_stop(pid, AP_STOP_SIGNAL, SIGSTOP);
	assert_false(ap_tracee_links(pid));
	assert_false(ap_process_may_link(pid));
	assert_int_equal(ptrace(PTRACE_CONT, pid, NULL, 0L), 0);
	assert_stop(pid, AP_STOP_GONE, 0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

static void test_from_exec_until_it_is_linked(void **state)
{
	char *command[] = {"/bin/true", NULL};
	pid_t pid = child_start(command);
	enum ap_link link = AP_LINK_ON;
	char maps[16384];
	int got, stops = 0;

	assert_stop(pid, AP_STOP_SIGNAL, SIGSTOP);
	assert_int_equal(ptrace(PTRACE_SETOPTIONS, pid, NULL,
				 (long)(PTRACE_O_TRACEEXEC | PTRACE_O_TRACESYSGOOD)),
		0);
	assert_int_equal(ptrace(PTRACE_CONT, pid, NULL, 0L), 0);
	assert_stop(pid, AP_STOP_EXEC, 0);
	while (link == AP_LINK_ON) {
		assert_int_equal(ptrace(PTRACE_SYSCALL, pid, NULL, 0L), 0);
		assert_int_equal(ap_tracee_wait(pid, 0, &got), AP_STOP_SYSCALL);
		if (!stops++) {
			assert_true(ap_tracee_links(pid));
			assert_true(ap_process_may_link(pid));
		}
		link = ap_tracee_link(pid);
	}
	assert_int_equal(link, AP_LINK_DONE);
	assert_true(ap_proc_read(pid, "maps", maps, sizeof(maps)) > 0);
	assert_non_null(strstr(maps, "/libc.so"));
	assert_int_equal(ptrace(PTRACE_DETACH, pid, NULL, 0L), 0);
	assert_int_equal(waitpid(pid, &got, 0), pid);
	assert_int_equal(got, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_code_of_its_own),
		cmocka_unit_test(test_from_exec_until_it_is_linked),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

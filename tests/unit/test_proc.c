// SPDX-License-Identifier: MIT
/* Reading /proc/PID/stat, also of a process whose name looks like the rest of the line. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "proc.h"

static void test_read(void **state)
{
	char text[4];

	assert_int_equal(ap_proc_read(getpid(), "status", text, sizeof(text)), 3);
	assert_string_equal(text, "Nam");
	assert_int_equal(ap_proc_read(getpid(), "nothing", text, sizeof(text)), -ENOENT);
	assert_string_equal(text, "");
}

static void test_stat(void **state)
{
	struct ap_proc_stat stat;

	assert_int_equal(prctl(PR_SET_NAME, "a) Z 1 7 (b"), 0);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(ap_proc_stat(getpid(), i ? syscall(SYS_gettid) : 0, &stat), 0);
		assert_int_equal(stat.state, 'R');
		assert_int_equal(stat.parent, getppid());
		assert_false(stat.is_kernel);
		assert_int_equal(stat.status, 0);
	}
}

static void test_zombie(void **state)
{
	struct ap_proc_stat stat;
	siginfo_t info;
	pid_t child = fork();

	if (!child)
		_exit(3);
	assert_int_equal(waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT), 0);
	assert_int_equal(ap_proc_stat(child, 0, &stat), 0);
	assert_int_equal(stat.state, 'Z');
	assert_int_equal(stat.parent, getpid());
	assert_int_equal(WEXITSTATUS(stat.status), 3);
	assert_int_equal(waitpid(child, NULL, 0), child);
	assert_int_equal(ap_proc_stat(child, 0, &stat), -ENOENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_read),
		cmocka_unit_test(test_stat),
		cmocka_unit_test(test_zombie),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

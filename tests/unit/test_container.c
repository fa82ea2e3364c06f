// SPDX-License-Identifier: MIT
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>
#include <cmocka.h>

#include "container.h"

#define ID "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

static void check(const char *cgroup, const char *expected)
{
	char text[AP_CONTAINER_TEXT];

	assert_string_equal(ap_container_parse(text, cgroup), expected);
}

static void test_runtimes(void **state)
{
	check("0::/system.slice/docker-" ID ".scope\n", "0123456789ab");
	check("12:memory:/docker/" ID "\n11:pids:/docker/" ID "\n", "0123456789ab");
	check("0::/kubepods.slice/kubepods-pod0f3c.slice/cri-containerd-" ID ".scope\n",
		"0123456789ab");
	check("0::/machine.slice/libpod-" ID ".scope/container\n", "0123456789ab");
}

static void test_none(void **state)
{
	check("", "");
	check("0::/\n", "");
	check("0::/user.slice/user-1000.slice/session-3.scope\n", "");
	/* With one digit more it is not a container's id. */
	check("0::/x-" ID "0.scope\n", "");
}

static void test_own(void **state)
{
	char text[AP_CONTAINER_TEXT];

	assert_string_equal(ap_container_of(text, INT32_MAX), "");
	assert_ptr_equal(ap_container_of(text, getpid()), text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_runtimes),
		cmocka_unit_test(test_none),
		cmocka_unit_test(test_own),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

// SPDX-License-Identifier: MIT
/* The process sets its own variables, as if it were one of a tree. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <unistd.h>

#include "process_variables.h"

static volatile uint64_t periods[2];
static volatile uint32_t guards[3]; /* the last one is nobody's */

struct fixture {
	struct ap_probed probed[2];
	struct ap_target target;
	struct ap_process_variables variables;
};

static int setup(void **state)
{
	static struct fixture fixture;

	fixture = (struct fixture){0};
	for (int i = 0; i < 2; i++) {
		fixture.probed[i].period_address = (uint64_t)(uintptr_t)&periods[i];
		fixture.probed[i].guard_address = (uint64_t)(uintptr_t)&guards[i];
		periods[i] = 1000 + (uint64_t)i;
	}
	guards[0] = guards[1] = 0;
	guards[2] = 77;
	fixture.target.probed = fixture.probed;
	fixture.target.probed_count = 2;
	*state = &fixture;
	return ap_process_files_open(&fixture.target.table.files, getpid());
}

static int teardown(void **state)
{
	struct fixture *fixture = *state;

	ap_process_variables_clear(&fixture->variables);
	ap_process_files_close(&fixture->target.table.files);
	return 0;
}

static void everything_is_set_back(void **state)
{
	struct fixture *fixture = *state;

	ap_process_variables_set(&fixture->variables, &fixture->target, 500, true);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(periods[i], 500);
		assert_int_equal(guards[i], 1);
	}
	ap_process_variables_set(&fixture->variables, &fixture->target, 2000, true);
	ap_process_variables_restore(&fixture->variables, &fixture->target);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(periods[i], 1000 + i);
		assert_int_equal(guards[i], 0);
	}
	assert_int_equal(guards[2], 77);
}

static void what_nobody_asked_for_stays(void **state)
{
	struct fixture *fixture = *state;

	ap_process_variables_set(&fixture->variables, &fixture->target, 0, false);
	assert_int_equal(periods[0], 1000);
	assert_int_equal(guards[0], 0);
	assert_int_equal(fixture->variables.count, 0);
}

static void what_others_set_since_stays(void **state)
{
	struct fixture *fixture = *state;

	ap_process_variables_set(&fixture->variables, &fixture->target, 500, true);
	periods[0] = 3000;
	ap_process_variables_restore(&fixture->variables, &fixture->target);
	assert_int_equal(periods[0], 3000);
	assert_int_equal(periods[1], 1001);
}

static void memory_that_is_gone_is_left_alone(void **state)
{
	struct fixture *fixture = *state;

	fixture->probed[0].period_address = 4096;
	ap_process_variables_set(&fixture->variables, &fixture->target, 500, false);
	assert_int_equal(fixture->variables.count, 1);
	assert_int_equal(periods[1], 500);
}

/* As its parent was when it was born, so the process finds the values that are to be set. */
static void what_was_inherited_is_set_back(void **state)
{
	struct fixture *fixture = *state;
	struct ap_process_variables parent = {0};
	const struct ap_process_variable period = {.address = (uint64_t)(uintptr_t)&periods[0],
						 .size = 8,
						 .before = 1000,
						 .now = 500},
					 guard = {.address = (uint64_t)(uintptr_t)&guards[0],
						 .size = 4,
						 .before = 0,
						 .now = 1};

	ap_process_variables_note(&parent, &period);
	ap_process_variables_note(&parent, &guard);
	ap_process_variables_inherit(&fixture->variables, &parent);
	ap_process_variables_clear(&parent);
	/* Meanwhile the parent's has been raised. */
	periods[0] = 700;
	guards[0] = 1;
	ap_process_variables_set(&fixture->variables, &fixture->target, 700, true);
	ap_process_variables_restore(&fixture->variables, &fixture->target);
	assert_int_equal(periods[0], 1000);
	assert_int_equal(guards[0], 0);
	assert_int_equal(periods[1], 1001);
	assert_int_equal(guards[1], 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(everything_is_set_back, setup, teardown),
		cmocka_unit_test_setup_teardown(what_nobody_asked_for_stays, setup, teardown),
		cmocka_unit_test_setup_teardown(what_others_set_since_stays, setup, teardown),
		cmocka_unit_test_setup_teardown(what_was_inherited_is_set_back, setup, teardown),
		cmocka_unit_test_setup_teardown(memory_that_is_gone_is_left_alone, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

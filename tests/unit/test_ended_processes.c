// SPDX-License-Identifier: MIT
/* Ended processes are grouped: those of one name with the same mappings. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>
#include <cmocka.h>

#include "ended_processes.h"

struct fixture {
	struct ap_object_set files;
	struct ap_ended ended;
	struct ap_target worker; /* this very process, by another name */
};

static int setup(void **state)
{
	static struct fixture fixture;

	fixture = (struct fixture){.worker = {.comm = "worker"}};
	fixture.ended.files = fixture.worker.table.shared = &fixture.files;
	*state = &fixture;
	return ap_mapping_table_read(&fixture.worker.table, getpid());
}

static int teardown(void **state)
{
	struct fixture *fixture = *state;

	ap_mapping_table_clear(&fixture->worker.table);
	ap_ended_clear(&fixture->ended);
	ap_object_set_clear(&fixture->files);
	return 0;
}

/* A process that was forked from the worker. */
static struct ap_target child(struct fixture *fixture, const char *comm)
{
	struct ap_target target = {.table.shared = &fixture->files};

	snprintf(target.comm, sizeof(target.comm), "%s", comm);
	assert_int_equal(ap_mapping_table_fork(&target.table, &fixture->worker.table), 0);
	return target;
}

/* Code that a compiler makes at run time. */
static void mapping_add(struct ap_target *target, uint64_t start)
{
	struct ap_maps_line line = {
		.start = start, .end = start + 4096, .executable = 1, .path = ""};

	assert_int_equal(ap_mapping_table_add(&target->table, getpid(), &line), 0);
}

static uint32_t end(struct ap_ended *ended, struct ap_target *target)
{
	uint32_t key = ap_ended_of(ended, target);

	ap_mapping_table_clear(&target->table);
	return key;
}

static void same_name_and_mappings(void **state)
{
	struct fixture *fixture = *state;
	struct ap_ended *ended = &fixture->ended;
	struct ap_target second = child(fixture, "worker"), other = child(fixture, "helper");

	assert_int_equal(ap_ended_of(ended, &fixture->worker), AP_ENDED_KEY(0));
	assert_int_equal(end(ended, &second), AP_ENDED_KEY(0));
	assert_int_equal(end(ended, &other), AP_ENDED_KEY(1));
	assert_int_equal(ended->count, 2);
	assert_string_equal(ended->groups[0].name, "worker (ended)");
	assert_string_equal(ended->groups[1].name, "helper (ended)");
	/* The pid in such a key is 0. */
	assert_int_equal(AP_ENDED_KEY(1) & ((1U << AP_PROCESS_SHIFT) - 1), 0);
}

/* A process that has mapped more has the same ids so far; the group takes its other mappings. */
static void more_mappings(void **state)
{
	struct fixture *fixture = *state;
	struct ap_ended *ended = &fixture->ended;
	struct ap_target longer = child(fixture, "worker"), another = child(fixture, "worker"),
			 shorter = child(fixture, "worker");
	size_t count = fixture->worker.table.count;

	mapping_add(&longer, 0x10000);
	mapping_add(&another, 0x20000);
	assert_int_equal(ap_ended_of(ended, &fixture->worker), AP_ENDED_KEY(0));
	assert_int_equal(ended->groups[0].table.count, count);
	assert_int_equal(end(ended, &longer), AP_ENDED_KEY(0));
	assert_int_equal(ended->groups[0].table.count, count + 1);
	assert_int_equal(end(ended, &shorter), AP_ENDED_KEY(0));
	assert_int_equal(ended->groups[0].table.count, count + 1);
	/* The group's table is its own: those of the processes are gone by now. */
	assert_int_equal(ended->groups[0].table.mappings[count]->start, 0x10000);
	/* The same id means something else here. */
	assert_int_equal(end(ended, &another), AP_ENDED_KEY(1));
	assert_int_equal(ended->groups[1].table.mappings[count]->start, 0x20000);
}

/* When there is room for no more groups, the last one takes all but those that have one. */
static void too_many_groups(void **state)
{
	struct fixture *fixture = *state;
	struct ap_ended *ended = &fixture->ended;
	struct ap_target first = child(fixture, "0");

	for (uint32_t i = 0; i < AP_ENDED_MAX + 20; i++) {
		struct ap_target target;
		char comm[16];

		snprintf(comm, sizeof(comm), "%u", i);
		target = child(fixture, comm);
		assert_int_equal(
			end(ended, &target), AP_ENDED_KEY(i < AP_ENDED_MAX ? i : AP_ENDED_MAX));
	}
	assert_int_equal(ended->count, AP_ENDED_MAX + 1);
	assert_string_equal(ended->groups[AP_ENDED_MAX].name, "others that have ended");
	/* Its table is empty: it has processes with different mappings. */
	assert_int_equal(ended->groups[AP_ENDED_MAX].table.count, 0);
	assert_int_equal(end(ended, &first), AP_ENDED_KEY(0));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(same_name_and_mappings, setup, teardown),
		cmocka_unit_test_setup_teardown(more_mappings, setup, teardown),
		cmocka_unit_test_setup_teardown(too_many_groups, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

// SPDX-License-Identifier: MIT
/* How the sites of `top` change from one refresh to the next. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "top_sites.h"

#define PID	  4127
#define SITES	  4
#define WEIGHT	  524288
#define SECOND_NS 1000000000ULL

/* A snapshot in memory of its own: never cleared with ap_snapshot_clear(). */
struct fixture {
	struct ap_snapshot snapshot;
	struct ap_site_key keys[SITES];
	struct ap_site sites[SITES];
	uint64_t stack_ids[SITES];
	struct ap_stack stacks[SITES];
	struct ap_top_sites top;
	uint64_t now_ns;
};

static struct ap_counters counters(uint64_t samples)
{
	return (struct ap_counters){
		.samples = samples,
		.objects = samples * 128 << AP_OBJECT_SHIFT,
		.bytes = samples * 4096,
		.weight = samples * WEIGHT,
	};
}

/* Stacks of two addresses, the ids 100, 101, ... */
static int setup(void **state)
{
	static struct fixture fixture;
	struct ap_snapshot *snapshot = &fixture.snapshot;

	memset(&fixture, 0, sizeof(fixture));
	snapshot->site_keys = fixture.keys;
	snapshot->sites = fixture.sites;
	snapshot->stack_ids = fixture.stack_ids;
	snapshot->stacks = fixture.stacks;
	for (size_t i = 0; i < SITES; i++) {
		fixture.stack_ids[i] = 100 + i;
		fixture.stacks[i] = (struct ap_stack){
			.depth = 2,
			.frame = {0x1000 * (i + 1), 0x9000},
		};
		fixture.keys[i] = (struct ap_site_key){.stack = 100 + i, .process = PID};
	}
	snapshot->stack_count = SITES;
	*state = &fixture;
	return ap_top_sites_open(&fixture.top, PID);
}

static int teardown(void **state)
{
	struct fixture *fixture = *state;

	ap_top_sites_clear(&fixture->top);
	return 0;
}

/* Refreshes with so many sites, a second later; the first one has these counters. */
static void refresh(struct fixture *fixture, size_t count, uint64_t allocated, uint64_t freed)
{
	struct ap_mapping_table table = {0};

	fixture->snapshot.site_count = count;
	fixture->sites[0] =
		(struct ap_site){.allocated = counters(allocated), .freed = counters(freed)};
	fixture->now_ns += SECOND_NS;
	assert_int_equal(
		ap_top_sites_update(&fixture->top, &fixture->snapshot, &table, fixture->now_ns), 0);
}

static const struct ap_top_values *value_of(const struct fixture *fixture, uint64_t stack)
{
	for (uint32_t i = 0; i < fixture->top.count; i++)
		if (fixture->top.sites[i].stack == stack)
			return &fixture->top.sites[i].value;
	fail_msg("no site %llu", (unsigned long long)stack);
	return NULL;
}

static void values_are_live_and_rates(void **state)
{
	struct fixture *fixture = *state;
	const struct ap_top_values *value;

	refresh(fixture, 0, 0, 0);
	assert_true(fixture->top.seconds == 0);
	fixture->sites[1].allocated = counters(3);
	refresh(fixture, 2, 10, 4);
	value = value_of(fixture, 100);
	assert_int_equal(value->live, 6 * WEIGHT);
	assert_int_equal(value->objects, (int64_t)6 * 128 << AP_OBJECT_SHIFT);
	assert_true(value->rate == 10.0 * WEIGHT);
	assert_true(value->variance > 0);
	assert_int_equal(fixture->top.total.live, 9 * WEIGHT);
	assert_true(fixture->top.total.rate == 13.0 * WEIGHT);
	/* Of the two seconds. */
	refresh(fixture, 2, 10, 10);
	value = value_of(fixture, 100);
	assert_int_equal(value->live, 0);
	assert_true(value->rate == 5.0 * WEIGHT);
}

static void a_rate_is_of_the_window(void **state)
{
	struct fixture *fixture = *state;

	refresh(fixture, 1, 0, 0);
	for (uint64_t i = 1; i <= 3 * AP_TOP_WINDOW; i++)
		refresh(fixture, 1, 100 + i, 0);
	assert_true(fixture->top.seconds == AP_TOP_WINDOW);
	assert_true(value_of(fixture, 100)->rate == WEIGHT);
	/* Tables on a pipe: each is of its own interval. */
	fixture->top.window = 1;
	refresh(fixture, 1, 100 + 3 * AP_TOP_WINDOW + 7, 0);
	assert_true(fixture->top.seconds == 1);
	assert_true(value_of(fixture, 100)->rate == 7.0 * WEIGHT);
}

static void reset_counts_from_now(void **state)
{
	struct fixture *fixture = *state;
	const struct ap_top_values *value;

	ap_top_sites_reset(&fixture->top);
	for (uint64_t i = 1; i <= AP_TOP_WINDOW + 3; i++)
		refresh(fixture, 1, 10 * i, 0);
	value = value_of(fixture, 100);
	assert_int_equal(value->growth, value->live);
	assert_false(fixture->top.reset);
	ap_top_sites_reset(&fixture->top);
	assert_true(fixture->top.reset);
	assert_int_equal(value_of(fixture, 100)->growth, 0);
	refresh(fixture, 1, 10 * (AP_TOP_WINDOW + 3) + 2, 5);
	value = value_of(fixture, 100);
	assert_int_equal(value->growth, -3 * WEIGHT);
	assert_true(value->rate == 2.0 * WEIGHT);
	/* A site that comes later has grown by all that it is. */
	fixture->sites[1].allocated = counters(2);
	refresh(fixture, 2, 10 * (AP_TOP_WINDOW + 3) + 2, 5);
	assert_int_equal(value_of(fixture, 101)->growth, 2 * WEIGHT);
	assert_true(value_of(fixture, 101)->rate == 1.0 * WEIGHT);
}

static void keys_of_one_stack_add_up(void **state)
{
	struct fixture *fixture = *state;

	fixture->sites[1].allocated = counters(1);
	fixture->keys[1].stack = 100;
	refresh(fixture, 2, 2, 0);
	assert_int_equal(fixture->top.count, 1);
	assert_int_equal(value_of(fixture, 100)->live, 3 * WEIGHT);
	refresh(fixture, 2, 2, 0);
	assert_int_equal(value_of(fixture, 100)->live, 3 * WEIGHT);
}

static const char *name_of(const struct fixture *fixture, uint64_t stack)
{
	const struct ap_top_sites *top = &fixture->top;

	for (uint32_t i = 0; i < top->count; i++) {
		const struct ap_top_site *site = &top->sites[i];

		if (site->stack == stack)
			return top->profile->functions[top->frames[site->first].function].name;
	}
	return "";
}

static void losses_and_damage_have_names(void **state)
{
	struct fixture *fixture = *state;
	struct ap_site *losses = fixture->snapshot.losses;

	losses[AP_LOSS_STACKS].allocated = counters(5);
	losses[AP_LOSS_LIVE_FULL].allocated = counters(7);
	fixture->keys[1].process = PID + 1;
	fixture->sites[1].allocated = counters(1);
	fixture->keys[2].stack = AP_LOSS_STACKS; /* no program writes that */
	fixture->sites[2].allocated = counters(2);
	refresh(fixture, 0, 0, 0);
	refresh(fixture, 3, 1, 0);
	assert_string_equal(name_of(fixture, AP_LOSS_STACKS), "[stack map full]");
	assert_int_equal(value_of(fixture, AP_LOSS_STACKS)->live, 5 * WEIGHT);
	assert_string_equal(name_of(fixture, ~101ULL), "[damaged key]");
	assert_int_equal(value_of(fixture, ~(uint64_t)AP_LOSS_STACKS)->live, 2 * WEIGHT);
	/* These have been allocated under their own stacks. */
	assert_int_equal(value_of(fixture, AP_LOSS_LIVE_FULL)->live, 7 * WEIGHT);
	assert_true(value_of(fixture, AP_LOSS_LIVE_FULL)->rate == 0);
	assert_int_equal(fixture->top.total.live, (5 + 7 + 1 + 2 + 1) * WEIGHT);
}

/* A hostile target frees a pointer that it has allocated twice. */
static void more_freed_than_allocated_is_nothing_live(void **state)
{
	struct fixture *fixture = *state;

	refresh(fixture, 1, 2, 3);
	assert_int_equal(value_of(fixture, 100)->live, 0);
	assert_int_equal(value_of(fixture, 100)->objects, 0);
}

static void a_refresh_names_nothing_again(void **state)
{
	struct fixture *fixture = *state;
	uint32_t frames;

	refresh(fixture, 4, 1, 0);
	frames = fixture->top.frame_count;
	for (int i = 0; i < 5; i++)
		refresh(fixture, 4, 2, 0);
	assert_int_equal(fixture->top.frame_count, frames);
	/* Nor does it take more memory when code without a file has got other names. */
	assert_true(ap_top_sites_uncertain(&fixture->top));
	for (int i = 0; i < 5; i++) {
		ap_top_sites_rename(&fixture->top);
		refresh(fixture, 4, 2, 0);
	}
	assert_int_equal(fixture->top.frame_count, frames);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(values_are_live_and_rates, setup, teardown),
		cmocka_unit_test_setup_teardown(a_rate_is_of_the_window, setup, teardown),
		cmocka_unit_test_setup_teardown(reset_counts_from_now, setup, teardown),
		cmocka_unit_test_setup_teardown(keys_of_one_stack_add_up, setup, teardown),
		cmocka_unit_test_setup_teardown(losses_and_damage_have_names, setup, teardown),
		cmocka_unit_test_setup_teardown(
			more_freed_than_allocated_is_nothing_live, setup, teardown),
		cmocka_unit_test_setup_teardown(a_refresh_names_nothing_again, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

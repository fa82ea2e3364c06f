// SPDX-License-Identifier: MIT
/* The keys of `top`, and which rows are visible after them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "top_keys.h"

#define FUNCTIONS 20
#define HEIGHT	  6

struct fixture {
	struct ap_top top;
	struct ap_top_pane pane;
};

/* Function "f00" holds most, "f19" least; all are called by main. */
static int setup(void **state)
{
	static struct fixture fixture;
	struct ap_top_sites *sites = &fixture.top.sites;
	struct ap_profile *profile;

	memset(&fixture, 0, sizeof(fixture));
	profile = sites->profile = ap_profile_new();
	sites->sites = calloc(FUNCTIONS, sizeof(*sites->sites));
	sites->frames = calloc(FUNCTIONS, 2 * sizeof(*sites->frames));
	for (uint32_t i = 0; i < FUNCTIONS; i++) {
		char name[16];

		snprintf(name, sizeof(name), "f%02u", i);
		sites->sites[i] = (struct ap_top_site){
			.first = 2 * i,
			.count = 2,
			.value = {.live = 1000 - 10 * (int64_t)i, .rate = i},
		};
		sites->frames[2 * i].function =
			(uint32_t)ap_profile_add_function(profile, name, NULL, NULL, 0);
		sites->frames[2 * i + 1].function =
			(uint32_t)ap_profile_add_function(profile, "main", NULL, NULL, 0);
	}
	sites->count = FUNCTIONS;
	sites->frame_count = 2 * FUNCTIONS;
	fixture.pane.height = HEIGHT;
	*state = &fixture;
	return ap_top_arrange(&fixture.top);
}

static int teardown(void **state)
{
	struct fixture *fixture = *state;

	ap_top_clear(&fixture->top);
	return 0;
}

static void press(struct fixture *fixture, unsigned int key)
{
	assert_int_equal(ap_top_key(&fixture->top, &fixture->pane, key), AP_TOP_NOTHING);
}

static void type(struct fixture *fixture, const char *text)
{
	for (; *text; text++)
		press(fixture, (unsigned char)*text);
}

static void selected_is(struct fixture *fixture, const char *name, uint32_t first)
{
	const struct ap_top_rows *rows = &fixture->top.rows;
	uint32_t index = ap_top_pane_follow(&fixture->pane, rows);

	assert_string_equal(
		fixture->top.sites.profile->functions[rows->rows[index].function].name, name);
	assert_int_equal(fixture->pane.first, first);
}

static void the_selection_stays_in_sight(void **state)
{
	struct fixture *fixture = *state;

	selected_is(fixture, "f00", 0);
	press(fixture, AP_KEY_UP);
	selected_is(fixture, "f00", 0);
	press(fixture, AP_KEY_PAGE_DOWN);
	selected_is(fixture, "f05", 0);
	press(fixture, AP_KEY_DOWN);
	selected_is(fixture, "f06", 1);
	press(fixture, AP_KEY_END);
	selected_is(fixture, "f19", FUNCTIONS - HEIGHT);
	press(fixture, AP_KEY_DOWN);
	selected_is(fixture, "f19", FUNCTIONS - HEIGHT);
	press(fixture, AP_KEY_PAGE_UP);
	selected_is(fixture, "f14", FUNCTIONS - HEIGHT);
	/* A smaller screen; a larger one that has room for all. */
	fixture->pane.height = 1;
	selected_is(fixture, "f14", 14);
	fixture->pane.height = FUNCTIONS;
	selected_is(fixture, "f14", 0);
	fixture->pane.height = 0;
	selected_is(fixture, "f14", 14);
	fixture->pane.height = HEIGHT;
	press(fixture, 'g');
	selected_is(fixture, "f00", 0);
	press(fixture, 'G');
	selected_is(fixture, "f19", FUNCTIONS - HEIGHT);
}

/* A selected row is followed to where it goes; at the top one sees whatever is first. */
static void the_selection_goes_with_its_row(void **state)
{
	struct fixture *fixture = *state;

	type(fixture, "jj");
	selected_is(fixture, "f02", 0);
	fixture->top.sites.sites[2].value.live = 1;
	assert_int_equal(ap_top_arrange(&fixture->top), 0);
	selected_is(fixture, "f02", FUNCTIONS - HEIGHT);
	press(fixture, AP_KEY_HOME);
	fixture->top.sites.sites[7].value.live = 2000;
	assert_int_equal(ap_top_arrange(&fixture->top), 0);
	selected_is(fixture, "f07", 0);
}

static void keys_sort(void **state)
{
	struct fixture *fixture = *state;

	press(fixture, '2');
	selected_is(fixture, "f19", 0);
	press(fixture, '4');
	selected_is(fixture, "f00", 0);
	press(fixture, '5');
	assert_int_equal(fixture->top.view.sort, AP_TOP_BY_NAME);
	assert_string_not_equal(fixture->pane.message, "");
	fixture->top.sites.refreshes = 1;
	press(fixture, 'r');
	assert_string_equal(fixture->pane.message, "");
	press(fixture, '5');
	assert_int_equal(fixture->top.view.sort, AP_TOP_BY_GROWTH);
}

static void a_sandwich_and_back(void **state)
{
	struct fixture *fixture = *state;

	type(fixture, "jjj");
	press(fixture, AP_KEY_ENTER);
	assert_int_equal(fixture->top.view.layout, AP_TOP_SANDWICH);
	assert_int_equal(fixture->top.rows.count, 3);
	selected_is(fixture, "f03", 0);
	press(fixture, AP_KEY_LEFT);
	assert_int_equal(fixture->top.rows.count, 2);
	press(fixture, AP_KEY_LEFT);
	press(fixture, AP_KEY_RIGHT);
	assert_int_equal(fixture->top.rows.count, 3);
	/* On to its caller, which has called all of them, and back to where it began. */
	press(fixture, 'j');
	press(fixture, 'c');
	assert_true(fixture->top.rows.count > FUNCTIONS);
	selected_is(fixture, "main", 0);
	press(fixture, '\t');
	assert_int_equal(ap_top_pane_follow(&fixture->pane, &fixture->top.rows), 1);
	press(fixture, 'j');
	press(fixture, '\t');
	assert_int_equal(ap_top_pane_follow(&fixture->pane, &fixture->top.rows), 0);
	press(fixture, AP_KEY_ESCAPE);
	assert_int_equal(fixture->top.view.layout, AP_TOP_FLAT);
	selected_is(fixture, "f03", 0);
	/* From a tree back into the tree. */
	type(fixture, "tjjc");
	assert_int_equal(fixture->top.view.layout, AP_TOP_SANDWICH);
	press(fixture, AP_KEY_ESCAPE);
	assert_int_equal(fixture->top.view.layout, AP_TOP_TREE);
	selected_is(fixture, "f01", 0);
	press(fixture, 't');
	press(fixture, 't');
	assert_int_equal(fixture->top.view.layout, AP_TOP_TREE);
	selected_is(fixture, "main", 0);
	press(fixture, AP_KEY_ENTER);
	assert_int_equal(fixture->top.rows.count, 1);
}

static void a_filter_is_typed(void **state)
{
	struct fixture *fixture = *state;

	type(fixture, "/f1");
	assert_true(fixture->pane.filtering);
	assert_int_equal(fixture->top.rows.count, 10);
	/* No commands, and no half characters. */
	type(fixture, "q\xc3\xa4");
	assert_int_equal(fixture->top.rows.count, 0);
	press(fixture, AP_KEY_DOWN);
	press(fixture, AP_KEY_BACKSPACE);
	assert_string_equal(fixture->top.view.filter, "f1q");
	press(fixture, AP_KEY_BACKSPACE);
	press(fixture, AP_KEY_ENTER);
	assert_false(fixture->pane.filtering);
	selected_is(fixture, "f10", 0);
	press(fixture, AP_KEY_ESCAPE);
	assert_int_equal(fixture->top.rows.count, FUNCTIONS);
	for (int i = 0; i < 2 * AP_TOP_FILTER; i++)
		type(fixture, i ? "x" : "/");
	assert_int_equal(strlen(fixture->top.view.filter), AP_TOP_FILTER - 1);
	press(fixture, AP_KEY_ESCAPE);
	assert_string_equal(fixture->top.view.filter, "");
}

static void an_empty_table_takes_every_key(void **state)
{
	struct fixture *fixture = *state;

	fixture->top.sites.count = 0;
	assert_int_equal(ap_top_arrange(&fixture->top), 0);
	for (unsigned int key = AP_KEY_UP; key <= AP_KEY_BACKSPACE; key++)
		press(fixture, key);
	type(fixture, "rtl123 p?x");
	assert_int_equal(ap_top_pane_follow(&fixture->pane, &fixture->top.rows), 0);
}

static void the_command_is_told(void **state)
{
	struct fixture *fixture = *state;

	assert_int_equal(ap_top_key(&fixture->top, &fixture->pane, 's'), AP_TOP_SAVE);
	assert_int_equal(ap_top_key(&fixture->top, &fixture->pane, 'q'), AP_TOP_QUIT);
	press(fixture, '?');
	assert_true(fixture->pane.help);
	/* Whoever reads the help may press anything. */
	press(fixture, 'q');
	assert_false(fixture->pane.help);
	press(fixture, 'p');
	assert_true(fixture->pane.paused);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(the_selection_stays_in_sight, setup, teardown),
		cmocka_unit_test_setup_teardown(the_selection_goes_with_its_row, setup, teardown),
		cmocka_unit_test_setup_teardown(keys_sort, setup, teardown),
		cmocka_unit_test_setup_teardown(a_sandwich_and_back, setup, teardown),
		cmocka_unit_test_setup_teardown(a_filter_is_typed, setup, teardown),
		cmocka_unit_test_setup_teardown(an_empty_table_takes_every_key, setup, teardown),
		cmocka_unit_test_setup_teardown(the_command_is_told, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

// SPDX-License-Identifier: MIT
/* How `top` groups, filters, sorts and writes its rows. */
#include <locale.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "columns.h"
#include "top_text.h"

#define OBJECT (1 << AP_OBJECT_SHIFT)

struct fixture {
	struct ap_top_sites sites;
	struct ap_top_view view;
	struct ap_top_rows rows;
};

static uint32_t function(struct fixture *fixture, const char *name, const char *file)
{
	return (uint32_t)ap_profile_add_function(fixture->sites.profile, name, name, file, 1);
}

/* A site of up to four functions, leaf first, "" ends; lines are those of the table below. */
static void site_add(struct fixture *fixture, const char *const names[4], int64_t line,
	struct ap_top_values value)
{
	struct ap_top_sites *sites = &fixture->sites;
	struct ap_top_site *site;

	sites->sites = reallocarray(sites->sites, sites->count + 1, sizeof(*sites->sites));
	sites->frames = reallocarray(sites->frames, sites->frame_count + 4, sizeof(*sites->frames));
	site = &sites->sites[sites->count++];
	*site = (struct ap_top_site){.first = sites->frame_count, .value = value};
	for (; site->count < 4 && names[site->count]; site->count++)
		sites->frames[sites->frame_count++] = (struct ap_shown_frame){
			.function = function(fixture, names[site->count], "dir/program.c"),
			.line = site->count ? 1 : line,
		};
	ap_top_values_add(&sites->total, &value);
}

/*
 * main - parse - grow    1000 live, 10 a second
 *      |       ` grow     500 live, another line
 *      ` serve - store    300 live, 900 a second
 *              ` spare      1 live
 */
static int setup(void **state)
{
	static struct fixture fixture;

	memset(&fixture, 0, sizeof(fixture));
	fixture.sites.profile = ap_profile_new();
	site_add(&fixture, (const char *[4]){"grow", "parse", "main"}, 10,
		(struct ap_top_values){.live = 1000, .rate = 10, .objects = 5 * OBJECT});
	site_add(&fixture, (const char *[4]){"grow", "parse", "main"}, 11,
		(struct ap_top_values){.live = 500, .objects = 90 * OBJECT, .growth = -5});
	site_add(&fixture, (const char *[4]){"store", "serve", "main"}, 20,
		(struct ap_top_values){.live = 300, .rate = 900, .objects = 7 * OBJECT});
	site_add(&fixture, (const char *[4]){"spare", "serve", "main"}, 30,
		(struct ap_top_values){.live = 1, .rate = 1, .growth = 1});
	*state = &fixture;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *fixture = *state;

	ap_top_rows_clear(&fixture->rows);
	ap_top_view_clear(&fixture->view);
	ap_top_sites_clear(&fixture->sites);
	return 0;
}

/* The rows as text, "NAME LIVE" each, with the lines of the tree. */
static void rows_are(struct fixture *fixture, const char *expected)
{
	struct ap_top_columns columns;
	char all[4096] = "";
	size_t used = 0;

	assert_int_equal(ap_top_rows_build(&fixture->rows, &fixture->sites, &fixture->view), 0);
	ap_top_columns_choose(&columns, 80, 80, false, true);
	for (uint32_t i = 0; i < fixture->rows.count; i++) {
		char name[AP_TOP_TEXT], place[AP_TOP_TEXT];

		ap_top_name(name, place, &columns, &fixture->sites, &fixture->rows.rows[i]);
		used += (size_t)snprintf(all + used, sizeof(all) - used, "%s %lld\n", name,
			(long long)fixture->rows.rows[i].value.live);
	}
	assert_string_equal(all, expected);
}

static void flat_is_by_function_or_line(void **state)
{
	struct fixture *fixture = *state;

	rows_are(fixture, "grow 1500\nstore 300\nspare 1\n");
	assert_int_equal(fixture->rows.total.live, 1801);
	fixture->view.lines = true;
	rows_are(fixture, "grow 1000\ngrow 500\nstore 300\nspare 1\n");
	assert_int_equal(fixture->rows.rows[1].line, 11);
}

static void every_column_sorts(void **state)
{
	struct fixture *fixture = *state;

	fixture->view.sort = AP_TOP_BY_RATE;
	rows_are(fixture, "store 300\ngrow 1500\nspare 1\n");
	fixture->view.sort = AP_TOP_BY_OBJECTS;
	rows_are(fixture, "grow 1500\nstore 300\nspare 1\n");
	fixture->view.sort = AP_TOP_BY_NAME;
	rows_are(fixture, "grow 1500\nspare 1\nstore 300\n");
	fixture->view.sort = AP_TOP_BY_GROWTH;
	rows_are(fixture, "spare 1\nstore 300\ngrow 1500\n");
}

static void a_tree_shows_calls_and_sums_up_the_small(void **state)
{
	struct fixture *fixture = *state;

	fixture->view.layout = AP_TOP_TREE;
	rows_are(fixture, "main 1801\n"
			  "|-parse 1500\n"
			  "| grow 1500\n"
			  "`-serve 301\n"
			  "  |-store 300\n"
			  "  `-(1 smaller) 1\n");
	fixture->view.lines = true;
	rows_are(fixture, "main 1801\n"
			  "|-parse 1500\n"
			  "| |-grow 1000\n"
			  "| `-grow 500\n"
			  "`-serve 301\n"
			  "  |-store 300\n"
			  "  `-(1 smaller) 1\n");
}

static void a_row_closes_and_opens(void **state)
{
	struct fixture *fixture = *state;
	uint64_t key;

	fixture->view.layout = AP_TOP_TREE;
	rows_are(fixture, "main 1801\n|-parse 1500\n| grow 1500\n`-serve 301\n"
			  "  |-store 300\n  `-(1 smaller) 1\n");
	key = fixture->rows.rows[3].key;
	assert_true(fixture->rows.rows[3].has_children);
	assert_int_equal(ap_top_view_toggle(&fixture->view, key), 0);
	rows_are(fixture, "main 1801\n|-parse 1500\n| grow 1500\n`-+serve 301\n");
	assert_int_equal(ap_top_rows_find(&fixture->rows, key), 3);
	assert_int_equal(ap_top_view_toggle(&fixture->view, key), 0);
	assert_int_equal(fixture->view.closed_count, 0);
}

static void a_sandwich_has_callers_and_calls(void **state)
{
	struct fixture *fixture = *state;

	fixture->view.layout = AP_TOP_SANDWICH;
	fixture->view.function = function(fixture, "store", "dir/program.c");
	rows_are(fixture, "store, called by 300\nserve 300\nmain 300\nstore, calls 300\n");
	assert_int_equal(fixture->rows.total.live, 300);
	fixture->view.function = function(fixture, "serve", "dir/program.c");
	rows_are(fixture, "serve, called by 301\nmain 301\nserve, calls 301\n"
			  "|-store 300\n`-(1 smaller) 1\n");
	assert_int_equal(fixture->rows.total.live, 301);
	/* Each half closes by itself. */
	assert_int_equal(ap_top_view_toggle(&fixture->view, fixture->rows.rows[2].key), 0);
	rows_are(fixture, "serve, called by 301\nmain 301\n+serve, calls 301\n");
}

/* Counted once, by its outermost call: between the others it is one of the calls. */
static void a_sandwich_of_what_calls_itself(void **state)
{
	struct fixture *fixture = *state;

	site_add(fixture, (const char *[4]){"parse", "grow", "parse", "main"}, 40,
		(struct ap_top_values){.live = 100});
	fixture->view.layout = AP_TOP_SANDWICH;
	fixture->view.function = function(fixture, "parse", "dir/program.c");
	rows_are(fixture, "parse, called by 1600\nmain 1600\nparse, calls 1600\n"
			  "grow 1600\nparse 100\n");
}

static void a_filter_takes_parts_of_names(void **state)
{
	struct fixture *fixture = *state;

	strcpy(fixture->view.filter, "STO");
	rows_are(fixture, "store 300\n");
	assert_int_equal(fixture->rows.total.live, 300);
	/* In a tree also what leads to it. */
	fixture->view.layout = AP_TOP_TREE;
	strcpy(fixture->view.filter, "serve");
	fixture->view.sort = AP_TOP_BY_NAME;
	rows_are(fixture, "main 301\nserve 301\n|-store 300\n`-(1 smaller) 1\n");
	strcpy(fixture->view.filter, "nothing");
	rows_are(fixture, "");
}

static void columns_drop_out_when_narrow(void **state)
{
	struct ap_top_values value = {.live = 43200000,
		.variance = 1e12,
		.rate = 1e6,
		.objects = (int64_t)1234567 * OBJECT,
		.growth = -2097152};
	struct ap_top_columns columns;
	char text[AP_TOP_TEXT];

	ap_top_columns_choose(&columns, 80, 80, true, false);
	ap_top_numbers(text, &columns, &value);
	assert_string_equal(text, "   41.2 MiB     5%    -2.0 MiB  976.6 KiB     1.2 M");
	assert_int_equal(columns.width, strlen(text));
	for (unsigned int width = 20; width < 200; width++) {
		ap_top_columns_choose(&columns, width, width, true, false);
		assert_true(columns.width + 2 + columns.name <= width);
		ap_top_numbers(text, &columns, &value);
		assert_int_equal(strlen(text), columns.width);
	}
	ap_top_columns_choose(&columns, 40, 40, true, false);
	ap_top_numbers(text, &columns, &value);
	assert_string_equal(text, "   41.2 MiB  976.6 KiB");
}

static void names_are_cut_by_columns(void **state)
{
	char text[64];

	assert_int_equal(ap_columns_fit(text, sizeof(text), "plain", 5, false), 5);
	assert_string_equal(text, "plain");
	assert_int_equal(ap_columns_fit(text, sizeof(text), "plain", 4, false), 4);
	assert_string_equal(text, "pla~");
	assert_int_equal(ap_columns_fit(text, sizeof(text), "plain", 0, false), 0);
	assert_string_equal(text, "");
	assert_int_equal(ap_columns_fit(text, sizeof(text), "a\033[2Jb", 20, false), 9);
	assert_string_equal(text, "a\\x1b[2Jb");
	assert_int_equal(ap_columns_fit(text, 16, "a name that is long", 60, false), 15);
	assert_string_equal(text, "a name that is~");
	assert_int_equal(ap_columns_fit(text, sizeof(text), "größe", 5, true), 5);
	assert_string_equal(text, "gr??e");
	if (!setlocale(LC_CTYPE, "C.UTF-8"))
		skip();
	/* Two columns each; of three and a half there is none. */
	assert_int_equal(ap_columns_fit(text, sizeof(text), "漢字漢字", 8, false), 8);
	assert_int_equal(ap_columns_fit(text, sizeof(text), "漢字漢字", 7, false), 7);
	assert_string_equal(text, "漢字漢~");
	assert_int_equal(ap_columns_fit(text, sizeof(text), "漢字漢字", 6, false), 5);
	assert_string_equal(text, "漢字~");
}

/* Of a deep tree on a small screen something is to be seen. */
static void deep_rows_keep_their_names(void **state)
{
	struct fixture *fixture = *state;
	struct ap_top_row row = {.function = function(fixture, "deep", ""), .level = 100};
	char name[AP_TOP_TEXT], place[AP_TOP_TEXT];
	struct ap_top_columns columns;

	ap_top_columns_choose(&columns, 40, 40, false, true);
	assert_int_equal(ap_top_name(name, place, &columns, &fixture->sites, &row), 4);
	assert_string_equal(name, "deep");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(flat_is_by_function_or_line, setup, teardown),
		cmocka_unit_test_setup_teardown(every_column_sorts, setup, teardown),
		cmocka_unit_test_setup_teardown(
			a_tree_shows_calls_and_sums_up_the_small, setup, teardown),
		cmocka_unit_test_setup_teardown(a_row_closes_and_opens, setup, teardown),
		cmocka_unit_test_setup_teardown(a_sandwich_has_callers_and_calls, setup, teardown),
		cmocka_unit_test_setup_teardown(a_sandwich_of_what_calls_itself, setup, teardown),
		cmocka_unit_test_setup_teardown(a_filter_takes_parts_of_names, setup, teardown),
		cmocka_unit_test_setup_teardown(deep_rows_keep_their_names, setup, teardown),
		cmocka_unit_test(columns_drop_out_when_narrow),
		cmocka_unit_test(names_are_cut_by_columns),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

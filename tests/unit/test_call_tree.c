// SPDX-License-Identifier: MIT
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "call_tree.h"
#include "sample_profile.h"

static struct ap_call_tree *tree_of(const struct ap_profile *profile, const struct ap_profile *base)
{
	struct ap_call_tree *tree = ap_call_tree_new();

	assert_non_null(tree);
	assert_int_equal(ap_call_tree_add(tree, profile, 0), 0);
	if (base)
		assert_int_equal(ap_call_tree_add(tree, base, 1), 0);
	return tree;
}

static int64_t root_total(const struct ap_call_tree *tree, int side, enum ap_value value)
{
	int64_t *total = ap_call_tree_totals(tree, side, value);
	int64_t root;

	assert_non_null(total);
	root = total[0];
	free(total);
	return root;
}

/* The child of a node by its function's name, or 0. */
static uint32_t child(const struct ap_call_tree *tree, uint32_t node, const char *name)
{
	for (uint32_t n = tree->nodes[node].first_child; n; n = tree->nodes[n].next)
		if (strcmp(tree->functions[tree->frames[tree->nodes[n].frame].function].name,
			    name) == 0)
			return n;
	return 0;
}

static void root_is_the_total(void **state)
{
	struct ap_profile *profile = sample_profile();
	struct ap_call_tree *tree = tree_of(profile, NULL);

	for (int v = 0; v < AP_VALUES; v++) {
		assert_int_equal(root_total(tree, 0, v), profile->total[v]);
		assert_int_equal(root_total(tree, 1, v), 0);
	}
	ap_call_tree_free(tree);
	ap_profile_free(profile);
}

static void parents_come_first(void **state)
{
	struct ap_profile *profile = sample_profile();
	struct ap_call_tree *tree = tree_of(profile, NULL);

	for (uint32_t n = 1; n < tree->node_count; n++) {
		assert_true(tree->nodes[n].parent < n);
		assert_true(tree->nodes[n].frame < tree->frame_count);
		assert_true(!tree->nodes[n].next || tree->nodes[n].next > n);
	}
	ap_call_tree_free(tree);
	ap_profile_free(profile);
}

static void frames_say_what_they_are(void **state)
{
	struct ap_profile *profile = sample_profile();
	struct ap_call_tree *tree = tree_of(profile, NULL);
	uint32_t main_ = child(tree, 0, "main");
	uint32_t malloc_ = child(tree, main_, "malloc");
	uint32_t lost = child(tree, 0, "[stack map full]");
	uint32_t inlined = 0;

	assert_true(main_ && malloc_ && lost);
	assert_int_equal(tree->frames[tree->nodes[main_].frame].flags, 0);
	assert_int_equal(tree->frames[tree->nodes[malloc_].frame].flags, AP_FRAME_ALLOCATOR);
	assert_int_equal(tree->frames[tree->nodes[lost].frame].flags, AP_FRAME_RESERVED);
	for (uint32_t n = tree->nodes[main_].first_child; n && !inlined; n = tree->nodes[n].next)
		inlined = child(tree, n, "inlined");
	assert_true(inlined);
	assert_int_equal(tree->frames[tree->nodes[inlined].frame].flags, AP_FRAME_INLINED);
	assert_int_equal(tree->frames[tree->nodes[inlined].frame].line, 5);
	assert_int_equal(tree->frames[tree->nodes[tree->nodes[inlined].parent].frame].flags, 0);
	assert_string_equal(tree->program, "/usr/bin/program");
	ap_call_tree_free(tree);
	ap_profile_free(profile);
}

/* The same code at other addresses, as in two runs of a program, becomes the same frame. */
static void two_profiles_meet(void **state)
{
	struct ap_profile *one = sample_profile(), *two = ap_profile_new();
	int program = ap_profile_add_mapping(
		two, 0x5500000, 0x5600000, 0x1000, "/usr/bin/program", "0123456789abcdef");
	int function = ap_profile_add_function(two, "main", "main", "program.c", 10);
	struct ap_line line = {.function = (uint32_t)function, .line = 0x400022};
	uint32_t main_ = (uint32_t)ap_profile_add_location(two, program, 0x5500022, &line, 1);
	struct ap_call_tree *tree;
	uint32_t nodes;

	assert_true(ap_profile_add_sample(two, &main_, 1, (int64_t[]){3, 17, 2, 11}) >= 0);
	tree = tree_of(one, NULL);
	nodes = tree->node_count;
	assert_int_equal(ap_call_tree_add(tree, two, 1), 0);
	assert_int_equal(tree->node_count, nodes);
	assert_int_equal(tree->nodes[child(tree, 0, "main")].self[1][AP_INUSE_SPACE], 11);
	for (int v = 0; v < AP_VALUES; v++) {
		assert_int_equal(root_total(tree, 0, v), one->total[v]);
		assert_int_equal(root_total(tree, 1, v), two->total[v]);
	}
	ap_call_tree_free(tree);
	ap_profile_free(one);
	ap_profile_free(two);
}

static void sums_saturate(void **state)
{
	struct ap_profile *profile = ap_profile_new();
	uint32_t a = (uint32_t)ap_profile_reserved(profile, "[a]");
	uint32_t b = (uint32_t)ap_profile_reserved(profile, "[b]");
	const int64_t huge[AP_VALUES] = {INT64_MAX, INT64_MAX, INT64_MAX, INT64_MAX};
	struct ap_call_tree *tree;

	assert_true(ap_profile_add_sample(profile, &a, 1, huge) >= 0);
	assert_true(ap_profile_add_sample(profile, &b, 1, huge) >= 0);
	tree = tree_of(profile, NULL);
	assert_int_equal(root_total(tree, 0, AP_INUSE_SPACE), INT64_MAX);
	ap_call_tree_free(tree);
	ap_profile_free(profile);
}

static void stack_without_frames_is_the_root(void **state)
{
	struct ap_profile *profile = ap_profile_new();
	struct ap_call_tree *tree;

	assert_true(ap_profile_add_sample(profile, NULL, 0, (int64_t[]){1, 2, 3, 4}) >= 0);
	tree = tree_of(profile, NULL);
	assert_int_equal(tree->node_count, 1);
	assert_int_equal(tree->nodes[0].self[0][AP_INUSE_SPACE], 4);
	ap_call_tree_free(tree);
	ap_profile_free(profile);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(root_is_the_total),
		cmocka_unit_test(parents_come_first),
		cmocka_unit_test(frames_say_what_they_are),
		cmocka_unit_test(two_profiles_meet),
		cmocka_unit_test(sums_saturate),
		cmocka_unit_test(stack_without_frames_is_the_root),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

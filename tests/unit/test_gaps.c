// SPDX-License-Identifier: MIT
/* Two stacks: one whole, with names; one cut, of which the outer frame has none. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "gaps.h"
#include "profile.h"

static uint32_t location_add(struct ap_profile *profile, int mapping, uint64_t address,
	const char *name, const char *system)
{
	struct ap_line line = {
		.function = (uint32_t)ap_profile_add_function(profile, name, system, "", 0)};
	int location = ap_profile_add_location(profile, mapping, address, &line, 1);

	assert_true(location >= 0);
	return (uint32_t)location;
}

static void sample_add(
	struct ap_profile *profile, const uint32_t *location, uint32_t depth, int64_t bytes)
{
	int64_t value[AP_VALUES] = {[AP_ALLOC_OBJECTS] = 1, [AP_ALLOC_SPACE] = bytes};

	assert_true(ap_profile_add_sample(profile, location, depth, value) >= 0);
}

static void shares_and_files(void **state)
{
	struct ap_profile *profile = ap_profile_new();
	int program = ap_profile_add_mapping(profile, 0x1000, 0x2000, 0, "/bin/program", "");
	int made = ap_profile_add_mapping(profile, 0x3000, 0x4000, 0, "[anon]", "");
	uint32_t named = location_add(profile, program, 0x1100, "main", "main");
	uint32_t nameless = location_add(profile, program, 0x1200, "program+0x200", "");
	uint32_t jit = location_add(profile, made, 0x3100, "[anon]+0x100", "");
	uint32_t process = location_add(profile, -1, 0, "program (7)", "");
	uint32_t cut = location_add(profile, -1, 0, "[truncated: no unwind table]", "");
	uint32_t unknown = location_add(profile, -1, 0, "[truncated: code not known yet]", "");
	const uint32_t late[] = {named, unknown, process};
	const uint32_t whole[] = {named, nameless, process},
		       broken[] = {nameless, jit, cut, process};
	struct ap_gaps gaps;

	sample_add(profile, whole, 3, 300);
	assert_int_equal(ap_gaps_find(&gaps, profile), 0);
	assert_float_equal(gaps.names.share, 0.5, 1e-9);
	assert_string_equal(gaps.names.file, "/bin/program");
	assert_float_equal(gaps.stacks.share, 0, 0);
	assert_null(gaps.stacks.file);
	sample_add(profile, broken, 4, 100);
	assert_int_equal(ap_gaps_find(&gaps, profile), 0);
	assert_float_equal(gaps.names.share, 500.0 / 800, 1e-9);
	assert_string_equal(gaps.names.file, "/bin/program");
	assert_float_equal(gaps.stacks.share, 0.25, 1e-9);
	assert_string_equal(gaps.stacks.file, "[anon]");
	/* Where code was not known is no fault of its file. */
	sample_add(profile, late, 3, 400);
	assert_int_equal(ap_gaps_find(&gaps, profile), 0);
	assert_float_equal(gaps.stacks.share, 0.125, 1e-9);
	assert_string_equal(gaps.stacks.file, "[anon]");
	ap_profile_free(profile);
}

static void nothing_lacks_nothing(void **state)
{
	struct ap_profile *profile = ap_profile_new();
	struct ap_gaps gaps;

	assert_int_equal(ap_gaps_find(&gaps, profile), 0);
	assert_float_equal(gaps.names.share, 0, 0);
	assert_null(gaps.names.file);
	ap_profile_free(profile);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(shares_and_files),
		cmocka_unit_test(nothing_lacks_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

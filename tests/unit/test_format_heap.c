// SPDX-License-Identifier: MIT
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format.h"

#define MAPS                                                  \
	"\nMAPPED_LIBRARIES:\n"                               \
	"400000-401000 r-xp 00000000 08:01 7    /nowhere/x\n" \
	"401000-402000 rw-p 00001000 08:01 7    /nowhere/x\n" \
	"build=/nowhere\n"                                    \
	"7f0000000000-7f0000001000 r-xp 00002000 08:01 8    /nowhere/lib y.so\n"

static int read_text(const char *text, struct ap_profile **ret, char reason[192])
{
	FILE *in = fmemopen((void *)text, strlen(text), "r");
	int err;

	assert_non_null(in);
	err = ap_format_pprof_read(in, ret, reason, 192);
	fclose(in);
	return err;
}

static struct ap_profile *good(const char *text)
{
	struct ap_profile *profile = NULL;
	char reason[192] = "";
	int err = read_text(text, &profile, reason);

	if (err)
		fail_msg("%d: %s", err, reason);
	return profile;
}

static void expect_total(const struct ap_profile *profile, int64_t alloc_objects,
	int64_t alloc_space, int64_t inuse_objects, int64_t inuse_space)
{
	assert_int_equal(profile->total[AP_ALLOC_OBJECTS], alloc_objects);
	assert_int_equal(profile->total[AP_ALLOC_SPACE], alloc_space);
	assert_int_equal(profile->total[AP_INUSE_OBJECTS], inuse_objects);
	assert_int_equal(profile->total[AP_INUSE_SPACE], inuse_space);
}

/* Each stack is scaled by its own mean size; threads are counted by their sum only. */
static void test_jemalloc(void **state)
{
	struct ap_profile *profile = good("heap_v2/1000\n"
					  "  t*: 3: 5000 [4: 9000]\n"
					  "  t0: 3: 5000 [4: 9000]\n"
					  "@ 0x400123 0x7f0000000011 0x999\n"
					  "  t*: 2: 2000 [3: 3000]\n"
					  "  t0: 1: 1000 [1: 1000]\n"
					  "  t1: 1: 1000 [2: 2000]\n"
					  "@ 0x400456\n"
					  "  t*: 1: 3000 [1: 6000]\n" MAPS);
	double thousand = 1 / (1 - exp(-1)), three = 1 / (1 - exp(-3)), six = 1 / (1 - exp(-6));

	expect_total(profile, llround(3 * thousand) + llround(six),
		llround(3000 * thousand) + llround(6000 * six),
		llround(2 * thousand) + llround(three),
		llround(2000 * thousand) + llround(3000 * three));
	assert_int_equal(profile->info.period, 1000);
	assert_int_equal(profile->sample_count, 2);
	assert_int_equal(profile->samples[0].depth, 3);
	assert_string_equal(profile->info.comm, "x");
	assert_string_equal(profile->mappings[profile->main_mapping].file, "/nowhere/x");
	/* Inside the call, and where that is in a file that is not here. */
	assert_string_equal(profile->functions[0].name, "x+0x122");
	assert_string_equal(profile->functions[1].name, "lib y.so+0x2010");
	assert_string_equal(profile->functions[2].name, "[unmapped]+0x998");
	ap_profile_free(profile);
}

static void test_gperftools(void **state)
{
	struct ap_profile *profile =
		good("heap profile:      3:     300 [     5:     500] @ heapprofile\n"
		     "     1:      100 [     1:      100] @ 0x400123 0x400200\n"
		     "     2:      200 [     4:      400] @ 0x400300\n" MAPS);

	expect_total(profile, 5, 500, 3, 300);
	assert_true(ap_profile_has(profile, AP_ALLOC_SPACE));
	ap_profile_free(profile);

	/* gperftools' sampler does not count frees. */
	profile = good("heap profile: 1: 512 [ 0: 0] @ heap_v2/512\n"
		       "1: 512 [0: 0] @ 0x400123\n" MAPS);
	expect_total(profile, 0, 0, llround(1 / (1 - exp(-1))), llround(512 / (1 - exp(-1))));
	assert_false(ap_profile_has(profile, AP_ALLOC_SPACE));
	assert_true(ap_profile_has(profile, AP_INUSE_SPACE));
	ap_profile_free(profile);

	profile = good("heap profile: 2: 8192 [ 2: 8192] @ growthz\n"
		       " 2: 8192 [ 2: 8192] @ 0x400123\n" MAPS);
	expect_total(profile, 0, 0, 2, 8192);
	assert_false(ap_profile_has(profile, AP_ALLOC_SPACE));
	ap_profile_free(profile);

	/* Go's text says twice its mean, and has remarks. */
	profile = good("heap profile: 1: 512 [2: 1024] @ heap/1024\n"
		       "1: 512 [2: 1024] @ 0x400123\n"
		       "#\t0x400122\tmain.main+0x12\t/x.go:7\n"
		       "\n# runtime.MemStats\n# Alloc = 7\n");
	assert_int_equal(profile->info.period, 512);
	expect_total(profile, llround(2 / (1 - exp(-1))), llround(1024 / (1 - exp(-1))),
		llround(1 / (1 - exp(-1))), llround(512 / (1 - exp(-1))));
	ap_profile_free(profile);
}

static void test_refused(void **state)
{
	static const struct {
		const char *text, *reason;
	} cases[] = {
		{"heap_v2/\n", "line 1: a bad sampling period"},
		{"heap_v2/0\n", "line 1: a bad sampling period"},
		{"heap_v2/-5\n", "line 1: a bad sampling period"},
		{"heap_v2/99999999999999999999\n", "line 1: a bad sampling period"},
		{"heap profile: 1: 2 [3: 4]\n", "line 1: not the beginning of a heap profile"},
		{"heap profile: 1: 2 [3: 4] @ cheese\n", "line 1: an unknown kind of heap profile"},
		{"heap profile: 1: 2 [3: 4] @\n", "line 1: an unknown kind of heap profile"},
		{"heap_v2/512\n@ 0x1\nfoo\n", "line 3: neither a stack nor its values"},
		{"heap_v2/512\n@ 0x1\n  t*: 1: 2 [3: 4\n", "line 3: bad values"},
		{"heap_v2/512\n@ 0x1\n  t*: 1: 99999999999999999999 [3: 4]\n",
			"line 3: bad values"},
		{"heap_v2/512\n@ 0x1\n  t*: -1: 2 [3: 4]\n", "line 3: bad values"},
		{"heap_v2/512\n@ 0x1 -0x2\n", "line 2: not an address"},
		{"heap_v2/512\n@ 0x11112222333344445\n", "line 2: not an address"},
		{"heap profile: 1: 2 [3: 4] @ heapprofile\n1: 2 [3: 4] 0x1\n",
			"line 2: neither values nor a stack"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct ap_profile *profile = NULL;
		char reason[192] = "";

		assert_int_equal(read_text(cases[i].text, &profile, reason), -EBADMSG);
		assert_null(profile);
		assert_string_equal(reason, cases[i].reason);
	}
}

/* Numbers that are as large as they can be neither wrap nor become negative. */
static void test_largest(void **state)
{
	struct ap_profile *profile =
		good("heap_v2/1125899906842624\n@ 0xffffffffffffffff 0x0\n"
		     "  t*: 9223372036854775807: 9223372036854775807 "
		     "[9223372036854775807: 9223372036854775807]\n"
		     "@ 0x2\n  t*: 9223372036854775807: 1 [1: 9223372036854775807]\n");

	for (int value = 0; value < AP_VALUES; value++)
		assert_true(profile->total[value] > 0);
	assert_true(profile->total[AP_INUSE_OBJECTS] == INT64_MAX);
	ap_profile_free(profile);
}

static void test_depth(void **state)
{
	struct ap_profile *profile = NULL;
	char *text = malloc(70000 * 4 + 64), *at = text, reason[192] = "";

	at = stpcpy(at, "heap_v2/512\n@");
	for (int i = 0; i < 70000; i++)
		at = stpcpy(at, " 1");
	strcpy(at, "\n  t*: 1: 1 [1: 1]\n");
	assert_int_equal(read_text(text, &profile, reason), -EBADMSG);
	assert_string_equal(reason, "line 2: a stack of more than 65536 frames");
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_jemalloc),
		cmocka_unit_test(test_gperftools),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_largest),
		cmocka_unit_test(test_depth),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

// SPDX-License-Identifier: MIT
/* The table of outputs, and what holds of every one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>

#include "sample_profile.h"

static void full_disk_is_an_error(void **state)
{
	static const struct ap_format_options options = {.value = AP_INUSE_SPACE};
	struct ap_profile *profile = sample_profile();

	for (const struct ap_format *format = ap_formats; format->name; format++) {
		FILE *full = fopen("/dev/full", "w");

		assert_non_null(full);
		if (format->write(full, profile, &options) != -ENOSPC)
			fail_msg("%s takes it for a success", format->name);
		fclose(full);
	}
	ap_profile_free(profile);
}

static void formats_by_extension(void **state)
{
	assert_string_equal(ap_format_by_extension("x.folded")->name, "folded");
	assert_string_equal(ap_format_by_extension("a/b.c.pb.gz")->name, "pprof");
	assert_null(ap_format_by_extension("x.gz"));
	assert_null(ap_format_by_extension(".folded"));
	assert_null(ap_format_by_extension("folded"));
	assert_null(ap_format_by_name("nonsense"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(full_disk_is_an_error),
		cmocka_unit_test(formats_by_extension),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

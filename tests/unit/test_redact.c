// SPDX-License-Identifier: MIT
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "redact.h"
#include "sample_profile.h"

#define SECRET "secret-folder"

/* Folders, arguments and host all hold SECRET; a function of compiled code has a path in its name.
 */
static struct ap_profile *secret_profile(void)
{
	struct ap_profile *profile = ap_profile_new();
	int program = ap_profile_add_mapping(
		profile, 0x400000, 0x500000, 0, "/srv/" SECRET "/program", "0123456789abcdef");
	uint32_t stack[] = {
		sample_location(profile, program, 0x400011, "leaf", "/home/" SECRET "/src/leaf.c"),
		sample_location(profile, program, 0x400022,
			"JS:*get file:///" SECRET "/app/index.js:3:17", "../" SECRET "/x.c"),
		sample_location(profile, program, 0x400033, "operator/(A, B)", "main.c"),
	};

	ap_profile_set(&profile->info.command, "/srv/" SECRET "/program --token=" SECRET);
	ap_profile_set(&profile->info.comm, "program");
	ap_profile_set(&profile->info.host, SECRET);
	ap_profile_add_sample(profile, stack, 3, (int64_t[]){2, 101, 1, 53});
	return profile;
}

static void no_format_tells(void **state)
{
	static const struct ap_format_options options = {.value = AP_INUSE_SPACE};
	struct ap_profile *profile = secret_profile();

	assert_int_equal(ap_profile_redact(profile), 0);
	for (const struct ap_format *format = ap_formats; format->name; format++) {
		char *text;

		if (format->write == ap_format_pprof_write)
			continue;
		text = written(format->write, profile, &options);
		assert_null(strstr(text, SECRET));
		assert_non_null(strstr(text, "leaf"));
		free(text);
	}
	ap_profile_free(profile);
}

/* pprof is compressed: what it tells is seen by reading it. */
static void pprof_has_what_is_left(void **state)
{
	static const struct ap_format_options options = {.value = AP_INUSE_SPACE};
	struct ap_profile *profile = secret_profile(), *read = NULL;
	char reason[192];
	FILE *file = tmpfile();

	assert_int_equal(ap_profile_redact(profile), 0);
	assert_int_equal(ap_format_pprof_write(file, profile, &options), 0);
	rewind(file);
	assert_int_equal(ap_format_pprof_read(file, &read, reason, sizeof(reason)), 0);
	fclose(file);
	assert_string_equal(read->info.command, "program");
	assert_true(!read->info.host || !*read->info.host);
	assert_int_equal(read->mapping_count, 1);
	assert_string_equal(read->mappings[0].file, "program");
	assert_string_equal(read->mappings[0].build_id, "0123456789abcdef");
	for (uint32_t i = 0; i < read->function_count; i++) {
		static const char *const wanted[][2] = {{"leaf", "leaf.c"},
			{"JS:*get file:index.js:3:17", "x.c"}, {"operator/(A, B)", "main.c"}};

		assert_string_equal(read->functions[i].name, wanted[i][0]);
		assert_string_equal(read->functions[i].system_name, wanted[i][0]);
		assert_string_equal(read->functions[i].file, wanted[i][1]);
	}
	assert_int_equal(read->total[AP_ALLOC_SPACE], 101);
	ap_profile_free(profile);
	ap_profile_free(read);
}

/* A difference is made of two that have been redacted. */
static void merges(void **state)
{
	struct ap_profile *profile = secret_profile(), *other = secret_profile(),
			  *sum = ap_profile_new();

	assert_int_equal(ap_profile_redact(profile), 0);
	assert_int_equal(ap_profile_redact(other), 0);
	assert_int_equal(ap_profile_merge(sum, profile, 1), 0);
	assert_int_equal(ap_profile_merge(sum, other, -1), 0);
	assert_int_equal(sum->sample_count, 1);
	assert_int_equal(sum->total[AP_ALLOC_SPACE], 0);
	ap_profile_free(profile);
	ap_profile_free(other);
	ap_profile_free(sum);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_format_tells),
		cmocka_unit_test(pprof_has_what_is_left),
		cmocka_unit_test(merges),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

// SPDX-License-Identifier: MIT
/* Files of other writers, and invalid ones. */
#include "pprof_bytes.h"

#include <errno.h>

#include "profile.pb-c.h"
#include "sample_profile.h"

static char *strings[] = {"", "objects", "count", "space", "bytes", "cpu", "nanoseconds", "f",
	"/bin/other", "resident_space"};
enum { NONE, OBJECTS, COUNT, SPACE, BYTES, CPU, NANOSECONDS, NAME, BINARY, RESIDENT };

/* A profile of another writer, with one sample of two values, in which tests break something. */
struct foreign {
	Pprof__ValueType type[6], *types[6];
	Pprof__Mapping mapping, *mappings[2];
	Pprof__Function function, *functions[2];
	Pprof__Line line, *lines[1];
	Pprof__Location location[2], *locations[2];
	Pprof__Sample sample, *samples[1];
	uint64_t stack[2];
	int64_t value[6];
	Pprof__Profile profile;
};

static void foreign_init(struct foreign *foreign)
{
	for (int i = 0; i < 6; i++) {
		pprof__value_type__init(&foreign->type[i]);
		foreign->types[i] = &foreign->type[i];
		foreign->value[i] = 100 + i;
	}
	pprof__mapping__init(&foreign->mapping);
	foreign->mapping.id = 77;
	foreign->mapping.memory_start = 0x400000;
	foreign->mapping.memory_limit = 0x500000;
	foreign->mapping.filename = BINARY;
	pprof__function__init(&foreign->function);
	foreign->function.id = UINT64_MAX;
	foreign->function.name = NAME;
	pprof__line__init(&foreign->line);
	foreign->line.function_id = UINT64_MAX;
	foreign->line.line = 3;
	foreign->lines[0] = &foreign->line;
	for (int i = 0; i < 2; i++) {
		pprof__location__init(&foreign->location[i]);
		foreign->location[i].id = (uint64_t)5 + (uint64_t)i;
		foreign->location[i].mapping_id = 77;
		foreign->location[i].address = 0x400100;
		foreign->locations[i] = &foreign->location[i];
		foreign->stack[i] = (uint64_t)5 + (uint64_t)i;
		foreign->mappings[i] = &foreign->mapping;
		foreign->functions[i] = &foreign->function;
	}
	foreign->location[1].n_line = 1;
	foreign->location[1].line = foreign->lines;
	foreign->type[0].type = OBJECTS;
	foreign->type[0].unit = COUNT;
	foreign->type[1].type = SPACE;
	foreign->type[1].unit = BYTES;
	pprof__sample__init(&foreign->sample);
	foreign->sample.n_location_id = 2;
	foreign->sample.location_id = foreign->stack;
	foreign->sample.n_value = 2;
	foreign->sample.value = foreign->value;
	foreign->samples[0] = &foreign->sample;
	pprof__profile__init(&foreign->profile);
	foreign->profile.n_sample_type = 2;
	foreign->profile.sample_type = foreign->types;
	foreign->profile.n_sample = 1;
	foreign->profile.sample = foreign->samples;
	foreign->profile.n_mapping = 1;
	foreign->profile.mapping = foreign->mappings;
	foreign->profile.n_function = 1;
	foreign->profile.function = foreign->functions;
	foreign->profile.n_location = 2;
	foreign->profile.location = foreign->locations;
	foreign->profile.n_string_table = sizeof(strings) / sizeof(*strings);
	foreign->profile.string_table = strings;
}

static int foreign_read(const struct foreign *foreign, struct ap_profile **ret, char reason[128])
{
	size_t length = pprof__profile__get_packed_size(&foreign->profile);
	uint8_t *bytes = malloc(length);
	int err;

	assert_non_null(bytes);
	pprof__profile__pack(&foreign->profile, bytes);
	err = bytes_read(bytes, length, ret, reason);
	free(bytes);
	return err;
}

static void types_of_tcmalloc(void **state)
{
	struct ap_format_options options = {.value = AP_INUSE_SPACE};
	struct foreign foreign;
	struct ap_profile *profile;
	char reason[128], *text;

	foreign_init(&foreign);
	foreign.profile.n_sample_type = 3;
	foreign.sample.n_value = 3;
	foreign.type[2].type = RESIDENT;
	foreign.type[2].unit = BYTES;
	foreign.profile.default_sample_type = OBJECTS;
	assert_int_equal(foreign_read(&foreign, &profile, reason), 0);
	assert_int_equal(profile->total[AP_INUSE_OBJECTS], 100);
	assert_int_equal(profile->total[AP_INUSE_SPACE], 101);
	assert_int_equal(profile->total[AP_ALLOC_SPACE], 0);
	assert_string_equal(profile->type[AP_ALLOC_SPACE].type, "");
	assert_int_equal(profile->default_value, AP_INUSE_OBJECTS);
	/* A location without a function is not dropped. */
	text = written(ap_format_folded_write, profile, &options);
	assert_string_equal(text, "f;other+0x100 101\n");
	free(text);
	ap_profile_free(profile);
}

static void types_of_something_else(void **state)
{
	struct ap_format_options options = {0};
	struct foreign foreign;
	struct ap_profile *profile;
	char reason[128], *text;

	foreign_init(&foreign);
	foreign.profile.n_sample_type = 6;
	foreign.sample.n_value = 6;
	for (int i = 0; i < 6; i++) {
		foreign.type[i].type = CPU;
		foreign.type[i].unit = NANOSECONDS;
	}
	assert_int_equal(foreign_read(&foreign, &profile, reason), 0);
	for (int i = 0; i < AP_VALUES; i++) {
		assert_int_equal(profile->total[i], 100 + i);
		assert_string_equal(profile->type[i].type, "cpu");
	}
	text = written(ap_format_text_write, profile, &options);
	assert_non_null(strstr(text, "cpu 100 nanoseconds in 1 stack\n"));
	free(text);
	ap_profile_free(profile);
}

#define expect_bad(change)                                                            \
	do {                                                                          \
		struct foreign foreign;                                               \
		struct ap_profile *profile;                                           \
		char reason[128];                                                     \
                                                                                      \
		foreign_init(&foreign);                                               \
		change;                                                               \
		assert_int_equal(foreign_read(&foreign, &profile, reason), -EBADMSG); \
	} while (0)

static void references_to_nothing(void **state)
{
	expect_bad(foreign.stack[1] = 7);
	expect_bad(foreign.stack[0] = 0);
	expect_bad(foreign.line.function_id = 1);
	expect_bad(foreign.location[0].mapping_id = 1);
	expect_bad(foreign.function.name = 1000);
	expect_bad(foreign.function.filename = -1);
	expect_bad(foreign.mapping.build_id = INT64_MAX);
	expect_bad(foreign.type[0].type = INT64_MIN);
	expect_bad(foreign.type[1].unit = 10);
	expect_bad(foreign.sample.n_value = 1);
	expect_bad(foreign.sample.n_value = 3);
	expect_bad(foreign.profile.n_sample_type = 0);
	expect_bad(foreign.profile.n_string_table = 0);
	expect_bad(foreign.location[1].id = 5);
	expect_bad(foreign.location[1].id = 0);
	expect_bad(foreign.profile.n_function = 2);
	expect_bad(foreign.profile.n_mapping = 2);
	expect_bad(foreign.profile.string_table = strings + 1; foreign.profile.n_string_table--);
}

static void no_profiles(void **state)
{
	struct ap_profile *profile;
	char reason[128];
	char *zeros = calloc(1, 1 << 20);

	assert_int_equal(bytes_read("", 0, &profile, reason), -EBADMSG);
	assert_int_equal(bytes_read("\x1f\x8b", 2, &profile, reason), -EBADMSG);
	assert_int_equal(bytes_read("<html>", 6, &profile, reason), -EBADMSG);
	assert_int_equal(bytes_read(zeros, 1 << 20, &profile, reason), -EBADMSG);
	free(zeros);
}

/* A hundred kilobytes that would unpack to gigabytes of empty samples. */
static void bombs(void **state)
{
	size_t length = 64 << 20, packed_length;
	char *bytes = malloc(length), *packed = NULL, reason[128];
	struct ap_profile *profile;
	FILE *out = open_memstream(&packed, &packed_length);
	struct ap_gzip_writer *writer = ap_gzip_begin(out);
	uint8_t *plain;

	assert_non_null(bytes);
	for (size_t i = 0; i < length; i += 2)
		memcpy(bytes + i, "\x12\x00", 2);
	ap_gzip_write(writer, bytes, length);
	assert_int_equal(ap_gzip_end(writer), 0);
	fclose(out);
	free(bytes);
	assert_in_range(packed_length, 1, 1 << 18);
	assert_int_equal(bytes_read(packed, packed_length, &profile, reason), -EBADMSG);

	/* The limit of what is decompressed, at it and over it. */
	for (size_t limit = length - 1; limit <= length; limit++) {
		FILE *in = fmemopen(packed, packed_length, "r");
		int err = ap_gzip_read(in, limit, &plain, &length);

		assert_int_equal(err, limit < 64 << 20 ? -E2BIG : 0);
		if (!err)
			free(plain);
		fclose(in);
	}
	free(packed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(types_of_tcmalloc),
		cmocka_unit_test(types_of_something_else),
		cmocka_unit_test(references_to_nothing),
		cmocka_unit_test(no_profiles),
		cmocka_unit_test(bombs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

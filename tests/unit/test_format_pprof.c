/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <inttypes.h>
#include <unistd.h>
#include <zlib.h>

#include "gzip.h"
#include "profile.pb-c.h"
#include "sample_profile.h"

/* Bytes in memory, as a stream. */
static int bytes_read(const void *bytes, size_t length, struct ap_profile **ret, char reason[128])
{
	FILE *in = length ? fmemopen((void *)bytes, length, "r") : fopen("/dev/null", "r");
	int err;

	assert_non_null(in);
	*ret = NULL;
	reason[0] = '\0';
	err = ap_format_pprof_read(in, ret, reason, 128);
	fclose(in);
	if (err)
		assert_string_not_equal(reason, "");
	assert_true((err == 0) == (*ret != NULL));
	return err;
}

static char *profile_written(const struct ap_profile *profile, size_t *length)
{
	struct ap_format_options options = {0};
	char *bytes = NULL;
	FILE *out = open_memstream(&bytes, length);

	assert_non_null(out);
	assert_int_equal(ap_format_pprof_write(out, profile, &options), 0);
	fclose(out);
	return bytes;
}

static uint8_t *decompressed(const char *bytes, size_t length, size_t *ret_length)
{
	FILE *in = fmemopen((void *)bytes, length, "r");
	uint8_t *plain;

	assert_non_null(in);
	assert_int_equal(ap_gzip_read(in, 1 << 30, &plain, ret_length), 0);
	fclose(in);
	return plain;
}

/* The folded stacks of every value, to compare profiles by. */
static void expect_same_stacks(const struct ap_profile *a, const struct ap_profile *b)
{
	for (int value = 0; value < AP_VALUES; value++) {
		struct ap_format_options options = {.value = value, .show_allocator = true};
		char *x = written(ap_format_folded_write, a, &options);
		char *y = written(ap_format_folded_write, b, &options);

		assert_string_equal(x, y);
		assert_int_equal(a->total[value], b->total[value]);
		free(x);
		free(y);
	}
}

static void what_is_written_is_read(void **state)
{
	struct ap_profile *profile = sample_profile(), *back;
	const struct ap_profile_mapping *mapping;
	char reason[128];
	size_t length;
	char *bytes = profile_written(profile, &length);

	assert_int_equal(bytes_read(bytes, length, &back, reason), 0);
	expect_same_stacks(profile, back);
	assert_int_equal(back->sample_count, profile->sample_count);
	assert_int_equal(back->location_count, profile->location_count);
	assert_int_equal(back->function_count, profile->function_count);
	assert_int_equal(back->default_value, AP_INUSE_SPACE);
	assert_string_equal(back->type[AP_ALLOC_OBJECTS].type, "alloc_objects");
	assert_string_equal(back->type[AP_ALLOC_OBJECTS].unit, "count");
	/* The program's mapping comes first. */
	mapping = &back->mappings[0];
	assert_string_equal(mapping->file, "/usr/bin/program");
	assert_string_equal(mapping->build_id, "0123456789abcdef");
	assert_int_equal(mapping->start, 0x400000);
	assert_int_equal(mapping->limit, 0x500000);
	assert_int_equal(mapping->offset, 0x1000);

	assert_string_equal(back->info.command, profile->info.command);
	assert_string_equal(back->info.comm, "program");
	assert_string_equal(back->info.host, "host");
	assert_string_equal(back->info.end_reason, "interrupted");
	assert_int_equal(back->info.pid, 4127);
	assert_int_equal(back->info.start_ns, profile->info.start_ns);
	assert_int_equal(back->info.duration_ns, profile->info.duration_ns);
	assert_int_equal(back->info.period, 524288);
	assert_int_equal(back->info.samples, 31);
	assert_int_equal(back->info.frees, 7);
	assert_int_equal(back->info.lost, 2);
	assert_int_equal(back->info.whole_stacks, 29);
	free(bytes);
	ap_profile_free(profile);
	ap_profile_free(back);
}

static void plain_and_in_members(void **state)
{
	struct ap_profile *profile = sample_profile(), *back;
	char reason[128], *two = NULL;
	size_t length, plain_length, two_length;
	char *bytes = profile_written(profile, &length);
	uint8_t *plain = decompressed(bytes, length, &plain_length);
	FILE *out;

	assert_int_equal(bytes_read(plain, plain_length, &back, reason), 0);
	expect_same_stacks(profile, back);
	ap_profile_free(back);

	/* gzip files may be put one behind the other. */
	out = open_memstream(&two, &two_length);
	for (int half = 0; half < 2; half++) {
		struct ap_gzip_writer *writer = ap_gzip_begin(out);

		ap_gzip_write(writer, plain + (half ? plain_length / 2 : 0),
			half ? plain_length - plain_length / 2 : plain_length / 2);
		assert_int_equal(ap_gzip_end(writer), 0);
	}
	fclose(out);
	assert_int_equal(bytes_read(two, two_length, &back, reason), 0);
	expect_same_stacks(profile, back);
	ap_profile_free(back);
	free(two);
	free(plain);
	free(bytes);
	ap_profile_free(profile);
}

/* Whatever is cut off is either an error or, between two fields, a smaller profile. */
static void truncated_files(void **state)
{
	struct ap_profile *profile = sample_profile(), *back;
	size_t length, plain_length;
	char *bytes = profile_written(profile, &length);
	uint8_t *plain = decompressed(bytes, length, &plain_length);
	char reason[128];

	for (size_t cut = 0; cut < length; cut++)
		assert_int_equal(bytes_read(bytes, cut, &back, reason), -EBADMSG);
	for (size_t cut = 0; cut < plain_length;
		cut += cut < 2000 || cut + 2000 > plain_length ? 1 : 997) {
		int err = bytes_read(plain, cut, &back, reason);

		assert_true(err == 0 || err == -EBADMSG);
		ap_profile_free(back);
	}
	free(plain);
	free(bytes);
	ap_profile_free(profile);
}

static void damaged_files(void **state)
{
	struct ap_profile *profile = sample_profile(), *back;
	size_t length, plain_length;
	char *bytes = profile_written(profile, &length);
	uint8_t *plain = decompressed(bytes, length, &plain_length);
	uint8_t *bad = malloc(plain_length);
	unsigned int seed = 20261130;
	char reason[128];

	assert_non_null(bad);
	for (int round = 0; round < 3000; round++) {
		int err;

		memcpy(bad, plain, plain_length);
		for (int i = 0; i <= round % 8; i++) {
			size_t at = (size_t)rand_r(&seed) % plain_length;

			/* Most of the file is one long name: aim at what is around it. */
			if (i % 2)
				at = plain_length - 1 - at % 600;
			else
				at %= 3000;
			bad[at] = (uint8_t)rand_r(&seed);
		}
		err = bytes_read(bad, plain_length, &back, reason);
		assert_true(err == 0 || err == -EBADMSG);
		if (!err) {
			struct ap_format_options options = {.value = back->default_value};

			free(written(ap_format_folded_write, back, &options));
			free(written(ap_format_text_write, back, &options));
		}
		ap_profile_free(back);
	}
	free(bad);
	free(plain);
	free(bytes);
	ap_profile_free(profile);
}

/* ---- Files of others, and files that nobody should write ---- */

static char *strings[] = {"", "objects", "count", "space", "bytes", "cpu", "nanoseconds", "f",
	"/bin/other", "resident_space"};
enum { NONE, OBJECTS, COUNT, SPACE, BYTES, CPU, NANOSECONDS, NAME, BINARY, RESIDENT };

/* A profile of one sample with two values, as somebody else writes it, to be spoilt. */
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

/* ---- An independent reader ---- */

static bool is_installed(const char *program)
{
	char command[64];

	snprintf(command, sizeof(command), "command -v %s >/dev/null", program);
	return system(command) == 0;
}

static void reader_needed(const char *program)
{
	const char *ci = getenv("CI");

	if (is_installed(program))
		return;
	if (ci && strcmp(ci, "true") == 0)
		fail_msg("%s is not installed", program);
	print_message("skipped: %s is not installed\n", program);
	skip();
}

static void go_finds_our_totals(void **state)
{
	static const char *const names[AP_VALUES] = {
		"alloc_objects", "alloc_space", "inuse_objects", "inuse_space"};
	struct ap_profile *profile = sample_profile();
	char path[] = "/tmp/allocprof-test-XXXXXX", command[256], line[512];
	size_t length;
	char *bytes = profile_written(profile, &length);
	int fd = mkstemp(path);

	reader_needed("go");
	assert_int_equal(write(fd, bytes, length), length);
	close(fd);
	for (int value = 0; value < AP_VALUES; value++) {
		bool total = false, left = false;
		FILE *out;

		/* -unit=B: numbers as they are. A malloc frame would be a site of its own. */
		snprintf(command, sizeof(command),
			"HOME=/tmp go tool pprof -top -unit=%s -nodecount=50 -sample_index=%s %s "
			"2>&1",
			value % 2 ? "B" : "count", names[value], path);
		out = popen(command, "r");
		assert_non_null(out);
		while (fgets(line, sizeof(line), out)) {
			int64_t number = 0;
			const char *of = strstr(line, " of ");

			if (strncmp(line, "Showing nodes", 13) == 0 && of) {
				assert_int_equal(sscanf(of, " of %" SCNd64, &number), 1);
				assert_int_equal(number, profile->total[value]);
				total = true;
			}
			if (strstr(line, " left\n")) {
				assert_int_equal(sscanf(line, " %" SCNd64, &number), 1);
				assert_int_equal(number, profile->samples[0].value[value]);
				left = true;
			}
			assert_null(strstr(line, " malloc\n"));
		}
		assert_int_equal(pclose(out), 0);
		assert_true(total);
		assert_true(left);
	}
	unlink(path);
	free(bytes);
	ap_profile_free(profile);
}

static void protoc_decodes_all_of_it(void **state)
{
	struct ap_profile *profile = sample_profile();
	char path[] = "/tmp/allocprof-test-XXXXXX", command[256], line[256];
	size_t length, plain_length;
	char *bytes = profile_written(profile, &length);
	uint8_t *plain = decompressed(bytes, length, &plain_length);
	int fd = mkstemp(path), samples = 0;
	FILE *out;

	reader_needed("protoc");
	assert_int_equal(write(fd, plain, plain_length), plain_length);
	close(fd);
	snprintf(command, sizeof(command),
		"protoc --decode=pprof.Profile -Iloader loader/profile.proto < %s", path);
	out = popen(command, "r");
	assert_non_null(out);
	while (fgets(line, sizeof(line), out)) {
		samples += strcmp(line, "sample {\n") == 0;
		/* A field that the schema does not have is a bare number. */
		assert_false(line[strspn(line, " ")] >= '0' && line[strspn(line, " ")] <= '9');
		while (!strchr(line, '\n') && fgets(line, sizeof(line), out))
			;
	}
	assert_int_equal(pclose(out), 0);
	assert_int_equal(samples, profile->sample_count);
	unlink(path);
	free(plain);
	free(bytes);
	ap_profile_free(profile);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_written_is_read),
		cmocka_unit_test(plain_and_in_members),
		cmocka_unit_test(truncated_files),
		cmocka_unit_test(damaged_files),
		cmocka_unit_test(types_of_tcmalloc),
		cmocka_unit_test(types_of_something_else),
		cmocka_unit_test(references_to_nothing),
		cmocka_unit_test(no_profiles),
		cmocka_unit_test(bombs),
		cmocka_unit_test(go_finds_our_totals),
		cmocka_unit_test(protoc_decodes_all_of_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

// SPDX-License-Identifier: MIT
/* What is written can be read again, by us and by other programs; damaged files are refused. */
#include "pprof_bytes.h"

#include <errno.h>
#include <inttypes.h>
#include <unistd.h>

#include "sample_profile.h"

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

/* A truncated file is an error or, if it is cut between two fields, a smaller profile. */
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
		cmocka_unit_test(go_finds_our_totals),
		cmocka_unit_test(protoc_decodes_all_of_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

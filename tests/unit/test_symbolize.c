// SPDX-License-Identifier: MIT
/*
 * The program symbolizes itself, and copies of itself that objcopy has taken apart, at addresses
 * of which it knows the lines.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "build_id.h"
#include "mapping.h"
#include "profile.h"
#include "symbolize.h"

/* ---- A place that is known ---- */

__attribute__((noinline)) static void *here(void)
{
	return __builtin_return_address(0);
}

static int inlined_line, place_line;

__attribute__((always_inline)) static inline void *inlined_place(void)
{
	void *volatile address;

	inlined_line = __LINE__ + 1;
	address = here();
	return address;
}

__attribute__((noinline)) static void *outer_place(void)
{
	void *volatile address;

	place_line = __LINE__ + 1;
	address = inlined_place();
	return address;
}

/* ---- Fixtures ---- */

struct fixture {
	struct ap_mapping_table table;
	struct ap_symbolizer *symbolizer;
	char directory[64];
	uint64_t address; /* of the known place: a return address */
	struct ap_mapping *self;
};

static int setup(void **state)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));

	assert_non_null(fixture);
	*state = fixture;
	strcpy(fixture->directory, "/tmp/allocprof-test-XXXXXX");
	assert_non_null(mkdtemp(fixture->directory));
	fixture->symbolizer = ap_symbolizer_new();
	assert_non_null(fixture->symbolizer);
	fixture->address = (uint64_t)(uintptr_t)outer_place();
	assert_int_equal(ap_mapping_table_read(&fixture->table, getpid()), 0);
	fixture->self = ap_mapping_find(&fixture->table, fixture->address);
	assert_non_null(fixture->self);
	return 0;
}

static void shell(const char *format, ...)
{
	char command[1024];
	va_list arguments;
	int status;

	va_start(arguments, format);
	vsnprintf(command, sizeof(command), format, arguments);
	va_end(arguments);
	status = system(command);
	if (status)
		fail_msg("status %d: %s", status, command);
}

static int teardown(void **state)
{
	struct fixture *fixture = *state;

	ap_symbolizer_free(fixture->symbolizer);
	ap_mapping_table_clear(&fixture->table);
	shell("rm -rf '%s'", fixture->directory);
	free(fixture);
	return 0;
}

/* Another file in the place of this program. */
struct copy {
	struct ap_object object;
	struct ap_mapping mapping;
};

static void copy_open(struct copy *copy, const struct fixture *fixture, const char *path)
{
	copy->object =
		(struct ap_object){.path = (char *)path, .fd = open(path, O_RDONLY | O_CLOEXEC)};
	copy->mapping = *fixture->self;
	copy->mapping.object = &copy->object;
	copy->mapping.name = path;
	assert_true(copy->object.fd >= 0);
	assert_int_equal(ap_build_id_read(copy->object.fd, copy->object.build_id), 0);
}

static void copy_close(struct copy *copy)
{
	close(copy->object.fd);
}

static void expect_place(const struct fixture *fixture, const struct ap_mapping *mapping)
{
	const struct ap_symbol *symbols;
	int count = ap_symbolize(fixture->symbolizer, mapping, fixture->address, true, &symbols);

	assert_int_equal(count, 2);
	assert_string_equal(symbols[0].name, "inlined_place");
	assert_non_null(strstr(symbols[0].file, "test_symbolize.c"));
	assert_int_equal(symbols[0].line, inlined_line);
	assert_in_range(symbols[0].start_line, inlined_line - 6, inlined_line - 1);
	assert_string_equal(symbols[1].name, "outer_place");
	assert_non_null(strstr(symbols[1].file, "test_symbolize.c"));
	assert_int_equal(symbols[1].line, place_line);
}

/* Expects FILE+0xADDRESS, the address as in the file. */
static void expect_unknown(const char *name, const char *base)
{
	char *end;

	assert_int_equal(strncmp(name, base, strlen(base)), 0);
	assert_int_equal(strncmp(name + strlen(base), "+0x", 3), 0);
	assert_true(strtoull(name + strlen(base) + 3, &end, 16) > 0);
	assert_string_equal(end, "");
}

/* ---- Tests ---- */

static void inlined_functions_and_lines(void **state)
{
	struct fixture *fixture = *state;

	expect_place(fixture, fixture->self);
	/* The same again, from the results that are kept. */
	expect_place(fixture, fixture->self);
}

static void return_address_at_a_function_s_end(void **state)
{
	struct fixture *fixture = *state;
	const struct ap_symbol *symbols;
	uint64_t entry = (uint64_t)(uintptr_t)outer_place;

	assert_true(ap_symbolize(fixture->symbolizer, fixture->self, entry, false, &symbols) >= 1);
	assert_string_equal(symbols[0].name, "outer_place");
	/* A call that never returns may be a function's last instruction. */
	assert_true(ap_symbolize(fixture->symbolizer, fixture->self, entry, true, &symbols) >= 1);
	assert_string_not_equal(symbols[0].name, "outer_place");
}

static void dynamic_symbols_of_a_stripped_library(void **state)
{
	struct fixture *fixture = *state;
	uint64_t address = (uint64_t)(uintptr_t)dlsym(RTLD_DEFAULT, "hcreate_r");
	struct ap_mapping *libc = ap_mapping_find(&fixture->table, address);
	const struct ap_symbol *symbols;
	int count;

	assert_non_null(libc);
	count = ap_symbolize(fixture->symbolizer, libc, address + 1, false, &symbols);
	assert_true(count >= 1);
	assert_string_equal(symbols[count - 1].name, "hcreate_r");
}

static void without_debug_information(void **state)
{
	struct fixture *fixture = *state;
	const struct ap_symbol *symbols;
	struct copy copy;
	char path[128];

	snprintf(path, sizeof(path), "%s/plain", fixture->directory);
	shell("objcopy --strip-debug /proc/%d/exe %s", getpid(), path);
	copy_open(&copy, fixture, path);
	assert_int_equal(
		ap_symbolize(fixture->symbolizer, &copy.mapping, fixture->address, true, &symbols),
		1);
	assert_string_equal(symbols[0].name, "outer_place");
	assert_string_equal(symbols[0].system_name, "outer_place");
	assert_string_equal(symbols[0].file, "");
	copy_close(&copy);
}

static void without_symbols(void **state)
{
	struct fixture *fixture = *state;
	const struct ap_symbol *symbols;
	struct copy copy;
	char path[128];

	snprintf(path, sizeof(path), "%s/bare", fixture->directory);
	shell("objcopy --strip-all /proc/%d/exe %s", getpid(), path);
	copy_open(&copy, fixture, path);
	assert_int_equal(
		ap_symbolize(fixture->symbolizer, &copy.mapping, fixture->address, true, &symbols),
		1);
	expect_unknown(symbols[0].name, "bare");
	assert_string_equal(symbols[0].system_name, "");
	copy_close(&copy);
}

/* PATH without symbols, its debug file at DEBUG, and a link to it when `linked`. */
static void take_apart(const char *path, const char *debug, bool linked)
{
	shell("mkdir -p $(dirname %s) && objcopy --only-keep-debug /proc/%d/exe %s", debug,
		getpid(), debug);
	shell("objcopy --strip-all %s%s /proc/%d/exe %s", linked ? "--add-gnu-debuglink=" : "",
		linked ? debug : "", getpid(), path);
}

static void debug_file_by_link(void **state)
{
	struct fixture *fixture = *state;
	const struct ap_symbol *symbols;
	char path[128], debug[160];
	struct copy copy;

	snprintf(path, sizeof(path), "%s/linked", fixture->directory);
	snprintf(debug, sizeof(debug), "%s/.debug/linked.debug", fixture->directory);
	take_apart(path, debug, true);
	copy_open(&copy, fixture, path);
	expect_place(fixture, &copy.mapping);
	copy_close(&copy);

	/* By the checksum where there is no build id, and not if it differs. */
	for (int wrong = 0; wrong < 2; wrong++) {
		struct ap_symbolizer *other = ap_symbolizer_new();

		if (wrong)
			shell("echo >> %s", debug);
		copy_open(&copy, fixture, path);
		copy.object.build_id[0] = '\0';
		assert_int_equal(
			ap_symbolize(other, &copy.mapping, fixture->address, true, &symbols),
			wrong ? 1 : 2);
		ap_symbolizer_free(other);
		copy_close(&copy);
	}
}

static void debug_file_by_build_id(void **state)
{
	struct fixture *fixture = *state;
	const char *id = fixture->self->object->build_id;
	char path[128], debug[320], system[160];
	struct copy copy;

	if (!*id) {
		print_message("this compiler gives programs no build id\n");
		skip();
	}
	snprintf(path, sizeof(path), "%s/program", fixture->directory);
	snprintf(system, sizeof(system), "%s/system", fixture->directory);
	snprintf(debug, sizeof(debug), "%s/.build-id/%.2s/%s.debug", system, id, id + 2);
	take_apart(path, debug, false);
	assert_int_equal(ap_symbolizer_set_debug_directory(fixture->symbolizer, system), 0);
	copy_open(&copy, fixture, path);
	assert_string_equal(copy.object.build_id, id);
	expect_place(fixture, &copy.mapping);
	copy_close(&copy);
}

/* What dwz has taken out of several files is found by its build id, not by the path in them. */
static void debug_information_shared_by_dwz(void **state)
{
	struct fixture *fixture = *state;
	const char *directory = fixture->directory;
	const struct ap_symbol *symbols;
	char path[128], id[AP_BUILD_ID_SIZE];
	struct ap_symbolizer *other;
	struct copy copy;
	int fd;

	if (system("command -v dwz >/dev/null")) {
		print_message("there is no dwz\n");
		skip();
	}
	for (int i = 0; i < 2; i++)
		shell("objcopy --decompress-debug-sections /proc/%d/exe %s/copy%d", getpid(),
			directory, i);
	snprintf(path, sizeof(path), "%s/shared", directory);
	shell("cd %s && dwz -m shared -M /nowhere/shared copy0 copy1", directory);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	assert_true(fd >= 0);
	assert_int_equal(ap_build_id_read(fd, id), 0);
	close(fd);
	snprintf(path, sizeof(path), "%s/copy0", directory);
	copy_open(&copy, fixture, path);

	/* Without the shared file the information is incomplete, and is not used. */
	other = ap_symbolizer_new();
	assert_int_equal(ap_symbolize(other, &copy.mapping, fixture->address, true, &symbols), 1);
	assert_string_equal(symbols[0].name, "outer_place");
	ap_symbolizer_free(other);

	shell("mkdir -p %s/.build-id/%.2s && mv %s/shared %s/.build-id/%.2s/%s.debug", directory,
		id, directory, directory, id, id + 2);
	assert_int_equal(ap_symbolizer_set_debug_directory(fixture->symbolizer, directory), 0);
	expect_place(fixture, &copy.mapping);
	copy_close(&copy);
}

/* Opening a FIFO would wait for a writer: the test would not end. */
static void link_to_a_fifo(void **state)
{
	struct fixture *fixture = *state;
	const struct ap_symbol *symbols;
	char path[128], debug[160];
	struct copy copy;

	snprintf(path, sizeof(path), "%s/fifo", fixture->directory);
	snprintf(debug, sizeof(debug), "%s/.debug/fifo.debug", fixture->directory);
	take_apart(path, debug, true);
	assert_int_equal(unlink(debug), 0);
	assert_int_equal(mkfifo(debug, 0600), 0);
	copy_open(&copy, fixture, path);
	assert_int_equal(
		ap_symbolize(fixture->symbolizer, &copy.mapping, fixture->address, true, &symbols),
		1);
	expect_unknown(symbols[0].name, "fifo");
	copy_close(&copy);
}

static void memory_without_a_file(void **state)
{
	struct fixture *fixture = *state;
	struct ap_mapping anon = {.start = 0x1000, .end = 0x2000, .name = "[anon]"};
	struct ap_object lost = {.path = "/usr/lib/lost.so", .fd = -1};
	struct ap_mapping unread = {.start = 0x1000,
		.end = 0x2000,
		.offset = 0x4000,
		.object = &lost,
		.name = lost.path};
	const struct ap_symbol *symbols;

	assert_int_equal(ap_symbolize(fixture->symbolizer, &anon, 0x1234, false, &symbols), 1);
	assert_string_equal(symbols[0].name, "[anon]+0x234");
	anon.name = "[vdso]";
	assert_int_equal(ap_symbolize(fixture->symbolizer, &anon, 0x1234, true, &symbols), 1);
	assert_string_equal(symbols[0].name, "[vdso]+0x233");
	assert_int_equal(ap_symbolize(fixture->symbolizer, NULL, 0x1234, false, &symbols), 1);
	assert_string_equal(symbols[0].name, "[unmapped]+0x1234");
	assert_int_equal(ap_symbolize(fixture->symbolizer, &unread, 0x1234, false, &symbols), 1);
	assert_string_equal(symbols[0].name, "lost.so+0x4234");
}

static void locations_of_a_profile(void **state)
{
	struct fixture *fixture = *state;
	struct ap_profile *profile = ap_profile_new();
	int first = ap_symbolize_location(
		fixture->symbolizer, profile, fixture->self, fixture->address, true);
	const struct ap_location *location;

	assert_true(first >= 0);
	assert_int_equal(ap_symbolize_location(fixture->symbolizer, profile, fixture->self,
				 fixture->address, true),
		first);
	location = &profile->locations[first];
	assert_int_equal(location->address, fixture->address - 1);
	assert_int_equal(location->lines, 2);
	assert_string_equal(profile->functions[location->line[0].function].name, "inlined_place");
	assert_int_equal(location->line[1].line, place_line);
	assert_string_equal(
		profile->mappings[location->mapping].build_id, fixture->self->object->build_id);
	assert_true(ap_symbolize_location(fixture->symbolizer, profile, NULL, 5, false) >= 0);
	/* The program is this one. */
	assert_non_null(fixture->table.program);
	assert_int_equal(ap_symbolize_mapping(profile, fixture->table.program), location->mapping);
	ap_profile_free(profile);
}

/* A file that has been damaged costs names and nothing else. */
static void damaged_files(void **state)
{
	struct fixture *fixture = *state;
	struct stat status;
	unsigned char *good, *bad;
	unsigned int seed = 20261130;
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	Elf64_Ehdr header;
	size_t size;

	assert_int_equal(fstat(fd, &status), 0);
	size = (size_t)status.st_size;
	good = malloc(size);
	bad = malloc(size);
	assert_int_equal(read(fd, good, size), size);
	close(fd);
	memcpy(&header, good, sizeof(header));

	for (int round = 0; round < 150; round++) {
		struct ap_symbolizer *symbolizer = ap_symbolizer_new();
		struct copy copy = {.object = {.path = "/damaged", .build_id = ""}};
		char build_id[AP_BUILD_ID_SIZE];
		size_t length = size;

		memcpy(bad, good, size);
		/* Now the headers, now anything; at times the end is missing. */
		for (int i = 0; i < (round % 3 ? 2000 : 4); i++) {
			size_t at = (size_t)rand_r(&seed) % size;

			if (round % 3 == 0)
				at = header.e_shoff +
				     at % (header.e_shnum * (size_t)header.e_shentsize);
			else if (round % 3 == 1 && i < 4)
				at %= sizeof(header) + 13 * sizeof(Elf64_Phdr);
			if (at >= 6)
				bad[at] = (unsigned char)rand_r(&seed);
		}
		if (round % 10 == 9)
			length = (size_t)rand_r(&seed) % size;
		copy.object.fd = memfd_create("damaged", MFD_CLOEXEC);
		assert_int_equal(write(copy.object.fd, bad, length), length);
		copy.mapping = *fixture->self;
		copy.mapping.object = &copy.object;
		assert_int_equal(ap_build_id_read(copy.object.fd, build_id), 0);
		for (uint64_t i = 0; i < 200; i++) {
			const struct ap_symbol *symbols;
			uint64_t address = fixture->address + 64 * i;

			assert_true(ap_symbolize(symbolizer, &copy.mapping, address, true,
					    &symbols) >= 1);
			assert_string_not_equal(symbols[0].name, "");
		}
		ap_symbolizer_free(symbolizer);
		close(copy.object.fd);
	}
	free(good);
	free(bad);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(inlined_functions_and_lines, setup, teardown),
		cmocka_unit_test_setup_teardown(
			return_address_at_a_function_s_end, setup, teardown),
		cmocka_unit_test_setup_teardown(
			dynamic_symbols_of_a_stripped_library, setup, teardown),
		cmocka_unit_test_setup_teardown(without_debug_information, setup, teardown),
		cmocka_unit_test_setup_teardown(without_symbols, setup, teardown),
		cmocka_unit_test_setup_teardown(debug_file_by_link, setup, teardown),
		cmocka_unit_test_setup_teardown(debug_file_by_build_id, setup, teardown),
		cmocka_unit_test_setup_teardown(debug_information_shared_by_dwz, setup, teardown),
		cmocka_unit_test_setup_teardown(link_to_a_fifo, setup, teardown),
		cmocka_unit_test_setup_teardown(memory_without_a_file, setup, teardown),
		cmocka_unit_test_setup_teardown(locations_of_a_profile, setup, teardown),
		cmocka_unit_test_setup_teardown(damaged_files, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

// SPDX-License-Identifier: MIT
/*
 * Cached names are used as long as a new look-up would find the same, and no longer. The cache gets
 * names that no file has, which shows what comes from it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "build_id.h"
#include "mapping.h"
#include "regular_file.h"
#include "symbol_cache.h"
#include "symbolize.h"

#define MADE_UP "no_file_has_this"

struct fixture {
	char folder[64], path[96], debug[96]; /* debug: where debug files are looked for */
	struct ap_object object;
	struct ap_mapping mapping; /* of the whole file */
	uint64_t place;		   /* of a function, in the file and in the mapping */
	int memory;		   /* -1: none */
};

static void shell(const char *format, ...)
{
	char command[1024];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(command, sizeof(command), format, arguments);
	va_end(arguments);
	if (system(command))
		fail_msg("failed: %s", command);
}

/* clang-format off */
static const char source[] =
	"static volatile int sink;\n"
	"static inline __attribute__((always_inline)) void put(int n) { sink = n; }\n"
	"__attribute__((section(\"known\"))) void outer(int n) { put(n); put(n + 1); }\n"
	"struct held { struct held *next, *previous; long first, second, third, fourth; };\n"
	"struct held *first(struct held *held) { return held->next; }\n";
/* clang-format on */

static void object_open(struct fixture *fixture)
{
	if (fixture->object.fd >= 0)
		close(fixture->object.fd);
	fixture->object.path = fixture->path;
	fixture->object.fd = open(fixture->path, O_RDONLY | O_CLOEXEC);
	assert_true(fixture->object.fd >= 0);
	assert_int_equal(ap_build_id_read(fixture->object.fd, fixture->object.build_id), 0);
	fixture->mapping = (struct ap_mapping){
		.end = UINT64_MAX, .object = &fixture->object, .name = fixture->path};
}

/* Where the section of the known function is in the file. */
static uint64_t place_find(const char *path)
{
	char command[192];
	unsigned long offset = 0;
	FILE *answer;

	snprintf(command, sizeof(command),
		"readelf -SW %s | sed -n 's/.* known *PROGBITS *[0-9a-f]* \\([0-9a-f]*\\) "
		".*/\\1/p'",
		path);
	answer = popen(command, "re");
	assert_non_null(answer);
	assert_int_equal(fscanf(answer, "%lx", &offset), 1);
	pclose(answer);
	return offset;
}

static int setup_with(void **state, const char *options)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));

	strcpy(fixture->folder, "/tmp/allocprof-test-XXXXXX");
	assert_non_null(mkdtemp(fixture->folder));
	snprintf(fixture->path, sizeof(fixture->path), "%s/code.so", fixture->folder);
	snprintf(fixture->debug, sizeof(fixture->debug), "%s/debug", fixture->folder);
	setenv("XDG_CACHE_HOME", fixture->folder, 1);
	shell("cd %s && echo '%s' >code.c && gcc -g -O1 -fPIC -shared -nostdlib %s -o whole.so "
	      "code.c && "
	      "cp whole.so code.so",
		fixture->folder, source, options);
	fixture->object.fd = fixture->memory = -1;
	fixture->place = place_find(fixture->path);
	object_open(fixture);
	*state = fixture;
	return 0;
}

static int setup(void **state)
{
	return setup_with(state, "-Wl,--build-id");
}

static int setup_without_build_id(void **state)
{
	return setup_with(state, "-Wl,--build-id=none");
}

static int teardown(void **state)
{
	struct fixture *fixture = *state;

	close(fixture->object.fd);
	if (fixture->memory >= 0)
		close(fixture->memory);
	shell("rm -r %s", fixture->folder);
	free(fixture);
	return 0;
}

/* Looks the known place up. Returns the number of symbols; the innermost is copied. */
static int look_up(struct fixture *fixture, struct ap_symbol *ret, char name[64], bool keep)
{
	struct ap_symbolizer *symbolizer = ap_symbolizer_new();
	const struct ap_symbol *symbols;
	int count;

	assert_non_null(symbolizer);
	assert_int_equal(ap_symbolizer_set_debug_directory(symbolizer, fixture->debug), 0);
	if (fixture->memory >= 0)
		assert_int_equal(ap_symbolizer_set_memory(symbolizer, fixture->memory), 0);
	count = ap_symbolize(symbolizer, &fixture->mapping, fixture->mapping.start + fixture->place,
		false, &symbols);
	assert_true(count > 0);
	*ret = symbols[0];
	snprintf(name, 64, "%s", symbols[0].name);
	if (keep)
		ap_symbolizer_keep(symbolizer);
	ap_symbolizer_free(symbolizer);
	return count;
}

/* Puts a name for the known place into the cache that the file does not have. */
static void make_up(struct fixture *fixture)
{
	struct ap_debug_places places = {.directory = fixture->debug, .root = AP_ROOT_OURS};
	struct ap_pack_address at = {.address = fixture->place, .count = 1};
	struct ap_symbol symbol = {.name = MADE_UP, .system_name = "", .file = "x.c", .line = 7};
	struct ap_symbol_cache cache = AP_SYMBOL_CACHE_NONE;
	struct ap_symbol_file file;

	if (fixture->memory >= 0)
		assert_int_equal(ap_symbol_cache_set_memory(&cache, fixture->memory), 0);
	ap_symbol_file_open(&file, &fixture->object, &places);
	assert_int_equal(ap_elf_file_address(&file.elf, fixture->place, &at.address), 0);
	assert_int_equal(ap_symbol_file_read(&file), 0);
	ap_symbol_cache_keep(&cache, &file, &at, 1, &symbol, true);
	ap_symbol_cache_finish(&cache);
	ap_symbol_file_close(&file);
	ap_symbol_cache_clear(&cache);
}

static void expect_made_up(struct fixture *fixture)
{
	struct ap_symbol symbol;
	char name[64];

	assert_int_equal(look_up(fixture, &symbol, name, false), 1);
	assert_string_equal(name, MADE_UP);
	assert_int_equal(symbol.line, 7);
}

static void expect_true(struct fixture *fixture, bool keep)
{
	struct ap_symbol symbol;
	char name[64];

	assert_int_equal(look_up(fixture, &symbol, name, keep), 2);
	assert_string_equal(name, "put");
	assert_int_equal(symbol.line, 2);
}

static void same_names(void **state)
{
	struct fixture *fixture = *state;

	expect_true(fixture, true);
	expect_true(fixture, true);
	make_up(fixture);
	expect_made_up(fixture);
}

static void other_file(void **state)
{
	struct fixture *fixture = *state;

	make_up(fixture);
	expect_made_up(fixture);
	/* Whose file it is makes no difference to itself. */
	if (!geteuid()) {
		assert_int_equal(chown(fixture->path, 12345, 12345), 0);
		make_up(fixture);
		expect_made_up(fixture);
	}
	/* The same bytes and the same build id, but somebody else's may say so, too. */
	shell("cd %s && cp code.so other.so && mv other.so code.so", fixture->folder);
	object_open(fixture);
	expect_true(fixture, true);
	/* Written to; the owner can set every other time but that. */
	make_up(fixture);
	shell("touch -r %s/whole.so %s", fixture->folder, fixture->path);
	expect_true(fixture, false);
}

/* A package of debug files that is installed later is not hidden by what was found without it. */
static void debug_file_comes(void **state)
{
	struct fixture *fixture = *state;
	const char *id = fixture->object.build_id;
	struct ap_symbol symbol;
	char name[64];

	shell("objcopy --strip-debug %s", fixture->path);
	object_open(fixture);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(look_up(fixture, &symbol, name, true), 1);
		assert_string_equal(name, "outer");
		assert_int_equal(symbol.line, 0);
	}
	shell("mkdir -p %s/.build-id/%.2s && cp %s/whole.so %s/.build-id/%.2s/%s.debug",
		fixture->debug, id, fixture->folder, fixture->debug, id, id + 2);
	expect_true(fixture, true);
	make_up(fixture);
	expect_made_up(fixture);
	/* And one that goes hides nothing. */
	shell("rm -r %s", fixture->debug);
	assert_int_equal(look_up(fixture, &symbol, name, true), 1);
	assert_string_equal(name, "outer");
}

/* What dwz has taken out comes after what it was taken out of. */
static void shared_file_comes(void **state)
{
	struct fixture *fixture = *state;
	char id[AP_BUILD_ID_SIZE];
	struct ap_symbol symbol;
	char name[64], path[96];
	int fd;

	if (system("command -v dwz >/dev/null")) {
		print_message("there is no dwz\n");
		skip();
	}
	shell("cd %s && cp code.so twin.so && dwz -m shared -M /nowhere/shared code.so twin.so",
		fixture->folder);
	object_open(fixture);
	snprintf(path, sizeof(path), "%s/shared", fixture->folder);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	assert_int_equal(ap_build_id_read(fd, id), 0);
	close(fd);
	assert_int_equal(look_up(fixture, &symbol, name, true), 1);
	shell("cd %s && mkdir -p debug/.build-id/%.2s && mv shared debug/.build-id/%.2s/%s.debug",
		fixture->folder, id, id, id + 2);
	expect_true(fixture, true);
	make_up(fixture);
	expect_made_up(fixture);
}

static void damaged_is_replaced(void **state)
{
	struct fixture *fixture = *state;

	make_up(fixture);
	shell("cd %s/allocprof && for file in *; do truncate -s -1 $file; done", fixture->folder);
	expect_true(fixture, true);
	make_up(fixture);
	shell("cd %s/allocprof && for file in *; do printf x | dd of=$file conv=notrunc bs=1 "
	      "seek=300 "
	      "2>/dev/null; done",
		fixture->folder);
	expect_true(fixture, true);
	shell("cd %s/allocprof && for file in *; do echo >$file; done", fixture->folder);
	expect_true(fixture, true);
	shell("[ $(ls %s/allocprof | wc -l) = 1 ]", fixture->folder);
	make_up(fixture);
	expect_made_up(fixture);
}

static void without_build_id(void **state)
{
	struct fixture *fixture = *state;

	expect_true(fixture, true);
	shell("[ ! -e %s/allocprof ]", fixture->folder);
	/* Between the snapshots of one recording it is the same file as long as it is open. */
	fixture->memory = memfd_create("names", MFD_CLOEXEC);
	expect_true(fixture, true);
	make_up(fixture);
	expect_made_up(fixture);
}

static void in_memory(void **state)
{
	struct fixture *fixture = *state;
	struct stat status;

	setenv("XDG_CACHE_HOME", "/nonexistent", 1);
	fixture->memory = memfd_create("names", MFD_CLOEXEC);
	assert_true(fixture->memory >= 0);
	make_up(fixture);
	expect_made_up(fixture);
	/* The library is unloaded, and loaded again somewhere else. */
	fixture->mapping.start = 0x1000000;
	expect_made_up(fixture);
	/* As after a writer was killed. */
	assert_int_equal(fstat(fixture->memory, &status), 0);
	assert_int_equal(ftruncate(fixture->memory, status.st_size - 1), 0);
	expect_true(fixture, true);
	make_up(fixture);
	assert_int_equal(pwrite(fixture->memory, "x", 1, status.st_size / 2), 1);
	expect_true(fixture, true);
	expect_true(fixture, true);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(same_names, setup, teardown),
		cmocka_unit_test_setup_teardown(other_file, setup, teardown),
		cmocka_unit_test_setup_teardown(debug_file_comes, setup, teardown),
		cmocka_unit_test_setup_teardown(shared_file_comes, setup, teardown),
		cmocka_unit_test_setup_teardown(damaged_is_replaced, setup, teardown),
		cmocka_unit_test_setup_teardown(without_build_id, setup_without_build_id, teardown),
		cmocka_unit_test_setup_teardown(in_memory, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

// SPDX-License-Identifier: MIT
/*
 * Addresses all over a file: inlined functions, names and lines must be those that llvm-symbolizer
 * finds, and the names of inlined functions with internal linkage, around which it leaves out all
 * namespaces and classes, those that gdb finds.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <gelf.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "elf_file.h"
#include "mapping.h"
#include "symbolize.h"
#include "table.h"

#define ADDRESSES 1000
#define TEXT_MAX  4096

struct fixture {
	char folder[64], path[128]; /* of the file that is symbolized */
	struct ap_object object;
	struct ap_mapping mapping; /* of the whole file */
	struct ap_symbolizer *symbolizer;
	struct ap_elf_file elf;
	GElf_Shdr text;
	FILE *answers;
	char line[TEXT_MAX]; /* the next line of the answers */
};

static int setup(void **state)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));

	strcpy(fixture->folder, "/tmp/allocprof-test-XXXXXX");
	assert_non_null(mkdtemp(fixture->folder));
	fixture->symbolizer = ap_symbolizer_new();
	assert_non_null(fixture->symbolizer);
	fixture->object.fd = -1;
	*state = fixture;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *fixture = *state;
	char command[96];

	if (fixture->answers)
		pclose(fixture->answers);
	ap_symbolizer_free(fixture->symbolizer);
	ap_elf_file_close(&fixture->elf);
	if (fixture->object.fd >= 0)
		close(fixture->object.fd);
	snprintf(command, sizeof(command), "rm -r %s", fixture->folder);
	assert_int_equal(system(command), 0);
	free(fixture);
	return 0;
}

/* Not code that the linker makes: for it, the peer takes the name of whatever stands before it. */
static void text_find(struct fixture *fixture)
{
	Elf_Scn *section = NULL;
	size_t names;

	assert_int_equal(elf_getshdrstrndx(fixture->elf.elf, &names), 0);
	do {
		section = elf_nextscn(fixture->elf.elf, section);
		assert_non_null(gelf_getshdr(section, &fixture->text));
	} while (strcmp(elf_strptr(fixture->elf.elf, names, fixture->text.sh_name), ".text") != 0);
}

static void file_open(struct fixture *fixture)
{
	fixture->object.path = fixture->path;
	fixture->object.fd = open(fixture->path, O_RDONLY | O_CLOEXEC);
	assert_true(fixture->object.fd >= 0);
	fixture->mapping = (struct ap_mapping){
		.end = UINT64_MAX, .object = &fixture->object, .name = fixture->path};
	assert_int_equal(ap_elf_file_open(&fixture->elf, fixture->object.fd), 0);
	text_find(fixture);
}

/* The i-th address: its place in the file, and what it wants to be. */
static uint64_t address_get(const struct fixture *fixture, int i, uint64_t *ret)
{
	uint64_t at = ap_hash_u64(1, (uint64_t)i) % fixture->text.sh_size;

	*ret = fixture->text.sh_addr + at;
	return fixture->text.sh_offset + at;
}

/* A command with %s for the file and one for where the addresses stand. */
static void peer_start(struct fixture *fixture, const char *format)
{
	char command[512], path[128];
	FILE *questions;
	uint64_t in_file;

	snprintf(path, sizeof(path), "%s/questions", fixture->folder);
	questions = fopen(path, "we");
	assert_non_null(questions);
	for (int i = 0; i < ADDRESSES; i++) {
		address_get(fixture, i, &in_file);
		fprintf(questions, "0x%" PRIx64 "\n", in_file);
	}
	fclose(questions);
	snprintf(command, sizeof(command), format, fixture->path, path);
	if (fixture->answers)
		pclose(fixture->answers);
	fixture->answers = popen(command, "re");
	assert_non_null(fixture->answers);
	assert_non_null(fgets(fixture->line, TEXT_MAX, fixture->answers));
}

/* The next line without its end, or "". */
static void line_take(struct fixture *fixture, char out[TEXT_MAX])
{
	strcpy(out, fixture->line);
	out[strcspn(out, "\n")] = '\0';
	if (!fgets(fixture->line, TEXT_MAX, fixture->answers))
		fixture->line[0] = '\0';
}

/* Whether it is their name with the scope around it, which is not in the symbol table. */
static bool is_scoped(const struct ap_symbol *symbol, const char *theirs)
{
	size_t length = strlen(symbol->name), less = strlen(theirs);

	return strncmp(symbol->system_name, "_Z", 2) != 0 && length > less + 2 &&
	       strcmp(symbol->name + length - less, theirs) == 0 &&
	       strncmp(symbol->name + length - less - 2, "::", 2) == 0;
}

/* What has no name is told by its place here, foo.isra.0 is foo, and lambdas are spelt otherwise.
 */
static void name_expect(const char *name, const struct ap_symbol *symbol)
{
	size_t length = strlen(symbol->name);

	if (is_scoped(symbol, name))
		return;
	if (strstr(symbol->name, "lambda"))
		assert_non_null(strstr(name, "lambda"));
	else if (!strcmp(name, "??"))
		assert_string_equal(symbol->system_name, "");
	else if (strncmp(name, symbol->name, length) != 0 || name[length] != '.')
		assert_string_equal(symbol->name, name);
}

/* Compares with FILE:LINE, behind which llvm-symbolizer may write more. */
static void place_expect(const char *place, const struct ap_symbol *symbol)
{
	const char *colon = strrchr(place, ':');
	const char *theirs, *ours = strrchr(symbol->file, '/');

	assert_non_null(colon);
	assert_int_equal(symbol->line, atoi(colon + 1));
	/* Where there is no line, they have the symbol table's files instead. */
	if (!symbol->line)
		return;
	for (theirs = colon; theirs > place && theirs[-1] != '/'; theirs--)
		;
	ours = ours ? ours + 1 : symbol->file;
	assert_int_equal(strncmp(ours, theirs, strlen(ours)), 0);
	assert_int_equal(theirs[strlen(ours)], ':');
}

/* The symbols of an address, with which the peer begins its answer. */
static int address_symbolize(struct fixture *fixture, int i, const struct ap_symbol **ret)
{
	char text[TEXT_MAX], expected[32];
	uint64_t in_file, at = address_get(fixture, i, &in_file);

	snprintf(expected, sizeof(expected), "0x%" PRIx64, in_file);
	line_take(fixture, text);
	assert_string_equal(text, expected);
	return ap_symbolize(fixture->symbolizer, &fixture->mapping, at, false, ret);
}

static void places_compare(struct fixture *fixture)
{
	char text[TEXT_MAX];
	int frames = 0;

	file_open(fixture);
	peer_start(fixture, "llvm-symbolizer --output-style=GNU --addresses --functions --inlines "
			    "--obj=%s <%s");
	for (int i = 0; i < ADDRESSES; i++) {
		const struct ap_symbol *symbols;
		int count = address_symbolize(fixture, i, &symbols);

		for (int frame = 0; frame < count; frame++) {
			line_take(fixture, text);
			name_expect(text, &symbols[frame]);
			line_take(fixture, text);
			place_expect(text, &symbols[frame]);
			frames++;
		}
	}
	assert_string_equal(fixture->line, "");
	print_message("%d frames at %d addresses\n", frames, ADDRESSES);
}

/* clang-format off */
static const char gdb_script[] =
	"import gdb, sys\n"
	"for line in open(\"questions\"):\n"
	"\tblock = gdb.block_for_pc(int(line, 16))\n"
	"\tsys.stdout.write(line)\n"
	"\twhile block and not block.is_static:\n"
	"\t\tif block.function:\n"
	"\t\t\tprint(block.function.print_name)\n"
	"\t\tblock = block.superblock\n";
/* clang-format on */

static void text_write(const struct fixture *fixture, const char *name, const char *text)
{
	char path[128];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", fixture->folder, name);
	file = fopen(path, "we");
	assert_non_null(file);
	fputs(text, file);
	fclose(file);
}

/* gdb leaves the functions around local classes and lambdas out, and tells of what C calls f what
 * arguments it takes. */
static void scopes_compare(struct fixture *fixture)
{
	char text[TEXT_MAX];
	int scoped = 0;

	text_write(fixture, "script.py", gdb_script);
	peer_start(fixture, "cd $(dirname %s) && gdb -nx -q -batch -x script.py code.so # %s");
	for (int i = 0; i < ADDRESSES; i++) {
		const struct ap_symbol *symbols;
		int count = address_symbolize(fixture, i, &symbols);

		for (int frame = 0; frame + 1 < count; frame++) {
			const struct ap_symbol *symbol = &symbols[frame];
			size_t length = strlen(symbol->name);

			line_take(fixture, text);
			scoped += strncmp(symbol->system_name, "_Z", 2) && strstr(text, "::");
			if (!is_scoped(symbol, text) &&
				(strncmp(text, symbol->name, length) ||
					(text[length] && text[length] != '(')))
				assert_string_equal(symbol->name, text);
		}
		line_take(fixture, text);
	}
	print_message("%d of them have a scope in the debug information alone\n", scoped);
}

static void command_need(const char *command)
{
	char text[64];

	snprintf(text, sizeof(text), "command -v %s >/dev/null", command);
	if (system(text)) {
		print_message("there is no %s\n", command);
		skip();
	}
}

static void own_code(void **state)
{
	struct fixture *fixture = *state;

	command_need("llvm-symbolizer");
	snprintf(fixture->path, sizeof(fixture->path), "/proc/%d/exe", getpid());
	places_compare(fixture);
}

/* Functions inlined from the same file, and a lambda that is not, in a member that is. */
/* clang-format off */
static const char source[] =
	"volatile long sink;\n"
	"static inline void put(long n)\n"
	"{\n"
	"\tsink = n;\n"
	"}\n"
	"template <typename T> struct holder {\n"
	"\tT value;\n"
	"\tT all(T n)\n"
	"\t{\n"
	"\t\treturn [this, n]() __attribute__((noinline)) {\n"
	"\t\t\tput(value);\n"
	"\t\t\tput(n * n);\n"
	"\t\t\treturn n;\n"
	"\t\t}();\n"
	"\t}\n"
	"};\n"
	"extern \"C\" long all(long n)\n"
	"{\n"
	"\tholder<long> held = {n};\n"
	"\tput(n);\n"
	"\treturn held.all(n) + held.all(n + 1);\n"
	"}\n";
/* clang-format on */

static void compiled_code(struct fixture *fixture, const char *compiler, const char *code)
{
	char command[512];

	command_need("llvm-symbolizer");
	command_need(compiler);
	text_write(fixture, "code.cc", code);
	snprintf(fixture->path, sizeof(fixture->path), "%s/code.so", fixture->folder);
	/* Where it stands: then it is the unit's own file, which has a number of its own. */
	snprintf(command, sizeof(command),
		"cd %s && %s -g -O1 -fPIC -shared -nostdlib -o code.so code.cc", fixture->folder,
		compiler);
	assert_int_equal(system(command), 0);
	places_compare(fixture);
}

static void code_of_gcc(void **state)
{
	compiled_code(*state, "g++", source);
}

static void code_of_clang(void **state)
{
	compiled_code(*state, "clang++", source);
}

/* Members that no other unit can name: of an anonymous namespace, and of templates of local types.
 */
/* clang-format off */
static const char scoped_source[] =
	"volatile long sink;\n"
	"namespace {\n"
	"struct held {\n"
	"\tlong value;\n"
	"\texplicit held(long n) : value(n) { sink = n; }\n"
	"\tvoid put(long n) { sink = value + n; }\n"
	"\tstatic void put_static(long n) { sink = n; }\n"
	"};\n"
	"template <typename T> struct holder {\n"
	"\tstruct slot {\n"
	"\t\tT item;\n"
	"\t\tlong get() { return sink + item.value; }\n"
	"\t};\n"
	"\tslot first;\n"
	"\t__attribute__((noinline)) long all(long n) { first.item.put(n); return first.get(); }\n"
	"};\n"
	"}\n"
	"namespace outer { inline namespace inner {\n"
	"template <typename T> struct list {\n"
	"\tT last;\n"
	"\tvoid push_back(const T &item) { last = item; sink = item.value; }\n"
	"\ttemplate <typename U> void twice(U n) { sink = last.value + n; }\n"
	"};\n"
	"} }\n"
	"extern \"C\" long all(long n)\n"
	"{\n"
	"\tstruct local { long value; void put() { sink = value; } };\n"
	"\touter::list<held> list = {held(n)};\n"
	"\touter::list<local> locals = {{n}};\n"
	"\tholder<held> holding = {{held(n + 2)}};\n"
	"\tlist.push_back(held(n + 1));\n"
	"\tlist.twice(7);\n"
	"\tlocals.push_back(local{n + 3});\n"
	"\tlocals.last.put();\n"
	"\theld::put_static(n);\n"
	"\tauto later = [&](long k) { sink = k + n; };\n"
	"\tlater(sink);\n"
	"\treturn holding.all(n) + holding.all(n + 1);\n"
	"}\n";
/* clang-format on */

static void scopes_of_gcc(void **state)
{
	command_need("gdb");
	compiled_code(*state, "g++", scoped_source);
	scopes_compare(*state);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(own_code, setup, teardown),
		cmocka_unit_test_setup_teardown(code_of_gcc, setup, teardown),
		cmocka_unit_test_setup_teardown(code_of_clang, setup, teardown),
		cmocka_unit_test_setup_teardown(scopes_of_gcc, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

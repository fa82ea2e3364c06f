// SPDX-License-Identifier: MIT
/* The program's own code, at addresses all over it: inlined functions, names and lines must be those
 * that llvm-symbolizer finds. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <gelf.h>
#include <inttypes.h>
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
	struct ap_mapping_table table;
	struct ap_symbolizer *symbolizer;
	struct ap_elf_file elf;
	GElf_Shdr text;
	char questions[64]; /* the file of the peer's input */
	FILE *answers;
	char line[TEXT_MAX]; /* of the answers, the one that is next */
};

/* From what the linker makes itself, the peer takes names that only stand before it. */
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

static int setup(void **state)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));
	int fd;

	strcpy(fixture->questions, "/tmp/allocprof-test-XXXXXX");
	fd = mkstemp(fixture->questions);
	assert_true(fd >= 0);
	close(fd);
	fixture->symbolizer = ap_symbolizer_new();
	assert_int_equal(ap_mapping_table_read(&fixture->table, getpid()), 0);
	assert_non_null(fixture->table.program);
	assert_int_equal(
		ap_elf_file_open(&fixture->elf, fixture->table.program->object->fd), 0);
	text_find(fixture);
	*state = fixture;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *fixture = *state;

	if (fixture->answers)
		pclose(fixture->answers);
	unlink(fixture->questions);
	ap_symbolizer_free(fixture->symbolizer);
	ap_elf_file_close(&fixture->elf);
	ap_mapping_table_clear(&fixture->table);
	free(fixture);
	return 0;
}

/* The i-th address, and what it is in the file. */
static uint64_t address_get(const struct fixture *fixture, int i, uint64_t *ret)
{
	const struct ap_mapping *code = fixture->table.program;
	uint64_t at = ap_hash_u64(1, (uint64_t)i) % fixture->text.sh_size;

	*ret = fixture->text.sh_addr + at;
	return code->start + fixture->text.sh_offset + at - code->offset;
}

static void peer_start(struct fixture *fixture)
{
	FILE *questions = fopen(fixture->questions, "we");
	char command[256];
	uint64_t in_file;

	assert_non_null(questions);
	for (int i = 0; i < ADDRESSES; i++) {
		address_get(fixture, i, &in_file);
		fprintf(questions, "0x%" PRIx64 "\n", in_file);
	}
	fclose(questions);
	snprintf(command, sizeof(command),
		"llvm-symbolizer --output-style=GNU --addresses --functions --inlines "
		"--obj=/proc/%d/exe <%s",
		getpid(), fixture->questions);
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

/* What has no name is told by its place here, and foo.isra.0 is foo. */
static void name_expect(const char *name, const struct ap_symbol *symbol)
{
	size_t length = strlen(symbol->name);

	if (!strcmp(name, "??"))
		assert_string_equal(symbol->system_name, "");
	else if (strncmp(name, symbol->name, length) != 0 || name[length] != '.')
		assert_string_equal(symbol->name, name);
}

/* FILE:LINE, with words of llvm's behind it. */
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

static void places_are_llvm_s(void **state)
{
	struct fixture *fixture = *state;
	char text[TEXT_MAX], expected[32];
	uint64_t in_file;
	int frames = 0;

	if (system("command -v llvm-symbolizer >/dev/null")) {
		print_message("there is no llvm-symbolizer\n");
		skip();
	}
	peer_start(fixture);
	for (int i = 0; i < ADDRESSES; i++) {
		uint64_t address = address_get(fixture, i, &in_file);
		const struct ap_symbol *symbols;
		int count = ap_symbolize(fixture->symbolizer, fixture->table.program, address,
			false, &symbols);

		snprintf(expected, sizeof(expected), "0x%" PRIx64, in_file);
		line_take(fixture, text);
		assert_string_equal(text, expected);
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(places_are_llvm_s, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

// SPDX-License-Identifier: MIT
/* The format is described in tools/perf/Documentation/jitdump-specification.txt of Linux. */
#include "jit_dump.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "table.h"

#define MAGIC 0x4a695444 /* "JiTD" */

/* Time is in ticks of the processor, which cannot be compared with CLOCK_MONOTONIC. */
#define FLAG_ARCH_TIME 1

enum { RECORD_LOAD, RECORD_MOVE, RECORD_DEBUG_INFO, RECORD_CLOSE };

/* The target decides how much it writes: these limits bound the cost of reading it. */
#define FILE_MAX  ((uint64_t)4 << 30)
#define CODE_MAX  (4U << 20)
#define LINES_MAX (16U << 20)

/*
 * How much of a record is read: enough for the name before the code, and for the lines of very
 * large functions.
 */
#define RECORD_MAX	(1U << 20)
#define NAME_LENGTH_MAX 4096

/*
 * V8 adds the size of the ELF header that perf would put before the code to the address of each
 * line. Nothing in the file says so, but only V8 fills the padding with this number.
 */
#define V8_PADDING	0xdeadbeef
#define ELF_HEADER_SIZE 0x40

/*
 * In code that V8 has optimized, lines of inlined functions come with the file of
 * the outer function.
 */
#define V8_OPTIMIZED "JS:*"

struct file_header {
	uint32_t magic, version, size, machine, padding, pid;
	uint64_t time, flags;
};

struct record {
	uint32_t kind, size;
	uint64_t time;
};

struct load {
	uint32_t pid, tid;
	uint64_t virtual_address, address, size, index;
	/* its name with a NUL and its bytes follow */
};

struct move {
	uint32_t pid, tid;
	uint64_t virtual_address, from, to, size, index;
};

struct debug_info {
	uint64_t address, entries;
};

struct debug_entry {
	uint64_t address;
	int32_t line, discriminator;
	/* a file name with a NUL follows, "\xff" for that of the entry before */
};

struct dump {
	struct ap_jit_code *code;
	uint32_t *symbols; /* indices into code->symbols, in the order of the load records */
	uint64_t *indices; /* the runtime's number (code_index) of each of these */
	uint32_t count, symbol_room, index_room;
	struct ap_table by_index; /* from the runtime's number to the place in `symbols` */
	/* The lines of the code that is loaded next. */
	uint64_t lines_address;
	uint32_t first_line, line_count;
	bool is_v8;
};

static bool index_equal(const void *array, uint32_t index, const void *key)
{
	return ((const uint64_t *)array)[index] == *(const uint64_t *)key;
}

static int64_t load_find(const struct dump *dump, uint64_t index)
{
	return ap_table_find(
		&dump->by_index, ap_hash_u64(0, index), index_equal, dump->indices, &index);
}

/* Notes the runtime's number of some code. If several have the same, the first counts. */
static int load_remember(struct dump *dump, uint64_t index, uint32_t symbol)
{
	if (load_find(dump, index) >= 0)
		return 0;
	if (ap_array_grow((void **)&dump->symbols, dump->count, &dump->symbol_room,
		    sizeof(*dump->symbols)) ||
		ap_array_grow((void **)&dump->indices, dump->count, &dump->index_room,
			sizeof(*dump->indices)) ||
		ap_table_add(&dump->by_index, ap_hash_u64(0, index), dump->count))
		return -ENOMEM;
	dump->symbols[dump->count] = symbol;
	dump->indices[dump->count++] = index;
	return 0;
}

/* Drops lines whose code has not followed: line records come before their code. */
static void lines_drop(struct dump *dump)
{
	dump->code->line_count = dump->first_line;
	dump->line_count = 0;
}

/*
 * Whether the lines are in order and inside the code, after V8's offset has been taken off. node 20
 * sometimes writes a wrong name of a file, so that the lengths are wrong, too.
 */
static bool lines_fit(struct dump *dump, uint64_t size)
{
	uint64_t before = 0;

	for (uint32_t i = 0; i < dump->line_count; i++) {
		struct ap_jit_line *line = &dump->code->lines[dump->first_line + i];

		line->offset -= dump->is_v8 ? ELF_HEADER_SIZE : 0;
		if (line->offset < before || line->offset > size)
			return false;
		before = line->offset;
	}
	return true;
}

static int load_take(struct dump *dump, const char *bytes, size_t length)
{
	const char *name = bytes + sizeof(struct load);
	uint32_t symbol = dump->code->count;
	struct load load;
	int err;

	if (length <= sizeof(load))
		return -EBADMSG;
	memcpy(&load, bytes, sizeof(load));
	if (dump->lines_address != load.address || !lines_fit(dump, load.size) ||
		(dump->is_v8 && !strncmp(name, V8_OPTIMIZED, strlen(V8_OPTIMIZED))))
		lines_drop(dump);
	err = ap_jit_code_add(
		dump->code, load.address, load.size, name, dump->first_line, dump->line_count);
	if (!err)
		err = load_remember(dump, load.index, symbol);
	/* The lines belong to this code now. */
	dump->first_line = dump->code->line_count;
	dump->line_count = 0;
	return err;
}

static int move_take(struct dump *dump, const char *bytes, size_t length)
{
	struct ap_jit_symbol symbol;
	struct move move;
	int64_t found;

	if (length < sizeof(move))
		return -EBADMSG;
	memcpy(&move, bytes, sizeof(move));
	found = load_find(dump, move.index);
	if (found < 0)
		return 0;
	symbol = dump->code->symbols[dump->symbols[found]];
	return ap_jit_code_add(
		dump->code, move.to, move.size, symbol.name, symbol.first_line, symbol.line_count);
}

static int debug_info_take(struct dump *dump, const char *bytes, size_t length)
{
	const char *file = "", *end = bytes + length, *stop;
	size_t file_length = 0;
	struct debug_info info;
	struct debug_entry entry;
	int err;

	lines_drop(dump);
	if (length < sizeof(info))
		return -EBADMSG;
	memcpy(&info, bytes, sizeof(info));
	bytes += sizeof(info);
	dump->lines_address = info.address;
	for (uint64_t i = 0; i < info.entries && (size_t)(end - bytes) > sizeof(entry); i++) {
		memcpy(&entry, bytes, sizeof(entry));
		bytes += sizeof(entry);
		stop = memchr(bytes, '\0', end - bytes);
		if (!stop || dump->code->line_count == LINES_MAX)
			return 0;
		if (strcmp(bytes, "\xff") != 0) {
			file = bytes;
			file_length = stop - bytes;
		}
		bytes = stop + 1;
		err = ap_jit_code_add_line(dump->code, entry.address - info.address, file,
			file_length, entry.line > 0 ? (uint32_t)entry.line : 0);
		if (err)
			return err;
		dump->line_count++;
	}
	return 0;
}

static int record_take(struct dump *dump, uint32_t kind, const char *bytes, size_t length)
{
	switch (kind) {
	case RECORD_LOAD:
		return load_take(dump, bytes, length);
	case RECORD_MOVE:
		return move_take(dump, bytes, length);
	case RECORD_DEBUG_INFO:
		return debug_info_take(dump, bytes, length);
	default:
		return 0;
	}
}

/* How many bytes of a record are worth reading. */
static size_t record_useful(const struct record *record)
{
	size_t size = record->size - sizeof(*record), most = 0;

	switch (record->kind) {
	case RECORD_LOAD:
		most = sizeof(struct load) + NAME_LENGTH_MAX;
		break;
	case RECORD_MOVE:
		most = sizeof(struct move);
		break;
	case RECORD_DEBUG_INFO:
		most = RECORD_MAX;
	}
	return size < most ? size : most;
}

/* bytes: a buffer of RECORD_MAX + 1, for a NUL. */
static int records_read(struct dump *dump, int fd, uint64_t at, uint64_t until_ns, char *bytes)
{
	struct record record;
	int err = 0;

	while (at < FILE_MAX && dump->code->count < CODE_MAX && err != -ENOMEM) {
		size_t useful;

		if (pread(fd, &record, sizeof(record), (off_t)at) != sizeof(record) ||
			record.size < sizeof(record) || record.kind == RECORD_CLOSE ||
			record.time > until_ns)
			break;
		useful = record_useful(&record);
		if (pread(fd, bytes, useful, (off_t)(at + sizeof(record))) != (ssize_t)useful)
			break;
		bytes[useful] = '\0';
		/* A bad record does not affect the others, whose places are known. */
		err = record_take(dump, record.kind, bytes, useful);
		at += record.size;
	}
	lines_drop(dump);
	return err == -ENOMEM ? err : 0;
}

int ap_jit_dump_read(struct ap_jit_code *code, int fd, uint64_t until_ns)
{
	struct dump dump = {.code = code, .first_line = code->line_count};
	struct file_header header;
	char *bytes;
	int err;

	if (pread(fd, &header, sizeof(header), 0) != sizeof(header) || header.magic != MAGIC ||
		header.size < sizeof(header))
		return -ENOEXEC;
	bytes = malloc(RECORD_MAX + 1);
	if (!bytes)
		return -ENOMEM;
	dump.is_v8 = header.padding == V8_PADDING;
	err = records_read(&dump, fd, header.size,
		header.flags & FLAG_ARCH_TIME ? UINT64_MAX : until_ns, bytes);
	free(bytes);
	free(dump.symbols);
	free(dump.indices);
	ap_table_clear(&dump.by_index);
	return err;
}

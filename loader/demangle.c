// SPDX-License-Identifier: MIT
#include "demangle.h"

#include <setjmp.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <libiberty/demangle.h>

#define NAME_MAX_DEMANGLED 65536
/*
 * libiberty recurses once or a few times for each byte of a name, and so refuses names of more than
 * about 1,000 bytes. C++ programs have longer ones; at 4,096 bytes the stack is still safe.
 */
#define NAME_MAX_DEFAULT 1000
#define NAME_MAX_MANGLED 4096

/*
 * D's demangler allocates memory, and ends the process when it gets none. Each 'Q' may repeat an
 * earlier part that contains such references itself; with this many of them a name stands for some
 * MB at most.
 */
#define D_REFERENCES_MAX 24

struct sink {
	char *text;
	size_t used, room;
	jmp_buf too_long;
};

/*
 * libiberty's callback cannot stop it, so this jumps out. That is safe: the functions with a
 * callback keep everything on the stack.
 */
static void sink_put(const char *piece, size_t length, void *opaque)
{
	struct sink *sink = opaque;

	if (sink->used + length >= sink->room) {
		size_t room = sink->room * 2 + length + 256;
		char *text = room > NAME_MAX_DEMANGLED * 3 ? NULL : realloc(sink->text, room);

		if (!text)
			longjmp(sink->too_long, 1);
		sink->text = text;
		sink->room = room;
	}
	memcpy(sink->text + sink->used, piece, length);
	sink->used += length;
	sink->text[sink->used] = '\0';
	if (sink->used > NAME_MAX_DEMANGLED)
		longjmp(sink->too_long, 1);
}

static bool is_mangled(const char *name)
{
	return strncmp(name, "_Z", 2) == 0 || strncmp(name, "_R", 2) == 0 ||
	       strncmp(name, "_GLOBAL_", 8) == 0;
}

static bool demangle(struct sink *sink, const char *mangled, int options)
{
	if (setjmp(sink->too_long))
		return false;
	/* Rust first: its legacy names are valid C++ names too. */
	if (rust_demangle_callback(mangled, options, sink_put, sink) && sink->used)
		return true;
	sink->used = 0;
	return cplus_demangle_v3_callback(mangled, options, sink_put, sink) && sink->used;
}

static char *d_demangle(const char *mangled, size_t length)
{
	unsigned int references = 0;
	char *name;

	for (size_t i = 0; i < length; i++)
		references += mangled[i] == 'Q';
	if (length > NAME_MAX_DEFAULT || references > D_REFERENCES_MAX)
		return NULL;
	name = dlang_demangle(mangled, DMGL_PARAMS | DMGL_RET_DROP);
	if (name && *name && strlen(name) <= NAME_MAX_DEMANGLED)
		return name;
	free(name);
	return NULL;
}

char *ap_demangle(const char *mangled)
{
	size_t length = strnlen(mangled, NAME_MAX_MANGLED + 1);
	int options = DMGL_PARAMS | DMGL_ANSI | DMGL_RET_DROP;
	struct sink sink = {0};

	if (length > NAME_MAX_MANGLED)
		return NULL;
	if (strncmp(mangled, "_D", 2) == 0)
		return d_demangle(mangled, length);
	if (!is_mangled(mangled))
		return NULL;
	if (length > NAME_MAX_DEFAULT)
		options |= DMGL_NO_RECURSE_LIMIT;
	if (demangle(&sink, mangled, options))
		return sink.text;
	free(sink.text);
	return NULL;
}

// SPDX-License-Identifier: MIT
#include "allocator.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profile.h"
#include "short_name.h"

/* Functions that a program calls for memory, by their whole name. */
static const char *const entry_names[] = {
	"malloc",
	"calloc",
	"realloc",
	"reallocarray",
	"memalign",
	"aligned_alloc",
	"posix_memalign",
	"valloc",
	"pvalloc",
	"free",
	"cfree",
	/* of our allocator: malloc and free jump to these, and so have no frame of their own */
	"ap_malloc_slow",
	"ap_malloc_aligned",
	"calloc_large",
	/* glibc, as its debug information calls them */
	"__libc_malloc",
	"__libc_calloc",
	"__libc_realloc",
	"__libc_memalign",
	"_int_malloc",
	"__posix_memalign",
	/* Rust */
	"__rust_alloc",
	"__rust_alloc_zeroed",
	"__rust_realloc",
	"__rdl_alloc",
	"__rdl_alloc_zeroed",
	"__rdl_realloc",
	"__rg_alloc",
	"__rg_alloc_zeroed",
	"__rg_realloc",
	"alloc::alloc::alloc",
	"alloc::alloc::alloc_zeroed",
	"alloc::alloc::realloc",
	"alloc::alloc::exchange_malloc",
};

/* Beginnings of such names, where overloads and template arguments follow. */
static const char *const entry_prefixes[] = {
	"operator new(",
	"operator new[](",
	"operator delete(",
	"operator delete[](",
	/* what libstdc++ and libc++ put between a container and operator new */
	"std::allocator<",
	"std::__new_allocator<",
	"std::allocator_traits<",
	"__gnu_cxx::new_allocator<",
	"__gnu_cxx::__alloc_traits<",
	"std::__1::allocator<",
	"std::__1::allocator_traits<",
	"void* std::__1::__libcpp_operator_new",
	"std::__1::__libcpp_allocate",
	"alloc::alloc::Global::",
	"<alloc::alloc::Global as ",
	"<std::alloc::System as ",
	"std::sys::alloc::",
};

/* What belongs to the standard library of C++ or Rust. */
static const char *const standard_prefixes[] = {"std::", "__gnu_cxx::", "alloc::", "core::",
	"<std::", "<alloc::", "<core::", "hashbrown::", "<hashbrown::"};

/* Libraries of which every function is the allocator's. */
static const char *const libraries[] = {
	"liballocprof.so",
	"libjemalloc.so",
	"libtcmalloc",
	"libmimalloc",
	"libsnmalloc",
	"librpmalloc",
};

#define ENTRY_NAMES    (sizeof(entry_names) / sizeof(*entry_names))
#define ENTRY_PREFIXES (sizeof(entry_prefixes) / sizeof(*entry_prefixes))

#define STANDARD_PREFIXES (sizeof(standard_prefixes) / sizeof(*standard_prefixes))

static bool has_prefix(const char *text, const char *prefix)
{
	return strncmp(text, prefix, strlen(prefix)) == 0;
}

static bool is_entry(const char *name)
{
	for (size_t i = 0; i < ENTRY_NAMES; i++)
		if (strcmp(name, entry_names[i]) == 0)
			return true;
	for (size_t i = 0; i < ENTRY_PREFIXES; i++)
		if (has_prefix(name, entry_prefixes[i]))
			return true;
	return false;
}

static bool is_standard(const char *name)
{
	for (size_t i = 0; i < STANDARD_PREFIXES; i++)
		if (has_prefix(name, standard_prefixes[i]))
			return true;
	return false;
}

static bool is_library(const struct ap_profile *profile, uint32_t location)
{
	int32_t mapping = profile->locations[location].mapping;
	const char *path, *base;

	if (mapping < 0)
		return false;
	path = profile->mappings[mapping].file;
	base = strrchr(path, '/');
	base = base ? base + 1 : path;
	for (size_t i = 0; i < sizeof(libraries) / sizeof(*libraries); i++)
		if (has_prefix(base, libraries[i]))
			return true;
	return false;
}

/* Whether the frame, or a function that it was inlined into, is the allocator's. */
static bool is_allocator(
	const struct ap_profile *profile, const struct ap_shown_frame *frame, uint32_t count)
{
	for (uint32_t i = 0; i < count && frame[i].location == frame[0].location; i++)
		if (is_entry(profile->functions[frame[i].function].name))
			return true;
	return is_library(profile, frame[0].location);
}

uint32_t ap_allocator_frames(
	const struct ap_profile *profile, const struct ap_shown_frame *frame, uint32_t count)
{
	uint32_t hidden = 0;

	for (uint32_t i = 0; i < count; i++) {
		/*
		 * Our allocator linked statically has its inner functions under malloc. But ap_ is
		 * Apache's prefix too: such a frame is only ours when an entry is above it.
		 */
		if (is_allocator(profile, frame + i, count - i))
			hidden = i + 1;
		else if (!has_prefix(profile->functions[frame[i].function].name, "ap_"))
			break;
	}
	return hidden;
}

/*
 * Whether it is a program's own malloc, by its name: xmalloc(), zmalloc_usable(), g_strdup(),
 * PyMem_Malloc(). But not preallocate() or reallocate(), which do more than that.
 */
static bool is_wrapper(const char *name)
{
	static const char *const words[] = {"malloc", "calloc", "realloc", "strdup", "strndup"};
	char text[128];
	const char *last, *found;

	ap_short_name(text, sizeof(text), name);
	last = strrchr(text, ':');
	last = last ? last + 1 : text;
	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++) {
		found = strcasestr(last, words[i]);
		if (found && strncmp(found + strlen(words[i]), "at", 2))
			return true;
	}
	return false;
}

uint32_t ap_site_frame(
	const struct ap_profile *profile, const struct ap_shown_frame *frame, uint32_t count)
{
	uint32_t wrapper = count;

	for (uint32_t i = 0; i < count; i++) {
		const struct ap_location *location = &profile->locations[frame[i].location];
		const char *name = profile->functions[frame[i].function].name;

		/*
		 * In the profile of a tree, the frame of the process is the only one outside of it.
		 */
		if (ap_location_is_reserved(profile, location))
			break;
		if (is_standard(name))
			continue;
		if (!is_wrapper(name))
			return i;
		if (wrapper == count)
			wrapper = i;
	}
	return wrapper < count ? wrapper : 0;
}

/* Go's syntax. pprof matches names without their arguments: `operator new` for `operator new(`. */
static void regex_put(FILE *out, const char *name, bool is_prefix)
{
	size_t length = strlen(name);
	bool has_arguments = is_prefix && name[length - 1] == '(';

	for (size_t i = 0; i < length - has_arguments; i++) {
		if (strchr("\\.+*?()|[]{}^$", name[i]))
			fputc('\\', out);
		fputc(name[i], out);
	}
	if (is_prefix)
		fputs(has_arguments ? "(\\(.*)?" : ".*", out);
}

char *ap_allocator_regex(void)
{
	char *regex = NULL;
	size_t length;
	FILE *out = open_memstream(&regex, &length);
	bool failed;

	if (!out)
		return NULL;
	for (size_t i = 0; i < ENTRY_NAMES; i++) {
		regex_put(out, entry_names[i], false);
		fputc('|', out);
	}
	for (size_t i = 0; i < ENTRY_PREFIXES; i++) {
		regex_put(out, entry_prefixes[i], true);
		if (i + 1 < ENTRY_PREFIXES)
			fputc('|', out);
	}
	failed = ferror(out);
	if (fclose(out) || failed) {
		free(regex);
		return NULL;
	}
	return regex;
}

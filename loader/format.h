/* SPDX-License-Identifier: MIT */
/*
 * The outputs, all written from a profile. A writer takes a stream and does not close it; it
 * returns 0, -ENOMEM, or the negative errno of writing. It flushes, so that a full disk is an
 * error here and not at the fclose() that nobody looks at.
 */
#ifndef ALLOCPROF_FORMAT_H
#define ALLOCPROF_FORMAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "profile.h"

struct ap_format_options {
	enum ap_value value;   /* what an output with one value holds */
	bool show_allocator;   /* keep malloc, operator new, ... at the ends of the stacks */
	bool lifetimes, sizes; /* the text table has them below each row */
	unsigned int top;      /* rows of the text table; 0: all */
	bool difference;       /* the profile is one with another taken off: show signs */
	const struct ap_profile *base; /* what it is compared with, by formats that can; or NULL */
	/* Of a difference: the length of the recording, by which allocated values are divided to be
	 * shown as rates; or 0. */
	double seconds;
	double base_scale; /* factor by which the allocated values of the base were multiplied */
};

typedef int ap_format_write_fn(
	FILE *out, const struct ap_profile *profile, const struct ap_format_options *options);

struct ap_format {
	const char *name;	  /* as in --format */
	const char *extension[3]; /* of file names; NULL ends */
	const char *next;	  /* what to do with the file: printed beside its name */
	ap_format_write_fn *write;
	bool compares; /* shows options->base beside the profile */
};

/* All of them; the name of the last is NULL. */
extern const struct ap_format ap_formats[];

/* Whether the path ends in one of its extensions. */
bool ap_format_has_extension(const struct ap_format *format, const char *path);

/* The format of this name, or of the extension of a path. NULL: none. */
const struct ap_format *ap_format_by_name(const char *name);
const struct ap_format *ap_format_by_extension(const char *path);

/*
 * pprof's profile.proto, gzipped, with all values and frames whatever the options say.
 * Locations that are not stacks (losses) have no mapping. The first mapping is the program's.
 * Labels are those of labels.h. A fifth value, "samples", is the number of the allocator's
 * samples, where known.
 */
ap_format_write_fn ap_format_pprof_write;

/*
 * Reads a pprof file, gzipped or not, also of other writers: sample types are matched by name
 * (those of Go, jemalloc and tcmalloc), and when none matches the first four stand in the places of
 * ours, with their own names in profile->type. The text of ap_format_heap_read() is read, too.
 *
 * 0 and *ret; or -ENOMEM, -EBADMSG (damaged, or not a profile), -E2BIG (more than 1 GiB
 * decompressed), or the negative errno of reading, with a short reason, without a newline, in
 * reason[size].
 */
int ap_format_pprof_read(FILE *in, struct ap_profile **ret, char *reason, size_t size);

/*
 * Reads the text of a heap profile of jemalloc (heap_v2/524288) or gperftools (heap profile: ...);
 * returns as above. Its addresses get their names from the files that it lists, where these are on
 * this machine. Values that it does not count have the type "". ap_format_heap_is() tells such a
 * text by its first bytes.
 */
int ap_format_heap_read(
	uint8_t *bytes, size_t length, struct ap_profile **ret, char *reason, size_t size);
bool ap_format_heap_is(const uint8_t *bytes, size_t length);

/*
 * One line a stack, as FlameGraph's flamegraph.pl, inferno and speedscope read it:
 *
 *   outermost;caller;leaf VALUE
 *
 * Lines are sorted by bytes, stacks of equal names are added up, and stacks whose value is 0 are
 * left out, so that the values add up to the profile's total. In names, `;` becomes `:`, and
 * control characters become `?`. A space in a name stays: the value follows the last one. A
 * function without a name is "[unknown]". A stack without frames is "[no stack]". Where threads are
 * told apart, the outermost is the thread: "[NAME tid=NUMBER]".
 */
ap_format_write_fn ap_format_folded_write;

/*
 * For speedscope (https://www.speedscope.app): a profile for each value, or for a difference two of
 * them: what has grown and what has shrunk.
 */
ap_format_write_fn ap_format_speedscope_write;

/*
 * For scripts: one object with "schema": 1, all functions and stacks, all values and their errors.
 * allocprof(1) describes it.
 */
ap_format_write_fn ap_format_json_write;

/*
 * For a terminal: the total, and a table of the functions that called the allocator (see
 * ap_site_frame()), the largest first, or the largest change first in a difference, with the error
 * of sampling, see estimate.h. Names are cut and made printable.
 */
ap_format_write_fn ap_format_text_write;

/*
 * For a terminal, too: the tree of calls, the largest first; what is below 1% of the total is
 * summed up. The lines of the tree are drawn in Unicode if the locale's character set is UTF-8,
 * otherwise in ASCII.
 */
ap_format_write_fn ap_format_tree_write;

/*
 * An interactive flame graph in one file, with all values. It begins with options->value, or with
 * the profile's default value when the total of that one is 0. With options->base it shows what has
 * changed since the base; values are compared as they are, so a caller that compares rates scales
 * them before.
 */
ap_format_write_fn ap_format_html_write;

/* A flame graph of one value as a picture without script, also with options->base. */
ap_format_write_fn ap_format_svg_write;

#endif

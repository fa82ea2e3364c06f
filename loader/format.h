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
	double seconds;	   /* of a difference, by which what was allocated is divided; or 0 */
	double base_scale; /* by which what was allocated in the base has been multiplied */
};

typedef int ap_format_write_fn(
	FILE *out, const struct ap_profile *profile, const struct ap_format_options *options);

struct ap_format {
	const char *name;	  /* as in --format */
	const char *extension[3]; /* of file names; NULL ends */
	const char *next;	  /* what to do with the file, for the line that names it */
	ap_format_write_fn *write;
	bool compares; /* shows options->base beside the profile */
};

/* All of them; the name of the last is NULL. */
extern const struct ap_format ap_formats[];

/* Whether a file of this name is usual for it. */
bool ap_format_has_extension(const struct ap_format *format, const char *path);

/* By name; by the extension of a file name. NULL: none. */
const struct ap_format *ap_format_by_name(const char *name);
const struct ap_format *ap_format_by_extension(const char *path);

/*
 * pprof's profile.proto, gzipped, with all values and frames whatever the options say. Locations
 * that are not stacks (losses) have no mapping. The first mapping is the program's. Labels are
 * those of labels.h. A fifth value, "samples", is the number of the allocator's samples, where
 * known.
 */
ap_format_write_fn ap_format_pprof_write;

/*
 * Reads one, gzipped or not, also of other writers: sample types are matched by name (those of
 * Go, jemalloc and tcmalloc), and when none matches the first four stand in the places of ours,
 * with their own names in profile->type. The text of ap_format_heap_read() is read, too.
 *
 * 0 and *ret; or -ENOMEM, -EBADMSG (damaged, or not a profile), -E2BIG (more than 1 GiB
 * decompressed), or the negative errno of reading, with a short reason, without a newline, in
 * reason[size].
 */
int ap_format_pprof_read(FILE *in, struct ap_profile **ret, char *reason, size_t size);

/*
 * The text of a heap profile of jemalloc (heap_v2/524288) or gperftools (heap profile: ...), with
 * names from the files that it names where these are on this machine; otherwise as above. Values
 * that it has not counted have the type "". ap_format_heap_is() tells by the first bytes.
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
 * For speedscope (https://www.speedscope.app): a profile for each value; of a difference two, what
 * has grown and what has shrunk.
 */
ap_format_write_fn ap_format_speedscope_write;

/*
 * For scripts: one object with "schema": 1, all functions and stacks, all values and their errors.
 * allocprof(1) describes it.
 */
ap_format_write_fn ap_format_json_write;

/*
 * For a terminal: the total, and a table of the functions that called the allocator, or a standard
 * library that did, the largest first (in a difference, the largest change), with what sampling
 * leaves open, see estimate.h. Names are cut and made printable.
 */
ap_format_write_fn ap_format_text_write;

/*
 * For a terminal, too: the tree of calls, the largest first, with what is below 1% of the total
 * summed up. Its lines are Unicode where the locale's character set is.
 */
ap_format_write_fn ap_format_tree_write;

/*
 * An interactive flame graph in one file. Has all values; begins with options->value, or the
 * profile's default value when that one is nothing. With options->base it shows what has changed
 * since then; the values are taken as they are: whoever compares rates has scaled them.
 */
ap_format_write_fn ap_format_html_write;

/* The same picture of one value, without script, also of what has changed. */
ap_format_write_fn ap_format_svg_write;

#endif

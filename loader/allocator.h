/* SPDX-License-Identifier: MIT */
/*
 * The frames of a stack that belong to the allocator (malloc, operator new and their like), by the
 * one list of their names.
 */
#ifndef ALLOCPROF_ALLOCATOR_H
#define ALLOCPROF_ALLOCATOR_H

#include <stdint.h>

struct ap_profile;
struct ap_shown_frame;

/* The number of frames at the leaf end that are the allocator's. May be all of them. */
uint32_t ap_allocator_frames(
	const struct ap_profile *profile, const struct ap_shown_frame *frame, uint32_t count);

/*
 * The index of the frame that stands for the stack in a table: the innermost that is neither in the
 * language's standard library (that push_back() allocates tells nothing) nor a malloc of the
 * program's own. When there is none, the innermost such malloc, or the first frame.
 */
uint32_t ap_site_frame(
	const struct ap_profile *profile, const struct ap_shown_frame *frame, uint32_t count);

/*
 * The entries of the list as a regular expression for pprof's drop_frames, so that `go tool pprof`
 * hides the same. The caller frees it. NULL: out of memory.
 */
char *ap_allocator_regex(void);

#endif

/* SPDX-License-Identifier: MIT */
/* Which frames of a stack are the allocator's own: the one list of them. */
#ifndef ALLOCPROF_ALLOCATOR_H
#define ALLOCPROF_ALLOCATOR_H

#include <stdint.h>

struct ap_profile;
struct ap_shown_frame;

/* The number of frames at the leaf end that are the allocator's. May be all of them. */
uint32_t ap_allocator_frames(
	const struct ap_profile *profile, const struct ap_shown_frame *frame, uint32_t count);

/*
 * The index of the frame that a table names as the site: the innermost that is not of the
 * language's standard library, whose push_back() says nothing, nor the program's own malloc. When
 * there is none, the innermost such malloc, or the first frame.
 */
uint32_t ap_site_frame(
	const struct ap_profile *profile, const struct ap_shown_frame *frame, uint32_t count);

/*
 * The entries of the list as a regular expression for pprof's drop_frames, so that `go tool pprof`
 * hides the same. The caller frees it. NULL: out of memory.
 */
char *ap_allocator_regex(void);

#endif

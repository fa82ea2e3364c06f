/* SPDX-License-Identifier: MIT */
/*
 * ALLOCPROF_GUARD=1, or a profiler that stores 1 to the exported variable allocprof_guard: each
 * sampled block stands alone against a page that faults, and its own pages fault for a while after
 * its free. So an overflow or a use after free in production stops at the instruction that does it,
 * if it hits one of the sampled blocks, with a line on stderr. (The idea is GWP-ASan's.)
 */
#ifndef ALLOC_GUARD_H
#define ALLOC_GUARD_H

#include "types.h"

extern uint32_t allocprof_guard;

/*
 * A guarded block of `size` bytes, `align` a power of two. NULL: not to be had, because the mode is
 * off, the block too large, there are too many of them, or there is no memory.
 */
void *ap_guard_alloc(size_t size, size_t align);

/* Frees a guarded block: it goes to quarantine. Aborts if it is there already. */
void ap_guard_free(struct ap_span *span, void *pointer);

/* Held across fork. */
void ap_guard_lock(void);
void ap_guard_unlock(void);

#endif

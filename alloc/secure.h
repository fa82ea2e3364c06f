/* SPDX-License-Identifier: MIT */
/*
 * ALLOCPROF_SECURE=1, read when the library is initialized: the lists of free blocks are encoded,
 * the blocks of a span are dealt in random order, and a page that faults stands behind each span
 * and each large block. Every malloc and free takes the slow path then.
 */
#ifndef ALLOC_SECURE_H
#define ALLOC_SECURE_H

#include "types.h"

/* Turns the mode on, unless there are other threads already: returns false then. */
bool ap_secure_start(void);

/* Makes the last page of a fresh span fault, or all behind its block if it is a large one. */
void ap_secure_guard(struct ap_span *span);

/* The opposite. False: refused; then the span's memory cannot be used again. */
bool ap_secure_unguard(struct ap_span *span);

/* Cuts `count` more blocks, at least 1, and puts them on local_free in random order. */
bool ap_secure_carve(struct ap_span *span, uint32_t count);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * The region: the addresses from which all spans are cut, and the table of their headers.
 *
 * The table has one header for each slice from address 0 up to the region's end, so that free finds
 * a header with one shift and one compare, for any pointer whatever: the part below the region is
 * readable and zero, so NULL and foreign pointers lead to a header that nobody owns. Untouched
 * parts of the table cost address space only (1/256 of what they describe). The region starts low,
 * at a random place between 32 and 48 GiB, where neither the kernel nor other runtimes map anything
 * by themselves; it grows upward as it is used, so nothing is reserved and `ulimit -v` sees the
 * truth.
 */
#ifndef ALLOC_REGION_H
#define ALLOC_REGION_H

#include "types.h"

/* Runs of slices longer than this do not come from the region: huge.h. */
#define RUN_MAX ((size_t)1024)

/*
 * Where the table is. Every free reads this, so it shares no cache line with what changes whenever a
 * span is taken or given back: a thread that did that all the time made small blocks of the others
 * cost 1.6 times as much.
 */
struct ap_table {
	struct ap_span *spans; /* NULL before the first allocation */
	size_t limit;	       /* atomic: headers below it are readable */
} __attribute__((aligned(64)));

extern struct ap_table ap_table __attribute__((visibility("hidden")));

/* Slices, for statistics; written under the region's lock. */
struct ap_region {
	size_t first;  /* index of the region's first header */
	size_t mapped; /* that have memory behind them, without the rest of a sparse run */
	size_t unused; /* of these, that belong to no span */
	size_t dirty;  /* of these, that still hold pages */
};

extern struct ap_region ap_region;

/* The header of the slice that holds an address, NULL if there is none. */
static inline struct ap_span *span_at(const void *address)
{
	size_t slice = (uintptr_t)address >> SLICE_SHIFT;

	return slice < load_relaxed(ap_table.limit) ? &ap_table.spans[slice] : NULL;
}

/* The first byte of a span. */
static inline char *span_start(const struct ap_span *span)
{
	return (char *)((size_t)(span - ap_table.spans) << SLICE_SHIFT);
}

/* Makes the headers of a run's slices, from `first` up to `end`, lead to its first. */
static inline void tails_mark(struct ap_span *span, size_t first, size_t end)
{
	for (size_t i = first; i < end; i++) {
		span[i].slices = i;
		span[i].kind = SPAN_TAIL;
	}
}

/*
 * Takes a run of slices whose first is a multiple of `align` slices (a power of two), and returns
 * the header of the first, all else in the headers as the last user left it. *zero says whether
 * the memory is known to be zero. NULL: no memory.
 */
struct ap_span *ap_slices_take(size_t count, size_t align, bool *zero);

/* The same for one of which little may ever be touched: preferably not in huge pages. */
struct ap_span *ap_slices_take_sparse(size_t count, bool *zero);

/* Adds the `more` slices behind a run to it. False: they are not free. */
bool ap_slices_extend(struct ap_span *first, size_t count, size_t more);

/* Gives a run back. Its pages stay for the next taker for a second or two, see ap_slices_poll. */
void ap_slices_give(struct ap_span *first, size_t count);

/* Gives to the system the pages that were unused since the poll before the last. Cheap. */
void ap_slices_poll(uint64_t now);

/* Gives all unused pages to the system, at once. Returns the bytes. */
size_t ap_slices_purge(void);

/* Held across fork. */
void ap_region_lock(void);
void ap_region_unlock(void);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * The allocator's structures, and its terms:
 *
 *   block    what malloc hands out
 *   slice    64 KiB of the address space, aligned; the unit in which memory is dealt to spans
 *   span     one or more slices, cut into equal blocks; its header stands in a table, not in it
 *   class    a block size; a span serves one
 *   heap     a thread's spans, queued by class, and its fast-path entries
 *   arena    1 GiB of slices and the bitmaps that say which are free
 *   region   all arenas: one run of addresses, so that a pointer leads to its span by a shift
 *
 * A block is allocated, or it stands on exactly one of its span's lists:
 *
 *   free        exposed: what malloc pops, without a look at anything else
 *   local_free  where the owner's frees go, and what waits to be exposed
 *   remote      where the other threads' frees go
 *
 * malloc finds `free` empty now and then; the slow path then exposes local_free (after taking in
 * remote), or cuts more blocks from the span, or turns to another span. See refill.c; for what
 * this has to do with sampling, sample.h.
 */
#ifndef ALLOC_TYPES_H
#define ALLOC_TYPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define likely(x)   __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)
#define cold	    __attribute__((cold, noinline))
#define exported    __attribute__((visibility("default")))

/*
 * A relaxed load of a word that others may store to. A plain one compiles to an operand of the
 * instruction that uses it, which an atomic one does not (gcc 12), and on the fast paths that
 * counts. Used where a torn or repeated load could do no harm.
 */
#ifdef __SANITIZE_THREAD__
#define load_relaxed(place) __atomic_load_n(&(place), __ATOMIC_RELAXED)
#else
#define load_relaxed(place) (place)
#endif

#define SLICE_SHIFT 16
#define SLICE_SIZE  ((size_t)1 << SLICE_SHIFT)
#define PAGE_SIZE   ((size_t)4096)

/*
 * A block that is not allocated. The key is the address of its span's header: no program stores
 * that by accident, so free knows a block that is already free, and malloc one that was written
 * to after it was freed. malloc clears it.
 */
struct ap_block {
	uintptr_t key;
	struct ap_block *next;
};

enum ap_span_kind {
	SPAN_NONE,   /* no span: foreign or unused addresses */
	SPAN_TAIL,   /* not the first slice of its span */
	SPAN_SMALL,  /* one slice of blocks */
	SPAN_MEDIUM, /* several slices of blocks */
	SPAN_LARGE,  /* one block */
	SPAN_GUARDED /* one sampled block against a page that faults: guard.h */
};

enum ap_span_state {
	SPAN_QUEUED,   /* has blocks, or may have: in its heap's queue */
	SPAN_IDLE,     /* the same, and none of its blocks is out: may be given back */
	SPAN_FULL,     /* has too few to be worth a visit: in its heap's list of full spans */
	SPAN_PAID,     /* as SPAN_QUEUED, and its next refills are charged already: sample.h */
	SPAN_ABANDONED /* its thread has ended: in the list of its class, for anyone to adopt */
};

/* Flags in the low bits of ap_span.owner: any of them sends free to its slow path. */
#define OWNER_SAMPLED ((uintptr_t)1) /* holds sampled blocks only */
#define OWNER_MEDIUM  ((uintptr_t)2) /* a SPAN_MEDIUM: a block's offset has more than 16 bits */
#define OWNER_SECURE  ((uintptr_t)4) /* ALLOCPROF_SECURE */
#define OWNER_FLAGS   ((uintptr_t)63)

/* In the place of the thread pointer: a thread that a fork has left behind. */
#define OWNER_GONE ((uintptr_t)64)

/*
 * ap_span.remote: a list that ends in &sentinel, how many blocks it has (addresses of a process
 * have no more than 48 bits), whether one of them seemed to be free when it was freed, and whether
 * the span stands in a mailbox, or is about to.
 */
#define REMOTE_MAILED ((uintptr_t)1)
#define REMOTE_UNSURE ((uintptr_t)2)
#define REMOTE_SHIFT  48
#define REMOTE_ONE    ((uintptr_t)1 << REMOTE_SHIFT)
#define REMOTE_LIST   (REMOTE_ONE - 16)

/* What the header of a SPAN_GUARDED has in place of lists. */
struct ap_guard {
	char *block;
	uint64_t allocated, freed; /* ap_os_now(); 0: not freed */
};

/*
 * A span's header, at its place in the region's table: four cache lines for each slice. Only the
 * owner's thread reads or writes the first, which changes with every malloc and free. The second
 * changes rarely, and is all that a free of another thread reads; the third is what it writes. So
 * it takes neither line away from a busy owner, and blocks that come back this way do not disturb
 * the owner's own frees.
 *
 * The fourth is never touched. Processors fetch the neighbours of a line that they miss, too: without
 * it, whoever frees blocks of one span drags along the first line of the next, which may be another
 * thread's (glibc's bench of two threads took 1.25 times as long).
 */
struct ap_span {
	union {
		struct {
			struct ap_block *free;	     /* ends in &sentinel, never NULL */
			struct ap_block *local_free; /* ends in &sentinel */
			/* Its key is never right, so that malloc needs no test for NULL. */
			struct ap_block sentinel;
		};
		struct ap_guard guard;
	};
	struct ap_span *prev, *next; /* in a queue or list */
	uint32_t until;		     /* blocks that are out (allocated or exposed), less `floor` */
	uint32_t charged;	     /* the attach in which `free` was charged: sample.h */
	uint32_t due;		     /* the attach in which the next block is a sample; 0: none */
	uint16_t floor;		     /* blocks that are out when `until` reaches 0 */
	uint8_t state;		     /* enum ap_span_state */

	/* Atomic: thread pointer | flags; 0: none; its heap's address | flags: it is parked. */
	uintptr_t owner __attribute__((aligned(64)));
	struct ap_heap *heap; /* atomic: whose mailbox to use; NULL: abandoned */
	uint64_t period;      /* of the sample that is due */
	uint32_t magic;	      /* with `limit`, tells starts of blocks: span_has_start() */
	uint32_t limit;	      /* grows with `carved` */
	uint32_t block_size;
	uint16_t slices;   /* how many; of a tail: how many before it in its span */
	uint16_t carved;   /* blocks cut so far; the rest was never touched */
	uint16_t capacity; /* blocks in the span */
	uint8_t class;
	uint8_t kind;	 /* enum ap_span_kind */
	uint8_t fresh;	 /* its memory had no pages when it was taken */
	uint8_t sampled; /* as in OWNER_SAMPLED; of a large block: it is a sampled one */

	uintptr_t remote __attribute__((aligned(64))); /* atomic: see REMOTE_LIST */
	struct ap_span *mail_next;		       /* while in a mailbox */

	char apart[64] __attribute__((aligned(64)));
};

_Static_assert(sizeof(struct ap_span) == 256, "free computes the header's address by a shift of 8");
_Static_assert(
	offsetof(struct ap_span, owner) == 64, "the second line begins with what free reads");
_Static_assert(offsetof(struct ap_span, remote) == 128 && offsetof(struct ap_span, apart) == 192,
	"the third line is what other threads write, the fourth is empty");

/* A doubly linked list of spans. */
struct ap_queue {
	struct ap_span *first, *last;
};

#endif

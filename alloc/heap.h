/* SPDX-License-Identifier: MIT */
/*
 * A thread's heap. It is made by the thread's first slow path and, when the thread ends, waits for
 * the next thread: whole if it is small, else its spans are released or abandoned. Heap structs are
 * never freed: another thread may be about to put a span into the mailbox of one whose thread has
 * ended.
 */
#ifndef ALLOC_HEAP_H
#define ALLOC_HEAP_H

#include "sizeclass.h"
#include "types.h"

/* Refills between two looks at the clock and the mail, and where their count begins. */
#define HEAP_TICKS  64
#define TICKS_START (UINT32_MAX - HEAP_TICKS)

#define MAILBOX_CLOSED ((struct ap_span *)1)

struct ap_heap {
	/*
	 * The fast path's entries: by grains of the requested size up to DIRECT_MAX, then by class.
	 * Each is the first span in the queue of its class, or &empty, which sends malloc to the
	 * slow path. Atomic: a thread that arms the process stores &empty into everybody's; all can
	 * be rebuilt from the queues.
	 */
	struct ap_span *entry[ENTRIES];
	uintptr_t owner;      /* the thread's pointer; of a parked heap: its own address */
	uint32_t ticks;	      /* see heap_is_calm() in refill.c */
	uint32_t spans;	      /* in all queues and lists */
	uint32_t idle;	      /* queued spans without an allocated block */
	uint32_t exit_rounds; /* calls of the thread's destructor so far */
	struct ap_queue queue[CLASSES]; /* spans that have blocks; the first is the current one */
	struct ap_queue full;		/* spans that have none, or few */
	struct ap_queue sampled;	/* spans of sampled blocks, of all classes */
	struct ap_span *mailbox;	/* atomic: spans that others have freed blocks of */

	/* The sampler's, see sample.h. */
	uint32_t attach;   /* the attach that the countdown belongs to; 0: none */
	int32_t granted;   /* refills that could be paid out of the countdown, at the last charge */
	int32_t paid;	   /* of these, those that have not been made; -1: one more was wanted */
	int64_t countdown; /* bytes until the next sample point */
	uint64_t period;   /* the mean that the countdown was drawn with */
	uint64_t random;   /* state of the generator */

	uint64_t idle_at;		/* when idle spans were last released */
	uint64_t had[CLASSES / 32 + 1]; /* a bit for each class that has had its sparse span, and
					   one for its sampled one: see ap_slices_take_sparse() */
	struct ap_heap *next;		/* of all heaps */
	struct ap_heap *next_free;	/* of those that wait for a thread */
	struct ap_span empty;
};

/* The calling thread's heap, or the one below. */
extern __thread struct ap_heap *ap_heap
	__attribute__((tls_model("initial-exec"), visibility("hidden")));

/* What a thread has before its first allocation, and after its destructor: entries that are empty.
 */
extern struct ap_heap ap_heap_none;

/* All heaps that ever were; the list only grows. */
extern struct ap_heap *ap_heaps;

/* Gives the thread a heap. NULL: no memory, or the thread is past its destructor. */
struct ap_heap *ap_heap_start(void);

/*
 * What the fast path of free leaves to do when `until` has reached 0: enough blocks of a full span
 * are back, or all blocks of a span are.
 */
void ap_span_event(struct ap_span *span);

/* A free that is not on the common path: of a medium, sampled or other thread's block. */
void ap_span_free(struct ap_span *span, void *pointer);

/* Gives idle spans back; `all`: also what is kept for the next allocations. */
void ap_heap_trim(struct ap_heap *heap, bool all);

/* Dissolves the heaps that wait whole: their spans are released or abandoned. */
void ap_heap_release_parked(void);

/* Held across fork; the child forgets the other threads' heaps, those that wait whole too. */
void ap_heap_lock(void);
void ap_heap_unlock(void);
void ap_heap_forget_parked(void);

static inline uintptr_t thread_pointer(void)
{
	return (uintptr_t)__builtin_thread_pointer();
}

static inline bool heap_is_static(const struct ap_heap *heap)
{
	return heap == &ap_heap_none;
}

#endif

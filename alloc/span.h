/* SPDX-License-Identifier: MIT */
/*
 * A span's life between the region and a heap's queue, and its lists. Only the owner calls these.
 */
#ifndef ALLOC_SPAN_H
#define ALLOC_SPAN_H

#include "heap.h"
#include "message.h"
#include "region.h"
#include "types.h"

/* What the sentinel's key is: neither 0 nor, after malloc's xor with the header's address, 0. */
#define SENTINEL_KEY ((uintptr_t)1)

/* A fresh span with no block cut yet. NULL: no memory. The caller queues it. */
struct ap_span *ap_span_new(struct ap_heap *heap, unsigned class, bool sampled);

/* Gives the span's memory back. It has no block out and stands in no list and no mailbox. */
void ap_span_release(struct ap_span *span);

/* Cuts more blocks and puts them on local_free. False: it is cut up entirely. */
bool ap_span_carve(struct ap_span *span, bool one);

/* Moves what other threads have freed to local_free. Returns how many blocks. */
uint32_t ap_span_collect(struct ap_span *span, bool from_mailbox);

/* Moves what is left on `free` back to local_free. */
void ap_span_conceal(struct ap_span *span);

/* Takes one block off local_free, which has one. */
struct ap_block *ap_span_take(struct ap_span *span);

/*
 * Aborts if `pointer` is no block of the span or is free already. False: it looks free, but only
 * the span's owner, who does not call, could tell for sure.
 */
bool ap_span_check(struct ap_span *span, void *pointer);

/*
 * ALLOCPROF_SECURE: 0, or a random odd number by which the lists are encoded. The fast path knows
 * nothing of it: in this mode it has no entries, and frees leave it by a flag in the owner word.
 */
extern uintptr_t ap_secret __attribute__((visibility("hidden")));

static inline uintptr_t span_key(const struct ap_span *span)
{
	return (uintptr_t)span ^ ap_secret;
}

/* The link of a free block. */
static inline struct ap_block *block_next(const struct ap_block *block)
{
	return (struct ap_block *)((uintptr_t)block->next ^ (uintptr_t)block * ap_secret);
}

static inline void block_set_next(struct ap_block *block, struct ap_block *next)
{
	block->next = (struct ap_block *)((uintptr_t)next ^ (uintptr_t)block * ap_secret);
}

/*
 * The block behind one on a list, for the slow paths: a link that leads out of the span was written
 * to. malloc's fast path has no time to look; what such a link leads to has no right key, or it
 * faults there. With ALLOCPROF_SECURE all blocks come this way.
 */
static inline struct ap_block *span_follow(const struct ap_span *span, const struct ap_block *block)
{
	struct ap_block *next = block_next(block);
	size_t offset = (char *)next - span_start(span);

	if (unlikely(offset >= (size_t)span->carved * span->block_size && next != &span->sentinel))
		ap_fatal("free block was written to:", block, span->block_size);
	return next;
}

/* The list in a span's remote word. */
static inline struct ap_block *span_remote_list(struct ap_span *span, uintptr_t remote)
{
	uintptr_t list = remote & REMOTE_LIST;

	return list ? (struct ap_block *)list : &span->sentinel;
}

/* What the owner word of a span is, apart from the thread. */
static inline uintptr_t span_flags(const struct ap_span *span)
{
	return (span->sampled ? OWNER_SAMPLED : 0) |
	       (span->kind == SPAN_MEDIUM ? OWNER_MEDIUM : 0) | (ap_secret ? OWNER_SECURE : 0);
}

/*
 * DEBUG=1 has cheap assertions, DEBUG=full walks the lists of every span that a slow path touches.
 * The owner calls, between two changes.
 */
#if AP_DEBUG
void ap_span_verify(const struct ap_span *span);
#else
static inline void ap_span_verify(const struct ap_span *span)
{
}
#endif

static inline bool span_has_free(const struct ap_span *span)
{
	return span->free != &span->sentinel;
}

static inline bool span_has_local_free(const struct ap_span *span)
{
	return span->local_free != &span->sentinel;
}

/* Blocks that are allocated, exposed, or freed by others and not yet collected. */
static inline uint32_t span_out(const struct ap_span *span)
{
	return span->until + span->floor;
}

/*
 * Whether a pointer into a span of one slice is the start of a block that has been cut: one
 * multiply and one compare. Let m = floor(2^32 / size) + 1 and e = m size - 2^32, so 1 <= e <=
 * size. Of an offset q size + r with 0 <= r < size, offset m mod 2^32 = q e + r m: for a start that
 * is q e, for anything else at least m. So it is below carved e just for the starts of the first
 * `carved` blocks, as long as carved e <= m, which spans of up to 2^16 bytes and blocks of up to
 * 2^13 keep to. (After Lemire, Kaser, Kurz: Faster remainder by direct computation, 2019.)
 */
static inline bool span_has_start(const struct ap_span *span, const void *pointer)
{
	uint32_t product = (uint16_t)(uintptr_t)pointer;

#ifdef __x86_64__
	/* From memory: an instruction less than through a register, as gcc has it. */
	__asm__("imull %1, %0" : "+r"(product) : "m"(span->magic) : "cc");
#else
	product *= span->magic;
#endif
	return product < load_relaxed(span->limit);
}

/*
 * The same for an offset into a medium span, in grains: up to 2^15 of them, in blocks of up to
 * 2^12.
 */
static inline bool medium_has_start(const struct ap_span *span, size_t offset)
{
	return offset % (1 << GRAIN_SHIFT) == 0 &&
	       (uint32_t)(offset >> GRAIN_SHIFT) * span->magic < load_relaxed(span->limit);
}

static inline uint32_t span_magic(size_t block_size, bool medium)
{
	return (1ULL << 32) / (medium ? block_size >> GRAIN_SHIFT : block_size) + 1;
}

/* Says that this many blocks have been cut. */
static inline void span_set_carved(struct ap_span *span, uint32_t carved)
{
	uint32_t unit =
		span->kind == SPAN_MEDIUM ? span->block_size >> GRAIN_SHIFT : span->block_size;

	span->carved = carved;
	/* Other threads read it, when they free a block: one that was cut before they got it. */
	__atomic_store_n(&span->limit, carved * (span->magic * unit), __ATOMIC_RELAXED);
}

/*
 * Whether a block may be free already: whether one byte of its key is right. The program has often
 * just written to the first word, a reference count or so, in pieces; to load all of it would wait
 * for those stores (measured: cfrac spent 14% of its time in that load), and a byte does not.
 */
static inline bool block_may_be_free(const struct ap_block *block, const struct ap_span *span)
{
#ifdef __x86_64__
	bool same;

	__asm__("cmpb %h2, 1(%1)" : "=@cce"(same) : "D"(block), "Q"(span), "m"(block->key) : "cc");
	return same;
#else
	return ((const uint8_t *)block)[1] == (uint8_t)((uintptr_t)span >> 8);
#endif
}

/*
 * Checks and clears the key of a block that is taken off a list. False: it was wrong, and is not 0
 * now. One instruction on x86-64, where gcc would make four of it.
 */
static inline bool block_take(struct ap_block *block, struct ap_span *span)
{
#if defined(__x86_64__) && !defined(__SANITIZE_THREAD__)
	bool wrong;

	__asm__("xorq %2, %0" : "+m"(block->key), "=@ccnz"(wrong) : "r"(span) : "cc");
	return !wrong;
#else
	/* Threads without a heap share a sentinel, and may be here at once: it stays wrong. */
#ifdef __SANITIZE_THREAD__
	return __atomic_xor_fetch(&block->key, (uintptr_t)span, __ATOMIC_RELAXED) == 0;
#else
	block->key ^= (uintptr_t)span;
	return block->key == 0;
#endif
#endif
}

static inline void queue_push_first(struct ap_queue *queue, struct ap_span *span)
{
	span->prev = NULL;
	span->next = queue->first;
	if (queue->first)
		queue->first->prev = span;
	else
		queue->last = span;
	queue->first = span;
}

static inline void queue_push_last(struct ap_queue *queue, struct ap_span *span)
{
	span->next = NULL;
	span->prev = queue->last;
	if (queue->last)
		queue->last->next = span;
	else
		queue->first = span;
	queue->last = span;
}

static inline void queue_remove(struct ap_queue *queue, struct ap_span *span)
{
	if (span->prev)
		span->prev->next = span->next;
	else
		queue->first = span->next;
	if (span->next)
		span->next->prev = span->prev;
	else
		queue->last = span->prev;
	span->prev = span->next = NULL;
}

#endif

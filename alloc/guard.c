// SPDX-License-Identifier: MIT
#define _GNU_SOURCE
#include "guard.h"

#include <signal.h>
#include <unistd.h>

#include "lock.h"
#include "message.h"
#include "os.h"
#include "probe.h"
#include "region.h"
#include "sample.h"

/* Each is three mappings at least, and the kernel allows a process 65,530. */
#define LIVE_MAX	 ((uint32_t)8192)
#define SIZE_MAX_GUARDED ((size_t)1 << 20)

/* Freed blocks that still fault. The address space they take is at most this times a MiB and some.
 */
#define QUARANTINE 256

exported uint32_t allocprof_guard;

/* Guarded by the lock. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct ap_span *quarantine[QUARANTINE];
static unsigned oldest;
static uint32_t live;
static bool handling;
static struct sigaction before; /* what the program had for SIGSEGV */

void ap_guard_lock(void)
{
	lock_take(&lock);
}

void ap_guard_unlock(void)
{
	lock_give(&lock);
}

static void line_age(struct ap_line *line, const char *what, uint64_t then)
{
	uint64_t ms = (ap_os_now() - then) / 1000000;

	ap_line_text(line, what);
	ap_line_number(line, ms / 1000);
	ap_line_text(line, ".");
	ap_line_number(line, ms / 100 % 10);
	ap_line_text(line, " s ago");
}

/* One line about a fault at `address`, if it is in the pages of a guarded block. */
static void fault_report(const char *address)
{
	struct ap_span *span = span_at(address);
	struct ap_line line = {0};
	const struct ap_guard *guard;

	if (span && span->kind == SPAN_TAIL)
		span -= span->slices;
	if (!span || span->kind != SPAN_GUARDED)
		return;
	guard = &span->guard;
	ap_line_text(&line, "allocprof: ");
	if (guard->freed)
		ap_line_text(&line, "use after free");
	else if (address < guard->block)
		ap_line_text(&line, "access before the start");
	else
		ap_line_text(&line, "access past the end");
	ap_line_text(&line, " of a sampled block, at ");
	ap_line_hex(&line, (unsigned long)address);
	ap_line_text(&line, ": block ");
	ap_line_hex(&line, (unsigned long)guard->block);
	ap_line_text(&line, " of ");
	ap_line_number(&line, span->block_size);
	line_age(&line, " bytes, allocated ", guard->allocated);
	if (guard->freed)
		line_age(&line, ", freed ", guard->freed);
	ap_line_write(&line, STDERR_FILENO);
}

/* Says what it knows, then lets the fault happen again under the program's own action. */
static void on_fault(int signal, siginfo_t *info, void *context)
{
	if (info->si_code > 0)
		fault_report(info->si_addr);
	sigaction(SIGSEGV, &before, NULL);
}

static void handler_install(void)
{
	struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_ONSTACK};

	if (!handling)
		handling = sigaction(SIGSEGV, &action, &before) == 0;
}

static void span_drop(struct ap_span *span)
{
	size_t slices = span->slices, bytes = slices << SLICE_SHIFT;

	/* If the kernel refuses, the addresses stay unusable: a leak of nothing but those. */
	if (!ap_os_guard(span_start(span), bytes, false))
		return;
	ap_os_purge(span_start(span), bytes);
	for (size_t i = 0; i < slices; i++)
		span[i].kind = SPAN_NONE;
	ap_slices_give(span, slices);
}

/*
 * The block's end is the end of the page before the last, as near as its alignment allows; all
 * pages but those that it needs fault.
 */
void *ap_guard_alloc(size_t size, size_t align)
{
	size_t room = (size + align - 1) & -align, pages = (room + PAGE_SIZE - 1) & -PAGE_SIZE,
	       bytes;
	struct ap_span *span;
	bool zero, refused;
	char *end;

	if (likely(!load_relaxed(allocprof_guard)) || size > SIZE_MAX_GUARDED || align > PAGE_SIZE)
		return NULL;
	bytes = (pages + 2 * PAGE_SIZE + SLICE_SIZE - 1) & -SLICE_SIZE;
	ap_guard_lock();
	refused = live >= LIVE_MAX;
	live += !refused;
	handler_install();
	ap_guard_unlock();
	if (refused)
		return NULL;
	span = ap_slices_take(bytes >> SLICE_SHIFT, 1, &zero);
	if (!span)
		goto refuse;
	end = span_start(span) + bytes - PAGE_SIZE;
	if (!ap_os_guard(end, PAGE_SIZE, true)) {
		ap_slices_give(span, bytes >> SLICE_SHIFT);
		goto refuse;
	}
	ap_os_guard(span_start(span), bytes - PAGE_SIZE - pages, true);
	tails_mark(span, 1, bytes >> SLICE_SHIFT);
	span->guard.block = end - room;
	span->guard.allocated = ap_os_now();
	span->guard.freed = 0;
	span->block_size = size;
	span->slices = bytes >> SLICE_SHIFT;
	span->kind = SPAN_GUARDED;
	return end - room;
refuse:
	ap_guard_lock();
	live--;
	ap_guard_unlock();
	return NULL;
}

void ap_guard_free(struct ap_span *span, void *pointer)
{
	struct ap_span *evicted;

	if (pointer != span->guard.block)
		ap_fatal("free of a pointer that is not the start of a block:", pointer,
			span->block_size);
	ap_guard_lock();
	if (span->guard.freed)
		ap_fatal("double free of", pointer, span->block_size);
	span->guard.freed = ap_os_now();
	ap_sample_freed(pointer);
	ap_os_guard(span_start(span), (size_t)span->slices << SLICE_SHIFT, true);
	evicted = quarantine[oldest];
	quarantine[oldest] = span;
	oldest = (oldest + 1) % QUARANTINE;
	if (evicted)
		live--;
	ap_guard_unlock();
	if (evicted)
		span_drop(evicted);
}

// SPDX-License-Identifier: MIT
#include "region.h"

#include "bitmap.h"
#include "hugepage.h"
#include "lock.h"
#include "meta.h"
#include "os.h"

#define GIB	     ((size_t)1 << 30)
#define ARENA_SHIFT  30
#define ARENA_SLICES ((size_t)1 << (ARENA_SHIFT - SLICE_SHIFT))
#define WORDS	     (ARENA_SLICES / 64)
#define REGION_MAX   ((size_t)1 << 44)

/* How long pages stay unused before they are given back: one to two of these. */
#define PURGE_NS ((uint64_t)500 * 1000 * 1000)

/*
 * Spans that may never fill are taken from runs of this many slices with small pages, so that only
 * what is touched of them is resident; in a huge page, or in slices that were used before, all of a
 * span would be. A run is enough for the first spans of a thread or two. When memory is short, the
 * rest of a run serves every other need.
 */
#define SPARSE ((size_t)256)

/*
 * Slices in a huge page of the system, and in a region that asks for them wherever it grows, from
 * 16 MiB on: in a smaller process, 2 MiB is a lot. For blocks of more than half a MiB, of which more
 * is used at a time, from 8 MiB on; where small pages are dear, from 4 MiB on. A block of 2 MiB has
 * them anywhere.
 */
#define HUGE_PAGE  (HUGE_PAGE_SIZE >> SLICE_SHIFT)
#define HUGE_FROM  ((size_t)256)
#define HUGE_BLOCK ((size_t)8)
#define HUGE_DEAR  ((size_t)64)

/* Bitmaps over an arena's slices. Only a free slice can be dirty, and only a dirty one aged. */
struct arena {
	uint64_t free[WORDS];
	uint64_t dirty[WORDS]; /* holds pages that a span has used */
	uint64_t aged[WORDS];  /* dirty already at the last poll */
	size_t first_word;     /* no word below has a free slice */
};

struct ap_table ap_table;
struct ap_region ap_region;

/* All that follows is guarded by the lock. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct arena **arenas; /* from the first on; NULL: none of its slices is ours yet */
static size_t first_arena;
static size_t end_slice;	       /* where the region grows */
static size_t last_slice;	       /* where it may grow to */
static size_t written_headers;	       /* headers below this can be written */
static size_t sparse_next, sparse_end; /* what is left of a run, in no bitmap and no count */
static uint64_t purge_at; /* atomic: when to look for dirty slices; 0: there are none */

void ap_region_lock(void)
{
	lock_take(&lock);
}

void ap_region_unlock(void)
{
	lock_give(&lock);
}

static size_t round_up(size_t value, size_t unit)
{
	return (value + unit - 1) & -unit;
}

/* Reserves the table. Its part below the region stays zero. */
static bool region_start(void)
{
	size_t limit = ap_os_address_limit(), random = ap_os_random(), base, size, readable;
	struct ap_span *table;

	if (limit < GIB) {
		/*
		 * The table counts too, and is longer the higher the base is. Below are programs
		 * that are not PIE, with what they get from brk, and MAP_32BIT.
		 */
		base = 2 * GIB + (random % 1024 << SLICE_SHIFT);
		last_slice = ((base + 2 * limit) >> SLICE_SHIFT) + RUN_MAX;
	} else if (limit != SIZE_MAX) {
		base = 4 * GIB + (random % 1024 << SLICE_SHIFT);
		last_slice = (base + round_up(limit, GIB) + GIB) >> SLICE_SHIFT;
	} else {
		base = 32 * GIB + (random % (16 * GIB >> SLICE_SHIFT) << SLICE_SHIFT);
		/* More than memory could ever fill, fragmented as it may be. */
		last_slice = (base + round_up(4 * ap_os_memory(), 16 * GIB)) >> SLICE_SHIFT;
	}
	if (last_slice << SLICE_SHIFT > REGION_MAX)
		last_slice = REGION_MAX >> SLICE_SHIFT;
	first_arena = base >> ARENA_SHIFT;
	size = round_up(last_slice * sizeof(*table), PAGE_SIZE);
	table = ap_os_reserve(size);
	if (!table)
		return false;
	readable = (base >> SLICE_SHIFT) & -(PAGE_SIZE / sizeof(*table));
	if (!ap_os_allow(table, readable * sizeof(*table), false))
		goto fail;
	arenas = ap_meta_alloc((last_slice / ARENA_SLICES - first_arena + 1) * sizeof(*arenas));
	if (!arenas)
		goto fail;
	ap_region.first = end_slice = base >> SLICE_SHIFT;
	written_headers = readable;
	ap_table.spans = table;
	return true;
fail:
	ap_os_unmap(table, size);
	return false;
}

/* Makes the headers below `slice` writable. */
static bool headers_extend(size_t slice)
{
	size_t upto = round_up(slice, PAGE_SIZE / sizeof(struct ap_span));

	if (upto <= written_headers)
		return true;
	if (!ap_os_allow(&ap_table.spans[written_headers],
		    (upto - written_headers) * sizeof(struct ap_span), true))
		return false;
	written_headers = upto;
	return true;
}

static struct arena *arena_of(size_t slice)
{
	return arenas[slice / ARENA_SLICES - first_arena];
}

/* How many there may be up to the region's end. */
static size_t arenas_count(void)
{
	return ap_table.spans ? (end_slice + ARENA_SLICES - 1) / ARENA_SLICES - first_arena : 0;
}

static void run_free(struct arena *arena, size_t first, size_t count)
{
	bitmap_set(arena->free, first, count, true);
	if (arena->first_word > first / 64)
		arena->first_word = first / 64;
}

/*
 * Adds memory at the region's end: at least `count` slices, `step` if there is enough. If the pages
 * are huge, up to where one ends, so that the next step begins there.
 */
static bool region_add(size_t count, size_t step, bool huge)
{
	size_t skip = 32, in_arena;
	bool scarce = false;

	for (;;) {
		bool taken = false;

		/* A run does not cross from one arena into the next. */
		in_arena = ARENA_SLICES - end_slice % ARENA_SLICES;
		if (in_arena < count) {
			end_slice += in_arena;
			continue;
		}
		if (huge && !scarce)
			step = round_up(end_slice + step, HUGE_PAGE) - end_slice;
		if (step > in_arena)
			step = in_arena;
		if (end_slice + step > last_slice) {
			/* A leap may have led beyond the last arena that there is a place for. */
			if (end_slice > last_slice)
				end_slice = last_slice;
			return false;
		}
		if (!arena_of(end_slice)) {
			struct arena *arena = ap_meta_alloc(sizeof(*arena));

			if (!arena)
				return false;
			arenas[end_slice / ARENA_SLICES - first_arena] = arena;
		}
		if (!headers_extend(end_slice + step))
			return false;
		if (ap_os_map_at((void *)(end_slice << SLICE_SHIFT), step << SLICE_SHIFT, &taken))
			break;
		if (taken) {
			/* Somebody lives here: pass by, in longer and longer leaps. */
			end_slice += skip;
			skip *= 2;
		} else if (step > count) {
			step = count;
			scarce = true;
		} else {
			return false;
		}
	}
	if (huge)
		ap_hugepage_ask((char *)(end_slice << SLICE_SHIFT), step << SLICE_SHIFT);
	else
		ap_hugepage_refrain((char *)(end_slice << SLICE_SHIFT));
	run_free(arena_of(end_slice), end_slice % ARENA_SLICES, step);
	end_slice += step;
	ap_region.mapped += step;
	ap_region.unused += step;
	__atomic_store_n(&ap_table.limit, end_slice, __ATOMIC_RELEASE);
	return true;
}

/* As much as suits the region: of huge pages no more than a few, as one touch takes all of one. */
static bool region_grow(size_t count)
{
	size_t from = ap_hugepage_is_overdue() ? HUGE_DEAR
		      : count > HUGE_BLOCK     ? HUGE_FROM / 2
					       : HUGE_FROM;
	bool huge = ap_region.mapped >= from || count >= HUGE_PAGE;
	size_t step = huge ? round_up(ap_region.mapped / 64, HUGE_PAGE) : 16;

	if (step > RUN_MAX)
		step = RUN_MAX;
	return region_add(count, step < count ? count : step, huge);
}

/* First fit, from the lowest address: old slices are full of pages, new ones would need them. */
static size_t run_find(struct arena *arena, size_t count, size_t align)
{
	size_t first = bitmap_next(arena->free, ARENA_SLICES, arena->first_word * 64, true);

	arena->first_word = first / 64;
	while (first < ARENA_SLICES) {
		size_t aligned = round_up(first, align), end;

		if (count == 1 && aligned == first)
			return first;
		end = bitmap_next(arena->free, ARENA_SLICES, first, false);
		if (aligned + count <= end)
			return aligned;
		first = bitmap_next(arena->free, ARENA_SLICES, end, true);
	}
	return ARENA_SLICES;
}

/* The free slices at the end of the region, in its last arena. */
static size_t region_tail(void)
{
	size_t count = 0, at = end_slice % ARENA_SLICES;
	struct arena *arena = at ? arena_of(end_slice) : NULL;

	while (arena && at > 0 && arena->free[(at - 1) / 64] >> (at - 1) % 64 & 1) {
		at--;
		count++;
	}
	return count;
}

static size_t run_find_anywhere(size_t count, size_t align)
{
	for (size_t i = 0; ap_region.unused >= count && i < arenas_count(); i++) {
		size_t first;

		if (!arenas[i] || arenas[i]->first_word == WORDS)
			continue;
		first = run_find(arenas[i], count, align);
		if (first < ARENA_SLICES)
			return (first_arena + i) * ARENA_SLICES + first;
	}
	return 0;
}

/* Makes a free run somebody's. Returns whether its memory is known to be zero. */
static bool run_claim(size_t slice, size_t count)
{
	struct arena *arena = arena_of(slice);
	size_t at = slice % ARENA_SLICES, dirty = bitmap_count(arena->dirty, at, count);

	if (dirty) {
		ap_region.dirty -= dirty;
		bitmap_set(arena->dirty, at, count, false);
		bitmap_set(arena->aged, at, count, false);
	}
	bitmap_set(arena->free, at, count, false);
	ap_region.unused -= count;
	return dirty == 0;
}

/* Gives up the run: what is left of it is free for any use. */
static void sparse_share(void)
{
	size_t left = sparse_end - sparse_next;

	if (left)
		run_free(arena_of(sparse_next), sparse_next % ARENA_SLICES, left);
	sparse_next = sparse_end;
	ap_region.mapped += left;
	ap_region.unused += left;
}

static void sparse_add(void)
{
	if (!region_add(SPARSE, SPARSE, false))
		return;
	sparse_share();
	sparse_next = end_slice - SPARSE;
	sparse_end = end_slice;
	bitmap_set(arena_of(sparse_next)->free, sparse_next % ARENA_SLICES, SPARSE, false);
	ap_region.mapped -= SPARSE;
	ap_region.unused -= SPARSE;
}

/* 0: memory is short. */
static size_t sparse_take(size_t count)
{
	if (sparse_end - sparse_next < count)
		sparse_add();
	if (sparse_end - sparse_next < count)
		return 0;
	sparse_next += count;
	ap_region.mapped += count;
	return sparse_next - count;
}

struct ap_span *ap_slices_take(size_t count, size_t align, bool *zero)
{
	struct ap_span *span = NULL;
	size_t slice, need;

	ap_region_lock();
	if (unlikely(!ap_table.spans) && !region_start())
		goto out;
	/* An aligned run is sure to be in one that is longer by the alignment less one. */
	need = count + align - 1;
	slice = run_find_anywhere(count, align);
	if (!slice) {
		size_t tail = region_tail();

		if (tail < need && region_grow(need - tail))
			slice = run_find_anywhere(count, align);
	}
	/* What was added may not adjoin, at the border of an arena. */
	if (!slice && region_grow(need))
		slice = run_find_anywhere(count, align);
	if (!slice) {
		sparse_share();
		slice = run_find_anywhere(count, align);
	}
	if (!slice)
		goto out;
	*zero = run_claim(slice, count);
	span = &ap_table.spans[slice];
out:
	ap_region_unlock();
	return span;
}

struct ap_span *ap_slices_take_sparse(size_t count, bool *zero)
{
	size_t slice;

	ap_region_lock();
	slice = likely(ap_table.spans) || region_start() ? sparse_take(count) : 0;
	ap_region_unlock();
	if (!slice)
		return ap_slices_take(count, 1, zero);
	*zero = true;
	return &ap_table.spans[slice];
}

bool ap_slices_extend(struct ap_span *first, size_t count, size_t more)
{
	size_t slice = first - ap_table.spans + count, at = slice % ARENA_SLICES;
	bool free = false;

	ap_region_lock();
	if (at == 0 || at + more > ARENA_SLICES)
		goto out; /* the next arena may be elsewhere */
	if (slice + more > end_slice && slice + region_tail() == end_slice)
		region_grow(slice + more - end_slice);
	free = slice + more <= end_slice && bitmap_count(arena_of(slice)->free, at, more) == more;
	if (free)
		run_claim(slice, more);
out:
	ap_region_unlock();
	return free;
}

void ap_slices_give(struct ap_span *first, size_t count)
{
	size_t slice = first - ap_table.spans, at = slice % ARENA_SLICES;
	struct arena *arena;

	ap_region_lock();
	arena = arena_of(slice);
	run_free(arena, at, count);
	bitmap_set(arena->dirty, at, count, true);
	ap_region.unused += count;
	ap_region.dirty += count;
	if (!purge_at)
		__atomic_store_n(&purge_at, ap_os_now() + PURGE_NS, __ATOMIC_RELAXED);
	ap_region_unlock();
}

/*
 * Purges the runs of an arena whose bits are set in `which`. A run is taken, and is no longer
 * dirty, while the lock is dropped for the system call, which takes long for a large run: neither
 * an allocation nor another purge may find it meanwhile.
 */
static size_t arena_purge(size_t index, uint64_t *which)
{
	struct arena *arena = arenas[index];
	size_t first = 0, bytes = 0;

	while ((first = bitmap_next(which, ARENA_SLICES, first, true)) < ARENA_SLICES) {
		size_t count = bitmap_next(which, ARENA_SLICES, first, false) - first;
		bool purged;

		bitmap_set(arena->free, first, count, false);
		bitmap_set(arena->dirty, first, count, false);
		bitmap_set(arena->aged, first, count, false);
		ap_region.dirty -= count;
		ap_region_unlock();
		purged = ap_os_purge(
			(void *)(((first_arena + index) * ARENA_SLICES + first) << SLICE_SHIFT),
			count << SLICE_SHIFT);
		ap_region_lock();
		run_free(arena, first, count);
		if (purged) {
			bytes += count << SLICE_SHIFT;
		} else {
			bitmap_set(arena->dirty, first, count, true);
			ap_region.dirty += count;
		}
		first += count;
	}
	return bytes;
}

void ap_slices_poll(uint64_t now)
{
	uint64_t at = __atomic_load_n(&purge_at, __ATOMIC_RELAXED);

	if (at == 0 || now < at)
		return;
	ap_region_lock();
	if (purge_at != at)
		goto out; /* another thread was first */
	__atomic_store_n(&purge_at, now + PURGE_NS, __ATOMIC_RELAXED);
	for (size_t i = 0; i < arenas_count(); i++) {
		if (!arenas[i])
			continue;
		arena_purge(i, arenas[i]->aged);
		for (size_t word = 0; word < WORDS; word++)
			arenas[i]->aged[word] = arenas[i]->dirty[word] & arenas[i]->free[word];
	}
	__atomic_store_n(&purge_at, ap_region.dirty ? now + PURGE_NS : 0, __ATOMIC_RELAXED);
out:
	ap_region_unlock();
}

size_t ap_slices_purge(void)
{
	size_t bytes = 0;

	ap_region_lock();
	for (size_t i = 0; i < arenas_count(); i++)
		if (arenas[i])
			bytes += arena_purge(i, arenas[i]->dirty);
	ap_region_unlock();
	return bytes;
}

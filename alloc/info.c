// SPDX-License-Identifier: MIT
/*
 * What the allocator tells about itself: mallinfo, malloc_stats, malloc_info; and malloc_trim and
 * mallopt. The numbers come from a walk over the headers of all spans, of which only the region's
 * own counters are guarded by a lock: threads that allocate meanwhile go on, so each header is read
 * as it happens to be. A quiet process is counted exactly, but for what other threads have exposed
 * to their fast paths or had freed by others: that counts as in use.
 */
#include "fastpath.h"

#include <errno.h>
#include <malloc.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "heap.h"
#include "huge.h"
#include "message.h"
#include "region.h"
#include "span.h"

struct usage {
	size_t region;		/* bytes that have been mapped for slices */
	size_t used;		/* of these, bytes in blocks that are allocated */
	size_t dirty;		/* of these, bytes in no span that still hold pages */
	size_t spans[CLASSES];	/* by class: how many, */
	size_t blocks[CLASSES]; /* their blocks, */
	size_t out[CLASSES];	/* and those of them that are allocated */
	size_t large, large_bytes;
	struct ap_huge_usage huge;
};

static size_t list_length(const struct ap_span *span)
{
	const struct ap_block *block = span->free;
	size_t count = 0;

	for (; block != &span->sentinel && count < span->capacity; block = block_next(block))
		count++;
	return count;
}

static void usage_add_span(struct usage *usage, const struct ap_span *span)
{
	size_t out = span_out(span), capacity = span->capacity;
	unsigned class = span->class;

	/* Only the owner can tell which of its blocks stand on the exposed list. */
	if ((load_relaxed(span->owner) & ~OWNER_FLAGS) == thread_pointer())
		out -= list_length(span);
	if (class >= CLASSES || out > capacity) /* seen half way through a change */
		return;
	usage->spans[class]++;
	usage->blocks[class] += capacity;
	usage->out[class] += out;
	usage->used += out * class_size(class);
}

static void usage_count(struct usage *usage)
{
	size_t slice, limit;

	memset(usage, 0, sizeof(*usage));
	usage->huge = ap_huge_count();
	ap_region_lock();
	usage->region = ap_region.mapped << SLICE_SHIFT;
	usage->dirty = ap_region.dirty << SLICE_SHIFT;
	limit = ap_table.limit;
	for (slice = ap_region.first; slice < limit; slice++) {
		const struct ap_span *span = &ap_table.spans[slice];

		if (span->kind == SPAN_LARGE) {
			usage->large++;
			usage->large_bytes += span->block_size;
		} else if (span->kind == SPAN_SMALL || span->kind == SPAN_MEDIUM) {
			usage_add_span(usage, span);
		}
	}
	ap_region_unlock();
	usage->used += usage->large_bytes;
	if (usage->used > usage->region)
		usage->used = usage->region;
}

static size_t usage_free_blocks(const struct usage *usage)
{
	size_t count = 0;

	for (unsigned class = 0; class < CLASSES; class ++)
		count += usage->blocks[class] - usage->out[class];
	return count;
}

/*
 * glibc's fields, as far as they have a meaning here: `arena` is the region, `hblks` and `hblkhd`
 * are the huge blocks, which the others leave out, and `keepcost` is what malloc_trim would give
 * back of memory that is in no span.
 */
exported struct mallinfo2 mallinfo2(void)
{
	struct usage usage;

	usage_count(&usage);
	return (struct mallinfo2){
		.arena = usage.region,
		.ordblks = usage_free_blocks(&usage),
		.hblks = usage.huge.blocks,
		.hblkhd = usage.huge.bytes,
		.uordblks = usage.used,
		.fordblks = usage.region - usage.used,
		.keepcost = usage.dirty,
	};
}

/* The same in fields that are too narrow, which glibc lets wrap around. */
exported struct mallinfo mallinfo(void)
{
	struct mallinfo2 wide = mallinfo2();

	return (struct mallinfo){
		.arena = (int)wide.arena,
		.ordblks = (int)wide.ordblks,
		.hblks = (int)wide.hblks,
		.hblkhd = (int)wide.hblkhd,
		.uordblks = (int)wide.uordblks,
		.fordblks = (int)wide.fordblks,
		.keepcost = (int)wide.keepcost,
	};
}

static void blocks_line(const char *what, size_t count, const char *of, size_t bytes)
{
	struct ap_line line = {0};

	ap_line_text(&line, "allocprof: ");
	ap_line_text(&line, what);
	ap_line_number(&line, count);
	ap_line_text(&line, of);
	ap_line_number(&line, bytes);
	ap_line_text(&line, " bytes");
	ap_line_write(&line, STDERR_FILENO);
}

static void text_line(const char *text)
{
	struct ap_line line = {0};

	ap_line_text(&line, text);
	ap_line_write(&line, STDERR_FILENO);
}

static void number_line(const char *what, size_t number)
{
	struct ap_line line = {0};

	ap_line_text(&line, what);
	ap_line_number(&line, number);
	ap_line_write(&line, STDERR_FILENO);
}

/* Our own lines first, then glibc's, for its readers: the region is its one arena. */
exported void malloc_stats(void)
{
	struct usage usage;

	usage_count(&usage);
	for (unsigned class = 0; class < CLASSES; class ++)
		if (usage.spans[class])
			blocks_line("blocks in use: ", usage.out[class], " of ", class_size(class));
	blocks_line("large blocks in use: ", usage.large, " with ", usage.large_bytes);
	blocks_line("huge blocks in use: ", usage.huge.blocks, " with ", usage.huge.bytes);
	text_line("Arena 0:");
	number_line("system bytes     = ", usage.region);
	number_line("in use bytes     = ", usage.used);
	text_line("Total (incl. mmap):");
	number_line("system bytes     = ", usage.region + usage.huge.bytes);
	number_line("in use bytes     = ", usage.used + usage.huge.bytes);
	number_line("max mmap regions = ", usage.huge.max_blocks);
	number_line("max mmap bytes   = ", usage.huge.max_bytes);
}

/*
 * glibc's document, for its readers: <size> counts the free blocks of a class. There is one <heap>,
 * as spans move between threads.
 */
exported int malloc_info(int options, FILE *file)
{
	size_t free_blocks, free_bytes;
	struct usage usage;

	if (options != 0)
		return EINVAL;
	usage_count(&usage);
	free_blocks = usage_free_blocks(&usage);
	free_bytes = usage.region - usage.used;
	fputs("<malloc version=\"1\">\n<heap nr=\"0\">\n<sizes>\n", file);
	for (unsigned class = 0; class < CLASSES; class ++) {
		size_t count = usage.blocks[class] - usage.out[class];

		if (count)
			fprintf(file,
				"<size from=\"%zu\" to=\"%zu\" total=\"%zu\" count=\"%zu\"/>\n",
				class ? class_size(class - 1) + 1 : 1, class_size(class),
				count * class_size(class), count);
	}
	fputs("</sizes>\n", file);
	for (int whole = 0; whole <= 1; whole++) {
		fprintf(file,
			"<total type=\"fast\" count=\"0\" size=\"0\"/>\n"
			"<total type=\"rest\" count=\"%zu\" size=\"%zu\"/>\n",
			free_blocks, free_bytes);
		if (whole)
			fprintf(file, "<total type=\"mmap\" count=\"%zu\" size=\"%zu\"/>\n",
				usage.huge.blocks, usage.huge.bytes);
		fprintf(file,
			"<system type=\"current\" size=\"%zu\"/>\n"
			"<system type=\"max\" size=\"%zu\"/>\n"
			"<aspace type=\"total\" size=\"%zu\"/>\n"
			"<aspace type=\"mprotect\" size=\"%zu\"/>\n",
			usage.region, usage.region, usage.region, usage.region);
		if (!whole)
			fputs("</heap>\n", file);
	}
	fputs("</malloc>\n", file);
	return 0;
}

/* Gives back what the calling thread, ended ones and the region hold in reserve; `pad` is not kept.
 */
exported int malloc_trim(size_t pad)
{
	struct ap_heap *heap = ap_heap;

	if (!heap_is_static(heap))
		ap_heap_trim(heap, true);
	ap_heap_release_parked();
	return ap_slices_purge() > 0;
}

/* glibc's parameters tune what is not here: they are accepted, and change nothing. */
exported int mallopt(int parameter, int value)
{
	switch (parameter) {
	case M_MXFAST:
	case M_TRIM_THRESHOLD:
	case M_TOP_PAD:
	case M_MMAP_THRESHOLD:
	case M_MMAP_MAX:
	case M_CHECK_ACTION:
	case M_PERTURB:
	case M_ARENA_TEST:
	case M_ARENA_MAX:
		return 1;
	default:
		return 0;
	}
}

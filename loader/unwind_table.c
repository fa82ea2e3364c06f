// SPDX-License-Identifier: MIT
#include "unwind_table.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <bpf/bpf.h>

#include <allocprof/process.h>

#include "cfi.h"
#include "code_range.h"
#include "elf_file.h"
#include "kernel_array.h"
#include "table.h"
#include "table_cache.h"
#include "unwind_check.h"
#include "unwind_list.h"
#include "work.h"

/*
 * The smallest segment: 1 MiB of rows, 64 MiB of code. The first one is made before anything is
 * known of the target, since adding an array takes the kernel some time, for which a new child does
 * not wait.
 */
#define SEGMENT_BLOCKS 16
#define SEGMENT_PAGES  4096

/* A target decides what it maps; this bounds the cost. Chromium's tables take 10 MB. */
#define BYTES_MAX (1ULL << 30)

struct segment {
	struct ap_kernel_array blocks, pages;
	uint32_t slot;
	uint64_t row_room, page_room;
	uint64_t rows, pages_used; /* used so far; rows are numbered through all blocks */
};

/* What is known of one mapped file. */
struct file {
	const struct ap_object *object;
	struct ap_elf_file elf; /* its segments only: the file is closed */
	struct ap_cfi cfi;	/* until it has been placed */
	uint64_t base;
	uint32_t slot, first_page, pages; /* pages 0: no table */
	struct ap_unwind_check check;
};

struct ap_unwind {
	struct ap_unwind_maps maps;
	struct ap_kernel_array rules;
	struct ap_table rule_table;
	struct segment *segments;
	uint32_t segment_count, segment_room;
	struct file *files;
	uint32_t file_count, file_room;
	struct ap_unwind_list lists[AP_LISTS]; /* list 0 always has one more user */
	struct ap_unwind_counts counts;
	struct ap_work *work; /* NULL: nobody wants to know */
};

/* ---- Segments ---- */

static struct segment *segment_new(struct ap_unwind *unwind, uint64_t rows, uint64_t pages)
{
	struct segment segment = {.slot = unwind->segment_count};
	uint64_t blocks = (rows + AP_BLOCK_ROWS - 1) / AP_BLOCK_ROWS;
	int fd, err;

	if (segment.slot == AP_SEGMENTS ||
		ap_array_grow((void **)&unwind->segments, unwind->segment_count,
			&unwind->segment_room, sizeof(segment)))
		return NULL;
	blocks = blocks < SEGMENT_BLOCKS ? SEGMENT_BLOCKS : blocks;
	pages = pages < SEGMENT_PAGES ? SEGMENT_PAGES : pages;
	segment.row_room = blocks * AP_BLOCK_ROWS;
	segment.page_room = pages;
	fd = ap_kernel_array_create(
		&segment.blocks, "unwind_blocks", blocks, sizeof(struct ap_unwind_block));
	err = fd < 0 ? fd
		     : ap_kernel_array_put(&segment.blocks, unwind->maps.blocks, segment.slot, fd);
	if (!err) {
		fd = ap_kernel_array_create(
			&segment.pages, "unwind_pages", pages, sizeof(struct ap_unwind_page));
		err = fd < 0 ? fd
			     : ap_kernel_array_put(
				       &segment.pages, unwind->maps.pages, segment.slot, fd);
	}
	if (err) {
		ap_kernel_array_unmap(&segment.blocks);
		ap_kernel_array_unmap(&segment.pages);
		return NULL;
	}
	unwind->counts.bytes += segment.blocks.size + segment.pages.size;
	unwind->segments[unwind->segment_count] = segment;
	return &unwind->segments[unwind->segment_count++];
}

/* ---- Files ---- */

static bool rule_equal(const void *array, uint32_t index, const void *key)
{
	return !memcmp(
		(const struct ap_unwind_rule *)array + index, key, sizeof(struct ap_unwind_rule));
}

/* The number of a rule in the kernel's table of rules, to which it is added if it is new. */
static uint16_t rule_get(struct ap_unwind *unwind, const struct ap_unwind_rule *rule)
{
	struct ap_unwind_rule *rules = unwind->rules.memory;
	uint64_t hash = ap_hash(0, rule, sizeof(*rule));
	int64_t index = ap_table_find(&unwind->rule_table, hash, rule_equal, rules, rule);

	if (index >= 0)
		return (uint16_t)index;
	if (unwind->counts.rules == AP_RULES_MAX ||
		ap_table_add(&unwind->rule_table, hash, unwind->counts.rules)) {
		unwind->counts.rules_lost++;
		return AP_RULE_UNSUPPORTED;
	}
	rules[unwind->counts.rules] = *rule;
	return (uint16_t)unwind->counts.rules++;
}

/*
 * Cuts a file's rows into pages. Each page begins with a row of its own, and does not cross a
 * block. `rows` is the number of rows in the segment before; returns that after. With `pages` NULL
 * it only counts.
 */
static uint64_t pages_fill(const struct ap_cfi *cfi, uint64_t rows, struct ap_unwind_page *pages,
	struct ap_unwind_row *to, const uint16_t *numbers)
{
	uint32_t count = (uint32_t)((cfi->size + AP_PAGE_SIZE - 1) >> AP_PAGE_SHIFT);
	uint32_t next = 0;
	uint16_t rule = AP_RULE_NONE;

	for (uint32_t page = 0; page < count; page++) {
		uint64_t end = ((uint64_t)page + 1) << AP_PAGE_SHIFT;
		uint32_t first = next, begins, total;

		while (next < cfi->row_count && cfi->rows[next].at < end)
			next++;
		/*
		 * If a row begins at the very start of the page, the page needs none for the rule
		 * before it.
		 */
		begins = first < next && !(cfi->rows[first].at & (AP_PAGE_SIZE - 1));
		total = next - first + !begins;
		if (total == 1 && !begins && rule == AP_RULE_NONE)
			continue;
		if (rows % AP_BLOCK_ROWS + total > AP_BLOCK_ROWS)
			rows += AP_BLOCK_ROWS - rows % AP_BLOCK_ROWS;
		if (pages) {
			struct ap_unwind_row *row = to + rows;

			pages[page] = (struct ap_unwind_page){
				.block = (uint32_t)(rows / AP_BLOCK_ROWS),
				.first = (uint16_t)(rows % AP_BLOCK_ROWS),
				.count = (uint16_t)total,
			};
			if (!begins)
				*row++ = (struct ap_unwind_row){.rule = numbers[rule]};
			for (uint32_t i = first; i < next; i++)
				*row++ = (struct ap_unwind_row){
					.at = cfi->rows[i].at & (AP_PAGE_SIZE - 1),
					.rule = numbers[cfi->rows[i].rule],
				};
		}
		if (first < next)
			rule = cfi->rows[next - 1].rule;
		rows += total;
	}
	return rows;
}

static uint32_t pages_of(const struct file *file)
{
	return (uint32_t)((file->cfi.size + AP_PAGE_SIZE - 1) >> AP_PAGE_SHIFT);
}

static int file_place(struct ap_unwind *unwind, struct segment *segment, struct file *file)
{
	struct ap_unwind_page *pages = segment->pages.memory;
	uint16_t *numbers = calloc(file->cfi.rule_count, sizeof(*numbers));

	if (!numbers)
		return -ENOMEM;
	for (uint32_t i = 0; i < file->cfi.rule_count; i++)
		numbers[i] = rule_get(unwind, &file->cfi.rules[i]);
	file->slot = segment->slot;
	file->first_page = (uint32_t)segment->pages_used;
	file->pages = pages_of(file);
	file->base = file->cfi.base;
	segment->rows = pages_fill(&file->cfi, segment->rows, pages + segment->pages_used,
		segment->blocks.memory, numbers);
	segment->pages_used += file->pages;
	free(numbers);
	return 0;
}

/* Places all files that have been compiled and not placed yet, together in one segment. */
static int files_place(struct ap_unwind *unwind, uint32_t first)
{
	struct segment *segment = &unwind->segments[unwind->segment_count - 1];
	uint64_t rows = segment->rows, pages = segment->pages_used;
	uint64_t fresh = 0, fresh_pages = 0;
	int err = 0;

	for (uint32_t i = first; i < unwind->file_count; i++) {
		const struct file *file = &unwind->files[i];

		if (!file->cfi.row_count)
			continue;
		rows = pages_fill(&file->cfi, rows, NULL, NULL, NULL);
		fresh = pages_fill(&file->cfi, fresh, NULL, NULL, NULL);
		pages += pages_of(file);
		fresh_pages += pages_of(file);
	}
	if (!fresh)
		return 0;
	if (rows > segment->row_room || pages > segment->page_room)
		segment = fresh * sizeof(struct ap_unwind_row) + unwind->counts.bytes > BYTES_MAX
				  ? NULL
				  : segment_new(unwind, fresh, fresh_pages);
	for (uint32_t i = first; i < unwind->file_count; i++) {
		struct file *file = &unwind->files[i];

		if (!err && segment && file->cfi.row_count)
			err = file_place(unwind, segment, file);
		ap_cfi_clear(&file->cfi);
	}
	return segment ? err : -ENOMEM;
}

/* Closes the file and keeps its segments. */
static void segments_keep(struct file *file)
{
	struct ap_elf_file closing = file->elf;

	file->elf.elf = NULL;
	closing.segments = NULL;
	ap_elf_file_close(&closing);
}

static int file_compile(struct ap_unwind *unwind, struct file *file)
{
	struct ap_cfi_section sections[AP_CFI_SECTIONS];
	uint64_t base, size;
	bool cached = false;
	int count = 0;
	int err = file->object->fd < 0 ? -ENOENT : ap_elf_file_open(&file->elf, file->object->fd);

	if (!err)
		ap_unwind_check_find(&file->check, file->object, &file->elf);
	if (!err)
		err = ap_cfi_extent(&file->elf, &base, &size);
	if (!err) {
		count = ap_cfi_sections_find(sections, &file->elf);
		err = count < 0 ? count : 0;
	}
	if (!err) {
		err = ap_table_cache_load(&file->cfi, file->object, sections, count, base, size);
		cached = !err;
		if (err) {
			err = ap_cfi_compile(&file->cfi, sections, count, base, size);
			/* That it could not be stored does not matter. */
			if (!err)
				ap_table_cache_store(&file->cfi, file->object, sections, count);
		}
	}
	if (file->elf.elf)
		segments_keep(file);
	if (err) {
		ap_cfi_clear(&file->cfi);
		unwind->counts.without++;
		return err == -ENOMEM ? err : 0;
	}
	unwind->counts.files++;
	unwind->counts.cached += cached;
	unwind->counts.rows += file->cfi.row_count;
	unwind->counts.unsupported += file->cfi.unsupported;
	return 0;
}

static struct file *file_find(const struct ap_unwind *unwind, const struct ap_object *object)
{
	for (uint32_t i = 0; i < unwind->file_count; i++)
		if (unwind->files[i].object == object)
			return &unwind->files[i];
	return NULL;
}

static int files_compile(struct ap_unwind *unwind, const struct ap_mapping_table *table,
	const struct ap_code_range *ranges, size_t count)
{
	uint32_t first = unwind->file_count;
	int err = 0;

	for (size_t i = 0; i < count && !err; i++) {
		const struct ap_object *object = table->mappings[ranges[i].id]->object;

		ap_work_step(unwind->work, i, count, object ? object->path : NULL);
		if (!object || file_find(unwind, object))
			continue;
		if (ap_array_grow((void **)&unwind->files, unwind->file_count, &unwind->file_room,
			    sizeof(*unwind->files)))
			return -ENOMEM;
		unwind->files[unwind->file_count] = (struct file){.object = object};
		err = file_compile(unwind, &unwind->files[unwind->file_count++]);
	}
	return err ? err : files_place(unwind, first);
}

/* ---- Mappings ---- */

static void mapping_fill(const void *context, const struct ap_mapping_table *table,
	const struct ap_code_range *range, struct ap_unwind_mapping *to)
{
	const struct ap_unwind *unwind = context;
	const struct ap_mapping *mapping = table->mappings[range->id];
	const struct file *file = mapping->object ? file_find(unwind, mapping->object) : NULL;
	uint64_t address, check_at;

	/* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): what mmap() gives is not NULL */
	*to = (struct ap_unwind_mapping){
		.start = range->start,
		.end = range->end,
		.origin = mapping->start,
		.id = mapping->id,
	};
	if (!file || ap_elf_file_address(&file->elf,
			     mapping->offset + (range->start - mapping->start), &address))
		return;
	check_at = range->start - address + file->check.address;
	if (file->check.address &&
		ap_unwind_check_holds(&table->files, check_at, file->check.expected)) {
		to->check_at = check_at;
		to->check = file->check.expected;
	}
	if (!file->pages || address < file->base)
		return;
	to->table_offset = address - file->base;
	to->segment = file->slot;
	to->first_page = file->first_page;
	to->pages = file->pages;
}

int ap_unwind_update(struct ap_unwind *unwind, uint32_t list, const struct ap_mapping_table *table)
{
	struct ap_unwind_list *known = &unwind->lists[list];
	size_t count;
	struct ap_code_range *ranges = ap_code_ranges_get(table, &count);
	int err, failed;

	if (!ranges)
		return -ENOMEM;
	if (ap_unwind_list_has(known, ranges, count)) {
		free(ranges);
		return 0;
	}
	err = files_compile(unwind, table, ranges, count);
	failed = ap_unwind_list_publish(
		known, unwind->maps.mappings, list, table, ranges, count, mapping_fill, unwind);
	if (unwind->maps.version)
		__atomic_add_fetch(unwind->maps.version, 1, __ATOMIC_RELEASE);
	if (!list)
		unwind->counts.mappings = (uint32_t)count;
	/* An incomplete list does not count as up to date, so that it is tried again. */
	if (err && !failed)
		known->count = 0;
	return err ? err : failed;
}

void ap_unwind_settle(struct ap_unwind *unwind)
{
	for (uint32_t i = 0; i < unwind->segment_count; i++) {
		ap_kernel_array_settle(&unwind->segments[i].blocks);
		ap_kernel_array_settle(&unwind->segments[i].pages);
	}
	for (uint32_t i = 0; i < AP_LISTS; i++)
		ap_kernel_array_settle(&unwind->lists[i].array);
}

/* ---- Lists of several processes ---- */

bool ap_unwind_list_fits(
	const struct ap_unwind *unwind, uint32_t list, const struct ap_mapping_table *table)
{
	size_t count;
	struct ap_code_range *ranges = ap_code_ranges_get(table, &count);
	bool fits = ranges && list < AP_LISTS &&
		    ap_unwind_list_has(&unwind->lists[list], ranges, count);

	free(ranges);
	return fits;
}

uint32_t ap_unwind_list_new(struct ap_unwind *unwind)
{
	for (uint32_t list = 1; list < AP_LISTS; list++) {
		if (unwind->lists[list].users)
			continue;
		unwind->lists[list].users = 1;
		return list;
	}
	return AP_LIST_NONE;
}

bool ap_unwind_list_is_shared(const struct ap_unwind *unwind, uint32_t list)
{
	return list >= AP_LISTS || unwind->lists[list].users > 1;
}

void ap_unwind_list_share(struct ap_unwind *unwind, uint32_t list)
{
	if (list < AP_LISTS)
		unwind->lists[list].users++;
}

void ap_unwind_list_leave(struct ap_unwind *unwind, uint32_t list)
{
	if (list >= AP_LISTS || !unwind->lists[list].users)
		return;
	if (!--unwind->lists[list].users)
		ap_unwind_list_empty(&unwind->lists[list]);
}

int ap_unwind_new(struct ap_unwind **ret, const struct ap_unwind_maps *maps)
{
	static const struct ap_unwind_rule none = {.cfa = AP_CFA_NONE};
	static const struct ap_unwind_rule unsupported = {.cfa = AP_CFA_UNSUPPORTED};
	struct ap_unwind *unwind = calloc(1, sizeof(*unwind));
	int err = unwind ? 0 : -ENOMEM;

	if (!err) {
		unwind->maps = *maps;
		err = ap_kernel_array_map(
			&unwind->rules, maps->rules, AP_RULES_MAX, sizeof(struct ap_unwind_rule));
	}
	if (err) {
		ap_unwind_free(unwind);
		return err;
	}
	rule_get(unwind, &none);
	rule_get(unwind, &unsupported);
	unwind->lists[0].users = 1;
	err = segment_new(unwind, 0, 0)
		      ? ap_unwind_list_publish(&unwind->lists[0], unwind->maps.mappings, 0, NULL,
				NULL, 0, mapping_fill, unwind)
		      : -ENOMEM;
	if (err) {
		ap_unwind_free(unwind);
		return err;
	}
	*ret = unwind;
	return 0;
}

void ap_unwind_set_work(struct ap_unwind *unwind, struct ap_work *work)
{
	unwind->work = work;
}

const struct ap_unwind_counts *ap_unwind_counts(const struct ap_unwind *unwind)
{
	return &unwind->counts;
}

void ap_unwind_free(struct ap_unwind *unwind)
{
	if (!unwind)
		return;
	ap_kernel_array_unmap(&unwind->rules);
	for (uint32_t i = 0; i < AP_LISTS; i++)
		ap_unwind_list_clear(&unwind->lists[i]);
	for (uint32_t i = 0; i < unwind->segment_count; i++) {
		ap_kernel_array_unmap(&unwind->segments[i].blocks);
		ap_kernel_array_unmap(&unwind->segments[i].pages);
	}
	for (uint32_t i = 0; i < unwind->file_count; i++) {
		ap_elf_file_close(&unwind->files[i].elf);
		ap_cfi_clear(&unwind->files[i].cfi);
	}
	free(unwind->segments);
	free(unwind->files);
	ap_table_clear(&unwind->rule_table);
	free(unwind);
}

// SPDX-License-Identifier: MIT
/*
 * The publishing of mappings, on arbitrary ones of some files: the list in the kernel is sorted,
 * has no overlaps, and refers only to pages that exist. Needs BPF, as root.
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <allocprof/unwind.h>

#include "unwind_table.h"

#define MAPPINGS 64
#define OBJECTS	 3

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The input that makes one mapping. */
struct record {
	uint8_t object; /* beyond the last: anonymous */
	uint8_t offset; /* pages */
	uint8_t length; /* pages - 1 */
	uint8_t later;	/* added after the reading */
	uint16_t start; /* pages; the highest are at the end of the address space */
} __attribute__((packed));

static struct ap_object objects[OBJECTS] = {{.path = "/proc/self/exe", .inode = 1},
	{.path = "/lib/x86_64-linux-gnu/libz.so.1", .inode = 2},
	{.path = "nothing", .fd = -1, .inode = 3}};
static struct ap_unwind_maps maps;
static struct ap_unwind *unwind;
static struct ap_process_files own;

static int outer_create(uint32_t slots, uint32_t size)
{
	LIBBPF_OPTS(bpf_map_create_opts, inner, .map_flags = BPF_F_MMAPABLE | BPF_F_INNER_MAP);
	int fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, NULL, sizeof(uint32_t), size, 1, &inner);
	LIBBPF_OPTS(bpf_map_create_opts, outer, .inner_map_fd = (uint32_t)fd);

	if (fd < 0)
		abort();
	fd = bpf_map_create(BPF_MAP_TYPE_ARRAY_OF_MAPS, NULL, sizeof(uint32_t), sizeof(uint32_t),
		slots, &outer);
	if (fd < 0)
		abort();
	return fd;
}

static void start(void)
{
	LIBBPF_OPTS(bpf_map_create_opts, mmapable, .map_flags = BPF_F_MMAPABLE);

	for (int i = 0; i < OBJECTS - 1; i++)
		objects[i].fd = open(objects[i].path, O_RDONLY | O_CLOEXEC);
	maps.blocks = outer_create(AP_SEGMENTS, sizeof(struct ap_unwind_block));
	maps.pages = outer_create(AP_SEGMENTS, sizeof(struct ap_unwind_page));
	maps.mappings = outer_create(1, sizeof(struct ap_unwind_mapping));
	maps.rules = bpf_map_create(BPF_MAP_TYPE_ARRAY, NULL, sizeof(uint32_t),
		sizeof(struct ap_unwind_rule), AP_RULES_MAX, &mmapable);
	if (maps.rules < 0 || ap_process_files_open(&own, getpid()) ||
		ap_unwind_new(&unwind, &maps))
		abort();
}

static size_t table_fill(struct ap_mapping_table *table, struct ap_mapping *mappings,
	const uint8_t *data, size_t size)
{
	size_t count = size / sizeof(struct record);
	struct record record;

	count = count > MAPPINGS ? MAPPINGS : count;
	for (size_t i = 0; i < count; i++) {
		struct ap_mapping *mapping = &mappings[i];
		uint64_t start;

		memcpy(&record, data + i * sizeof(record), sizeof(record));
		start = (uint64_t)(record.start < 0xff00 ? record.start : UINT64_MAX >> 12) << 12;
		*mapping = (struct ap_mapping){
			.id = (uint32_t)i,
			.start = start,
			.end = start + (((uint64_t)record.length + 1) << 12),
			.offset = (uint64_t)record.offset << 12,
			.object = record.object < OBJECTS ? &objects[record.object] : NULL,
			.name = "",
		};
		if (mapping->end < mapping->start)
			mapping->end = UINT64_MAX;
		table->mappings[i] = mapping;
		/* The reading came first. */
		if (!(record.later & 1) && table->read_count == i) {
			table->current[table->current_count++] = (uint32_t)i;
			table->read_count++;
		}
	}
	table->count = count;
	return count;
}

/* Checks the list that a BPF program would find now. */
static void published_check(void)
{
	struct ap_unwind_mapping mapping, before = {0};
	uint32_t slot = 0, id, count, first;
	int fd;

	if (bpf_map_lookup_elem(maps.mappings, &slot, &id))
		abort();
	fd = bpf_map_get_fd_by_id(id);
	if (fd < 0 || bpf_map_lookup_elem(fd, &slot, &mapping))
		abort();
	first = (uint32_t)(mapping.start >> 32);
	count = (uint32_t)mapping.start;
	if (count != ap_unwind_counts(unwind)->mappings)
		abort();
	for (uint32_t i = 0; i < count; i++) {
		slot = first + i;
		if (bpf_map_lookup_elem(fd, &slot, &mapping))
			abort();
		if (mapping.start >= mapping.end || (i && mapping.start < before.end) ||
			mapping.segment >= AP_SEGMENTS || mapping.id >= MAPPINGS)
			abort();
		before = mapping;
	}
	close(fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct ap_mapping mappings[MAPPINGS], *pointers[MAPPINGS];
	uint32_t current[MAPPINGS];
	struct ap_mapping_table table = {.pid = getpid(), .mappings = pointers, .current = current};

	if (!unwind)
		start();
	table.files = own;
	if (!table_fill(&table, mappings, data, size))
		return 0;
	if (ap_unwind_update(unwind, 0, &table))
		abort();
	published_check();
	return 0;
}

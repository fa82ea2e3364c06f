// SPDX-License-Identifier: MIT
#include "mmap_watch.h"

#include <stdint.h>
#include <sys/sysmacros.h>

/* PERF_RECORD_MMAP2, in the variant without build ids. */
struct mmap2_record {
	struct perf_event_header header;
	uint32_t pid, tid;
	uint64_t address, length, offset;
	uint32_t major, minor;
	uint64_t inode, generation;
	uint32_t protection, flags;
	char path[];
};

/* The context of record_take(): which process's mappings go to which table. */
struct reader {
	pid_t pid;
	struct ap_mapping_table *table;
};

int ap_mmap_watch_open(struct ap_perf_rings *rings, pid_t pid)
{
	const struct perf_event_attr records = {.mmap = 1, .mmap2 = 1};

	/* Lost records do not matter: /proc is read a moment later, too. */
	return ap_perf_rings_open(rings, pid, &records);
}

static int record_take(void *context, const struct perf_event_header *header)
{
	const struct mmap2_record *record = (const struct mmap2_record *)header;
	const struct reader *reader = context;
	struct ap_maps_line line;

	if (header->type != PERF_RECORD_MMAP2 || header->size <= sizeof(*record) ||
		record->pid != (uint32_t)reader->pid)
		return 0;
	line = (struct ap_maps_line){
		.start = record->address,
		.end = record->address + record->length,
		.offset = record->offset,
		.device = makedev(record->major, record->minor),
		.inode = record->inode,
		.executable = 1,
		.path = record->path,
	};
	return line.start < line.end ? ap_mapping_table_add(reader->table, reader->pid, &line) : 0;
}

int ap_mmap_watch_read(struct ap_perf_rings *rings, pid_t pid, struct ap_mapping_table *table)
{
	struct reader reader = {.pid = pid, .table = table};

	return ap_perf_rings_read(rings, record_take, &reader);
}

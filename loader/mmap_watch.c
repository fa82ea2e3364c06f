// SPDX-License-Identifier: MIT
#include "mmap_watch.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

/* Room for the records of some 200 libraries; what is lost is seen in /proc a moment later. */
#define RING_PAGES 8

struct ap_mmap_ring {
	int fd;
	struct perf_event_mmap_page *header;
};

/* PERF_RECORD_MMAP2, without what build_id would put in place of the inode. */
struct mmap2_record {
	struct perf_event_header header;
	uint32_t pid, tid;
	uint64_t address, length, offset;
	uint32_t major, minor;
	uint64_t inode, generation;
	uint32_t protection, flags;
	char path[];
};

static size_t ring_size(void)
{
	return (size_t)sysconf(_SC_PAGESIZE) * RING_PAGES;
}

/* 0; -ENODEV: this CPU is not there; or another negative errno. */
static int ring_open(struct ap_mmap_watch *watch, pid_t pid, int cpu)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_DUMMY,
		.mmap = 1,
		.mmap2 = 1,
		.inherit = 1,
		.watermark = 1,
		.wakeup_watermark = 1,
	};
	struct epoll_event event = {.events = EPOLLIN};
	struct ap_mmap_ring ring;
	int err;

	ring.fd = syscall(SYS_perf_event_open, &attr, pid, cpu, -1, PERF_FLAG_FD_CLOEXEC);
	if (ring.fd < 0)
		return -errno;
	ring.header = mmap(NULL, sysconf(_SC_PAGESIZE) + ring_size(), PROT_READ | PROT_WRITE,
		MAP_SHARED, ring.fd, 0);
	if (ring.header == MAP_FAILED || epoll_ctl(watch->ready, EPOLL_CTL_ADD, ring.fd, &event)) {
		err = -errno;
		if (ring.header != MAP_FAILED)
			munmap(ring.header, sysconf(_SC_PAGESIZE) + ring_size());
		close(ring.fd);
		return err;
	}
	watch->rings[watch->count++] = ring;
	return 0;
}

int ap_mmap_watch_open(struct ap_mmap_watch *watch, pid_t pid)
{
	long cpus = sysconf(_SC_NPROCESSORS_CONF);
	int err = 0;

	*watch = AP_MMAP_WATCH_NONE;
	watch->rings = calloc(cpus > 0 ? cpus : 1, sizeof(*watch->rings));
	if (!watch->rings)
		return -ENOMEM;
	watch->ready = epoll_create1(EPOLL_CLOEXEC);
	if (watch->ready < 0)
		err = -errno;
	for (int cpu = 0; cpu < cpus && !err; cpu++) {
		err = ring_open(watch, pid, cpu);
		if (err == -ENODEV)
			err = 0;
	}
	if (err)
		ap_mmap_watch_close(watch);
	return err;
}

static void ring_copy(const struct ap_mmap_ring *ring, uint64_t from, void *to, size_t length)
{
	const char *data = (const char *)ring->header + ring->header->data_offset;
	size_t at = from % ring_size();
	size_t first = length < ring_size() - at ? length : ring_size() - at;

	memcpy(to, data + at, first);
	memcpy((char *)to + first, data, length - first);
}

static int record_take(const struct mmap2_record *record, pid_t pid, struct ap_mapping_table *table)
{
	struct ap_maps_line line = {
		.start = record->address,
		.end = record->address + record->length,
		.offset = record->offset,
		.device = makedev(record->major, record->minor),
		.inode = record->inode,
		.executable = 1,
		.path = record->path,
	};

	if (record->pid != (uint32_t)pid || line.start >= line.end)
		return 0;
	return ap_mapping_table_add(table, pid, &line);
}

static int ring_read(const struct ap_mmap_ring *ring, pid_t pid, struct ap_mapping_table *table)
{
	uint64_t head = __atomic_load_n(&ring->header->data_head, __ATOMIC_ACQUIRE);
	uint64_t tail = ring->header->data_tail;
	struct perf_event_header header;
	struct mmap2_record *record;
	int err = 0;

	while (!err && head - tail >= sizeof(header)) {
		ring_copy(ring, tail, &header, sizeof(header));
		if (header.size < sizeof(header) || header.size > head - tail)
			break;
		if (header.type == PERF_RECORD_MMAP2 && header.size > sizeof(*record)) {
			record = calloc(1, header.size + 1);
			if (!record)
				return -ENOMEM;
			ring_copy(ring, tail, record, header.size);
			err = record_take(record, pid, table);
			free(record);
		}
		tail += header.size;
	}
	__atomic_store_n(&ring->header->data_tail, tail, __ATOMIC_RELEASE);
	return err;
}

int ap_mmap_watch_read(struct ap_mmap_watch *watch, pid_t pid, struct ap_mapping_table *table)
{
	int err = 0, failed;

	for (size_t i = 0; i < watch->count; i++) {
		failed = ring_read(&watch->rings[i], pid, table);
		err = err ? err : failed;
	}
	return err;
}

void ap_mmap_watch_close(struct ap_mmap_watch *watch)
{
	for (size_t i = 0; i < watch->count; i++) {
		munmap(watch->rings[i].header, sysconf(_SC_PAGESIZE) + ring_size());
		close(watch->rings[i].fd);
	}
	free(watch->rings);
	if (watch->ready >= 0)
		close(watch->ready);
	*watch = AP_MMAP_WATCH_NONE;
}

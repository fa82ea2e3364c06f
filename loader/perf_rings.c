// SPDX-License-Identifier: MIT
#include "perf_rings.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Room for the records of some 200 libraries. */
#define RING_PAGES 8

struct ap_perf_ring {
	int fd;
	struct perf_event_mmap_page *header;
};

static size_t ring_size(void)
{
	return (size_t)sysconf(_SC_PAGESIZE) * RING_PAGES;
}

/* Opens the ring of a CPU. 0; -ENODEV: there is no such CPU; or another negative errno. */
static int ring_open(
	struct ap_perf_rings *rings, pid_t pid, int cpu, const struct perf_event_attr *records)
{
	struct perf_event_attr attr = *records;
	struct epoll_event event = {.events = EPOLLIN};
	struct ap_perf_ring ring;
	int err;

	attr.type = PERF_TYPE_SOFTWARE;
	attr.size = sizeof(attr);
	attr.config = PERF_COUNT_SW_DUMMY;
	attr.inherit = 1;
	attr.watermark = 1;
	attr.wakeup_watermark = 1;
	ring.fd = syscall(SYS_perf_event_open, &attr, pid, cpu, -1, PERF_FLAG_FD_CLOEXEC);
	if (ring.fd < 0)
		return -errno;
	ring.header = mmap(NULL, sysconf(_SC_PAGESIZE) + ring_size(), PROT_READ | PROT_WRITE,
		MAP_SHARED, ring.fd, 0);
	if (ring.header == MAP_FAILED || epoll_ctl(rings->ready, EPOLL_CTL_ADD, ring.fd, &event)) {
		err = -errno;
		if (ring.header != MAP_FAILED)
			munmap(ring.header, sysconf(_SC_PAGESIZE) + ring_size());
		close(ring.fd);
		return err;
	}
	rings->rings[rings->count++] = ring;
	return 0;
}

int ap_perf_rings_open(
	struct ap_perf_rings *rings, pid_t pid, const struct perf_event_attr *records)
{
	long cpus = sysconf(_SC_NPROCESSORS_CONF);
	int err = 0;

	*rings = AP_PERF_RINGS_NONE;
	rings->rings = calloc(cpus > 0 ? cpus : 1, sizeof(*rings->rings));
	if (!rings->rings)
		return -ENOMEM;
	rings->ready = epoll_create1(EPOLL_CLOEXEC);
	if (rings->ready < 0)
		err = -errno;
	for (int cpu = 0; cpu < cpus && !err; cpu++) {
		err = ring_open(rings, pid, cpu, records);
		if (err == -ENODEV)
			err = 0;
	}
	if (err)
		ap_perf_rings_close(rings);
	return err;
}

static void ring_copy(const struct ap_perf_ring *ring, uint64_t from, void *to, size_t length)
{
	const char *data = (const char *)ring->header + ring->header->data_offset;
	size_t at = from % ring_size();
	size_t first = length < ring_size() - at ? length : ring_size() - at;

	memcpy(to, data + at, first);
	memcpy((char *)to + first, data, length - first);
}

static int ring_read(const struct ap_perf_ring *ring, ap_perf_take_fn *take, void *context)
{
	uint64_t head = __atomic_load_n(&ring->header->data_head, __ATOMIC_ACQUIRE);
	uint64_t tail = ring->header->data_tail;
	struct perf_event_header header, *record;
	int err = 0;

	while (!err && head - tail >= sizeof(header)) {
		ring_copy(ring, tail, &header, sizeof(header));
		if (header.size < sizeof(header) || header.size > head - tail)
			break;
		/* One more byte, for a NUL behind names. */
		record = calloc(1, header.size + 1);
		if (!record)
			return -ENOMEM;
		ring_copy(ring, tail, record, header.size);
		err = take(context, record);
		free(record);
		tail += header.size;
	}
	__atomic_store_n(&ring->header->data_tail, tail, __ATOMIC_RELEASE);
	return err;
}

int ap_perf_rings_read(struct ap_perf_rings *rings, ap_perf_take_fn *take, void *context)
{
	int err = 0, failed;

	for (size_t i = 0; i < rings->count; i++) {
		failed = ring_read(&rings->rings[i], take, context);
		err = err ? err : failed;
	}
	return err;
}

void ap_perf_rings_close(struct ap_perf_rings *rings)
{
	for (size_t i = 0; i < rings->count; i++) {
		munmap(rings->rings[i].header, sysconf(_SC_PAGESIZE) + ring_size());
		close(rings->rings[i].fd);
	}
	free(rings->rings);
	if (rings->ready >= 0)
		close(rings->ready);
	*rings = AP_PERF_RINGS_NONE;
}

/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "os.h"

#include <errno.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/sysinfo.h>
#include <time.h>
#include <unistd.h>

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif
#ifndef MAP_FIXED_NOREPLACE /* Linux 4.17; older kernels take the address as a hint */
#define MAP_FIXED_NOREPLACE 0x100000
#endif

void *ap_os_map(size_t size)
{
	int saved = errno;
	void *address =
		mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	errno = saved;
	return address == MAP_FAILED ? NULL : address;
}

bool ap_os_map_at(void *address, size_t size, bool *taken)
{
	int saved = errno;
	void *got = mmap(address, size, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);

	*taken = got == MAP_FAILED ? errno == EEXIST : got != address;
	if (got != MAP_FAILED && got != address)
		munmap(got, size);
	errno = saved;
	return got == address;
}

void *ap_os_reserve(size_t size)
{
	int saved = errno;
	void *address =
		mmap(NULL, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	errno = saved;
	return address == MAP_FAILED ? NULL : address;
}

bool ap_os_allow(void *address, size_t size, bool write)
{
	int saved = errno;
	int status = mprotect(address, size, write ? PROT_READ | PROT_WRITE : PROT_READ);

	errno = saved;
	return status == 0;
}

void ap_os_unmap(void *address, size_t size)
{
	int saved = errno;

	munmap(address, size);
	errno = saved;
}

bool ap_os_purge(void *address, size_t size)
{
	int saved = errno;
	int status = madvise(address, size, MADV_DONTNEED);

	errno = saved;
	return status == 0;
}

bool ap_os_guard(void *address, size_t size, bool on)
{
	int saved = errno;
	int status = mprotect(address, size, on ? PROT_NONE : PROT_READ | PROT_WRITE);

	errno = saved;
	return status == 0;
}

void ap_os_populate(void *address, size_t size)
{
	static bool missing; /* atomic */
	uintptr_t start = (uintptr_t)address & -4096UL,
		  end = ((uintptr_t)address + size + 4095) & -4096UL;
	int saved = errno;

	if (__atomic_load_n(&missing, __ATOMIC_RELAXED))
		return;
	if (madvise((void *)start, end - start, MADV_POPULATE_WRITE) && errno == EINVAL)
		__atomic_store_n(&missing, true, __ATOMIC_RELAXED);
	errno = saved;
}

void ap_os_huge(void *address, size_t size)
{
	int saved = errno;

	madvise(address, size, MADV_HUGEPAGE);
	errno = saved;
}

void *ap_os_remap(void *address, size_t old_size, size_t new_size, bool may_move)
{
	int saved = errno;
	void *got = mremap(address, old_size, new_size, may_move ? MREMAP_MAYMOVE : 0);

	errno = saved;
	return got == MAP_FAILED ? NULL : got;
}

uint64_t ap_os_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
	return (uint64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

uint64_t ap_os_random(void)
{
	uint64_t value = 0;
	int saved = errno;

	/* A seccomp filter may refuse it, and early at boot it may have nothing to give. */
	if (getrandom(&value, sizeof(value), GRND_NONBLOCK) != sizeof(value)) {
		const uint64_t *sixteen_bytes = (const uint64_t *)getauxval(AT_RANDOM);
		struct timespec now;

		clock_gettime(CLOCK_MONOTONIC, &now);
		value = (uint64_t)now.tv_nsec << 32 ^ (uint64_t)now.tv_sec ^
			(uint64_t)getpid() << 20;
		if (sixteen_bytes)
			value ^= sixteen_bytes[0];
	}
	errno = saved;
	return value;
}

size_t ap_os_address_limit(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_AS, &limit) || limit.rlim_cur == RLIM_INFINITY)
		return SIZE_MAX;
	return limit.rlim_cur;
}

size_t ap_os_memory(void)
{
	struct sysinfo info;
	int saved = errno;
	size_t size = (size_t)1 << 34;

	if (sysinfo(&info) == 0)
		size = (size_t)info.totalram * info.mem_unit;
	errno = saved;
	return size;
}

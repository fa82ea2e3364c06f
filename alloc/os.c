// SPDX-License-Identifier: MIT
#define _GNU_SOURCE
#include "os.h"

#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/sysinfo.h>
#include <time.h>

#include "syscall.h"

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif
#ifndef MAP_FIXED_NOREPLACE /* Linux 4.17; older kernels take the address as a hint */
#define MAP_FIXED_NOREPLACE 0x100000
#endif

/* The address, or a negative error number. */
static long map(void *address, size_t size, int protection, int flags)
{
	return system_call(SYS_mmap, (long)address, (long)size, protection,
		MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0);
}

static long protect(void *address, size_t size, int protection)
{
	return system_call(SYS_mprotect, (long)address, (long)size, protection, 0, 0, 0);
}

static long advise(void *address, size_t size, int advice)
{
	return system_call(SYS_madvise, (long)address, (long)size, advice, 0, 0, 0);
}

static void *address_or_null(long result)
{
	return system_call_failed(result) ? NULL : (void *)result;
}

void *ap_os_map(size_t size)
{
	return address_or_null(map(NULL, size, PROT_READ | PROT_WRITE, 0));
}

bool ap_os_map_at(void *address, size_t size, bool *taken)
{
	long got = map(address, size, PROT_READ | PROT_WRITE, MAP_FIXED_NOREPLACE);

	*taken = system_call_failed(got) ? got == -EEXIST : got != (long)address;
	if (!system_call_failed(got) && got != (long)address)
		ap_os_unmap((void *)got, size);
	return got == (long)address;
}

void *ap_os_reserve(size_t size)
{
	return address_or_null(map(NULL, size, PROT_NONE, MAP_NORESERVE));
}

bool ap_os_allow(void *address, size_t size, bool write)
{
	return protect(address, size, write ? PROT_READ | PROT_WRITE : PROT_READ) == 0;
}

bool ap_os_guard(void *address, size_t size, bool on)
{
	return protect(address, size, on ? PROT_NONE : PROT_READ | PROT_WRITE) == 0;
}

void ap_os_unmap(void *address, size_t size)
{
	system_call(SYS_munmap, (long)address, (long)size, 0, 0, 0, 0);
}

bool ap_os_purge(void *address, size_t size)
{
	return advise(address, size, MADV_DONTNEED) == 0;
}

void ap_os_populate(void *address, size_t size)
{
	static bool missing; /* atomic */
	uintptr_t start = (uintptr_t)address & -4096UL;
	uintptr_t end = ((uintptr_t)address + size + 4095) & -4096UL;

	if (!__atomic_load_n(&missing, __ATOMIC_RELAXED) &&
		advise((void *)start, end - start, MADV_POPULATE_WRITE) == -EINVAL)
		__atomic_store_n(&missing, true, __ATOMIC_RELAXED);
}

void ap_os_huge(void *address, size_t size)
{
	advise(address, size, MADV_HUGEPAGE);
}

void *ap_os_remap(void *address, size_t old_size, size_t new_size, bool may_move)
{
	return address_or_null(system_call(SYS_mremap, (long)address, (long)old_size,
		(long)new_size, may_move ? MREMAP_MAYMOVE : 0, 0, 0));
}

uint64_t ap_os_now(void)
{
	struct timespec now;

	/* libc's, which needs no system call; it cannot fail and so leaves errno alone. */
	clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
	return (uint64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

uint64_t ap_os_thread_time(void)
{
	struct timespec now = {0};

	system_call(SYS_clock_gettime, CLOCK_THREAD_CPUTIME_ID, (long)&now, 0, 0, 0, 0);
	return (uint64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

uint64_t ap_os_random(void)
{
	uint64_t value = 0;

	/* A seccomp filter may refuse it, and early at boot it may have nothing to give. */
	if (system_call(SYS_getrandom, (long)&value, sizeof(value), GRND_NONBLOCK, 0, 0, 0) !=
		sizeof(value)) {
		const uint64_t *sixteen_bytes = (const uint64_t *)getauxval(AT_RANDOM);

		value = ap_os_now() ^ (uint64_t)system_call(SYS_getpid, 0, 0, 0, 0, 0, 0) << 32;
		if (sixteen_bytes)
			value ^= sixteen_bytes[0];
	}
	return value;
}

size_t ap_os_address_limit(void)
{
	struct rlimit limit = {0};

	if (system_call(SYS_prlimit64, 0, RLIMIT_AS, 0, (long)&limit, 0, 0) ||
		limit.rlim_cur == RLIM_INFINITY)
		return SIZE_MAX;
	return limit.rlim_cur;
}

size_t ap_os_memory(void)
{
	struct sysinfo info = {0};

	if (system_call(SYS_sysinfo, (long)&info, 0, 0, 0, 0, 0))
		return (size_t)1 << 34;
	return (size_t)info.totalram * info.mem_unit;
}

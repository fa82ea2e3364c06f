// SPDX-License-Identifier: MIT
/*
 * Allocates by every entry of the malloc interface, each from a function of its own, by_ENTRY():
 * small, large and in between. Prints "ready", and begins at a byte of its standard input.
 */
#include <cstdio>
#include <cstdlib>
#include <malloc.h>
#include <new>
#include <unistd.h>

static void *volatile keep;

#define BY(name, expression)                                         \
	__attribute__((noinline)) static void by_##name(size_t size) \
	{                                                            \
		keep = (expression);                                 \
		free(keep);                                          \
	}

__attribute__((noinline)) static void *posix(size_t size)
{
	void *block = nullptr;

	return posix_memalign(&block, 64, size) ? nullptr : block;
}

BY(malloc, malloc(size))
BY(calloc, calloc(3, size / 3 + 1))
BY(realloc, realloc(malloc(1), size))
BY(reallocarray, reallocarray(nullptr, 3, size / 3 + 1))
BY(memalign, memalign(128, size))
BY(aligned_alloc, aligned_alloc(256, (size + 255) / 256 * 256))
BY(posix_memalign, posix(size))
BY(valloc, valloc(size))
BY(new, operator new(size))
BY(new_array, operator new[](size, std::nothrow))
BY(new_aligned, operator new(size, std::align_val_t(64)))

int main()
{
	static void (*const entries[])(size_t) = {by_malloc, by_calloc, by_realloc, by_reallocarray,
		by_memalign, by_aligned_alloc, by_posix_memalign, by_valloc, by_new, by_new_array,
		by_new_aligned};
	char byte;

	setvbuf(stdout, nullptr, _IOLBF, 0);
	puts("ready");
	if (read(STDIN_FILENO, &byte, 1) != 1)
		return 1;
	for (int round = 0; round < 300; round++)
		for (auto entry : entries)
			for (size_t size = 16; size <= 4 << 20; size *= 8)
				entry(size + round);
	puts("done");
	pause();
	return 0;
}

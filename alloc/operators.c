// SPDX-License-Identifier: MIT
/*
 * C++'s operators new and delete, by their mangled names, so that the library needs no C++ runtime.
 * On failure `new` calls the new handler until it gives up, then throws; both through functions of
 * libstdc++ (or libc++abi) that are there if, and only if, the program has C++ in it.
 */
#include "fastpath.h"

#include "message.h"

typedef void new_handler(void);

extern new_handler *_ZSt15get_new_handlerv(void) __attribute__((weak));
extern void _ZSt17__throw_bad_allocv(void) __attribute__((weak)); /* std::__throw_bad_alloc() */

static cold void *new_retry(size_t size, size_t align, bool throws)
{
	for (;;) {
		new_handler *handler = _ZSt15get_new_handlerv ? _ZSt15get_new_handlerv() : NULL;
		void *block;

		if (!handler)
			break;
		handler();
		block = ap_malloc_aligned(align, size);
		if (block)
			return block;
	}
	if (throws) {
		if (_ZSt17__throw_bad_allocv)
			_ZSt17__throw_bad_allocv();
		ap_fatal("operator new: no memory, and no C++ runtime to say so; bytes:",
			(void *)size, 0);
	}
	return NULL;
}

static inline __attribute__((always_inline)) void *new_fast(size_t size, bool throws)
{
	void *block = malloc_fast(size);

	return likely(block) ? block : new_retry(size, 16, throws);
}

static inline void *new_aligned(size_t size, size_t align, bool throws)
{
	void *block = ap_malloc_aligned(align, size);

	return likely(block) ? block : new_retry(size, align, throws);
}

#define NEW(name, throws, ...)                          \
	void *name(size_t size, ##__VA_ARGS__);         \
	exported void *name(size_t size, ##__VA_ARGS__) \
	{                                               \
		return new_fast(size, throws);          \
	}
#define NEW_ALIGNED(name, throws, ...)                                \
	void *name(size_t size, size_t align, ##__VA_ARGS__);         \
	exported void *name(size_t size, size_t align, ##__VA_ARGS__) \
	{                                                             \
		return new_aligned(size, align, throws);              \
	}
#define DELETE(name, ...)                                \
	void name(void *pointer, ##__VA_ARGS__);         \
	exported void name(void *pointer, ##__VA_ARGS__) \
	{                                                \
		free_fast(pointer);                      \
	}

/* m: size_t, St11align_val_t: std::align_val_t, RKSt9nothrow_t: std::nothrow_t const & */
NEW(_Znwm, true)
NEW(_Znam, true)
NEW(_ZnwmRKSt9nothrow_t, false, const void *nothrow)
NEW(_ZnamRKSt9nothrow_t, false, const void *nothrow)
NEW_ALIGNED(_ZnwmSt11align_val_t, true)
NEW_ALIGNED(_ZnamSt11align_val_t, true)
NEW_ALIGNED(_ZnwmSt11align_val_tRKSt9nothrow_t, false, const void *nothrow)
NEW_ALIGNED(_ZnamSt11align_val_tRKSt9nothrow_t, false, const void *nothrow)
DELETE(_ZdlPv)
DELETE(_ZdaPv)
DELETE(_ZdlPvm, size_t size)
DELETE(_ZdaPvm, size_t size)
DELETE(_ZdlPvRKSt9nothrow_t, const void *nothrow)
DELETE(_ZdaPvRKSt9nothrow_t, const void *nothrow)
DELETE(_ZdlPvSt11align_val_t, size_t align)
DELETE(_ZdaPvSt11align_val_t, size_t align)
DELETE(_ZdlPvmSt11align_val_t, size_t size, size_t align)
DELETE(_ZdaPvmSt11align_val_t, size_t size, size_t align)
DELETE(_ZdlPvSt11align_val_tRKSt9nothrow_t, size_t align, const void *nothrow)
DELETE(_ZdaPvSt11align_val_tRKSt9nothrow_t, size_t align, const void *nothrow)

// SPDX-License-Identifier: MIT
/*
 * Every function of the malloc interface, and the C++ operators by their C names: what each owes.
 * realloc and what tells of the whole heap are tested apart.
 */
#include "block_sizes.h"

/* gcc must not know what these do. */
static void *(*volatile do_malloc)(size_t) = malloc;
static void (*volatile do_free)(void *) = free;
static void *(*volatile do_calloc)(size_t, size_t) = calloc;
static void *(*volatile do_realloc)(void *, size_t) = realloc;
static void *(*volatile do_reallocarray)(void *, size_t, size_t) = reallocarray;

void free_sized(void *pointer, size_t size);
void free_aligned_sized(void *pointer, size_t align, size_t size);
void cfree(void *pointer);
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *pointer, size_t size);
void __libc_free(void *pointer);
void *__libc_memalign(size_t align, size_t size);
void *__libc_valloc(size_t size);
void *__libc_pvalloc(size_t size);
void __libc_cfree(void *pointer);
int __posix_memalign(void **result, size_t align, size_t size);

void *_Znwm(size_t size);
void *_Znam(size_t size);
void *_ZnwmRKSt9nothrow_t(size_t size, const void *nothrow);
void *_ZnamRKSt9nothrow_t(size_t size, const void *nothrow);
void *_ZnwmSt11align_val_t(size_t size, size_t align);
void *_ZnamSt11align_val_t(size_t size, size_t align);
void *_ZnwmSt11align_val_tRKSt9nothrow_t(size_t size, size_t align, const void *nothrow);
void *_ZnamSt11align_val_tRKSt9nothrow_t(size_t size, size_t align, const void *nothrow);
void _ZdlPv(void *pointer);
void _ZdaPv(void *pointer);
void _ZdlPvm(void *pointer, size_t size);
void _ZdaPvm(void *pointer, size_t size);
void _ZdlPvRKSt9nothrow_t(void *pointer, const void *nothrow);
void _ZdaPvRKSt9nothrow_t(void *pointer, const void *nothrow);
void _ZdlPvSt11align_val_t(void *pointer, size_t align);
void _ZdaPvSt11align_val_t(void *pointer, size_t align);
void _ZdlPvmSt11align_val_t(void *pointer, size_t size, size_t align);
void _ZdaPvmSt11align_val_t(void *pointer, size_t size, size_t align);
void _ZdlPvSt11align_val_tRKSt9nothrow_t(void *pointer, size_t align, const void *nothrow);
void _ZdaPvSt11align_val_tRKSt9nothrow_t(void *pointer, size_t align, const void *nothrow);

static void test_malloc_sizes(void **state)
{
	for (size_t i = 0; i < size_count; i++) {
		size_t size = sizes[i], usable;
		unsigned char *block = do_malloc(size);

		assert_non_null(block);
		assert_int_equal((uintptr_t)block % 16, 0);
		usable = malloc_usable_size(block);
		assert_true(usable >= size && usable >= 1);
		/* At most a quarter more than asked for (sizeclass.h), or a page. */
		assert_true(usable <= size + size / 4 + 16 || usable <= ((size + 4095) & -4096));
		pattern_write(block, 0, usable, i);
		pattern_verify(block, usable, usable, i);
		do_free(block);
	}
}

/* Blocks side by side, each written to its last usable byte, do not touch each other. */
static void test_usable_neighbours(void **state)
{
	unsigned char *blocks[64];

	for (unsigned class = 0; class < CLASSES; class ++) {
		size_t usable = class_size(class);

		for (unsigned i = 0; i < 64; i++) {
			blocks[i] = do_malloc(usable);
			assert_int_equal(malloc_usable_size(blocks[i]), usable);
			memset(blocks[i], i + 1, usable);
		}
		for (unsigned i = 0; i < 64; i++) {
			for (size_t at = 0; at < usable; at++)
				assert_int_equal(blocks[i][at], i + 1);
			do_free(blocks[i]);
		}
	}
	assert_int_equal(malloc_usable_size(NULL), 0);
}

static int pointer_compare(const void *a, const void *b)
{
	uintptr_t x = *(const uintptr_t *)a, y = *(const uintptr_t *)b;

	return x < y ? -1 : x > y;
}

/* Zero bytes: a block like others, that nobody else has. */
static void test_zero_size(void **state)
{
	static void *blocks[1000];
	void *aligned = NULL;

	for (int i = 0; i < 1000; i++) {
		switch (i % 5) {
		case 0:
			blocks[i] = do_malloc(0);
			break;
		case 1:
			blocks[i] = do_calloc(0, 8);
			break;
		case 2:
			blocks[i] = do_realloc(NULL, 0);
			break;
		case 3:
			blocks[i] = memalign(64, 0);
			break;
		default:
			assert_int_equal(posix_memalign(&aligned, 4096, 0), 0);
			blocks[i] = aligned;
		}
		assert_non_null(blocks[i]);
	}
	qsort(blocks, 1000, sizeof(*blocks), pointer_compare);
	for (int i = 1; i < 1000; i++)
		assert_ptr_not_equal(blocks[i], blocks[i - 1]);
	for (int i = 0; i < 1000; i++)
		do_free(blocks[i]);
	assert_null(do_realloc(do_malloc(100), 0)); /* as in glibc: frees */
	do_free(NULL);
}

static void test_free_keeps_errno(void **state)
{
	for (size_t i = 0; i < size_count; i++) {
		void *block = do_malloc(sizes[i]);

		errno = 12345;
		do_free(block);
		assert_int_equal(errno, 12345);
	}
	errno = 12345;
	do_free(NULL);
	assert_int_equal(errno, 12345);
}

/* A success leaves errno alone too, whatever system calls it took. */
static void test_success_keeps_errno(void **state)
{
	for (size_t i = 0; i < size_count; i++) {
		void *block;

		errno = 12345;
		block = do_malloc(sizes[i]);
		block = do_realloc(block, sizes[i] * 2 + 1);
		assert_int_equal(errno, 12345);
		do_free(block);
	}
}

static void test_too_large(void **state)
{
	static const size_t too_large[] = {(size_t)PTRDIFF_MAX + 1, SIZE_MAX, SIZE_MAX - 1,
		SIZE_MAX - 15, SIZE_MAX - 4095, SIZE_MAX - 65535, SIZE_MAX / 2 + 65536, PTRDIFF_MAX,
		PTRDIFF_MAX - 4096, PTRDIFF_MAX / 2};
	static const size_t aligns[] = {
		16, 64, 4096, 65536, MIB, GIB, (size_t)1 << 62, (size_t)1 << 63};
	unsigned char *small = do_malloc(100), *medium = do_malloc(20000), *large = do_malloc(MIB),
		      *huge = do_malloc(100 * MIB);

	pattern_write(small, 0, 100, 1);
	pattern_write(medium, 0, 20000, 2);
	pattern_write(large, 0, MIB, 3);
	pattern_write(huge, 0, 100 * MIB, 4);
#define REFUSED(call)                            \
	do {                                     \
		errno = 0;                       \
		assert_null(call);               \
		assert_int_equal(errno, ENOMEM); \
	} while (0)
	for (size_t i = 0; i < sizeof(too_large) / sizeof(*too_large); i++) {
		size_t size = too_large[i];
		void *result = &result;

		REFUSED(do_malloc(size));
		REFUSED(do_calloc(1, size));
		REFUSED(do_calloc(size, 1));
		REFUSED(do_realloc(NULL, size));
		REFUSED(do_realloc(small, size));
		REFUSED(do_realloc(medium, size));
		REFUSED(do_realloc(large, size));
		REFUSED(do_realloc(huge, size));
		REFUSED(valloc(size));
		REFUSED(pvalloc(size));
		REFUSED(_ZnwmRKSt9nothrow_t(size, NULL));
		REFUSED(_ZnamRKSt9nothrow_t(size, NULL));
		for (size_t k = 0; k < sizeof(aligns) / sizeof(*aligns); k++) {
			REFUSED(memalign(aligns[k], size));
			REFUSED(aligned_alloc(aligns[k], size));
			errno = 0;
			assert_int_equal(posix_memalign(&result, aligns[k], size), ENOMEM);
			assert_int_equal(errno, ENOMEM);   /* as glibc's, and its own test asks */
			assert_ptr_equal(result, &result); /* untouched */
		}
	}
	pattern_verify(small, 100, 100, 1);
	pattern_verify(medium, 20000, 20000, 2);
	pattern_verify(large, MIB, MIB, 3);
	pattern_verify(huge, 100 * MIB, 100 * MIB, 4);

	/* Products that overflow, to something that could be had. */
	REFUSED(do_calloc(SIZE_MAX / 2, 3));
	REFUSED(do_calloc((size_t)1 << 32, ((size_t)1 << 32) + 1));
	REFUSED(do_calloc(3, SIZE_MAX / 2));
	REFUSED(do_reallocarray(NULL, (size_t)1 << 33, (size_t)1 << 31));
	REFUSED(do_reallocarray(small, SIZE_MAX / 16 + 2, 16));
	pattern_verify(small, 100, 100, 1);
	do_free(small);
	do_free(medium);
	do_free(large);
	do_free(huge);
}

/* calloc's memory is zero though others have written to it. */
static void test_calloc_zero(void **state)
{
	for (size_t i = 0; i < size_count; i++) {
		size_t size = sizes[i];

		for (int round = 0; round < 3; round++) {
			unsigned char *blocks[4];

			for (int k = 0; k < 4; k++) {
				blocks[k] = k == 0 && size % 7 == 0 ? do_calloc(7, size / 7)
								    : do_calloc(size, 1);
				assert_non_null(blocks[k]);
				for (size_t at = 0; at < size; at += step_of(size))
					assert_int_equal(blocks[k][at], 0);
				if (size > 4 * MIB) { /* one at a time is enough */
					memset(blocks[k], 0xa5, MIB);
					blocks[k][size - 1] = 0xa5;
					do_free(blocks[k]);
					blocks[k] = NULL;
				} else {
					memset(blocks[k], 0xa5, malloc_usable_size(blocks[k]));
				}
			}
			for (int k = 0; k < 4; k++)
				do_free(blocks[k]);
		}
	}
}

static void test_alignment(void **state)
{
	for (size_t align = 1; align <= GIB; align *= 2) {
		static const size_t wanted[] = {0, 1, 15, 16, 17, 100, 1000, 5000, 65535, 65536,
			65537, 200000, 3000000, 70000000};

		for (size_t i = 0; i < sizeof(wanted) / sizeof(*wanted); i++) {
			size_t size = wanted[i];
			unsigned char *blocks[4] = {NULL};
			void *result = NULL;

			blocks[0] = aligned_alloc(align, size);
			blocks[1] = memalign(align, size);
			if (align >= sizeof(void *)) {
				errno = 12345;
				assert_int_equal(posix_memalign(&result, align, size), 0);
				assert_int_equal(errno, 12345);
				blocks[2] = result;
			} else {
				assert_int_equal(posix_memalign(&result, align, size), EINVAL);
				assert_null(result);
			}
			blocks[3] = _ZnwmSt11align_val_t(size, align);
			for (int k = 0; k < 4; k++) {
				if (k == 2 && !blocks[k])
					continue;
				assert_non_null(blocks[k]);
				assert_int_equal((uintptr_t)blocks[k] % align, 0);
				assert_int_equal((uintptr_t)blocks[k] % 16, 0);
				assert_true(malloc_usable_size(blocks[k]) >= size);
				pattern_write(blocks[k], 0, size, k);
			}
			for (int k = 0; k < 4; k++) {
				if (!blocks[k])
					continue;
				pattern_verify(blocks[k], size, size, k);
				/* An aligned block grows like any other, content and all. */
				blocks[k] = do_realloc(blocks[k], size * 2 + 1);
				pattern_verify(blocks[k], size, size, k);
				do_free(blocks[k]);
			}
		}
	}
}

static void test_odd_alignment(void **state)
{
	static const size_t odd[] = {0, 3, 5, 24, 100, 1000, 5000, 65537, 100000};
	void *result = NULL;

	for (size_t i = 0; i < sizeof(odd) / sizeof(*odd); i++) {
		size_t align = 16;
		void *block = memalign(odd[i], 50);

		/* glibc's memalign rounds up; the others refuse. */
		while (align < odd[i])
			align *= 2;
		assert_non_null(block);
		assert_int_equal((uintptr_t)block % align, 0);
		do_free(block);
		errno = 0;
		assert_null(aligned_alloc(odd[i], 50));
		assert_int_equal(errno, EINVAL);
		errno = 12345;
		assert_int_equal(posix_memalign(&result, odd[i], 50), EINVAL);
		assert_int_equal(errno, 12345);
		assert_null(result);
	}
	for (size_t align = (size_t)1 << 40; align; align *= 2) {
		errno = 0;
		result = memalign(align + 1, 50);
		if (result) /* there may be as many addresses, and the memory is not touched */
			do_free(result);
		else
			assert_true(errno == ENOMEM || errno == EINVAL);
	}
	errno = 0;
	assert_null(memalign(SIZE_MAX, 50));
	assert_int_equal(errno, EINVAL);
}

static void test_valloc(void **state)
{
	unsigned char *block;

	for (size_t size = 0; size < 20000; size += 777) {
		block = valloc(size);
		assert_int_equal((uintptr_t)block % 4096, 0);
		memset(block, 1, size);
		do_free(block);
		block = pvalloc(size);
		assert_int_equal((uintptr_t)block % 4096, 0);
		memset(block, 1, (size + 4095) & -4096);
		do_free(block);
	}
}

static void test_other_names(void **state)
{
	unsigned char *block;
	void *result;

	for (size_t i = 0; i < size_count; i++) {
		size_t size = sizes[i];

		block = do_malloc(size);
		free_sized(block, size);
		block = aligned_alloc(64, size);
		free_aligned_sized(block, 64, size);
		block = do_malloc(size);
		cfree(block);
		block = __libc_malloc(size);
		block = __libc_realloc(block, size + 100);
		__libc_free(block);
		block = __libc_calloc(1, size);
		assert_true(size == 0 || block[size / 2] == 0);
		__libc_cfree(block);
		block = __libc_memalign(256, size);
		assert_int_equal((uintptr_t)block % 256, 0);
		do_free(block);
		assert_int_equal(__posix_memalign(&result, 512, size), 0);
		assert_int_equal((uintptr_t)result % 512, 0);
		do_free(result);
		block = __libc_valloc(size);
		do_free(block);
		block = __libc_pvalloc(size);
		do_free(block);
	}
	free_sized(NULL, 0);
	free_aligned_sized(NULL, 16, 0);
}

/* C++'s operators: each new with each delete that goes with it; new(0) is not NULL. */
static void test_operators(void **state)
{
	for (size_t i = 0; i < size_count; i++) {
		size_t size = sizes[i];
		void *all[] = {_Znwm(size), _Znam(size), _ZnwmRKSt9nothrow_t(size, ""),
			_ZnamRKSt9nothrow_t(size, ""), _Znwm(size), _Znam(size)};
		void *aligned[] = {_ZnwmSt11align_val_t(size, 128), _ZnamSt11align_val_t(size, 128),
			_ZnwmSt11align_val_tRKSt9nothrow_t(size, 128, ""),
			_ZnamSt11align_val_tRKSt9nothrow_t(size, 128, ""),
			_ZnwmSt11align_val_t(size, 128), _ZnamSt11align_val_t(size, 128)};

		for (int k = 0; k < 6; k++) {
			assert_non_null(all[k]);
			assert_non_null(aligned[k]);
			assert_int_equal((uintptr_t)aligned[k] % 128, 0);
			if (size && size < MIB) {
				memset(all[k], 1, size);
				memset(aligned[k], 1, size);
			}
		}
		_ZdlPv(all[0]);
		_ZdaPv(all[1]);
		_ZdlPvRKSt9nothrow_t(all[2], "");
		_ZdaPvRKSt9nothrow_t(all[3], "");
		_ZdlPvm(all[4], size);
		_ZdaPvm(all[5], size);
		_ZdlPvSt11align_val_t(aligned[0], 128);
		_ZdaPvSt11align_val_t(aligned[1], 128);
		_ZdlPvSt11align_val_tRKSt9nothrow_t(aligned[2], 128, "");
		_ZdaPvSt11align_val_tRKSt9nothrow_t(aligned[3], 128, "");
		_ZdlPvmSt11align_val_t(aligned[4], size, 128);
		_ZdaPvmSt11align_val_t(aligned[5], size, 128);
	}
	_ZdlPv(NULL);
	_ZdaPvm(NULL, 8);
	_ZdlPvSt11align_val_t(NULL, 64);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_malloc_sizes),
		cmocka_unit_test(test_usable_neighbours),
		cmocka_unit_test(test_zero_size),
		cmocka_unit_test(test_free_keeps_errno),
		cmocka_unit_test(test_success_keeps_errno),
		cmocka_unit_test(test_too_large),
		cmocka_unit_test(test_calloc_zero),
		cmocka_unit_test(test_alignment),
		cmocka_unit_test(test_odd_alignment),
		cmocka_unit_test(test_valloc),
		cmocka_unit_test(test_other_names),
		cmocka_unit_test(test_operators),
	};

	return cmocka_run_group_tests(tests, sizes_make, NULL);
}

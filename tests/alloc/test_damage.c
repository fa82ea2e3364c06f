// SPDX-License-Identifier: MIT
/*
 * What programs do wrong with their heap beside freeing twice: each must end in SIGABRT after one
 * line that names the pointer and, where there is one, the size class; never in silent reuse.
 */
#include "damage.h"

#include "region.h"

static size_t (*volatile do_usable)(void *) = malloc_usable_size;

/*
 * Pointers into blocks: every one. abort is left by a jump, so that one process can try them all;
 * ap_fatal is called with no lock held.
 */
static sigjmp_buf caught;
static int message_pipe[2];

static void on_abort(int sig)
{
	siglongjmp(caught, 1);
}

/* True: action(pointer) was caught, with the right line. */
static bool is_caught(void (*action)(void *), void *pointer, size_t class)
{
	static char text[512], wanted[64];
	ssize_t length;

	if (sigsetjmp(caught, 1) == 0) {
		action(pointer);
		return false;
	}
	length = read(message_pipe[0], text, sizeof(text) - 1);
	if (length <= 0)
		return false;
	text[length] = 0;
	snprintf(wanted, sizeof(wanted), " %p (size class %zu)\n", pointer, class);
	return strstr(text, wanted) && strchr(text, '\n')[1] == 0;
}

static void free_action(void *pointer)
{
	do_free(pointer);
}

static void shrink_action(void *pointer)
{
	do_realloc(pointer, 1);
}

static void grow_action(void *pointer)
{
	do_realloc(pointer, 300000);
}

struct interior {
	size_t size, step;
	void (*action)(void *);
};

static void interior_body(void *argument)
{
	const struct interior *interior = argument;
	size_t size = class_for(interior->size), tried = 0;
	char *block, *neighbour;
	int report = dup(STDERR_FILENO);

	if (pipe(message_pipe))
		_exit(1);
	dup2(message_pipe[1], STDERR_FILENO);
	signal(SIGABRT, on_abort);
	/* The second block of its span, so that there is one before it. */
	neighbour = do_malloc(interior->size);
	block = do_malloc(interior->size);
	for (size_t at = 1; at < size; at = at < 64 ? at + 1 : at + interior->step, tried++) {
		if (!is_caught(interior->action, block + at, size)) {
			dprintf(report, "block of %zu, offset %zu: not caught\n", size, at);
			_exit(1);
		}
	}
	do_free(block);
	do_free(neighbour);
	dprintf(report, "%zu\n", tried);
}

static void test_interior(void **state)
{
	static void (*const actions[])(void *) = {free_action, shrink_action, grow_action};

	for (int k = 0; k < 3; k++) {
		FOR_EACH(size, all_sizes)
		{
			struct interior interior = {
				*size, *size > 100000 ? 4096 - 16 : 16, actions[k]};
			struct ending ending;

			if (*size == 1 || *size > 2 << 20)
				continue;
			ending = child_run(interior_body, &interior, 60);
			if (ending.hung || ending.status)
				complain("action %d: %s%s", k, ending.hung ? "hangs" : "",
					ending.stderr_);
			else if (atoi(ending.stderr_) == 0)
				complain("action %d: nothing tried", k);
		}
	}
	no_complaints();
}

/* Pointers that malloc never returned. */

static char in_bss[256] __attribute__((aligned(64)));
static char in_data[256] __attribute__((aligned(64))) = "data";
static const char in_rodata[256] __attribute__((aligned(64))) = "rodata";
static pthread_mutex_t in_mutex = PTHREAD_MUTEX_INITIALIZER;

static void foreign_free(void *pointer)
{
	expect(pointer, 0);
	do_free(pointer);
}

static void foreign_realloc(void *pointer)
{
	expect(pointer, 0);
	do_realloc(pointer, 100);
}

static void foreign_usable(void *pointer)
{
	expect(pointer, 0);
	do_usable(pointer);
}

static void test_foreign(void **state)
{
	static void (*const actions[])(void *) = {foreign_free, foreign_realloc, foreign_usable};
	char on_stack[256] __attribute__((aligned(64)));
	char *mapped =
		mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char *low = mmap((void *)(8UL << 30), 1 << 20, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char *huge = do_malloc(100 << 20), *large = do_malloc(1 << 20), *some = do_malloc(100);
	void *pointers[] = {on_stack, on_stack + 16, in_bss, in_data, (void *)in_rodata, &in_mutex,
		(void *)(uintptr_t)foreign_free, mapped, mapped + 65536, mapped + 4096 + 16, low,
		low + 64, huge + 16, huge + 4096, huge + (100 << 20), (void *)1, (void *)16,
		(void *)4096, (void *)65536, (void *)(1UL << 32), (void *)(1UL << 46), (void *)-1L,
		(void *)-16L, (void *)(1UL << 63), (void *)ap_table.spans, span_at(some),
		(char *)(ap_table.limit << SLICE_SHIFT) + (1UL << 30)};

	for (int k = 0; k < 3; k++)
		for (size_t i = 0; i < sizeof(pointers) / sizeof(*pointers); i++) {
			char name[80];

			snprintf(name, sizeof(name), "foreign %p, action %d, case", pointers[i], k);
			check_death(name, i, actions[k], pointers[i]);
		}
	do_free(huge);
	do_free(large);
	do_free(some);
	munmap(mapped, 1 << 20);
	munmap(low, 1 << 20);
	no_complaints();
}

/* Where a block of the size would be that has not been cut from its span yet. */
static void free_of_uncut(void *argument)
{
	size_t size = *(const size_t *)argument;
	char *block = do_malloc(size);
	struct ap_span *span = span_at(block);
	size_t last;

	if (span->kind == SPAN_TAIL)
		span -= span->slices;
	last = span->capacity - 1;
	if (span->carved > last)
		_exit(1); /* the case does not arise: the test must be mended */
	block = span_start(span) + last * span->block_size;
	expect(block, span->block_size);
	do_free(block);
}

static void test_uncut(void **state)
{
	static const size_t sizes[] = {16, 48, 64, 1000, 4096, 8192, 10240, 65536};

	FOR_EACH(size, sizes)
	check_death("free of a block never cut", *size, free_of_uncut, (void *)size);
	no_complaints();
}

/* Writes to blocks that were freed: found when they are handed out again. */

struct smash {
	size_t size, from, length;
};

static void smash_and_allocate(void *argument)
{
	const struct smash *smash = argument;
	char *blocks[20];

	for (int i = 0; i < 20; i++)
		blocks[i] = do_malloc(smash->size);
	/* Every other one, so that no span is given back: what is there then matters to nobody. */
	for (int i = 1; i < 20; i += 2)
		do_free(blocks[i]);
	expect(blocks[7], class_for(smash->size));
	memset(blocks[7] + smash->from, 0x41, smash->length);
	use_up(smash->size);
}

/* The same to one that another thread has freed. */
static void smash_remote(void *argument)
{
	const struct smash *smash = argument;
	char *blocks[20];

	for (int i = 0; i < 20; i++)
		blocks[i] = do_malloc(smash->size);
	for (int i = 1; i < 20; i += 2)
		in_thread(free_it, blocks[i]);
	expect(blocks[7], class_for(smash->size));
	memset(blocks[7] + smash->from, 0x41, smash->length);
	use_up(smash->size);
}

static void test_smashed(void **state)
{
	FOR_EACH(size, span_sizes)
	{
		struct smash whole = {*size, 0, *size < 16 ? 16 : *size}, first = {*size, 0, 1},
			     key = {*size, 0, 8};

		check_death("smashed", *size, smash_and_allocate, &whole);
		check_death("first byte smashed", *size, smash_and_allocate, &first);
		check_death("key smashed", *size, smash_and_allocate, &key);
		check_death("smashed after a remote free", *size, smash_remote, &whole);
		check_death("key smashed after a remote free", *size, smash_remote, &key);
	}
	no_complaints();
}

/* Overflow of a block into a free neighbour. */
static void overflow(void *argument)
{
	size_t size = class_for(*(size_t *)argument);
	char *blocks[200], *before = NULL;

	for (int i = 0; i < 200; i++)
		blocks[i] = do_malloc(size);
	/* Two that stand side by side; the second is freed, and some others. */
	for (int i = 0; i < 200; i++)
		for (int k = 0; k < 200; k++)
			if (blocks[k] == blocks[i] + size)
				before = blocks[i];
	if (!before)
		abort();
	for (int i = 0; i < 200; i++)
		if (blocks[i] == before + size || (i % 3 == 0 && blocks[i] != before))
			do_free(blocks[i]);
	expect(before + size, size);
	memset(before, 0x41, size + 8);
	use_up(size);
}

static void test_overflow(void **state)
{
	FOR_EACH(size, span_sizes)
	check_death("overflow", *size, overflow, (void *)size);
	no_complaints();
}

/* operator new in a program without a C++ runtime, which could throw: it must not return NULL. */
extern void *_Znwm(size_t size);
extern void _ZSt17__throw_bad_allocv(void) __attribute__((weak));
extern void *_ZnwmRKSt9nothrow_t(size_t size, const void *nothrow);

static void new_of_too_much(void *argument)
{
	size_t size = *(size_t *)argument;

	if (_ZnwmRKSt9nothrow_t(size, NULL))
		_exit(1);
	expect((void *)size, 0);
	_Znwm(size);
}

static void test_operator_new(void **state)
{
	static const size_t sizes[] = {(size_t)1 << 50, PTRDIFF_MAX, SIZE_MAX};

	/* Where there is a C++ runtime, as a sanitizer's, it throws. */
	if (_ZSt17__throw_bad_allocv)
		skip();
	FOR_EACH(size, sizes)
	check_death("operator new of too much", *size, new_of_too_much, (void *)size);
	no_complaints();
}

/* What is reported when stderr is closed: nothing, but the process ends all the same. */
static void closed_stderr(void *argument)
{
	void *block = do_malloc(100);

	close(STDERR_FILENO);
	do_free(block);
	do_free(block);
}

static void test_closed_stderr(void **state)
{
	struct ending ending = child_run(closed_stderr, NULL, 20);

	assert_true(WIFSIGNALED(ending.status) && WTERMSIG(ending.status) == SIGABRT);
	assert_int_equal(ending.length, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_interior),
		cmocka_unit_test(test_foreign),
		cmocka_unit_test(test_uncut),
		cmocka_unit_test(test_smashed),
		cmocka_unit_test(test_overflow),
		cmocka_unit_test(test_operator_new),
		cmocka_unit_test(test_closed_stderr),
	};

	return cmocka_run_group_tests(tests, expected_map, NULL);
}
